"""The files of a set: tables as rows, images as paths, and digests that are remembered between runs.

Only `cases`, `labels` and images are ever opened; nothing here lists or reads `provenance`.
"""

import hashlib
import json
import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path, PurePosixPath
from typing import Any

from georefusal_task.core.errors import DataError
from georefusal_task.data_columns import quoted, some

_SUFFIXES = (".jsonl", ".json", ".parquet")


def cache_dir() -> Path:
    """Return the folder for what can be made again: digests, and images that were embedded in a table."""
    try:
        return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "georefusal"
    except RuntimeError:  # no home, as for an anonymous user in a container
        return Path(tempfile.gettempdir()) / "georefusal"


def table_files(folder: Path, table: str) -> list[Path]:
    """Return the files of a table: `<table>.<suffix>` and every table file at any depth below `<table>/`, sorted.

    Raises:
        DataError: there is none.
    """
    files = [folder / f"{table}{suffix}" for suffix in _SUFFIXES]
    files += [
        file
        for suffix in _SUFFIXES
        for file in (folder / table).rglob(f"*{suffix}")
        if not any(part.startswith(".") for part in file.relative_to(folder).parts)
    ]
    found = sorted(file for file in files if file.is_file())
    if not found:
        there = some(sorted(entry.name for entry in folder.iterdir()))
        if (folder / "questions.jsonl").is_file():
            there += "; questions with boxes are for the grsvqa tasks (--task grsvqa)"
        raise DataError(
            f"{folder} has no {table}: expected {table}/<set>.jsonl, .json or .parquet; the folder holds {there}"
        )
    return found


