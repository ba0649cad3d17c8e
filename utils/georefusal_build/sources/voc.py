"""Pascal VOC XML: one file per image, axis-aligned boxes."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path, PurePosixPath
from xml.etree.ElementTree import Element

from georefusal_build.scenes import Scene
from georefusal_build.sources.base import ReadOptions, ReadReport, Source, SourceError
from georefusal_build.sources.draft import SceneDraft, box_points, number
from georefusal_build.sources.files import ImageIndex, find_files, image_size, read_xml

_NOT = frozenset({"false", "f", "no", "n", "none", "unspecified"})

Outline = Callable[[Element, int], tuple[Sequence[Sequence[float]], bool]]
"""Reads an object element, given the number of the first pixel: (corners, oriented)."""


def read(root: Path, options: ReadOptions, report: ReadReport) -> Iterator[Scene]:
    """Yield the scenes of all XML files whose root element is <annotation>."""
    images = ImageIndex(root)
    named = _class_names(root) if options.complete else frozenset()
    for path in find_files(root, frozenset({".xml"})):
        try:
            tree = read_xml(path)
            if tree.tag != "annotation":
                raise SourceError(path, f"root element is <{tree.tag}>, expected <annotation>")
            draft = read_annotation(tree, path, images, report, outline=horizontal_box, first_pixel=options.first_pixel)
            yield draft.scene(
                images.id(draft.image),
                "voc",
                options,
                modality=options.modality or "optical",
                complete=options.vouched(named),
                verified_absent=options.verified_absent or frozenset(),
            )
        except SourceError as error:
            report.skip(path, error)


def read_annotation(
    tree: Element,
    path: Path,
    images: ImageIndex,
    report: ReadReport,
    *,
    outline: Outline,
    first_pixel: int | None,
    names: Iterable[str] = (),
) -> SceneDraft:
    """Return the draft of one <annotation>; shared with DIOR, which differs in its outlines and lists its `names`.

    A file with a coordinate 0 cannot count from 1, so it is read as counting from 0.
    """
    named = PurePosixPath((tree.findtext("filename") or "").strip().replace("\\", "/")).name
    try:
        image = images.find(path.stem, path)
    except SourceError:
        image = images.find(named, path, "filename") if named else images.find(path.stem, path)
    draft = SceneDraft(path, image, image_size(image), report, names)
    check_size(tree, draft)
    objects = tree.findall("object")
    origin = first_pixel if first_pixel is not None else _first_pixel(objects)
    for i, element in enumerate(objects, start=1):
        place = f"object {i}"
        name = (element.findtext("name") or "").strip()
        if not name:
            draft.lose(f"{place}, name", "is missing")
            continue
        try:
            points, oriented = outline(element, origin)
        except ValueError as error:
            draft.lose(place, str(error), name)
            continue
        draft.add(
            name,
            points,
            place,
            oriented=oriented,
            difficult=flag(element, "difficult"),
            truncated=flag(element, "truncated"),
        )
    return draft


def horizontal_box(element: Element, first_pixel: int) -> tuple[Sequence[Sequence[float]], bool]:
    """Return the corners of <bndbox>; a box that counts from 1 includes its last pixel."""
    x0, y0, x1, y1 = (field(element, f"bndbox/{name}") for name in ("xmin", "ymin", "xmax", "ymax"))
    return box_points(x0 - first_pixel, y0 - first_pixel, x1, y1), False


def field(element: Element, name: str) -> float:
    """Return the number in a sub-element, or raise ValueError naming it."""
    text = element.findtext(name)
    if text is None:
        raise ValueError(f"{name} is missing")
    return number(text.strip(), name)


def flag(element: Element, name: str) -> bool:
    """True when a sub-element holds anything but 0 or a word for it."""
    text = (element.findtext(name) or "").strip().lower()
    return text.strip("0.") != "" and text not in _NOT


def check_size(tree: Element, draft: SceneDraft) -> None:
    """See that boxes and image are of one size; 0 or nothing says that the writer did not know it."""
    try:
        size = tuple(round(field(tree, f"size/{side}")) for side in ("width", "height"))
    except ValueError:
        return
    if all(size) and size != (draft.width, draft.height):
        told = f"says {size[0]}x{size[1]}, but {draft.image.name} is {draft.width}x{draft.height}"
        raise SourceError(draft.annotation, f"{told}; the boxes belong to another version of the image", "size")


def _first_pixel(objects: Sequence[Element]) -> int:
    for element in objects:
        for name in ("xmin", "ymin"):
            try:
                if field(element, f"bndbox/{name}") < 1:
                    return 0
            except ValueError:
                continue  # reported when its turn comes
    return 1


def _class_names(root: Path) -> frozenset[str]:
    names: set[str] = set()
    for path in find_files(root, frozenset({".xml"})):
        try:
            names.update((one.findtext("name") or "").strip() for one in read_xml(path).findall("object"))
        except SourceError:
            continue  # reported when its turn comes
    return frozenset(names - {""})


SOURCE = Source(
    name="voc",
    title="Pascal VOC",
    reader=read,
    layout="<image>.xml files and the images, in any folders",
    outline="axis-aligned boxes",
    completeness="only the classes that the user vouches for (`complete`)",
    licence="as given by the user",
    checked="against published samples, those of NEON among them",
    options=frozenset({"modality", "gsd_m", "sun", "complete", "verified_absent", "first_pixel"}),
)
