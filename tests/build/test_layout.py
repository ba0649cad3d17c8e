"""Sets that are read, changed and written anew lose nothing."""

import json
from pathlib import Path

import pytest

import georefusal_task
from georefusal_build.layout import MADE, SUMS, json_line, read_provenance, read_set, write_set
from georefusal_task.core.errors import ConfigError, DataError
from georefusal_task.data import load, load_mini

MINI = Path(georefusal_task.__file__).parent / "assets" / "mini"


def test_a_set_survives_reading_and_writing(tmp_path: Path) -> None:
    """Every row, image and sum; the digest covers cases, labels and images."""
    write_set(tmp_path / "again", read_set(MINI), files={"note.md": "hello\n"})
    assert load(tmp_path / "again").digest == load_mini().digest
    assert read_provenance(tmp_path / "again") == read_provenance(MINI)
    sums = dict(reversed(line.split("  ")) for line in (tmp_path / "again" / SUMS).read_text().splitlines())
    assert {"note.md", "cases/A.jsonl"} <= sums.keys()
    assert len(sums) == sum(path.is_file() for path in (tmp_path / "again").rglob("*")) - 1


def test_writing_twice_gives_the_same_bytes(tmp_path: Path) -> None:
    items = read_set(MINI)
    write_set(tmp_path / "a", items)
    write_set(tmp_path / "b", reversed(items))
    assert (tmp_path / "a" / SUMS).read_bytes() == (tmp_path / "b" / SUMS).read_bytes()


def test_times_of_files_tell_nothing(tmp_path: Path) -> None:
    """Images are written lever by lever; their order in time would give verdicts away."""
    write_set(tmp_path / "set", read_set(MINI))
    assert {path.stat().st_mtime for path in (tmp_path / "set").rglob("*")} == {MADE}


def test_what_a_killed_run_left_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "new.part" / "cases").mkdir(parents=True)
    (tmp_path / "new.part" / "cases" / "Z.jsonl").write_text("torn")
    write_set(tmp_path / "new", read_set(MINI))
    assert len(load(tmp_path / "new").items) == len(load_mini().items)
    assert [path.name for path in tmp_path.iterdir()] == ["new"]


def test_an_existing_folder_is_left_alone(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="exists"):
        write_set(tmp_path, read_set(MINI))
    assert not [*tmp_path.iterdir()]


def test_an_item_without_provenance_is_named(tmp_path: Path) -> None:
    write_set(tmp_path / "set", read_set(MINI))
    table = tmp_path / "set" / "provenance" / "A.jsonl"
    rows = [json.loads(line) for line in table.read_text("utf-8").splitlines()]
    table.write_text("".join(map(json_line, rows[1:])), "utf-8")
    with pytest.raises(DataError, match=rows[0]["id"]):
        read_set(tmp_path / "set")
    assert read_set(tmp_path / "set", needs_provenance=False)[0].provenance == {}
    table.write_text("".join(map(json_line, [rows[0], {**rows[0], "seed": "other"}])), "utf-8")
    with pytest.raises(DataError, match="twice"):
        read_provenance(tmp_path / "set")


def test_a_number_that_is_none_is_refused() -> None:
    with pytest.raises(ValueError, match="JSON"):
        json_line({"z": float("nan")})
