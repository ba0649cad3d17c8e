"""Where the frame ends: one size of window in a larger image, with targets inside an edge of it, cut off or outside.

The questions name the edge, so the label rests on where the outlines lie as seen from it:

| field | of | unit | meaning |
|---|---|---|---|
| edge_gap | instance | own widths | from the edge to the near end of what lies inside; None for one outside the frame |
| edge_gap_frame | instance | sides of the frame | the same |
| edge_depth | instance | px | how deep it reaches into the frame |

Of an outline with four corners, which an object touches on every side but seldom fills, only what lies between the
middles of its sides counts: a corner that is left may be empty ground.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from georefusal_build.anchors import Measurement
from georefusal_build.arrays import F64, Shape
from georefusal_build.bands import NEAR, NEAR_FRAME, SLIVER
from georefusal_build.levers.registry import Effect, Subject
from georefusal_build.outcomes import InapplicableError, Json, Reason
from georefusal_build.streams import Stream
from georefusal_build.targets import Target
from georefusal_task.core.records import Intensity

EDGES = ("left", "right", "upper", "lower")

_LEFT = 0.1
"""Share of its length, along the cut, that MEDIUM leaves of the target that reaches furthest."""
_SEEN = 0.15
"""Share of a target's pixels that may be left in MEDIUM."""
_BESIDE, _AWAY = 2, 4
"""Pixels between a whole target and the edge that is asked about, and any other edge."""
_SETTLES = 12
"""Pixels across from which a target can be recognised, and settles the question."""


class _Place(NamedTuple):
    """A target along the way from an edge. pixels: sorted; low, high: between which it certainly lies."""

    pixels: F64
    low: float
    high: float
    minor: float


class _Starts(NamedTuple):
    """Where a window may begin along one side, [low, high]; none where high is less."""

    low: int
    high: int

    def at(self, share: float) -> int:
        """Return a beginning: the lowest at 0, the highest at 1."""
        return int(self.low + share * (self.high - self.low + 1 - 1e-9))


_NOWHERE = _Starts(0, -1)


def cut_tile(subject: Subject, stream: Stream, intensity: Intensity, parent: float) -> Effect:
    """Return the window over a frame that is `parent` times as long and wide as it.

    All targets lie in it, one at the edge that is asked about (LOW), or that edge cuts all but a sliver of them off
    (MEDIUM), or leaves them outside (HIGH). A question about the area alone could be answered with no in MEDIUM, where
    what is left at the edge cannot be told; hence the questions name it. In HIGH that would ask about ground outside
    the image, which no category fits: for looking at, never for a set.

    Raises:
        InapplicableError: the question is about a region or names no edge, or no edge of the frame is near enough.

    """
    if subject.answer == "no" or subject.asks != "edge":
        raise InapplicableError(Reason.WRONG_BASE, "a cut is aimed at instances, and its questions name the edge")
    edges, along, across = stream.shuffled(range(4)), stream.uniform(), stream.uniform()
    for edge in edges:
        cut = _Cut.of(subject.targets, subject.shape, parent, edge)
        starts = cut.starts(intensity)
        if cut.fits and starts.low <= starts.high:
            return _effect(subject, cut, starts.at(along), cut.beside.at(across))
    raise InapplicableError(Reason.NO_ROOM, "no edge is so near the targets that a window could leave them out")


def can_cut(targets: Sequence[Target], shape: Shape, parent: float) -> bool:
    """Return whether LOW and MEDIUM can be made of these targets."""
    return any(_Cut.of(targets, shape, parent, edge).fits for edge in range(4))


