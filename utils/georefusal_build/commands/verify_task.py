"""`georefusal build verify-task`: the candidates as two tasks of lmms-eval."""

from pathlib import Path
from typing import Annotated

import typer

from georefusal_build.commands._common import build_command


@build_command
def verify_task(
    *,
    out: Annotated[Path, typer.Option("--out", "-o", metavar="DIR", help="Folder for the tasks' four files.")],
    data: Annotated[
        Path | None,
        typer.Option("--data", metavar="DIR", help="The candidates; GEOREFUSAL_CANDIDATES goes first when it is set."),
    ] = None,
) -> None:
    """Write the tasks by which any model that lmms-eval supports verifies candidates.

    georefusal_verify_image shows image, question and the six definitions. georefusal_verify_informed also says how the
    item was made and asks for seven checks. Neither evaluates a model: their logs go to `georefusal build consensus`.
    """
    from georefusal_build.consensus.tasks import IMAGE, INFORMED, write_tasks
    from georefusal_build.layout import read_set

    if data is not None:
        read_set(data)  # better now than after the model is loaded
    for file in write_tasks(out, data):
        print(file)
    tasks = f"lmms-eval --include_path {out} --tasks {IMAGE},{INFORMED}"
    print(f"{tasks} --model MODEL --log_samples --output_path votes/NAME")
