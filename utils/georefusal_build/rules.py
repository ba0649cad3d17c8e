"""Executable rules: conditions on what was measured, over instances or over the image as a whole."""

import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from georefusal_build.anchors import Measurement, Value
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


def some(*conditions: Condition, when: str = "") -> Rule:
    """Return a rule that holds when some instance meets all conditions."""
    return Rule("some", conditions, frozenset(when.split()))


def every(*conditions: Condition, when: str = "") -> Rule:
    """Return a rule that holds when every instance meets all conditions."""
    return Rule("every", conditions, frozenset(when.split()))


def image(*conditions: Condition, when: str = "") -> Rule:
    """Return a rule about the image, or the question, as a whole."""
    return Rule("image", conditions, frozenset(when.split()))


def le(name: str, value: float) -> Condition:
    """Return `name <= value`."""
    return Condition(name, "<=", value)


def ge(name: str, value: float) -> Condition:
    """Return `name >= value`."""
    return Condition(name, ">=", value)


def gt(name: str, value: float) -> Condition:
    """Return `name > value`."""
    return Condition(name, ">", value)


def _joint(conditions: tuple[Condition, ...], values: list[Value]) -> bool | None:
    known = [c.holds(v) for c, v in zip(conditions, values, strict=True) if v is not None]
    if not all(known):
        return False
    return True if len(known) == len(conditions) else None
