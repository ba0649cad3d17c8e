"""What the commands on finished runs share: their options, warnings, and where a result goes."""

import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from georefusal_task.commands._common import write_result
from georefusal_task.core.errors import ConfigError

if TYPE_CHECKING:
    from georefusal_task.report.runs import Run

RUN = "A folder of lmms-eval's results, one of its sample logs, a reply file (JSONL of id and text), or a bundle."
RunArgument = Annotated[Path, typer.Argument(metavar="RUN", help=RUN)]
Task = Annotated[
    str | None, typer.Option("--task", help="The task to take where several were run; what a reply file answers.")
]
Data = Annotated[
    Path | None, typer.Option("--data", help="Folder of the benchmark, or of a set of your own in its layout.")
]
Provenance = Annotated[
    Path | None,
    typer.Option(
        "--provenance",
        metavar="DIR",
        help="Folder with provenance/, or JSONL of id and cluster: which items depend on each other. Joined by id.",
    ),
]
FrameOption = Annotated[
    str | None,
    typer.Option("--frame", metavar="NAME", help="Coordinate frame of the boxes (grsvqa tasks), if no line names it."),
]
Out = Annotated[Path | None, typer.Option("-o", "--output", metavar="FILE", help="Write the result here.")]
Force = Annotated[
    bool, typer.Option("--force", help="Go on although the runs differ in data, prompt or image; it will be said.")
]


def warn(runs: "Iterable[Run]") -> None:
    """Print each warning of the runs once, to stderr."""
    from georefusal_task.report.texts import visible

    runs = list(runs)
    told = [
        text if text in run.benchmark.warnings else f"{visible(run.name)}: {text}"
        for run in runs
        for text in run.warnings
    ]
    told += [text for run in runs for text in (run.untied, run.few_clusters) if text]
    for warning in dict.fromkeys(told):
        print(f"warning: {warning}", file=sys.stderr)


def deliver(text: str, out: Path | None) -> None:
    """Print text, or write it to a file whose folder must exist; either way it ends with one newline."""
    text = text.rstrip("\n") + "\n"
    if out is None:
        print(text, end="")
        return
    check_out(out)
    write_result(out, text)


def check_out(out: Path | None) -> None:
    """Check, before any work, that a file can be written there.

    Raises:
        ConfigError: its folder does not exist, or it is a folder itself.
    """
    if out is not None and (out.is_dir() or not out.parent.is_dir()):
        raise ConfigError(
            f"{out} cannot be written: {'it is a folder' if out.is_dir() else f'{out.parent} is not there'}"
        )


def suffix_of(out: Path | None, allowed: dict[str, str]) -> str:
    """Return the form that a file's suffix asks for; `plain` for the terminal.

    Raises:
        ConfigError: no form has that suffix.
    """
    if out is None:
        return "plain"
    if out.suffix not in allowed:
        raise ConfigError(f"{out} ends in {out.suffix or 'nothing'}; write one of {', '.join(allowed)}")
    return allowed[out.suffix]


def exactly(count: int, runs: "Sequence[Run]") -> "Sequence[Run]":
    """Return the runs when there are as many as asked for.

    Raises:
        ConfigError: a folder held the runs of more than one model.
    """
    if len(runs) != count:
        from georefusal_task.report.texts import visible

        listed = "\n  ".join(f"{visible(run.name)}: {run.path}" for run in runs)
        raise ConfigError(
            f"{count} runs are wanted, but {len(runs)} models are there; name one folder or file:\n  {listed}"
        )
    return runs
