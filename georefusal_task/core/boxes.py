"""Geometry of regions: which instances they cover, how well they match, how much of the image they take.

Regions are polygons in pixels of the original image. Boxes whose sides lie along the image's, the usual case, are
handled by numpy alone; only the others need shapely.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from georefusal_task.core.frames import Points

Floats: TypeAlias = npt.NDArray[np.float64]
Bools: TypeAlias = npt.NDArray[np.bool_]

_SLACK = 1e-7
"""Pixels by which rounding may move a border: a centre on the border stays inside."""
_MAX_GRID = 400
"""Boxes that are laid out on a grid of their own coordinates to measure their union; the grid grows with the square."""


@dataclass(frozen=True)
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
            quads = np.array([polygon for polygon in polygons if len(polygon) == 4], dtype=np.float64)
            low, high = quads.min(axis=1), quads.max(axis=1)
            bounds[corners] = np.concatenate((low, high), axis=1)
            sides = np.roll(quads, -1, axis=1) - quads
            straight = ((sides != 0).sum(axis=2) <= 1).all(axis=1)
            opposite = (quads[:, 0] != quads[:, 2]).all(axis=1) & (quads[:, 1] != quads[:, 3]).all(axis=1)
            upright[corners] = straight & opposite
        for i in np.flatnonzero(~corners):
            points = np.array(polygons[int(i)], dtype=np.float64)
            bounds[i] = np.concatenate((points.min(axis=0), points.max(axis=0)))
        return cls(tuple(polygons), bounds, upright)

    def __len__(self) -> int:
        return len(self.points)

    @property
    def centres(self) -> Floats:
        """(n, 2): the centres of the boxes; a polygon's is that of the box around it."""
        return (self.bounds[:, :2] + self.bounds[:, 2:]) / 2

    def shapes(self, which: Bools | None = None) -> npt.NDArray[np.object_]:
        """Return shapely geometries of all polygons, or of those chosen; crossing outlines are put right."""
        import shapely

        chosen = self.points if which is None else [self.points[i] for i in np.flatnonzero(which)]
        made = np.array([shapely.Polygon(points) for points in chosen], dtype=object)
        crossing = ~shapely.is_valid(made) if len(made) else np.zeros(0, dtype=bool)
        made[crossing] = shapely.make_valid(made[crossing])
        return made


Polygons: TypeAlias = Sequence[Points] | Regions


def polygon_iou(a: Points, b: Points) -> float:
    """Return the area that two polygons share over the area of both together, 0 to 1; 0 where neither has an area.

    >>> polygon_iou(((0, 0), (2, 0), (2, 2), (0, 2)), ((1, 0), (3, 0), (3, 2), (1, 2)))  # 2 of 6
    0.3333333333333333
    """
    import shapely

    first, second = Regions.of([a, b]).shapes()
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
    low, high = regions.bounds[:, None, :2] - _SLACK, regions.bounds[:, None, 2:] + _SLACK
    within = np.asarray(((points >= low) & (points <= high)).all(axis=2))
    inside = np.asarray(within[regions.upright].any(axis=0))
    askew = ~regions.upright & within.any(axis=1)
    if askew.any() and not inside.all():
        import shapely

        dots = shapely.points(points[~inside])
        inside[~inside] = shapely.dwithin(regions.shapes(askew)[:, None], dots, _SLACK).any(axis=0)
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

        return float(shapely.union_all(regions.shapes()).intersection(shapely.box(0, 0, width, height)).area)
    boxes = np.clip(regions.bounds, 0, [width, height, width, height])
    xs, columns = np.unique(boxes[:, 0::2], return_inverse=True)
    ys, rows = np.unique(boxes[:, 1::2], return_inverse=True)
    columns, rows = columns.reshape(-1, 2), rows.reshape(-1, 2)
    # +1 where a box begins, -1 where it ends, in both directions: the running sum counts the boxes over each cell
    steps = np.zeros((len(ys), len(xs)), dtype=np.int64)
    for row, column, sign in ((0, 0, 1), (0, 1, -1), (1, 0, -1), (1, 1, 1)):
        np.add.at(steps, (rows[:, row], columns[:, column]), sign)
    taken = steps.cumsum(axis=0).cumsum(axis=1)[:-1, :-1] > 0
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

    graph = csr_matrix((np.ones(len(rows), dtype=np.int8), (rows, columns)), shape=(len(pred), len(gold)))
    return int((maximum_bipartite_matching(graph, perm_type="column") >= 0).sum())


def _matching_pairs(pred: Regions, gold: Regions, iou: float) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """Return the numbers of the regions of each pair that reaches the IoU."""
    if not len(pred) or not len(gold):
        return np.zeros(0, dtype=int), np.zeros(0, dtype=int)
    low = np.maximum(pred.bounds[:, None, :2], gold.bounds[None, :, :2])
    high = np.minimum(pred.bounds[:, None, 2:], gold.bounds[None, :, 2:])
    size = np.clip(high - low, 0, None)
    shared = size[..., 0] * size[..., 1]
    if pred.upright.all() and gold.upright.all():
        rows, columns = np.nonzero(_reaches(shared, _areas(pred)[:, None], _areas(gold)[None, :], iou))
        return rows, columns

    import shapely

    first, second = pred.shapes(), gold.shapes()
    rows, columns = np.nonzero(shared > 0)
    areas = shapely.area(first)[rows], shapely.area(second)[columns]
    near = np.minimum(*areas) >= iou * np.maximum(*areas) * (1 - _SLACK)
    rows, columns = rows[near], columns[near]
    exact = shapely.area(shapely.intersection(first[rows], second[columns]))
    fits = _reaches(exact, areas[0][near], areas[1][near], iou)
    return rows[fits], columns[fits]


def _areas(regions: Regions) -> Floats:
    sides = regions.bounds[:, 2:] - regions.bounds[:, :2]
    return np.asarray(sides[:, 0] * sides[:, 1])


def _reaches(shared: Floats, first: Floats, second: Floats, iou: float) -> Bools:
    """Tell where the IoU is reached, a rounding error below it included."""
    union = first + second - shared
    return np.asarray((shared > 0) & (shared >= iou * union * (1 - 1e-12)))
