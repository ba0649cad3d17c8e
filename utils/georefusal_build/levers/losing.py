"""Where lost ground goes: wedges, lines and gaps of one area, over the targets or away from them."""

import math
from collections.abc import Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np

from georefusal_build.anchors import Measurement, visibility
from georefusal_build.arrays import F64, Mask, Shape
from georefusal_build.kernels.blocks import painted
from georefusal_build.kernels.swath import Wedge, depth_along, scan_gaps, wedge_area, wedge_of_area
from georefusal_build.levers.placing import TRIES, block_over, clusters, keep_clear, place_apart, sliver_over
from georefusal_build.levers.registry import Subject
from georefusal_build.levers.search import first, in_band
from georefusal_build.outcomes import InapplicableError, Json, Reason
from georefusal_build.streams import Stream
from georefusal_build.targets import Target
from georefusal_task.core.records import Intensity

MOST = 0.45
"""Largest share of the image that a wedge may take."""
HIDDEN = (0.86, 0.97)
"""Share of the least hidden target that MEDIUM hides, (from, below): a sliver is left."""


class WedgePlan(NamedTuple):
    """Wedges of one area: over the targets with a margin, leaving a sliver of them, and on the opposite side."""

    high: Wedge
    medium: Wedge
    low: Wedge


def plan_wedges(targets: Sequence[Target], shape: Shape, angles: Sequence[float]) -> WedgePlan:
    """Return the first plan on a fixed grid: margins from wide to none, angles as given, sides from cheap to dear.

    Raises:
        InapplicableError: the targets lie too far from every edge, or no three wedges of one area do it.
    """
    slivers = _Slivers(targets, shape)
    least = shape[0] * shape[1]
    for margin, pad in ((1.25, 4.0), (1.12, 2.0), (1.0, 1.0), (1.0, 0.0)):
        corners = np.concatenate([np.asarray(target.grown(margin, pad).polygon) for target in targets])
        corners = np.clip(corners, 0, shape[::-1])
        for angle in angles:
            area, high = min(_covering(corners, side, angle, shape) for side in range(4))
            least = min(least, area)
            if area > MOST * shape[0] * shape[1]:
                continue
            low = wedge_of_area(high.side ^ 1, angle, area, shape)
            medium = slivers.wedge(high.side, angles, area)
            if medium is not None and not any(_covered(target, low, shape) for target in targets):
                return WedgePlan(high, medium, low)
    if least > MOST * shape[0] * shape[1]:
        raise InapplicableError(Reason.TARGET_TOO_LARGE, f"a wedge over all targets takes at least {least} px")
    raise InapplicableError(Reason.UNEVEN_BUDGET, "no wedges of one area hide, almost hide and miss the targets")


def _covering(corners: F64, side: int, angle: float, shape: Shape) -> tuple[int, Wedge]:
    """The wedge over all of the corners (n, 2), and its area."""
    wedge = Wedge(side, angle, float(depth_along(side, angle, shape, *corners.T).max()))
    return wedge_area(wedge, shape), wedge


class _Slivers:
    """Wedges that leave a sliver of the least hidden target."""

    def __init__(self, targets: Sequence[Target], shape: Shape) -> None:
        self._shape = shape
        self._centres = [_centres(target, shape) for target in targets]
        self._known: dict[tuple[int, float], tuple[int, int]] = {}

    def wedge(self, near: int, angles: Sequence[float], area: int) -> Wedge | None:
        """Return the first wedge of `area`, or up to 2 % less; those on side `near` are tried before the others."""
        others = [(side, angle) for angle in angles for side in range(4) if side != near]
        for share in (1.0, 0.99, 0.981):
            wanted = round(share * area)
            for side, angle in chain(((near, angle) for angle in angles), others):
                low, high = self._areas(side, angle)
                if low <= wanted < high:
                    return wedge_of_area(side, angle, wanted, self._shape)
        return None

    def _areas(self, side: int, angle: float) -> tuple[int, int]:
        """Areas from which and below which a wedge leaves a sliver."""
        if (side, angle) not in self._known:
            reach = [0.0, 0.0]
            for x, y in self._centres:
                depth = np.sort(depth_along(side, angle, self._shape, x, y))
                ranks = (min(math.ceil(share * depth.size), depth.size) - 1 for share in HIDDEN)
                reach = [max(r, float(depth[rank])) for r, rank in zip(reach, ranks, strict=True)]
            low, high = (wedge_area(Wedge(side, angle, r), self._shape) for r in reach)
            self._known[side, angle] = low, high
        return self._known[side, angle]


