"""Annotated scenes and the tiles that are cut from them.

Coordinates are pixels, x to the right and y down, pixel (0, 0) covering [0, 1) x [0, 1); a box is half-open.
"""

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Literal

import numpy as np
import shapely
from numpy.typing import NDArray

from georefusal_build.polygons import Points, clip_polygon, polygon_area
from georefusal_build.sun import Sun
from georefusal_task.core.errors import ConfigError

Modality = Literal["optical", "sar"]

ALL_CLASSES = "all"
"""Class name of an ignore region in which no class may be asked about (no data, for example)."""


@dataclass(frozen=True)
class Instance:
    """One annotated object.

    polygon: at least three corners in order, not closed, pixels of the image that the instance belongs to.
    difficult: the annotators marked it as hard to recognise; truncated: part of it lies outside the image.
    oriented: False when the polygon is an axis-aligned box that says nothing about the object's direction.
    fine_class: the finer class of the source when `class_name` is a superclass.
    """

    class_name: str
    polygon: Points
    difficult: bool = False
    truncated: bool = False
    oriented: bool = True
    fine_class: str | None = None

    @cached_property
    def points(self) -> NDArray[np.float64]:
        """The corners as float64 (n, 2)."""
        return np.asarray(self.polygon, dtype=np.float64)

    @cached_property
    def shape(self) -> shapely.Polygon:
        """The outline as a shapely polygon."""
        return shapely.Polygon(self.polygon)

    @property
    def area(self) -> float:
        """Square pixels."""
        return polygon_area(self.polygon)

    @property
    def bounds(self) -> tuple[float, float, float, float]:
        """Axis-aligned box (x0, y0, x1, y1)."""
        xs, ys = zip(*self.polygon, strict=True)
        return min(xs), min(ys), max(xs), max(ys)

    @property
    def centre(self) -> tuple[float, float]:
        """Centroid (x, y)."""
        point = self.shape.centroid
        return float(point.x), float(point.y)

    @cached_property
    def sides(self) -> tuple[float, float]:
        """(minor, major) side of the smallest rotated rectangle around the outline, pixels.

        >>> Instance("ship", ((0, 0), (30, 40), (22, 46), (-8, 6))).sides
        (10.0, 50.0)
        """
        corners = shapely.get_coordinates(shapely.oriented_envelope(self.shape))
        if len(corners) < 4:
            return 0.0, 0.0
        first, second = (float(np.hypot(*(corners[i + 1] - corners[i]))) for i in (0, 1))
        return round(min(first, second), 6), round(max(first, second), 6)


@dataclass(frozen=True)
class IgnoreRegion:
    """A place where a class (or `ALL_CLASSES`) can be neither confirmed nor ruled out; `polygon` as in Instance."""

    class_name: str
    polygon: Points
    why: str = ""

    @cached_property
    def shape(self) -> shapely.Polygon:
        """The outline as a shapely polygon."""
        return shapely.Polygon(self.polygon)


@dataclass(frozen=True)
class Scene:
    """One source image with what is known about it.

    complete: classes of which every instance in the image is annotated (and which, without an instance, are absent).
    verified_absent: classes that somebody looked for and did not find.
    undecidable: classes that this image cannot show or rule out; never asked about.
    gsd_m: ground sample distance, metres per pixel, None when unknown. sun: where it stood, None when unknown.
    subsource: the collection inside the source that the image came from ("" when there is only one).
    """

    id: str
    image: Path
    width: int
    height: int
    modality: Modality
    source: str
    gsd_m: float | None = None
    subsource: str = ""
    instances: tuple[Instance, ...] = ()
    complete: frozenset[str] = frozenset()
    verified_absent: frozenset[str] = frozenset()
    undecidable: frozenset[str] = frozenset()
    ignore_regions: tuple[IgnoreRegion, ...] = ()
    sun: Sun | None = None
    licence: str = ""
    notice: str = ""


@dataclass(frozen=True)
class Tile:
    """A window of a scene, as it will be released.

    x, y, width, height: the window in scene pixels. instances, ignore_regions: clipped, in tile pixels.
    cut: classes with an instance that the window cuts in a way that nobody could judge: a "yes" needs a whole one, and
    neither a "no" nor a number can be told.
    slivers: classes with a piece of an instance so small that it is not listed; nobody could rule them out.
    """

    scene: Scene
    x: int
    y: int
    width: int
    height: int
    instances: tuple[Instance, ...]
    cut: frozenset[str] = frozenset()
    slivers: frozenset[str] = frozenset()
    ignore_regions: tuple[IgnoreRegion, ...] = ()

    @property
    def id(self) -> str:
        """The scene's id and the window, unique inside a build."""
        return f"{self.scene.id}@{self.x},{self.y},{self.width}x{self.height}"

    def of_class(self, class_name: str) -> tuple[Instance, ...]:
        """Every instance of a class, difficult ones included."""
        return tuple(one for one in self.instances if one.class_name == class_name)

    def to_scene(self, points: Points) -> Points:
        """Tile pixels as scene pixels."""
        return tuple((x + self.x, y + self.y) for x, y in points)


