"""`georefusal floor`: what the wording of the questions alone is worth."""

from pathlib import Path
from typing import Annotated

import typer

from georefusal_task.commands import _report
from georefusal_task.commands._common import reports_errors, write_result


@reports_errors
def floor(
    *,
    task: Annotated[
        str | None, typer.Option("--task", help="Task whose items to take: georefusalbench_mini, or one of your own.")
    ] = None,
    data: _report.Data = None,
    provenance: _report.Provenance = None,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="FILE", help="Write the replies here (JSONL), for leaderboard --floor."),
    ] = None,
    json: Annotated[Path | None, typer.Option("--json", metavar="OUT", help="Write all figures here.")] = None,
) -> None:
    """Score a text classifier that never sees an image: a model must beat it to have looked.

    TF-IDF and logistic regression, predicted in folds that part no image, no base question and no wording. Needs the
    extra `report`.
    """
    from json import dumps

    from georefusal_task import data as loader
    from georefusal_task.commands.score_table import lines
    from georefusal_task.replies import made_from
    from georefusal_task.report.floor import question_only_floor, reply_lines
    from georefusal_task.report.provenance import load_provenance
    from georefusal_task.tasks_table import DEFAULT_TASK, get_task

    for out in (output, json):
        _report.check_out(out)
    spec = get_task(task or DEFAULT_TASK, own_set=data is not None)
    benchmark = loader.load_mini() if spec.mini and data is None else loader.load(data)
    run = question_only_floor(benchmark, load_provenance(provenance) if provenance else None, spec)
    _report.warn([run])
    if output:
        write_result(output, reply_lines(run))
    meta = made_from(run.spec, benchmark) | {"models": [run.name]}
    if json:
        write_result(json, dumps(run.summary.to_json(meta), indent=2, allow_nan=False) + "\n")
    print("\n".join(lines(run.summary, meta)))
