"""The rules of consensus: unanimity lets an item pass, nothing makes a label.

A measured label stands whatever verifiers say; where none of them can see it, people look. A label that rests on
consensus needs every verifier, blind and informed. Source: the generator's design, section on verifier consensus.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from georefusal_build.consensus.checks import Checks
from georefusal_build.consensus.votes import Verifier, Vote
from georefusal_build.layout import SetItem
from georefusal_task.core.errors import ConfigError
from georefusal_task.core.records import Label
from georefusal_task.core.verdicts import Verdict
from georefusal_task.report.provenance import MEASURED


class Outcome(StrEnum):
    """What becomes of a candidate; each has exactly one."""

    ACCEPTED = "accepted"
    CONTESTED = "contested"
    """Measured, and too few verifiers see what was measured: people decide."""
    NO_CONSENSUS = "no_consensus"
    """Rests on consensus and has none: the candidate goes, and its base may be tried once more."""
    INCOMPLETE = "incomplete"
    """A verifier has not voted yet, or too few verifiers have."""


@dataclass(frozen=True)
class Needed:
    """How many verifiers an item needs; questions that no image can settle are judged by more of them."""

    verifiers: int = 3
    nonfactual: int = 5

    def of(self, label: Label) -> int:
        """Return how many an item needs."""
        return self.nonfactual if label.category is Verdict.NONFACTUAL else self.verifiers


@dataclass(frozen=True)
class Decision:
    """What becomes of one candidate, and the votes behind it by verifier."""

    item: SetItem
    outcome: Outcome
    votes: dict[str, Vote]
    checks: dict[str, Checks | None]

    @property
    def agreeing(self) -> int:
        """How many blind votes agree with the label."""
        return sum(vote.agrees(self.item.label) for vote in self.votes.values())

    @property
    def confirming(self) -> int:
        """How many informed verifiers confirm all seven checks."""
        return sum(checks is not None and all(checks.values()) for checks in self.checks.values())


def decide_all(items: Iterable[SetItem], verifiers: Sequence[Verifier], needed: Needed | None = None) -> list[Decision]:
    """Return the decision on every candidate, in their order.

    Raises:
        ConfigError: there are fewer verifiers than any item needs.
    """
    needed = needed or Needed()
    if len(verifiers) < needed.verifiers:
        raise ConfigError(
            f"{len(verifiers)} verifiers voted and {needed.verifiers} are needed; add logs, or lower --minimum, "
            "which the report then says"
        )
    return [decide(item, verifiers, needed.of(item.label)) for item in items]


def decide(item: SetItem, verifiers: Sequence[Verifier], needed: int) -> Decision:
    """Return what becomes of one candidate. An unreadable vote agrees with nothing."""
    votes = {one.name: one.image[item.id] for one in verifiers if item.id in one.image}
    checks = {one.name: one.informed[item.id] for one in verifiers if item.id in one.informed}
    decision = Decision(item, Outcome.INCOMPLETE, votes, checks)
    return Decision(item, _outcome(decision, len(verifiers), needed), votes, checks)


def is_measured(label: Label) -> bool:
    """Tell whether a label rests on a measurement of pixels or geometry."""
    return (label.anchor or "").lower() in MEASURED


def _outcome(decision: Decision, verifiers: int, needed: int) -> Outcome:
    label = decision.item.label
    if len(decision.votes) < max(verifiers, needed):
        return Outcome.INCOMPLETE
    if is_measured(label):
        # all must get an answerable question right, since it claims that nothing stands in the way
        enough = len(decision.votes) if label.gold is Verdict.ANSWER else 1
        return Outcome.ACCEPTED if decision.agreeing >= enough else Outcome.CONTESTED
    if decision.agreeing < len(decision.votes):
        return Outcome.NO_CONSENSUS
    if len(decision.checks) < max(verifiers, needed):
        return Outcome.INCOMPLETE
    return Outcome.ACCEPTED if decision.confirming == len(decision.checks) else Outcome.NO_CONSENSUS
