"""Reads the option letter that the multiple-choice prompt asks for."""

import re

from georefusal_task.core.records import Reason
from georefusal_task.core.reply_labels import LABEL, Outcome, letter, several
from georefusal_task.core.verdicts import LETTERS, VERDICTS

_GAP = r"[\s\"'`*_:=(\[]{0,8}"
_END = r"(?=[\s\"'`*_]{0,6}(?:\Z|[\n.,;:!)\]}]))"  # an A that goes on is a word: "answer: A ship"
_LETTER = rf"(?:[B-F](?!\w)|[b-f](?!\w){_END}|A(?!\w){_END})"
_CHOSEN = re.compile(
    # after "answer: ", as in "the answer is (C)"; after "option ", as in "my choice is C"; in a box
    rf"(?:\b(?i:answer|(?<!one )verdict)(?:\s{{1,3}}(?i:is)\b|[\s\"'`*_]{{0,4}}[:=]){_GAP}"
    rf"|\b(?i:option|choice|letter|choose)\b(?:\s{{1,3}}(?i:is)\b)?{_GAP}"
    r"|\\boxed\s{0,3}\{\s{0,3}(?:\\(?:text|mathrm|textbf|mathbf)\s{0,3}\{\s{0,3})?\(?)"
    rf"({_LETTER}(?:[\s\"'`*_)\]]{{0,4}}(?:[,/|&]|or\b|and\b){_GAP}{_LETTER})*)"
)
_OPTION = re.compile(rf"[\s\"'`*_]{{0,6}}(?:\(([A-F])\)|([A-F])[.):])[\s\"'`*_]{{0,6}}(?:({LABEL})|\s|\Z)")
_ENUMERATION = re.compile(r"\W*(?:[A-F](?:\W|or|and)*+)+")


def read_letter(text: str) -> Outcome | None:
    """Return the verdict of the one option letter that the text chooses, CONFLICT for several, None for none.

    The word "A" in a sentence is no letter.
    """
    if len(text) < 100 and ((alone := letter(text)) or _ENUMERATION.fullmatch(text)):
        return alone or several(map(LETTERS.get, re.findall("[A-F]", text)), otherwise=Reason.CONFLICT)
    lines = text.split("\n")
    options = {line: option for line in lines if (option := _option(line))}
    listed = [line for line, option in options.items() if option is not letter(line)]
    if {options[line] for line in listed} == set(VERDICTS):  # the prompt's own list, restated
        lines = [line for line in lines if line not in listed]
    chosen = [options[line] for line in lines if line in options]
    for stated in _CHOSEN.findall("\n".join(lines)):
        chosen += [LETTERS[found.upper()] for found in re.findall(r"\b[A-Fa-f]\b", stated)]
    return several(chosen, otherwise=Reason.CONFLICT) if chosen else None


def _option(line: str) -> Outcome | None:
    """Return the verdict of a line such as "C", "C. text" or "(C) LABEL"; CONFLICT when letter and label disagree."""
    match = _OPTION.match(line)
    if match is None:
        return letter(line) if line.isupper() else None
    verdict = LETTERS[match[1] or match[2]]
    return verdict if match[3] in (None, verdict) else Reason.CONFLICT
