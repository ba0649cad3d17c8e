"""Makes lmms-eval find our tasks without a flag: the one place that touches the host's own code.

The host has an entry point for models and none for tasks (0.7.3). Our model entry point calls `install`, which wraps
`TaskManager.initialize_tasks` so that the index it returns also holds our folder. Whatever the host has indexed by
itself (a built-in, the user's `--include_path`, an entry point for tasks that it may grow) wins over what is added.
"""

import functools
import importlib.abc
import importlib.machinery
import importlib.util
import inspect
import os
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

OFF_VARIABLE = "GEOREFUSAL_NO_AUTOREGISTER"
_HOST_MODULE = "lmms_eval.tasks"
_MARK = "registers_georefusal"


def tasks_dir() -> Path:
    """Return the folder that holds our task files, wherever and however the package is installed."""
    spec = importlib.util.find_spec("georefusal_task.tasks")
    if spec is None or not spec.submodule_search_locations:
        raise ModuleNotFoundError("georefusal_task.tasks is not installed; install the package again")
    return Path(next(iter(spec.submodule_search_locations))).resolve()


def switched_off() -> bool:
    """True when the user has set GEOREFUSAL_NO_AUTOREGISTER to anything but 0."""
    return os.environ.get(OFF_VARIABLE, "0") not in ("", "0")


def is_hosts_command() -> bool:
    """True when this process is the host's own command, started by its script or as a module."""
    spec = sys.modules["__main__"].__spec__
    return "lmms_eval.__main__" in sys.modules or (spec is not None and spec.name == "lmms_eval.__main__")


def install() -> None:
    """Wrap the host's index now, or as soon as the host imports it: most commands never do, and pay nothing."""
    if switched_off():
        return
    if _HOST_MODULE in sys.modules:
        _wrap(sys.modules[_HOST_MODULE])
    elif not any(isinstance(finder, _WhenImported) for finder in sys.meta_path):
        sys.meta_path.insert(0, _WhenImported())


def warn(error: Exception) -> None:
    """Say once, on stderr, that the tasks could not be added and what works instead."""
    print(
        f"georefusal: could not add its tasks to lmms-eval ({type(error).__name__}: {error}); "
        'use --include_path "$(georefusal tasks-path)"',
        file=sys.stderr,
    )


class _WhenImported(importlib.abc.MetaPathFinder):
    """Waits for the import of the host's task module, steps out of the way and wraps it once it is loaded."""

    def find_spec(self, fullname: str, *_: Any) -> importlib.machinery.ModuleSpec | None:
        """Return None for every other module."""
        if fullname != _HOST_MODULE:
            return None
        sys.meta_path.remove(self)
        try:
            spec = importlib.util.find_spec(fullname)
            loader: Any = spec and spec.loader
            loader.exec_module = _then_wrap(loader.exec_module)
        except Exception as error:  # noqa: BLE001 - the host must come up, whatever it has changed
            warn(error)
            return None
        return spec


def _then_wrap(load: Callable[[ModuleType], None]) -> Callable[[ModuleType], None]:
    def load_and_wrap(module: ModuleType) -> None:
        load(module)
        try:
            _wrap(module)
        except Exception as error:  # noqa: BLE001 - the host must come up, whatever it has changed
            warn(error)

    return load_and_wrap


def _wrap(host: ModuleType) -> None:
    original = host.TaskManager.initialize_tasks
    if hasattr(original, _MARK):
        return
    signature = inspect.signature(original)

    @functools.wraps(original)
    def initialize_tasks(self: Any, *args: Any, **kwargs: Any) -> Any:
        index = original(self, *args, **kwargs)
        asked = signature.bind(self, *args, **kwargs)
        asked.apply_defaults()
        if switched_off() or not asked.arguments.get("include_defaults", True):
            return index
        try:
            return {**original(self, include_path=[str(tasks_dir())], include_defaults=False), **index}
        except Exception as error:  # noqa: BLE001 - the host must come up, whatever it has changed
            warn(error)
            return index

    setattr(initialize_tasks, _MARK, True)
    host.TaskManager.initialize_tasks = initialize_tasks