def table_rows(file: Path, name: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield (where, row) for each row of a table; `where` is `name` with the line or row number, from 1.

    Raises:
        DataError: the file is not what its suffix says.
    """
    if file.suffix == ".parquet":
        yield from _parquet_rows(file, name)
        return
    try:
        text = file.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise DataError(f"{name} is not UTF-8: {error.reason} at byte {error.start}") from None
    if text.lstrip().startswith("["):
        rows = _json(text, name)
        numbered = ((f"{name} row {number}", row) for number, row in enumerate(rows, 1))
    else:
        # not splitlines: U+2028 and the like may stand in a question
        lines = ((f"{name} line {number}", line) for number, line in enumerate(text.split("\n"), 1) if line.strip())
        numbered = ((where, _json(line, where)) for where, line in lines)
    for where, row in numbered:
        if not isinstance(row, dict):
            raise DataError(f"{where}: {quoted(row)} is not a JSON object")
        yield where, row


def _json(text: str, where: str) -> Any:
    try:
        return json.loads(text, object_pairs_hook=_no_contradiction)
    except (ValueError, RecursionError) as error:
        raise DataError(f"{where} is not JSON: {error}") from None


def _no_contradiction(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    row: dict[str, Any] = {}
    for key, value in pairs:
        if key in row and row[key] != value:
            raise ValueError(f"the key {quoted(key)} stands twice, with {quoted(row[key])} and {quoted(value)}")
        row[key] = value
    return row


def _parquet_rows(file: Path, name: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    import pyarrow as pa
    from pyarrow.parquet import ParquetFile

    try:
        with ParquetFile(file) as table:
            number = 0
            # small batches: an Image column holds the bytes of every image
            for batch in table.iter_batches(batch_size=32):
                for row in batch.to_pylist():
                    number += 1
                    yield f"{name} row {number}", row
    except (pa.ArrowException, OSError) as error:
        raise DataError(f"{name} is not a whole parquet file: {error}") from None


def find_image(folder: Path, value: object, item_set: str) -> Path:
    """Return the absolute path of the image file that a row names, or that is embedded in it.

    Args:
        folder: where the set lies; paths start there, in its images/ or in images/<set>/.
        value: of the image column: a relative path, or an Image feature as `datasets` writes it.
        item_set: the set that the row belongs to.

    Raises:
        ValueError: no such file, a path that leaves the folder, or no path at all.
        DataError: an embedded image cannot be unpacked.
    """
    if isinstance(value, dict):
        if isinstance(value.get("bytes"), bytes):
            return _unpacked(value["bytes"])
        value = value.get("path")
    if not isinstance(value, str) or not value.strip():
        raise ValueError(f"{quoted(value)} is neither a path nor an Image feature")
    path = PurePosixPath(value)
    if path.is_relative_to(folder):  # as `datasets` writes an Image feature that is not embedded
        path = path.relative_to(folder)
    if path.is_absolute() or ".." in path.parts or "\0" in value:
        raise ValueError(f"{quoted(value)} leads out of the folder; paths are relative, such as images/A/<id>.png")
    if path.parts[:1] == ("provenance",):
        raise ValueError(f"{quoted(value)} lies in provenance, which is never opened")
    # links are followed when a file is opened but not resolved here: a snapshot from the Hub consists of links
    for start in (folder, folder / "images", folder / "images" / item_set):
        with suppress(OSError):  # such as a name that is too long
            if (start / path).is_file():
                return start / path
    raise ValueError(f"there is no file {quoted(value)} in the folder or its images/")


def _unpacked(image: bytes) -> Path:
    """Return the path of a file with these bytes, named after their digest and written only once."""
    path = cache_dir() / "images" / f"{hashlib.sha256(image).hexdigest()}.png"
    try:
        if not path.is_file() or path.read_bytes() != image:
            _write(path, image)
    except OSError as error:
        raise DataError(f"cannot unpack embedded images: {error}; set XDG_CACHE_HOME to a writable folder") from error
    return path


def _write(path: Path, content: bytes) -> None:
    """Write a file so that another process sees all of it or nothing."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as part:
        part.write(content)
    Path(part.name).replace(path)


class Digests:
    """SHA-256 of files, remembered in the user's cache for as long as size, times and inode stay the same."""

    def __init__(self, folder: Path) -> None:
        self._store = cache_dir() / "digests" / f"{hashlib.sha256(os.fsencode(folder)).hexdigest()[:24]}.json"
        self._known: dict[str, tuple[str, str]] = {}
        self._changed = False
        try:
            stored = json.loads(self._store.read_bytes())
            self._known = {path: (stamp, digest) for path, (stamp, digest) in stored.items()}
        except (OSError, ValueError, AttributeError, TypeError):
            self._known = {}  # absent or damaged: hash again

    def sha256(self, file: Path) -> str:
        """Return the digest of a file's bytes, 64 hex digits."""
        found = file.stat()
        # the change time and inode too: copying tools restore the modification time
        stamp = f"{found.st_size} {found.st_mtime_ns} {found.st_ctime_ns} {found.st_ino}"
        known = self._known.get(str(file))
        if known and known[0] == stamp:
            return known[1]
        with file.open("rb") as opened:
            digest = hashlib.file_digest(opened, "sha256").hexdigest()
        self._known[str(file)] = (stamp, digest)
        self._changed = True
        return digest

    def save(self) -> None:
        """Remember the digests; a cache that cannot be written only costs the next load a second."""
        if not self._changed:
            return
        try:
            _write(self._store, json.dumps(self._known).encode())
        except OSError:
            return


def read_sums(folder: Path) -> dict[str, str]:
    """Return path -> digest as SHA256SUMS lists them, empty where the folder has no such file.

    Raises:
        DataError: a line is not `<64 hex digits>  <path>`.
    """
    file = folder / "SHA256SUMS"
    if not file.is_file():
        return {}
    sums: dict[str, str] = {}
    for number, line in enumerate(file.read_text(encoding="utf-8", errors="replace").split("\n"), 1):
        if not line.strip():
            continue
        digest, _, path = line.strip().partition(" ")
        if len(digest) != 64 or not path.strip():
            raise DataError(f"SHA256SUMS line {number}: {quoted(line)} is not <64 hex digits>  <path>")
        sums[str(PurePosixPath(path.strip().removeprefix("*")))] = digest.lower()
    return sums
