"""One COCO file in a compact form: annotations are streamed and kept as flat numbers."""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import ijson  # type: ignore[import-untyped]

from georefusal_build.sources.base import ReadReport, SourceError
from georefusal_build.sources.draft import SceneDraft, box_points, number
from georefusal_build.sources.files import ImageIndex, stream_json

_OWN_FIELDS = frozenset({"id", "file_name", "width", "height", "license", "coco_url", "flickr_url", "date_captured"})
_DOUBTFUL = ("low", "medium")
"""Values of an annotation's optional `confidence` that make its object a difficult one."""


@dataclass(frozen=True)
class CocoImage:
    """An entry of `images`; `facts` holds the fields that are not part of COCO."""

    id: str
    file_name: str
    size: tuple[int, int] | None
    facts: dict[str, Any]


@dataclass(frozen=True)
class CocoObject:
    """An annotation: rings as flat x, y runs; `bad` says why it cannot be used."""

    number: int
    category: str
    rings: tuple[array[float], ...] = ()
    boxed: bool = False
    crowd: bool = False
    difficult: bool = False
    bad: str = ""


@dataclass
class CocoFile:
    """What one file holds. names: class name by category id. Ids are in the form that `_key` gives them."""

    path: Path
    info: dict[str, Any] = field(default_factory=dict)
    images: list[CocoImage] = field(default_factory=list)
    names: dict[str, str] = field(default_factory=dict)
    objects: dict[str, list[CocoObject]] = field(default_factory=dict)

    @classmethod
    def load(cls, path: Path, report: ReadReport) -> CocoFile | None:
        """Return the content of a file, or None when it is JSON of another kind.

        Raises: SourceError when the file is not valid JSON.
        """
        if not _is_coco(path):
            return None
        coco = cls(path)
        coco.info = next((info for info in stream_json(path, "info") if isinstance(info, dict)), {})
        coco._load_names(report)
        coco._load_images(report)
        coco.images.sort(key=lambda image: image.file_name)
        coco._load_objects(report)
        if not coco.objects and not _lists_annotations(path):
            raise SourceError(path, "has no list 'annotations': nobody looked for objects in its images")
        return coco

    def _load_names(self, report: ReadReport) -> None:
        doubled = set()
        for i, entry in enumerate(stream_json(self.path, "categories.item")):
            if not (isinstance(entry, dict) and "id" in entry and isinstance(entry.get("name"), str)):
                report.add("annotation", SourceError(self.path, "needs 'id' and 'name'", f"categories[{i}]"))
                continue
            key, name = _key(entry["id"]), entry["name"].strip()
            if self.names.setdefault(key, name) != name:
                doubled.add(key)
                told = f"id '{key}' stands for '{self.names[key]}' and for '{name}'; its objects may be either"
                report.add("annotation", SourceError(self.path, told, f"categories[{i}]"))
        for key in doubled:
            del self.names[key]

    def _load_images(self, report: ReadReport) -> None:
        found: defaultdict[str, list[CocoImage]] = defaultdict(list)
        for i, entry in enumerate(stream_json(self.path, "images.item")):
            try:
                image = _image(entry)
            except ValueError as error:
                report.add("image", SourceError(self.path, str(error), f"images[{i}]"))
                continue
            found[image.id].append(image)
        for key, images in found.items():
            if len(images) == 1:
                self.images += images
                continue
            told = (
                f"{len(images)} images have the id '{key}', '{images[0].file_name}' first; their objects are mixed up"
            )
            report.add("image", SourceError(self.path, told, "images"))

    def _load_objects(self, report: ReadReport) -> None:
        known = {image.id for image in self.images}
        objects: defaultdict[str, list[CocoObject]] = defaultdict(list)
        for i, entry in enumerate(stream_json(self.path, "annotations.item")):
            image = _key(entry.get("image_id")) if isinstance(entry, dict) else ""
            if image not in known:
                place = f"annotations[{i}]"
                report.add("annotation", SourceError(self.path, f"image_id is '{image}', no such image", place))
                continue
            objects[image].append(_object(i, entry))
        self.objects = dict(objects)

    def find_image(self, entry: CocoImage, images: ImageIndex) -> Path:
        """Return the image file: relative to the JSON file or the root, else by name anywhere below the root."""
        return images.named(entry.file_name, self.path, f"images, id {entry.id}")


