"""Selective prediction: what a model is worth when its own doubt decides which verdicts are acted on."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from georefusal_task.benchmarks.refusal_scores import Outcomes
from georefusal_task.core.sampling import Sample, divide
from georefusal_task.core.stats import Estimate, Floats, Ints, Statistic, undefined
from georefusal_task.report.runs import Run

STATED, TOKENS = "confidence", "token_probability"
"""A number that the reply or its file gives, or the geometric mean of the probabilities of the reply's tokens."""


@dataclass(frozen=True)
class Selective:
    """Verdicts accepted from the most confident down; an error is a verdict that is not accepted by the label."""

    source: str
    """`confidence` or `token_probability`."""
    n: int
    n_known: int
    """Items with a confidence; the others, unparsed replies among them, are accepted last."""
    coverage: tuple[float, ...]
    """Share of items accepted, one point after each group of equal confidence, ending at 1."""
    risk: tuple[float, ...]
    """Share of errors among the accepted."""
    aurc: Estimate
    """Mean risk over all coverages; lower is better."""
    augrc: Estimate
    """Mean over all coverages of the share of all items that are accepted and wrong; lower is better, at most 0.5."""
    aurc_random: float
    """What a confidence without meaning gets: the share of errors."""
    aurc_best: float
    """What is possible with these errors: all of them accepted last."""

    def to_json(self) -> dict[str, Any]:
        """Return the fields as plain JSON values."""
        return vars(self) | {"aurc": self.aurc.to_json(), "augrc": self.augrc.to_json()}


def selective(run: Run) -> list[Selective]:
    """Return the curve for each source of confidence that the run has; none where there is no confidence at all."""
    stated = {row.id: row.confidence for row in run.rows if row.confidence is not None}
    tokens = {item: _geometric_mean(said.logprobs) for item, said in run.replies.items() if said.logprobs}
    return [_curve(run, source, known) for source, known in ((STATED, stated), (TOKENS, tokens)) if known]


def effective_reliability(run: Run, cost: float = 1.0) -> Estimate:
    """Return the mean gain per item: a right answer +1, a refusal 0, anything else -`cost`.

    Anything else is an answer to what must be refused, a wrong yes/no, or a reply without a verdict. Always refusing
    gets 0. Items left out at answer level are left out; undefined where a gold yes/no is missing.

    Source: Whitehead et al. 2022 (Reliable Visual Question Answering), their Phi_c.
    """
    outcomes = Outcomes.of(run.rows)
    if outcomes.exclusion_unknown.any() or (outcomes.answer_scored & ~outcomes.answer_known).any():
        return undefined()
    counted = outcomes.must_refuse | outcomes.answer_scored
    gains = np.full(len(outcomes), 2, dtype=np.int64)
    gains[outcomes.refused] = 1
    gains[outcomes.answerable & outcomes.answer_right] = 0

    def mean_gain(counts: Floats) -> Floats:
        return divide(counts[..., 0] - cost * counts[..., 2], counts.sum(axis=-1))

    return _sample(run).at(counted).statistic(mean_gain, gains[counted], kinds=3)


def aurc(counts: Floats) -> Floats:
    """Return the mean over k = 1..n of the share of errors among the k most confident items.

    Args:
        counts: (..., 2 * levels), for each level of confidence from the highest down: right items, wrong items.

    Items of one level are taken in random order, and the mean is over all such orders.

    Source: Geifman and El-Yaniv 2017; the sum within a level by harmonic numbers.
    """
    wrong, size = counts[..., 1::2], counts[..., 0::2] + counts[..., 1::2]
    after, errors = size.cumsum(axis=-1), wrong.cumsum(axis=-1)
    before = after - size
    share = np.nan_to_num(divide(wrong, size))
    n = after[..., -1]
    harmonic = np.concatenate([[0.0], np.cumsum(1 / np.arange(1, int(n.max(initial=0)) + 1))])
    steps = harmonic[after.astype(np.int64)] - harmonic[before.astype(np.int64)]
    return divide((wrong + (errors - wrong - share * before) * steps).sum(axis=-1), n)


def augrc(counts: Floats) -> Floats:
    """Return the area under errors among the accepted (as a share of all items) against coverage; counts as for `aurc`.

    Source: Traub et al. 2024 (Overcoming common flaws in the evaluation of selective classification).
    """
    wrong, size = counts[..., 1::2], counts[..., 0::2] + counts[..., 1::2]
    errors = wrong.cumsum(axis=-1)
    return divide((size * (errors - wrong / 2)).sum(axis=-1), size.sum(axis=-1) ** 2)


def _curve(run: Run, source: str, known: dict[str, float]) -> Selective:
    doubt = np.array([-known.get(row.id, -math.inf) for row in run.rows])
    levels, level = np.unique(doubt, return_inverse=True)
    cells: Ints = 2 * level + np.array([not row.right for row in run.rows], dtype=np.int64)
    kinds = 2 * len(levels)
    counts = np.bincount(cells, minlength=kinds).astype(np.float64)
    accepted, errors = (counts[0::2] + counts[1::2]).cumsum(), counts[1::2].cumsum()
    n, wrong = int(accepted[-1]), float(errors[-1])

    def estimate(statistic: Statistic) -> Estimate:
        return _sample(run).statistic(statistic, cells, kinds)

    return Selective(
        source=source,
        n=n,
        n_known=len(known),
        coverage=tuple((accepted / n).tolist()),
        risk=tuple((errors / accepted).tolist()),
        aurc=estimate(aurc),
        augrc=estimate(augrc),
        aurc_random=wrong / n,
        aurc_best=float(aurc(np.array([n - wrong, 0.0, 0.0, wrong]))),
    )


def _geometric_mean(logprobs: tuple[float, ...]) -> float:
    return math.exp(sum(logprobs) / len(logprobs))


def _sample(run: Run) -> Sample:
    return Sample.of([row.id for row in run.rows], run.clusters)
