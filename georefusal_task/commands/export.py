"""`georefusal export`: prompts and images in a folder, for a model that no harness supports."""

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, TypeVar

import typer

from georefusal_task.commands._common import reports_errors
from georefusal_task.tasks_table import DEFAULT_TASK

T = TypeVar("T")


@reports_errors
def export(
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="Folder to write into; made if it does not exist.")],
    *,
    task: Annotated[str, typer.Option("--task", help="Task whose prompts and images are written.")] = DEFAULT_TASK,
    data: Annotated[
        Path | None, typer.Option("--data", help="Folder of the benchmark, or of a set of your own in its layout.")
    ] = None,
    frame: Annotated[
        str | None,
        typer.Option(
            "--frame", help="Coordinate frame that boxes are asked for in (grsvqa tasks); else GEOREFUSAL_FRAME."
        ),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace an earlier export in DIR.")] = False,
) -> None:
    """Write a task's prompts and images into DIR, with a loop that asks a model of your own.

    DIR/prompts.jsonl has one line {"id", "image", "prompt", "messages"} per item. Ask your model, write one line
    {"id", "text"} per reply, and `georefusal score` gives the same figures as the harness would.
    """
    import shlex

    from georefusal_task.grounding_tasks import GROUNDING_TASKS

    write = _write_grounding if task in GROUNDING_TASKS else _write
    n = write(directory, task, data, frame, force)
    options = ["--task", task] + ([] if data is None else ["--data", str(data)])
    loop, replies = str(directory / "example.py"), str(directory / "replies.jsonl")
    print(f"{n} prompts of {task} are in {directory}")
    print(f"1. {shlex.join(['python', loop, 'MODEL'])}  (what transformers cannot load goes into its load())")
    print(f"2. {shlex.join(['georefusal', 'score', replies, *options])}")


def _write(directory: Path, task: str, data: Path | None, frame: str | None, force: bool) -> int:
    """Write the export and return the number of its prompts."""
    from georefusal_task import data as loader
    from georefusal_task.core.errors import ConfigError
    from georefusal_task.export import export as write
    from georefusal_task.tasks_table import get_task

    spec = get_task(task, own_set=data is not None)
    if frame:
        raise ConfigError(f"{task} asks for no boxes; leave --frame out")
    benchmark = loader.load_mini() if spec.mini and data is None else loader.load(data)
    write(directory, spec, benchmark, force=force, track=_progress)
    return len(benchmark.items)


def _write_grounding(directory: Path, task: str, data: Path | None, frame: str | None, force: bool) -> int:
    """Write the export of a task that asks for boxes and return the number of its prompts."""
    from georefusal_task.grounding_export import export as write
    from georefusal_task.grounding_tasks import GROUNDING_TASKS, declared_frame, load_set

    spec = GROUNDING_TASKS[task]
    questions = load_set(spec, data)
    write(directory, spec, questions, declared_frame(named=frame), force=force, track=_progress)
    return len(questions.questions) * len(spec.turns)


def _progress(items: Iterable[T]) -> Iterable[T]:
    from tqdm import tqdm

    passed: Iterable[T] = tqdm(items, "exporting", disable=None)  # None: no bar unless a person is watching
    return passed
