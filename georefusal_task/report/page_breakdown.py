"""Rates over groups of items, as tables and drawings with a line per group and run."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from georefusal_task.benchmarks.refusal import SMALL
from georefusal_task.benchmarks.refusal_scores import RATES, Outcomes
from georefusal_task.core.records import Row
from georefusal_task.core.sampling import Mask, Sample
from georefusal_task.core.stats import Estimate
from georefusal_task.core.verdicts import Verdict
from georefusal_task.report.figures import Figure
from georefusal_task.report.figures_charts import dots
from georefusal_task.report.page_parts import DRAWN, Scored, drawn_note, shown
from georefusal_task.report.runs import Run
from georefusal_task.report.tables import Table

NAMES = {
    "accept_acc": "Accepted",
    "answer_recall": "Answer recall",
    "refusal_acc": "Refusal accuracy",
    "false_refusal_rate": "False refusals",
    "missed_refusal_rate": "Missed refusals",
    "unparsed_rate": "No verdict",
}
_FEW = f"k/n: fewer than {SMALL} items, so no rate."

Groups = dict[str, dict[str, Estimate]]
"""Group -> metric -> its value there."""


def grouped(run: Run, group_of: Callable[[Row], str | None], names: Sequence[str]) -> dict[str, dict[str, Estimate]]:
    """Return group -> rate -> its value over the items of the group, counts alone under 20 items.

    Besides the metrics that are rates there are `refused` (of all items) and `granularity` (of answerable ones, those
    refused for want of detail).
    """
    outcomes = Outcomes.of(run.rows)
    said_granularity = np.array([row.verdict == Verdict.GRANULARITY for row in run.rows], dtype=np.bool_)
    more = {
        "refused": (outcomes.refused, outcomes.all),
        "granularity": (said_granularity, outcomes.answerable),
    }
    rates = {name: more[name] if name in more else RATES[name](outcomes) for name in names}
    sample = Sample.of([row.id for row in run.rows], run.clusters)
    of_item = [group_of(row) for row in run.rows]
    found = {}
    for group in sorted({group for group in of_item if group is not None}):
        member = np.array([one == group for one in of_item], dtype=np.bool_)
        found[group] = {name: _rate(sample, hits, among & member) for name, (hits, among) in rates.items()}
    return found


def _rate(sample: Sample, hits: Mask, among: Mask) -> Estimate:
    n = int(among.sum())
    if not 0 < n < SMALL:
        return sample.rate(hits, among)
    return Estimate(None, None, None, n, f"counts only, n < {SMALL}", count=int((hits & among).sum()))


def breakdown_table(
    title: str, what: str, found: Sequence[tuple[Scored, Groups]], names: Mapping[str, str] = NAMES
) -> Table:
    """Return a table with a row per group and run; `what` names the groups, and `names` are metric -> heading."""
    order = list(dict.fromkeys(group for _, groups_ in found for group in groups_))
    first, *_ = names
    rows = [
        (group, run.name, str(groups_[group][first].n), *(shown(groups_[group].get(name)) for name in names))
        for group in order
        for run, groups_ in found
        if group in groups_
    ]
    columns = (what, "Run", "n", *names.values())
    return Table(f"{title}, per cent with 95 % interval", columns, tuple(rows), (_FEW,), frozenset({0, 1}))


def breakdown_figure(
    id: str,  # noqa: A002 - an id it is
    title: str,
    runs: Sequence[Scored],
    found: Sequence[Groups],
    *,
    what: tuple[str, Sequence[str]],
    names: Mapping[str, str],
    conclude: str,
    beware: str,
    reference: tuple[str, float] | None = None,
) -> Figure:
    """Return a drawing of one rate by group and run, with a table of all.

    Args:
        id: of the figure.
        title: of the figure.
        runs: side by side.
        found: the groups of each run.
        what: what the groups are, and their order; those that no run has are left out.
        names: metric -> heading, the first one being drawn.
        conclude: what the drawing shows.
        beware: what it does not.
        reference: name and place of a line to read it against.
    """
    heading, order = what
    drawn, *_ = names
    present = [group for group in order if any(group in groups for groups in found)]
    marks = [
        (group, [(run, groups[group][drawn]) for run, groups in enumerate(found[:DRAWN]) if group in groups])
        for group in present
    ]
    rows = [
        (group, run.name, str(groups[group][drawn].n), *(shown(groups[group][name]) for name in names))
        for group in present
        for run, groups in zip(runs, found, strict=True)
        if group in groups
    ]
    return Figure(
        id,
        title,
        dots(marks, [run.name for run in runs[:DRAWN]] if len(runs) > 1 else (), reference=reference),
        conclude=conclude,
        beware=beware + drawn_note(runs),
        data=Table(
            f"{title}, per cent with 95 % interval",
            (heading, "Run", "n", *names.values()),
            tuple(rows),
            (_FEW,),
            frozenset({0, 1}),
        ),
    )
