"""`georefusal score`: every figure again, from the replies alone."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from georefusal_task.commands._common import reports_errors, write_result

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
) -> None:
    """Score replies without a model and without the harness; the figures equal the harness's to the last digit.

    Items without a reply make a partial run: n of N is shown. Failed requests stay in n and count as wrong; above 1 %
    of them the exit status is 3, once everything is written.
    """
    from json import dumps

    from tqdm import tqdm

    from georefusal_task import data as loader
    from georefusal_task.commands.score_table import lines
    from georefusal_task.core.errors import ConfigError
    from georefusal_task.replies import find_replies, made_from, read_clusters, read_replies, score_replies
    from georefusal_task.tasks_table import DEFAULT_TASK, get_task, summed_up

    if json and not json.parent.is_dir():
        raise ConfigError(f"--json {json}: there is no folder {json.parent}")
    file, named = find_replies(file, task)
    spec = get_task(named or DEFAULT_TASK, own_set=data is not None)
    benchmark = loader.load_mini() if spec.mini and data is None else loader.load(data)
    replies = read_replies(file, benchmark.by_id)
    # disable=None: no bar unless a person is watching
    rows = score_replies(
        benchmark.by_id, replies, spec.asks.reply, track=lambda ids: tqdm(ids, "reading replies", disable=None)
    )
    summary = summed_up(spec, rows, read_clusters(clusters) if clusters else None)
    meta = made_from(spec, benchmark) | {"models": sorted({said.model for said in replies.values() if said.model})}
    if json:
        write_result(json, dumps(summary.to_json(meta), indent=2, allow_nan=False) + "\n")
    for warning in benchmark.warnings:
        print(f"warning: {warning}", file=sys.stderr)
    print("\n".join(lines(summary, meta)))
    failed = summary.metrics["host_error_rate"]
    if (failed.value or 0) > TOO_MANY_FAILED:
        print(
            f"warning: {failed.count} of {failed.n} requests failed in the harness and count as wrong: run them again",
            file=sys.stderr,
        )
        raise typer.Exit(3)
