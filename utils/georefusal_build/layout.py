"""Sets in the released layout, with provenance: read whole, changed row by row, written anew.

`cases|labels|provenance/<set>.jsonl`, `images/<set>/<id>.png`, SHA256SUMS. Steps that filter or relabel (consensus,
review, release) read one folder and write another; none changes a set in place.
"""

import hashlib
import json
import os
import shutil
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from georefusal_task.core.errors import ConfigError, DataError
from georefusal_task.core.records import Case, Label
from georefusal_task.data import load
from georefusal_task.data_columns import quoted
from georefusal_task.data_files import table_files, table_rows
from georefusal_task.report.provenance import linked

Row = dict[str, Any]

TABLES = ("cases", "labels", "provenance")
SUMS = "SHA256SUMS"
MADE = 315_532_800
"""Time of every file of a set: 1980, the first that archives can hold."""
_ID_COLUMNS = ("id", "item_id", "case_id")
"""Of provenance, whose released spelling is not known; our own sets write the first."""
REPORTS = (
    "build.json",
    "summary.json",
    "rejects.jsonl",
    "consensus.json",
    "consensus.jsonl",
    "CONSENSUS.md",
    "review.json",
    "REVIEW.md",
)
"""What a set carries beside its tables until it is released."""


@dataclass(frozen=True)
class SetItem:
    """One item with everything that is known about it; `provenance` is {} where the set has none."""

    case: Case
    label: Label
    provenance: Row

    @property
    def id(self) -> str:
        """The item's id."""
        return self.case.id


def read_set(folder: Path, *, needs_provenance: bool = True) -> list[SetItem]:
    """Return the items of a set, sorted by set and id, each with its row of provenance.

    Raises:
        DataError: the set does not load, or (where it is needed) an item has no provenance.
    """
    items = load(folder).items
    rows = read_provenance(folder) if needs_provenance or (folder / "provenance").is_dir() else {}
    missing = [item.case.id for item in items if item.case.id not in rows]
    if missing and needs_provenance:
        raise DataError(f"{folder}: {len(missing)} items have no row in provenance/, the first being {missing[0]}")
    return [SetItem(item.case, item.label, rows.get(item.case.id, {})) for item in items]


def read_provenance(folder: Path) -> dict[str, Row]:
    """Return id -> row of provenance, as it stands.

    Raises:
        DataError: no such table, a row without an id, or one id with two different rows.
    """
    found: dict[str, Row] = {}
    for file in table_files(folder, "provenance"):
        for where, row in table_rows(file, str(file)):
            item = next((row[name] for name in _ID_COLUMNS if name in row), None)
            if not isinstance(item, str):
                raise DataError(f"{where}: the id {quoted(item)} is not a string")
            if found.setdefault(item, dict(row)) != row:
                raise DataError(f"{where}: {item} stands there twice with different content; keep one of the two")
    return found


def clusters(items: Iterable[SetItem]) -> dict[str, str]:
    """Return item id -> cluster: what shares a base image or base question, else an image file, is not independent."""
    ties = {}
    for item in items:
        known = [f"{key} {item.provenance[key]}" for key in ("base_image", "base_id") if item.provenance.get(key)]
        ties[item.id] = known or [f"file {hashlib.sha256(item.case.image.read_bytes()).hexdigest()}"]
    return linked(ties)


def write_set(out: Path, items: Iterable[SetItem], *, files: Mapping[str, str] | None = None) -> None:
    """Write a set into a new folder, with `files` (relative path -> text) beside its tables.

    The folder appears when it is whole: a run that is killed leaves `<out>.part`, which the next one replaces.

    Raises:
        ConfigError: `out` exists.
    """
    if out.exists():
        raise ConfigError(f"{out} exists; delete it or name a new folder")
    part = out.with_name(f"{out.name}.part")
    shutil.rmtree(part, ignore_errors=True)
    ordered = sorted(items, key=lambda item: (item.case.set, item.id))
    for name in sorted({item.case.set for item in ordered}):
        members = [item for item in ordered if item.case.set == name]
        rows = [table_row(item) for item in members]
        for table in TABLES:
            present = [row[table] for row in rows if table in row]
            if present:
                write_text(part / table / f"{name}.jsonl", "".join(map(json_line, present)))
        for item in members:
            target = part / _image(item)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(item.case.image, target)
    for path, text in (files or {}).items():
        write_text(part / path, text)
    write_sums(part)
    level_times(part)
    part.replace(out)


def side_files(folder: Path) -> dict[str, str]:
    """Return name -> text of the reports that earlier steps left in a set; every step hands them on to the next."""
    return {name: (folder / name).read_text(encoding="utf-8") for name in REPORTS if (folder / name).is_file()}


def table_row(item: SetItem) -> dict[str, Row]:
    """Return table -> row of an item."""
    case = {"id": item.id, "set": item.case.set, "image": _image(item), "question": item.case.question}
    label = item.label.model_dump(mode="json")
    return {"cases": case, "labels": label} | ({"provenance": item.provenance} if item.provenance else {})


def write_sums(folder: Path) -> None:
    """Write SHA256SUMS over every other file of a folder, as `sha256sum -c` reads it."""
    files = sorted(path for path in folder.rglob("*") if path.is_file() and path != folder / SUMS)
    lines = [
        f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.relative_to(folder).as_posix()}" for path in files
    ]
    write_text(folder / SUMS, "".join(f"{line}\n" for line in lines))


def level_times(folder: Path) -> None:
    """Give every file one time: the order in which images were made follows levers and labels."""
    for path in folder.rglob("*"):
        os.utime(path, (MADE, MADE))


def write_text(path: Path, text: str) -> None:
    """Write a file that is there whole or not at all, making its folder where needed."""
    write_bytes(path, text.encode())


def write_bytes(path: Path, data: bytes) -> None:
    """Write a file that is there whole or not at all, making its folder where needed.

    Raises:
        OSError: it cannot be written; nothing is left of it, and the error names `path`.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with part.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
    except OSError as error:
        part.unlink(missing_ok=True)
        raise OSError(error.errno, error.strerror, str(path)) from error


def json_line(row: Mapping[str, Any]) -> str:
    """Return a row as one line of JSONL; NaN is refused, since JSON has none."""
    return json.dumps(row, ensure_ascii=False, allow_nan=False) + "\n"


def _image(item: SetItem) -> str:
    return f"images/{item.case.set}/{item.id}{item.case.image.suffix}"
