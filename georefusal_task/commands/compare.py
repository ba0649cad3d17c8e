"""`georefusal compare`: whether two runs differ by more than chance, and where."""

from pathlib import Path
from typing import Annotated

import typer

from georefusal_task.commands import _report
from georefusal_task.commands._common import reports_errors

_FORMS = {".md": "markdown", ".json": "json"}


@reports_errors
def compare(
    first: Annotated[Path, typer.Argument(metavar="A", help=_report.RUN)],
    second: Annotated[Path, typer.Argument(metavar="B", help="The run that A is compared with.")],
    *,
    task: _report.Task = None,
    data: _report.Data = None,
    provenance: _report.Provenance = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="FILE", help="Write .md, or .json with every item, here.")
    ] = None,
    flips: Annotated[int, typer.Option("--flips", min=0, help="How many items with one alone right to list.")] = 20,
    force: _report.Force = False,
) -> None:
    """Compare two runs on the items that both have: difference, interval, test, groups, agreement.

    Runs on other data, prompts or images are refused: their difference would not be one between models.
    """
    from json import dumps

    from georefusal_task.report.paired import compare as compare_runs
    from georefusal_task.report.paired_text import text
    from georefusal_task.report.runs import load_runs

    _report.check_out(output)
    form = _report.suffix_of(output, _FORMS)
    one, other = _report.exactly(2, load_runs([first, second], data=data, task=task, provenance=provenance))
    _report.warn([one, other])
    found = compare_runs(one, other, force=force)
    shown = dumps(found.to_json(), indent=2, allow_nan=False) if form == "json" else text(found, form, flips=flips)
    _report.deliver(shown, output)
