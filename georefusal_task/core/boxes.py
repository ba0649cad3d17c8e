"""Geometry of regions: which instances they cover, how well they match, how much of the image they take.

Regions are polygons in pixels of the original image. Boxes whose sides lie along the image's, the usual case, are
handled by numpy alone; only the others need shapely.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from georefusal_task.core.frames import Points

Floats: TypeAlias = npt.NDArray[np.float64]
Bools: TypeAlias = npt.NDArray[np.bool_]

_SLACK = 1e-7
"""Pixels by which rounding may move a border: a centre on the border stays inside."""
_ROUNDING = 1e-12
"""Share by which rounding may take an IoU below the threshold that it equals."""
_MAX_GRID = 400
"""Boxes that are laid out on a grid of their own coordinates to measure their union; the grid grows with the square."""


@dataclass(frozen=True, eq=False)
class Regions:
    """Polygons, taken apart once into what the functions below compute with."""

    points: tuple[Points, ...]
    bounds: Floats
    """(n, 4): x1, y1, x2, y2 of the smallest box with sides along the image's."""
    upright: Bools
    """(n,): whether the polygon is that box."""

    @classmethod
    def of(cls, polygons: "Sequence[Points] | Regions") -> "Regions":
        """Return the polygons prepared; what is prepared already as it is."""
        if isinstance(polygons, Regions):
            return polygons
        bounds, upright = np.empty((len(polygons), 4)), np.zeros(len(polygons), dtype=bool)
        corners = np.array([len(polygon) for polygon in polygons]) == 4
        if corners.any():
            points = chain.from_iterable(polygon for polygon in polygons if len(polygon) == 4)
            quads = np.fromiter(chain.from_iterable(points), np.float64, 8 * corners.sum()).reshape(-1, 4, 2)
            low, high = quads.min(axis=1), quads.max(axis=1)
            bounds[corners] = np.concatenate((low, high), axis=1)
            sides = quads[:, (1, 2, 3, 0)] - quads
            straight = ((sides != 0).sum(axis=2) <= 1).all(axis=1)
            opposite = (quads[:, 0] != quads[:, 2]).all(axis=1) & (quads[:, 1] != quads[:, 3]).all(axis=1)
            upright[corners] = straight & opposite
        for i in np.flatnonzero(~corners):
            outline = np.array(polygons[int(i)], dtype=np.float64)
            bounds[i] = np.concatenate((outline.min(axis=0), outline.max(axis=0)))
        return cls(tuple(polygons), bounds, upright)

    def __len__(self) -> int:
        return len(self.points)

    @property
    def centres(self) -> Floats:
        """(n, 2): the centres of the boxes; a polygon's is that of the box around it."""
        return (self.bounds[:, :2] + self.bounds[:, 2:]) / 2

    @property
    def sides(self) -> tuple[Floats, Floats, Floats, Floats]:
        """x1, y1, x2, y2 of the boxes, (n,) each."""
        x1, y1, x2, y2 = self.bounds.T
        return x1, y1, x2, y2

    @cached_property
    def shapes(self) -> npt.NDArray[np.object_]:
        """(n,): shapely geometries; outlines that cross themselves are put right."""
        import shapely

        made = np.empty(len(self), dtype=object)
        corners = np.array([len(polygon) for polygon in self.points])
        for n in np.unique(corners):
            made[corners == n] = shapely.polygons(np.array([polygon for polygon in self.points if len(polygon) == n]))
        crossing = ~shapely.is_valid(made)
        made[crossing] = shapely.make_valid(made[crossing])
        return made

    @cached_property
    def areas(self) -> Floats:
        """(n,): the areas in square pixels."""
        if self.upright.all():
            x1, y1, x2, y2 = self.sides
            return np.asarray((x2 - x1) * (y2 - y1))
        import shapely

        return np.asarray(shapely.area(self.shapes))


Polygons: TypeAlias = Sequence[Points] | Regions


def polygon_iou(a: Points, b: Points) -> float:
    """Return the area that two polygons share over the area of both together, 0 to 1; 0 where neither has an area.

    >>> polygon_iou(((0, 0), (2, 0), (2, 2), (0, 2)), ((1, 0), (3, 0), (3, 2), (1, 2)))  # 2 of 6
    0.3333333333333333
    """
    import shapely

    first, second = Regions.of([a, b]).shapes
    shared = float(shapely.intersection(first, second).area)
    union = first.area + second.area - shared
    return shared / union if union > 0 else 0.0


