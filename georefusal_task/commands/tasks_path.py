"""`georefusal tasks-path`: the folder of our task files, for a harness's official `--include_path`."""

from enum import StrEnum
from typing import Annotated

import typer

from georefusal_task.commands._common import reports_errors


class Host(StrEnum):
    """A harness that reads tasks from files."""

    LMMS_EVAL = "lmms-eval"
    LM_EVAL = "lm-eval"


@reports_errors
def tasks_path(
    host: Annotated[Host, typer.Option("--host", help="Whose task files: the two do not understand each other's.")] = (
        Host.LMMS_EVAL
    ),
) -> None:
    """Print the folder of the task files.

    lmms-eval finds the tasks by itself when it evaluates. Where it does not look, such as in its list of tasks, give it
    the folder: lmms-eval tasks list --include-path "$(georefusal tasks-path)"

    lm-evaluation-harness always needs it: lm-eval run --include_path "$(georefusal tasks-path --host lm-eval)" ...
    """
    if host is Host.LM_EVAL:
        from georefusal_task.adapters.lm_eval import tasks_dir
    else:
        from georefusal_task.adapters.lmms_register import tasks_dir

    print(tasks_dir())
