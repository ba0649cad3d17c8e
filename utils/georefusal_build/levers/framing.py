"""Where the frame ends: one size of window in a larger image, with a target inside an edge of it, cut off or outside.

The questions name the edge, so the label rests on where the outlines lie as seen from it:

| field | of | unit | meaning |
|---|---|---|---|
| edge_gap | instance | own widths | from the edge to the near end of what lies inside; None for one outside the frame |
| edge_gap_frame | instance | sides of the frame | the same |
| edge_depth | instance | px | how deep it reaches into the frame |
| edge_cnr | instance | ratio | contrast to noise of what is left of it; None where nothing is |

Of an outline with four corners, which an object touches on every side but seldom fills, only what lies between the
middles of its sides counts: a corner that is left may be empty ground.
"""

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from georefusal_build.anchors import RING, Measurement, contrast_to_noise, measure
from georefusal_build.arrays import F32, F64, Shape
from georefusal_build.bands import NEAR, NEAR_FRAME, NOTICED, SLIVER
from georefusal_build.kernels.tones import luma
from georefusal_build.levers.registry import Effect, Subject
from georefusal_build.outcomes import InapplicableError, Json, Reason
from georefusal_build.streams import Stream
from georefusal_build.targets import Target, ring
from georefusal_task.core.records import Intensity

EDGES = ("left", "right", "upper", "lower")

_LEFT = 0.1
"""Share of its length, along the cut, that MEDIUM leaves of the target."""
_SEEN = 0.15
"""Share of any target's pixels that may be left in MEDIUM."""
_BESIDE, _AWAY = 2, 4
"""Pixels between a whole target and the edge that is asked about, and any other edge."""
_SETTLES, _CLEAR_Z, _CLEAR_CNR = 16, 8.0, 2.0
"""Pixels across, and scan statistic or contrast to noise, from which a target settles a question.

Source: the solvable gate of the generator's design.
"""
_TRIES = 8
"""Places along the edge that are tried for each target."""

_Window = tuple[int, int, int, int]
"""x, y, width, height in the parent."""