def covered(centres: npt.ArrayLike, regions: Polygons) -> Bools:
    """Return (n,): whether each centre lies in a region or on its border.

    `centres`: (n, 2), pixels of the original image. However many regions hold a centre, it is covered once.

    Source: issue "answer-grounding consistency"; the border counts as inside by our own decision.

    >>> covered([(2, 2), (5, 3), (6, 3)], [((0, 0), (5, 0), (5, 5), (0, 5))]).tolist()
    [True, True, False]
    """
    points, regions = np.asarray(centres, dtype=np.float64).reshape(-1, 2), Regions.of(regions)
    if not len(points) or not len(regions):
        return np.zeros(len(points), dtype=bool)
    x, y = points.T
    x1, y1, x2, y2 = (side[:, None] for side in regions.sides)
    within = (x >= x1 - _SLACK) & (x <= x2 + _SLACK) & (y >= y1 - _SLACK) & (y <= y2 + _SLACK)
    inside = np.asarray(within[regions.upright].any(axis=0))
    askew, dots = np.nonzero(within & ~regions.upright[:, None] & ~inside)
    if len(dots):
        import shapely

        hit = shapely.dwithin(regions.shapes[askew], shapely.points(points[dots]), _SLACK)
        inside[dots[hit]] = True
    return inside


def union_area(regions: Polygons, width: int, height: int) -> float:
    """Return the area of the union of the regions within the image, in square pixels.

    >>> union_area([((0, 0), (4, 0), (4, 2), (0, 2)), ((2, 0), (99, 0), (99, 2), (2, 2))], 10, 10)
    20.0
    """
    regions = Regions.of(regions)
    if not len(regions):
        return 0.0
    if not regions.upright.all() or len(regions) > _MAX_GRID:
        import shapely

        image = shapely.box(0, 0, width, height)
        return float(shapely.disjoint_subset_union_all(regions.shapes).intersection(image).area)
    boxes = np.clip(regions.bounds, 0, [width, height, width, height])
    xs, columns = np.unique(boxes[:, 0::2], return_inverse=True)
    ys, rows = np.unique(boxes[:, 1::2], return_inverse=True)
    columns, rows = columns.reshape(-1, 2), rows.reshape(-1, 2)
    taken = np.zeros((len(ys) - 1, len(xs) - 1), dtype=bool)
    for (top, bottom), (left, right) in zip(rows.tolist(), columns.tolist(), strict=True):
        taken[top:bottom, left:right] = True
    return float(np.diff(ys) @ taken @ np.diff(xs))


def match_count(pred: Polygons, gold: Polygons, iou: float = 0.5) -> int:
    """Return how many predicted and annotated regions can be matched one to one at that IoU or a higher one.

    The largest number there is (maximum bipartite matching), so the order of the regions plays no part.

    >>> box = ((0, 0), (4, 0), (4, 4), (0, 4))
    >>> match_count([box, box], [box])
    1
    """
    rows, columns = _matching_pairs(Regions.of(pred), Regions.of(gold), iou)
    if len(rows) == 0:
        return 0
    if len(np.unique(rows)) == len(rows) and len(np.unique(columns)) == len(columns):
        return len(rows)  # no region has two candidates
    from scipy.sparse import csr_matrix
    from scipy.sparse.csgraph import maximum_bipartite_matching

    starts = np.searchsorted(rows, np.arange(len(pred) + 1))
    graph = csr_matrix((np.ones(len(rows), dtype=np.int8), columns, starts), shape=(len(pred), len(gold)))
    return int((maximum_bipartite_matching(graph, perm_type="column") >= 0).sum())


def _matching_pairs(pred: Regions, gold: Regions, iou: float) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """Return the numbers of the regions of each pair that reaches the IoU, in order of the first."""
    if not len(pred) or not len(gold):
        return np.zeros(0, dtype=int), np.zeros(0, dtype=int)
    px1, py1, px2, py2 = (side[:, None] for side in pred.sides)
    gx1, gy1, gx2, gy2 = gold.sides
    w, h = np.minimum(px2, gx2) - np.maximum(px1, gx1), np.minimum(py2, gy2) - np.maximum(py1, gy1)
    shared = np.where((w > 0) & (h > 0), w * h, 0.0)
    # two regions share no more than the boxes around them do, and their union is no smaller than either
    near = (shared > 0) & (shared >= iou * np.maximum(pred.areas[:, None], gold.areas) * (1 - _SLACK))
    rows, columns = np.nonzero(near)
    common = shared[rows, columns]
    if not (pred.upright.all() and gold.upright.all()):
        import shapely

        common = shapely.area(shapely.intersection(pred.shapes[rows], gold.shapes[columns]))
    union = pred.areas[rows] + gold.areas[columns] - common
    fits = common >= iou * union * (1 - _ROUNDING)
    return rows[fits], columns[fits]
