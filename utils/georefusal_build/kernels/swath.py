"""Ground that was not recorded: swath edges and lost lines."""

import math
from bisect import bisect_left
from typing import NamedTuple, cast

import numpy as np

from georefusal_build.arrays import F64, U8, Mask, Shape


class Wedge(NamedTuple):
    """A no-data wedge. side: 0..3 = left, right, top, bottom; angle: of its edge, degrees; reach: depth, pixels."""

    side: int
    angle: float
    reach: float


def depth_along(side: int, angle: float, shape: Shape, x: F64, y: F64) -> F64:
    """Return how deep points lie: their distance from the side, plus tan(angle) times their place along it."""
    height, width = shape
    normal, offset = ((x, y), (width - x, y), (y, x), (height - y, x))[side]
    return normal + math.tan(math.radians(angle)) * offset


def wedge_area(wedge: Wedge, shape: Shape) -> int:
    """Return the number of pixels that `wedge_mask` would set, without making the mask."""
    along, across = shape[::-1] if wedge.side < 2 else shape
    starts = wedge.reach - math.tan(math.radians(wedge.angle)) * (np.arange(across) + 0.5)
    return int(np.clip(np.floor(starts + 0.5), 0, along).sum())


def wedge_of_area(side: int, angle: float, area: int, shape: Shape) -> Wedge:
    """Return the smallest wedge on this side and angle with at least `area` pixels; reach in steps of 1/64 pixel."""
    steps = range(-64 * sum(shape), 128 * sum(shape))
    place = bisect_left(steps, area, key=lambda step: wedge_area(Wedge(side, angle, step / 64), shape))
    return Wedge(side, angle, steps[min(place, len(steps) - 1)] / 64)


def wedge_mask(wedge: Wedge, shape: Shape) -> Mask:
    """Return the pixels whose centre lies at most `wedge.reach` deep."""
    y, x = (np.arange(length, dtype=np.float64) + 0.5 for length in shape)
    return depth_along(wedge.side, wedge.angle, shape, x[None, :], y[:, None]) <= wedge.reach


def scan_gaps(shape: Shape, phase: float, centre: float, widest: float, period: int = 32) -> Mask:
    """Return the gaps of a failed scan-line corrector: none at column `centre`, `widest` px at the far side.

    Source: Landsat 7 SLC-off, 16 detectors, two scans per period; here at nadir spacing.
    """
    height, width = shape
    reach = max(centre, width - centre)
    gap = widest * np.abs(np.arange(width) + 0.5 - centre) / reach
    line = (np.arange(height) + 0.5 + phase) % period
    return cast("Mask", line[:, None] < gap[None, :])


def repeat_last_line(pixels: U8, lost: Mask) -> U8:
    """Return a copy in which lost lines (H,) repeat the last good line, or the first good one at the top."""
    good = np.flatnonzero(~lost)
    if good.size == 0:
        return np.zeros_like(pixels)
    source = good[np.maximum(np.searchsorted(good, np.arange(lost.size), side="right") - 1, 0)]
    return pixels[source]
