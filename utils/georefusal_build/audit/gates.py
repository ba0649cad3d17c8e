"""When a figure is a leak: over the limit of its tier, and further from chance than all gates together would stray."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum

import numpy as np

from georefusal_build.audit.settings import ALPHA
from georefusal_build.audit.subjects import Ints
from georefusal_build.audit.targets import F64, Target

_TINY = 1e-9


class Outcome(StrEnum):
    """What a probe came to."""

    LEAK = "leak"
    CHANCE = "over the limit, as chance may be"
    CLEAR = "nothing found"
    REPORTED = "no gate"
    TOO_FEW = "too few"


@dataclass(frozen=True)
class Gate:
    """The limits of a tier; a score must keep both.

    text: how tables word them. value, low: what balanced accuracy and the lower end of its interval may reach; above
    chance, so that they also serve for more classes than two.
    """

    text: str
    value: float = 1.0
    low: float = 1.0

    def crossed(self, value: float, low: float, chance: float) -> bool:
        """Return whether a balanced accuracy with this lower end is over a limit."""
        return value > chance + self.value + _TINY or low > chance + self.low + _TINY


GATES = {
    "T0": Gate("interval holds chance", low=0.0),
    "T1": Gate("lower end <= .55", low=0.05),
    "T2": Gate("<= .60", value=0.10),
    "T3": Gate("<= .65 and lower end <= .60", value=0.15, low=0.10),
    "T6": Gate("<= .60 and lower end <= .55", value=0.10, low=0.05),
}
"""Source: section 11 of the design; T2 holds for families whose strings are the same at every intensity."""


@dataclass(frozen=True)
class Score:
    """One model's result on one probe: balanced accuracy with its 95 % interval, accuracy, and the chance of it.

    p: how often the most extreme of all gated scores of the audit is as extreme when labels are shuffled; None
    where no gate hangs on it.
    """

    model: str
    balanced: float
    low: float
    high: float
    accuracy: float
    p: float | None = None


@dataclass(frozen=True)
class Finding:
    """One probe: what a tier's features tell of one target.

    null: (mean, 95 % point) of logistic regression on shuffled labels, None where it was not refitted.
    suspects: single columns that part the classes best, with the area under their curve.
    """

    tier: str
    features: str
    target: Target = field(repr=False)
    sources: int
    scores: tuple[Score, ...]
    gate: Gate | None
    outcome: Outcome
    why: str = ""
    null: tuple[float, float] | None = None
    suspects: tuple[tuple[str, float], ...] = ()

    @property
    def strongest(self) -> Score | None:
        """The score with the highest balanced accuracy, None where no model was fitted."""
        return max(self.scores, key=lambda score: score.balanced, default=None)


def family_wise(votes: Sequence[F64], targets: Sequence[Target], orders: Sequence[Ints]) -> list[float]:
    """Return for each score the chance, under no leak at all, that any of them stands out as much as it does.

    votes: (n, classes) shares of repeats; orders: (b, n) shuffles of the target's labels, number b being the same for
    all. Each score is compared with what its own held predictions get on shuffled labels, in standard deviations; the
    largest of all scores in each shuffle is what the observed ones have to beat.

    Source: Westfall and Young 1993, single-step maxT; it takes into account that scores hang together.
    """
    if not votes:
        return []
    observed, largest = [], np.full(len(orders[0]), -np.inf)
    for vote, target, order in zip(votes, targets, orders, strict=True):
        worth = vote * target.weights
        rows = np.arange(len(target.y))
        null = worth[rows, target.y[order]].sum(axis=1)
        spread = max(float(null.std()), 1e-9)
        observed.append((float(worth[rows, target.y].sum()) - float(null.mean())) / spread)
        largest = np.maximum(largest, (null - null.mean()) / spread)
    return [float((1 + (largest >= one - 1e-9).sum()) / (1 + len(largest))) for one in observed]


def decide(gate: Gate | None, scores: Sequence[Score], chance: float) -> Outcome:
    """Return what the scores of one probe come to."""
    if gate is None:
        return Outcome.REPORTED
    over = [score for score in scores if gate.crossed(score.balanced, score.low, chance)]
    if any(score.p is not None and score.p <= ALPHA for score in over):
        return Outcome.LEAK
    return Outcome.CHANCE if over else Outcome.CLEAR
