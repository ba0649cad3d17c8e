"""Label bands: which measurements make an item of a lever answerable, which a refusal, and which neither.

One table, `BANDS`, read by `decide` and exported as JSON. A lever's item has its label when every rule of the lever
holds; between the bands lies a dead zone in which an item is rejected.
"""

import json
import operator
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from georefusal_build.anchors import Measurement, Value
from georefusal_build.outcomes import Reason
from georefusal_task.core.verdicts import Verdict

Over = Literal["some", "every", "image"]
Op = Literal["<", "<=", ">", ">=", "=="]

_OPERATORS: dict[Op, Callable[[float, float], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
}


@dataclass(frozen=True)
class Condition:
    """A field of the measurement, an operator and a value."""

    field: str
    op: Op
    value: float

    def holds(self, measured: float) -> bool:
        """Return whether the measured number satisfies the condition."""
        return _OPERATORS[self.op](measured, self.value)


@dataclass(frozen=True)
class Rule:
    """Conditions that must hold together: on some instance, on every instance, or on the image.

    when: tags without which the rule does not apply: "yes"/"no" (base answer), "optical"/"sar", and what a crossed
    question asks for.
    """

    over: Over
    conditions: tuple[Condition, ...]
    when: frozenset[str] = frozenset()

    def holds(self, measurement: Measurement) -> bool | None:
        """Return whether the rule holds; None when a number it needs is missing or undefined."""
        if self.over == "image":
            return _joint(self.conditions, [measurement.image.get(c.field) for c in self.conditions])
        columns = [measurement.per_instance.get(c.field, []) for c in self.conditions]
        if len({len(column) for column in columns}) != 1 or not columns[0]:
            return None
        results = [_joint(self.conditions, list(values)) for values in zip(*columns, strict=True)]
        if self.over == "some":
            return True if True in results else (None if None in results else False)
        return False if False in results else (None if None in results else True)


@dataclass(frozen=True)
class Band:
    """The rules of one lever. note: what was decided where the catalogue's words were not exact."""

    verdict: Verdict
    rules: tuple[Rule, ...]
    note: str = ""


def decide(
    lever_id: str, measurement: Measurement, tags: frozenset[str] = frozenset({"yes", "optical"})
) -> Verdict | Reason:
    """Return the verdict that a measurement gives a lever's item, or why it gives none; a pure function of the numbers.

    tags: what is known of the base without looking: its answer ("yes", "no"), its modality ("optical", "sar"), and for
    crossed levers what the question asks for ("fine", "super"; "colour", "plain"). All of them stand in provenance.
    """
    band = BANDS[lever_id]
    results = [rule.holds(measurement) for rule in band.rules if rule.when <= tags]
    if not results:
        return Reason.WRONG_BASE
    if False in results:
        return Reason.DEAD_ZONE
    if None in results:
        return Reason.UNMEASURED
    return Reason.COLLATERAL if band.verdict is Verdict.INFO_MISSING and _too_coarse(measurement) else band.verdict


def to_json() -> list[dict[str, object]]:
    """Return the table as plain JSON rows, in lever order."""
    return [
        {
            "lever": lever_id,
            "verdict": str(band.verdict),
            "rules": [
                {
                    "over": rule.over,
                    "when": sorted(rule.when),
                    "conditions": [{"field": c.field, "op": c.op, "value": c.value} for c in rule.conditions],
                }
                for rule in band.rules
            ],
            "note": band.note,
        }
        for lever_id, band in sorted(BANDS.items())
    ]


def _joint(conditions: tuple[Condition, ...], values: list[Value]) -> bool | None:
    known = [c.holds(v) for c, v in zip(conditions, values, strict=True) if v is not None]
    if not all(known):
        return False
    return True if len(known) == len(conditions) else None


def _too_coarse(measurement: Measurement) -> bool:
    """Whether GRANULARITY, which ranks above INFO_MISSING, holds too: no instance could be told even in full view."""
    n_eff = [n for n in measurement.per_instance.get("n_eff", []) if n is not None]
    return bool(n_eff) and max(n_eff) <= 3.0


def _some(*conditions: Condition, when: str = "") -> Rule:
    return Rule("some", conditions, frozenset(when.split()))


def _every(*conditions: Condition, when: str = "") -> Rule:
    return Rule("every", conditions, frozenset(when.split()))


def _image(*conditions: Condition, when: str = "") -> Rule:
    return Rule("image", conditions, frozenset(when.split()))


def _le(name: str, value: float) -> Condition:
    return Condition(name, "<=", value)


def _ge(name: str, value: float) -> Condition:
    return Condition(name, ">=", value)


def _gt(name: str, value: float) -> Condition:
    return Condition(name, ">", value)


_ANSWER, _MISSING, _COARSE = Verdict.ANSWER, Verdict.INFO_MISSING, Verdict.GRANULARITY

# A base with the answer no has its asked region as the target: answering needs 99 % of it in view, refusing needs 85 %
# (MEDIUM) or 98 % (HIGH) hidden and room for a nominal instance in the hidden part.
_NO_LOW = _every(_ge("visible_fraction", 0.99), when="no")
_NO_MEDIUM = (_every(_le("visible_fraction", 0.15), when="no"), _image(_ge("nominal_fits", 1), when="no"))
_NO_HIGH = (_every(_le("visible_fraction", 0.02), when="no"), _image(_ge("nominal_fits", 1), when="no"))

_THIN = "signal_left is ours: under thin cloud a pixel can count as hidden (below half the signal) and show the target"
_LOST = "scan_z_before is ours (Rose: 5): a target that never stood out has lost nothing to the noise"
_CLEAR = "n_eff is ours: the instance that settles the question must be one that a person recognises"

BANDS: dict[str, Band] = {
    "im_occlude_low": Band(_ANSWER, (_some(_ge("visible_fraction", 0.90), _ge("n_eff", 16), when="yes"), _NO_LOW)),
    "im_occlude_medium": Band(
        _MISSING,
        (
            _every(_le("visible_fraction", 0.15), _le("signal_left", 0.20), when="yes"),
            _some(_ge("ring_visible", 0.25), when="yes"),
            *_NO_MEDIUM,
        ),
        _THIN,
    ),
    "im_occlude_high": Band(
        _MISSING,
        (
            _every(_le("visible_fraction", 0.02), _le("signal_left", 0.08), _le("ring_visible", 0.25), when="yes"),
            *_NO_HIGH,
        ),
        _THIN,
    ),
    "im_redact_low": Band(
        _ANSWER, (_some(_ge("visible_fraction", 0.999), _ge("n_eff", 12), when="yes"), _NO_LOW), _CLEAR
    ),
    "im_redact_medium": Band(_MISSING, (_every(_le("visible_fraction", 0.15), when="yes"), *_NO_MEDIUM)),
    "im_redact_high": Band(
        _MISSING,
        (_every(_le("visible_fraction", 0.001), _le("ring_visible", 0.55), when="yes"), *_NO_HIGH),
    ),
    "im_saturate_low": Band(
        _ANSWER,
        (_every(_le("sat_fraction", 0.05), when="yes"), _some(_ge("n_eff", 12), _ge("peak_dn", 40), when="yes")),
        f"{_CLEAR}, and peak_dn that it is not lost in the dark; bases with the answer no are not used: "
        "the family has no refusals there",
    ),
    "im_saturate_medium": Band(
        _MISSING, (_every(_ge("sat_fraction", 0.85), when="yes"), _some(_le("sat_fraction", 0.97), when="yes"))
    ),
    "im_saturate_high": Band(_MISSING, (_every(_ge("sat_fraction", 0.98), when="yes"),)),
    "im_truncate_low": Band(
        _ANSWER, (_some(_ge("visible_fraction", 0.999), _ge("n_eff", 12), when="yes"), _NO_LOW), _CLEAR
    ),
    "im_truncate_medium": Band(
        _MISSING,
        (
            _every(_le("visible_fraction", 0.15), when="yes"),
            _some(_gt("visible_fraction", 0), when="yes"),
            *_NO_MEDIUM,
        ),
    ),
    "im_truncate_high": Band(_MISSING, (_every(_le("visible_fraction", 0.001), when="yes"), *_NO_HIGH)),
    "im_bury_low": Band(
        _ANSWER,
        (_some(_ge("scan_z", 8), _ge("peak_margin_db", 3), when="yes"),),
        "scan_z counts dark targets and single bands too: a dark lake is plain to the eye without any bright return",
    ),
    "im_bury_medium": Band(_MISSING, (_every(_le("scan_z", 2), _ge("scan_z_before", 5), when="yes"),), _LOST),
    "im_bury_high": Band(_MISSING, (_every(_le("scan_z", 1), _ge("scan_z_before", 5), when="yes"),), _LOST),
    "gm_decimate_low": Band(
        _ANSWER,
        (_some(_ge("n_eff", 16), when="yes"), _image(_ge("nominal_n_eff", 16), when="no")),
    ),
    "gm_decimate_medium": Band(
        _COARSE,
        (
            _every(_le("n_eff", 3), when="yes"),
            _some(_gt("n_eff", 1.5), when="yes"),
            _every(_le("peak_margin_db", 0), when="yes sar"),
            _image(_le("nominal_n_eff", 3), _gt("nominal_n_eff", 1.5), when="no"),
        ),
        "the range 1.5 < n_eff <= 3 is that of the largest instance; bright points stay detectable in SAR, "
        "hence the peak margin",
    ),
    "gm_decimate_high": Band(
        _COARSE,
        (
            _every(_le("n_eff", 1.5), when="yes"),
            _every(_le("peak_margin_db", 0), when="yes sar"),
            _image(_le("nominal_n_eff", 1.5), when="no"),
        ),
    ),
}
"""Every lever whose anchor can be measured on pixels, with its band."""


def main() -> None:
    """Write the table to docs/levers/bands.json: `python -m georefusal_build.bands`."""
    path = Path(__file__).parents[2] / "docs" / "levers" / "bands.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(to_json(), indent=1) + "\n")


if __name__ == "__main__":
    main()
