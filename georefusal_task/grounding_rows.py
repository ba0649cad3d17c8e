"""From a row of `questions.jsonl` to a question and its answer, each checked against the row's own instances."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from georefusal_task.benchmarks.grounding_records import Gold, Question, QuestionType
from georefusal_task.core.frames import Points
from georefusal_task.data_columns import MissingColumnError, quoted, some

COLUMNS = ("id", "type", "classes", "question", "answer", "image", "width", "height", "image_id", "instances")
"""What every row has; `class` may stand for `classes` where there is one. Others are not read."""

_NUMBERS = (int, float)
_FAR = 1e9
"""Pixels beyond which no image reaches."""
_TOLERANCE = 0.01
"""Pixels by which a rounded corner may lie outside the image."""


def check_columns(row: Mapping[str, Any]) -> None:
    """Raise MissingColumnError, which names the columns found and those expected, when one is missing."""
    there = row.keys() | ({"classes"} if "class" in row else set())
    if missing := [name for name in COLUMNS if name not in there]:
        raise MissingColumnError(
            f"has no column {', '.join(missing)}: found {some(map(quoted, row))}; expected {', '.join(COLUMNS)} "
            "(or class, where there is one)"
        )


def read_row(row: Mapping[str, Any], image: Path) -> tuple[Question, Gold]:
    """Return what a row with all columns asks and the right answer.

    Raises:
        ValueError: a value is wrong, or the answer contradicts the instances; the message quotes it.
    """
    type_ = _type(row["type"])
    classes = _classes(row)
    if len(classes) != 1 + type_.compares:
        expected = "compares two classes" if type_.compares else "is about one class"
        raise ValueError(f"a question of type {type_} {expected}, not {quoted(list(classes))}")
    question = Question(
        id=row["id"],
        type=type_,
        classes=classes,
        question=row["question"],
        image=image,
        width=row["width"],
        height=row["height"],
        image_id=row["image_id"],
    )
    answer, instances = _answer(row["answer"]), _instances(row["instances"], question)
    gold = Gold.model_construct(id=question.id, answer=answer, instances=instances)  # checked; once more takes seconds
    _check_answer(question, gold)
    return question, gold


def right_answer(type_: QuestionType, counts: Sequence[int]) -> str:
    """Return the answer that follows from the number of instances of each class asked about.

    >>> right_answer(QuestionType.COUNTING, [3]), right_answer(QuestionType.FEWER, [3, 2])
    ('3', 'no')
    """
    first, last = counts[0], counts[-1]
    if type_ is QuestionType.COUNTING:
        return str(first)
    holds = {
        QuestionType.EXISTENCE: first > 0,
        QuestionType.MORE: first > last,
        QuestionType.FEWER: first < last,
        QuestionType.EQUAL: first == last,
    }
    return "yes" if holds[type_] else "no"


def _type(value: object) -> QuestionType:
    try:
        return QuestionType(value)  # type: ignore[arg-type]
    except ValueError:
        raise ValueError(f"the type {quoted(value)} is unknown; there are {', '.join(QuestionType)}") from None


def _classes(row: Mapping[str, Any]) -> tuple[str, ...]:
    value = row["classes"] if "classes" in row else row["class"]
    names = [value] if isinstance(value, str) else value
    if not isinstance(names, list) or not names or not all(isinstance(n, str) and n.strip() for n in names):
        raise ValueError(f"the classes {quoted(value)} are neither a name nor a list of names")
    if len(set(names)) != len(names):
        raise ValueError(f"the classes {quoted(value)} are one and the same")
    return tuple(names)


def _answer(value: object) -> str:
    if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        return str(value)
    text = value.strip().lower() if isinstance(value, str) else ""
    if text in ("yes", "no") or (text.isascii() and text.isdigit()):
        return text if text in ("yes", "no") else str(int(text))
    raise ValueError(f"the answer {quoted(value)} is neither yes nor no nor a whole number")


def _instances(value: object, question: Question) -> dict[str, tuple[Points, ...]]:
    if not isinstance(value, dict) or set(value) != set(question.classes):
        names = ", ".join(map(quoted, value)) if isinstance(value, dict) else quoted(value)
        raise ValueError(f"instances are given of {names or 'nothing'}, but asked about is {some(question.classes)}")
    found: dict[str, tuple[Points, ...]] = {}
    for name in question.classes:
        if not isinstance(value[name], list):
            raise ValueError(f"the instances of {quoted(name)} are no list but {quoted(value[name])}")
        found[name] = tuple(_outline(one, f"instance {i} of {name}", question) for i, one in enumerate(value[name], 1))
    return found


def _outline(value: object, which: str, question: Question) -> Points:
    """Return the corners of a box [x0, y0, x1, y1] or of a polygon [[x, y], ...]."""
    right, bottom = question.width + _TOLERANCE, question.height + _TOLERANCE
    if isinstance(value, list) and len(value) == 4 and all(type(number) in _NUMBERS for number in value):
        x0, y0, x1, y1 = value
        if -_TOLERANCE <= x0 < x1 <= right and -_TOLERANCE <= y0 < y1 <= bottom:  # nearly all are; NaN is not
            x0, y0, x1, y1 = map(float, value)
            return (x0, y0), (x1, y0), (x1, y1), (x0, y1)
    corners = _corners(value)
    if corners is None:
        raise ValueError(
            f"{which} is {quoted(value)}, neither a box [x0, y0, x1, y1] with x0 < x1 and y0 < y1 nor "
            "corners [[x, y], ...]"
        )
    xs, ys = zip(*corners, strict=True)
    if min(*xs, *ys) < -_TOLERANCE or max(xs) > right or max(ys) > bottom:
        raise ValueError(
            f"{which}, {quoted(value)}, lies outside the image of {question.width} x {question.height} pixels; clip it"
        )
    if _twice_area(corners) <= 0:
        raise ValueError(f"{which}, {quoted(value)}, encloses no area")
    return corners


def _corners(value: object) -> Points | None:
    """Return the corners that a value describes, None when it has neither form."""
    if not isinstance(value, list):
        return None
    if len(value) == 4 and all(map(_is_number, value)):
        x0, y0, x1, y1 = map(float, value)
        return ((x0, y0), (x1, y0), (x1, y1), (x0, y1)) if x0 < x1 and y0 < y1 else None
    if len(value) < 3 or not all(isinstance(p, list) and len(p) == 2 and all(map(_is_number, p)) for p in value):
        return None
    return tuple((float(x), float(y)) for x, y in value)


def _is_number(value: object) -> bool:
    return type(value) in _NUMBERS and abs(value) < _FAR  # type: ignore[arg-type]


def _twice_area(corners: Points) -> float:
    pairs = zip(corners, (*corners[1:], *corners[:1]), strict=True)
    return abs(sum(ax * by - bx * ay for (ax, ay), (bx, by) in pairs))


def _check_answer(question: Question, gold: Gold) -> None:
    counts = [len(gold.instances[name]) for name in question.classes]
    expected = right_answer(question.type, counts)
    if gold.answer != expected:
        there = " and ".join(f"{n} of {name}" for n, name in zip(counts, question.classes, strict=True))
        raise ValueError(
            f"the answer is {quoted(gold.answer)}, but its instances ({there}) make it {quoted(expected)}; every "
            "instance of the classes asked about must be listed"
        )