def instances_of(coco: CocoFile, entry: CocoImage, draft: SceneDraft) -> None:
    """Add the annotations of an image to its draft."""
    for one in coco.objects.get(entry.id, ()):
        place = f"annotations[{one.number}]"
        name = coco.names.get(one.category)
        if name is None:
            draft.lose(place, f"category_id is '{one.category}', no such category")
        elif one.bad:
            draft.lose(place, one.bad, name)
        elif one.crowd:
            draft.ignore(name, _points(one.rings[0]), "crowd: several objects under one outline")
        else:
            rings = [_points(ring) for ring in one.rings]
            for points in rings:  # an object in several pieces has no single outline and no sure count
                oriented = not (one.boxed or _is_box(points))
                pieces = len(rings) > 1
                draft.add(name, points, place, oriented=oriented, difficult=one.difficult, truncated=pieces)


def _is_coco(path: Path) -> bool:
    try:
        with path.open("rb") as handle:
            events = ijson.basic_parse(handle)
            if next(events)[0] != "start_map":
                return False
        with path.open("rb") as handle:
            return any(True for _ in ijson.items(handle, "images.item"))
    except ijson.JSONError:
        return True  # read on, and tell where it breaks


def _lists_annotations(path: Path) -> bool:
    with path.open("rb") as handle:
        return any(prefix == "annotations" and event == "start_array" for prefix, event, _ in ijson.parse(handle))


def _key(value: object) -> str:
    """Return an id in a form that can be compared, since writers differ.

    >>> _key(7) == _key("7") == _key(7.0)
    True
    """
    return str(value).removesuffix(".0")


def _image(entry: object) -> CocoImage:
    if not isinstance(entry, dict) or entry.get("id") is None or not isinstance(entry.get("file_name"), str):
        raise ValueError("needs 'id' and 'file_name'")
    width, height = entry.get("width"), entry.get("height")
    size = (int(width), int(height)) if isinstance(width, int | float) and isinstance(height, int | float) else None
    facts = {key: value for key, value in entry.items() if key not in _OWN_FIELDS}
    return CocoImage(_key(entry["id"]), entry["file_name"].replace("\\", "/"), size, facts)


def _object(i: int, entry: dict[str, Any]) -> CocoObject:
    category = _key(entry.get("category_id"))
    crowd = entry.get("iscrowd") in (1, True)
    doubtful = entry.get("difficult") in (1, True) or entry.get("confidence") in _DOUBTFUL
    try:
        outlines = entry.get("segmentation")
        if isinstance(outlines, list) and outlines and not crowd:
            return CocoObject(i, category, tuple(_ring(outline) for outline in outlines), difficult=doubtful)
        box = entry.get("bbox")
        if not isinstance(box, list) or len(box) != 4:
            kind = "a run-length mask" if isinstance(outlines, dict) else "no outline"
            raise ValueError(f"has {kind} and bbox is '{box}', expected [x, y, width, height]")
        x, y, w, h = (number(value, "bbox") for value in box)
        corners = array("d", [value for point in box_points(x, y, x + w, y + h) for value in point])
        return CocoObject(i, category, (corners,), boxed=True, crowd=crowd, difficult=doubtful)
    except ValueError as error:
        return CocoObject(i, category, bad=str(error))


def _ring(outline: object) -> array[float]:
    if not isinstance(outline, list) or len(outline) < 6 or len(outline) % 2:
        raise ValueError(f"segmentation holds '{str(outline)[:40]}', expected lists [x1, y1, x2, y2, x3, y3, ...]")
    return array("d", [number(value, "segmentation") for value in outline])


def _points(ring: Sequence[float]) -> list[tuple[float, float]]:
    return list(zip(ring[::2], ring[1::2], strict=True))


def _is_box(points: Sequence[tuple[float, float]]) -> bool:
    corners = points[:-1] if len(points) == 5 and points[0] == points[-1] else points
    return len(corners) == 4 and len({x for x, _ in corners}) == 2 and len({y for _, y in corners}) == 2
