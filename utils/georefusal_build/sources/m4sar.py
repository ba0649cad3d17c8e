"""M4-SAR: aligned pairs of optical and SAR images, oriented boxes as in YOLO-OBB.

Source: the project's README and data configuration (github.com/wchao0601/M4-SAR); no real file was at hand.
"""

from collections.abc import Iterator
from pathlib import Path

from georefusal_build.scenes import Modality, Scene
from georefusal_build.sources.base import ReadOptions, ReadReport, Source, SourceError
from georefusal_build.sources.draft import SceneDraft
from georefusal_build.sources.files import ImageIndex, image_size
from georefusal_build.sources.vocabulary import M4SAR
from georefusal_build.sources.yolo import label_path, read_labels

_LAST_AT_10_M = 56087
"""Images up to this number: optical at 10 m beside SAR in VH; after it: optical at 60 m beside SAR in VV."""


def read(root: Path, options: ReadOptions, report: ReadReport) -> Iterator[Scene]:
    """Yield the optical and the SAR scenes (`version` picks one kind); the halves of a pair share their labels."""
    images = ImageIndex(root)
    for image in images.paths:
        parts = image.relative_to(images.root).parts
        side = next((part.lower() for part in parts if part.lower() in ("optical", "sar")), "")
        if not side or options.version not in (None, side):
            continue
        label = label_path(image, images.root) or label_path(_other_half(image, images.root, side), images.root)
        if label is None:
            report.add("image", SourceError(image, "has no label file, neither beside it nor in the other half"))
            continue
        try:
            draft = SceneDraft(label, image, image_size(image), report)
            read_labels(draft, M4SAR)
        except SourceError as error:
            report.skip(label, error)
            continue
        modality: Modality = "sar" if side == "sar" else "optical"
        yield draft.scene(
            images.id(image),
            "m4sar",
            options,
            modality=modality,
            complete=frozenset(M4SAR),
            gsd_m=10.0 if modality == "optical" and _number(image) <= _LAST_AT_10_M else None,
            subsource=_subsource(image, modality),
            licence=SOURCE.licence,
        )


def _other_half(image: Path, root: Path, side: str) -> Path:
    other = "sar" if side == "optical" else "optical"
    parts = image.relative_to(root).parts
    return root.joinpath(*(other if part.lower() == side else part for part in parts))


def _number(image: Path) -> int:
    return int(image.stem) if image.stem.isdecimal() else _LAST_AT_10_M + 1


def _subsource(image: Path, modality: Modality) -> str:
    if not image.stem.isdecimal():
        return ""
    first = _number(image) <= _LAST_AT_10_M
    return {"sar": "VH" if first else "VV", "optical": "10 m" if first else "60 m"}[modality]


SOURCE = Source(
    name="m4sar",
    title="M4-SAR",
    reader=read,
    layout="{optical,sar}/images/<split>/<number>.jpg and {optical,sar}/labels/<split>/<number>.txt",
    outline="oriented boxes",
    completeness="all 6 classes",
    licence="M4-SAR: for academic use; contains modified Copernicus Sentinel data",
    checked="folders, classes and resolutions against the configuration of its authors; not: a label file, the "
    "licence; the sample distance of the SAR half and of the second optical half is taken as unknown",
    options=frozenset({"version", "gsd_m"}),
    versions=("optical", "sar"),
)
