"""SARDet-100K: COCO files over ten merged collections, each labelled with its own classes only.

Source: the SARDet-100K paper (arXiv 2403.06534); no real file was at hand.
"""

import csv
from collections.abc import Iterator, Mapping
from io import StringIO
from pathlib import Path

from georefusal_build.scenes import Scene
from georefusal_build.sources.base import ReadOptions, ReadReport, Source, SourceError
from georefusal_build.sources.coco import Facts, read_files
from georefusal_build.sources.draft import SceneDraft
from georefusal_build.sources.files import read_text
from georefusal_build.sources.vocabulary import SARDET_SUBSOURCES

_BY_KEY = {"".join(filter(str.isalnum, name)).lower(): name for name in SARDET_SUBSOURCES}


def read(root: Path, options: ReadOptions, report: ReadReport) -> Iterator[Scene]:
    """Yield SAR scenes, complete for the classes that the image's own collection annotates.

    The collection is looked for in the file that the option `subsources` names (CSV: file name, collection), then in
    a field `subsource` of the image entry, then in the image's path. Unknown collection: positives only.
    """
    listed = _listed(options.subsources) if options.subsources else {}

    def finish(draft: SceneDraft, name: str, facts: Facts, named: frozenset[str]) -> Scene:
        del named
        told = listed.get(draft.image.name) or str(facts.get("subsource") or "")
        subsource = known_subsource(told) or known_subsource(*Path(name).parts)
        return draft.scene(
            name,
            "sardet",
            options,
            modality="sar",
            complete=frozenset(SARDET_SUBSOURCES.get(subsource, ())),
            subsource=subsource,
            licence=SOURCE.licence,
        )

    return read_files(root, report, finish)


def known_subsource(*texts: str) -> str:
    """Return the collection that one of the texts begins with, whatever its punctuation, or "".

    >>> known_subsource("train", "air_sarship-1_00012")
    'AIR_SARShip_1'
    """
    for text in texts:
        key = "".join(filter(str.isalnum, text)).lower()
        for known in sorted(_BY_KEY, key=len, reverse=True):
            if key.startswith(known):
                return _BY_KEY[known]
    return ""


def _listed(path: Path) -> Mapping[str, str]:
    found: dict[str, str] = {}
    for row, fields in enumerate(csv.reader(StringIO(read_text(path))), start=1):
        if not fields:
            continue
        if len(fields) < 2 or not known_subsource(fields[1]):
            known = ", ".join(sorted(SARDET_SUBSOURCES))
            raise SourceError(
                path, f"is '{','.join(fields)}', expected 'file name,collection' of {known}", f"line {row}"
            )
        found[Path(fields[0].strip()).name] = fields[1].strip()
    return found


SOURCE = Source(
    name="sardet",
    title="SARDet-100K",
    reader=read,
    layout="Annotations/{train,val,test}.json and JPEGImages/{train,val,test}/",
    outline="axis-aligned boxes",
    completeness="the classes that the image's own collection annotates; unknown collection: none",
    licence="SARDet-100K: CC BY-NC 4.0; each collection keeps its own terms",
    checked="folders and classes against the configuration of its authors; not: a file of the set, and which classes "
    "each collection annotates exhaustively; its images bear running numbers, which do not tell the collection",
    options=frozenset({"gsd_m", "subsources"}),
)
