"""`georefusal report`: one HTML file that shows where models fail, item by item."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from georefusal_task.commands import _report
from georefusal_task.commands._common import reports_errors, write_result


@reports_errors
def report(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN...", help=_report.RUN + " Several stand side by side.")],
    *,
    output: Annotated[
        Path, typer.Option("-o", "--output", metavar="FILE", help="Write the page here.", show_default=True)
    ] = Path("report.html"),
    task: _report.Task = None,
    data: _report.Data = None,
    provenance: _report.Provenance = None,
    floor: Annotated[
        Path | None,
        typer.Option("--floor", metavar="FILE", help="Replies of the question-only floor (georefusal floor)."),
    ] = None,
) -> None:
    """Write one self-contained HTML page about finished runs: figures, tables, and every item with its replies.

    The figures are those of `georefusal score`. The page needs no network and nothing beside it.
    """
    from georefusal_task.report.floor import NAME
    from georefusal_task.report.page import render
    from georefusal_task.report.runs import load_run, load_runs

    _report.check_out(output)
    loaded = load_runs(runs, data=data, task=task, provenance=provenance)
    _report.warn(loaded)
    bar = load_run(floor, data=loaded[0].benchmark, task=loaded[0].task, name=NAME) if floor else None
    page = render(loaded, floor=bar)
    write_result(output, page)
    print(
        f"{output}: {len(loaded)} run{'s' if len(loaded) > 1 else ''}, {len(page.encode()) / 1e6:.1f} MB",
        file=sys.stderr,
    )
