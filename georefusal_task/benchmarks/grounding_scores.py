"""The formulas of answer-grounding consistency: support of one answer, and the sums behind every figure of a run."""

from collections.abc import Callable, Mapping, Sequence
from operator import gt, lt

import numpy as np

from georefusal_task.benchmarks.grounding_records import Answer, GroundingRow, QuestionType
from georefusal_task.core.sampling import Ratio
from georefusal_task.core.stats import Floats, Ints

TIGHT = 4
"""Regions are tight up to this many times the area of the boxes that they cover."""

_CLAIMS: dict[QuestionType, Callable[..., bool]] = {
    QuestionType.EXISTENCE: lambda n: n >= 1,
    QuestionType.MORE: gt,
    QuestionType.FEWER: lt,
    QuestionType.EQUAL: lambda a, b: a == b,
}
"""What "yes" claims of the covered instances per class; "no" claims the opposite."""


def supported(kind: QuestionType, answer: Answer, covered: Sequence[int]) -> bool:
    """Return whether the covered instances bear out the answer that was given, right or wrong.

    >>> supported(QuestionType.COUNTING, 2, [2]), supported(QuestionType.MORE, "no", [3, 3])
    (True, True)
    >>> supported(QuestionType.EXISTENCE, None, [0])
    False

    Source: facts of the benchmark, "Support s".
    """
    if answer is None:
        return False
    if kind is QuestionType.COUNTING:
        return covered[0] == answer
    return _CLAIMS[kind](*covered) == (answer == "yes")


def columns(rows: Sequence[GroundingRow]) -> dict[str, Ratio]:
    """Return metric -> what each row adds above and below the line."""

    def ints(values: Sequence[int]) -> Ints:
        return np.fromiter(values, np.int64, len(rows))

    def floats(values: Sequence[float]) -> Floats:
        return np.fromiter(values, np.float64, len(rows))

    everything, in_e = ints([1] * len(rows)), ints([row.in_support_set for row in rows])
    right, support = ints([row.right for row in rows]), ints([row.support for row in rows])
    matched = in_e * ints([row.matched for row in rows])
    predicted = in_e * ints([row.predicted for row in rows])
    annotated = in_e * ints([sum(row.annotated) for row in rows])
    return {
        "accuracy": (right, everything),
        "accuracy_E": (in_e * right, in_e),
        "ES_overall": (in_e * support, in_e),
        "ES_correct": (in_e * right * support, in_e * right),
        "JS": (in_e * right * support, in_e),
        "ES_tight": (in_e * ints([row.tight for row in rows]), in_e),
        "localisation_precision": (matched, predicted),
        "localisation_recall": (matched, annotated),
        "localisation_F1": (2 * matched, predicted + annotated),
        "covered_area_share": (in_e * floats([row.area_share for row in rows]), in_e),
        "invalid_rate": (ints([row.invalid for row in rows]), everything),
        "box_flag_rate": (ints([bool(row.flags) for row in rows]), everything),
        "host_error_rate": (ints([row.failed for row in rows]), everything),
    }


def within(ratios: Mapping[str, Ratio], chosen: Ints) -> dict[str, Ratio]:
    """Return the ratios over the rows where `chosen` is 1; 0 leaves a row out."""
    return {name: (above * chosen, below * chosen) for name, (above, below) in ratios.items()}
