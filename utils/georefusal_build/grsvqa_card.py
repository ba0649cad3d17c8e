"""The README of a set of answer-grounding questions: every number in it is counted from the rows."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from georefusal_build.grsvqa_config import GrsvqaConfig
from georefusal_build.markdown import table
from georefusal_task.benchmarks.grounding_records import QuestionType

_NAMED = 30
"""Up to how many source images are listed one by one."""

_HEAD = """\
---
license: other
task_categories: [visual-question-answering]
language: [en]
configs:
  - config_name: default
    data_files:
      - split: test
        path: questions.jsonl
---

# {name}

{about}
{questions} questions about {images} images: is there one, how many, are there more, fewer or as many of one class as of
another, and for each question every annotated instance of the classes that it asks about. One row of `questions.jsonl`
is one question; the columns are those of docs/grsvqa.md of GeoRefusal. Made by `georefusal build grsvqa`; the file
`summary.json` says what was possible and what was rejected for which reason.

- An answer follows from the annotation. Only classes are asked about of which every instance is annotated, or which
  are known to be absent.
- Counted and compared are whole objects with a shorter side of at least {min_side} pixels, up to {maximum} of a class.
  A difficult, truncated or cut one, or one of a class that might pass for it, keeps the question out.
- Unequal counts are compared when they differ by more than {margin} % of the larger one.
- Questions that share `image_id` come from one source image; they are not independent.

## Counts

"""


def card(config: GrsvqaConfig, rows: Sequence[Mapping[str, Any]], summary: Mapping[str, Any]) -> str:
    """Return the README in Markdown."""
    head = _HEAD.format(
        name=config.name,
        about=config.about.strip() + "\n" if config.about.strip() else "",
        questions=len(rows),
        images=summary["images"],
        min_side=f"{config.min_side_px:g}",
        maximum=config.maximum,
        margin=f"{100 * config.margin:g}",
    )
    return head + _counts(rows) + "\n## Sources, licences and notices\n\n" + _sources(rows)


def _counts(rows: Sequence[Mapping[str, Any]]) -> str:
    cells = Counter((row["type"], row["answer"]) for row in rows)
    types = [type_ for type_ in QuestionType if type_ is not QuestionType.COUNTING]
    yes_no = [[t, cells[t, "yes"], cells[t, "no"]] for t in types]
    numbers = sorted((int(answer), n) for (type_, answer), n in cells.items() if type_ == QuestionType.COUNTING)
    classes: Counter[str] = Counter(name for row in rows for name in sorted(row["classes"]))
    return (
        _table(["type", "yes", "no"], yes_no)
        + "\n"
        + _table(["count", *(str(number) for number, _ in numbers)], [["questions", *(n for _, n in numbers)]])
        + "\n"
        + _table(["class", "questions that name it"], classes.most_common())
    )


def _sources(rows: Sequence[Mapping[str, Any]]) -> str:
    terms: dict[str, tuple[str, str]] = {row["image_id"]: (row["licence"], row["notice"]) for row in rows}
    questions = Counter(str(row["image_id"]) for row in rows)
    if len(terms) <= _NAMED:
        lines = [[f"`{name}`", questions[name], licence, notice] for name, (licence, notice) in sorted(terms.items())]
        return _table(["source image", "questions", "licence", "notice"], lines)
    groups = Counter(terms.values())
    lines = [[n, licence, notice] for (licence, notice), n in sorted(groups.items())]
    return _table(["source images", "licence", "notice"], lines)


def _table(header: Sequence[object], rows: Iterable[Sequence[object]]) -> str:
    return table(header, rows) + "\n"
