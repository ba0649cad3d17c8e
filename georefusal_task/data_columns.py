"""From a row as somebody wrote it to the canonical fields: one map of column names and one reader per kind of value.

The card leaves the exact spelling of the columns open. What is accepted is listed here and nothing is guessed: any
other name or value is an error that quotes it.
"""

import json
import re
import reprlib
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, Literal, TypeVar

from georefusal_task.core.records import Case, Intensity, Label
from georefusal_task.core.verdicts import PRECEDENCE, VERDICTS, Verdict

T = TypeVar("T")

COLUMNS: dict[str, tuple[str, ...]] = {
    "id": ("id", "item_id", "case_id", "sample_id", "example_id", "uid"),
    "set": ("set", "set_name", "split", "batch", "build_batch", "subset"),
    "image": ("image", "image_path", "image_file", "img", "img_path", "file_name", "filename"),
    "question": ("question", "query", "question_text"),
    "gold": ("gold", "gold_verdict", "verdict", "gold_label", "primary_verdict", "expected_verdict"),
    "accept": (
        *("accept", "accepts", "accepted", "acceptable", "accept_set", "accepted_set", "gold_set"),
        *("accept_verdicts", "accepted_verdicts", "acceptable_verdicts", "gold_verdicts", "verdicts", "golds"),
    ),
    "answer": ("answer", "gold_answer", "expected_answer", "yes_no"),
    "category": ("category", "refusal_category", "refuse_category", "refusal_type", "refusal_reason"),
    "intensity": ("intensity", "intensity_level", "level", "strength"),
    "lever": ("lever", "lever_name", "lever_id", "mechanism"),
    "anchor": ("anchor", "anchor_type"),
    "score_answer": ("score_answer", "scores_answer", "answer_scored"),
}
"""Canonical field -> the column names that mean it; compared without case, spaces and hyphens count as underscores."""

_FIELD_OF = {name: field for field, names in COLUMNS.items() for name in names}
_CASE_FIELDS = ("id", "set", "image", "question")
_LABEL_FIELDS = ("id", "set", "gold", "accept", "answer", "category", "intensity", "lever", "anchor", "score_answer")

_SHORT_FORMS = {
    "INFO_MISSING": Verdict.INFO_MISSING,
    "GRANULARITY": Verdict.GRANULARITY,
    "AMBIGUOUS": Verdict.AMBIGUOUS,
    "FALSE_PREMISE": Verdict.FALSE_PREMISE,
    "NONFACTUAL": Verdict.NONFACTUAL,
}
_SPELLINGS = {
    **{str(verdict): verdict for verdict in VERDICTS},
    **{verdict.removeprefix("REFUSE_"): verdict for verdict in VERDICTS},
    **_SHORT_FORMS,
    **{f"REFUSE_{short}": verdict for short, verdict in _SHORT_FORMS.items()},
}
_ANSWERS: dict[str, Literal["yes", "no", ""]] = {"yes": "yes", "true": "yes", "no": "no", "false": "no", "": ""}
_TRUTH = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}


_SHORT = reprlib.Repr()
_SHORT.maxstring = _SHORT.maxother = _SHORT.maxlong = 80


class MissingColumnError(ValueError):
    """No column means a required field; the message names the columns found and those expected."""


def quoted(value: object) -> str:
    """Return a value for an error message: its repr, cut to about 80 characters, in ASCII."""
    return _SHORT.repr(value).encode("ascii", "backslashreplace").decode()


def row_id(row: Mapping[str, Any]) -> str:
    """Return what a row has for an id, for an error message; "no id" where it has none."""
    return ", ".join(quoted(value) for value in _fields(row, ("id",))["id"].values()) or "no id"


def some(names: Iterable[str]) -> str:
    """Return names for an error message: the first twelve, and how many more there are."""
    every = list(names)
    return ", ".join([*every[:12], *([f"... and {len(every) - 12} more"] if len(every) > 12 else [])]) or "nothing"


