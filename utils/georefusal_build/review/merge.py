"""What becomes of each item after review: two blind votes, a third person where they differ, and no majority vote."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from georefusal_build.review.joined import Judged, chosen
from georefusal_build.review.votes import REMOVE, Flag
from georefusal_task.core.records import Label
from georefusal_task.core.verdicts import PRECEDENCE, Verdict
from georefusal_task.report.provenance import MEASURED

LEVER_OFF = 1 / 3
"""A lever with a larger share of changed verdicts is switched off."""
RUBBER_STAMP, BROKEN = 0.02, 0.20
"""A share of changed verdicts outside of this raises an alarm."""

Row = Mapping[str, Any]
Remeasure = Callable[[Label], Verdict | None]
"""Label of an item -> the verdict that its measurement gives when it is repeated; None: nobody has repeated it."""


class Fate(StrEnum):
    """What becomes of an item."""

    KEEP = "keep"
    CHANGE = "change"
    """The verdict was a matter of consensus, and two people see it otherwise."""
    REMOVE = "remove"
    THIRD = "third"
    """The two differ: a third person decides."""
    REMEASURE = "remeasure"
    """Both contradict a measurement: it has to be repeated."""
    WAIT = "wait"
    """Fewer than two votes."""


@dataclass(frozen=True)
class Decision:
    """The fate of one item, with the reason for it."""

    fate: Fate
    reason: str = ""
    verdict: Verdict | None = None
    """What the reviewers settled on; None while, or because, they did not."""
    answer: str = ""
    added: Verdict | None = None
    """A second verdict that both added."""
    contradicts: bool = False
    """The reviewers settled on something that the label does not accept."""

    @property
    def open(self) -> bool:
        """True while somebody still has to do something."""
        return self.fate in (Fate.THIRD, Fate.REMEASURE, Fate.WAIT)


def decide(
    label: Label, row: Row, blind: Sequence[Judged], third: Judged | None = None, remeasure: Remeasure | None = None
) -> Decision:
    """Return the fate of one item.

    Args:
        label: what the set says of it.
        row: its provenance; {} where there is none.
        blind: the judgements of the reviewers who saw nothing but the item.
        third: the judgement of the person who saw both votes.
        remeasure: asked when reviewers contradict a measurement.
    """
    if spoilt := _spoilt([*blind, *([third] if third else [])]):
        return Decision(Fate.REMOVE, spoilt)
    if len(blind) < 2:
        return Decision(Fate.WAIT, f"{len(blind)} of 2 votes")
    agreed = len({vote.said for vote in blind}) == 1
    settled = blind[0] if agreed else third
    if settled is None:
        return Decision(Fate.THIRD, "the reviewers differ")
    if settled.verdict == REMOVE:
        return Decision(Fate.REMOVE, "third_person_removed")
    verdict = Verdict(settled.verdict)
    found = Decision(Fate.KEEP, verdict=verdict, answer=settled.answer, added=_second(verdict, row, blind))
    if supports(label, settled):
        return found
    return _contradicted(label, replace(found, contradicts=True), remeasure)


def supports(label: Label, vote: Judged) -> bool:
    """Return whether a vote says what the label accepts; where the yes or no is not known, the verdict alone counts."""
    known = label.answer in ("yes", "no") and vote.verdict == Verdict.ANSWER
    return chosen(vote) in label.accept and (not known or vote.answer == label.answer)


def _spoilt(votes: Sequence[Judged]) -> str:
    """Return why an item goes whatever its verdict is, or nothing."""
    if any(Flag.BOX in vote.flags for vote in votes):
        return Flag.BOX.value
    wording = {(vote.kind, vote.reviewer) for vote in votes if Flag.WORDING in vote.flags}
    return Flag.WORDING.value if len(wording) > 1 else ""


def _second(verdict: Verdict, row: Row, blind: Sequence[Judged]) -> Verdict | None:
    """Return the refusal that every reviewer added to the same refusal, where the lever's row does not forbid it."""
    named = {vote.alt for vote in blind}
    if not verdict.is_refusal or len(named) != 1 or any(chosen(vote) is not verdict for vote in blind):
        return None
    second = named.pop()
    return second if "may_accept" not in row or row["may_accept"] == second else None


def _contradicted(label: Label, found: Decision, remeasure: Remeasure | None) -> Decision:
    if (label.anchor or "").lower() not in MEASURED:
        return replace(found, fate=Fate.CHANGE, reason="the reviewers agree on another verdict")
    measured = remeasure(label) if remeasure else None
    if measured is None:
        return replace(found, fate=Fate.REMEASURE, reason="the reviewers contradict a measurement", added=None)
    if measured == found.verdict and measured not in label.accept:
        return replace(found, fate=Fate.CHANGE, reason="measured again, the reviewers are right")
    stands = "measurement_stands" if measured == label.gold else f"measured_again: {measured}"
    return replace(found, fate=Fate.REMOVE, reason=stands, added=None)


def relabelled(label: Label, decision: Decision) -> Label:
    """Return the label that an item has after review."""
    accept = list(label.accept)
    update: dict[str, object] = {}
    if decision.fate is Fate.CHANGE and decision.verdict:
        accept = [decision.verdict]
        update = {"gold": decision.verdict, "answer": decision.answer}
    if decision.added and decision.added not in accept and Verdict.ANSWER not in accept:
        accept.append(decision.added)
    return label.model_copy(update={**update, "accept": tuple(sorted(accept, key=PRECEDENCE.index))})


@dataclass(frozen=True)
class LeverCount:
    """How many of a lever's verdicts were settled, and how many of them on something else than the label."""

    lever: str
    settled: int
    changed: int

    @property
    def off(self) -> bool:
        """True when more than a third changed."""
        return self.changed > self.settled * LEVER_OFF


def lever_counts(labels: Mapping[str, Label], decisions: Mapping[str, Decision]) -> list[LeverCount]:
    """Return the counts of every lever of which a verdict was settled, by name."""
    settled: Counter[str] = Counter()
    changed: Counter[str] = Counter()
    for item, decision in decisions.items():
        lever = labels[item].lever
        if lever and decision.verdict:
            settled[lever] += 1
            changed[lever] += decision.contradicts
    return [LeverCount(lever, settled[lever], changed[lever]) for lever in sorted(settled)]


def switched_off(labels: Mapping[str, Label], decisions: Mapping[str, Decision]) -> dict[str, Decision]:
    """Return the decisions after withdrawing every item of a lever that changed too often."""
    off = {count.lever for count in lever_counts(labels, decisions) if count.off}
    return {
        item: replace(decision, fate=Fate.REMOVE, reason="lever_switched_off", added=None)
        if labels[item].lever in off and decision.fate is not Fate.REMOVE
        else decision
        for item, decision in decisions.items()
    }


def alarm(changed: int, settled: int) -> str:
    """Return what a share of changed verdicts warns of, or nothing."""
    if not settled:
        return ""
    share = changed / settled
    if share < RUBBER_STAMP:
        return f"{changed} of {settled} verdicts changed, under {RUBBER_STAMP:.0%}: are labels being rubber-stamped?"
    if share > BROKEN:
        return f"{changed} of {settled} verdicts changed, over {BROKEN:.0%}: something in the build is broken"
    return ""
