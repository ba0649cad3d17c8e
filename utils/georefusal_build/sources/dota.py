"""DOTA: one labelTxt file per image, oriented boxes.

Source: the DOTA page (captain-whu.github.io/DOTA) and two real files of version 1.0.
"""

import re
from collections.abc import Iterator
from pathlib import Path

from georefusal_build.scenes import Scene
from georefusal_build.sources.base import ReadOptions, ReadReport, Source, SourceError
from georefusal_build.sources.draft import SceneDraft, number
from georefusal_build.sources.files import ImageIndex, find_files, image_size, read_text
from georefusal_build.sources.vocabulary import DOTA

VERSIONS = {
    "1.0": DOTA - {"small-vehicle"},  # objects under 10 px, nearly all of them cars, were added in 1.5
    "1.5": DOTA | {"container-crane"},
    "2.0": DOTA | {"container-crane", "airport", "helipad"},
}
"""Classes annotated exhaustively, by version."""

_LABEL_SUFFIX = ".labelTxt"


def read(root: Path, options: ReadOptions, report: ReadReport) -> Iterator[Scene]:
    """Yield the scenes of label files that lie in a folder named labelTxt* or are named *.labelTxt.txt."""
    images = ImageIndex(root)
    for path in find_files(root, frozenset({".txt"})):
        if path != root and not _is_label(path, images.root, options.version):
            continue
        try:
            yield _scene(path, images, options, report)
        except SourceError as error:
            report.skip(path, error)


def _is_label(path: Path, root: Path, version: str | None) -> bool:
    """Folders of horizontal boxes and of a version that was not asked for are left out."""
    folders = [part.lower() for part in path.relative_to(root).parts[:-1]]
    versions = {found for part in folders for found in re.findall(r"v(\d\.\d)", part)}
    if any("reclabel" in part or part.endswith("_hbb") for part in folders) or (version and versions - {version}):
        return False
    return path.stem.endswith(_LABEL_SUFFIX) or any(part.startswith("labeltxt") for part in folders)


def _scene(path: Path, images: ImageIndex, options: ReadOptions, report: ReadReport) -> Scene:
    image = images.find(path.stem.removesuffix(_LABEL_SUFFIX), path)
    draft = SceneDraft(path, image, image_size(image), report, VERSIONS["2.0"])
    header: dict[str, str] = {}
    for row, line in enumerate(read_text(path).splitlines(), start=1):
        fields = line.split()
        if not fields:
            continue
        key, colon, value = line.strip().partition(":")
        if colon and key.lower() in ("imagesource", "gsd"):
            header[key.lower()] = value.strip()
            continue
        try:
            corners = [number(text, f"coordinate {i + 1}") for i, text in enumerate(fields[:8])]
            if len(fields) not in (9, 10):
                raise ValueError(f"has {len(fields)} fields, expected x1 y1 ... x4 y4 class difficult")
        except ValueError as error:
            draft.lose(f"line {row}", str(error))
            continue
        points = list(zip(corners[::2], corners[1::2], strict=True))
        draft.add(fields[8], points, f"line {row}", difficult=fields[9:] not in ([], ["0"]))
    return draft.scene(
        images.id(image),
        "dota",
        options,
        complete=VERSIONS[options.version or "1.0"],
        gsd_m=_gsd(header.get("gsd"), path, report),
        subsource=header.get("imagesource", ""),
        licence=SOURCE.licence,
    )


def _gsd(text: str | None, path: Path, report: ReadReport) -> float | None:
    if text is None or text.lower() in ("", "none", "null", "nan"):
        return None
    try:
        value = number(text, "gsd")
        if value > 0:
            return value
        raise ValueError(f"gsd is '{text}', not a positive number")
    except ValueError as error:
        report.add("annotation", SourceError(path, f"{error}; taken as unknown", "header"))
        return None


SOURCE = Source(
    name="dota",
    title="DOTA",
    reader=read,
    layout="labelTxt*/<image>.txt (or <image>.labelTxt.txt) and the images",
    outline="oriented boxes",
    completeness="every class of the version; small-vehicle not in 1.0, which left out objects under 10 px",
    licence="DOTA: for academic use only; the images keep the terms of Google Earth, GF-2, JL-1 and CycloMedia",
    checked="1.0 against published samples; not: 1.5 and 2.0",
    options=frozenset({"version", "gsd_m"}),
    versions=("1.0", "1.5", "2.0"),
)
