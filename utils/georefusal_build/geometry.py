"""Statements about annotated objects, judged by their outlines alone: pure functions, no pixels, no randomness.

A finding is the truth of a statement and how far it is from turning; the readings of a question are one finding for
each way in which it can be understood.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from georefusal_build.asking import Scope
from georefusal_build.scenes import Instance

SURE = 9.0
"""Margin of what no rounding can turn, such as the presence of an annotated object."""

UPRIGHT = math.log(2) / 2
"""What an upright box hides of a length, as a log ratio: an object inside may be as long as its diagonal."""

Frame = tuple[float, float]
"""Width and height of the tile, pixels."""

Side = Literal["left", "right", "upper", "lower"]

SIDES: tuple[Side, ...] = ("left", "right", "upper", "lower")
"""Sides of the frame."""

Items = Mapping[str, tuple[Instance, ...]]
"""All instances of each class that a question speaks of, by the letter of its slot (C, A, B, D)."""


@dataclass(frozen=True)
class Finding:
    """Whether a statement holds, and how far it is from turning.

    margin: log ratio for sizes and gaps, share of the frame for positions, in [0, SURE].

    >>> Finding(True, 0.5) & ~Finding(False, 0.2)
    Finding(truth=True, margin=0.2)
    >>> Finding(True, 0.5) & Finding(False, 0.2)
    Finding(truth=False, margin=0.2)
    """

    truth: bool
    margin: float = SURE

    def __invert__(self) -> "Finding":
        return Finding(not self.truth, self.margin)

    def __and__(self, other: "Finding") -> "Finding":
        if self.truth and other.truth:
            return Finding(True, min(self.margin, other.margin))
        return Finding(False, max(one.margin for one in (self, other) if not one.truth))

    def __or__(self, other: "Finding") -> "Finding":
        return ~(~self & ~other)


@dataclass(frozen=True)
class Geometry:
    """truth: the statement holds under every reading. margin: of the least safe one. n_ref: how many there are."""

    truth: bool
    margin: float
    n_ref: int
    readings: tuple[Finding, ...]


Clause = Callable[[Items, Frame], tuple[Finding, ...]]
"""The readings of a statement."""


def geometry(items: Items, frame: Frame, clause: Clause) -> Geometry:
    """Return what a statement amounts to on these objects."""
    readings = clause(items, frame)
    truth = bool(readings) and all(one.truth for one in readings)
    return Geometry(truth, min((one.margin for one in readings), default=SURE), len(readings), readings)


def every(findings: Iterable[Finding]) -> Finding:
    """Return whether all hold; of none, all do."""
    total = Finding(True)
    for one in findings:
        total &= one
    return total


def some(findings: Iterable[Finding]) -> Finding:
    """Return whether at least one holds."""
    return ~every(~one for one in findings)


def present(instances: Sequence[Instance]) -> Finding:
    """Return whether there is one at all."""
    return Finding(bool(instances))


def gap(a: Instance, b: Instance) -> float:
    """Return the pixels between two outlines, 0 when they touch."""
    return float(a.shape.distance(b.shape))


def compared(value: float, limit: float) -> Finding:
    """Return whether a positive value reaches a limit; the margin is the log of their ratio.

    >>> compared(30, 20).truth, round(compared(30, 20).margin, 3)
    (True, 0.405)
    """
    ratio = max(value, 1e-9) / max(limit, 1e-9)
    return Finding(ratio >= 1, min(abs(math.log(ratio)), SURE))


def lengths_compared(value: float, limit: float, *instances: Instance) -> Finding:
    """Return whether a value reaches a limit that rests on these objects' lengths; upright boxes make it less safe."""
    found = compared(value, limit)
    return Finding(found.truth, max(0.0, found.margin - UPRIGHT * sum(not one.oriented for one in instances)))


def within(anchor: Instance, others: Sequence[Instance], lengths: float = 1.0) -> Finding:
    """Return whether one of the others is at most so many lengths of the anchor away from it."""
    reach = lengths * anchor.sides[1]
    return some(~lengths_compared(gap(anchor, one), reach, anchor) for one in others)


