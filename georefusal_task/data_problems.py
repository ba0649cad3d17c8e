"""What is wrong with a set, collected while it is read."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pydantic import ValidationError

from georefusal_task.core.errors import DataError
from georefusal_task.data_columns import MissingColumnError, quoted
from georefusal_task.data_files import Digests

_SHOWN = 10


class Problems:
    """Collects what is wrong, so that one run shows more than the first of many."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lines: list[str] = []

    def add(self, problem: str) -> None:
        """Note one problem."""
        self._lines.append(problem)

    @contextmanager
    def at(self, where: str) -> Iterator[None]:
        """Turn a wrong value inside the block into a problem at this place; a missing column passes through."""
        try:
            yield
        except ValidationError as error:
            wrong = [(".".join(map(str, e["loc"])), quoted(e["input"]), e["msg"]) for e in error.errors()]
            self.add(f"{where}: " + "; ".join(f"{column} {value}: {why}".lstrip() for column, value, why in wrong))
        except MissingColumnError:
            raise
        except ValueError as error:
            self.add(f"{where}: {error}")

    def stop(self) -> None:
        """Raise the DataError that lists the problems, if there are any."""
        if not self._lines:
            return
        more = len(self._lines) - _SHOWN
        shown = [*self._lines[:_SHOWN], *([f"... and {more} more"] if more > 0 else [])]
        raise DataError("\n  ".join([f"{self._folder} is not sound:", *shown]))


def check_sum(file: Path, folder: Path, digests: Digests, sums: dict[str, str], problems: Problems) -> None:
    """Note a file whose bytes differ from what SHA256SUMS says of it."""
    if not file.is_relative_to(folder):
        return  # unpacked from a table
    name = file.relative_to(folder).as_posix()
    if name in sums and digests.sha256(file) != sums[name]:
        problems.add(f"{name}: SHA256SUMS says {sums[name]}, the file has {digests.sha256(file)}; get it again")
