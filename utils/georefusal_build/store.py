"""The work folder of a build: what was made, in shards that are there whole or not at all.

`<out>.part/` holds `build.json` (what is being built, by which versions), `shards/<hash>.jsonl` and
`pixels/<sha256>.png`. A shard names the jobs it holds and has a row for each: an item's rows with the digest of its
image, or a reject. Its images are written first, so a shard that exists is complete; whatever a killed run leaves
besides is made again.
"""

import errno
import fcntl
import hashlib
import io
import json
import os
import shutil
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Generic, Protocol, TypeVar

import cv2
import numpy as np

from georefusal_build.arrays import U8
from georefusal_build.layout import json_line, write_bytes, write_text
from georefusal_build.made import Made, Reject, Row
from georefusal_task.core.errors import ConfigError, DataError

VERSION = 1
"""Of what a shard holds; raise it when that changes, so that no run goes on with shards of another kind."""

FULL = frozenset({errno.ENOSPC, errno.EFBIG, errno.EDQUOT})
"""What a disk or a quota that is full says."""


class Keyed(Protocol):
    """A job: anything with a key that says on every machine what it makes."""

    @property
    def key(self) -> str:
        """The key."""
        ...


Job = TypeVar("Job", bound=Keyed)
Make = Callable[[Job], Made | Reject]
"""Pure: the same job gives the same bytes, in any process and any order."""


@dataclass(frozen=True)
class Work:
    """An open work folder. identity: what is built and by which versions."""

    root: Path
    identity: Mapping[str, str]

    def prepare(self) -> None:
        """Make the folder, or see that it is of this build.

        Raises:
            ConfigError: it belongs to another build.
        """
        for name in ("shards", "pixels"):
            (self.root / name).mkdir(parents=True, exist_ok=True)
        _check_identity(self.root / "build.json", {**self.identity, "store": str(VERSION)})

    def shard_path(self, keys: Iterable[str]) -> Path:
        """Return where the shard of these jobs lies: its name is a hash of the keys, the identity and `VERSION`."""
        named = json.dumps([VERSION, dict(self.identity), list(keys)], sort_keys=True)
        return self.root / "shards" / f"{hashlib.sha256(named.encode()).hexdigest()[:24]}.jsonl"

    def image_path(self, sha256: str) -> Path:
        """Return where the image file with this digest lies."""
        return self.root / "pixels" / f"{sha256}.png"

    def done(self) -> set[str]:
        """Return the keys of all jobs that are stored."""
        found: set[str] = set()
        for path in self._shards():
            with path.open(encoding="utf-8") as lines:
                found.update(json.loads(next(lines))["jobs"])
        return found

    def rows(self) -> Iterator[Row]:
        """Yield the row of each stored job once, in no useful order."""
        seen: set[str] = set()
        for path in self._shards():
            with path.open(encoding="utf-8") as lines:
                next(lines)
                for line in lines:
                    row = json.loads(line)
                    if row["key"] not in seen:
                        seen.add(row["key"])
                        yield row

    def _shards(self) -> list[Path]:
        return sorted((self.root / "shards").glob("[!.]*.jsonl"))


@dataclass(frozen=True)
class MakeShard(Generic[Job]):
    """The unit of work: makes the jobs of one shard and stores them.

    It needs nothing but the work folder, knows nothing of other shards, and does nothing where its shard is there: to
    spread a build over machines that share the folder, call it on each for its part of what `shards` gives.
    """

    work: Work
    make: Make[Job]

    def __call__(self, jobs: Sequence[Job], started: Callable[[str], None] = lambda _: None) -> None:
        """Make and store these jobs; `started` hears the key of each before it is made.

        Raises:
            ConfigError: the folder belongs to another build.
            OSError: the disk is full, or cannot be written.
        """
        self.work.prepare()
        path = self.work.shard_path(job.key for job in jobs)
        if path.exists():
            return
        cv2.setNumThreads(1)  # the processes share the cores; its threads would only wait for each other
        rows = []
        for job in jobs:
            started(job.key)
            rows.append(self._row(self.make(job)))
        _sync(self.work.root / "pixels")
        head = json_line({"jobs": [job.key for job in jobs]})
        write_text(path, head + "".join(map(json_line, rows)))

    def _row(self, found: Made | Reject) -> Row:
        if isinstance(found, Reject):
            return {"key": found.key, "reason": found.reason, "detail": found.detail}
        data = png(found.pixels)
        sha256 = hashlib.sha256(data).hexdigest()
        path = self.work.image_path(sha256)
        if not path.exists():
            write_bytes(path, data)
        rows = {"case": found.case, "label": found.label, "provenance": found.provenance}
        return {"key": found.key, "set": found.set, **rows, "image_sha256": sha256}


