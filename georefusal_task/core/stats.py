"""Intervals and paired tests, from counts alone: no order of rows can change a digit, and n costs nothing.

Intervals are two-sided 95 %. A quantity that is not defined (nothing to divide by) is None, never 0 and never NaN.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Statistic = Callable[[Floats], Floats]
"""Counts of shape (..., columns) -> values of shape (...); NaN where a value is not defined."""
Interval = tuple[float, float]

Z95 = 1.959963984540054
"""The 97.5 % quantile of the normal distribution."""

DRAWS = 9_999
SEED = 20_260_823
_PART = 1_000
"""Resamples worked on at a time."""
_ONE_THREAD = 250_000
"""So many products of numbers BLAS works out in one thread; for slim matrices more threads take ten times the CPU."""
_SHARED_CLUSTERS = 1_000
"""Up to so many clusters the draws are kept for the next statistic: 10 MB for the most."""
SIGN_FLIP_BELOW = 40
"""Fewer clusters than this carry a difference: the normal approximation is not to be trusted."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A value with its 95 % interval; all None when it is not defined."""

    value: float | None
    low: float | None
    high: float | None
    n: int
    """The items that the value is about (of a rate: its denominator)."""
    method: str
    """How the interval was made, or why there is none."""
    bounds: dict[str, float] = field(default_factory=dict)
    """What the value would be under another reading of the unparsed replies and failed requests."""
    count: int | None = None
    """Of a rate: its numerator."""

    def to_json(self) -> dict[str, float | int | str | None]:
        """Return the fields of one entry of `score --json`; the bounds stand beside the value."""
        fields = {"value": self.value, "low": self.low, "high": self.high, "n": self.n, "method": self.method}
        return fields | ({} if self.count is None else {"count": self.count}) | self.bounds


def undefined(n: int = 0) -> Estimate:
    """Return the estimate of something that is not defined on these items."""
    return Estimate(None, None, None, n, "undefined")


def wilson(hits: float, n: float) -> Interval:
    """Return the Wilson score interval of `hits` out of `n` > 0.

    >>> [round(limit, 4) for limit in wilson(295, 587)]
    [0.4622, 0.5429]

    Source: Wilson 1927; equal to `scipy.stats.binomtest(hits, n).proportion_ci(method="wilson")`.
    """
    centre = (2 * hits + Z95**2) / (2 * (n + Z95**2))
    half = Z95 * math.sqrt(4 * hits * (n - hits) / n + Z95**2) / (2 * (n + Z95**2))
    return (0.0 if hits == 0 else centre - half, 1.0 if hits == n else centre + half)


def mover(rates: Sequence[tuple[float, float]]) -> Interval:
    """Return the interval of the plain mean of independent rates, each given as (hits, n).

    The distances of the single Wilson limits are added in squares, so that a rate of 0 or 1 still has width, which a
    bootstrap would not give it.

    Source: Zou and Donner 2008 (method of variance estimates recovery).
    """
    mean = sum(hits / n for hits, n in rates) / len(rates)
    limits = [(hits / n, *wilson(hits, n)) for hits, n in rates]
    down = math.sqrt(sum((rate - low) ** 2 for rate, low, _ in limits)) / len(rates)
    up = math.sqrt(sum((high - rate) ** 2 for rate, _, high in limits)) / len(rates)
    return mean - down, mean + up


def paired_difference(better: float, worse: float, n: float) -> Interval:
    """Return the interval of (better - worse) / n, where two systems met the same n > 0 items.

    It rests on the discordant items, as McNemar's test does, so that the two agree.

    Source: Bonett and Price 2012, adjusted Wald interval for paired proportions.
    """
    up, down = (better + 1) / (n + 2), (worse + 1) / (n + 2)
    half = Z95 * math.sqrt((up + down - (up - down) ** 2) / (n + 2))
    return max(-1.0, up - down - half), min(1.0, up - down + half)


