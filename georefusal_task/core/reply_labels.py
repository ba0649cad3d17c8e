"""Spelling: which verdict does a string, or the value of a `verdict` key, stand for?

Inside JSON the spelling is forgiven (`label`), in prose a label counts only as it is written in the prompt (`LABEL`).
"""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias

from georefusal_task.core.records import Reason
from georefusal_task.core.verdicts import LETTERS, REFUSALS, VERDICTS, Verdict

Outcome: TypeAlias = Verdict | Reason
"""What one statement amounts to: a verdict, or the reason why it is none."""

LABEL = r"(?<![A-Za-z0-9_])(?:" + "|".join(VERDICTS) + r")(?![A-Za-z0-9_])"
"""Pattern of an exact label in capitals, standing alone."""

_SHORT_FORMS = {
    "INFO_MISSING": Verdict.INFO_MISSING,
    "GRANULARITY": Verdict.GRANULARITY,
    "AMBIGUOUS": Verdict.AMBIGUOUS,
    "FALSE_PREMISE": Verdict.FALSE_PREMISE,
    "NONFACTUAL": Verdict.NONFACTUAL,
}
_LABELS = re.compile(LABEL)
_INSIGNIFICANT = re.compile(r"[\s_\\\-\u2010-\u2015\u2212]+")  # what may stand between the words of a label
_SEPARATORS = re.compile(r"[|/,;+&\n]|\b(?:or|and|vs)\b", re.IGNORECASE)
_SCHEMA_KEYS = {"$ref", "allOf", "anyOf", "const", "enum", "oneOf", "type"}
_LONGEST_VALUE = 2_000
"""Characters of a `verdict` value that are looked into; the longest sensible one, all six labels, has 160."""


def _squeezed(label: str) -> str:
    return _INSIGNIFICANT.sub("", label).upper()


_SPELLINGS: dict[str, Verdict] = {_squeezed(v): v for v in VERDICTS}
_SPELLINGS |= {_squeezed(v.removeprefix("REFUSE_")): v for v in REFUSALS}
_SPELLINGS |= {_squeezed(prefix + short): v for short, v in _SHORT_FORMS.items() for prefix in ("", "REFUSE_")}

_EXACT: dict[str, Verdict] = {str(v): v for v in VERDICTS}


def label(text: str) -> Verdict | None:
    """Return the verdict that a string spells, None for anything else; a near miss is not mended.

    Forgiven are case, spaces, hyphens, surrounding punctuation, zero-width and full-width characters, a missing
    `REFUSE_` and the five short forms.

    >>> str(label(" Refuse ambiguous-query. ")), label("REFUSE_AMBIGIOUS_QUERY")
    ('REFUSE_AMBIGUOUS_QUERY', None)
    """
    exact = _EXACT.get(text)
    if exact is not None or len(text) > _LONGEST_VALUE:
        return exact
    if not text.isascii():
        text = "".join(c for c in unicodedata.normalize("NFKC", text) if unicodedata.category(c) != "Cf")
    return _SPELLINGS.get(_squeezed(_bare(text)))


def _bare(text: str) -> str:
    """Return the text without the punctuation and symbols around it."""
    start, end = 0, len(text)
    while start < end and not text[start].isalnum():
        start += 1
    while start < end and not text[end - 1].isalnum():
        end -= 1
    return text[start:end]


def letter(text: str) -> Verdict | None:
    """Return the verdict of an option letter, alone or in punctuation, in either case.

    >>> str(letter("(c)")), letter("A ship")
    ('REFUSE_GRANULARITY_MISMATCH', None)
    """
    return LETTERS.get(_bare(text).upper()) if len(text) < 20 else None


def named(text: str) -> set[Verdict]:
    """Return the verdicts whose exact labels stand anywhere in the text."""
    return {Verdict(found) for found in _LABELS.findall(text)}


def several(verdicts: Iterable[Outcome | None], otherwise: Reason) -> Outcome:
    """Return the one verdict among the candidates, ECHO if all six are there, CONFLICT if several, or `otherwise`."""
    distinct = set(verdicts)
    known = distinct - {None}
    if len(known) == len(VERDICTS):
        return Reason.ECHO
    if len(known) > 1:
        return Reason.CONFLICT
    return otherwise if None in distinct or not known else next(v for v in known if v)


def judge(values: Sequence[Any], letters: bool = False) -> Outcome:
    """Return the verdict that the values of one object's `verdict` keys (usually one) agree on, or why there is none.

    Objects are tuples of (key, value) pairs or dicts; `letters` also accepts the option letters A to F.
    """
    if len(values) == 1:
        return _judge_value(values[0], letters)
    outcomes = {_judge_value(value, letters) for value in values}
    return outcomes.pop() if len(outcomes) == 1 else Reason.CONFLICT


def _judge_value(value: Any, letters: bool) -> Outcome:
    while True:  # a loop, since a reply may wrap its verdict thousands deep
        if isinstance(value, dict):
            value = tuple(value.items())
        if isinstance(value, list) and len(value) == 1:
            value = value[0]
        elif isinstance(value, tuple) and (inner := verdict_values(value)):
            value = inner[0] if len(inner) == 1 else inner
        else:
            break
    if isinstance(value, str):
        return _judge_text(value, letters)
    if value is None or value == []:
        return Reason.NO_VERDICT
    if isinstance(value, list):
        return several((label(v) if isinstance(v, str) else None for v in value), otherwise=Reason.CONFLICT)
    if isinstance(value, tuple) and any(key in _SCHEMA_KEYS for key, _ in value):
        return Reason.ECHO
    return Reason.UNKNOWN_VERDICT


def _judge_text(value: str, letters: bool) -> Outcome:
    verdict = label(value) or (letter(value) if letters else None)
    if verdict is not None:
        return verdict
    if not value.strip():
        return Reason.NO_VERDICT
    if len(value) > _LONGEST_VALUE:
        return Reason.UNKNOWN_VERDICT
    if _SEPARATORS.search(value):
        outcome = several(map(label, filter(_bare, _SEPARATORS.split(value))), otherwise=Reason.UNKNOWN_VERDICT)
        if outcome is not Reason.UNKNOWN_VERDICT:
            return outcome
    mentioned = named(value)
    return several(mentioned, Reason.UNKNOWN_VERDICT) if len(mentioned) > 1 else Reason.UNKNOWN_VERDICT


def verdict_values(members: Iterable[tuple[str, Any]]) -> list[Any]:
    """Return the values of all `verdict` keys, in any case, of one object."""
    return [value for key, value in members if key == "verdict" or key.lower() == "verdict"]
