"""xView: one GeoJSON for all images, axis-aligned boxes, 60 classes.

Source: the xView paper (arXiv 1802.07856) and public readers of the set, which quote features of it.
"""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from georefusal_build.scenes import Scene
from georefusal_build.sources.base import ReadOptions, ReadReport, Source, SourceError
from georefusal_build.sources.draft import SceneDraft, box_points, number
from georefusal_build.sources.files import ImageIndex, find_files, image_size, stream_json
from georefusal_build.sources.vocabulary import XVIEW

_GSD_M = 0.3
_UNREADABLE = -1.0


def read(root: Path, options: ReadOptions, report: ReadReport) -> Iterator[Scene]:
    """Yield one scene per image that the GeoJSON names."""
    images = ImageIndex(root)
    for path in find_files(root, frozenset({".geojson"})):
        try:
            features = _features(path, report)
        except SourceError as error:
            report.add("file", error)
            continue
        for name in sorted(features):
            try:
                yield _scene(path, name, features[name], images, options=options, report=report)
            except SourceError as error:
                report.add("image", error)


def _features(path: Path, report: ReadReport) -> dict[str, array[float]]:
    """Boxes by image name, flat: number of the feature, type, x0, y0, x1, y1 (type -1 when unreadable)."""
    found: defaultdict[str, array[float]] = defaultdict(lambda: array("d"))
    for i, feature in enumerate(stream_json(path, "features.item")):
        properties: Any = feature.get("properties") if isinstance(feature, dict) else None
        if not isinstance(properties, dict) or not isinstance(properties.get("image_id"), str):
            report.add("annotation", SourceError(path, "has no properties.image_id", f"features[{i}]"))
            continue
        try:
            bounds = str(properties.get("bounds_imcoords")).split(",")
            if len(bounds) != 4:
                raise ValueError(f"bounds_imcoords is '{','.join(bounds)}', expected 'x1,y1,x2,y2'")
            box = [number(text, "bounds_imcoords") for text in bounds]
            row = [i, number(properties.get("type_id"), "type_id"), *box]
        except ValueError as error:
            report.add("annotation", SourceError(path, str(error), f"features[{i}]"))
            row = [i, _UNREADABLE, 0, 0, 0, 0]
        found[properties["image_id"]].extend(row)
    return found


def _scene(
    path: Path, name: str, flat: array[float], images: ImageIndex, *, options: ReadOptions, report: ReadReport
) -> Scene:
    image = images.find(name, path, f"image_id {name}")
    draft = SceneDraft(path, image, image_size(image), report)
    readable = True
    for start in range(0, len(flat), 6):
        i, kind, *box = flat[start : start + 6]
        place = f"features[{int(i)}]"
        if kind == _UNREADABLE:
            readable = False
        elif int(kind) not in XVIEW:
            draft.lose(place, f"type_id is {int(kind)}, which xView does not define")
        else:
            _add(draft, XVIEW[int(kind)], box, place)
    return draft.scene(
        images.id(image),
        "xview",
        options,
        complete=frozenset(XVIEW.values()) if readable else frozenset(),
        gsd_m=options.gsd_m or _GSD_M,
        licence=SOURCE.licence,
    )


def _add(draft: SceneDraft, name: str, box: list[float], place: str) -> None:
    try:
        draft.add(name, box_points(*box), place, oriented=False)
    except ValueError as error:
        draft.lose(place, str(error), name)


SOURCE = Source(
    name="xview",
    title="xView",
    reader=read,
    layout="xView_train.geojson and train_images/<number>.tif",
    outline="axis-aligned boxes",
    completeness="all 60 classes; missing boxes are known to occur, so let the verifiers look",
    licence="xView: CC BY-NC-SA 4.0",
    checked="the properties against published features; features of the undefined types 75 and 82 cost their image its "
    "completeness",
    options=frozenset({"gsd_m"}),
)
