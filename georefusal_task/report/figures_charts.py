"""The drawings of the report: intervals in groups, outcomes as bars, the plane, and refusal against severity."""

from collections.abc import Sequence
from textwrap import wrap

import numpy as np

from georefusal_task.benchmarks.refusal import SMALL
from georefusal_task.core.stats import Estimate
from georefusal_task.report.curves import Curve
from georefusal_task.report.figures import WIDTH, Anchor, Axis, Drawing, percent_axis, run_class, short
from georefusal_task.report.selective import Selective
from georefusal_task.report.tables import figure

OUTCOMES = ("right", "reason", "side", "unparsed")
"""Classes of the bars: right; refused for another reason; on the wrong side; no verdict."""


def dots(
    groups: Sequence[tuple[str, Sequence[tuple[int, Estimate]]]],
    names: Sequence[str] = (),
    *,
    reference: tuple[str, float] | None = None,
) -> Drawing:
    """Return shares with intervals on one scale, group below group.

    Args:
        groups: (label, [(number of the run, its share)]); few items are written as counts, without a dot.
        names: of the runs, for the legend; empty where the labels say it.
        reference: (label, share) of a vertical line.
    """
    drawing = Drawing()
    y = drawing.legend(names, 4) if names else 4.0
    if reference:
        drawing.line(8, y + 8, 26, y + 8, "reference")
        drawing.text(32, y + 12, reference[0], "label")
        y += 24
    top = y
    right = WIDTH - 66
    height = sum(22 + 17 * len(members) for _, members in groups)
    axis = percent_axis(drawing, top, top + height, left=8, right=right)
    if reference:
        drawing.line(axis(reference[1]), top, axis(reference[1]), top + height, "reference")
    for label, members in groups:
        drawing.text(8, y + 15, short(label, 50), "label")
        y += 20
        for run, estimate in members:
            _dot(drawing, axis, y + 7, run, estimate)
            y += 17
        y += 2
    drawing.height = top + height + 22
    return drawing


def _dot(drawing: Drawing, axis: Axis, y: float, run: int, estimate: Estimate) -> None:
    if estimate.value is not None and estimate.n >= SMALL:
        if estimate.low is not None and estimate.high is not None:
            drawing.interval(axis(estimate.low), axis(estimate.high), y, run)
        drawing.marker(axis(estimate.value), y, run, 4.5)
        drawing.text(WIDTH - 4, y + 4, f"{100 * estimate.value:.1f} %", "value", "end")
    else:
        drawing.text(WIDTH - 4, y + 4, figure(estimate), "value quiet", "end")


def outcome_bars(rows: Sequence[tuple[str, Sequence[tuple[str, Sequence[int]]]]]) -> Drawing:
    """Return stacked bars: (run, [(label, counts in the order of OUTCOMES)])."""
    drawing = Drawing()
    y = 4.0
    legend = (
        ("right", "right verdict"),
        ("reason", "refused, but for another reason"),
        ("side", "wrong side: refused what is answerable, or answered what must be refused"),
        ("unparsed", "no verdict: unparsed or failed"),
    )
    for kind, label in legend:
        drawing.add("rect", kind=f"bar {kind}", x=2, y=y, width=14, height=12)
        for line in wrap(label, 56):
            drawing.text(22, y + 10, line, "label")
            y += 15
        y += 3
    for name, bars in rows:
        y += 8
        drawing.text(2, y + 12, short(name, 50), "label strong")
        y += 20
        for label, counts in bars:
            n = sum(counts)
            drawing.text(2, y + 11, f"{label} (n {n})", "tick")
            y += 16
            _bar(drawing, y, counts, n)
            y += 26
    drawing.height = y + 4
    return drawing


def _bar(drawing: Drawing, y: float, counts: Sequence[int], n: int) -> None:
    if n == 0:
        drawing.text(2, y + 13, "– (no items)", "value quiet")
        return
    x = 2.0
    for kind, count in zip(OUTCOMES, counts, strict=True):
        width = (WIDTH - 4) * count / n
        if count:
            drawing.add("rect", kind=f"bar {kind}", x=x, y=y, width=width, height=18)
        share = f"{count}" if n < SMALL else f"{100 * count / n:.0f} %"
        if width > 9 * len(share):
            drawing.text(x + width / 2, y + 13, share, f"onbar {kind}", "middle")
        x += width


def plane(runs: Sequence[tuple[str, Estimate, Estimate]], baselines: Sequence[tuple[str, float, float]]) -> Drawing:
    """Return answer_recall (x) against detection_recall (y), with lines of equal balance and the baselines.

    Args:
        runs: (name, answer_recall, detection_recall); with few items the run is in the legend alone.
        baselines: (name, answer_recall, detection_recall).
    """
    drawing = Drawing()
    few = [min(answers.n, refuses.n) < SMALL for _, answers, refuses in runs]
    names = [f"{short(run[0], 34)} (few items)" if small else run[0] for run, small in zip(runs, few, strict=True)]
    top = drawing.legend(names, 4) + 8
    side = WIDTH - 60
    x_axis, y_axis = Axis(0, 1, 48, 48 + side), Axis(0, 1, top + side, top)
    for step in range(0, 101, 25):
        share = step / 100
        drawing.line(x_axis(share), top, x_axis(share), top + side, "grid")
        drawing.line(48, y_axis(share), 48 + side, y_axis(share), "grid")
        drawing.text(x_axis(share), top + side + 16, str(step), "tick", "end" if step == 100 else "middle")
        drawing.text(42, y_axis(share) + 4, str(step), "tick", "end")
    for balance in (0.5, 0.6, 0.7, 0.8, 0.9):
        drawing.line(
            x_axis(2 * balance - 1),
            y_axis(1),
            x_axis(1),
            y_axis(2 * balance - 1),
            "iso half" if balance == 0.5 else "iso",
        )
        drawing.text(x_axis(balance) + 3, y_axis(balance) - 3, f"{100 * balance:.0f}", "tick quiet")
    for name, x, y in baselines:
        drawing.add("path", kind="baseline", d=f"M{x_axis(x) - 5:.1f} {y_axis(y) - 5:.1f}l10 10m0 -10l-10 10")
        at_right = x > 0.6
        drawing.text(
            x_axis(x) + (-9 if at_right else 9),
            y_axis(y) + (-6 if y < 0.5 else 15),
            name,
            "tick",
            "end" if at_right else "start",
        )
    for number, (_, answers, refuses) in enumerate(runs):
        if not few[number]:
            _cross(drawing, x_axis, y_axis, number, answers, refuses)
    drawing.text(48 + side / 2, top + side + 34, "answered, % of answerable items →", "label", "middle")
    drawing.add(
        "text",
        "refused, % of items to refuse →",
        kind="label",
        transform=f"translate(14 {top + side / 2:.1f}) rotate(-90)",
        text_anchor="middle",
    )
    drawing.height = top + side + 42
    return drawing


