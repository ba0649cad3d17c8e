"""`georefusal tasks-path`: the folder of our task files, for the host's official `--include_path`."""

from georefusal_task.commands._common import reports_errors


@reports_errors
def tasks_path() -> None:
    """Print the folder of the task files.

    lmms-eval finds the tasks by itself when it evaluates. Where it does not look, such as in its list of tasks, give it
    the folder: lmms-eval tasks list --include-path "$(georefusal tasks-path)"
    """
    from georefusal_task.adapters.lmms_register import tasks_dir

    print(tasks_dir())