def bootstrap(statistic: Statistic, units: Ints, times: Ints) -> Interval | None:
    """Return the percentile interval of a statistic of summed counts, or None when no resample differs from another.

    Args:
        statistic: what is wanted, of the summed counts.
        units: int (kinds, columns), what one unit of each kind adds to the sums; distinct rows in a canonical order.
        times: int (kinds,), how many units of each kind there are.

    A unit is whatever was sampled independently: one item, or one cluster of items. Units of one kind cannot be told
    apart, so a resample is one multinomial draw over the kinds. Resamples on which the statistic is not defined are
    left out.
    """
    present = times > 0
    kinds, times = units[present].astype(np.float64), times[present]  # float: numpy is slow at products of integers
    total = int(times.sum())
    random = np.random.default_rng(SEED)
    parts = []
    for start in range(0, DRAWS, _PART):  # in parts, so that many kinds of cluster do not fill the memory
        size = min(_PART, DRAWS - start)
        drawn = random.multinomial(total, times / total, size=size)
        parts.append(statistic(drawn.astype(np.float64) @ kinds))
    return _percentiles(np.concatenate(parts))


def bootstrap_clusters(statistic: Statistic, sums: Ints) -> Interval | None:
    """Return what `bootstrap` does for units that are mostly unlike each other, such as clusters; in any order.

    Args:
        statistic: what is wanted, of the summed counts.
        sums: int (clusters, columns), what each of one or more clusters adds to the sums.

    How often each cluster is drawn is the same for every statistic over as many clusters, so it is drawn once.
    """
    clusters = len(sums)
    if clusters > _SHARED_CLUSTERS:
        return bootstrap(statistic, *np.unique(sums, axis=0, return_counts=True))
    # in an order of their own; 32 bits hold such counts exactly, so that no way of adding them changes a digit
    ordered = sums[np.lexsort(sums.T)].astype(np.float32)
    drawn = _times_drawn(clusters)
    step = _ONE_THREAD // ordered.size
    step = min(step, _PART) if step > _PART // 10 else _PART
    parts = [
        statistic((drawn[start : start + step].astype(np.float32) @ ordered).astype(np.float64))
        for start in range(0, DRAWS, step)
    ]
    return _percentiles(np.concatenate(parts))


def bootstrap_ratios(above: Floats, below: Floats) -> list[Interval | None]:
    """Return for each column what `bootstrap_clusters` does for sum(above) / sum(below), all from the same resamples.

    Args:
        above: float (clusters, columns), what each cluster adds above the line; whole numbers or not.
        below: float (clusters, columns), what it adds below.

    One pass serves every figure of a run: thousands of clusters are drawn a few at a time and never kept.
    """
    clusters, columns = above.shape
    sums = np.concatenate([above, below], axis=1)
    ordered = sums[np.lexsort(sums.T)].astype(np.float32)
    parts = [_times_drawn(clusters)] if clusters <= _SHARED_CLUSTERS else _draws(clusters)
    ratios = []
    for drawn in parts:
        totals = (drawn.astype(np.float32) @ ordered).astype(np.float64)
        over, under = totals[:, :columns], totals[:, columns:]
        ratios.append(np.divide(over, under, out=np.full(under.shape, np.nan), where=under > 0))
    return [_percentiles(values) for values in np.concatenate(ratios).T]


@lru_cache(maxsize=64)
def _times_drawn(units: int) -> npt.NDArray[np.uint8]:
    """Return (draws, units): how often each of so many equal units comes up in each resample."""
    drawn = np.concatenate(list(_draws(units)))
    drawn.flags.writeable = False
    return drawn


def _draws(units: int) -> Iterator[npt.NDArray[np.uint8]]:
    """Yield the rows of `_times_drawn` in parts."""
    random = np.random.default_rng(SEED)
    for start in range(0, DRAWS, _PART):
        size = min(_PART, DRAWS - start)
        places = random.integers(0, units, (size, units)) + units * np.arange(size)[:, None]
        yield np.bincount(places.ravel(), minlength=size * units).astype(np.uint8).reshape(size, units)


