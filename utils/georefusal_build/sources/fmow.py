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

_AS_PROPOSED = -1
"""ID of a box as it was before people looked; where they did, theirs stand beside it, perhaps of another category."""


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
    across, down = _scales(content, draft)
    listed = boxes if isinstance(boxes, list) else [boxes]  # a lone box may come without its list
    for i, entry in enumerate(listed):
        if len(listed) > 1 and isinstance(entry, dict) and entry.get("ID") == _AS_PROPOSED:
            continue
        try:
            name, points = _box(entry)
        except ValueError as error:
            draft.lose(f"bounding_boxes[{i}]", str(error))
            continue
        if str(entry.get("visible", "True")).lower() != "false":
            scaled = [(x * across, y * down) for x, y in points]
            draft.add(name, scaled, f"bounding_boxes[{i}]", oriented=False)
    gsd = content.get("gsd")
    return draft.scene(
        images.id(image),
        "fmow",
        options,
        gsd_m=gsd / across if isinstance(gsd, int | float) and gsd > 0 else None,
        subsource=str(content.get("sensor_platform_name") or ""),
        licence=SOURCE.licence,
    )


def _scales(content: dict[str, Any], draft: SceneDraft) -> tuple[float, float]:
    """How much larger the image is than the one that the boxes were drawn in, across and down."""
    try:
        width = number(content.get("img_width", draft.width), "img_width")
        height = number(content.get("img_height", draft.height), "img_height")
        return draft.width / width, draft.height / height
    except (ValueError, ZeroDivisionError) as error:
        raise SourceError(draft.annotation, f"states no image size ({error})", "img_width, img_height") from error


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
    checked="against a published metadata file; not: an image; a region as it was proposed does not count where the "
    "reviewed ones stand beside it",
    options=frozenset({"version", "gsd_m"}),
    versions=("rgb", "msrgb"),
)
