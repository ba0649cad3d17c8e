"""Estimates from per-item columns, with the interval that the way of sampling asks for.

Items that share a base question or a base image are not independent. `Sample` knows which belong together, if that is
known at all, and chooses: Wilson, MOVER or a bootstrap over items when it is not, a bootstrap over clusters when it is.
"""

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from georefusal_task.core.errors import DataError
from georefusal_task.core.stats import (
    Estimate,
    Floats,
    Interval,
    Ints,
    PairedTest,
    Statistic,
    bootstrap,
    bootstrap_clusters,
    bootstrap_ratios,
    mcnemar,
    mover,
    paired_difference,
    sign_test,
    undefined,
    wilson,
)

Name = TypeVar("Name", bound=Hashable)
Mask = npt.NDArray[np.bool_]
Rate = tuple[Mask, Mask]
"""(hits, among): two masks over the items, hits counted inside among."""
Ratio = tuple[Ints | Floats, Ints]
"""(above, below): what each item adds to the two sums of a ratio."""


@dataclass(frozen=True)
class Sample:
    """The items of one run. `clusters` holds a number per item, or is None when nothing is known of them."""

    clusters: Ints | None = None

    @classmethod
    def of(cls, ids: Sequence[str], clusters: Mapping[str, str] | None) -> "Sample":
        """Return the sample that these items are, by id -> cluster; independent items where that is None.

        Raises:
            DataError: an item has no cluster.
        """
        if clusters is None:
            return cls()
        unknown = [item for item in ids if item not in clusters]
        if unknown:
            raise DataError(f"no cluster is known for {len(unknown)} of {len(ids)} items, the first being {unknown[0]}")
        numbers: dict[str, int] = {}
        return cls(np.array([numbers.setdefault(clusters[item], len(numbers)) for item in ids], dtype=np.int64))

    def at(self, chosen: Mask) -> "Sample":
        """Return the chosen items only."""
        return self if self.clusters is None else Sample(self.clusters[chosen])

    def rate(self, hits: Mask, among: Mask) -> Estimate:
        """Return the share of hits among the items marked in `among`."""
        k, n = _count(hits, among)
        if n == 0:
            return undefined()
        if self.clusters is None:
            return Estimate(k / n, *wilson(k, n), n, "wilson", count=k)
        interval, method = _clustered(self.clusters, _ratio, [hits & among, among])
        units = _sums(self.clusters, [among]).shape[0]
        return Estimate(k / n, *(interval or wilson(k * units / n, units)), n, method, count=k)

    def ratios(self, columns: Mapping[Name, Ratio]) -> dict[Name, Estimate]:
        """Return name -> sum(above) / sum(below) over the items, for columns with 0 <= above <= below in every item.

        Whole numbers above the line make a rate of counts: its numerator is the `count`, and it has Wilson's width
        where no resample differs from another. Anything else is a mean of measures. Where no clusters are known, every
        item is one.
        """
        items = max((len(below) for _, below in columns.values()), default=0)
        if not items:
            return {name: undefined() for name in columns}
        clusters = np.arange(items) if self.clusters is None else self.clusters
        above, below = (
            np.stack([np.bincount(clusters, ratio[side]) for ratio in columns.values()], axis=1).astype(np.float64)
            for side in (0, 1)
        )
        intervals, units = bootstrap_ratios(above, below), (below > 0).sum(axis=0).tolist()
        return {
            name: _ratio_estimate(*ratio, interval, parts)
            for (name, ratio), interval, parts in zip(columns.items(), intervals, units, strict=True)
        }

    def mean_rate(self, rates: Sequence[Rate]) -> Estimate:
        """Return the plain mean of the rates that are defined; not defined when none is."""
        counts = [_count(*rate) for rate in rates]
        kept = [(rate, count) for rate, count in zip(rates, counts, strict=True) if count[1]]
        if not kept:
            return undefined()
        n = sum(count[1] for _, count in kept)
        value = sum(k / m for _, (k, m) in kept) / len(kept)
        if self.clusters is None:
            return Estimate(value, *mover([count for _, count in kept]), n, "mover")
        columns = [column for (hits, among), _ in kept for column in (hits & among, among)]
        interval, method = _clustered(self.clusters, _mean_ratio, columns)
        if interval is None:
            units = [_sums(self.clusters, [among]).shape[0] for (_, among), _ in kept]
            interval = mover([(k * m / n, m) for (_, (k, n)), m in zip(kept, units, strict=True)])
        return Estimate(value, *interval, n, method)

    def statistic(self, statistic: Statistic, cells: Ints, kinds: int) -> Estimate:
        """Return a statistic of how many items fall into each of `kinds` cells; `cells` holds each item's cell."""
        counts = np.bincount(cells, minlength=kinds)
        value = float(statistic(counts.astype(np.float64)))
        if np.isnan(value):
            return undefined()
        if self.clusters is None:
            interval = bootstrap(statistic, np.eye(kinds, dtype=np.int64), counts)
            method = "bootstrap" if interval else "bootstrap, no spread"
        else:
            interval, method = _clustered(self.clusters, statistic, [cells == kind for kind in range(kinds)])
        return Estimate(value, *(interval or (value, value)), len(cells), method)

    def difference(self, ours: Mask, theirs: Mask) -> Estimate:
        """Return the difference of two shares over all items, both systems having met the same ones."""
        n = len(ours)
        if n == 0:
            return undefined()
        better, worse = int((ours & ~theirs).sum()), int((theirs & ~ours).sum())
        value = (better - worse) / n
        if self.clusters is None:
            return Estimate(value, *paired_difference(better, worse, n), n, "adjusted Wald, paired")
        interval, method = _clustered(
            self.clusters, _difference, [ours & ~theirs, theirs & ~ours, np.ones(n, dtype=np.bool_)]
        )
        units = np.unique(self.clusters).size
        interval = interval or paired_difference(better * units / n, worse * units / n, units)
        return Estimate(value, *interval, n, method)

    def test(self, ours: Mask, theirs: Mask) -> PairedTest | None:
        """Return the paired test of the same difference, or None without items."""
        n = len(ours)
        if n == 0:
            return None
        better, worse = ours & ~theirs, theirs & ~ours
        if self.clusters is None:
            return mcnemar(int(better.sum()), int(worse.sum()), n)
        sums = _sums(self.clusters, [better, worse, np.ones(n, dtype=np.bool_)])
        return sign_test(sums[:, 0], sums[:, 1], n)