def shards(jobs: Sequence[Job], size: int, done: Collection[str] = ()) -> list[list[Job]]:
    """Return the jobs that are still to do, in shards of up to `size`; done: keys of the others.

    A shard has the same borders whatever is done already, so that a run that goes on writes the files of a run that was
    never stopped.
    """
    cut = [jobs[start : start + size] for start in range(0, len(jobs), size)]
    left = [[job for job in shard if job.key not in done] for shard in cut]
    return [shard for shard in left if shard]


def png(pixels: U8) -> bytes:
    """Return an image as every build writes it: 8-bit RGB, zlib level 6, nothing but pixels.

    pixels: uint8 (H, W) or (H, W, 3); one band is repeated.
    """
    from PIL import Image

    colour = np.repeat(pixels[..., None], 3, axis=2) if pixels.ndim == 2 else pixels
    encoded = io.BytesIO()
    Image.fromarray(np.ascontiguousarray(colour)).save(encoded, "PNG", compress_level=6)
    return encoded.getvalue()


def part_of(out: Path) -> Path:
    """Return the work folder of a build that will appear at `out`."""
    return out.with_name(f"{out.name}.part")


def is_finished(out: Path, identity: Mapping[str, str]) -> bool:
    """Whether `out` is the finished set of this build, False where nothing is there yet; clears up behind it.

    identity: compared as far as it goes.

    Raises:
        ConfigError: something else is there.
    """
    if not out.exists() or (out.is_dir() and not any(out.iterdir())):
        return False
    try:
        found = dict(json.loads((out / "build.json").read_text(encoding="utf-8")))
    except (OSError, TypeError, ValueError):
        raise ConfigError(f"{out} exists and is no build; name a new folder") from None
    if told := _differences(found, identity):
        raise ConfigError(f"{out} was built by another configuration or other versions ({told}); name a new folder")
    shutil.rmtree(part_of(out), ignore_errors=True)  # where it was killed between its last two steps
    return True


@contextmanager
def open_work(out: Path, identity: Mapping[str, str]) -> Iterator[Work]:
    """Create or open the work folder for `out` and hold it alone until the block ends.

    Raises:
        ConfigError: another run holds it, or it belongs to another build.
    """
    root = part_of(out)
    with _locked(root):
        work = Work(root, identity)
        work.prepare()
        _sweep(root)
        try:
            yield work
        finally:
            _sweep(root)


def _sweep(root: Path) -> None:
    """Remove what a process that was killed was writing."""
    for torn in root.rglob(".*.part"):
        torn.unlink(missing_ok=True)


def _check_identity(path: Path, identity: Mapping[str, str]) -> None:
    if not path.exists():
        write_text(path, json.dumps(identity, indent=1) + "\n")
        return
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    if told := _differences(found, identity):
        raise ConfigError(
            f"{path.parent} was begun by another build ({told}): name another folder, or delete it to begin anew"
        )


def _differences(found: Mapping[str, str], identity: Mapping[str, str]) -> str:
    """In what another build differs, as far as `identity` goes; "" where it is this one."""
    different = [name for name in sorted(identity) if found.get(name) != identity[name]]
    return "; ".join(f"{one} was {_short(found.get(one))}, is {_short(identity[one])}" for one in different)


def _short(value: str | None) -> str | None:
    """A digest by its first digits; versions are short already."""
    return value and value[:12]


@contextmanager
def _locked(root: Path) -> Iterator[None]:
    """Hold the folder's lock; the system gives it back when the process ends, however it ends."""
    while True:
        root.mkdir(parents=True, exist_ok=True)
        with (root / "lock").open("w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise ConfigError(f"{root} is in use by another run; wait for it, or name another folder") from None
            if _still_there(lock, root / "lock"):
                yield
                return


def _still_there(lock: IO[str], path: Path) -> bool:
    """Whether a lock just taken is that of the folder as it is now; the run before may have removed it."""
    return path.exists() and os.path.samestat(os.fstat(lock.fileno()), path.stat())


def _sync(folder: Path) -> None:
    """Have the names in a folder on the disk before a file that relies on them."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def missing(jobs: Iterable[Keyed], done: set[str]) -> list[str]:
    """Return the keys of jobs that are not stored.

    Raises:
        DataError: two jobs have the same key, so one of them would be lost.
    """
    keys = [job.key for job in jobs]
    if len(set(keys)) < len(keys):
        twice = next(key for key in keys if keys.count(key) > 1)
        raise DataError(f"the plan has two jobs with the key {twice!r}; make the plan again")
    return [key for key in keys if key not in done]
