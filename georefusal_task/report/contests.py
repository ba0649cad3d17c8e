"""Runs against each other and against references on the items they share, with the correction for many tests."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

import numpy as np

from georefusal_task.core.sampling import Mask, Sample
from georefusal_task.core.stats import PairedTest
from georefusal_task.report.paired import ALPHA, holm
from georefusal_task.report.runs import Run

Standing = Literal["better", "worse", "not told apart"]


@dataclass(frozen=True)
class Column:
    """What somebody got right, over the items of the data set in one order."""

    name: str
    has: Mask
    """There is a reply."""
    right: Mask


@dataclass(frozen=True)
class Pair:
    """Two models on their common items."""

    first: str
    second: str
    n: int
    difference: float
    """accept_acc of the first minus that of the second."""
    p: float
    p_holm: float
    """Corrected for all pairs."""
    method: str

    def standing(self, name: str) -> Standing:
        """Return how one of the two stands to the other."""
        return _standing(self.difference if name == self.first else -self.difference, self.p_holm)


def column(run: Run, items: Sequence[str]) -> Column:
    """Return a run as a column over the items."""
    rows = [run.by_id.get(item) for item in items]
    return Column(
        run.name,
        has=np.array([row is not None for row in rows], dtype=np.bool_),
        right=np.array([row is not None and row.right for row in rows], dtype=np.bool_),
    )


def pairs(columns: Sequence[Column], sample: Sample) -> list[Pair]:
    """Return every pair that has items in common, p-values corrected over all of them."""
    tested = [(first, second, _test(first, second, sample)) for first, second in combinations(columns, 2)]
    found = [(first.name, second.name, test) for first, second, test in tested if test]
    corrected = holm([test.p for *_, test in found])
    return [
        Pair(first, second, test.n, (test.better - test.worse) / test.n, test.p, p, test.method)
        for (first, second, test), p in zip(found, corrected, strict=True)
    ]


def standings(columns: Sequence[Column], reference: Column, sample: Sample) -> dict[str, Standing]:
    """Return name -> how it stands to the reference, corrected for the number of columns."""
    tested = [(one.name, _test(one, reference, sample)) for one in columns]
    found = [(name, test) for name, test in tested if test]
    corrected = holm([test.p for _, test in found])
    return {name: _standing(test.better - test.worse, p) for (name, test), p in zip(found, corrected, strict=True)}


def _test(first: Column, second: Column, sample: Sample) -> PairedTest | None:
    common = first.has & second.has
    return sample.at(common).test(first.right[common], second.right[common])


def _standing(difference: float, p: float) -> Standing:
    if p >= ALPHA:
        return "not told apart"
    return "better" if difference > 0 else "worse"
