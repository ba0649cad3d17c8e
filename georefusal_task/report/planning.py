"""How many items a difference needs, and which difference a number of items shows, before any model is run."""

import math
from dataclasses import dataclass

import numpy as np

ALPHA, POWER = 0.05, 0.8
RELEASED_N, RELEASED_ANSWERABLE = 587, 295
"""Source: the GeoRefusalBench card."""

DISCORDANCES = (0.10, 0.25, 0.40)
"""Shares of items on which two models differ: variants of one model, two good models, two unlike ones."""

SAME_BASE = 0.3
"""Correlation of paired differences inside a cluster, where nothing better is known.

Three to six items per base then lift McNemar's 5 % to about the 14 to 19 % that simulations of such data gave.
"""


@dataclass(frozen=True)
class Design:
    """Items that two systems both meet, in clusters of dependent ones."""

    n: int
    clusters: int | None = None
    """None: independent items."""
    correlation: float = SAME_BASE

    @property
    def inflation(self) -> float:
        """How much the clusters widen the variance of a difference; 1 for independent items.

        >>> Design(600, clusters=100).inflation
        2.5
        """
        return 1.0 if self.clusters is None else 1 + max(0.0, self.n / self.clusters - 1) * self.correlation


def power(effect: float, discordance: float, design: Design, level: float = ALPHA) -> float:
    """Return the chance that the paired test finds a difference of accept_acc of this size.

    Independent items: exact, for the exact McNemar test, whose number of differing items is itself random. Clusters:
    the normal approximation of the clustered test, its variance inflated.

    Args:
        effect: difference of the two shares, in (0, discordance].
        discordance: share of items on which the two differ.
        design: how many items, and how they hang together.
        level: of the two-sided test; divide it by the number of tests for Bonferroni, which bounds Holm.
    """
    effect = abs(effect)
    if design.clusters is None:
        return _mcnemar_power(effect, discordance, design.n, level)
    from scipy.special import ndtr, ndtri

    bound = float(-ndtri(level / 2))
    # discordance stands for the variance under either hypothesis: a little cautious
    shift = effect / math.sqrt(discordance * design.inflation / design.n)
    return float(ndtr(shift - bound) + ndtr(-shift - bound))


def _mcnemar_power(effect: float, discordance: float, n: int, level: float) -> float:
    from scipy.stats import binom

    differ = np.arange(1, n + 1)
    chance = binom.pmf(differ, n, discordance)
    differ, chance = differ[chance > 1e-12], chance[chance > 1e-12]
    # the most items right for one system alone that still reject: P(X <= c) <= level / 2 under a fair coin
    reach = binom.ppf(level / 2, differ, 0.5)
    reach = np.where(binom.cdf(reach, differ, 0.5) <= level / 2, reach, reach - 1)
    share = (discordance + effect) / (2 * discordance)
    rejects = binom.cdf(reach, differ, share) + binom.cdf(reach, differ, 1 - share)
    return float((chance * rejects).sum())


def detectable(discordance: float, design: Design, level: float = ALPHA, wanted: float = POWER) -> float | None:
    """Return the smallest difference found with the wanted chance, in 0.0001; None where none is, however large."""
    steps = np.arange(1, int(discordance * 10_000) + 1)
    low, high = 0, len(steps)
    while low < high:
        middle = (low + high) // 2
        if power(steps[middle] / 10_000, discordance, design, level) >= wanted:
            high = middle
        else:
            low = middle + 1
    return float(steps[low]) / 10_000 if low < len(steps) else None


def items_needed(effect: float, discordance: float, design: Design, level: float = ALPHA, wanted: float = POWER) -> int:
    """Return how many items find the difference with the wanted chance, in clusters as large as the design's."""
    from scipy.special import ndtri

    spread = float(-ndtri(level / 2) + ndtri(wanted))
    start = discordance * design.inflation * (spread / effect) ** 2
    if design.clusters is not None:
        return math.ceil(start)
    n = max(1, math.floor(0.8 * start))  # the exact test needs a little more than the approximation, never so much less
    while power(effect, discordance, Design(n), level) < wanted:
        n += max(1, n // 500)
    return n
