"""Agreement of reviewers: Cohen's kappa, Gwet's AC1 and Krippendorff's alpha, resampled over base images."""

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import combinations
from math import lcm

import numpy as np

from georefusal_build.review.joined import Judged, chosen
from georefusal_task.core.sampling import Sample, divide
from georefusal_task.core.stats import Estimate, Floats, Ints, bootstrap_clusters, undefined
from georefusal_task.core.verdicts import VERDICTS, Verdict
from georefusal_task.report.agreement import cohen_kappa, gwet_ac1

GOOD, USABLE = 0.80, 0.67
"""Source: Krippendorff 2004: from .80 on reliable, from .67 on for tentative conclusions."""
FEW = 20
"""Fewer items than this are said to be few."""
SCALES = {"six verdicts": len(VERDICTS), "answer or refuse": 2}
"""Name -> number of categories."""

Said = Mapping[str, Mapping[str, Judged]]
"""Reviewer -> item id -> judgement."""


def category(verdict: Verdict | None, kinds: int) -> int:
    """Return the number of a verdict among six, or of refusal (1) against ANSWER (0) among two."""
    if verdict is None:
        raise ValueError("an item that is to be removed has no category")
    return VERDICTS.index(verdict) if kinds == len(VERDICTS) else int(verdict.is_refusal)


def agreement(said: Said, known: Mapping[str, str]) -> dict[str, dict[str, dict[str, Estimate]]]:
    """Return scale -> pair of reviewers, or "all" -> figures.

    A pair has `agreement`, `cohen_kappa` and `gwet_ac1` over the items that both judged; "all" has Krippendorff's
    alpha over the items that at least two judged. `known` is item id -> cluster.
    """
    report: dict[str, dict[str, dict[str, Estimate]]] = {}
    for scale, kinds in SCALES.items():
        report[scale] = {"all": {"krippendorff_alpha": alpha(said, known, kinds)}}
        for first, second in combinations(sorted(said), 2):
            report[scale][f"{first} and {second}"] = _pair(said[first], said[second], known, kinds)
    return report


def _pair(
    first: Mapping[str, Judged], second: Mapping[str, Judged], known: Mapping[str, str], kinds: int
) -> dict[str, Estimate]:
    both = sorted(first.keys() & second.keys())
    ours, theirs = (
        np.array([category(chosen(one[item]), kinds) for item in both], dtype=np.int64) for one in (first, second)
    )
    if not both:
        return dict.fromkeys(("agreement", "cohen_kappa", "gwet_ac1"), undefined())
    sample = Sample.of(both, known)
    return {
        "agreement": sample.rate(ours == theirs, np.ones(len(both), dtype=np.bool_)),
        "cohen_kappa": sample.statistic(cohen_kappa, ours * kinds + theirs, kinds**2),
        "gwet_ac1": sample.statistic(gwet_ac1, ours * kinds + theirs, kinds**2),
    }


def alpha(said: Said, known: Mapping[str, str], kinds: int = len(VERDICTS)) -> Estimate:
    """Return Krippendorff's alpha for nominal data over any number of reviewers, votes may be missing.

    Items that fewer than two judged say nothing about agreement. Undefined where all votes are the same one.
    """
    ratings: dict[str, list[int]] = {}
    for votes in said.values():
        for item, vote in votes.items():
            ratings.setdefault(item, []).append(category(chosen(vote), kinds))
    pairable = {item: codes for item, codes in sorted(ratings.items()) if len(codes) > 1}
    if not pairable:
        return undefined()
    scale = lcm(*(len(codes) - 1 for codes in pairable.values()))
    counted = np.stack([coincidences(codes, kinds) * (scale // (len(codes) - 1)) for codes in pairable.values()])
    numbers = np.unique([known[item] for item in pairable], return_inverse=True)[1]
    sums = np.zeros((int(numbers.max()) + 1, kinds**2), dtype=np.int64)
    np.add.at(sums, numbers, counted)
    statistic = partial(alpha_of, scale=scale)
    value = float(statistic(sums.sum(axis=0).astype(np.float64)))
    if np.isnan(value):
        return undefined(len(pairable))
    interval = bootstrap_clusters(statistic, sums)
    method = f"bootstrap over {len(sums)} clusters" + ("" if interval else ", no spread")
    return Estimate(value, *(interval or (value, value)), len(pairable), method)


def coincidences(codes: Sequence[int], kinds: int) -> Ints:
    """Return int (kinds * kinds,): ordered pairs of votes of different reviewers on one item."""
    counts = np.bincount(codes, minlength=kinds)
    return (np.outer(counts, counts) - np.diag(counts)).ravel().astype(np.int64)


def alpha_of(sums: Floats, scale: float = 1) -> Floats:
    """Return alpha from coincidences (..., k * k), each item's pairs weighted by `scale` / (its votes - 1).

    Source: Krippendorff 2011, "Computing Krippendorff's Alpha-Reliability": 1 - (n - 1) (n - sum o_cc) / (n^2 - sum
    n_c^2), n being the number of votes that can be paired.
    """
    k = round(sums.shape[-1] ** 0.5)
    table = sums.reshape(*sums.shape[:-1], k, k) / scale
    votes = table.sum(axis=-1)
    n = votes.sum(axis=-1)
    same = np.trace(table, axis1=-2, axis2=-1)
    return 1 - divide((n - 1) * (n - same), n**2 - (votes**2).sum(axis=-1))


def grade(value: Estimate) -> str:
    """Return what an alpha allows; from few items it says little."""
    if value.value is None:
        return "no variation" if value.n else "no votes"
    allowed = "usable, with a note" if value.value >= USABLE else "do not release"
    return ("good" if value.value >= GOOD else allowed) + (" (few items)" if value.n < FEW else "")
