"""The `georefusal` command: our commands, plus those that other packages register under `georefusal.commands`."""

import sys
from importlib.metadata import entry_points
from typing import Annotated

import typer

from georefusal_task import __version__
from georefusal_task.commands import (
    _common,
    bundle,
    check_data,
    cite,
    compare,
    doctor,
    export,
    floor,
    leaderboard,
    make_task,
    parse,
    power,
    report,
    score,
    tasks_path,
    verify,
)

app = typer.Typer(
    name="georefusal",
    help="Does a vision-language model know when not to answer a question about a satellite image?",
    epilog="Evaluate a model with: lmms-eval --model MODEL --tasks georefusalbench",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
app.command("doctor")(doctor.doctor)
app.command("tasks-path")(tasks_path.tasks_path)
app.command("check-data")(check_data.check_data)
app.command("parse")(parse.parse)
app.command("score")(score.score)
app.command("export")(export.export)
app.command("make-task")(make_task.make_task)
app.command("report")(report.report)
app.command("compare")(compare.compare)
app.command("leaderboard")(leaderboard.leaderboard)
app.command("floor")(floor.floor)
app.command("power")(power.power)
app.command("bundle")(bundle.bundle)
app.command("verify")(verify.verify)
app.command("cite")(cite.cite)


def _show_version(asked: bool) -> None:
    if asked:
        print(f"georefusal {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    *,
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")] = False,
    version: Annotated[  # noqa: ARG001 - read by its callback
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version and stop.")
    ] = False,
) -> None:
    _common.debug = debug


def _add_registered_commands() -> None:
    """Add what the entry-point group names: typer apps and single commands; a broken one costs only itself."""
    for entry in sorted(entry_points(group="georefusal.commands"), key=lambda entry: entry.name):
        try:
            loaded = entry.load()
            if isinstance(loaded, typer.Typer):
                app.add_typer(loaded, name=entry.name)
            else:
                app.command(entry.name)(loaded)
        except Exception as error:  # noqa: BLE001 - another package's fault must not take our commands down
            print(f"warning: command {entry.name!r} of {entry.value} could not be loaded: {error}", file=sys.stderr)


def main() -> None:
    """Run the command line."""
    _add_registered_commands()
    app()