@dataclass(frozen=True)
class Tiling:
    """How scenes are cut.

    size: side of the square window, pixels; a scene that is smaller in a direction keeps its own extent there.
    overlap: share of a window that it has in common with its neighbour, [0, 1).
    cut_from, cut_to: an instance of which a share in [cut_from, cut_to] lies outside the window is half-cut, and its
    class is asked about only where a whole one settles a "yes"; one that loses less stays, one that loses more is left
    out as a sliver.
    Source: the window size and shares are those of the generator's design (800 px, 25 %, 10 % to 90 %).
    """

    size: int = 800
    overlap: float = 0.25
    cut_from: float = 0.1
    cut_to: float = 0.9

    def __post_init__(self) -> None:
        if self.size < 1 or not 0 <= self.overlap < 1 or not 0 <= self.cut_from <= self.cut_to <= 1:
            raise ConfigError(
                f"tiling {self} makes no sense: size must be at least 1, overlap in [0, 1), "
                "0 <= cut_from <= cut_to <= 1"
            )

    def starts(self, length: int) -> list[int]:
        """Where windows begin along a side of `length` pixels; the last one ends at the border.

        >>> Tiling(size=800, overlap=0.25).starts(1800)
        [0, 600, 1000]
        >>> Tiling(size=800).starts(500)
        [0]
        """
        step = max(1, round(self.size * (1 - self.overlap)))
        last = max(0, length - self.size)
        return [*range(0, last, step), last]


Window = tuple[int, int, int, int]
"""x, y, width, height in scene pixels."""


def cut_tiles(scene: Scene, tiling: Tiling, divisible: Collection[str] = ()) -> Iterator[Tile]:
    """Yield the tiles of a scene, row by row.

    divisible: classes any piece of which still is one (sea, forest, road): they are clipped and never bar their class.
    """
    bounds = _bounds(scene)
    width, height = min(tiling.size, scene.width), min(tiling.size, scene.height)
    for y in tiling.starts(scene.height):
        for x in tiling.starts(scene.width):
            yield _cut(scene, tiling, (x, y, width, height), bounds, divisible)


def cut_tile(scene: Scene, tiling: Tiling, window: Window, divisible: Collection[str] = ()) -> Tile:
    """Return one tile of a scene, equal to that which `cut_tiles` yields for the window."""
    return _cut(scene, tiling, window, _bounds(scene), divisible)


def _cut(
    scene: Scene,
    tiling: Tiling,
    window: Window,
    bounds: NDArray[np.float64],
    divisible: Collection[str],
) -> Tile:
    x, y, width, height = window
    near = (bounds[:, 0] < x + width) & (bounds[:, 2] > x) & (bounds[:, 1] < y + height) & (bounds[:, 3] > y)
    touched = [scene.instances[i] for i in np.flatnonzero(near)]
    instances: list[Instance] = []
    cut: set[str] = set()
    slivers: set[str] = set()
    for one in touched:
        pieces = clip_polygon(one.polygon, x, y, x + width, y + height)
        whole = pieces == [one.polygon]
        lost = 0.0 if whole else max(0.0, 1 - sum(map(polygon_area, pieces)) / one.area)
        if one.class_name not in divisible:
            if lost > tiling.cut_to:
                slivers.add(one.class_name)
                continue
            if not whole and lost >= tiling.cut_from:
                cut.add(one.class_name)
            if len(pieces) > 1:
                slivers.add(one.class_name)
            pieces = pieces[:1]
        instances += (
            replace(one, polygon=_shift(piece, -x, -y), truncated=one.truncated or lost > 1e-9) for piece in pieces
        )
    regions = tuple(
        replace(region, polygon=_shift(piece, -x, -y))
        for region in scene.ignore_regions
        for piece in clip_polygon(region.polygon, x, y, x + width, y + height)
    )
    return Tile(scene, x, y, width, height, tuple(instances), frozenset(cut), frozenset(slivers), regions)


def _bounds(scene: Scene) -> NDArray[np.float64]:
    """The boxes of the instances, (n, 4)."""
    return np.array([one.bounds for one in scene.instances], dtype=np.float64).reshape(-1, 4)


def _shift(points: Points, dx: float, dy: float) -> Points:
    return tuple((px + dx, py + dy) for px, py in points)
