"""`georefusal leaderboard`: many runs in an order that the data bear out."""

import re
from pathlib import Path
from typing import Annotated

import typer

from georefusal_task.commands import _report
from georefusal_task.commands._common import reports_errors
from georefusal_task.core.errors import ConfigError

_FORMS = {".md": "markdown", ".tex": "latex", ".html": "html", ".tsv": "tsv", ".json": "json"}


@reports_errors
def leaderboard(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN...", help=_report.RUN + " A folder may hold many models.")],
    *,
    task: _report.Task = None,
    data: _report.Data = None,
    provenance: _report.Provenance = None,
    floor: Annotated[
        Path | None,
        typer.Option("--floor", metavar="FILE", help="Replies of the question-only floor (georefusal floor)."),
    ] = None,
    declare: Annotated[
        list[str] | None,
        typer.Option(
            "--declare", metavar="NAME=TEXT", help="A model's training imagery, as declared; can be repeated."
        ),
    ] = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="FILE", help="Write .md, .tex, .html, .tsv or .json here.")
    ] = None,
    cards: Annotated[
        Path | None,
        typer.Option("--cards", metavar="DIR", help="Also write each run's metadata for its model card on the Hub."),
    ] = None,
    force: _report.Force = False,
) -> None:
    """Rank runs of one task: a rank is 1 + the number of models that are significantly better.

    Always answering, the random verdict, people and the question-only floor stand in their place. Runs with more than
    1 % of failed requests are withheld.
    """
    from json import dumps

    from georefusal_task.report.floor import NAME
    from georefusal_task.report.ranking import rank
    from georefusal_task.report.ranking_table import model_card, table
    from georefusal_task.report.runs import load_run, load_runs

    _report.check_out(output)
    form = _report.suffix_of(output, _FORMS)
    loaded = load_runs(runs, data=data, task=task, provenance=provenance)
    _report.warn(loaded)
    bar = load_run(floor, data=loaded[0].benchmark, task=loaded[0].task, name=NAME) if floor else None
    named = _declared(declare or [], [run.name for run in loaded])
    board = rank(loaded, floor=bar, declared=named, force=force)
    text = dumps(board.to_json(), indent=2, allow_nan=False) if form == "json" else table(board).text(form)
    _report.deliver(text, output)
    if cards:
        cards.mkdir(parents=True, exist_ok=True)
        for number, run in enumerate(loaded, 1):
            (cards / f"{number:03d}_{_file_name(run.name)}.yaml").write_text(model_card(run), encoding="utf-8")


def _declared(given: list[str], names: list[str]) -> dict[str, str]:
    """Return run name -> text; a name may itself contain "="."""
    from georefusal_task.report.texts import visible

    found = {}
    for one in given:
        name = next((name for name in sorted(names, key=len, reverse=True) if one.startswith(f"{name}=")), None)
        if name is None:
            known = ", ".join(names)
            raise ConfigError(f"--declare {one!r} is not NAME=TEXT with the name of a run; there are: {visible(known)}")
        found[name] = one.removeprefix(f"{name}=")
    return found


def _file_name(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9.-]+", "_", name).strip("._")[:80] or "model"