def _cross(drawing: Drawing, x_axis: Axis, y_axis: Axis, run: int, answers: Estimate, refuses: Estimate) -> None:
    if answers.value is None or refuses.value is None:
        return
    x, y = x_axis(answers.value), y_axis(refuses.value)
    kind = f"interval {run_class(run)}"
    if answers.low is not None and answers.high is not None:
        drawing.line(x_axis(answers.low), y, x_axis(answers.high), y, kind)
    if refuses.low is not None and refuses.high is not None:
        drawing.line(x, y_axis(refuses.low), x, y_axis(refuses.high), kind)
    drawing.marker(x, y, run)


def severity_curves(curves: Sequence[tuple[int, Curve]], names: Sequence[str]) -> Drawing:
    """Return one family: each item as a stroke at its severity, above refused and below answered, and fitted curves."""
    drawing = Drawing()
    band = 9.0 * len(curves) + 4  # a row of strokes for each run, above and below
    top = drawing.legend(names, 4) + band
    bottom, left, right = top + 150, 40.0, WIDTH - 12
    values = [value for _, curve in curves for value in curve.values]
    low, high = min(values), max(values)
    margin = (high - low) * 0.04 or 0.5
    x_axis, y_axis = Axis(low - margin, high + margin, left, right), Axis(0, 1, bottom, top)
    for step in (0, 50, 100):
        drawing.line(left, y_axis(step / 100), right, y_axis(step / 100), "reference" if step == 50 else "grid")
        drawing.text(left - 6, y_axis(step / 100) + 4, f"{step} %", "tick", "end")
    ends: tuple[tuple[float, Anchor], ...] = ((low, "start"), (high, "end"))
    for value, anchor in ends:
        drawing.text(x_axis(value), bottom + band + 14, f"{value:.3g}", "tick", anchor)
    for place, (run, curve) in enumerate(curves):
        kind = f"interval {run_class(run)}"
        for value, refused in zip(curve.values, curve.refused, strict=True):
            x, y = x_axis(value), top - 9 * (place + 1) if refused else bottom + 9 * (place + 1)
            drawing.line(x, y - 3, x, y + 3, kind)
        if curve.fit:
            grid = np.linspace(low - margin, high + margin, 60)
            heights = curve.fit.at(grid)
            points = [(x_axis(float(x)), y_axis(float(y))) for x, y in zip(grid, heights, strict=True)]
            drawing.path(points, f"curve {run_class(run)}")
        if curve.half is not None:
            drawing.marker(x_axis(curve.half), y_axis(0.5), run, 4.5)
    measure = short(curves[0][1].measure, 40)
    drawing.text((left + right) / 2, bottom + band + 14, f"{measure} →", "label", "middle")
    drawing.height = bottom + band + 22
    return drawing


def risk_coverage(curves: Sequence[tuple[int, Selective]], names: Sequence[str]) -> Drawing:
    """Return the share of errors among the most confident verdicts (y) against how many are accepted (x)."""
    drawing = Drawing()
    top = drawing.legend(names, 4) + 10
    bottom, left, right = top + 200, 44.0, WIDTH - 12
    x_axis, y_axis = Axis(0, 1, left, right), Axis(0, 1, bottom, top)
    for step in range(0, 101, 25):
        share = step / 100
        drawing.line(x_axis(share), top, x_axis(share), bottom, "grid")
        drawing.line(left, y_axis(share), right, y_axis(share), "grid")
        drawing.text(x_axis(share), bottom + 16, str(step), "tick", "end" if step == 100 else "middle")
        drawing.text(left - 6, y_axis(share) + 4, str(step), "tick", "end")
    for run, curve in curves:
        step = max(1, len(curve.coverage) // 120)
        points = list(zip(curve.coverage, curve.risk, strict=True))
        kept = [*points[:-1:step], points[-1]]
        drawing.path([(x_axis(x), y_axis(y)) for x, y in kept], f"curve {run_class(run)}")
        drawing.marker(x_axis(points[-1][0]), y_axis(points[-1][1]), run)
    drawing.text((left + right) / 2, bottom + 34, "accepted, % of items, most confident first →", "label", "middle")
    drawing.add(
        "text",
        "errors among them, % →",
        kind="label",
        transform=f"translate(12 {(top + bottom) / 2:.1f}) rotate(-90)",
        text_anchor="middle",
    )
    drawing.height = bottom + 42
    return drawing
