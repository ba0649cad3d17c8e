"""What a build is going to make: one job for each base question and lever, and the file that lists them."""

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from georefusal_build.asking import Scope
from georefusal_build.questions import Candidate, Kind
from georefusal_build.scenes import Window
from georefusal_task.core.errors import DataError
from georefusal_task.core.records import Intensity, lever_family

Cell = tuple[str, int]
"""What a crossed question asks for ("colour" or "plain"), and whether the image is reduced (0, 1)."""


@dataclass(frozen=True)
class Partner:
    """The other question about the same finished image. lever_id: its lever, of the same family."""

    base: Candidate
    lever_id: str


@dataclass(frozen=True)
class Job:
    """One candidate to be made.

    kind: how a negative was chosen. variants: of an image lever, in the order in which attempts go through them.
    step: decimation that a pair shares. cell: of a crossed image lever. partner: an item is made only where the
    partner's is made from the same image.
    """

    base: Candidate
    lever_id: str
    kind: Kind | None = None
    variants: tuple[str, ...] = ()
    step: float | None = None
    cell: Cell | None = None
    partner: Partner | None = None

    @property
    def key(self) -> str:
        """`base_id|lever_id`, unique in a plan; the attempt that succeeds completes it to the item's row key."""
        return f"{self.base.id}|{self.lever_id}"

    @property
    def family(self) -> str:
        """The lever's family."""
        return lever_family(self.lever_id) or ""

    @property
    def intensity(self) -> Intensity:
        """The lever's intensity."""
        return Intensity(self.lever_id.rpartition("_")[2].upper())

    @property
    def tile_id(self) -> str:
        """The tile's id, shared by all that is asked of one image."""
        return tile_id(self.base)

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON values; `from_json` gives back an equal job."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> "Job":
        """Return the job that `to_json` wrote.

        Raises: KeyError, TypeError or ValueError where the data have another form.
        """
        partner = data["partner"]
        return cls(
            base=_candidate(data["base"]),
            lever_id=str(data["lever_id"]),
            kind=Kind(data["kind"]) if data["kind"] else None,
            variants=tuple(data["variants"]),
            step=data["step"],
            cell=(str(data["cell"][0]), int(data["cell"][1])) if data["cell"] else None,
            partner=Partner(_candidate(partner["base"]), str(partner["lever_id"])) if partner else None,
        )


def tile_id(base: Candidate) -> str:
    """Return the id of the tile that a base question is about."""
    x, y, width, height = base.window
    return f"{base.scene_id}@{x},{y},{width}x{height}"


def write_jobs(jobs: Iterable[Job], path: Path) -> None:
    """Write one job per line; the same jobs give the same bytes."""
    lines = (json.dumps(job.to_json(), sort_keys=True, ensure_ascii=False) + "\n" for job in jobs)
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8") as file:
        file.writelines(lines)


def read_jobs(path: Path) -> tuple[Job, ...]:
    """Return the jobs of a file that `write_jobs` wrote.

    Raises: DataError with file and line when it holds anything else.
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror}); make it with `georefusal build plan`") from error
    return tuple(_job(line, f"{path}, line {number}") for number, line in enumerate(lines, 1))


def _job(line: str, where: str) -> Job:
    try:
        return Job.from_json(json.loads(line))
    except (KeyError, TypeError, ValueError, IndexError) as error:
        raise DataError(f"{where}: is no job of a plan ({error!r}); plan again") from error


def _candidate(data: dict[str, Any]) -> Candidate:
    window: Window = tuple(map(int, data["window"]))  # type: ignore[assignment]
    scope: Scope = data["scope"]
    kinds = tuple(Kind(kind) for kind in data["kinds"])
    return Candidate(data["scene_id"], data["source"], window, data["class_name"], scope, data["answer"], kinds)
