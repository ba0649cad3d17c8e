"""Where a model has to stand to have shown anything: always answering, guessing, people."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from georefusal_task.core.errors import DataError
from georefusal_task.core.records import Label
from georefusal_task.core.sampling import Sample, divide
from georefusal_task.core.stats import Estimate, Floats
from georefusal_task.core.verdicts import VERDICTS, Verdict
from georefusal_task.data_columns import quoted, read_verdict
from georefusal_task.report.provenance import Provenance

Figures = dict[str, Estimate]


def always_answer(labels: Sequence[Label]) -> Figures:
    """Return what answering every item gets: constants of the data, without an interval."""
    share = _mean([Verdict.ANSWER in label.accept for label in labels])
    return _constants(len(labels), accept_acc=share, always_answer_gap=0, answer_recall=1, detection_recall=0)


def uniform_guess(labels: Sequence[Label]) -> Figures:
    """Return what guessing one of the six verdicts gets on average: expectations, not one draw."""
    accept_acc = _mean([len(set(label.accept)) / len(VERDICTS) for label in labels])
    must = [label for label in labels if Verdict.ANSWER not in label.accept]
    right = _mean([len(set(label.accept)) / (len(VERDICTS) - 1) for label in must])
    return _constants(
        len(labels),
        accept_acc=accept_acc,
        always_answer_gap=accept_acc - _mean([Verdict.ANSWER in label.accept for label in labels]),
        answer_recall=1 / len(VERDICTS),
        detection_recall=1 - 1 / len(VERDICTS),
        category_acc=right,
    )


def people(labels: Sequence[Label], provenance: Mapping[str, Provenance], sample: Sample) -> Figures:
    """Return how often single votes of reviewers are accepted, averaged over the items that have any; empty without.

    The votes went into the labels, so that this row is no independent test of people.

    Raises:
        DataError: a vote is none of the six verdicts.
    """
    votes = [_votes(label.id, provenance[label.id].review_votes) if label.id in provenance else [] for label in labels]
    voted = np.array([bool(found) for found in votes], dtype=np.bool_)
    if not voted.any():
        return {}
    pairs = zip(labels, votes, strict=True)
    shares = np.array([_mean([vote in label.accept for vote in found]) for label, found in pairs if found])
    kinds, cells = np.unique(shares, return_inverse=True)

    def mean(counts: Floats) -> Floats:
        return divide(counts @ kinds, counts.sum(axis=-1))

    return {"accept_acc": sample.at(voted).statistic(mean, cells, len(kinds))}


def _votes(item: str, given: Any) -> list[Verdict]:
    votes = given if isinstance(given, list) else []
    try:
        return [read_verdict(vote.get("verdict") if isinstance(vote, dict) else vote) for vote in votes]
    except ValueError as error:
        raise DataError(f"provenance of {item}: review_votes {quoted(given)}: {error}") from None


def _constants(n: int, **values: float) -> Figures:
    return {name: Estimate(float(value), None, None, n, "constant of the data") for name, value in values.items()}


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)