def read_case(row: Mapping[str, Any], find_image: Callable[[object, str], Path]) -> Case:
    """Return the Case that a row of the `cases` table describes.

    Args:
        row: column name -> value, as read from the file.
        find_image: (value of the image column, set) -> absolute path of the image file.

    Raises:
        MissingColumnError: id, image or question has no column.
        ValueError: a value is missing or wrong; the message quotes it.
    """
    fields = _fields(row, _CASE_FIELDS)
    _require(row, fields, ("id",), ("image",), ("question",))
    item_id, item_set = _id_and_set(fields)
    images = fields["image"]
    # an embedded image beside a column that says where it once lay
    embedded = {name: value for name, value in images.items() if isinstance(value, dict) and value.get("bytes")}
    image = _read({"image": embedded or images}, "image", lambda value: find_image(value, item_set))
    return Case(
        id=item_id,
        set=item_set,
        image=_given(image, "image"),
        question=_given(_read(fields, "question", _question), "question"),
    )


def read_label(row: Mapping[str, Any]) -> Label:
    """Return the Label that a row of the `labels` table describes; `score_answer` is None where no column gives it.

    Raises:
        MissingColumnError: id has no column, or neither gold nor accept has one.
        ValueError: a value is missing or wrong; the message quotes it.
    """
    fields = _fields(row, _LABEL_FIELDS)
    _require(row, fields, ("id",), ("gold", "accept"))
    item_id, item_set = _id_and_set(fields)
    gold, accept = _gold_and_accept(fields)
    return Label(
        id=item_id,
        set=item_set,
        gold=gold,
        accept=accept,
        answer=_read(fields, "answer", _answer),
        category=_read(fields, "category", _category),
        intensity=_read(fields, "intensity", _intensity),
        lever=_read(fields, "lever", _text) or None,
        anchor=_read(fields, "anchor", _text) or None,
        score_answer=_read(fields, "score_answer", _truth),
    )


def read_verdict(value: object) -> Verdict:
    """Return the verdict that a label spells: any case, with or without `REFUSE_`, or one of the short forms.

    >>> str(read_verdict("granularity_mismatch"))
    'REFUSE_GRANULARITY_MISMATCH'

    Raises:
        ValueError: it is none of the six.
    """
    verdict = _SPELLINGS.get(re.sub(r"[\s-]+", "_", value.strip().upper())) if isinstance(value, str) else None
    if verdict is None:
        raise ValueError(f"{quoted(value)} is not a verdict; the six are {', '.join(VERDICTS)}")
    return verdict


def read_verdicts(value: object) -> tuple[Verdict, ...]:
    """Return the distinct verdicts of an accept set in order of precedence.

    Args:
        value: a list, a JSON string of one, or names separated by `|`, `,` or `;`.

    >>> [str(v) for v in read_verdicts("INFO_MISSING | ambiguous")]
    ['REFUSE_AMBIGUOUS_QUERY', 'REFUSE_INFO_MISSING_IN_CONTEXT']

    Raises:
        ValueError: it is empty or a member is not a verdict.
    """
    members: object = value
    if isinstance(value, str):
        if value.lstrip().startswith(("[", '"')):
            try:
                members = json.loads(value)
            except (ValueError, RecursionError):
                raise ValueError(f"{quoted(value)} starts like JSON but is not") from None
            members = [members] if isinstance(members, str) else members
        else:
            members = [name for name in re.split(r"[|,;]", value) if name.strip()]
    if not isinstance(members, list | tuple | set | frozenset):
        raise ValueError(f"{quoted(value)} is neither a list of verdicts nor a text that separates them by | , or ;")
    if not members:
        raise ValueError(f"the set {quoted(value)} is empty")
    return tuple(sorted({read_verdict(member) for member in members}, key=PRECEDENCE.index))


def _fields(row: Mapping[str, Any], wanted: tuple[str, ...]) -> dict[str, dict[str, Any]]:
    """Return field -> {column: value} for the columns of the row that mean a wanted field, nulls included."""
    fields: dict[str, dict[str, Any]] = {field: {} for field in wanted}
    for column, value in row.items():
        field = _FIELD_OF.get(re.sub(r"[\s-]+", "_", column.strip().lower()))
        if field in fields:
            fields[field][column] = value
    return fields