def _percentiles(values: Floats) -> Interval | None:
    values = values[~np.isnan(values)]
    if values.size == 0 or np.ptp(values) < 1e-12:
        return None
    low, high = np.quantile(values, (0.025, 0.975))
    return float(low), float(high)


@dataclass(frozen=True, slots=True)
class PairedTest:
    """Two systems on the same items: on how many each alone is right, and whether that can be chance."""

    better: int
    """Items on which only the first is right."""
    worse: int
    n: int
    p: float
    method: str
    discordance: float
    """Share of items on which the two differ; under clusters with their dependence counted in (see `sign_test`)."""
    detectable: float | None
    """The smallest difference that this many items would show in 80 % of cases."""

    def to_json(self) -> dict[str, float | int | str | None]:
        """Return the fields of one entry of `tests` in `score --json`."""
        return {
            "better": self.better,
            "worse": self.worse,
            "n": self.n,
            "p": self.p,
            "method": self.method,
            "discordance": self.discordance,
            "minimal_detectable_difference": self.detectable,
        }


def minimal_detectable(discordance: float, n: int) -> float | None:
    """Return the smallest difference found with 80 % power at the 5 % level, or None when nothing differs.

    >>> round(minimal_detectable(0.25, 587), 3)
    0.058
    """
    return 2.80 * math.sqrt(discordance / n) if discordance else None


def mcnemar(better: int, worse: int, n: int) -> PairedTest:
    """Return the exact McNemar test: a fair coin for each item on which the two systems differ.

    Source: McNemar 1947; the p-value equals `scipy.stats.binomtest(better, better + worse).pvalue`.
    """
    from scipy.special import bdtr

    differ = better + worse
    p = min(1.0, 2 * float(bdtr(min(better, worse), differ, 0.5))) if differ else 1.0
    share = differ / n
    method = "exact McNemar, assumes independent items"
    return PairedTest(better, worse, n, p, method, share, minimal_detectable(share, n))


def sign_test(better: Ints, worse: Ints, n: int) -> PairedTest:
    """Return the clustered paired test from int (clusters,) counts of items on which one system alone is right.

    The unit is the cluster: S_c = better - worse. Z = sum S_c / sqrt(sum S_c^2) is compared with the normal
    distribution; where fewer than 40 clusters have S_c other than 0 (the others say nothing, in either test), with the
    exact distribution of sum +-S_c over all choices of signs. Clusters of one item each give exact McNemar.
    The discordance is sum S_c^2 / n, which is the plain share of differing items when each has its own cluster.
    """
    sums = np.sort(np.abs(better - worse))
    sums = sums[sums > 0]
    squares = float((sums.astype(np.float64) ** 2).sum())
    total = abs(int((better - worse).sum()))
    if sums.size < SIGN_FLIP_BELOW:
        p, how = _sign_flip(sums, total), "exact sign flips"
    else:
        p, how = math.erfc(total / math.sqrt(2 * squares)), "Z"
    share = squares / n
    method = f"paired {how} over {better.size} clusters"
    return PairedTest(int(better.sum()), int(worse.sum()), n, p, method, share, minimal_detectable(share, n))


def _sign_flip(sums: Ints, total: int) -> float:
    """Return P(|sum of +-sums| >= total), by adding one cluster after the other to the distribution of the sum."""
    reach = int(sums.sum())
    chances = np.zeros(2 * reach + 1)  # index reach + s holds P(sum = s)
    chances[reach] = 1.0
    for step in sums.tolist():
        chances = (np.roll(chances, step) + np.roll(chances, -step)) / 2
    return min(1.0, float(chances[: reach - total + 1].sum() + chances[reach + total :].sum())) if total else 1.0
