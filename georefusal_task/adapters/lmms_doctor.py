"""What stands between lmms-eval and our tasks on this machine, asked of the installed host itself."""

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import redirect_stdout
from enum import StrEnum
from importlib import import_module
from importlib.metadata import EntryPoint, PackageNotFoundError, entry_points, version
from importlib.util import find_spec
from io import StringIO
from pathlib import Path
from typing import Any, NamedTuple

from georefusal_task.adapters import lmms_register
from georefusal_task.core.errors import GeoRefusalError
from georefusal_task.data import Benchmark
from georefusal_task.grounding_data import GroundingSet
from georefusal_task.grounding_tasks import GROUNDING_TASKS
from georefusal_task.tasks_table import DEFAULT_TASK, TASKS

GROUP = "lmms_eval.models"
TASK_NAMES = (*TASKS, *GROUNDING_TASKS)
"""The names of all our tasks for this host."""
USE_FLAG = 'use --include_path "$(georefusal tasks-path)"'


class Level(StrEnum):
    """How much a finding matters."""

    OK = "ok"
    NOTE = "note"
    PROBLEM = "PROBLEM"


class Finding(NamedTuple):
    """One line of the report."""

    level: Level
    text: str


def host_findings() -> Iterator[Finding]:
    """Yield what was found, most basic things first; nothing is downloaded or changed."""
    if find_spec("lmms_eval") is None:
        text = "lmms-eval is not installed; pip install 'georefusal[lmms]' (parse, score and export work without it)"
        instead = any(find_spec(name) for name in ("inspect_ai", "lm_eval", "vlmeval"))
        yield Finding(Level.NOTE if instead else Level.PROBLEM, text)
        return
    yield from _versions()
    yield from _surroundings()
    with redirect_stdout(StringIO()):  # the host logs to stdout
        reports = [*_plugins(), *_tasks()]
    yield from reports


def data_findings(what: str, load: Callable[[], Benchmark | GroundingSet]) -> Iterator[Finding]:
    """Yield where a set comes from and whether the loader finds it sound."""
    try:
        benchmark = load()
    except (GeoRefusalError, OSError) as error:
        yield Finding(Level.PROBLEM, f"{what}: {error}")
        return
    text = f"{what}: {len(benchmark.by_id)} items from {benchmark.source}, digest {benchmark.digest[:12]}"
    yield Finding(Level.OK, text)
    for warning in benchmark.warnings:
        yield Finding(Level.NOTE, f"{what}: {warning}")


def _versions() -> Iterator[Finding]:
    for name in ("lmms-eval", "datasets", "transformers", "torch"):
        yield Finding(Level.OK, f"{name} {_version(name)}")
    if find_spec("filelock._api") is None:
        text = (
            f"filelock {_version('filelock')} lacks a part that lmms-eval imports; pip install 'filelock>=3.24.2,<4.3'"
        )
        yield Finding(Level.PROBLEM, text)
    try:
        import_module("torchvision")
    except Exception as error:  # noqa: BLE001 - a build for another torch fails in many ways
        text = f"torchvision {_version('torchvision')} does not go with torch {_version('torch')}: {_brief(error)}"
        yield Finding(Level.PROBLEM, f"{text}; install the two together")
    if int(_version("transformers").split(".")[0]) >= 5:
        text = "with transformers 5 the backends huggingface and async_hf_model of lmms-eval fail; the others work"
        yield Finding(Level.NOTE, text)
    if find_spec("decord") is None:
        text = "decord is missing; qwen2_5_vl, qwen3_vl, llava_hf and other backends import it even for images"
        yield Finding(Level.NOTE, f"{text}: pip install decord")


def _surroundings() -> Iterator[Finding]:
    if plugins := os.environ.get("LMMS_EVAL_PLUGINS"):
        text = (
            f"LMMS_EVAL_PLUGINS={plugins} is deprecated, does not bring tasks, and stops every command if it is broken"
        )
        yield Finding(Level.NOTE, text)

    for name in sorted(TASK_NAMES):
        if Path(name).is_dir():
            text = f"a folder {name} is here: lmms-eval would read it as a folder of task files; run it elsewhere"
            yield Finding(Level.PROBLEM, text)


def _plugins() -> Iterator[Finding]:
    """Yield the entry points that fail; the host gives up on all that come after the first of them."""
    ours_seen = False
    for entry in entry_points(group=GROUP):
        if _is_ours(entry):
            ours_seen = True
            continue
        try:
            payload = entry.load()
            if callable(payload):
                payload()
        except Exception as error:  # noqa: BLE001 - somebody else's code
            owner = entry.dist.name if entry.dist else entry.value
            text = f"the plugin {owner} of lmms-eval is broken ({_brief(error)})"
            if ours_seen:
                yield Finding(Level.NOTE, f"{text}; our tasks come before it and are not affected")
            else:
                yield Finding(Level.PROBLEM, f"{text} and hides ours; uninstall or mend it, or {USE_FLAG}")
    if not ours_seen:
        yield Finding(Level.PROBLEM, "our entry point is not installed; install the package georefusal again")


def _tasks() -> Iterator[Finding]:
    folder = lmms_register.tasks_dir()
    off = lmms_register.switched_off()
    try:
        import lmms_eval.models  # noqa: F401 - runs the entry points, as every evaluating command does first
        from lmms_eval.tasks import TaskManager

        index = TaskManager(include_path=str(folder) if off else None).task_index
    except Exception as error:  # noqa: BLE001 - a broken host is what is looked for
        yield Finding(Level.PROBLEM, f"lmms-eval cannot list its tasks: {_brief(error)}")
        return
    if hidden := shadowed(index, folder):
        for name, file in hidden.items():
            yield Finding(Level.PROBLEM, f"{name} would be another task, from {file}; rename or remove that one")
    elif missing := sorted(set(TASK_NAMES) - index.keys()):
        yield Finding(Level.PROBLEM, f"lmms-eval does not find {', '.join(missing)}; {USE_FLAG}")
    elif off:
        text = f"{len(TASK_NAMES)} tasks are found by --include_path {folder} only: {lmms_register.OFF_VARIABLE} is set"
        yield Finding(Level.NOTE, text)
    else:
        text = f"{len(TASK_NAMES)} tasks are registered through the entry point {GROUP}; no flag is needed:"
        yield Finding(Level.OK, f"{text} lmms-eval --model MODEL --tasks {DEFAULT_TASK}")


def shadowed(index: Mapping[str, Mapping[str, Any]], folder: Path) -> dict[str, str]:
    """Return name -> file of the tasks that go by one of our names but are not ours."""
    files = {name: index[name]["yaml_path"] for name in TASK_NAMES if name in index}
    return {name: str(file) for name, file in files.items() if Path(str(file)).resolve().parent != folder}


def _is_ours(entry: EntryPoint) -> bool:
    return entry.value == "georefusal_task.adapters.lmms_plugin:manifests"


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "0 (not installed)"


def _brief(error: Exception) -> str:
    return f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"
