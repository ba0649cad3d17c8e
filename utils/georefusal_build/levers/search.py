"""Searches on fixed grids: the first setting whose measurement falls into the lever's band."""

from collections.abc import Callable, Iterable
from typing import TypeVar

from georefusal_build.anchors import Measurement
from georefusal_build.bands import decide
from georefusal_build.levers.registry import Subject
from georefusal_task.core.records import Intensity
from georefusal_task.core.verdicts import Verdict

_T = TypeVar("_T")


def in_band(family: str, intensity: Intensity, measurement: Measurement, subject: Subject) -> bool:
    """Return whether a measurement gives the lever's item its label."""
    return isinstance(decide(f"{family}_{intensity.lower()}", measurement, subject.tags), Verdict)


def first(grid: Iterable[_T], good: Callable[[_T], bool]) -> _T | None:
    """Return the first value of a grid that is good, None when none is: no optimiser, no clock, always one order."""
    return next((value for value in grid if good(value)), None)
