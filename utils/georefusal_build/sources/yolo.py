"""YOLO text labels: boxes, oriented boxes (YOLO-OBB) and outlines, normalised to the image size.

Source: the data set pages of Ultralytics (detect, obb, segment).
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import yaml

from georefusal_build.scenes import Scene
from georefusal_build.sources.base import ReadOptions, ReadReport, Source, SourceError
from georefusal_build.sources.draft import SceneDraft, box_points, number
from georefusal_build.sources.files import ImageIndex, find_files, image_size, read_text

_OVERSHOOT = 0.05
"""How far normalised coordinates may leave [0, 1] before the line is taken for something else."""


def read(root: Path, options: ReadOptions, report: ReadReport) -> Iterator[Scene]:
    """Yield one scene per image that has a label file; an empty label file is an image without objects."""
    names = class_names(root)
    images = ImageIndex(root)
    for image in images.paths:
        label = label_path(image, images.root)
        if label is None:
            report.add("image", SourceError(image, "has no label file; an image without objects has an empty one"))
            continue
        try:
            draft = SceneDraft(label, image, image_size(image), report)
            read_labels(draft, names)
        except SourceError as error:
            report.skip(label, error)
            continue
        yield draft.scene(
            images.id(image),
            "yolo",
            options,
            modality=options.modality or "optical",
            complete=options.vouched(frozenset(names)),
            verified_absent=options.verified_absent or frozenset(),
        )


def read_labels(draft: SceneDraft, names: Sequence[str]) -> None:
    """Add the objects of a label file to its draft.

    `class cx cy w h` is a box, `class x1 y1 ... xn yn` with n >= 3 an outline, which with n = 4 is an oriented box.
    """
    for row, line in enumerate(read_text(draft.annotation).splitlines(), start=1):
        fields = line.split()
        if not fields:
            continue
        try:
            class_name = _class_name(fields[0], names)
        except ValueError as error:
            draft.lose(f"line {row}", str(error))
            continue
        try:
            points = _outline(fields[1:])
        except ValueError as error:
            draft.lose(f"line {row}", str(error), class_name)
            continue
        scaled = [(x * draft.width, y * draft.height) for x, y in points]
        draft.add(class_name, scaled, f"line {row}", oriented=len(fields) != 5)


def label_path(image: Path, root: Path) -> Path | None:
    """Return the label file of an image: beside it, or in `labels` where the image lies in `images`."""
    parts = image.relative_to(root).parts
    places = [image.with_suffix(".txt")]
    places += (
        root.joinpath(*parts[:i], "labels", *parts[i + 1 :]).with_suffix(".txt")
        for i, part in enumerate(parts[:-1])
        if part.lower() == "images"
    )
    return next((path for path in reversed(places) if path.is_file()), None)


def class_names(root: Path) -> tuple[str, ...]:
    """Return the class names of a data set, from a YAML file with `names` or from classes.txt or obj.names.

    Raises: SourceError when there is none; numbers alone cannot be asked about.
    """
    found = {path: names for path in find_files(root, frozenset({".yaml", ".yml"})) if (names := _yaml_names(path))}
    if not found:
        lists = find_files(root, frozenset({".txt", ".names"}))
        found = {path: _lines(path) for path in lists if path.name.lower() in ("classes.txt", "obj.names")}
    if not found:
        raise SourceError(
            root, "names no classes; add a data.yaml with `names`, or a classes.txt with one name per line"
        )
    first = next(iter(found))
    for path, names in found.items():
        if names != found[first]:
            raise SourceError(path, f"names other classes than {first}; read one data set at a time")
    return found[first]


def _yaml_names(path: Path) -> tuple[str, ...]:
    try:
        content: Any = yaml.safe_load(read_text(path))
    except yaml.YAMLError as error:
        raise SourceError(path, f"is not valid YAML ({error})".replace("\n", " ")) from error
    names = content.get("names") if isinstance(content, dict) else None
    if isinstance(names, dict):
        return _numbered(names, path)
    return tuple(str(name) for name in names) if isinstance(names, list) else ()


def _lines(path: Path) -> tuple[str, ...]:
    return tuple(line.strip() for line in read_text(path).splitlines() if line.strip())


def _numbered(names: dict[Any, Any], path: Path) -> tuple[str, ...]:
    try:
        by_number = {int(key): str(name) for key, name in names.items()}
    except (TypeError, ValueError):
        raise SourceError(path, f"names is {names!r}, expected a list, or names by class number", "names") from None
    return tuple(by_number.get(i, "") for i in range(max(by_number, default=-1) + 1))


def _class_name(text: str, names: Sequence[str]) -> str:
    index = number(text, "class number")
    if index != int(index) or not 0 <= index < len(names) or not names[int(index)]:
        raise ValueError(f"class number is '{text}', but {len(names)} classes are named")
    return names[int(index)]


def _outline(fields: Sequence[str]) -> Sequence[tuple[float, float]]:
    values = [number(text, f"value {i + 1}") for i, text in enumerate(fields)]
    if len(values) != 4 and (len(values) < 6 or len(values) % 2):
        raise ValueError(f"has {len(values)} values after the class, expected 4 or an even number from 6 on")
    outermost = max(values, key=lambda value: abs(value - 0.5))
    if not -_OVERSHOOT <= outermost <= 1 + _OVERSHOOT:
        raise ValueError(f"holds {outermost:g}, but coordinates must be shares of the image size in [0, 1]")
    if len(values) == 4:
        cx, cy, w, h = values
        return box_points(cx - w / 2, cy - h / 2, cx + w / 2, cy + h / 2)
    return list(zip(values[::2], values[1::2], strict=True))


SOURCE = Source(
    name="yolo",
    title="YOLO, YOLO-OBB",
    reader=read,
    layout="images/**/<image>.*, labels/**/<image>.txt and a data.yaml or classes.txt with the class names",
    outline="axis-aligned boxes, oriented boxes or outlines",
    completeness="only the classes that the user vouches for (`complete`)",
    licence="as given by the user",
    checked="against published data configurations and label files",
    options=frozenset({"modality", "gsd_m", "sun", "complete", "verified_absent"}),
)
