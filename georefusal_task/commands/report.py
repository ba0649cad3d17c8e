"""`georefusal report`: one HTML file that shows where models fail, item by item."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from georefusal_task.commands import _report
from georefusal_task.commands._common import reports_errors, write_result
from georefusal_task.core.errors import ConfigError


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
    frame: _report.FrameOption = None,
) -> None:
    """Write one self-contained HTML page about finished runs: figures, tables, and every item with its replies.

    The figures are those of `georefusal score`. The page needs no network and nothing beside it. Runs of the grsvqa
    tasks get a page of their own kind, with annotated and predicted boxes drawn on the images.
    """
    from georefusal_task.report.grounding_runs import asks_for_boxes

    _report.check_out(output)
    if asks_for_boxes(runs, task):
        if provenance or floor:
            raise ConfigError("runs that draw boxes are clustered by image already and have no question-only floor")
        page, count = _with_boxes(runs, task, data, frame)
    else:
        if frame:
            raise ConfigError("these runs draw no boxes; leave --frame out, or name the --task of a reply file")
        page, count = _with_verdicts(runs, task, data, provenance, floor)
    write_result(output, page)
    size = len(page.encode()) / 1e6
    print(f"{output}: {count} run{'s' if count > 1 else ''}, {size:.1f} MB", file=sys.stderr)


def _with_verdicts(
    runs: list[Path], task: str | None, data: Path | None, provenance: Path | None, floor: Path | None
) -> tuple[str, int]:
    from georefusal_task.report.floor import NAME
    from georefusal_task.report.page import render
    from georefusal_task.report.runs import load_run, load_runs

    loaded = load_runs(runs, data=data, task=task, provenance=provenance)
    _report.warn(loaded)
    bar = load_run(floor, data=loaded[0].benchmark, task=loaded[0].task, name=NAME) if floor else None
    return render(loaded, floor=bar), len(loaded)


def _with_boxes(runs: list[Path], task: str | None, data: Path | None, frame: str | None) -> tuple[str, int]:
    from georefusal_task.report.grounding_runs import load_grounding_runs
    from georefusal_task.report.page_grounding import render
    from georefusal_task.report.page_grounding_scores import warnings
    from georefusal_task.report.texts import visible

    loaded = load_grounding_runs(runs, data=data, task=task, frame=frame)
    for warning in warnings(loaded):
        print(f"warning: {visible(warning, 400)}", file=sys.stderr)
    return render(loaded), len(loaded)
