"""Outlines: cleaning what annotators drew, and clipping it to a window."""

from collections.abc import Sequence

import numpy as np
import shapely

Points = tuple[tuple[float, float], ...]
"""Corners (x, y) in order, not closed."""

_MIN_AREA = 1e-6
"""Square pixels below which a piece of a polygon is a rounding error."""


def clean_polygon(points: Sequence[Sequence[float]]) -> Points:
    """Return the outline as a valid ring of at least three corners, or () when it encloses no area.

    Corners of a four-sided outline that are given crosswise are put in order; of any other outline that crosses itself
    the largest valid piece is kept. A ring without fault keeps its corners and their order.
    """
    corners = [(float(x), float(y)) for x, y in points]
    if len(corners) > 1 and corners[0] == corners[-1]:
        corners.pop()
    if len(corners) < 3 or not np.isfinite(corners).all():
        return ()
    if len(corners) == 4 and _is_convex(corners):  # nearly all outlines are; saves most of the time
        return tuple(corners)
    polygon = shapely.Polygon(corners)
    if polygon.is_valid and polygon.area > _MIN_AREA:
        return tuple(corners)
    if len(corners) == 4:
        return _ring(shapely.MultiPoint(corners).convex_hull)
    return max((_ring(piece) for piece in _pieces(shapely.make_valid(polygon))), key=polygon_area, default=())


def clip_polygon(points: Points, x0: float, y0: float, x1: float, y1: float) -> list[Points]:
    """Return the pieces of a valid outline inside a box, largest first; [] when nothing is inside."""
    if all(x0 <= x <= x1 and y0 <= y <= y1 for x, y in points):
        return [points]
    inside = shapely.intersection(shapely.Polygon(points), shapely.box(x0, y0, x1, y1))
    return sorted((_ring(piece) for piece in _pieces(inside)), key=polygon_area, reverse=True)


def polygon_area(points: Points) -> float:
    """Return the area of a valid outline, square pixels."""
    pairs = zip(points, (*points[1:], *points[:1]), strict=True)
    return abs(sum(ax * by - bx * ay for (ax, ay), (bx, by) in pairs)) / 2


def _is_convex(corners: Sequence[tuple[float, float]]) -> bool:
    """True when a walk along four corners always turns the same way, by more than rounding."""
    (ax, ay), (bx, by), (cx, cy), (dx, dy) = corners
    turns = (
        (bx - ax) * (cy - by) - (by - ay) * (cx - bx),
        (cx - bx) * (dy - cy) - (cy - by) * (dx - cx),
        (dx - cx) * (ay - dy) - (dy - cy) * (ax - dx),
        (ax - dx) * (by - ay) - (ay - dy) * (bx - ax),
    )
    return min(turns) > _MIN_AREA or max(turns) < -_MIN_AREA


def _pieces(shape: shapely.Geometry) -> list[shapely.Polygon]:
    parts = shapely.get_parts(shape, return_index=False)
    found = [part for part in parts if isinstance(part, shapely.Polygon) and part.area > _MIN_AREA]
    return found + [piece for part in parts if isinstance(part, shapely.MultiPolygon) for piece in _pieces(part)]


def _ring(shape: shapely.Geometry) -> Points:
    if not isinstance(shape, shapely.Polygon) or shape.area <= _MIN_AREA:
        return ()
    return tuple((float(px), float(py)) for px, py in shape.exterior.coords[:-1])
