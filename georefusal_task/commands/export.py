"""`georefusal export`: prompts and images in a folder, for a model that no harness supports."""

from pathlib import Path
from typing import Annotated

import typer

from georefusal_task.commands._common import reports_errors
from georefusal_task.tasks_table import DEFAULT_TASK


@reports_errors
def export(
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="Folder to write into; made if it does not exist.")],
    *,
    task: Annotated[str, typer.Option("--task", help="Task whose prompts and images are written.")] = DEFAULT_TASK,
    data: Annotated[
        Path | None, typer.Option("--data", help="Folder of the benchmark, or of a set of your own in its layout.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace an earlier export in DIR.")] = False,
) -> None:
    """Write a task's prompts and images into DIR, with a loop that asks a model of your own.

    DIR/prompts.jsonl has one line {"id", "image", "prompt", "messages"} per item. Ask your model, write one line
    {"id", "text"} per reply, and `georefusal score` gives the same figures as the harness would.
    """
    import shlex

    from tqdm import tqdm

    from georefusal_task import data as loader
    from georefusal_task.export import export as write
    from georefusal_task.tasks_table import get_task

    spec = get_task(task, own_set=data is not None)
    benchmark = loader.load_mini() if spec.mini and data is None else loader.load(data)
    # disable=None: no bar unless a person is watching
    write(directory, spec, benchmark, force=force, track=lambda cases: tqdm(cases, "exporting", disable=None))
    options = ["--task", task] + ([] if data is None else ["--data", str(data)])
    loop, replies = str(directory / "example.py"), str(directory / "replies.jsonl")
    print(f"{len(benchmark.items)} prompts of {task} are in {directory}")
    print(f"1. {shlex.join(['python', loop, 'MODEL'])}  (what transformers cannot load goes into its load())")
    print(f"2. {shlex.join(['georefusal', 'score', replies, *options])}")
