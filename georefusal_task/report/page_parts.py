"""What a page is made of, and how a figure stands in a cell of it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from georefusal_task.benchmarks.summary import Summary
from georefusal_task.core.stats import Estimate, undefined
from georefusal_task.core.verdicts import VERDICTS, Verdict
from georefusal_task.report.figures import Figure
from georefusal_task.report.references import always_answer
from georefusal_task.report.runs import Run
from georefusal_task.report.tables import UNDEFINED, Table, figure

UNPARSED = "unparsed"

SHORT: dict[Verdict, str] = {
    Verdict.ANSWER: "Answer",
    Verdict.INFO_MISSING: "Info missing",
    Verdict.GRANULARITY: "Granularity",
    Verdict.AMBIGUOUS: "Ambiguous",
    Verdict.FALSE_PREMISE: "False premise",
    Verdict.NONFACTUAL: "Nonfactual",
}
"""What narrow places call the verdicts."""

DRAWN = 8
"""Runs that a drawing can tell apart; tables hold all."""


class Scored(Protocol):
    """A run of any benchmark."""

    @property
    def name(self) -> str:
        """What tables call it. Untrusted text."""

    @property
    def summary(self) -> Summary:
        """Every figure of it."""


@dataclass(frozen=True)
class Note:
    """A paragraph."""

    text: str
    kind: Literal["plain", "warning", "result"] = "plain"


@dataclass(frozen=True)
class Fold:
    """Parts that are opened on demand."""

    title: str
    parts: tuple["Part", ...]


@dataclass(frozen=True)
class Matrix:
    """A confusion matrix: a row per gold verdict, a column per verdict said, the last one for replies without any."""

    caption: str
    run: int
    counts: tuple[tuple[int, ...], ...]
    notes: tuple[str, ...] = ()

    @property
    def rows(self) -> list[tuple[str, int, list[tuple[int, int]]]]:
        """(gold verdict, its items, [(count, shade 0 to 9)])."""
        named = zip(VERDICTS, self.counts, strict=True)
        return [
            (SHORT[gold], sum(row), [(count, min(9, 10 * count // sum(row)) if sum(row) else 0) for count in row])
            for gold, row in named
        ]

    @property
    def columns(self) -> list[str]:
        """Names of the columns."""
        return [*SHORT.values(), "No verdict"]


Part = Note | Table | Figure | Matrix | Fold


@dataclass(frozen=True)
class Section:
    """A part of the page with a heading of its own."""

    id: str
    title: str
    lead: str
    parts: Sequence[Part]


def shown(estimate: Estimate | None, *, signed: bool = False, interval: bool = True) -> str:
    """Return a share in per cent with its interval; counts where there are few items; a dash with n where undefined."""
    if estimate is None:
        return UNDEFINED
    if estimate.value is None and estimate.count is None:
        return f"{UNDEFINED} (n {estimate.n})"
    return figure(estimate, signed=signed, interval=interval)


def plain(estimate: Estimate | None) -> str:
    """Return a figure that is no share, with its interval."""
    if estimate is None or estimate.value is None:
        return shown(estimate)
    if estimate.low is None or estimate.high is None:
        return f"{estimate.value:+.2f}"
    return f"{estimate.value:+.2f} [{estimate.low:+.2f}, {estimate.high:+.2f}]"


def percent(value: float | None) -> str:
    """Return a share in per cent with its sign, or a dash."""
    return UNDEFINED if value is None else f"{100 * value:.1f} %"


def of(run: Scored, name: str) -> Estimate:
    """Return a metric of a run; undefined where its summary has none of that name."""
    return run.summary.metrics.get(name) or undefined()


def always_answering(runs: Sequence[Run]) -> tuple[str, float] | None:
    """Return name and place of the line that a drawing of accept_acc is read against; None without items."""
    labels = [item.label for item in runs[0].benchmark.items]
    share = always_answer(labels)["accept_acc"].value if labels else None
    return None if share is None else (f"always answering, {100 * share:.1f} % of all items", share)


def drawn_note(runs: Sequence[Scored]) -> str:
    """Return a sentence on runs that a drawing leaves out; empty where it has all."""
    return f" Drawn are the first {DRAWN} of {len(runs)} runs; the data table has all." if len(runs) > DRAWN else ""