def _ratio_estimate(above: Ints | Floats, below: Ints, interval: Interval | None, units: int) -> Estimate:
    """Return the estimate of one ratio; `units` is how many clusters have a part in it."""
    n = int(below.sum())
    if n == 0:
        return undefined()
    method = f"bootstrap over {units} clusters" + ("" if interval else ", no spread")
    if above.dtype.kind == "f":
        value = math.fsum(above.tolist()) / n
        return Estimate(value, *(interval or (value, value)), n, method)
    count = int(above.sum())
    return Estimate(count / n, *(interval or wilson(count * units / n, units)), n, method, count=count)


def _clustered(clusters: Ints, statistic: Statistic, columns: Sequence[Mask]) -> tuple[Interval | None, str]:
    """Return the bootstrap interval of a statistic of the columns' sums, and what to call it."""
    sums = _sums(clusters, columns)
    interval = bootstrap_clusters(statistic, sums)
    method = f"bootstrap over {len(sums)} clusters"
    return interval, method if interval else f"{method}, no spread"


def _sums(clusters: Ints, columns: Sequence[Mask]) -> Ints:
    """Return int (clusters, columns), the columns summed within each cluster; one that adds nothing is left out."""
    sums = np.stack([np.bincount(clusters, column) for column in columns], axis=1).astype(np.int64)
    return sums[sums.any(axis=1)]


def _count(hits: Mask, among: Mask) -> tuple[int, int]:
    return int((hits & among).sum()), int(among.sum())


def _ratio(sums: Floats) -> Floats:
    return divide(sums[..., 0], sums[..., 1])


def _mean_ratio(sums: Floats) -> Floats:
    rates = divide(sums[..., 0::2], sums[..., 1::2])
    return divide(np.nansum(rates, axis=-1), (~np.isnan(rates)).sum(axis=-1))


def _difference(sums: Floats) -> Floats:
    return divide(sums[..., 0] - sums[..., 1], sums[..., 2])


def divide(above: npt.ArrayLike, below: npt.ArrayLike) -> Floats:
    """Return above / below element by element, NaN where below is 0."""
    over, under = np.broadcast_arrays(np.asarray(above, dtype=np.float64), np.asarray(below, dtype=np.float64))
    result: Floats = np.divide(over, under, out=np.full(under.shape, np.nan), where=under != 0)
    return result
