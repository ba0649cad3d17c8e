"""Reads the option letter that the multiple-choice prompt asks for."""

import re

from georefusal_task.core.records import Reason
from georefusal_task.core.reply_labels import LABEL, LETTERS, Outcome, letter, several

_END = r"(?=[\s\"'`*_]{0,6}(?:\Z|[\n.,;:!)\]}]))"
_STATED = re.compile(
    # "Answer: C", "the answer is (C)", "my choice: C because"; "answer: A ship" names no option
    rf"\b(?i:answer|verdict)(?:\s{{1,3}}(?i:is)\b|[\s\"'`*_]{{0,4}}[:=])[\s\"'`*_:(\[]{{0,8}}(?:([B-F])(?!\w)|(A)(?!\w){_END})"
    rf"|\b(?i:option|choice|letter)(?:\s{{1,3}}(?i:is)\b)?[\s\"'`*_:=(\[]{{1,8}}([A-F])(?!\w)"
    r"|\\boxed\s{0,3}\{\s{0,3}(?:\\(?:text|mathrm|textbf|mathbf)\s{0,3}\{\s{0,3})?\(?([A-F])(?!\w)"
)
_OPTION_LINE = re.compile(rf"[\s\"'`*_]{{0,6}}(?:\(([A-F])\)|([A-F])[.):])[\s\"'`*_]{{0,6}}(?:({LABEL})|\s|\Z)")


def read_letter(text: str) -> Outcome | None:
    """Return the verdict of the one option letter that the text chooses, CONFLICT for several, None for none.

    The word "A" in a sentence is no letter.
    """
    alone = letter(text)
    if alone:
        return alone
    chosen = [LETTERS[next(filter(None, match))] for match in _STATED.findall(text)]
    lines = [line for line in text.split("\n") if line.strip()]
    options = [option for line in lines if (option := _option(line))]
    if len(set(options)) == len(LETTERS):  # the prompt's own list, restated
        options = []
        if not chosen:
            return Reason.ECHO
    if not lines or not (chosen or options):
        return None
    return several([*chosen, *options], otherwise=Reason.CONFLICT)


def _option(line: str) -> Outcome | None:
    """Return the verdict of a line such as "C", "C. text" or "(C) LABEL"; CONFLICT when letter and label disagree."""
    alone = letter(line) if line.strip()[-1:].isupper() or not line.strip()[:1].isalpha() else None
    if alone:
        return alone
    match = _OPTION_LINE.match(line)
    if match is None:
        return None
    verdict = LETTERS[match[1] or match[2]]
    return verdict if match[3] in (None, verdict) else Reason.CONFLICT