def _require(row: Mapping[str, Any], fields: Mapping[str, Mapping[str, Any]], *required: tuple[str, ...]) -> None:
    for alternatives in required:
        if not any(fields[field] for field in alternatives):
            names = ", ".join(name for field in alternatives for name in COLUMNS[field])
            raise MissingColumnError(
                f"no column means {' or '.join(alternatives)}: found {some(map(quoted, row))}; expected one of {names}"
            )


def _readings(fields: Mapping[str, Mapping[str, Any]], field: str, reader: Callable[[Any], T]) -> dict[str, T]:
    """Return column -> what it says, for the columns of a field that are not null."""
    said: dict[str, T] = {}
    for column, value in fields[field].items():
        if value is None or value != value:  # noqa: PLR0124 -- NaN, which tables written by pandas hold for null
            continue
        try:
            said[column] = reader(value)
        except ValueError as error:
            raise ValueError(f"column {quoted(column)}: {error}") from None
    return said


def _agreed(field: str, said: Mapping[str, T]) -> T | None:
    """Return the one thing that all columns say, or None where none says anything."""
    values = list(said.values())
    if any(value != values[0] for value in values):
        each = ", ".join(f"{quoted(column)} says {quoted(value)}" for column, value in said.items())
        raise ValueError(f"columns mean {field} and differ: {each}")
    return values[0] if values else None


def _read(fields: Mapping[str, Mapping[str, Any]], field: str, reader: Callable[[Any], T]) -> T | None:
    return _agreed(field, _readings(fields, field, reader))


def _given(value: T | None, field: str) -> T:
    if value is None:
        raise ValueError(f"{field} is null")
    return value


def _id_and_set(fields: Mapping[str, Mapping[str, Any]]) -> tuple[str, str]:
    item_id = _given(_read(fields, "id", _text), "id")
    prefix, _, _ = item_id.rpartition("-")
    item_set = _read(fields, "set", _text)
    if item_set not in (None, prefix):
        raise ValueError(f"id {quoted(item_id)} does not fit set {quoted(item_set)}; ids are <set>-<hex>")
    return item_id, prefix


def _gold_and_accept(fields: Mapping[str, Mapping[str, Any]]) -> tuple[Verdict, tuple[Verdict, ...]]:
    """Return the primary verdict and the accept set; a gold column that holds several verdicts is an accept set."""
    golds = _readings(fields, "gold", read_verdicts)
    sets = _readings(fields, "accept", read_verdicts) | {name: said for name, said in golds.items() if len(said) > 1}
    accept = _agreed("accept", sets)
    gold = _agreed("gold", {name: said[0] for name, said in golds.items() if len(said) == 1})
    if accept is None:
        gold = _given(gold, "gold")
        return gold, (gold,)
    return gold or accept[0], accept


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError(f"{quoted(value)} is not a text")
    if any("\ud800" <= character <= "\udfff" for character in value):
        raise ValueError(f"{quoted(value)} holds half of a surrogate pair, which no encoding can carry")
    return value


def _question(value: object) -> str:
    if not (question := _text(value)).strip():
        raise ValueError(f"{quoted(value)} asks nothing")
    return question


def _answer(value: object) -> Literal["yes", "no", ""]:
    answer = _ANSWERS.get(str(value).strip().lower()) if isinstance(value, str | bool) else None
    if answer is None:
        raise ValueError(f"{quoted(value)} is neither yes nor no nor empty")
    return answer


def _category(value: object) -> Verdict | None:
    # an answerable item may be filed under ANSWER: it has no category of refusal then
    verdict = read_verdict(value) if value != "" else Verdict.ANSWER
    return verdict if verdict.is_refusal else None


def _intensity(value: object) -> Intensity:
    try:
        return Intensity(_text(value).strip().upper())
    except ValueError:
        raise ValueError(f"{quoted(value)} is not an intensity; there are {', '.join(Intensity)}") from None


def _truth(value: object) -> bool:
    truth = _TRUTH.get(str(value).strip().lower()) if isinstance(value, str | bool | int) else None
    if truth is None:
        raise ValueError(f"{quoted(value)} is neither true nor false")
    return truth
