"""Writes the files that make a task of the host out of any set in the released layout."""

import importlib.util
import os
import re
from pathlib import Path

from georefusal_task.adapters.lmms_register import tasks_dir
from georefusal_task.core.errors import ConfigError
from georefusal_task.tasks_table import DEFAULT_TASK

_HOOKS = f"georefusal_task.adapters.lmms.{DEFAULT_TASK}_"

_MODULE = '''\
"""The data of the task {name}, for {name}.yaml; written by `georefusal make-task`. The folder may be changed here."""

from pathlib import Path

from georefusal_task.adapters.lmms_task import HostTask
from georefusal_task.tasks_table import TaskSpec

TASK = HostTask(TaskSpec("{name}"), {folder})


def __getattr__(name):
    return getattr(TASK, name)  # metadata and docs, when the host asks for them
'''


def write_task(name: str, data: Path, out: Path) -> tuple[Path, Path]:
    """Write `<name>.yaml` and `<name>.py` into `out` and return their paths.

    A relative `data` is kept relative to `out`, so that both folders can be moved together.

    Raises:
        ConfigError: the name cannot be a task's name, is taken, or a file of that name exists already.
    """
    check_name(name)
    files = out / f"{name}.yaml", out / f"{name}.py"
    for file in files:
        if file.exists():
            raise ConfigError(f"{file} exists; delete it or choose another name")
    out.mkdir(parents=True, exist_ok=True)
    beside = f"Path(__file__).parent / {os.path.relpath(data, out)!r}"
    folder = f"Path({str(data)!r})" if data.is_absolute() else beside
    files[0].write_text(task_yaml(name), encoding="utf-8")
    files[1].write_text(_MODULE.format(name=name, folder=folder), encoding="utf-8")
    return files


def check_name(name: str) -> None:
    """Check that a task can be called `name`.

    Raises:
        ConfigError: it is no plain lower-case identifier, or one of our tasks or of the host's has it.
    """
    if not re.fullmatch(r"[a-z][a-z0-9_]{2,63}", name):
        raise ConfigError(f"{name!r} cannot name a task; use 3 to 64 lower-case letters, digits and underscores")
    if name.startswith(("georefusal", "grsvqa")):
        raise ConfigError(f"{name!r} could be taken for a task of this package; choose a name of your own")
    taken = _host_file_of(name)
    if taken is not None:
        raise ConfigError(f"lmms-eval has a {name!r} of its own, which would win: {taken}; choose another name")


def _host_file_of(name: str) -> Path | None:
    """Return the task file of the host that claims the name. Reading 2,000 files as text beats importing the host."""
    host = importlib.util.find_spec("lmms_eval")
    if host is None or not host.submodule_search_locations:
        return None
    claims = re.compile(r"^(?:task|group|tag)\s*:(.*(?:\n\s*-.*)*)", re.MULTILINE)  # one name, or a list of them
    for folder in host.submodule_search_locations:
        for file in Path(folder, "tasks").rglob("*.yaml"):
            names = claims.findall(file.read_text(encoding="utf-8", errors="replace"))
            if any(name in re.split(r"[^\w-]+", claimed) for claimed in names):
                return file
    return None


def task_yaml(name: str) -> str:
    """Return the main task's file under this name, its data from `<name>.py`: the two can never ask differently."""
    main = (tasks_dir() / f"{DEFAULT_TASK}.yaml").read_text(encoding="utf-8")
    lines = [line for line in main.splitlines() if not line.startswith(("#", "tag:"))]
    body = "\n".join(lines).replace(f"task: {DEFAULT_TASK}", f"task: {name}").replace(_HOOKS, f"{name}.")
    return f"# {name}: made from {DEFAULT_TASK}, on the set that {name}.py names.\n{body}\n"
