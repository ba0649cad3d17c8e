"""From votes to a reviewed set: what is still open goes to people, and once nothing is, a new folder is written."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from georefusal_build.layout import SetItem, side_files, write_set
from georefusal_build.review.export import Mix, View, write_bundle
from georefusal_build.review.joined import Judged
from georefusal_build.review.merge import (
    Decision,
    Fate,
    LeverCount,
    Remeasure,
    alarm,
    decide,
    lever_counts,
    relabelled,
    switched_off,
)
from georefusal_build.review.summary import blind_votes, by_item, summary
from georefusal_build.review.votes import Judgement
from georefusal_build.streams import Stream, derive_key
from georefusal_task.core.errors import DataError
from georefusal_task.core.records import Label
from georefusal_task.core.verdicts import Verdict
from georefusal_task.data_columns import quoted, read_verdict
from georefusal_task.replies import json_lines

STATUS = "reviewed"
REPORT = "review.json"
MANY_ACCEPTED = 0.05
"""A larger share of items that accept several verdicts raises an alarm."""


@dataclass(frozen=True)
class Ruling:
    """The fate of every item of a set, levers that are switched off included."""

    items: tuple[SetItem, ...]
    votes: tuple[Judged, ...]
    decisions: Mapping[str, Decision]

    def of(self, fate: Fate) -> list[SetItem]:
        """Return the items of one fate."""
        return [item for item in self.items if self.decisions[item.id].fate is fate]

    @property
    def open(self) -> list[SetItem]:
        """The items that somebody still has to look at."""
        return [item for item in self.items if self.decisions[item.id].open]

    @property
    def levers(self) -> list[LeverCount]:
        """Counts by lever."""
        return lever_counts({item.id: item.label for item in self.items}, self.decisions)


def rule(items: Sequence[SetItem], votes: Sequence[Judged], remeasure: Remeasure | None = None) -> Ruling:
    """Return what becomes of each item of a set.

    Raises:
        DataError: two third persons have judged one item, or a third person said what neither reviewer did.
    """
    third: dict[str, Judged] = {}
    for vote in votes:
        if vote.kind == "adjudication" and third.setdefault(vote.id, vote) is not vote:
            raise DataError(f"{vote.id}: {third[vote.id].reviewer} and {vote.reviewer} have both judged it; keep one")
    views = by_item(votes)
    decisions = {
        item.id: decide(item.label, item.provenance, blind_votes(views.get(item.id, [])), third.get(item.id), remeasure)
        for item in items
    }
    if not any(one.open for one in decisions.values()):
        decisions = switched_off({item.id: item.label for item in items}, decisions)
    return Ruling(tuple(items), tuple(votes), decisions)


def measured_now(again: Mapping[str, Verdict], *, stand: bool = False) -> Remeasure:
    """Return how a contradicted measurement is looked at again.

    Args:
        again: item id -> verdict of a new measurement, where somebody made one.
        stand: all others were measured again and stand.
    """

    def remeasure(label: Label) -> Verdict | None:
        return again.get(label.id, label.gold if stand else None)

    return remeasure


def read_measured(path: Path) -> dict[str, Verdict]:
    """Return item id -> verdict from JSONL lines {"id", "verdict"}.

    Raises:
        DataError: a line lacks one of them or has no verdict.
    """
    found = {}
    for line, row in json_lines(path):
        try:
            found[str(row["id"])] = read_verdict(row["verdict"])
        except (KeyError, ValueError) as error:
            raise DataError(
                f'{path}:{line}: expected {{"id", "verdict"}} of a new measurement ({quoted(error)})'
            ) from None
    return found


def queue_views(ruling: Ruling, seed: int) -> list[View]:
    """Return what a third person is shown: the item, and both votes in an order that does not tell whose is whose."""
    views, judged = [], by_item(ruling.votes)
    for item in ruling.of(Fate.THIRD):
        stream = Stream(derive_key(seed, item.id, "review third"))
        said = [
            Judgement(**vote.model_dump(include=set(Judgement.model_fields))) for vote in blind_votes(judged[item.id])
        ]
        shown = tuple(stream.shuffled(said))
        views.append(View(item.id, "item", item.case.image, item.case.question, frozenset({item.id}), votes=shown))
    return views


def write_queue(out: Path, ruling: Ruling, third: str, data: str, mix: Mix) -> None:
    """Write a bundle for the third person.

    Raises: as `write_bundle`.
    """
    write_bundle(out, queue_views(ruling, mix.seed), [third], mix, data, kind="adjudication")


def write_reviewed(out: Path, ruling: Ruling, source: Path) -> dict[str, Any]:
    """Write the reviewed set into a new folder and return its report, which stands there as `review.json`.

    Raises:
        ConfigError: `out` exists.
        DataError: an item is still open.
    """
    if ruling.open:
        raise DataError(f"{len(ruling.open)} items are not decided yet, the first being {ruling.open[0].id}")
    kept = [_reviewed(item, ruling) for item in ruling.items if ruling.decisions[item.id].fate is not Fate.REMOVE]
    report = review_report(ruling, kept)
    readme = source / "README.md"  # it names licences
    files = side_files(source) | ({readme.name: readme.read_text(encoding="utf-8")} if readme.is_file() else {})
    files[REPORT] = json.dumps(report, indent=1, ensure_ascii=False) + "\n"
    write_set(out, kept, files=files)
    return report


def review_report(ruling: Ruling, kept: Sequence[SetItem]) -> dict[str, Any]:
    """Return the report of a review: what changed, what went and why, and how far the reviewers agreed."""
    decisions = ruling.decisions
    settled = sum(one.verdict is not None for one in decisions.values())
    changed = sum(one.contradicts for one in decisions.values())
    several = sum(len(item.label.accept) > 1 for item in kept)
    before = {item.id: item for item in ruling.items}
    blind = summary(ruling.items, ruling.votes)
    alarms = [alarm(changed, settled)]
    if kept and several / len(kept) > MANY_ACCEPTED:
        alarms.append(f"{several} of {len(kept)} items accept several verdicts, over {MANY_ACCEPTED:.0%}")
    return {
        "schema": "review-report/1",
        "counts": {
            "items": len(ruling.items),
            "kept": len(kept),
            "changed": len(ruling.of(Fate.CHANGE)),
            "removed": len(ruling.of(Fate.REMOVE)),
        },
        "reasons": dict(sorted(Counter(decisions[item.id].reason for item in ruling.of(Fate.REMOVE)).items())),
        "verdicts": {"settled": settled, "changed": changed},
        "alarms": [text for text in alarms if text],
        "levers_switched_off": [
            {"lever": count.lever, "settled": count.settled, "changed": count.changed}
            for count in ruling.levers
            if count.off
        ],
        "changed": [
            {"id": item.id, "lever": item.label.lever, "before": _label(before[item.id]), "after": _label(item)}
            for item in kept
            if _label(before[item.id]) != _label(item)
        ],
        "removed": [
            {
                "id": item.id,
                "reason": decisions[item.id].reason,
                "lever": item.label.lever,
                "question": item.case.question,
                "label": _label(item),
                "votes": _votes(item.id, ruling.votes, notes=True),
            }
            for item in ruling.of(Fate.REMOVE)
        ],
        "agreement": {
            f"{name} ({who}, {scale})": value
            for scale, pairs in blind["agreement"].items()
            for who, figures in pairs.items()
            for name, value in figures.items()
        },
        "blind": blind,
    }


def _reviewed(item: SetItem, ruling: Ruling) -> SetItem:
    decision = ruling.decisions[item.id]
    row = item.provenance or {"id": item.id, "set": item.case.set}
    marks = {
        "review_votes": [*(row.get("review_votes") or []), *_votes(item.id, ruling.votes)],
        "verdict_changed": bool(row.get("verdict_changed")) or decision.fate is Fate.CHANGE,
        "status": STATUS,
    }
    return replace(item, label=relabelled(item.label, decision), provenance=row | marks)


def _label(item: SetItem) -> dict[str, Any]:
    return item.label.model_dump(mode="json", include={"gold", "accept", "answer"})


_PUBLISHED = {"reviewer", "kind", "role", "verdict", "answer", "alt", "confidence", "flags"}
"""Fields of a vote that stand in provenance; notes are for the people of the project."""


def _votes(item: str, votes: Sequence[Judged], *, notes: bool = False) -> list[dict[str, Any]]:
    own = [vote for vote in votes if vote.id == item and vote.role != "catch"]
    own.sort(key=lambda vote: (vote.kind != "blind", vote.reviewer, vote.role))
    return [vote.model_dump(mode="json", include=_PUBLISHED | ({"note"} if notes else set())) for vote in own]
