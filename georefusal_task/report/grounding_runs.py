"""Finished runs of the tasks that ask for boxes: `load_grounding_runs(paths)`; the figures are those of `score`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

from georefusal_task.benchmarks.grounding import GroundingRow, GroundingSummary, summarise
from georefusal_task.benchmarks.grounding_prompts import Turn
from georefusal_task.benchmarks.grounding_reading import read_turn
from georefusal_task.core.errors import ConfigError
from georefusal_task.core.frames import Frame, Points
from georefusal_task.grounding_data import GroundingSet
from georefusal_task.grounding_replies import described, frame_of, joined, outcome
from georefusal_task.grounding_tasks import GROUNDING_TASKS, GroundingTask, Request, load_set, requests
from georefusal_task.replies import ItemReplies
from georefusal_task.report.logs import Log, Meta, find_logs
from georefusal_task.report.runs import doubts, told_apart
from georefusal_task.tasks_table import TASKS


@dataclass(frozen=True)
class GroundingRun:
    """One model's replies to one task, scored."""

    name: str
    """What tables call it: the model, or what the user says. Untrusted text."""
    task: GroundingTask
    frame: Frame
    rows: tuple[GroundingRow, ...]
    """Scored questions in order of their ids."""
    incomplete: int
    """Questions with a reply to only one of their two turns, which have no row."""
    replies: Mapping[str, ItemReplies] = field(repr=False)
    """By the id of each request."""
    questions: GroundingSet = field(repr=False)
    meta: Meta = field(default_factory=Meta)
    warnings: tuple[str, ...] = ()
    path: Path | None = field(default=None, repr=False)

    @property
    def n(self) -> int:
        """Questions that are scored."""
        return len(self.rows)

    @property
    def n_total(self) -> int:
        """Questions of the data set."""
        return len(self.questions.questions)

    @cached_property
    def by_id(self) -> dict[str, GroundingRow]:
        """Question id -> scored row."""
        return {row.id: row for row in self.rows}

    @cached_property
    def summary(self) -> GroundingSummary:
        """Every figure of the run, with intervals clustered by image."""
        return summarise(self.rows, incomplete=self.incomplete)

    @property
    def prompt(self) -> str:
        """Names of the prompts and the digest of what the model was told: as recorded, else as it would be today."""
        about = described(self.task, self.questions, self.frame)
        return f"{about['prompt']} {(self.meta.prompt_sha256 or about['prompt_sha256'])[:12]}"

    @property
    def data_digest(self) -> str:
        """Digest of the data that the model was run on: as recorded, else of the data it is scored with."""
        return self.meta.data_digest or self.questions.digest

    def texts(self, item: str) -> dict[Turn, str]:
        """Return the raw reply to each turn of a scored question. Untrusted text."""
        asked = {turn: Request(*self.questions.by_id[item], turn).id for turn in self.task.turns}
        return {turn: self.replies[request].texts[0] for turn, request in asked.items()}

    def regions(self, item: str) -> tuple[Points, ...]:
        """Return what the model drew for a scored question: polygons in pixels of the original image."""
        question, _ = self.questions.by_id[item]
        *_, (turn, text) = self.texts(item).items()  # boxes stand in the last turn
        return read_turn(text, turn, question, self.frame).regions


def asks_for_boxes(paths: Sequence[Path], task: str | None = None) -> bool:
    """Return whether these are runs of the tasks that ask for boxes.

    Raises:
        ConfigError: some are and others are not, so that `task` must say which are meant.
        GeoRefusalError: as `find_logs`.
    """
    if task:
        return task in GROUNDING_TASKS
    logs = [log for path in paths for log in find_logs(path)]
    known = [log for log in logs if log.task in GROUNDING_TASKS or log.task in TASKS or log.task is None]
    answers = {log.task in GROUNDING_TASKS for log in known}
    if len(answers) > 1:
        listed = "\n  ".join(f"{log.path} (--task {log.task or 'NAME'})" for log in known)
        raise ConfigError(f"these are runs of two benchmarks; choose one with --task:\n  {listed}")
    return answers == {True}


def load_grounding_runs(
    paths: Sequence[Path], *, data: Path | None = None, task: str | None = None, frame: str | None = None
) -> list[GroundingRun]:
    """Return a run for each log of a grounding task at the paths, in their order, each with a name of its own.

    Args:
        paths: folders of a harness's results, sample logs or reply files.
        data: folder of the questions, else the usual order of the loader.
        task: the one task to take; what a reply file answers.
        frame: coordinate frame of the boxes, where the replies do not name it.

    Raises:
        ConfigError: no log of such a task, or a frame that is not known.
        DataError: something in the files is not what it should be.
    """
    logs = [log for path in paths for log in _chosen(path, task)]
    asked = [GROUNDING_TASKS[task or log.task or ""] for log in logs]
    sets = {spec.mini: load_set(spec, data) for spec in {spec.mini: spec for spec in asked}.values()}
    runs = [_scored(log, spec, sets[spec.mini], frame) for log, spec in zip(logs, asked, strict=True)]
    several = len({run.task.name for run in runs}) > 1
    names = told_apart(f"{run.name}, {run.task.name}" if several else run.name for run in runs)
    return [replace(run, name=name) for run, name in zip(runs, names, strict=True)]


def _chosen(path: Path, task: str | None) -> list[Log]:
    logs = find_logs(path)
    chosen = [log for log in logs if (log.task or task) in ([task] if task else GROUNDING_TASKS)]
    if not chosen:
        listed = "\n  ".join(f"{log.path} ({log.task or 'a reply file; name its --task'})" for log in logs)
        raise ConfigError(f"{path} holds no log of {task or ' or '.join(GROUNDING_TASKS)}:\n  {listed}")
    return chosen


def _scored(log: Log, task: GroundingTask, questions: GroundingSet, named: str | None) -> GroundingRun:
    asked = {request.id: request for request in requests(task, questions)}
    replies = log.read(asked)
    frame = frame_of(replies, named or log.meta.frame)
    rows, incomplete = joined(outcome(asked[one], said.texts[0], frame) for one, said in replies.items())
    about = described(task, questions, frame)
    models = sorted({said.model for said in replies.values() if said.model})
    meta = log.meta if log.meta.model else replace(log.meta, model=", ".join(models) or None)
    return GroundingRun(
        name=log.name or meta.model or log.path.stem,
        task=task,
        frame=frame,
        rows=tuple(sorted(rows, key=lambda row: row.id)),
        incomplete=incomplete,
        replies=replies,
        questions=questions,
        meta=meta,
        warnings=(
            *questions.warnings,
            *doubts(log.meta, questions.digest, about["prompt"], about["prompt_sha256"]),
        ),
        path=log.path,
    )
