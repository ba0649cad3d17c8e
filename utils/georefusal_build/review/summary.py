"""What votes say before anything is changed: agreement, repeats, catch items, and how much of the set is in doubt."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from statistics import median
from typing import Any

import numpy as np

from georefusal_build.layout import SetItem, clusters
from georefusal_build.review.joined import Judged, by_reviewer, chosen
from georefusal_build.review.merge import Decision, Fate, alarm, decide, lever_counts, supports
from georefusal_build.review.rates import agreement, alpha, grade
from georefusal_task.core.records import Label
from georefusal_task.core.sampling import Sample
from georefusal_task.core.stats import Estimate, undefined
from georefusal_task.core.verdicts import Verdict


def blind_decisions(items: Sequence[SetItem], votes: Sequence[Judged]) -> dict[str, Decision]:
    """Return item id -> what the blind votes alone lead to."""
    views = by_item(votes)
    return {item.id: decide(item.label, item.provenance, blind_votes(views.get(item.id, []))) for item in items}


def by_item(votes: Iterable[Judged]) -> dict[str, list[Judged]]:
    """Return item id -> judgements, those of catch items left out."""
    found: dict[str, list[Judged]] = {}
    for vote in votes:
        if vote.role != "catch":
            found.setdefault(vote.id, []).append(vote)
    return found


def blind_votes(votes: Iterable[Judged]) -> list[Judged]:
    """Return each reviewer's blind judgement of one item, with the flags of every view of it."""
    own = [vote for vote in votes if vote.kind == "blind"]
    first = sorted((vote for vote in own if vote.role == "item"), key=lambda vote: vote.reviewer)
    return [
        vote.model_copy(
            update={"flags": tuple(dict.fromkeys(f for v in own if v.reviewer == vote.reviewer for f in v.flags))}
        )
        for vote in first
    ]


def summary(items: Sequence[SetItem], votes: Sequence[Judged]) -> dict[str, Any]:
    """Return the whole report as plain JSON; estimates are those of `score --json`."""
    blind = [vote for vote in votes if vote.kind == "blind"]
    said = by_reviewer(blind)
    known = clusters(items)
    labels = {item.id: item.label for item in items}
    decisions = blind_decisions(items, blind)
    settled = sum(one.verdict is not None for one in decisions.values())
    changed = sum(one.contradicts for one in decisions.values())
    return {
        "items": len(items),
        "judged_by_two": sum(one.fate is not Fate.WAIT for one in decisions.values()),
        "clusters": len(set(known.values())),
        "reviewers": {name: _reviewer(name, blind, labels, known) for name in said},
        "agreement": {
            scale: {who: {name: value.to_json() for name, value in figures.items()} for who, figures in pairs.items()}
            for scale, pairs in agreement(said, known).items()
        },
        "families": _families(items, said, known),
        "changes": {
            "settled": settled,
            "changed": changed,
            "differ": sum(one.fate is Fate.THIRD for one in decisions.values()),
            "alarm": alarm(changed, settled),
        },
        "levers": [
            {"lever": count.lever, "settled": count.settled, "changed": count.changed, "off": count.off}
            for count in lever_counts(labels, decisions)
        ],
    }


def _reviewer(
    name: str, blind: Sequence[Judged], labels: Mapping[str, Label], known: Mapping[str, str]
) -> dict[str, Any]:
    own = [vote for vote in blind if vote.reviewer == name]
    first = {vote.id: vote for vote in own if vote.role == "item"}
    again = [(first[vote.id], vote) for vote in own if vote.role == "repeat" and vote.id in first]
    catch = [vote for vote in own if vote.expects_answer]
    checked = [vote for vote in catch if vote.right_answer in ("yes", "no")]
    items = list(first.values())
    return {
        "judged": len(first),
        "revised": sum(vote.votes > 1 for vote in own),
        "median_seconds": round(median(vote.ms for vote in own) / 1000, 1) if own else None,
        "as_the_label": _rate(items, [supports(labels[vote.id], vote) for vote in items], known).to_json(),
        "repeats_the_same": _rate(
            [vote for vote, _ in again], [one.said == two.said for one, two in again], known
        ).to_json(),
        "catch_answered": _rate(catch, [vote.verdict == Verdict.ANSWER for vote in catch], known).to_json(),
        "catch_right": _rate(checked, [vote.answer == vote.right_answer for vote in checked], known).to_json(),
        "verdicts": dict(sorted(Counter(str(chosen(vote)) for vote in items).items())),
        "flags": dict(sorted(Counter(flag.value for vote in own for flag in vote.flags).items())),
    }


def _rate(votes: Sequence[Judged], hits: Sequence[bool], known: Mapping[str, str]) -> Estimate:
    if not votes:
        return undefined()
    sample = Sample.of([vote.id for vote in votes], known)
    return sample.rate(np.array(hits, dtype=np.bool_), np.ones(len(votes), dtype=np.bool_))


def _families(
    items: Sequence[SetItem], said: Mapping[str, Mapping[str, Judged]], known: Mapping[str, str]
) -> dict[str, dict[str, Any]]:
    families: dict[str, set[str]] = {}
    for item in items:
        families.setdefault(item.label.lever_family or "unknown", set()).add(item.id)
    report = {}
    for family, members in sorted(families.items()):
        own = {name: {i: vote for i, vote in votes.items() if i in members} for name, votes in said.items()}
        value = alpha(own, known)
        report[family] = {"items": len(members), "krippendorff_alpha": value.to_json(), "grade": grade(value)}
    return report
