"""Release: gates that a set has to pass, its public form, and a version that never changes."""
