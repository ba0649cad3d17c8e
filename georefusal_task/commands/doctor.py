"""`georefusal doctor`: whether an evaluation will work here, and on which data."""

import os
from collections.abc import Callable

import typer

from georefusal_task.commands._common import reports_errors


@reports_errors
def doctor() -> None:
    """Say whether lmms-eval finds the tasks and by which route, which versions clash, and whether the data is sound.

    Other harnesses are looked at where they are installed.

    Downloads nothing. The exit status is 0 only when nothing stands in the way of an evaluation.
    """
    os.environ["HF_HUB_OFFLINE"] = "1"  # read when the Hub's client is imported, which happens below

    from itertools import chain

    from georefusal_task import __version__, data, grounding_data
    from georefusal_task.adapters.lmms_doctor import Level, data_findings, host_findings
    from georefusal_task.adapters.other_doctor import other_findings

    print(f"georefusal {__version__}; asking lmms-eval, which takes some seconds", flush=True)
    problems = 0
    sets: dict[str, Callable[[], data.Benchmark | grounding_data.GroundingSet]] = {
        "data": data.load,
        "mini set": data.load_mini,
        "grsvqa mini set": grounding_data.load_mini,
    }
    if os.environ.get(grounding_data.VARIABLE):
        sets["grsvqa data"] = grounding_data.load
    for found in chain(host_findings(), other_findings(), *(data_findings(*one) for one in sets.items())):
        problems += found.level is Level.PROBLEM
        print(f"{found.level:8}{found.text}", flush=True)
    if problems:
        print(f"{problems} problem{'s' if problems > 1 else ''}")
        raise typer.Exit(1)
