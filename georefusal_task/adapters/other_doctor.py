"""What stands between the harnesses other than lmms-eval and our tasks; one that is not installed is no problem."""

from collections.abc import Iterator
from contextlib import redirect_stdout
from importlib.metadata import entry_points, version
from importlib.util import find_spec
from io import StringIO
from pathlib import Path

from georefusal_task.adapters.lmms_doctor import Finding, Level
from georefusal_task.tasks_table import DEFAULT_TASK, TASKS

INSPECT_GROUP, INSPECT_NAME = "inspect_ai", "georefusal_task"


def other_findings() -> Iterator[Finding]:
    """Yield one finding for each of the other harnesses; nothing is downloaded or changed."""
    for module, check, how in (
        ("inspect_ai", _inspect, "pip install 'georefusal[inspect]'"),
        ("lm_eval", _lm_eval, "pip install 'georefusal[lm-eval]'"),
        ("vlmeval", _vlmevalkit, "it is run from a checkout of its own"),
    ):
        if find_spec(module) is None:
            yield Finding(Level.NOTE, f"{module} is not installed; where it is wanted: {how}")
            continue
        try:
            with redirect_stdout(StringIO()):
                found = check()
        except Exception as error:  # noqa: BLE001 - somebody else's code
            text = f"{module} cannot take our tasks: {type(error).__name__}: {' '.join(str(error).split())[:200]}"
            found = Finding(Level.PROBLEM, text)
        yield found


def _inspect() -> Finding:
    known = f"inspect_ai {version('inspect_ai')}"
    ours = [entry for entry in entry_points(group=INSPECT_GROUP) if entry.name == INSPECT_NAME]
    if not ours:
        return Finding(Level.PROBLEM, f"{known}: our entry point is not installed; install georefusal again")
    module = ours[0].load()

    from inspect_ai.util import registry_info

    name = registry_info(module.georefusalbench).name
    if "/" not in name:
        text = f"{known}: from a checkout the task is called {Path(module.__file__)}@{DEFAULT_TASK}"
        return Finding(Level.NOTE, text)
    return Finding(Level.OK, f"{known}: inspect eval {name} --model MODEL")


def _lm_eval() -> Finding:
    from lm_eval.tasks import TaskManager

    from georefusal_task.adapters.lm_eval import tasks_dir

    known = f"lm-eval {version('lm_eval')}"
    index = TaskManager(include_path=str(tasks_dir()), include_defaults=False).task_index
    if missing := sorted(TASKS.keys() - index.keys()):
        return Finding(Level.PROBLEM, f"{known} does not find {', '.join(missing)} in {tasks_dir()}")
    how = '--include_path "$(georefusal tasks-path --host lm-eval)"'
    return Finding(Level.OK, f"{known}: {len(index.keys() & TASKS.keys())} tasks are found with {how}")


def _vlmevalkit() -> Finding:
    for folder in find_spec("vlmeval").submodule_search_locations or []:  # type: ignore[union-attr] # asked before
        if not any(Path(folder, *place, "run.py").is_file() for place in ((), ("..",))):
            return Finding(Level.PROBLEM, f"VLMEvalKit in {folder} comes without its run.py; use a checkout")
    return Finding(Level.OK, "VLMEvalKit: python -m georefusal_task.adapters.vlmevalkit RUN_PY --data GeoRefusalBench")
