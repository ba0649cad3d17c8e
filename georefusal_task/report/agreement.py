"""How far two raters say the same: shares, Cohen's kappa and Gwet's AC1 over the six verdicts and "unparsed"."""

from collections.abc import Sequence

import numpy as np

from georefusal_task.core.records import Row
from georefusal_task.core.sampling import Sample, divide
from georefusal_task.core.stats import Estimate, Floats, Ints
from georefusal_task.core.verdicts import VERDICTS

OUTCOMES = len(VERDICTS) + 1
"""The six verdicts and one for replies without any."""


def agreement(first: Sequence[Row], second: Sequence[Row], sample: Sample) -> dict[str, Estimate]:
    """Return `agreement`, `cohen_kappa` and `gwet_ac1` of two runs over the same items, in the same order.

    Kappa corrects for the agreement of two raters who guess with their own frequencies; it falls where one verdict is
    common. AC1 does not. Kappa is undefined where both always say the same one thing.
    """
    ours, theirs = _outcomes(first), _outcomes(second)
    cells = ours * OUTCOMES + theirs
    return {
        "agreement": sample.rate(ours == theirs, np.ones(len(ours), dtype=np.bool_)),
        "cohen_kappa": sample.statistic(cohen_kappa, cells, kinds=OUTCOMES**2),
        "gwet_ac1": sample.statistic(gwet_ac1, cells, kinds=OUTCOMES**2),
    }


def cohen_kappa(counts: Floats) -> Floats:
    """Return kappa from counts (..., k * k) of pairs, the first rater's category counting in steps of k.

    Source: Cohen 1960; equal to `sklearn.metrics.cohen_kappa_score`.
    """
    same, rows, columns = _shares(counts)
    expected = (rows * columns).sum(axis=-1)
    return divide(same - expected, 1 - expected)


def gwet_ac1(counts: Floats) -> Floats:
    """Return Gwet's AC1 from counts (..., k * k) of pairs; k categories could have been said, used or not.

    Source: Gwet 2008, chance agreement sum p (1 - p) / (k - 1) with p the mean share of a category over both raters.
    """
    same, rows, columns = _shares(counts)
    share = (rows + columns) / 2
    expected = (share * (1 - share)).sum(axis=-1) / (share.shape[-1] - 1)
    return divide(same - expected, 1 - expected)


def _shares(counts: Floats) -> tuple[Floats, Floats, Floats]:
    """Return the share of equal pairs (...) and both raters' shares of the categories (..., k)."""
    k = round(counts.shape[-1] ** 0.5)
    table = counts.reshape(*counts.shape[:-1], k, k)
    n = table.sum(axis=(-2, -1))
    same = divide(np.trace(table, axis1=-2, axis2=-1), n)
    return same, divide(table.sum(axis=-1), n[..., None]), divide(table.sum(axis=-2), n[..., None])


def _outcomes(rows: Sequence[Row]) -> Ints:
    index = {verdict: place for place, verdict in enumerate(VERDICTS)}
    return np.array([len(VERDICTS) if row.verdict is None else index[row.verdict] for row in rows], dtype=np.int64)
