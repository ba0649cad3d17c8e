"""Load GeoRefusalBench, or any set in its layout, as validated items. Provenance is never read.

The released layout: `cases/<set>.jsonl`, `labels/<set>.jsonl`, `images/<set>/<id>.png`, optionally `SHA256SUMS`.
"""

import hashlib
import json
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import TypeVar

from georefusal_task.core.errors import DataError
from georefusal_task.core.records import Case, Intensity, Label
from georefusal_task.data_columns import MissingColumnError, read_case, read_label, row_id
from georefusal_task.data_files import Digests, find_image, read_sums, table_files, table_rows
from georefusal_task.data_problems import Problems, check_sum
from georefusal_task.data_source import locate
from georefusal_task.image_files import glance

Record = TypeVar("Record", Case, Label)

RELEASED_ITEMS, RELEASED_SETS, RELEASED_CONDITIONALS = 587, ("A", "B", "C"), 3
"""What the card says of the released set; another number of items or other sets make it somebody's own set."""

_SECOND_CLAUSE = re.compile(
    r"""[.?!;] \s* (?:and\W+|but\W+|then\W+)? if\b     # Is there a ship? If so, ...
      | \b(?:and|but|then) ,? \s+ if\b                # ..., and if so ...
      | , \s* if \s+ (?:so|yes|not|there|it|they)\b   # ..., if so ...
      | \bin \s+ (?:that|which) \s+ case\b""",
    re.IGNORECASE | re.VERBOSE,
)


@dataclass(frozen=True)
class Item:
    """One question about one image with its label."""

    case: Case
    label: Label
    image_sha256: str = ""
    """Digest of the bytes of the image file."""


@dataclass(frozen=True)
class Benchmark:
    """A set that passed every check of the loader, sorted by set and id."""

    items: tuple[Item, ...]
    digest: str
    """SHA-256 over cases, labels and images; the same for any spelling, file format or order of the same content."""
    source: str
    revision: str | None = None
    """The commit on the Hub; None for a folder."""
    warnings: tuple[str, ...] = ()
    folder: Path | None = None

    @cached_property
    def by_id(self) -> dict[str, Item]:
        """Id -> item."""
        return {item.case.id: item for item in self.items}


def load(path: Path | str | None = None) -> Benchmark:
    """Return the benchmark from `path`, else from the folder GEOREFUSAL_DATA names, else from the Hub.

    Images stay paths: their digests are taken (and remembered), they are decoded when they are handed over.

    Raises:
        DataError: nothing to load, or what is there is not sound; the message lists the first problems with file,
            line or id, and value.
    """
    source = locate(path)
    return _read_folder(source.folder, source.text, source.revision)


def load_mini() -> Benchmark:
    """Return the small set of real scenes that ships with this package, in the released layout."""
    return _read_folder(Path(__file__).parent / "assets" / "mini", "the mini set of this package", None)


def _read_folder(folder: Path, source: str, revision: str | None) -> Benchmark:
    problems = Problems(folder)
    digests, sums = Digests(folder), read_sums(folder)

    tables = {table: table_files(folder, table) for table in ("cases", "labels")}
    for file in (file for files in tables.values() for file in files):
        check_sum(file, folder, digests, sums, problems)
    problems.stop()

    cases = _read_table(folder, tables["cases"], partial(read_case, find_image=partial(find_image, folder)), problems)
    labels = _read_table(folder, tables["labels"], read_label, problems)
    problems.stop()
    if not cases:
        problems.add("its tables have no rows")
    for item_id in sorted(cases.keys() ^ labels.keys()):
        problems.add(f"{item_id}: the {'case has no label' if item_id in cases else 'label has no case'}")
    for case in cases.values():
        with problems.at(f"{case.id}: image {case.image.name}"):
            glance(case.image)
        check_sum(case.image, folder, digests, sums, problems)
    problems.stop()

    labels, warnings = _with_score_answer(cases, labels)
    ordered = sorted(cases, key=lambda item_id: (cases[item_id].set, item_id))
    items = tuple(Item(cases[i], labels[i], digests.sha256(cases[i].image)) for i in ordered)
    digests.save()
    return Benchmark(items, _digest(items), source, revision, tuple(warnings), folder)


def _read_table(folder: Path, files: list[Path], read: Callable[..., Record], problems: Problems) -> dict[str, Record]:
    """Return id -> record for all rows of a table."""
    records: dict[str, Record] = {}
    places: dict[str, str] = {}
    for file in files:
        try:
            for where, row in table_rows(file, str(file.relative_to(folder))):
                with problems.at(f"{where} ({row_id(row)})"):
                    record = read(row)
                    if record.id in records:
                        problems.add(f"{where}: the id {record.id!r} stands already in {places[record.id]}")
                    records[record.id], places[record.id] = record, where
        except MissingColumnError as error:
            problems.add(f"{where}: {error}")  # the rest of the file would only say it again
        except DataError as error:
            problems.add(str(error))
    return records


def _with_score_answer(cases: dict[str, Case], labels: dict[str, Label]) -> tuple[dict[str, Label], list[str]]:
    """Return the labels with `score_answer` resolved, and warnings.

    Source: the card leaves three LOW items of batch B, which ask a conditional follow-up question, out of answer-level
    metrics without naming them. A column decides where there is one. Else, in the released set, the wording does.
    """
    if any(label.score_answer is not None for label in labels.values()):
        return _marked(labels, lambda label: label.score_answer is not False), []
    counts = Counter(label.set for label in labels.values())
    if counts.total() != RELEASED_ITEMS or tuple(sorted(counts)) != RELEASED_SETS:
        return _marked(labels, lambda _: True), []
    asked = sorted(
        label.id
        for label in labels.values()
        if label.set == "B" and label.intensity == Intensity.LOW and _SECOND_CLAUSE.search(cases[label.id].question)
    )
    named = f"LOW items of B with a conditional second clause: {', '.join(asked) or 'none'}"
    if len(asked) != RELEASED_CONDITIONALS:
        expected = f"the card speaks of {RELEASED_CONDITIONALS}"
        return labels, [f"{named}; {expected}, so answer-level metrics are undefined"]
    return _marked(labels, lambda label: label.id not in asked), [f"{named}; left out of answer-level metrics"]


def _marked(labels: dict[str, Label], scored: Callable[[Label], bool]) -> dict[str, Label]:
    return {i: label.model_copy(update={"score_answer": scored(label)}) for i, label in labels.items()}


def _digest(items: tuple[Item, ...]) -> str:
    content = hashlib.sha256(b"georefusal data 1\n")
    for item in items:
        row = {"question": item.case.question, "image": item.image_sha256, **item.label.model_dump(mode="json")}
        content.update(json.dumps(row, sort_keys=True).encode() + b"\n")
    return content.hexdigest()
