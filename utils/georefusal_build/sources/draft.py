"""A scene while its annotations are being read."""

from collections.abc import Iterable, Sequence
from math import isfinite
from pathlib import Path
from typing import Any

from georefusal_build.polygons import Points, clean_polygon, clip_polygon, polygon_area
from georefusal_build.scenes import IgnoreRegion, Instance, Modality, Scene
from georefusal_build.sources.base import ReadOptions, ReadReport, SourceError
from georefusal_build.sun import Sun

_ROUNDING = 0.02
"""Share of an outline that may lie outside the image before the object counts as truncated."""


def box_points(x0: float, y0: float, x1: float, y1: float) -> Points:
    """The corners of an axis-aligned box, clockwise from the upper left.

    Raises: ValueError for a box without area, or one that ends before it begins: nobody can say what it was to hold.
    """
    if not (x0 < x1 and y0 < y1):
        raise ValueError(f"the box from ({x0:g}, {y0:g}) to ({x1:g}, {y1:g}) encloses no area")
    return (x0, y0), (x1, y0), (x1, y1), (x0, y1)


class SceneDraft:
    """Collects the instances of one image and keeps the books on what could not be read.

    An annotation that cannot be used is reported and left out; since it may have been an object, its class (or, when
    the class is unknown, every class) then no longer counts as annotated completely.

    names: the classes of a source that has a closed list. Files spell them with other case and punctuation than the
    list; an object of any other name is kept, and reported, since it may be one of the classes under another name.
    """

    def __init__(
        self, annotation: Path, image: Path, size: tuple[int, int], report: ReadReport, names: Iterable[str] = ()
    ) -> None:
        self.annotation, self.image, self.report = annotation, image, report
        self._spelling = {_letters(name): name for name in names}
        self.width, self.height = size
        self.instances: list[Instance] = []
        self.regions: list[IgnoreRegion] = []
        self._damaged: set[str] = set()
        self._all_damaged = False

    def add(
        self,
        class_name: str,
        points: Sequence[Sequence[float]],
        place: str,
        *,
        oriented: bool = True,
        difficult: bool = False,
        truncated: bool = False,
    ) -> None:
        """Add one object; `place` is the line or field that error messages name."""
        if not self._listed(class_name):
            self.lose(place, f"'{class_name}' is no class of this source; the image now vouches for none")
        class_name = self._spelled(class_name)
        ring = clean_polygon(points)
        if not ring:
            self.lose(place, f"the outline of this '{class_name}' encloses no area", class_name)
            return
        inside = clip_polygon(ring, 0, 0, self.width, self.height)
        if not inside:
            self.lose(place, f"this '{class_name}' lies outside the {self.width}x{self.height} image", class_name)
            return
        lost = 1 - polygon_area(inside[0]) / polygon_area(ring)
        self.instances.append(Instance(class_name, inside[0], difficult, truncated or lost > _ROUNDING, oriented))

    def ignore(self, class_name: str, points: Sequence[Sequence[float]], why: str) -> None:
        """Add a region in which the class can be neither confirmed nor ruled out."""
        self.regions += (
            IgnoreRegion(class_name, piece, why)
            for piece in clip_polygon(clean_polygon(points), 0, 0, self.width, self.height)
        )

    def lose(self, place: str, message: str, class_name: str | None = None) -> None:
        """Report an annotation that cannot be used."""
        self.report.add("annotation", SourceError(self.annotation, message, place))
        if class_name is None or not self._listed(class_name):
            self._all_damaged = True
        else:
            self._damaged.add(self._spelled(class_name))

    def _listed(self, class_name: str) -> bool:
        return not self._spelling or _letters(class_name) in self._spelling

    def _spelled(self, class_name: str) -> str:
        return self._spelling.get(_letters(class_name), class_name)

    def scene(
        self,
        name: str,
        source: str,
        options: ReadOptions,
        *,
        modality: Modality = "optical",
        complete: frozenset[str] = frozenset(),
        gsd_m: float | None = None,
        sun: Sun | None = None,
        licence: str = "",
        notice: str = "",
        **more: Any,
    ) -> Scene:
        """Return the scene, its id being `<source>/<name>`.

        Options fill what the file leaves open; the user's licence and notice win.
        """
        return Scene(
            id=f"{source}/{name}",
            image=self.image,
            width=self.width,
            height=self.height,
            modality=modality,
            source=source,
            gsd_m=gsd_m if gsd_m is not None else options.gsd_m,
            instances=tuple(self.instances),
            complete=frozenset() if self._all_damaged else complete - self._damaged,
            ignore_regions=tuple(self.regions),
            sun=sun or options.sun,
            licence=options.licence if options.licence is not None else licence,
            notice=options.notice if options.notice is not None else notice,
            **more,
        )


def _letters(name: str) -> str:
    return "".join(filter(str.isalnum, name)).lower()


def number(value: object, name: str) -> float:
    """Return a finite number, or raise ValueError with the offending value quoted."""
    try:
        result = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        raise ValueError(f"{name} is '{value}', not a number") from None
    if not isfinite(result):
        raise ValueError(f"{name} is '{value}', not a finite number")
    return result