class _Cut(NamedTuple):
    """What an edge can do to the targets, in coordinates that grow away from it.

    length, side: of the parent and the window, across the edge; other: of the window, along the edge.
    """

    edge: int
    places: list[_Place]
    length: int
    side: int
    other: int
    beside: _Starts

    @classmethod
    def of(cls, targets: Sequence[Target], shape: Shape, parent: float, edge: int) -> "_Cut":
        """Return it for one of `EDGES`."""
        axis, far = (0 if edge < 2 else 1), edge % 2 == 1
        lengths = shape[::-1]
        sides = [round(length / parent) for length in lengths]
        places = [_place(target, shape, axis, far) for target in targets]
        along = [_place(target, shape, 1 - axis, False) for target in targets]
        first, last = _ends(along)
        room = lengths[1 - axis] - sides[1 - axis]
        beside = _Starts(max(0, last + _AWAY - sides[1 - axis]), min(room, max(0, first - _AWAY)))
        return cls(edge, places, lengths[axis], sides[axis], sides[1 - axis], beside)

    @property
    def fits(self) -> bool:
        """Whether LOW and MEDIUM can be made here."""
        along = (self.starts(intensity) for intensity in (Intensity.LOW, Intensity.MEDIUM))
        return all(starts.low <= starts.high for starts in (*along, self.beside))

    def starts(self, intensity: Intensity) -> _Starts:
        """Return where the window may begin."""
        first, last = _ends(self.places)
        room = self.length - self.side
        if intensity is Intensity.HIGH:
            return _Starts(last + _AWAY, room)
        if intensity is Intensity.MEDIUM:
            return self._sliver(room)
        near = [p.low - min(NEAR * p.minor, NEAR_FRAME * self.side) for p in self.places if p.minor >= _SETTLES]
        if not near:
            return _NOWHERE
        return _Starts(max(0, last + _AWAY - self.side, math.ceil(min(near))), min(room, first - _BESIDE))

    def _sliver(self, room: int) -> _Starts:
        """The one beginning that leaves a sliver of the target that reaches furthest, and less of the others."""
        longest = max(self.places, key=lambda place: place.high)
        depth = min(max(_LEFT * (longest.high - longest.low), SLIVER[0]), SLIVER[1] - 1)
        start = math.floor(longest.high - depth)
        seen = max(float(np.mean(place.pixels >= start)) for place in self.places)
        return _Starts(start, start) if 0 <= start <= room and 0 < seen <= _SEEN else _NOWHERE

    def window(self, start: int, beside: int) -> tuple[int, int, int, int]:
        """Return (x, y, width, height) in the parent."""
        start = self.length - self.side - start if self.edge % 2 else start
        upright = start, beside, self.side, self.other
        return upright if self.edge < 2 else (beside, start, self.other, self.side)

    def measured(self, start: int) -> Measurement:
        """Return how the targets lie as seen from the edge of a window that begins there."""
        depths = [min(max(place.high - start, 0.0), float(self.side)) for place in self.places]
        gaps = [
            max(place.low - start, 0.0) if depth else None for place, depth in zip(self.places, depths, strict=True)
        ]
        own = [None if gap is None else gap / p.minor for gap, p in zip(gaps, self.places, strict=True)]
        frame = [None if gap is None else gap / self.side for gap in gaps]
        return Measurement({"edge_gap": own, "edge_gap_frame": frame, "edge_depth": [*depths]})


def _effect(subject: Subject, cut: _Cut, start: int, beside: int) -> Effect:
    x, y, width, height = window = cut.window(start, beside)
    seen = np.zeros(subject.shape, dtype=np.float32)
    seen[y : y + height, x : x + width] = 1
    out = np.where(seen[..., None] if subject.pixels.ndim == 3 else seen, subject.pixels, 0).astype(np.uint8)
    params: dict[str, Json] = {"edge": EDGES[cut.edge], "window": [*window]}
    return Effect(out, seen, window=window, params=params, measured=cut.measured(start))


def _place(target: Target, shape: Shape, axis: int, far: bool) -> _Place:
    """A target along one axis (0 = x), counted from the far end of the parent where `far`."""
    patch, length = target.patch(shape), shape[1 - axis]
    rows, columns = np.nonzero(patch.inside)
    pixels = (columns + patch.columns.start if axis == 0 else rows + patch.rows.start).astype(np.float64)
    certain = _certain(target)[:, axis]
    if far:
        pixels, certain = length - 1 - pixels, length - certain
    return _Place(np.sort(pixels), float(certain.min()), float(certain.max()), max(target.minor, 1e-9))


def _certain(target: Target) -> F64:
    """Points between which the object certainly lies: the middles of the sides of a box, the corners of an outline."""
    corners = np.asarray(target.polygon, dtype=np.float64)
    return (corners + np.roll(corners, -1, axis=0)) / 2 if len(corners) == 4 else corners


def _ends(places: Sequence[_Place]) -> tuple[int, int]:
    """First pixel of any target, and the one after the last."""
    return int(min(p.pixels[0] for p in places)), int(max(p.pixels[-1] for p in places)) + 1
