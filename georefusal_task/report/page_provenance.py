"""The section that provenance makes possible: what labels rest on, pairs, severity, and pixels on target."""

from collections.abc import Callable, Sequence

from georefusal_task.core.records import Row
from georefusal_task.report.curves import Curve, curve, paired_consistency
from georefusal_task.report.effective import by_effective_pixels
from georefusal_task.report.figures import Figure
from georefusal_task.report.figures_charts import severity_curves
from georefusal_task.report.page_breakdown import NAMES, breakdown_table, grouped
from georefusal_task.report.page_parts import DRAWN, Fold, Note, Part, Section, shown
from georefusal_task.report.provenance import Provenance, is_measured, severities
from georefusal_task.report.runs import Run
from georefusal_task.report.tables import UNDEFINED, Table

CURVES_SHOWN = 4
"""Lever families whose curve stands open."""


def provenance(runs: Sequence[Run]) -> Section | None:
    """Return what the making of the items adds; None where neither provenance nor an anchor is known."""
    parts = [*_measured(runs), *_pairs(runs), *_curves(runs), *by_effective_pixels(runs)]
    if not parts:
        return None
    counts = {len(set(run.clusters.values())) for run in runs if run.clusters}
    lead = "Joined to the finished runs by id; no model has seen any of it."
    if counts:
        clusters = " and ".join(map(str, sorted(counts)))
        lead += f" All intervals and tests of this page take items of one base together, as {clusters} clusters."
    return Section("provenance", "What was done to the images", lead, parts)


def _measured(runs: Sequence[Run]) -> list[Part]:
    def anchor(run: Run) -> Callable[[Row], str | None]:
        told = {True: "measured", False: "consensus", None: None}
        labels, records = run.benchmark.by_id, run.provenance
        return lambda row: told[is_measured(labels[row.id].label, records.get(row.id))]

    found = [(run, grouped(run, anchor(run), tuple(NAMES))) for run in runs]
    if not any(groups_ for _, groups_ in found):
        return []
    table = breakdown_table("By what the label rests on", "Label", found)
    return [
        Note(
            "Measured labels rest on pixels or geometry; the others on rules or on verifiers who agreed. A model that "
            "does well on consensus labels alone may share the verifiers' habits."
        ),
        table,
    ]


def _pairs(runs: Sequence[Run]) -> list[Part]:
    found = [(run, paired_consistency(run)) for run in runs]
    rows = [
        (
            run.name,
            pairs.paired_by,
            str(pairs.consistent.n),
            shown(pairs.consistent),
            *map(str, pairs.outcomes.values()),
        )
        for run, pairs in found
        if pairs
    ]
    if not rows:
        return []
    return [
        Table(
            "Paired consistency, per cent with 95 % interval",
            ("Run", "Paired by", "Pairs", "Consistent", "told apart", "answers both", "refuses both", "other"),
            tuple(rows),
            (
                "Consistent: its LOW items are answered, its MEDIUM and HIGH ones refused, which no constant does.",
                "Items that the review turned round are left out.",
            ),
            frozenset({0, 1}),
        )
    ]


def _curves(runs: Sequence[Run]) -> list[Part]:
    """Return a figure per lever family that has a measure and enough items, and all 50 % points in one table."""
    labels = [item.label for item in runs[0].benchmark.items]
    known: dict[str, Provenance] = {}
    for run in runs:
        known.update(run.provenance)
    figures: list[Part] = []
    points: list[tuple[str, ...]] = []
    for family, severity in severities(labels, known).items():
        drawn = [(number, one) for number, run in enumerate(runs) if (one := curve(run, family, severity)).fit]
        if drawn:
            rows = [_half(runs[number].name, one) for number, one in drawn]
            figures.append(_curve_figure(f"curve-{len(figures)}", runs, drawn, rows))
            points += [(family, severity.measure, *row) for row in rows]
    if not figures:
        return []
    table = Table(
        "Severity at which half is refused",
        ("Lever family", "Measure", *_HALF),
        tuple(points),
        (_HALF_NOTE,),
        frozenset({0, 1, 2}),
    )
    more = figures[CURVES_SHOWN:]
    folded = [Fold(f"{len(more)} more lever families", tuple(more))] if more else []
    return [*figures[:CURVES_SHOWN], *folded, table]


_HALF = ("Run", "n", "Refused", "50 % point", "95 % interval", "No verdict")
_HALF_NOTE = "No point: beyond what was measured, or refusal grows the wrong way. No interval: too uncertain a slope."


def _half(name: str, one: Curve) -> tuple[str, ...]:
    reach = one.fit.half_interval if one.fit and one.half is not None else None
    return (
        name,
        str(len(one.values)),
        f"{sum(one.refused)}/{len(one.refused)}",
        UNDEFINED if one.half is None else f"{one.half:.3g}",
        f"{reach[0]:.3g} to {reach[1]:.3g}" if reach else UNDEFINED,
        str(one.unparsed),
    )


def _curve_figure(
    name: str, runs: Sequence[Run], drawn: Sequence[tuple[int, Curve]], rows: Sequence[tuple[str, ...]]
) -> Figure:
    family, measure = drawn[0][1].family, drawn[0][1].measure
    return Figure(
        name,
        f"{family}: refusal against {measure}",
        severity_curves(drawn[:DRAWN], [runs[number].name for number, _ in drawn[:DRAWN]]),
        conclude="A steep curve sees the evidence go; the marker stands where half is refused. Strokes are single "
        "items: refused above, answered below.",
        beware="Much from few items: the fit is penalised so that it stays finite. Without a marker, the point lies "
        "beyond what was measured.",
        data=Table(f"Refusal of {family} by {measure}", _HALF, tuple(rows), (_HALF_NOTE,)),
    )