def _covered(target: Target, wedge: Wedge, shape: Shape) -> float:
    """Share of a target's pixels under a wedge."""
    depth = depth_along(wedge.side, wedge.angle, shape, *_centres(target, shape))
    return float(np.mean(depth <= wedge.reach))


def _centres(target: Target, shape: Shape) -> tuple[F64, F64]:
    patch = target.patch(shape)
    rows, columns = np.nonzero(patch.inside)
    return columns + patch.columns.start + 0.5, rows + patch.rows.start + 0.5


def drop_lines(
    subject: Subject, stream: Stream, intensity: Intensity, lines: tuple[int, int]
) -> tuple[Mask, dict[str, Json]]:
    """Return lost blocks of scan lines: over all of the targets, over all but a sliver, or beside them.

    lines: how many a block has, (from, to).

    Raises:
        InapplicableError: a target is taller than a block, or there is no room beside the targets.

    """
    width = float(subject.shape[1])
    rows = [(0.0, target.bounds[1], width, target.bounds[3]) for target in subject.targets]
    groups = clusters(rows, 1.15, 4)
    heights = [max(lines[0], group.size(1.15, 4)[1]) for group in groups]
    boxes = [group.box for group in groups]
    if max(heights) > min(lines[1], subject.shape[0] // 2):
        raise InapplicableError(
            Reason.TARGET_TOO_LARGE, f"a target needs {max(heights)} lost lines, at most {lines[1]} go at once"
        )
    if sum(heights) > MOST * subject.shape[0]:
        raise InapplicableError(
            Reason.TARGET_TOO_LARGE, f"the targets need {sum(heights)} lost lines of {subject.shape[0]}"
        )
    sizes = [(int(width), height) for height in heights]
    slides, spots = stream.uniform((len(boxes),)), stream.uniform((len(boxes), TRIES, 2))
    if intensity is Intensity.LOW:
        lost = place_apart(sizes, keep_clear(subject.targets, subject.shape, 1.0, 4), spots)
    elif intensity is Intensity.MEDIUM:
        lost = [
            sliver_over(box, size, subject.shape, share=0.1, axis=1, ahead=slide < 0.5)
            for box, size, slide in zip(boxes, sizes, slides, strict=True)
        ]
    else:
        lost = [
            block_over(box, size, (0, 1.6 * slide - 0.8), subject.shape)
            for box, size, slide in zip(boxes, sizes, slides, strict=True)
        ]
    return painted(lost, subject.shape), {"lines": [[block.y, block.height] for block in lost]}


def slide_gaps(subject: Subject, stream: Stream, intensity: Intensity) -> tuple[Mask, dict[str, Json]]:
    """Return scan-line corrector gaps, shifted until the targets lie in them or between them.

    Raises:
        InapplicableError: the targets are taller than the gaps.

    """
    widest = stream.between(8, 14)
    middle = float(np.mean([target.rectangle[:, 0].mean() for target in subject.targets]))
    centre = 0.0 if middle > subject.shape[1] / 2 else float(subject.shape[1])  # gaps are widest far from it
    # whole periods: one area at any phase
    period = min(range(28, 37), key=lambda lines: (subject.shape[0] % lines, abs(lines - 32)))
    phases = stream.shuffled(range(period))
    tallest = max(y1 - y0 for _, y0, _, y1 in (target.bounds for target in subject.targets))
    if 0.85 * tallest > widest:
        raise InapplicableError(Reason.TARGET_TOO_LARGE, f"gaps of at most {widest:.1f} px cannot hold the targets")
    patches = [target.patch(subject.shape) for target in subject.targets]
    n_eff: list[float | None] = [target.minor for target in subject.targets]

    usual = float(scan_gaps(subject.shape, 0, centre, widest, period).mean())

    def good(phase: int) -> bool:
        lost = scan_gaps(subject.shape, phase, centre, widest, period)
        seen = visibility(1 - lost.astype(np.float32), patches, patches) | {"n_eff": n_eff}
        even = abs(float(lost.mean()) / usual - 1) <= 0.01
        return even and in_band("im_truncate", intensity, Measurement(seen, {"nominal_fits": 1.0}), subject)

    found = first(phases, good)
    phase = phases[-1] if found is None else found
    lost = scan_gaps(subject.shape, phase, centre, widest, period)
    return lost, {"widest_px": widest, "centre_px": centre, "period_px": period, "phase_px": phase}
