"""The metadata of a release, read by the reference implementation of Croissant."""

import hashlib
import json
import shutil
from pathlib import Path

import mlcroissant
import pytest

import georefusal_task
from georefusal_build.release.croissant import TABLES, About, croissant, data_files

MINI = Path(georefusal_task.__file__).parent / "assets" / "mini"
ABOUT = About("demo", "1.0.0", "A demo.", "2026-11-30", "https://example.org/l", "https://example.org/d", "Demo, 2026")
NOTES = dict.fromkeys(("dataCollection", "dataLimitations", "dataBiases", "personalSensitiveInformation"), "said")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("croissant") / "set"
    shutil.copytree(MINI, out)
    return out


def sums(folder: Path) -> dict[str, str]:
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in folder.rglob("*")
        if path.is_file()
    }


@pytest.mark.parametrize("images", [True, False])
def test_it_is_valid_and_its_records_can_be_read(folder: Path, images: bool) -> None:
    metadata = croissant(ABOUT, folder, images=images, notes=NOTES)
    (folder / "croissant.json").write_text(json.dumps(metadata), "utf-8")
    read = mlcroissant.Dataset(jsonld=str(folder / "croissant.json"))  # raises on any error
    assert (read.metadata.name, str(read.metadata.version)) == ("demo", "1.0.0")
    assert {one.name for one in read.metadata.record_sets} == {f"{table}-{one}" for table in TABLES for one in "ABC"}
    assert {one.name for one in read.metadata.distribution} >= ({"images"} if images else {"folder"})
    for table in ("cases", "labels", "provenance"):
        rows = [json.loads(line) for line in (folder / table / "A.jsonl").read_text("utf-8").splitlines()]
        records = list(read.records(record_set=f"{table}-A"))
        assert [one[f"{table}-A/id"].decode() for one in records] == [row["id"] for row in rows]
    assert records[0]["provenance-A/license"].decode() == rows[0]["license"]


def test_a_changed_table_is_noticed(folder: Path) -> None:
    """The digests are those of the files, or nobody would notice."""
    found = sums(folder)
    metadata = croissant(ABOUT, folder, images=True, notes=NOTES)
    given = {one["contentUrl"]: one["sha256"] for one in metadata["distribution"] if one["@type"] == "cr:FileObject"}
    assert {path: given[path] for path in found if path.endswith(".jsonl") and "/" in path} == {
        path: digest for path, digest in found.items() if path.partition("/")[0] in TABLES
    }


def test_the_card_names_the_tables_only() -> None:
    assert data_files(["labels/B.jsonl", "labels/A.jsonl", "rejects.jsonl", "images/A/A-0.png"]) == {
        "labels": {"A": "labels/A.jsonl", "B": "labels/B.jsonl"}
    }
