"""Two runs on the same items: how far apart they are, whether that can be chance, and where they part."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from georefusal_task.benchmarks.refusal_scores import RATES, Outcomes
from georefusal_task.core.errors import ConfigError, DataError
from georefusal_task.core.records import Row
from georefusal_task.core.sampling import Mask, Sample
from georefusal_task.core.stats import Estimate, PairedTest
from georefusal_task.core.verdicts import VERDICTS, Verdict
from georefusal_task.report.agreement import agreement
from georefusal_task.report.comparable import incomparable, notes
from georefusal_task.report.runs import Run
from georefusal_task.report.texts import p_value, visible

ALPHA = 0.05

COMPARED = (
    "accept_acc", "strict_acc", "accept_acc_json", "answer_recall", "refusal_acc", "detection_recall",
    "false_refusal_rate", "missed_refusal_rate", "unparsed_rate", "unparsed_rate_answerable",
    "unparsed_rate_must_refuse",
)  # fmt: skip
"""Rates whose denominator is the same for every model, so that their difference is one of paired items."""

GROUPINGS: dict[str, Callable[[Row], Verdict | None]] = {
    "gold": lambda row: row.gold,
    "category": lambda row: row.category,
}


@dataclass(frozen=True)
class Difference:
    """A share of the first run, of the second, and first minus second over the same items."""

    first: Estimate
    second: Estimate
    difference: Estimate

    def to_json(self) -> dict[str, Any]:
        """Return the three as `score --json` writes an estimate."""
        return {name: getattr(self, name).to_json() for name in ("first", "second", "difference")}


@dataclass(frozen=True)
class Group:
    """The headline on the items of one group."""

    name: str
    accept_acc: Difference
    test: PairedTest
    p_holm: float
    """Corrected for all groups of its grouping."""


@dataclass(frozen=True)
class Flip:
    """An item on which exactly one of the two is right."""

    id: str
    gold: Verdict
    first: Verdict | None
    second: Verdict | None
    first_is_right: bool


@dataclass(frozen=True)
class Comparison:
    """Everything that two runs say about each other on their common items."""

    names: tuple[str, str]
    n: int
    left_out: tuple[int, int]
    """Items of each run that the other lacks."""
    forced_over: tuple[str, ...]
    """Reasons against comparing the two, set aside by the user."""
    notes: tuple[str, ...]
    differences: dict[str, Difference]
    test: PairedTest
    """Of `accept_acc`."""
    groups: dict[str, list[Group]]
    agreement: dict[str, Estimate]
    flips: list[Flip] = field(repr=False)

    @property
    def is_distinguishable(self) -> bool:
        """The paired test rejects that the two are equally often right."""
        return self.test.p < ALPHA

    @property
    def sentence(self) -> str:
        """The result in words."""
        return _sentence(self)

    def to_json(self) -> dict[str, Any]:
        """Return everything as plain JSON values."""
        return {
            "runs": self.names,
            "n": self.n,
            "left_out": self.left_out,
            "forced_over": self.forced_over,
            "notes": self.notes,
            "sentence": self.sentence,
            "distinguishable": self.is_distinguishable,
            "test": self.test.to_json(),
            "differences": {name: difference.to_json() for name, difference in self.differences.items()},
            "groups": {
                grouping: {
                    group.name: {**group.accept_acc.to_json(), "test": group.test.to_json(), "p_holm": group.p_holm}
                    for group in groups
                }
                for grouping, groups in self.groups.items()
            },
            "agreement": {name: estimate.to_json() for name, estimate in self.agreement.items()},
            "flips": [
                {
                    "id": flip.id,
                    "gold": flip.gold,
                    "first": flip.first,
                    "second": flip.second,
                    "right": "first" if flip.first_is_right else "second",
                }
                for flip in self.flips
            ],
        }


def compare(first: Run, second: Run, *, clusters: Mapping[str, str] | None = None, force: bool = False) -> Comparison:
    """Return the comparison of two runs over the items that both have; the others are counted.

    Args:
        first: a run.
        second: the run that it is compared with.
        clusters: item id -> cluster; else what the runs' provenance says, else items count as independent.
        force: compare runs of other data, prompts or images all the same, and say so.

    Raises:
        ConfigError: the two cannot be compared; the message says why.
        DataError: they have no item in common.
    """
    reasons = incomparable(first, second)
    if reasons and not force:
        raise ConfigError(
            f"{visible(first.name)} and {visible(second.name)} cannot be compared: {'; '.join(reasons)}. A difference "
            "would not be one between models; --force compares them all the same"
        )
    common = [item for item in first.by_id if item in second.by_id]
    if not common:
        raise DataError(f"{visible(first.name)} and {visible(second.name)} have no item in common")
    rows = [first.by_id[item] for item in common], [second.by_id[item] for item in common]
    sample = Sample.of(common, clusters or first.clusters or second.clusters)
    outcomes = Outcomes.of(rows[0]), Outcomes.of(rows[1])
    test = sample.test(outcomes[0].right, outcomes[1].right)
    assert test is not None  # noqa: S101 - there are items
    return Comparison(
        names=(first.name, second.name),
        n=len(common),
        left_out=(first.n - len(common), second.n - len(common)),
        forced_over=tuple(reasons),
        notes=tuple(notes(first, second, len(common))),
        differences={
            name: _difference(sample, RATES[name](outcomes[0]), RATES[name](outcomes[1])) for name in COMPARED
        },
        test=test,
        groups={
            grouping: _groups([group_of(row) for row in rows[0]], sample, outcomes[0].right, outcomes[1].right)
            for grouping, group_of in GROUPINGS.items()
        },
        agreement=agreement(rows[0], rows[1], sample),
        flips=[
            Flip(ours.id, ours.gold, ours.verdict, theirs.verdict, ours.right)
            for ours, theirs in zip(*rows, strict=True)
            if ours.right != theirs.right
        ],
    )


def holm(p_values: Sequence[float]) -> list[float]:
    """Return p-values corrected for their number, in the order given.

    >>> [round(p, 3) for p in holm([0.01, 0.04, 0.03])]
    [0.03, 0.06, 0.06]

    Source: Holm 1979, step-down; equal to `statsmodels.stats.multitest.multipletests(method="holm")`.
    """
    corrected = [0.0] * len(p_values)
    highest = 0.0
    for place, index in enumerate(sorted(range(len(p_values)), key=lambda index: p_values[index])):
        highest = max(highest, min(1.0, p_values[index] * (len(p_values) - place)))
        corrected[index] = highest
    return corrected


def _difference(sample: Sample, ours: tuple[Mask, Mask], theirs: tuple[Mask, Mask]) -> Difference:
    among = ours[1] & theirs[1]
    return Difference(
        sample.rate(*ours), sample.rate(*theirs), sample.at(among).difference(ours[0][among], theirs[0][among])
    )


def _groups(names: Sequence[Verdict | None], sample: Sample, ours: Mask, theirs: Mask) -> list[Group]:
    found = []
    for name in VERDICTS:
        member = np.array([group == name for group in names], dtype=np.bool_)
        test = sample.at(member).test(ours[member], theirs[member])
        if test:
            found.append((str(name), _difference(sample, (ours, member), (theirs, member)), test))
    corrected = holm([test.p for *_, test in found])
    return [Group(*group, p) for group, p in zip(found, corrected, strict=True)]


def _sentence(found: Comparison) -> str:
    first, second = map(visible, found.names)
    gap, test = found.differences["accept_acc"].difference, found.test
    if gap.value is None or gap.low is None or gap.high is None:
        return "The difference is not defined."
    if test.better + test.worse == 0:
        return f"{first} and {second} are right on the same of the {found.n} items: nothing tells them apart."
    interval = f"95 % interval {100 * gap.low:+.1f} to {100 * gap.high:+.1f}"
    size = f"{100 * gap.value:+.1f} points ({interval}) over {found.n} items"
    basis = f"{p_value(test.p)}, {test.method}"
    if found.is_distinguishable:
        more, less = (first, second) if gap.value > 0 else (second, first)
        return f"{more} is right more often than {less}: {first} minus {second} is {size}, beyond chance ({basis})."
    words = f"{first} and {second} cannot be told apart: the difference is {size}, within chance ({basis})."
    if test.detectable is None:
        return words
    return (
        f"{words} They differ on {test.better + test.worse} items; with that, a difference has to reach "
        f"{100 * test.detectable:.1f} points to show in 80 % of cases."
    )
