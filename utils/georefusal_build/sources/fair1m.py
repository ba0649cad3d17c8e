"""FAIR1M: XML with oriented outlines and 37 fine classes.

Source: the FAIR1M paper (arXiv 2103.05569) and public readers of the set, with the files that they are tested with.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from xml.etree.ElementTree import Element

from georefusal_build.scenes import Scene
from georefusal_build.sources.base import ReadOptions, ReadReport, Source, SourceError
from georefusal_build.sources.draft import SceneDraft, number
from georefusal_build.sources.files import ImageIndex, find_files, image_size, read_xml
from georefusal_build.sources.voc import check_size
from georefusal_build.sources.vocabulary import FAIR1M


def read(root: Path, options: ReadOptions, report: ReadReport) -> Iterator[Scene]:
    """Yield one scene per XML file; the image has the file's name or the one in <source><filename>."""
    images = ImageIndex(root)
    for path in find_files(root, frozenset({".xml"})):
        try:
            yield _scene(path, images, options, report)
        except SourceError as error:
            report.skip(path, error)


def _scene(path: Path, images: ImageIndex, options: ReadOptions, report: ReadReport) -> Scene:
    tree = read_xml(path)
    if tree.find("objects") is None:
        raise SourceError(path, "has no <objects>; is it a FAIR1M annotation?")
    image = images.find(path.stem, path)
    draft = SceneDraft(path, image, image_size(image), report, FAIR1M)
    check_size(tree, draft)
    for i, element in enumerate(tree.findall("objects/object"), start=1):
        place = f"objects/object {i}"
        name = (element.findtext("possibleresult/name") or "").strip()
        if not name:
            draft.lose(f"{place}, possibleresult/name", "is missing")
            continue
        try:
            points = _points(element)
        except ValueError as error:
            draft.lose(place, str(error), name)
            continue
        draft.add(name, points, place)
    return draft.scene(
        images.id(image),
        "fair1m",
        options,
        complete=FAIR1M,
        subsource=(tree.findtext("source/origin") or "").strip(),
        licence=SOURCE.licence,
    )


def _points(element: Element) -> Sequence[Sequence[float]]:
    frame = (element.findtext("coordinate") or "pixel").strip().lower()
    if frame != "pixel":
        raise ValueError(f"coordinate is '{frame}', only 'pixel' can be read")
    points = []
    for point in element.findall("points/point"):
        x, comma, y = (point.text or "").partition(",")
        if not comma:
            raise ValueError(f"points/point is '{point.text}', expected 'x,y'")
        points.append((number(x, "points/point x"), number(y, "points/point y")))
    if len(points) < 3:
        raise ValueError(f"points holds {len(points)} corners, expected at least 3")
    return points


SOURCE = Source(
    name="fair1m",
    title="FAIR1M",
    reader=read,
    layout="labelXml*/<image>.xml and images/<image>.tif",
    outline="oriented boxes, fine classes",
    completeness="all 37 fine classes",
    licence="FAIR1M: CC BY-NC-SA 3.0",
    checked="folders and elements against public readers and the files that they are tested with; not: a file of "
    "the set",
    options=frozenset({"gsd_m"}),
)