def cut_tile(subject: Subject, stream: Stream, intensity: Intensity, parent: float) -> Effect:
    """Return the window over a frame that is `parent` times as long and wide as it.

    A target lies whole at the edge that is asked about (LOW); or that edge cuts it off but for a sliver, and nothing
    more than slivers is left of the others (MEDIUM); or no target is left (HIGH). A question about the area alone could
    be answered with no in MEDIUM, where what is left at the edge cannot be told; hence the questions name it. In HIGH
    that would ask about ground outside the image, which no category fits: for looking at, never for a set.

    Raises:
        InapplicableError: the question is about a region or names no edge, or no edge of the frame can be moved so.

    """
    if subject.answer == "no" or subject.asks != "edge":
        raise InapplicableError(Reason.WRONG_BASE, "a cut is aimed at instances, and its questions name the edge")
    parents = _Parent(subject.targets, subject.shape, parent)
    order = stream.shuffled(range(4 * len(subject.targets)))
    along, across = stream.uniform(), stream.uniform((_TRIES,))
    found = [(number // 4, cut) for number in order for cut in parents.cuts(number // 4, number % 4, across)]
    if not found:
        raise InapplicableError(Reason.NO_ROOM, "no edge of the frame can cut off a target and leave none beside it")
    clear, grey = _standing_out(subject), luma(subject.pixels)
    plain = (one for one in found if clear[one[0]] and (parents.contrast(*one, grey) or 0) >= NOTICED)
    for cut in (cut for _, cut in plain):
        start = cut.start(intensity, along)
        if intensity is not Intensity.HIGH or not any(parents.shares(cut.window(start))):
            return _effect(subject, parents, cut, start, grey)
    raise InapplicableError(
        Reason.TARGET_TOO_FAINT,
        "no target that an edge of the frame can cut off stands out when whole and is noticed when cut",
    )


def can_cut(targets: Sequence[Target], shape: Shape, parent: float) -> bool:
    """Return whether some edge can do to one of these targets what LOW and MEDIUM need, whatever the pixels are."""
    parents, evenly = _Parent(targets, shape, parent), (np.arange(_TRIES) + 0.5) / _TRIES
    return any(True for number in range(4 * len(targets)) for _ in parents.cuts(number // 4, number % 4, evenly))


class _Starts(NamedTuple):
    """Where a window may begin along one side, [low, high]; nowhere if high is less."""

    low: int
    high: int

    def at(self, share: float) -> int:
        """Return a beginning: the lowest at 0, the highest at 1."""
        return int(self.low + share * (self.high - self.low + 1 - 1e-9))


class _Place(NamedTuple):
    """A target along the way from an edge. first, last: pixels; low, high: between which it certainly lies."""

    first: int
    last: int
    low: float
    high: float


class _Cut(NamedTuple):
    """What one edge can do to one target, in coordinates that grow away from that edge.

    starts: of windows in which the target lies at the edge. sliver, outside: of the one that cuts it off, and of one
    that leaves it out. beside: where the windows begin along the edge. length, side: of the parent and the windows
    across the edge; other: of the windows along it.
    """

    edge: int
    starts: _Starts
    sliver: int
    outside: int
    beside: int
    length: int
    side: int
    other: int

    def start(self, intensity: Intensity, share: float) -> int:
        """Return where the window of an intensity begins; share: which of those that LOW has."""
        if intensity is Intensity.LOW:
            return self.starts.at(share)
        return self.sliver if intensity is Intensity.MEDIUM else min(self.outside, self.length - self.side)

    def window(self, start: int) -> _Window:
        """Return the window that begins there."""
        start = self.length - self.side - start if self.edge % 2 else start
        upright = start, self.beside, self.side, self.other
        return upright if self.edge < 2 else (self.beside, start, self.other, self.side)


class _Parent:
    """The targets in a parent image, and what frames that are smaller than it can leave of them."""

    def __init__(self, targets: Sequence[Target], shape: Shape, parent: float) -> None:
        self.targets, self.shape = targets, shape
        self._sides = round(shape[1] / parent), round(shape[0] / parent)
        self._patches = [target.patch(shape) for target in targets]
        ends = [(p.columns.start, p.rows.start, p.columns.stop, p.rows.stop) for p in self._patches]
        self._ends = np.array(ends).T

    def cuts(self, index: int, edge: int, across: F64) -> Iterator[_Cut]:
        """Yield what an edge can do to a target, for the windows along the edge that the shares `across` stand for."""
        target, axis = self.targets[index], edge // 2
        x0, y0, x1, y1 = target.bounds
        whole = x0 > 0 and y0 > 0 and x1 < self.shape[1] and y1 < self.shape[0]
        if not whole or target.minor < _SETTLES:
            return
        place, along = self.place(index, edge), self.place(index, 2 * (1 - axis))
        length, side, other = self.shape[1 - axis], self._sides[axis], self._sides[1 - axis]
        room, beside = length - side, self.shape[axis] - other
        near = min(NEAR * target.minor, NEAR_FRAME * side)
        starts = _Starts(
            max(0, place.last + 1 + _AWAY - side, math.ceil(place.low - near)), min(room, place.first - _BESIDE)
        )
        depth = min(max(_LEFT * (place.high - place.low), SLIVER[0]), SLIVER[1] - 1)
        sliver = math.floor(place.high - depth)
        sides = _Starts(max(0, along.last + 1 + _AWAY - other), min(beside, max(0, along.first - _AWAY)))
        if starts.low > starts.high or sides.low > sides.high or not 0 <= sliver <= room:
            return
        for share in across:
            cut = _Cut(edge, starts, sliver, place.last + 1 + _AWAY, sides.at(share), length, side, other)
            if self._leaves_slivers(cut):
                yield cut

    def place(self, index: int, edge: int) -> _Place:
        """Return where a target lies, seen from an edge of the parent."""
        axis, length = edge // 2, self.shape[1 - edge // 2]
        certain = _certain(self.targets[index])[:, axis]
        first, last = int(self._ends[axis, index]), int(self._ends[axis + 2, index]) - 1
        if edge % 2:
            first, last, certain = length - 1 - last, length - 1 - first, length - certain
        return _Place(first, last, float(certain.min()), float(certain.max()))

    def _leaves_slivers(self, cut: _Cut) -> bool:
        """Whether nothing but slivers at its edge is left of any target."""
        shares = self.shares(cut.window(cut.sliver))
        met = [index for index, share in enumerate(shares) if share]
        return 0 < max(shares) <= _SEEN and all(self.place(i, cut.edge).high - cut.sliver <= SLIVER[1] for i in met)

    def shares(self, window: _Window) -> list[float]:
        """Return the share of each target's pixels that a window leaves."""
        x, y, width, height = window
        x0, y0, x1, y1 = self._ends
        met = (x0 < x + width) & (x1 > x) & (y0 < y + height) & (y1 > y)
        inside = (x0 >= x) & (x1 <= x + width) & (y0 >= y) & (y1 <= y + height)
        shares = np.where(inside, 1.0, 0.0)
        for index in np.flatnonzero(met & ~inside):
            patch = self._patches[index]
            top, left = patch.rows.start, patch.columns.start
            part = patch.inside[max(0, y - top) : y + height - top, max(0, x - left) : x + width - left]
            shares[index] = np.count_nonzero(part) / patch.size
        return [float(share) for share in shares]

    def contrast(self, index: int, cut: _Cut, grey: F32, start: int | None = None) -> float | None:
        """Return how what a window leaves of a target stands out from the ground around; by default the sliver."""
        x, y, width, height = cut.window(cut.sliver if start is None else start)
        kept = np.zeros(self.shape, dtype=bool)
        kept[y : y + height, x : x + width] = True
        parts = self._patches[index], ring(self.targets[index], self.shape, RING)
        inside, around = (part.of(grey)[part.of(kept)] for part in parts)
        return contrast_to_noise(inside, around)

    def measured(self, cut: _Cut, start: int, grey: F32) -> Measurement:
        """Return how the targets lie as seen from the edge of a window that begins there."""
        names = ("edge_gap", "edge_gap_frame", "edge_depth", "edge_cnr")
        columns: dict[str, list[float | None]] = {name: [] for name in names}
        for index, share in enumerate(self.shares(cut.window(start))):
            place, minor = self.place(index, cut.edge), max(self.targets[index].minor, 1e-9)
            gap = max(place.low - start, 0.0) if share else None
            columns["edge_gap"].append(None if gap is None else gap / minor)
            columns["edge_gap_frame"].append(None if gap is None else gap / cut.side)
            columns["edge_depth"].append(min(max(place.high - start, 0.0), float(cut.side)) if share else 0.0)
            columns["edge_cnr"].append(self.contrast(index, cut, grey, start) if share else None)
        return Measurement({**columns})


def _effect(subject: Subject, parents: _Parent, cut: _Cut, start: int, grey: F32) -> Effect:
    x, y, width, height = window = cut.window(start)
    seen = np.zeros(subject.shape, dtype=np.float32)
    seen[y : y + height, x : x + width] = 1
    out = np.where(seen[..., None] if subject.pixels.ndim == 3 else seen, subject.pixels, 0).astype(np.uint8)
    params: dict[str, Json] = {"edge": EDGES[cut.edge], "window": [*window]}
    return Effect(out, seen, window=window, params=params, measured=parents.measured(cut, start, grey))


def _standing_out(subject: Subject) -> list[bool]:
    """Which of the targets stand out on the clean image."""
    columns = measure(subject.pixels, subject.pixels, subject.targets, contrast=True).per_instance
    pairs = zip(columns["scan_z"], columns["cnr"], strict=True)
    return [(z or 0.0) >= _CLEAR_Z or (cnr or 0.0) >= _CLEAR_CNR for z, cnr in pairs]


def _certain(target: Target) -> F64:
    """Points between which the object certainly lies: the middles of the sides of a box, the corners of an outline."""
    corners = np.asarray(target.polygon, dtype=np.float64)
    return (corners + np.roll(corners, -1, axis=0)) / 2 if len(corners) == 4 else corners
