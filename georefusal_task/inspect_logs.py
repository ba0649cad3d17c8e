"""The logs of inspect_ai, read without it: `.eval` is a zip archive of JSON files, `.json` the same in one file.

Source: the page "Log Files" of its documentation, and logs that 0.3.285 wrote.
"""

import json
import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from georefusal_task.core.errors import ConfigError, DataError
from georefusal_task.core.reply import FAILED_REQUEST

_ZSTANDARD, _LOCAL_HEADER = 93, 30
_WRONG = (KeyError, TypeError, ValueError, RuntimeError)
_DAMAGED = (zipfile.BadZipFile, EOFError, struct.error, zlib.error)
_HEADERS = "header.json", "_journal/start.json"
"""What the run was; the second is all that an interrupted run leaves of it."""


def is_log(path: Path) -> bool:
    """True for an `.eval` file, and for a `.json` file that begins as a log of inspect_ai does."""
    if path.suffix == ".json" and path.is_file():
        with path.open("rb") as file:
            return b'"eval":' in file.read(1000)
    return path.suffix == ".eval"


def read_header(path: Path) -> dict[str, Any]:
    """Return everything but the samples: `eval` with task, model and metadata, `plan` with the generation arguments.

    Raises:
        DataError: the file is no such log, or damaged.
        ConfigError: see `read_texts`.
    """
    with _reported(path):
        if path.suffix == ".json":
            header = json.loads(path.read_bytes())
        else:
            with zipfile.ZipFile(path) as archive:
                name = next((name for name in _HEADERS if name in archive.namelist()), _HEADERS[0])
                header = json.loads(_content(archive, name))
        return {"eval": dict(header["eval"]), "plan": dict(header["plan"])}


def task_of(path: Path) -> str:
    """Return the name of the task without that of its package; raises as `read_header`."""
    return str(read_header(path)["eval"]["task"]).rpartition("/")[2]


def read_texts(path: Path) -> dict[str, tuple[str, ...]]:
    """Return item id -> what the model said, epoch by epoch.

    A sample whose request failed counts as such where inspect_ai scored it all the same, and is left out where not.

    Raises:
        DataError: the file is no such log, or damaged.
        ConfigError: it is packed in a way that needs the package zstandard.
    """
    said: dict[str, dict[int, str]] = {}
    with _reported(path):
        for sample in _samples(path):
            output = sample["output"]
            if output["choices"] or sample.get("scores"):
                text = output["completion"] if output["choices"] else FAILED_REQUEST
                said.setdefault(str(sample["id"]), {})[sample["epoch"]] = text
    return {item: tuple(epochs[epoch] for epoch in sorted(epochs)) for item, epochs in said.items()}


def _samples(path: Path) -> Iterator[dict[str, Any]]:
    if path.suffix == ".json":
        yield from json.loads(path.read_bytes()).get("samples") or ()
        return
    with zipfile.ZipFile(path) as archive:
        for name in archive.namelist():
            if name.startswith("samples/"):
                yield json.loads(_content(archive, name))


def _content(archive: zipfile.ZipFile, name: str) -> bytes:
    """Return a file of the archive; Python's own module reads Zstandard from 3.14 on."""
    entry = archive.getinfo(name)
    if entry.compress_type != _ZSTANDARD:
        return archive.read(entry)
    try:
        import zstandard
    except ImportError:
        how = "pip install zstandard, or write logs with: inspect eval --log-format json"
        raise ConfigError(f"{archive.filename} is packed with Zstandard; {how}") from None
    # archive.open would refuse the method before it gives out the raw bytes
    file: Any = archive.fp
    file.seek(entry.header_offset)
    local = file.read(_LOCAL_HEADER)
    file.seek(sum(struct.unpack("<HH", local[26:30])), 1)
    packed = file.read(entry.compress_size)
    try:
        with zstandard.ZstdDecompressor().stream_reader(packed, read_across_frames=True) as stream:
            content: bytes = stream.read()
    except zstandard.ZstdError as error:
        raise zipfile.BadZipFile(f"{name}: {error}") from None
    if zlib.crc32(content) != entry.CRC:
        raise zipfile.BadZipFile(f"{name} has a wrong checksum")
    return content


@contextmanager
def _reported(path: Path) -> Iterator[None]:
    """Turn whatever a damaged or foreign file leads to into one error that names it."""
    try:
        yield
    except (*_WRONG, *_DAMAGED, OSError) as error:
        if isinstance(error, OSError) and error.filename:
            raise  # it cannot be opened, which is no fault of its content
        text = f"{type(error).__name__}: {error}"
        raise DataError(f"{path} is not a log of inspect_ai, or damaged ({text})") from None
