"""Generic COCO JSON, with optional lists that say what is complete, absent or undecidable.

`info` (or a single image's entry) may hold: complete, verified_absent, undecidable (lists of class names),
ignore_regions (list of {class, bbox, why}), gsd_m, sun_azimuth_deg and sun_elevation_deg, sensor ("SAR" or anything
else), licence, notice, source.
"""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from georefusal_build.scenes import Modality, Scene
from georefusal_build.sources.base import ReadOptions, ReadReport, Source, SourceError
from georefusal_build.sources.coco_file import CocoFile, CocoImage, instances_of
from georefusal_build.sources.draft import SceneDraft, box_points, number
from georefusal_build.sources.files import ImageIndex, find_files, image_size
from georefusal_build.sun import Sun

Facts = Mapping[str, Any]
Finish = Callable[[SceneDraft, str, Facts, frozenset[str]], Scene]
"""Makes the scene: draft, name, what info and image entry say, the classes that the file names."""


def read(root: Path, options: ReadOptions, report: ReadReport) -> Iterator[Scene]:
    """Yield the scenes of every COCO file below the root."""

    def finish(draft: SceneDraft, name: str, facts: Facts, named: frozenset[str]) -> Scene:
        return _scene(draft, name, facts, named, options)

    return read_files(root, report, finish)


def read_files(root: Path, report: ReadReport, finish: Finish) -> Iterator[Scene]:
    """Yield what `finish` makes of every image; shared with sources that come as COCO but follow their own rules."""
    images = ImageIndex(root)
    for path in find_files(root, frozenset({".json"})):
        try:
            coco = CocoFile.load(path, report)
        except SourceError as error:
            report.add("file", error)
            continue
        if coco is None:  # some other JSON file
            continue
        for entry in coco.images:
            try:
                draft = _draft(coco, entry, images, report)
            except SourceError as error:
                report.add("image", error)
                continue
            yield finish(draft, images.id(draft.image), {**coco.info, **entry.facts}, frozenset(coco.names.values()))


def _draft(coco: CocoFile, entry: CocoImage, images: ImageIndex, report: ReadReport) -> SceneDraft:
    image = coco.find_image(entry, images)
    draft = SceneDraft(coco.path, image, image_size(image), report)
    if entry.size and entry.size != (draft.width, draft.height):
        raise SourceError(
            coco.path,
            f"says that {image.name} is {entry.size[0]}x{entry.size[1]}, but it is {draft.width}x{draft.height}; "
            "the boxes belong to another version of the image",
            f"images, id {entry.id}",
        )
    instances_of(coco, entry, draft)
    return draft


def _scene(draft: SceneDraft, name: str, facts: Facts, named: frozenset[str], options: ReadOptions) -> Scene:
    sensor = str(facts.get("sensor") or "").lower()
    modality: Modality = "sar" if sensor == "sar" else "optical"
    absent = _names(facts, "verified_absent", draft) | (options.verified_absent or frozenset())
    present = {one.class_name for one in draft.instances}
    for wrong in sorted(absent & present):
        draft.lose("verified_absent", f"'{wrong}' is said to be absent but is annotated", wrong)
    _add_regions(draft, facts)
    return draft.scene(
        name,
        "coco",
        options,
        modality=modality if sensor else options.modality or "optical",
        complete=_names(facts, "complete", draft) | options.vouched(named),
        gsd_m=_gsd(facts, draft),
        sun=_sun(facts, draft),
        verified_absent=absent - present,
        undecidable=_names(facts, "undecidable", draft),
        licence=str(facts.get("licence") or facts.get("license") or ""),
        notice=str(facts.get("notice") or facts.get("source") or ""),
    )


def _names(facts: Facts, key: str, draft: SceneDraft) -> frozenset[str]:
    value = facts.get(key) or []
    if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
        draft.lose(f"info.{key}", f"is '{value}', expected a list of class names")
        return frozenset()
    return frozenset(value)


def _gsd(facts: Facts, draft: SceneDraft) -> float | None:
    if facts.get("gsd_m") is None:
        return None
    try:
        value = number(facts["gsd_m"], "gsd_m")
    except ValueError as error:
        draft.lose("info.gsd_m", str(error))
        return None
    if value <= 0:
        draft.lose("info.gsd_m", f"is {value:g}, not a number of metres above 0")
        return None
    return value


def _sun(facts: Facts, draft: SceneDraft) -> Sun | None:
    keys = "sun_azimuth_deg", "sun_elevation_deg"
    if all(facts.get(key) is None for key in keys):
        return None
    try:
        return Sun(*(number(facts.get(key), key) for key in keys))
    except ValueError as error:
        draft.lose(" and ".join(keys), f"{error}; give both, or neither")
        return None


def _add_regions(draft: SceneDraft, facts: Facts) -> None:
    regions = facts.get("ignore_regions") or []
    if not isinstance(regions, list):
        draft.lose("info.ignore_regions", f"is '{regions}', expected a list of places")
        return
    for i, region in enumerate(regions):
        try:
            x, y, w, h = (number(value, "bbox") for value in region["bbox"])
            draft.ignore(str(region["class"]), box_points(x, y, x + w, y + h), str(region.get("why", "")))
        except (KeyError, TypeError, ValueError) as error:
            draft.lose(f"info.ignore_regions[{i}]", f"needs 'class' and 'bbox' [x, y, w, h] ({error})")


SOURCE = Source(
    name="coco",
    title="COCO",
    reader=read,
    layout="*.json with images, categories and annotations, and the images",
    outline="outlines, or axis-aligned boxes where an annotation has no polygon",
    completeness="the classes in `complete` of info or of the image, and those that the user vouches for",
    licence="info.licence, else as given by the user",
    checked="against real files; run-length masks are not decoded: their box is used, and a crowd becomes a region not "
    "to be asked about",
    options=frozenset({"modality", "gsd_m", "sun", "complete", "verified_absent"}),
)