def longer(than: Instance, instances: Sequence[Instance]) -> Finding:
    """Return whether one of them has a longer major side."""
    return some(lengths_compared(one.sides[1], than.sides[1], one, than) for one in instances)


def span(instances: Sequence[Instance], pixels: float) -> Finding:
    """Return whether the longer side of one of them spans that many pixels."""
    return some(lengths_compared(one.sides[1], pixels, one) for one in instances)


def quarter(instance: Instance, frame: Frame) -> tuple[Scope, float]:
    """Return the quarter that holds the centre, and how far the outline keeps from the lines between the quarters.

    The distance is a share of the frame's width or height, whichever is less, and 0 for what crosses a line.
    """
    x0, y0, x1, y1 = instance.bounds
    column, row = (x0 + x1) / 2 / frame[0] >= 0.5, (y0 + y1) / 2 / frame[1] >= 0.5
    names: tuple[tuple[Scope, Scope], tuple[Scope, Scope]] = (
        ("upper-left", "upper-right"),
        ("lower-left", "lower-right"),
    )
    return names[row][column], max(0.0, min(_clear(x0, x1, frame[0]), _clear(y0, y1, frame[1])))


def quarters_off(instance: Instance, named: Scope, frame: Frame) -> tuple[int, float]:
    """Return in how many of (row, column) a quarter differs from the one that holds the centre, and the room there."""
    there, room = quarter(instance, frame)
    return sum(a != b for a, b in zip(there.split("-"), named.split("-"), strict=True)), room


def thirds_off(instance: Instance, side: Side, frame: Frame) -> tuple[int, float]:
    """Return how many thirds of the frame lie between a side and the centre, and the room to the line on that side.

    0 is the outer third at the side itself, whose only line is its inner one. The room is a share of the frame's width
    (for left and right) or height, and 0 for what crosses a line between thirds.
    """
    axis = SIDES.index(side) // 2
    low, high = (instance.bounds[i] / frame[axis] for i in (axis, axis + 2))
    if side in ("right", "lower"):
        low, high = 1 - high, 1 - low
    off = min(2, int(1.5 * (low + high)))
    if low < off / 3 or high > (off + 1) / 3:
        return off, 0.0
    return off, low - off / 3 if off else 1 / 3 - high


def in_upper_half(instance: Instance, frame: Frame) -> Finding:
    """Return whether it lies in the upper half; what crosses the middle has margin 0."""
    _, y0, _, y1 = instance.bounds
    return Finding((y0 + y1) / 2 < frame[1] / 2, max(0.0, _clear(y0, y1, frame[1])))


def same_quarter(a: Instance, b: Instance, frame: Frame) -> Finding:
    """Return whether both lie in one quarter."""
    (first, near), (second, far) = quarter(a, frame), quarter(b, frame)
    return Finding(first == second, min(near, far))


def distinct_gap(instances: Sequence[Instance]) -> float:
    """Return the least gap between two of them, pixels; infinite for fewer than two."""
    pairs = ((a, b) for i, a in enumerate(instances) for b in instances[:i])
    return min((gap(a, b) for a, b in pairs), default=math.inf)


def aspect(instance: Instance) -> float:
    """Return longer over shorter side, at least 1."""
    minor, major = instance.sides
    return major / max(minor, 1e-9)


def tilt(instance: Instance) -> float:
    """Return the angle between the longer side and the frame's horizontal, degrees in [0, 90]."""
    import shapely

    corners = shapely.get_coordinates(shapely.oriented_envelope(instance.shape))
    edges = [corners[i + 1] - corners[i] for i in (0, 1)]
    dx, dy = max(edges, key=lambda edge: float(edge @ edge))
    return math.degrees(math.atan2(abs(dy), abs(dx)))


def _clear(low: float, high: float, side: float) -> float:
    """How far an interval keeps from the middle of a side, as a share of it; negative when it crosses."""
    return max(0.5 - high / side, low / side - 0.5)
