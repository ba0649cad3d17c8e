"""`georefusal score`: every figure again, from the replies alone."""

import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from georefusal_task.commands._common import reports_errors, write_result
from georefusal_task.commands._report import FrameOption

if TYPE_CHECKING:
    from georefusal_task.benchmarks.summary import Summary
    from georefusal_task.replies import ItemReplies

TOO_MANY_FAILED = 0.01
"""Above this share of failed requests the figures say little about the model: the exit status is 3."""


@reports_errors
def score(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE", help='JSONL {"id", "text"}, a sample log of lmms-eval, or its folder of results.'
        ),
    ],
    *,
    task: Annotated[
        str | None,
        typer.Option("--task", help="Task that the replies answer; else from the log's name, else georefusalbench."),
    ] = None,
    data: Annotated[
        Path | None, typer.Option("--data", help="Folder of the benchmark, or of a set of your own in its layout.")
    ] = None,
    json: Annotated[Path | None, typer.Option("--json", metavar="OUT", help="Also write all figures here.")] = None,
    clusters: Annotated[
        Path | None,
        typer.Option(
            "--clusters",
            metavar="FILE",
            help='JSONL {"id", "cluster"}: which items share a base question or image, for the intervals and the test.',
        ),
    ] = None,
    frame: FrameOption = None,
    extractor: Annotated[
        str | None,
        typer.Option(
            "--extractor",
            metavar="URL,MODEL",
            help="OpenAI-compatible server and model that read answers which the strict reader cannot (grsvqa tasks).",
        ),
    ] = None,
) -> None:
    """Score replies without a model and without the harness; the figures equal the harness's to the last digit.

    Boxes (grsvqa tasks) are read in the coordinate frame that they were asked for in: a host's log and an export name
    it in every line; for other files give --frame or GEOREFUSAL_FRAME. Intervals are clustered by image there.

    Items without a reply make a partial run: n of N is shown. Failed requests stay in n and count as wrong; above 1 %
    of them the exit status is 3, once everything is written.
    """
    from json import dumps

    from georefusal_task.core.errors import ConfigError
    from georefusal_task.grounding_tasks import GROUNDING_TASKS
    from georefusal_task.replies import find_replies
    from georefusal_task.tasks_table import DEFAULT_TASK

    if json and not json.parent.is_dir():
        raise ConfigError(f"--json {json}: there is no folder {json.parent}")
    file, named = find_replies(file, task)
    name = named or DEFAULT_TASK
    if name in GROUNDING_TASKS:
        if clusters:
            raise ConfigError(f"{name} is clustered by image already; leave --clusters out")
        scored = _scored_grounding(file, name, data, frame, extractor)
    else:
        if frame or extractor:
            raise ConfigError(f"{name} asks for no boxes; leave --{'frame' if frame else 'extractor'} out")
        scored = _scored(file, name, data, clusters)
    if json:
        write_result(json, dumps(scored.summary.to_json(scored.meta), indent=2, allow_nan=False) + "\n")
    for warning in scored.warnings:
        print(f"warning: {warning}", file=sys.stderr)
    print("\n".join(scored.lines))
    failed = scored.summary.metrics["host_error_rate"]
    if (failed.value or 0) > TOO_MANY_FAILED:
        print(
            f"warning: {failed.count} of {failed.n} requests failed in the harness and count as wrong: run them again",
            file=sys.stderr,
        )
        raise typer.Exit(3)


class Scored(NamedTuple):
    """What was made of a reply file."""

    summary: "Summary"
    meta: dict[str, Any]
    warnings: Sequence[str]
    lines: Iterable[str]


def _scored(file: Path, name: str, data: Path | None, clusters: Path | None) -> Scored:
    from georefusal_task import data as loader
    from georefusal_task.commands.score_table import lines
    from georefusal_task.replies import made_from, read_clusters, read_replies, score_replies
    from georefusal_task.tasks_table import get_task, summed_up

    spec = get_task(name, own_set=data is not None)
    benchmark = loader.load_mini() if spec.mini and data is None else loader.load(data)
    replies = read_replies(file, benchmark.by_id)
    rows = score_replies(benchmark.by_id, replies, spec.asks.reply, track=_progress)
    summary = summed_up(spec, rows, read_clusters(clusters) if clusters else None)
    meta = made_from(spec, benchmark) | {"models": _models(replies)}
    return Scored(summary, meta, benchmark.warnings, lines(summary, meta))


def _scored_grounding(file: Path, name: str, data: Path | None, frame: str | None, setting: str | None) -> Scored:
    from georefusal_task.benchmarks.grounding_reading import read_turn
    from georefusal_task.commands.score_grounding_table import lines
    from georefusal_task.core.extractor import extractor_of
    from georefusal_task.grounding_extraction import ExtractingReader
    from georefusal_task.grounding_replies import frame_of, made_from, score_replies
    from georefusal_task.grounding_tasks import GROUNDING_TASKS, load_set, requests
    from georefusal_task.replies import read_replies

    task = GROUNDING_TASKS[name]
    questions = load_set(task, data)
    replies = read_replies(file, {request.id for request in requests(task, questions)})
    chosen = frame_of(replies, frame)
    extractor = extractor_of(setting or "", cache=file.with_name(f"{file.name}.extracted"))
    reader = ExtractingReader(extractor) if extractor else None
    summary = score_replies(task, questions, replies, chosen, read=reader or read_turn, track=_progress)
    meta = made_from(task, questions, chosen) | {"models": _models(replies), "extractor": reader and reader.report()}
    return Scored(summary, meta, questions.warnings, lines(summary, meta))


def _models(replies: "Mapping[str, ItemReplies]") -> list[str]:
    return sorted({said.model for said in replies.values() if said.model})


def _progress(ids: Iterable[str]) -> Iterable[str]:
    from tqdm import tqdm

    passed: Iterable[str] = tqdm(ids, "reading replies", disable=None)  # None: no bar unless a person is watching
    return passed
