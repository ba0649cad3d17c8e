"""T5: what models got that saw no image, or the image of another item."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from georefusal_build.audit.subjects import Subjects
from georefusal_build.audit.targets import F64, Target, inside_families, whole_set
from georefusal_task.core.errors import DataError
from georefusal_task.core.verdicts import Verdict
from georefusal_task.report.logs import find_logs
from georefusal_task.report.runs import Run, load_run

BLIND = ("noimage", "shuffled")
"""Image variants of tasks under which the target cannot be seen."""


def blind_runs(paths: Mapping[str, Path], subjects: Subjects) -> dict[str, Run]:
    """Return what to call each run -> the run; of a folder with several tasks, those that hide the image.

    Raises:
        ConfigError, DataError: the results cannot be read, or are those of another set.
        DataError: a run saw the images, or lacks replies.
    """
    found: dict[str, Run] = {}
    for label, path in paths.items():
        run = load_run(path, data=subjects.benchmark)
        unnamed = all(log.task is None for log in find_logs(path))  # a reply file: nobody but the user knows
        every = {label: run} | {f"{label}, {one.spec.variant}": one for one in run.variants.values()}
        blind = {name: one for name, one in every.items() if unnamed or one.spec.variant in BLIND}
        if not blind:
            raise DataError(
                f"--run {label}: {path} is a run of {run.task}, which shows the images; run georefusalbench_noimage or "
                "georefusalbench_shuffled"
            )
        found |= blind
    for label, run in found.items():
        if run.missing:
            raise DataError(f"--run {label}: replies to {len(run.missing)} items are missing, such as {run.missing[0]}")
    return found


def blind_targets(subjects: Subjects) -> list[Target]:
    """Return what a model's verdicts are compared with: all of them, answer or refuse, and that inside families."""
    return [*whole_set(subjects), *(target for target in inside_families(subjects) if target.scope == "pool")]


def said(run: Run, subjects: Subjects, target: Target) -> F64:
    """Return float64 (n, classes): 1 at the class that the model's verdict is; nothing where it gave none."""
    verdicts = [run.by_id[subjects.items[place].case.id].verdict for place in target.places.tolist()]
    result = np.zeros((len(verdicts), len(target.classes)))
    for row, verdict in enumerate(verdicts):
        if verdict is None:
            continue
        name = str(verdict) if target.name == "verdict" else ("answer" if verdict == Verdict.ANSWER else "refuse")
        if name in target.classes:
            result[row, target.classes.index(name)] = 1.0
    return result
