"""Load a set of answer-grounding questions (docs/grsvqa.md): `questions.jsonl`, `images/`, optionally `SHA256SUMS`.

Every row is checked against its own instances, so that a set whose answers and boxes contradict each other never runs.
"""

import hashlib
import json
import os
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from pathlib import Path

import numpy as np

from georefusal_task.benchmarks.grounding_records import Gold, Question
from georefusal_task.core.errors import ConfigError, DataError
from georefusal_task.core.frames import Points
from georefusal_task.data_columns import MissingColumnError, quoted, row_id, some
from georefusal_task.data_files import Digests, find_image, read_sums, table_rows
from georefusal_task.data_problems import Problems, check_sum
from georefusal_task.grounding_rows import check_columns, read_row
from georefusal_task.image_files import glance

QUESTIONS = "questions.jsonl"
VARIABLE = "GRSVQA_DATA"


@dataclass(frozen=True)
class GroundingSet:
    """Questions and their answers, sorted by id, that passed every check of the loader."""

    questions: tuple[Question, ...]
    golds: tuple[Gold, ...]
    """In the order of `questions`."""
    digest: str
    """SHA-256 over questions, answers, instances and images; the same for any order of the rows."""
    source: str
    folder: Path
    warnings: tuple[str, ...] = ()

    @cached_property
    def by_id(self) -> dict[str, tuple[Question, Gold]]:
        """Id -> question and answer."""
        return {one.id: (one, gold) for one, gold in zip(self.questions, self.golds, strict=True)}


def load(path: Path | str | None = None) -> GroundingSet:
    """Return the set in the folder `path`, else in the one that GRSVQA_DATA names.

    Raises:
        ConfigError: neither is given; the message says how to make a set.
        DataError: the folder is not there, or what it holds is not sound; the message lists the first problems with
            file, line, id and value.
    """
    chosen, why = (path, "") if path else (os.environ.get(VARIABLE), f" ({VARIABLE})")
    if not chosen:
        raise ConfigError(
            f"no answer-grounding questions: set {VARIABLE} to a folder with {QUESTIONS} and images/. The published "
            "set has no known address; make one from any detection data set with `georefusal build grsvqa`, or "
            "evaluate grsvqa_mini, which needs no data"
        )
    folder = Path(os.path.abspath(Path(chosen).expanduser()))  # noqa: PTH100 -- resolve() would follow links
    if not (folder / QUESTIONS).is_file():
        there = "has no " + QUESTIONS if folder.is_dir() else "is not a folder" if folder.exists() else "is not there"
        raise DataError(f"{folder}{why} {there}; a set is made by `georefusal build grsvqa`")
    return _read_folder(folder, f"folder {folder}{why}")


def load_mini() -> GroundingSet:
    """Return the small set of real scenes that ships with this package."""
    return _read_folder(Path(__file__).parent / "assets" / "grsvqa_mini", "the G-RSVQA mini set of this package")


def _read_folder(folder: Path, source: str) -> GroundingSet:
    problems, digests = Problems(folder), Digests(folder)
    sums = read_sums(folder)
    check_sum(folder / QUESTIONS, folder, digests, sums, problems)
    found = _read_rows(folder, problems)
    for image in sorted({question.image for question, _ in found.values()}):
        check_sum(image, folder, digests, sums, problems)
    problems.stop()
    if not found:
        raise DataError(f"{folder / QUESTIONS} has no rows")
    ordered = [found[one] for one in sorted(found)]
    digest = _digest(ordered, digests)
    digests.save()
    questions, golds = zip(*ordered, strict=True)
    return GroundingSet(questions, golds, digest, source, folder, tuple(_repeated(questions)))


def _read_rows(folder: Path, problems: Problems) -> dict[str, tuple[Question, Gold]]:
    found: dict[str, tuple[Question, Gold]] = {}
    places: dict[str, str] = {}
    sizes: dict[Path, tuple[int, int]] = {}
    where = QUESTIONS
    try:
        for where, row in table_rows(folder / QUESTIONS, QUESTIONS):
            check_columns(row)
            with problems.at(f"{where} ({row_id(row)})"):
                question, gold = read_row(row, find_image(folder, _path(row["image"]), ""))
                if question.id in found:
                    raise ValueError(f"the id {quoted(question.id)} stands already in {places[question.id]}")
                _check_size(question, sizes)
                found[question.id], places[question.id] = (question, gold), where
    except MissingColumnError as error:
        problems.add(f"{where}: {error}")  # the rest of the file would only say it again
    except DataError as error:
        problems.add(str(error))
    return found


def _path(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError(f"the image {quoted(value)} is no path; paths are relative, such as images/<name>.png")
    return value


def _check_size(question: Question, sizes: dict[Path, tuple[int, int]]) -> None:
    if question.image not in sizes:
        try:
            sizes[question.image] = glance(question.image)
        except ValueError as error:
            raise ValueError(f"image {question.image.name}: {error}") from None
    width, height = sizes[question.image]
    if (width, height) != (question.width, question.height):
        raise ValueError(
            f"image {question.image.name} is {width} x {height} pixels, but the row says {question.width} x "
            f"{question.height}; the boxes belong to another version of the image"
        )


def _repeated(questions: Iterable[Question]) -> Iterator[str]:
    """Say which questions ask the same about the same file."""
    asked: defaultdict[tuple[Path, str], list[str]] = defaultdict(list)
    for one in questions:
        asked[one.image, one.question].append(one.id)
    return (f"the same question about the same image: {some(ids)}" for ids in asked.values() if len(ids) > 1)


def _digest(rows: list[tuple[Question, Gold]], digests: Digests) -> str:
    content = hashlib.sha256(b"georefusal grounding data 1\n")
    for question, gold in rows:
        outlines = [gold.instances[name] for name in question.classes]
        row = {**question.model_dump(mode="json"), "image": digests.sha256(question.image), "answer": gold.answer}
        row["corners"] = [[len(outline) for outline in found] for found in outlines]
        content.update(json.dumps(row, sort_keys=True).encode() + b"\n")
        content.update(np.fromiter(_numbers(outlines), dtype="<f8").tobytes())
    return content.hexdigest()


def _numbers(outlines: list[tuple[Points, ...]]) -> Iterator[float]:
    return chain.from_iterable(chain.from_iterable(chain.from_iterable(outlines)))
