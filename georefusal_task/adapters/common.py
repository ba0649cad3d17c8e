"""What every adapter does alike: find and load a task's items, say what was asked of them."""

import logging
from pathlib import Path
from typing import Any

from georefusal_task.core.reply import READER
from georefusal_task.data import Benchmark, load_mini
from georefusal_task.data import load as load_set
from georefusal_task.tasks_table import TaskSpec, Variant, task_of

MINI = "mini"
"""Stands where a harness names the folder of the set, for the set that ships with the package."""


def spec_of(prompt: str = "default", variant: Variant = "main", data: str | None = None) -> TaskSpec:
    """Return the task that asks and shows this on the set that `data` names; raises as `task_of`."""
    return task_of(prompt, variant, mini=data == MINI)


def load(spec: TaskSpec, folder: Path | str | None = None) -> Benchmark:
    """Return the items of a task; what the loader doubts goes to the log.

    Raises:
        DataError: as `data.load`.
    """
    benchmark = load_mini() if spec.mini else load_set(folder)
    for warning in benchmark.warnings:
        logging.getLogger(__name__).warning("%s: %s", spec.name, warning)
    return benchmark


def described(spec: TaskSpec, benchmark: Benchmark) -> dict[str, Any]:
    """Return what a harness should store with the results: prompt, variant and data, by digest."""
    return {
        "version": spec.asks.version,
        "prompt": spec.asks.id,
        "prompt_sha256": spec.asks.sha256,
        "variant": spec.variant,
        "data_digest": benchmark.digest,
        "data_revision": benchmark.revision,
        "reader": READER,
    }
