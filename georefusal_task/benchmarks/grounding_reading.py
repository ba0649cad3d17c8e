"""Reads one reply to a grounding question: its answer, apart from the boxes, and its boxes in the declared frame.

Numbers inside boxes are no counts. So the answer is what a statement ("Answer: ...") says, else what the text says once
its boxes are taken out. What is ambiguous or contradicts itself is invalid, never a guess.
"""

import re

from georefusal_task.benchmarks.grounding_prompts import Turn
from georefusal_task.benchmarks.grounding_records import Answer, GroundingReply, Question, QuestionType
from georefusal_task.core.answers import read_count, read_yes_no
from georefusal_task.core.box_reader import read_boxes
from georefusal_task.core.frames import Frame
from georefusal_task.core.reply import failed_request
from georefusal_task.core.reply_thought import cut_thought

_STATEMENT = re.compile(
    r"(?<![a-z0-9])answer[\"'`*_]{0,4}(?:[ \t]to[ \t](?:the|this|your)[ \t]question)?[ \t]{0,3}"
    r"(?::|=|\b(?:is|would be)\b:?)\s{0,3}((?:(?!\banswer\b)[^\n])*)"
    r"|<answer>([^<]*)"
    r"|^[ \t]{0,3}(?:#{1,6}[ \t]{0,3}|\*\*)(?:final[ \t])?answer(?:\*\*)?[ \t]{0,3}\n{1,3}([^\n]+)",
    re.IGNORECASE | re.MULTILINE,
)
_COUNT_KEY = re.compile(r"[\"'](?:count|total)[\"'][ \t]{0,3}:\s{0,3}([^\n]*)", re.IGNORECASE)
"""The answer of an object that has no key of that name."""
_BOX_PART = re.compile(
    r"(?:^\W{0,8}|(?<=[\w.,;*])[ \t]{1,3})"
    r"(?:(?:and[ \t])?(?:the|my|its)[ \t])?(?:(?:bounding|grounding)[ \t_-]?)?"
    r"(?:box(?:es)?|bbox(?:es)?|bbox_2d|regions?)\W{0,4}(?::|=|\b(?:is|are)\b)|[\[{(<]",
    re.IGNORECASE | re.MULTILINE,
)
"""Where boxes begin: a line that announces them, or a bracket or tag of any notation."""
_MARK = re.compile(r"[\[\](){}<]|>(?![ \t]?=?[ \t]?\d)|(?<=[\w|\"'/])>")
"""A bracket; "> 5" is more than five."""
_ALONE = re.compile(r"\W{0,8}[\[({]\W{0,3}[\w-]{1,20}\W{0,3}[\])}]\W{0,8}")
_ASIDE = re.compile(
    r"(?P<of>[0-9]|\b(?:zero|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\w{2,5}teen|\w{3,5}ty))"
    r"[ \t]?\([ \t]?(?P<aside>[\w-]{1,20}|(?:(?:or|maybe|perhaps|possibly|probably|about|around|roughly|at least"
    r"|at most|approx(?:imate(?:ly)?)?|estimated?|minimum|maximum|uncertain|unsure)\b\W{0,2}){1,3}[\w-]{0,20})\W?\)",
    re.IGNORECASE,
)
"""A bracket that says a number once more or doubts it, and so belongs to the answer: five (5), 5 (or 6)."""
_LATEX = re.compile(r"\\(?:text(?:bf|it|rm)?|math(?:bf|rm|it))[ \t]{0,3}\{([^{}\n]{0,200})\}")
_NUMBER = r"[-+]?\d{1,9}(?:\.\d{1,17})?%?"
_COORDINATES = re.compile(rf"(?<![\d.])(?:{_NUMBER}(?:[ \t]{{0,3}}[,;][ \t]{{0,3}}|[ \t]{{1,3}})){{3,}}{_NUMBER}")
_BOXED = re.compile(r"\\boxed[ \t]{0,3}\{(?!\s{0,3}\[)([^{}\n]{0,200})\}")
_FENCE = re.compile(r"```\w{0,20}")
_NO_BOXES = re.compile(
    r"\b(?:cannot|can['’]t|(?:unable|not able) to)\s"
    r"(?:provide|draw|give|output|mark|generate|produce|supply|show|return)\s[^.!?\n,;]{0,80}?\b(?:box(?:es)?|coordinates)\b",
    re.IGNORECASE,
)
"""That no boxes can be drawn says nothing about the answer."""
_ITEM = re.compile(
    r"(?:^|\0[ \t.,;]{0,3})[ \t>*|#-]{0,8}(?:[0-9]{1,3}(?=\**[ \t]{0,3}[.):|][^0-9])"
    r"|(?!(?:answer|total|count)\b)[a-z]{2,20}[ \t]#?[0-9]{1,3}(?=\b[^\n\0]{0,60}\0))",
    re.IGNORECASE | re.MULTILINE,
)
"""The number of an item in a list, where NUL stands for a box that was taken out."""
_JSON_END = re.compile(r"[\"'][ \t]{0,9}[,}]|,[ \t]{0,9}[\"']|[}\]]")
_TRUTH = {"true": "yes", "false": "no"}


