"""Blind review by people: a bundle without labels, a page on 127.0.0.1, votes bound to what was seen, and the merge."""
