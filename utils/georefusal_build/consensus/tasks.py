"""Writes the two verification tasks as ordinary task files of lmms-eval."""

import os
from pathlib import Path

from georefusal_build.consensus.host import CANDIDATES
from georefusal_task.adapters.lmms_own_task import task_yaml
from georefusal_task.core.errors import ConfigError

IMAGE, INFORMED = "georefusal_verify_image", "georefusal_verify_informed"

_MODULE = '''\
"""The candidates of {name}, for {name}.yaml; written by `georefusal build verify-task`. {variable} goes first."""

from pathlib import Path

{imports}
from georefusal_build.consensus.host import candidates

FOLDER = candidates({folder})
TASK = {task}


def __getattr__(name):
    return getattr(TASK, name)  # metadata and docs, when the host asks for them
'''

_INFORMED_HOOKS = "georefusal_build.consensus.host"


def write_tasks(out: Path, data: Path | None = None) -> list[Path]:
    """Write the YAML file and the module of both tasks into `out`, new or known, and return the four paths.

    A relative `data` is kept relative to `out`, so that both folders can be moved together.

    Raises:
        ConfigError: a file of that name was changed or written by something else.
    """
    folder = "None" if data is None else _path(data, out)
    files = {
        f"{IMAGE}.yaml": task_yaml(IMAGE),
        f"{IMAGE}.py": _MODULE.format(
            name=IMAGE,
            variable=CANDIDATES,
            imports="from georefusal_task.adapters.lmms_task import HostTask\n"
            "from georefusal_task.tasks_table import TaskSpec",
            folder=folder,
            task=f'HostTask(TaskSpec("{IMAGE}"), FOLDER)',
        ),
        f"{INFORMED}.yaml": _informed(task_yaml(INFORMED)),
        f"{INFORMED}.py": _MODULE.format(
            name=INFORMED,
            variable=CANDIDATES,
            imports="from georefusal_build.consensus.host import InformedTask",
            folder=folder,
            task="InformedTask(FOLDER)",
        ),
    }
    for name, text in files.items():
        if (out / name).exists() and (out / name).read_text("utf-8") != text:
            raise ConfigError(f"{out / name} exists with other content; delete it or choose another folder")
    out.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (out / name).write_text(text, encoding="utf-8")
    return [out / name for name in files]


def _path(data: Path, out: Path) -> str:
    return f"Path({str(data)!r})" if data.is_absolute() else f"Path(__file__).parent / {os.path.relpath(data, out)!r}"


def _informed(yaml: str) -> str:
    """Return the benchmark's task file with the hooks of the informed pass; generation and filters stay as they are."""
    hooks = ("doc_to_visual", "doc_to_text", "doc_to_messages", "doc_to_target", "process_results", "METRIC_LIST")
    for hook in hooks:
        yaml = yaml.replace(f"georefusal_task.adapters.lmms.{hook}", f"{_INFORMED_HOOKS}.{hook}")
    return yaml
