"""Reads answers strictly: what is not plainly yes or plainly no is neither, what is not plainly a number is none."""

import re
from typing import Literal

from georefusal_task.core.counts import read_count

__all__ = ["read_count", "read_yes_no"]

_PREFIX = (
    r"(?:(?:the\s{1,3})?(?:(?:final|my|correct|right)\s{1,3}){0,2}answer"
    r"(?:\s{1,3}is|\s{0,3}[:=]){1,2}[\s\"'`*_:]{0,8})?"
)
_LEADING = re.compile(
    rf"[\s\"'“‘`*_(\[>#-]{{0,8}}{_PREFIX}(?:\*\*)?(yes|no)\b"
    r"(?=[^\S\n]*(?:\Z|[^\w\s?]|\n)|\s{1,3}(?:there|it|the|this|that|these|those|they|i)\b)",
    re.IGNORECASE,
)
_WORD = re.compile(r"(?<![\w-])(?<!\w['’])(yes|no)(?![\w-]|['’]\w)", re.IGNORECASE)
_HEDGE = re.compile(
    r"\b(?:maybe|perhaps|possibly|not sure|unsure|uncertain|cannot tell|can't tell|unclear)\b", re.IGNORECASE
)


def read_yes_no(text: str) -> Literal["yes", "no"] | None:
    """Return the yes or no that a text begins with, None when it begins with neither, hedges, or says both.

    >>> read_yes_no("**No**, notice the pier"), read_yes_no("Answer: yes."), read_yes_no("yes and no")
    ('no', 'yes', None)
    """
    leading = _LEADING.match(text)
    if leading is None or _HEDGE.search(text):
        return None
    said = {word.lower() for word in _WORD.findall(text)}
    if len(said) != 1:
        return None
    return "yes" if "yes" in said else "no"
