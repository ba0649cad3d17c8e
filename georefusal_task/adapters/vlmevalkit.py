"""Runs VLMEvalKit with our data set in it: `python -m georefusal_task.adapters.vlmevalkit RUN_PY --data ...`.

VLMEvalKit finds data sets in lists of its own and has no hook for others. So this puts ours into those lists, and hands
over to its `run.py` with all other arguments. RUN_PY may be left out where the package `vlmeval` brings the file along.
"""

import importlib
import os
import runpy
import sys
from collections.abc import Sequence
from pathlib import Path


def register() -> None:
    """Make VLMEvalKit know our data set in this process; doing it twice changes nothing."""
    host = importlib.import_module("vlmeval.dataset")
    ours = importlib.import_module("georefusal_task.adapters.vlmevalkit_dataset").GeoRefusalBench
    if ours in host.DATASET_CLASSES:
        return
    host.GeoRefusalBench = ours  # type: ignore[attr-defined] # where its --config looks for a class by name
    host.IMAGE_DATASET.append(ours)
    host.DATASET_CLASSES.append(ours)
    host.SUPPORTED_DATASETS.extend(ours.supported_datasets())


def main(arguments: Sequence[str]) -> None:
    """Run VLMEvalKit's `run.py` as a program; it ends the process as it would by itself."""
    own_script = bool(arguments) and arguments[0].endswith(".py")
    if own_script:
        sys.path.insert(0, str(Path(arguments[0]).resolve().parent))  # a checkout wins over an installed vlmeval
    # the default, a spreadsheet, drops control characters and cuts long replies; older versions ignore this
    os.environ.setdefault("PRED_FORMAT", "json")
    register()
    if own_script:
        sys.argv = list(arguments)
        runpy.run_path(arguments[0], run_name="__main__")
    else:
        sys.argv = ["run.py", *arguments]
        runpy.run_module("vlmeval.run", run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main(sys.argv[1:])
