"""`python -m georefusal_demo`: the whole line on real images in a few minutes, on any machine."""

import signal
import sys
from pathlib import Path
from typing import Annotated

import typer

from georefusal_demo.run import demonstrate
from georefusal_task.commands._common import reports_errors


@reports_errors
def main(
    *,
    out: Annotated[Path, typer.Option(help="Folder for results, logs and the checkpoint.")] = Path("results/demo"),
    limit: Annotated[int | None, typer.Option(min=1, help="Evaluate only the first N items.")] = None,
    reuse: Annotated[bool, typer.Option("--reuse", help="Take over the finished runs that are in OUT.")] = False,
) -> None:
    """Evaluate baselines and a tiny checkpoint with random weights on the mini set, through the real lmms-eval."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # either way of stopping ends the host too
    try:
        demonstrate(out, limit=limit, reuse=reuse)
    except KeyboardInterrupt:
        print("\nstopped; finished runs are kept, --reuse takes them over", file=sys.stderr)
        raise typer.Exit(130) from None


typer.run(main)