def read_turn(text: str, turn: Turn, question: Question, frame: Frame) -> GroundingReply:
    r"""Return what a reply to one request says; of a turn that asks for one thing only that is read. Never raises.

    >>> from georefusal_task.core.frames import get_frame
    >>> question = Question(id="q-1", type="counting", classes=["ship"], question="How many ships are there?",
    ...                     image="tile.png", width=200, height=100, image_id="tile")
    >>> read_turn("Answer: 1\nBoxes: [[0.5, 0, 1, 1]]", "one", question, get_frame("unit"))
    ... # doctest: +NORMALIZE_WHITESPACE
    GroundingReply(answer=1, regions=(((100.0, 0.0), (200.0, 0.0), (200.0, 100.0), (100.0, 100.0)),), flags={},
    frame='unit', failed=False)
    """
    if failed_request(text):
        return GroundingReply(None, frame=frame.label, failed=True)
    answer = None if turn == "grounding" else read_answer(text, question.type)
    if turn == "answer":
        return GroundingReply(answer, frame=frame.label)
    boxes = read_boxes(text, frame, question.width, question.height)
    flags = {str(flag): count for flag, count in boxes.flags.items()}
    return GroundingReply(answer, boxes.regions, flags, frame.label)


def read_answer(text: str, kind: QuestionType) -> Answer:
    """Return the answer that a reply gives beside its boxes, None where it gives none or more than one.

    >>> read_answer('{"answer": "yes", "boxes": [[1, 2, 3, 4]]}', QuestionType.EXISTENCE)
    'yes'
    >>> read_answer("Answer: 2. The answer is 3.", QuestionType.COUNTING)
    """
    text = _BOXED.sub(r"\nAnswer: \1\n", _LATEX.sub(r"\1", cut_thought(text)[0]))
    text = _ASIDE.sub(r"\g<of> \g<aside>", text) if kind is QuestionType.COUNTING else text
    said = ["".join(groups) for groups in _STATEMENT.findall(text)]
    if not said and kind is QuestionType.COUNTING:
        said = _COUNT_KEY.findall(text)
    stated = [_read(_before_boxes(words), kind) for words in said]
    if not stated:
        return _read(_without_boxes(text), kind)
    given = {answer for answer in stated if answer is not None}
    return stated[-1] if len(given) == 1 else None


def _read(text: str, kind: QuestionType) -> Answer:
    if kind is QuestionType.COUNTING:
        return read_count(text)
    words = text.strip(" \t\"'`*_,.")
    return read_yes_no(_TRUTH.get(words.lower(), text))


def _before_boxes(text: str) -> str:
    """Return what a statement says before any box, key of an object or end of one."""
    if _ALONE.fullmatch(text):
        return text
    found = _BOX_PART.search(text)
    said = text[: found.start()] if found else text
    return _JSON_END.split(said, maxsplit=1)[0]


def _without_boxes(text: str) -> str:
    """Return the text without brackets, tags, lists of coordinates, numbers of items, and a part announced as boxes."""
    if _ALONE.fullmatch(text):
        return text
    kept, depth, at = [], 0, 0
    for mark in _MARK.finditer(text):
        if mark[0] in "[({<":
            if not depth:
                kept.append(text[at : mark.start()])
            depth += 1
        elif depth:
            depth -= 1
        at = mark.end()
    if not depth:
        kept.append(text[at:])
    outside = _NO_BOXES.sub("", _FENCE.sub("\n", "\0".join(kept)))
    announced = _BOX_PART.search(outside)
    return _without_items(_COORDINATES.sub("\0", outside[: announced.start()] if announced else outside))


def _without_items(text: str) -> str:
    """Return the text without the numbers of its list, if they run from 1 on: "1. ship, 2. ship", "Ship 1: ...".

    NUL, where a box was, becomes the end of a line.
    """
    items = _ITEM.findall(text)
    if [int("".join(filter(str.isdecimal, item))) for item in items] == [*range(1, len(items) + 1)]:
        text = _ITEM.sub("\n", text)
    return text.replace("\0", "\n")
