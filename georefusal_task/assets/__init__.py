"""Files that ship with the package: the mini set."""
