"""The metadata of a release as Croissant 1.0 JSON-LD.

Source: MLCommons Croissant format specification 1.0; checked with `mlcroissant validate` in the tests.
"""

import hashlib
import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

CONFORMS = "http://mlcommons.org/croissant/1.0"

_CONTEXT = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "citeAs": "cr:citeAs",
    "column": "cr:column",
    "conformsTo": "dct:conformsTo",
    "containedIn": "cr:containedIn",
    "cr": "http://mlcommons.org/croissant/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/",
    "equivalentProperty": "cr:equivalentProperty",
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "extract": "cr:extract",
    "field": "cr:field",
    "fileProperty": "cr:fileProperty",
    "fileObject": "cr:fileObject",
    "fileSet": "cr:fileSet",
    "format": "cr:format",
    "includes": "cr:includes",
    "isLiveDataset": "cr:isLiveDataset",
    "jsonPath": "cr:jsonPath",
    "key": "cr:key",
    "md5": "cr:md5",
    "parentField": "cr:parentField",
    "path": "cr:path",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "recordSet": "cr:recordSet",
    "references": "cr:references",
    "regex": "cr:regex",
    "repeated": "cr:repeated",
    "replace": "cr:replace",
    "samplingRate": "cr:samplingRate",
    "sc": "https://schema.org/",
    "separator": "cr:separator",
    "source": "cr:source",
    "subField": "cr:subField",
    "transform": "cr:transform",
}

Columns = Mapping[str, tuple[str, str]]
"""Column -> (data type, what it holds)."""

TABLES: Mapping[str, Columns] = {
    "cases": {
        "id": ("sc:Text", "opaque id, <set>-<hex digits>"),
        "set": ("sc:Text", "the set that the item belongs to; sets are batches, not splits"),
        "image": ("sc:Text", "path of the image in this folder"),
        "question": ("sc:Text", "the question"),
    },
    "labels": {
        "id": ("sc:Text", "id of the case"),
        "set": ("sc:Text", "its set"),
        "gold": ("sc:Text", "the right verdict, one of six"),
        "answer": ("sc:Text", "yes or no where the verdict is ANSWER"),
        "category": ("sc:Text", "the refusal that the lever aims at"),
        "intensity": ("sc:Text", "LOW, MEDIUM or HIGH"),
        "lever": ("sc:Text", "how the item was made"),
        "anchor": ("sc:Text", "what the label rests on: pixel, geometry, structural or consensus"),
        "score_answer": ("sc:Boolean", "false: left out of answer-level metrics"),
    },
    "provenance": {
        "id": ("sc:Text", "id of the case"),
        "base_question": ("sc:Text", "the question before the lever"),
        "base_id": ("sc:Text", "items of one base are not independent"),
        "source": ("sc:Text", "the data set that the image comes from"),
        "modality": ("sc:Text", "optical or sar"),
        "license": ("sc:Text", "licence of the source image"),
        "status": ("sc:Text", "reviewed, verified or unreviewed"),
    },
}
"""The columns that are plain values; lists and structures stand in the files beside them."""


@dataclass(frozen=True)
class About:
    """What the metadata says of a release."""

    name: str
    version: str
    description: str
    published: str
    licence: str
    url: str
    cite: str


def croissant(about: About, folder: Path, *, images: bool, notes: Mapping[str, str]) -> dict[str, Any]:
    """Return the JSON-LD object of the tables in `folder`. notes: `rai:` field -> text."""
    files = [f"{table}/{file.name}" for table in TABLES for file in sorted((folder / table).glob("*.jsonl"))]
    distribution: list[dict[str, Any]] = [
        {
            "@type": "cr:FileObject",
            "@id": path,
            "name": path.replace("/", "-"),
            "contentUrl": path,
            "encodingFormat": "application/jsonlines",
            "sha256": hashlib.sha256((folder / path).read_bytes()).hexdigest(),
        }
        for path in files
    ]
    distribution += [
        {
            "@type": "cr:FileObject",
            "@id": "folder",
            "name": "folder",
            "description": "the folder of the release",
            "contentUrl": about.url,
            "encodingFormat": "git+https",
            "sha256": "https://github.com/mlcommons/croissant/issues/80",
        }
    ]
    if images:
        distribution.append(
            {
                "@type": "cr:FileSet",
                "@id": "images",
                "name": "images",
                "containedIn": {"@id": "folder"},
                "encodingFormat": "image/png",
                "includes": "images/*/*.png",
            }
        )
    return {
        "@context": _CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": CONFORMS,
        "name": about.name,
        "description": about.description,
        "license": about.licence,
        "url": about.url,
        "version": about.version,
        "citeAs": about.cite,
        "datePublished": about.published,
        **{f"rai:{name}": text for name, text in notes.items()},
        "distribution": distribution,
        "recordSet": [_records(path, _columns(folder / path)) for path in files],
    }


def _columns(file: Path) -> set[str]:
    """Return the columns that every row of a table has."""
    rows = [set(json.loads(line)) for line in file.read_text("utf-8").splitlines()]
    return set.intersection(*rows)


def _records(path: str, present: Collection[str]) -> dict[str, Any]:
    table, _, file = path.partition("/")
    name = f"{table}-{file.removesuffix('.jsonl')}"
    return {
        "@type": "cr:RecordSet",
        "@id": name,
        "name": name,
        "key": {"@id": f"{name}/id"},
        "field": [_field(name, path, one, *known) for one, known in TABLES[table].items() if one in present],
    }


def _field(records: str, path: str, column: str, data_type: str, description: str) -> dict[str, Any]:
    table, _, part = records.partition("-")
    field: dict[str, Any] = {
        "@type": "cr:Field",
        "@id": f"{records}/{column}",
        "name": column,
        "description": description,
        "dataType": data_type,
        "source": {"fileObject": {"@id": path}, "extract": {"column": column}},
    }
    if column == "id" and table != "cases":
        field["references"] = {"field": {"@id": f"cases-{part}/id"}}
    return field


def data_files(paths: Sequence[str]) -> dict[str, dict[str, str]]:
    """Return table -> set -> path, for the `configs:` of the card."""
    found: dict[str, dict[str, str]] = {}
    for path in sorted(paths):
        table, _, file = path.partition("/")
        if table in TABLES and file.endswith(".jsonl"):
            found.setdefault(table, {})[file.removesuffix(".jsonl")] = path
    return found
