"""What every reader of annotated images has in common: options, errors, the report, the protocol."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from georefusal_build.scenes import Modality, Scene
from georefusal_build.sun import Sun
from georefusal_task.core.errors import ConfigError, DataError

EVERY_CLASS = "*"
"""In `ReadOptions.complete`: every class that the source names."""

_KEPT_PROBLEMS = 1000


class SourceError(DataError):
    """An annotation or image file cannot be used; names the file and the line or field."""

    def __init__(self, path: Path, message: str, place: str = "") -> None:
        self.path, self.place = path, place
        super().__init__(f"{path}{f', {place}' if place else ''}: {message}")


@dataclass
class ReadReport:
    """What a reader left out, and why: nothing is skipped in silence.

    counts: how often per kind ("file", "image", "annotation"); problems: the first thousand messages.
    """

    counts: Counter[str] = field(default_factory=Counter)
    problems: list[str] = field(default_factory=list)

    def add(self, kind: str, error: SourceError) -> None:
        """Record one thing that was skipped."""
        self.counts[kind] += 1
        if len(self.problems) < _KEPT_PROBLEMS:
            self.problems.append(str(error))

    def skip(self, annotation: Path, error: SourceError) -> None:
        """Record that a whole scene was skipped: the fault is the annotation file's, or else the image's."""
        self.add("file" if error.path == annotation else "image", error)

    def summary(self) -> str:
        """One line for the console."""
        told = ", ".join(f"{count} {kind}{'s' if count != 1 else ''}" for kind, count in sorted(self.counts.items()))
        return f"skipped: {told or 'nothing'}"


@dataclass(frozen=True)
class ReadOptions:
    """What the files cannot say about themselves. Each source lists the ones it uses; any other is an error.

    modality, gsd_m, sun: used where the annotation states none.
    complete: classes that the user vouches for as annotated exhaustively (`{"*"}`: all that the source names).
    verified_absent: classes that the user vouches for as absent from every image.
    version: which edition or flavour of a source to read.
    first_pixel: number of the first pixel in box coordinates, 0 or 1.
    subsources: file that says which collection an image of a merged source came from.
    licence, notice: terms and attribution, carried into provenance.
    """

    modality: Modality | None = None
    gsd_m: float | None = None
    complete: frozenset[str] | None = None
    verified_absent: frozenset[str] | None = None
    version: str | None = None
    first_pixel: int | None = None
    subsources: Path | None = None
    sun: Sun | None = None
    licence: str | None = None
    notice: str | None = None

    def given(self) -> set[str]:
        """Names of the options that were set."""
        return {name for name, value in vars(self).items() if value is not None}

    def vouched(self, named: frozenset[str]) -> frozenset[str]:
        """`complete` with `*` replaced by the classes that the source names."""
        complete = self.complete or frozenset()
        return named | (complete - {EVERY_CLASS}) if EVERY_CLASS in complete else complete


class Reader(Protocol):
    """A function that reads a folder lazily, in an order that depends on file names only."""

    def __call__(self, root: Path, options: ReadOptions, report: ReadReport) -> Iterator[Scene]:
        """Yield the scenes below `root`; add whatever cannot be used to `report` and go on."""


@dataclass(frozen=True)
class Source:
    """One format and what is known about data that come in it.

    layout: what is looked for below the root. completeness: when the lack of a box means the lack of an object.
    checked: how far the reader was compared with real files of the source. options: names of `ReadOptions` in use;
    versions: values of `version`, the first being the default.
    """

    name: str
    title: str
    reader: Reader
    layout: str
    outline: str
    completeness: str
    licence: str
    checked: str
    options: frozenset[str] = frozenset()
    versions: tuple[str, ...] = ()

    def read(self, root: Path, options: ReadOptions | None = None, report: ReadReport | None = None) -> Iterator[Scene]:
        """Yield the scenes below `root`, one after the other.

        Raises: ConfigError for an option that this source does not know; SourceError when `root` holds nothing that
        this source could read. Whatever is wrong with single files goes to `report`.
        """
        options, report = options or ReadOptions(), report if report is not None else ReadReport()
        unknown = options.given() - self.options - {"licence", "notice"}
        if unknown:
            known = ", ".join(sorted(self.options | {"licence", "notice"}))
            why = f". What is complete follows from the format: {self.completeness}" if "complete" in unknown else ""
            raise ConfigError(f"source '{self.name}' has no option {', '.join(sorted(unknown))}; it knows {known}{why}")
        if options.version is not None and options.version not in self.versions:
            raise ConfigError(
                f"source '{self.name}' has no version '{options.version}'; choose one of {', '.join(self.versions)}"
            )
        if not root.exists():
            raise SourceError(root, "does not exist; give the folder that holds images and annotations")
        return self._started(root, options, report)

    def _started(self, root: Path, options: ReadOptions, report: ReadReport) -> Iterator[Scene]:
        seen: set[str] = set()
        for scene in self.reader(root, options, report):
            if scene.id in seen:
                report.add("file", SourceError(scene.image, "is annotated by more than one file; the first one counts"))
                continue
            seen.add(scene.id)
            yield scene
        if not seen:
            hint = f"the first problem: {report.problems[0]}" if report.problems else _contents(root)
            kind = f"source '{self.name}'{f', version {options.version!r},' if options.version else ''}"
            raise SourceError(root, f"no scene of {kind} was found; expected {self.layout}; {hint}")


def _contents(root: Path) -> str:
    """What lies there instead, by the names' endings."""
    kinds = Counter(path.suffix.lower() or path.name for path in [root, *root.rglob("*")] if path.is_file())
    return f"it holds {', '.join(f'{count} {kind}' for kind, count in kinds.most_common(5)) or 'no file'}"
