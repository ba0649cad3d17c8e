"""The label of an item from its numbers alone: while it is made, and again from its row of provenance."""

from collections.abc import Mapping, Sequence
from itertools import compress
from typing import Any

from georefusal_build.anchors import Measurement
from georefusal_build.ask import judge
from georefusal_build.bands import decide
from georefusal_build.evidence import COARSE
from georefusal_build.levers import FAMILIES
from georefusal_build.outcomes import Reason
from georefusal_task.core.errors import DataError
from georefusal_task.core.records import lever_family
from georefusal_task.core.verdicts import Verdict, primary

_HIDDEN, _CLIPPED, _LOST = 0.15, 0.85, 2.0
"""Edges of the refusal bands: visible share, saturated share, scan statistic."""


def image_verdict(lever_id: str, measurement: Measurement, tags: frozenset[str]) -> Verdict | Reason:
    """Return the label of an image lever's item, or why it has none.

    Whatever else happened to the image counts: a reason of higher precedence than the lever's own makes the item
    collateral, and so does any reason where the lever's label is ANSWER.
    """
    decision = decide(lever_id, measurement, tags)
    if isinstance(decision, Reason):
        return decision
    return decision if primary({decision, *image_reasons(measurement, tags)}) is decision else Reason.COLLATERAL


def among(measurement: Measurement, chosen: Sequence[bool]) -> Measurement:
    """Return what was measured on the chosen instances alone, and on the image.

    >>> among(Measurement({"n_eff": [18.0, 40.0]}), [True, False]).per_instance
    {'n_eff': [18.0]}
    """
    columns = {name: [*compress(values, chosen)] for name, values in measurement.per_instance.items()}
    return Measurement(columns, measurement.image)


def image_reasons(measurement: Measurement, tags: frozenset[str]) -> frozenset[Verdict]:
    """Return every reason to refuse that the finished image gives, whatever lever made it.

    A base question has no premise, one reading, and a fact as its subject: only what is lost and what is too coarse
    can stand in its way.
    """
    if "no" in tags:
        nominal = measurement.image.get("nominal_n_eff")
        coarse = nominal is not None and nominal <= COARSE
        return frozenset({Verdict.GRANULARITY} if coarse else ())
    columns = measurement.per_instance
    lost = (
        _all(columns.get("visible_fraction"), most=_HIDDEN)
        or _all(columns.get("sat_fraction"), least=_CLIPPED)
        or _all(columns.get("scan_z"), most=_LOST)
    )
    held = {Verdict.GRANULARITY: _all(columns.get("n_eff"), most=COARSE), Verdict.INFO_MISSING: lost}
    return frozenset(verdict for verdict, true in held.items() if true)


def rederive(row: Mapping[str, Any]) -> Verdict | Reason:
    """Return the label of an item from its row of provenance alone, or the reason why it would have none.

    Raises: DataError naming the id when the row lacks what the label rests on.
    """
    try:
        lever_id, tags = str(row["operator"]), frozenset(map(str, row["tags"]))
        measurement = Measurement.from_json(row["measurement"])
        by = image_verdict if lever_family(lever_id) in FAMILIES else judge
        return by(lever_id, measurement, tags)
    except (KeyError, TypeError, ValueError) as error:
        raise DataError(f"{row.get('id')}: its row does not hold what its label rests on ({error!r})") from error


def _all(values: list[float | None] | None, *, least: float = float("-inf"), most: float = float("inf")) -> bool:
    """Whether there are values and all of them lie in [least, most]; one that is undefined does not."""
    return bool(values) and all(value is not None and least <= value <= most for value in values or ())
