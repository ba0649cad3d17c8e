"""`georefusal make-task`: a task of lmms-eval for a set of one's own."""

from pathlib import Path
from typing import Annotated

import typer

from georefusal_task.commands._common import reports_errors


@reports_errors
def make_task(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Name of the task: lower-case letters, digits and _.")],
    *,
    data: Annotated[Path, typer.Option("--data", metavar="DIR", help="The set: cases/, labels/ and images/.")],
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="Folder for the task's two files.")],
) -> None:
    """Make a set in the released layout a task of lmms-eval, with the prompt and the scores of georefusalbench.

    Several tasks may share one folder. A relative --data is kept relative to --out, so that both can be moved together.
    """
    import shlex

    from georefusal_task import data as loader
    from georefusal_task.adapters.lmms_own_task import write_task

    benchmark = loader.load(data)
    files = write_task(name, data, out)
    print(f"{name}: {len(benchmark.items)} items; wrote {' and '.join(map(str, files))}")
    print(f"1. {shlex.join(['lmms-eval', '--include_path', str(out), '--tasks', name])} --model MODEL ...")
    print(f"2. {shlex.join(['georefusal', 'score', '--task', name, '--data', str(data)])} SAMPLES.jsonl")
