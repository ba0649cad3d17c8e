"""From the numbers of one box, as a reply gives them, to a polygon in pixels of the original image."""

import math
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal, TypeAlias

from georefusal_task.core.errors import DataError
from georefusal_task.core.frames import Frame, Points


class BoxFlag(StrEnum):
    """What was wrong with a box; a reply counts each."""

    CLIPPED = "clipped"
    """Had numbers outside the frame, which were moved to its border."""
    REVERSED = "reversed"
    """Had its corners in the wrong order, which was put right."""
    DUPLICATE = "duplicate"
    """Equals an earlier box of the reply; both are kept, and support counts what they cover once."""
    DEGENERATE = "degenerate"
    """Has no area, at least none within the frame; not a region."""
    MALFORMED = "malformed"
    """Has too few or too many numbers, none that is finite, or a bracket that is missing; not a region unless whole."""
    TRUNCATED = "truncated"
    """Is cut off by the end of the reply; not a region."""
    UNMAPPED = "unmapped"
    """Cannot be placed: the model's processor takes no image of this size."""


_NO_AREA = 1e-9
"""Square pixels that rounding may leave of a line."""

Kind: TypeAlias = Literal["corners", "polygon", "centre", "size"]
"""x1, y1, x2, y2 | x, y of every corner | centre and size | upper left corner and size."""


@dataclass(slots=True)
class Shape:
    """One box in the numbers of the reply."""

    kind: Kind
    numbers: tuple[float, ...]
    percent: bool = False
    """Whether the numbers are percentages of the image's width and height, whatever the frame."""
    angle: float = 0.0
    """By how many degrees it is turned about its centre, clockwise as the image is seen."""
    oriented: bool = False
    """Whether it is given in the way in which the frame gives oriented boxes."""


def region(shape: Shape, frame: Frame, width: int, height: int) -> tuple[Points | None, list[BoxFlag]]:
    """Return the polygon in pixels of the original image, `width` x `height`, and what was wrong; None if it is none.

    The numbers themselves are clipped: a box that is turned may stick out of the image, as annotated ones do.

    >>> from georefusal_task.core.frames import FRAMES
    >>> region(Shape("corners", (900, 0, 500, 1200)), FRAMES["qwen3_vl"], 200, 100)[0]
    ((100.0, 0.0), (180.0, 0.0), (180.0, 100.0), (100.0, 100.0))
    """
    if not all(map(math.isfinite, (*shape.numbers, shape.angle))):
        return None, [BoxFlag.MALFORMED]
    try:
        extents = _extents(shape, frame, width, height)
    except DataError:
        return None, [BoxFlag.UNMAPPED]
    corners, flags = _corners(shape, extents)
    if shape.kind == "polygon":
        corners, crossed = _uncrossed(corners)
    else:
        (x1, y1), (x2, y2) = corners
        crossed = x1 > x2 or y1 > y2
        x1, x2, y1, y2 = min(x1, x2), max(x1, x2), min(y1, y2), max(y1, y2)
        corners = [(x1, y1), (x2, y1), (x2, y2), (x1, y2)]
    if crossed:
        flags.append(BoxFlag.REVERSED)
    points = tuple((x * width / extents[0], y * height / extents[1]) for x, y in corners)
    if _area(points) < _NO_AREA:
        return None, [*flags, BoxFlag.DEGENERATE]
    return (_turned(points, shape.angle) if shape.angle else points), flags


def _extents(shape: Shape, frame: Frame, width: int, height: int) -> tuple[float, float]:
    if shape.percent:
        return 100.0, 100.0
    if shape.oriented and frame.oriented_extent:
        return frame.oriented_extent, frame.oriented_extent
    return frame.extents(width, height)


def _corners(shape: Shape, extents: tuple[float, float]) -> tuple[list[tuple[float, float]], list[BoxFlag]]:
    """Return all corners of a polygon, two opposite ones of anything else, clipped to the frame."""
    given = list(zip(shape.numbers[::2], shape.numbers[1::2], strict=True))
    if shape.kind == "size":
        (x, y), (w, h) = given
        given = [(x, y), (x + w, y + h)]
    clipped = [(min(max(x, 0.0), extents[0]), min(max(y, 0.0), extents[1])) for x, y in given]
    flags = [BoxFlag.CLIPPED] if clipped != given else []
    if shape.kind == "centre":
        (x, y), (w, h) = clipped
        clipped = [(x - w / 2, y - h / 2), (x + w / 2, y + h / 2)]
    return clipped, flags


def _uncrossed(corners: list[tuple[float, float]]) -> tuple[list[tuple[float, float]], bool]:
    """Return four corners in an order in which no two sides cross, and whether that is another order."""
    if len(corners) != 4:
        return corners, False
    a, b, c, d = corners
    if _cross(a, b, c, d):
        return [a, c, b, d], True
    if _cross(b, c, d, a):
        return [a, b, d, c], True
    return corners, False


def _cross(a: tuple[float, float], b: tuple[float, float], c: tuple[float, float], d: tuple[float, float]) -> bool:
    """Tell whether the lines from a to b and from c to d cross in their midst."""

    def side(p: tuple[float, float], q: tuple[float, float], r: tuple[float, float]) -> float:
        return (q[0] - p[0]) * (r[1] - p[1]) - (q[1] - p[1]) * (r[0] - p[0])

    return side(a, b, c) * side(a, b, d) < 0 and side(c, d, a) * side(c, d, b) < 0


def _area(points: Points) -> float:
    turned = points[1:] + points[:1]
    return abs(sum(x * v - y * u for (x, y), (u, v) in zip(points, turned, strict=True))) / 2


def _turned(points: Points, degrees: float) -> Points:
    """Return the points turned about the middle of the first and the third, clockwise as the image is seen."""
    x0, y0 = (points[0][0] + points[2][0]) / 2, (points[0][1] + points[2][1]) / 2
    cos, sin = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
    return tuple((x0 + (x - x0) * cos - (y - y0) * sin, y0 + (x - x0) * sin + (y - y0) * cos) for x, y in points)
