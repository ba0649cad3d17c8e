"""Builds the mini set: real scenes, levers with a measured effect, questions whose labels the builder checks."""
