"""When a figure is a leak: over the limit of its tier, and further from chance than all gates together would stray."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from georefusal_build.audit.settings import ALPHA
from georefusal_build.audit.targets import F64, Target

_TINY = 1e-9


class Outcome(StrEnum):
    """What a probe came to."""

    LEAK = "leak"
    CHANCE = "over the limit, as chance may be"
    CLEAR = "within the limit"
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

    p: the chance that any gated score of the audit strays as far from shuffled labels; None where no limit is crossed,
    or where a stronger score of the probe fails the set already.
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

    null: (mean, 95 % point) on shuffled labels of the strongest model over the limit, None where none is.
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


def chance(value: float, null: F64, looks: int) -> float:
    """Return the chance, under no leak at all, that one of `looks` scores strays as far as this one does.

    null: what the same model gets on shuffled labels. Its spread is known from so many shuffles only, hence Student's
    t; the looks are taken together by Bonferroni's inequality, which holds however they hang together.
    """
    from scipy.stats import t

    spread = max(float(null.std(ddof=1)), _TINY) * math.sqrt(1 + 1 / len(null))
    return min(1.0, looks * float(t.sf((value - float(null.mean())) / spread, len(null) - 1)))


def decide(gate: Gate | None, scores: Sequence[Score], chance: float) -> Outcome:
    """Return what the scores of one probe come to."""
    if gate is None:
        return Outcome.REPORTED
    over = [score for score in scores if gate.crossed(score.balanced, score.low, chance)]
    if any(score.p is not None and score.p <= ALPHA for score in over):
        return Outcome.LEAK
    return Outcome.CHANCE if over else Outcome.CLEAR
