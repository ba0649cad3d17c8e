"""Timings against named references; ratios, because machines differ. Run all of them with `make bench`."""
