"""DIOR and DIOR-R: VOC XML with horizontal or oriented boxes.

Source: the DIOR papers (arXiv 1909.00133, 2110.01931), public readers of the set and a published sample.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from xml.etree.ElementTree import Element

from georefusal_build.scenes import Scene
from georefusal_build.sources.base import ReadOptions, ReadReport, Source, SourceError
from georefusal_build.sources.files import ImageIndex, find_files, read_xml
from georefusal_build.sources.voc import field, horizontal_box, read_annotation
from georefusal_build.sources.vocabulary import DIOR

_CORNERS = ("left_top", "right_top", "right_bottom", "left_bottom")


def read(root: Path, options: ReadOptions, report: ReadReport) -> Iterator[Scene]:
    """Yield one scene per image; where both kinds of annotation lie below the root, `version` chooses."""
    images = ImageIndex(root)
    paths = find_files(root, frozenset({".xml"}))
    kinds = {path: _kind(path.relative_to(images.root)) for path in paths}
    wanted = options.version or ("oriented" if "oriented" in kinds.values() else "horizontal")
    for path in paths:
        if kinds[path] not in ("", wanted):
            continue
        try:
            draft = read_annotation(
                read_xml(path), path, images, report, outline=outline, first_pixel=options.first_pixel, names=DIOR
            )
        except SourceError as error:
            report.skip(path, error)
            continue
        yield draft.scene(images.id(draft.image), "dior", options, complete=DIOR, licence=SOURCE.licence)


def outline(element: Element, first_pixel: int) -> tuple[Sequence[Sequence[float]], bool]:
    """Return the corners of <robndbox> where there is one, else of <bndbox>."""
    if element.find("robndbox") is None:
        return horizontal_box(element, first_pixel)
    return [(field(element, f"robndbox/x_{at}"), field(element, f"robndbox/y_{at}")) for at in _CORNERS], True


def _kind(path: Path) -> str:
    folders = " ".join(path.parts[:-1]).lower()
    return next((kind for kind in ("oriented", "horizontal") if kind in folders), "")


SOURCE = Source(
    name="dior",
    title="DIOR, DIOR-R",
    reader=read,
    layout="Annotations/{Horizontal,Oriented} Bounding Boxes/<image>.xml and JPEGImages-*/<image>.jpg",
    outline="axis-aligned or oriented boxes",
    completeness="all 20 classes",
    licence="DIOR: for academic use; the images keep the terms of Google Earth",
    checked="oriented boxes against a published sample; not: horizontal ones, whether those count pixels from 1 "
    "(assumed; one pixel at most)",
    options=frozenset({"version", "gsd_m", "first_pixel"}),
    versions=("oriented", "horizontal"),
)
