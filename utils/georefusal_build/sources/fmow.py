"""fMoW: one JSON per image, one category per box, everything else unlabelled.

Source: the fMoW paper (arXiv 1711.07846) and a metadata file quoted in public code.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from georefusal_build.polygons import Points
from georefusal_build.scenes import Scene
from georefusal_build.sources.base import ReadOptions, ReadReport, Source, SourceError
from georefusal_build.sources.draft import SceneDraft, box_points, number
from georefusal_build.sources.files import ImageIndex, find_files, image_size, read_json


def read(root: Path, options: ReadOptions, report: ReadReport) -> Iterator[Scene]:
    """Yield one scene per metadata file `*_<version>.json`; never complete for any class."""
    images = ImageIndex(root)
    suffix = f"_{options.version or 'rgb'}"
    for path in find_files(root, frozenset({".json"})):
        if not path.stem.endswith(suffix):
            continue
        try:
            yield _scene(path, images, options, report)
        except SourceError as error:
            report.skip(path, error)


def _scene(path: Path, images: ImageIndex, options: ReadOptions, report: ReadReport) -> Scene:
    content: Any = read_json(path)
    boxes = content.get("bounding_boxes") if isinstance(content, dict) else None
    if not isinstance(boxes, list | dict):
        raise SourceError(path, "has no 'bounding_boxes'; is it an fMoW metadata file?")
    image = images.find(path.stem, path)
    draft = SceneDraft(path, image, image_size(image), report)
    seen: set[tuple[str, Points]] = set()
    for i, entry in enumerate(boxes if isinstance(boxes, list) else [boxes]):  # a lone box may come without its list
        place = f"bounding_boxes[{i}]"
        try:
            name, points = _box(entry)
            scale_x = draft.width / number(content.get("img_width", draft.width), "img_width")
            scale_y = draft.height / number(content.get("img_height", draft.height), "img_height")
        except (ValueError, ZeroDivisionError) as error:
            draft.lose(place, str(error))
            continue
        hidden = str(entry.get("visible", "True")).lower() == "false"
        if not hidden and (name, points) not in seen:
            seen.add((name, points))
            draft.add(name, [(x * scale_x, y * scale_y) for x, y in points], place, oriented=False)
    gsd = content.get("gsd")
    return draft.scene(
        images.id(image),
        "fmow",
        options,
        gsd_m=float(gsd) if isinstance(gsd, int | float) and gsd > 0 else None,
        subsource=str(content.get("sensor_platform_name") or ""),
        licence=SOURCE.licence,
    )


def _box(entry: object) -> tuple[str, Points]:
    if not isinstance(entry, dict) or not isinstance(entry.get("category"), str):
        raise ValueError("has no category")
    box = entry.get("box")
    if not isinstance(box, list) or len(box) != 4:
        raise ValueError(f"box is '{box}', expected [x, y, width, height]")
    x, y, w, h = (number(value, "box") for value in box)
    return entry["category"], box_points(x, y, x + w, y + h)


SOURCE = Source(
    name="fmow",
    title="fMoW",
    reader=read,
    layout="<category>/<category>_<n>/<category>_<n>_<m>_rgb.json and the .jpg of the same name",
    outline="axis-aligned boxes",
    completeness="none: one category per box is labelled and nothing else, so positives only",
    licence="fMoW: Functional Map of the World Challenge Public License",
    checked="against a published metadata file; not: an image; where a box is listed twice, once as the original "
    "region, it counts once",
    options=frozenset({"version", "gsd_m"}),
    versions=("rgb", "msrgb"),
)
