"""Where the frame ends: one size of window in a larger image, cut so that targets are in it, at its edge or outside."""

import math
from typing import NamedTuple

import numpy as np

from georefusal_build.arrays import F64
from georefusal_build.levers.registry import Effect, Subject
from georefusal_build.outcomes import InapplicableError, Json, Reason
from georefusal_build.streams import Stream
from georefusal_build.targets import Patch
from georefusal_task.core.records import Intensity

HIDDEN = 0.9
"""Share of the least hidden target that MEDIUM cuts off."""

_MARGIN = 4
"""Pixels between a target and the edge where it is wholly in or out of the frame."""

EDGES = ("left", "right", "top", "bottom")


class _Span(NamedTuple):
    """Where windows may begin along one side, [low, high]."""

    low: float
    high: float

    def at(self, share: float) -> int:
        """Return a beginning: the lowest at 0, the highest at 1."""
        return math.floor(self.low + share * (self.high - self.low + 1 - 1e-9))


def cut_tile(subject: Subject, stream: Stream, intensity: Intensity, parent: float) -> Effect:
    """Return the window over a frame that is `parent` times as long and wide as it.

    All targets lie in it (LOW), at its edge with a sliver in it (MEDIUM), or outside (HIGH). A question about it has to
    name the edge: of the area covered by the window alone, the answer would be no.

    Raises:
        InapplicableError: the base is a question about a region, or no edge of the frame is near enough.

    """
    if subject.answer == "no":
        raise InapplicableError(Reason.WRONG_BASE, "a cut is aimed at instances, and this base has none")
    height, width = (int(side / parent) for side in subject.shape)
    edges, along, across = stream.shuffled(range(4)), stream.uniform(), stream.uniform()
    patches = [target.patch(subject.shape) for target in subject.targets]
    for edge in edges:
        axis = 0 if edge < 2 else 1
        length, side = (subject.shape[1], width) if axis == 0 else (subject.shape[0], height)
        other_length, other = (subject.shape[0], height) if axis == 0 else (subject.shape[1], width)
        inside, beyond = _spans(patches, axis, length, side, intensity, low_end=edge in (0, 2))
        beside, _ = _spans(patches, 1 - axis, other_length, other, Intensity.LOW, low_end=True)
        if inside is None or beyond is None or beside is None:
            continue
        start = (inside if intensity is Intensity.LOW else beyond).at(along)
        starts = (start, beside.at(across))
        x, y = starts if axis == 0 else starts[::-1]
        seen = np.zeros(subject.shape, dtype=np.float32)
        seen[y : y + height, x : x + width] = 1
        out = np.where(seen[..., None] if subject.pixels.ndim == 3 else seen, subject.pixels, 0).astype(np.uint8)
        params: dict[str, Json] = {"edge": EDGES[edge], "window": [x, y, width, height]}
        return Effect(out, seen, window=(x, y, width, height), params=params)
    raise InapplicableError(Reason.NO_ROOM, "no edge is so near the targets that a window could leave them out")


def _spans(
    patches: list[Patch], axis: int, length: int, side: int, intensity: Intensity, *, low_end: bool
) -> tuple[_Span | None, _Span | None]:
    """Where a window of `side` begins to hold all targets, and to cut them off at its low or high end."""
    places = [_places(patch, axis) for patch in patches]
    first, last = min(float(p[0]) for p in places), max(float(p[-1]) for p in places) + 1
    inside = _Span(min(length - side, max(0.0, last + _MARGIN - side)), min(length - side, max(0.0, first - _MARGIN)))
    if not low_end:
        places = [length - 1 - p[::-1] for p in places]
    reach = max(float(p[min(math.ceil(HIDDEN * p.size), p.size - 1)]) for p in places)
    out = max(float(p[-1]) for p in places) + 1 + _MARGIN
    cut = _Span(reach, reach) if intensity is Intensity.MEDIUM else _Span(out, length - side)
    feasible = inside.low <= inside.high and out <= length - side
    beyond = cut if low_end else _Span(length - side - cut.high, length - side - cut.low)
    return (inside if inside.low <= inside.high else None), (beyond if feasible else None)


def _places(patch: Patch, axis: int) -> F64:
    """Sorted columns (axis 0) or rows of a target's pixels."""
    rows, columns = np.nonzero(patch.inside)
    found = columns + patch.columns.start if axis == 0 else rows + patch.rows.start
    return np.sort(found.astype(np.float64))
