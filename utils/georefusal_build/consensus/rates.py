"""What the votes say about verifiers and levers: pass rates, agreement, confusion, and what unanimity costs."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from georefusal_build.consensus.rules import Decision, Needed, Outcome, decide_all
from georefusal_build.consensus.votes import Verifier
from georefusal_build.layout import clusters
from georefusal_task.core.sampling import Sample, divide
from georefusal_task.core.stats import Estimate, Floats, bootstrap_clusters, undefined
from georefusal_task.core.verdicts import VERDICTS, Verdict
from georefusal_task.report.agreement import OUTCOMES, cohen_kappa, gwet_ac1

UNPARSED = "unparsed"


@dataclass(frozen=True)
class PassRate:
    """How often one verifier confirms the items of one group."""

    family: str
    intensity: str
    verifier: str
    blind: Estimate
    informed: Estimate


def pass_rates(decisions: Sequence[Decision], names: Sequence[str]) -> list[PassRate]:
    """Return the rates of every family, intensity and verifier, and under "all" those of every verifier."""
    groups: dict[tuple[str, str], list[Decision]] = {}
    for decision in decisions:
        label = decision.item.label
        groups.setdefault((label.lever_family or "unknown", label.intensity or "unknown"), []).append(decision)
    ordered = [(("all", "all"), [*decisions]), *sorted(groups.items())]
    known = clusters(decision.item for decision in decisions)
    return [
        PassRate(
            family,
            intensity,
            name,
            _rate(members, known, [_agrees(one, name) for one in members]),
            _rate(members, known, [_confirms(one, name) for one in members]),
        )
        for (family, intensity), members in ordered
        for name in names
    ]


def pairs(decisions: Sequence[Decision], names: Sequence[str]) -> dict[tuple[str, str], dict[str, Estimate]]:
    """Return agreement, Cohen's kappa and Gwet's AC1 of each pair of verifiers over the items that both voted on.

    Kappa falls where one verdict is common, AC1 does not. An unreadable vote is an outcome of its own.
    """
    found = {}
    known = clusters(decision.item for decision in decisions)
    for first, second in combinations(names, 2):
        both = [one for one in decisions if first in one.votes and second in one.votes]
        sample = Sample.of([one.item.id for one in both], known)
        ours, theirs = (np.array([_outcome(one, name) for one in both], dtype=np.int64) for name in (first, second))
        cells = ours * OUTCOMES + theirs
        found[first, second] = {
            "agreement": sample.rate(ours == theirs, np.ones(len(both), dtype=np.bool_)),
            "cohen_kappa": sample.statistic(cohen_kappa, cells, kinds=OUTCOMES**2),
            "gwet_ac1": sample.statistic(gwet_ac1, cells, kinds=OUTCOMES**2),
        }
    return found


def fleiss(decisions: Sequence[Decision], names: Sequence[str]) -> Estimate:
    """Return Fleiss' kappa of all verifiers over the items that all of them voted on; undefined with fewer than two.

    Source: Fleiss 1971; equal to `statsmodels.stats.inter_rater.fleiss_kappa`.
    """
    complete = [one for one in decisions if all(name in one.votes for name in names)]
    if len(names) < 2 or not complete:
        return undefined()
    counts = np.zeros((len(complete), OUTCOMES), dtype=np.int64)
    for row, one in enumerate(complete):
        for name in names:
            counts[row, _outcome(one, name)] += 1
    agreeing = (counts * (counts - 1)).sum(axis=1, keepdims=True)
    columns = np.hstack([counts, agreeing])
    known = clusters(one.item for one in complete)
    numbers = np.unique([known[one.item.id] for one in complete], return_inverse=True)[1]
    sums = np.zeros((int(numbers.max()) + 1, OUTCOMES + 1), dtype=np.int64)
    np.add.at(sums, numbers, columns)

    def kappa(total: Floats) -> Floats:
        ratings = total[..., :-1].sum(axis=-1)
        same = divide(total[..., -1], ratings * (len(names) - 1))
        chance = (divide(total[..., :-1], ratings[..., None]) ** 2).sum(axis=-1)
        return divide(same - chance, 1 - chance)

    value = float(kappa(sums.sum(axis=0).astype(np.float64)))
    if np.isnan(value):
        return undefined(len(complete))
    interval = bootstrap_clusters(kappa, sums)
    method = f"bootstrap over {len(sums)} clusters" + ("" if interval else ", no spread")
    return Estimate(value, *(interval or (value, value)), len(complete), method)


def confusion(decisions: Iterable[Decision], name: str) -> dict[Verdict, Counter[str]]:
    """Return gold verdict -> how often the verifier said which verdict, or nothing readable."""
    table: dict[Verdict, Counter[str]] = {verdict: Counter() for verdict in VERDICTS}
    for one in decisions:
        if name in one.votes:
            table[one.item.label.gold][one.votes[name].verdict or UNPARSED] += 1
    return table


def left_out(decisions: Sequence[Decision], verifiers: Sequence[Verifier], needed: Needed) -> dict[str, Estimate]:
    """Return verifier -> share of items that would be decided otherwise without it, of those decided with it."""
    found = {}
    items = [one.item for one in decisions]
    known = clusters(items)
    for verifier in verifiers:
        others = [one for one in verifiers if one is not verifier]
        fewer = Needed(min(needed.verifiers, len(others)), min(needed.nonfactual, len(others)))
        changed = [
            before.outcome is not after.outcome
            for before, after in zip(decisions, decide_all(items, others, fewer), strict=True)
        ]
        decided = np.array([one.outcome is not Outcome.INCOMPLETE for one in decisions])
        found[verifier.name] = Sample.of([item.id for item in items], known).rate(np.array(changed), decided)
    return found


def yields(decisions: Sequence[Decision], k: int) -> dict[str, dict[str, Estimate]]:
    """Return "k/k" and "(k-1)/k" -> share of the items with k votes on which so many agree, blind and informed.

    Unanimity favours easy items: the distance between the two rows shows how much.
    """
    known = clusters(one.item for one in decisions)
    return {
        row: {
            "blind": _rate(decisions, known, [one.agreeing >= m if len(one.votes) == k else None for one in decisions]),
            "informed": _rate(
                decisions, known, [one.confirming >= m if len(one.checks) == k else None for one in decisions]
            ),
        }
        for row, m in (("k/k", k), ("(k-1)/k", k - 1))
    }


def _outcome(decision: Decision, name: str) -> int:
    verdict = decision.votes[name].verdict
    return len(VERDICTS) if verdict is None else VERDICTS.index(verdict)


def _agrees(decision: Decision, name: str) -> bool | None:
    return decision.votes[name].agrees(decision.item.label) if name in decision.votes else None


def _confirms(decision: Decision, name: str) -> bool | None:
    if name not in decision.checks:
        return None
    checks = decision.checks[name]
    return checks is not None and all(checks.values())


def _rate(decisions: Sequence[Decision], known: Mapping[str, str], said: Sequence[bool | None]) -> Estimate:
    """Return the share of True among the items on which there is something to say."""
    hits, among = np.array([one is True for one in said]), np.array([one is not None for one in said])
    return Sample.of([one.item.id for one in decisions], known).rate(hits, among)
