"""Targets: the outlines that a question is about, as polygons and as sets of pixels.

Coordinates are pixels of the image, x to the right, y down. A pixel belongs to an outline when its centre does;
regions around a target are grown from its smallest rotated rectangle.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import shapely
from numpy.typing import NDArray

from georefusal_build.arrays import F64, Mask, Shape
from georefusal_build.polygons import Points


@dataclass(frozen=True)
class Patch:
    """The pixels of an outline inside an image: a window of the image and which of its pixels belong."""

    rows: slice
    columns: slice
    inside: Mask

    @cached_property
    def size(self) -> int:
        """Number of pixels."""
        return int(np.count_nonzero(self.inside))

    def of(self, array: NDArray[Any]) -> NDArray[Any]:
        """Return the values of `array` (H, W, ...) at these pixels, shape (size, ...)."""
        values: NDArray[Any] = array[self.rows, self.columns][self.inside]
        return values

    def paint(self, mask: Mask) -> None:
        """Set `mask` (H, W) at these pixels."""
        mask[self.rows, self.columns] |= self.inside

    def without(self, other: "Patch") -> "Patch":
        """Return these pixels but for those of another patch of the same image."""
        inside = self.inside.copy()
        rows, columns = _shared(self.rows, other.rows), _shared(self.columns, other.columns)
        inside[_from(self.rows, rows), _from(self.columns, columns)] &= ~other.inside[
            _from(other.rows, rows), _from(other.columns, columns)
        ]
        return Patch(self.rows, self.columns, inside)


@dataclass(frozen=True)
class Target:
    """One outline: at least three corners in order, not closed."""

    polygon: Points

    @classmethod
    def box(cls, x0: float, y0: float, x1: float, y1: float) -> "Target":
        """Return the half-open axis-aligned box [x0, x1) x [y0, y1)."""
        return cls(((x0, y0), (x1, y0), (x1, y1), (x0, y1)))

    @cached_property
    def bounds(self) -> tuple[float, float, float, float]:
        """Axis-aligned box (x0, y0, x1, y1)."""
        corners = np.asarray(self.polygon, dtype=np.float64)
        (x0, y0), (x1, y1) = corners.min(axis=0), corners.max(axis=0)
        return float(x0), float(y0), float(x1), float(y1)

    @cached_property
    def rectangle(self) -> F64:
        """Corners (4, 2) of the smallest rotated rectangle around the outline."""
        x0, y0, x1, y1 = self.bounds
        upright = np.array([(x0, y0), (x1, y0), (x1, y1), (x0, y1)])
        if {*map(tuple, upright)} == {*self.polygon}:
            return upright
        envelope = shapely.get_coordinates(shapely.oriented_envelope(shapely.Polygon(self.polygon)))
        return envelope[:4] if len(envelope) >= 5 else upright

    @cached_property
    def sides(self) -> tuple[float, float]:
        """(minor, major) side of `rectangle`, pixels."""
        first, second = (float(np.hypot(*(self.rectangle[i + 1] - self.rectangle[i]))) for i in (0, 1))
        return min(first, second), max(first, second)

    @property
    def minor(self) -> float:
        """Shorter side, pixels."""
        return self.sides[0]

    def grown(self, factor: float, pad: float = 0.0) -> "Target":
        """Return `rectangle` scaled by `factor` about its centre and widened by `pad` pixels on every side."""
        centre, *axes = self._frame
        u, v = (factor * side / 2 + pad * unit for side, unit in axes)
        corners = (centre - u - v, centre + u - v, centre + u + v, centre - u + v)
        return Target(tuple((float(x), float(y)) for x, y in corners))

    def patch(self, shape: Shape) -> Patch:
        """Return the target's pixels in an image of `shape`; they are worked out once.

        An outline that holds no pixel centre counts as the one pixel that its own centre lies in; one that lies
        outside the image has none.
        """
        if shape not in self._patches:
            self._patches[shape] = self._filled(shape)
        return self._patches[shape]

    @cached_property
    def _patches(self) -> dict[Shape, Patch]:
        return {}

    @cached_property
    def _frame(self) -> tuple[F64, tuple[F64, F64], tuple[F64, F64]]:
        """Centre of `rectangle`; its two sides, each with its unit vector."""
        along, across = self.rectangle[1] - self.rectangle[0], self.rectangle[3] - self.rectangle[0]
        return self.rectangle.mean(axis=0), (along, _unit(along)), (across, _unit(across))

    @cached_property
    def _is_upright(self) -> bool:
        edges = zip(self.polygon, (*self.polygon[1:], self.polygon[0]), strict=True)
        return len(self.polygon) == len({*self.polygon}) == 4 and all(a[0] == b[0] or a[1] == b[1] for a, b in edges)

    def _filled(self, shape: Shape) -> Patch:
        x0, y0, x1, y1 = self.bounds
        top, bottom = _first_centre(y0, shape[0]), _first_centre(y1, shape[0])
        left, right = _first_centre(x0, shape[1]), _first_centre(x1, shape[1])
        window = max(0, bottom - top), max(0, right - left)
        inside = np.ones(window, bool) if self._is_upright else _even_odd(self.polygon, left, top, window)
        if not inside.any():
            row, column = math.floor((y0 + y1) / 2), math.floor((x0 + x1) / 2)
            hit = 0 <= row < shape[0] and 0 <= column < shape[1] and max(x1 - x0, y1 - y0) < 2
            return (
                Patch(slice(max(row, 0), row + 1), slice(max(column, 0), column + 1), np.ones((1, 1), bool))
                if hit
                else _NOTHING
            )
        return Patch(slice(top, bottom), slice(left, right), inside)


def union(targets: Iterable[Target], shape: Shape) -> Mask:
    """Return the mask of all pixels of `targets`."""
    mask = np.zeros(shape, dtype=bool)
    for target in targets:
        target.patch(shape).paint(mask)
    return mask


def ring(target: Target, shape: Shape, factors: tuple[float, float]) -> Patch:
    """Return the pixels between the target grown by one and by the other of `factors`, without its own pixels."""
    inner, outer = (target.grown(factor).patch(shape) for factor in factors)
    return outer.without(inner).without(target.patch(shape))


def evidence(target: Target, shadow: tuple[float, float] | None = None) -> Target:
    """Return what could give a target away: its rectangle, a little grown, and what its shadow sweeps over.

    shadow: from an object's foot to the end of its shadow, (x, y) in pixels; None where it is not known.
    """
    grown = target.grown(1.0, max(4.0, 0.15 * target.minor))
    if shadow is None:
        return grown
    moved = [(x + shadow[0], y + shadow[1]) for x, y in grown.polygon]
    hull = shapely.get_coordinates(shapely.MultiPoint([*grown.polygon, *moved]).convex_hull)
    return Target(tuple((float(x), float(y)) for x, y in hull[:-1]))


def as_targets(polygons: Sequence[Points | Target | tuple[float, float, float, float]]) -> tuple[Target, ...]:
    """Return targets for polygons, boxes (x0, y0, x1, y1) or targets."""
    return tuple(p if isinstance(p, Target) else _from_points(p) for p in polygons)


def _from_points(points: Any) -> Target:
    values = np.asarray(points, dtype=np.float64)
    if values.shape == (4,):
        return Target.box(*map(float, values))
    return Target(tuple((float(x), float(y)) for x, y in values))


_NOTHING = Patch(slice(0, 0), slice(0, 0), np.zeros((0, 0), dtype=bool))


def _first_centre(edge: float, length: int) -> int:
    """Index of the first pixel whose centre is at or after `edge`, within [0, length]."""
    return min(max(math.ceil(edge - 0.5), 0), length)


def _shared(one: slice, other: slice) -> slice:
    start = max(one.start, other.start)
    return slice(start, max(start, min(one.stop, other.stop)))


def _from(window: slice, part: slice) -> slice:
    """Indices of a part, counted from the start of its window."""
    return slice(part.start - window.start, part.stop - window.start)


def _unit(vector: F64) -> F64:
    length = float(np.hypot(*vector))
    return vector / length if length > 0 else vector


def _even_odd(polygon: Points, left: int, top: int, shape: Shape) -> Mask:
    """Even-odd fill of a window by pixel centres; the left and upper edges belong to the outline."""
    rows, columns = shape
    start = np.array(polygon, dtype=np.float64)
    end = np.roll(start, -1, axis=0)
    slanted = start[:, 1] != end[:, 1]
    xa, ya, xb, yb = np.hstack([start, end])[slanted].T[:, :, None]
    first, last = (np.ceil(reach(ya, yb) - top - 0.5) for reach in (np.minimum, np.maximum))
    row = np.arange(rows)
    crossing = xa + (top + 0.5 + row - ya) * ((xb - xa) / (yb - ya))
    column = np.clip(np.ceil(crossing - 0.5 - left), 0, columns).astype(np.intp)
    crossed = (first <= row) & (row < last)
    toggles = np.bincount((row * (columns + 1) + column)[crossed], minlength=rows * (columns + 1))
    odd = (toggles & 1).astype(np.uint8).reshape(rows, columns + 1)[:, :columns]
    return np.bitwise_xor.accumulate(odd, axis=1).view(bool)
