"""The vote file that is being written: one writer at a time, and no vote is confirmed before it is on the disk."""

import fcntl
import json
import os
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from georefusal_build.review.votes import Ballot, Vote, read_votes
from georefusal_task.core.errors import ConfigError


class VoteFile:
    """Votes by reviewer, in the order in which they were given; `append` adds one."""

    def __init__(self, path: Path, ballot: Ballot) -> None:
        """Open or make the file, check all that stands in it, and cut off a torn last line.

        Raises:
            ConfigError: another server writes to it.
            DataError: it holds something else than whole votes on this bundle.
        """
        self.path = path
        self.note = ""
        """What had to be repaired, to be shown to the user."""
        self._ballot = ballot
        self._lock = threading.Lock()
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(self._file)
            raise ConfigError(f"another server writes to {path}; end it, or name another file with --votes") from None
        try:
            self._read()
        except BaseException:
            self.close()
            raise
        _sync_folder(path.parent)

    def _read(self) -> None:
        found = read_votes(self.path, self._ballot)
        self._votes = [vote for _, vote in found.votes]
        self._chain, self._end = found.chain, found.whole
        if found.torn:
            os.ftruncate(self._file, self._end)
            os.fsync(self._file)
            self.note = (
                f"{self.path}: the last line was cut off after {found.torn} bytes, as by a crash or a full disk; "
                "it was never confirmed and has been removed"
            )
        elif self._end and os.pread(self._file, 1, self._end - 1) != b"\n":
            self._end += os.pwrite(self._file, b"\n", self._end)

    def close(self) -> None:
        """Let another server have the file."""
        if self._file >= 0:  # not twice: the number may be another file's by then
            os.close(self._file)
        self._file = -1

    def append(self, fields: Mapping[str, Any]) -> Vote:
        """Return the vote once it is on the disk.

        Args:
            fields: of a `Vote`, without schema, bundle, seq and seal.

        Raises:
            ValueError: it is no vote on this bundle.
            OSError: it could not be written; nothing of it is left in the file.
        """
        with self._lock:
            row = self._chain.next(fields)
            line = json.dumps(row, ensure_ascii=False).encode() + b"\n"
            checked = Vote.model_validate(row)
            if problem := self._ballot.problem(checked):
                raise ValueError(problem)
            try:
                _write_all(self._file, line, self._end)
                os.fsync(self._file)
            except OSError:
                os.ftruncate(self._file, self._end)
                raise
            self._end += len(line)
            self._votes.append(self._chain.add(row, len(self._votes) + 1))
            return self._votes[-1]

    def of(self, reviewer: str, after: int = 0) -> list[Vote]:
        """Return the votes of a reviewer with a number above `after`."""
        with self._lock:
            return [vote for vote in self._votes if vote.reviewer == reviewer and vote.seq > after]


def _write_all(file: int, data: bytes, at: int) -> None:
    while data:
        written = os.pwrite(file, data, at)
        data, at = data[written:], at + written


def _sync_folder(folder: Path) -> None:
    """Make sure that a file just created is still in its folder after a power cut."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
