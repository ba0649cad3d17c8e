"""The sections that part the items: by intensity, lever, batch and origin; by what was shown; by what was measured."""

from collections.abc import Callable, Sequence

from georefusal_task.benchmarks.refusal import FORCED_METRICS, SMALL
from georefusal_task.core.records import Intensity, Row
from georefusal_task.core.stats import Estimate
from georefusal_task.report.curves import curve, paired_consistency
from georefusal_task.report.effective import by_effective_pixels
from georefusal_task.report.figures import Figure
from georefusal_task.report.figures_charts import dots, severity_curves
from georefusal_task.report.page_parts import DRAWN, Note, Part, Section, drawn_note, grouped, of, shown
from georefusal_task.report.provenance import Provenance, is_measured, severities
from georefusal_task.report.runs import Run
from georefusal_task.report.tables import UNDEFINED, Table

NAMES = {
    "accept_acc": "Accepted",
    "answer_recall": "Answer recall",
    "refusal_acc": "Refusal accuracy",
    "false_refusal_rate": "False refusals",
    "missed_refusal_rate": "Missed refusals",
    "unparsed_rate": "No verdict",
}
_TITLES = {
    "intensity": "By intensity",
    "category": "By category of the lever, its answerable items too",
    "lever_family": "By lever family",
    "set": "By batch",
}
_FEW = f"k/n: fewer than {SMALL} items, so no rate."

Groups = dict[str, dict[str, Estimate]]


def groups(runs: Sequence[Run]) -> Section:
    """Return the breakdowns: those of `georefusal score`, and by modality and source where provenance knows them."""
    parts: list[Part] = []
    if any(row.intensity for run in runs for row in run.rows):
        parts.append(_intensity(runs))
    for breakdown, title in _TITLES.items():
        found = [(run, run.summary.by.get(breakdown, {})) for run in runs]
        if any(groups_ for _, groups_ in found):
            parts.append(_table(title, breakdown.replace("_", " ").capitalize(), found))
    for title, field in (("By modality", "modality"), ("By source of the image", "source")):
        found = [(run, grouped(run, _known(run, field), tuple(NAMES))) for run in runs]
        if any(groups_ for _, groups_ in found):
            parts.append(_table(title, field.capitalize(), found))
    return Section(
        "groups",
        "Where it fails",
        "LOW items stay answerable and measure over-refusal; MEDIUM and HIGH must be refused. The verdict of an item "
        "stands in its label and not in its intensity, since the review turned some round.",
        parts,
    )


def _known(run: Run, field: str) -> Callable[[Row], str | None]:
    def value(row: Row) -> str | None:
        record = run.provenance.get(row.id)
        found = getattr(record, field) if record else None
        return None if found is None else str(found)

    return value


def _table(title: str, what: str, found: Sequence[tuple[Run, Groups]]) -> Table:
    order = list(dict.fromkeys(group for _, groups_ in found for group in groups_))
    rows = [
        (group, run.name, str(groups_[group]["accept_acc"].n), *(shown(groups_[group].get(name)) for name in NAMES))
        for group in order
        for run, groups_ in found
        if group in groups_
    ]
    columns = (what, "Run", "n", *NAMES.values())
    return Table(f"{title}, per cent with 95 % interval", columns, tuple(rows), (_FEW,), frozenset({0, 1}))


def _intensity(runs: Sequence[Run]) -> Figure:
    found = [grouped(run, lambda row: row.intensity, ("refused",)) for run in runs]
    drawn = [
        (level, [(number, of_run[level]["refused"]) for number, of_run in enumerate(found[:DRAWN]) if level in of_run])
        for level in map(str, Intensity)
    ]
    rows = [
        (level, run.name, str(of_run[level]["refused"].n), shown(of_run[level]["refused"]))
        for level in map(str, Intensity)
        for run, of_run in zip(runs, found, strict=True)
        if level in of_run
    ]
    return Figure(
        "intensity",
        "Share refused by intensity",
        dots(drawn, [run.name for run in runs[:DRAWN]] if len(runs) > 1 else ()),
        conclude="A model that sees the evidence go refuses little at LOW and much at HIGH: the steps matter.",
        beware="The level alone: refusing everything is high throughout, and a few LOW items must be refused."
        + drawn_note(runs),
        data=Table(
            "Share refused, per cent with 95 % interval",
            ("Intensity", "Run", "n", "Refused"),
            tuple(rows),
            (_FEW,),
            frozenset({0, 1}),
        ),
    )


def variants(runs: Sequence[Run]) -> Section | None:
    """Return the other images and prompts beside the main run; None where no run has any."""
    if not any(run.variants for run in runs):
        return None
    names = (
        "accept_acc",
        "always_answer_gap",
        "answer_recall",
        "detection_recall",
        "answer_rate",
        "grey_answer_rate",
        "unparsed_rate",
    )
    titles = (
        "Accepted",
        "Gap to always answering",
        "Answer recall",
        "Detection recall",
        "Answered",
        "Answered (grey)",
        "No verdict",
    )
    rows, forced = [], []
    for run in runs:
        for task, other in {"main": run, **run.variants}.items():
            if other.is_forced:
                forced.append((run.name, task, str(other.n), *(shown(of(other, name)) for name in FORCED_METRICS)))
                continue
            figures = [shown(other.summary.metrics.get(name), signed=name.endswith("gap")) for name in names]
            rows.append((run.name, task.removeprefix("georefusalbench_"), str(other.n), *figures))
        rows += _prompts(run)
    parts: list[Part] = [
        Table(
            "Variants beside the main run, per cent with 95 % interval",
            ("Run", "Variant", "n", *titles),
            tuple(rows),
            (
                "noimage, shuffled: of a good model little should be left above always answering.",
                "grey: a good model says that information is missing, so answering is bad.",
            ),
            frozenset({0, 1}),
        )
    ]
    if forced:
        parts.append(
            Table(
                "Forced to say yes or no, per cent with 95 % interval",
                ("Run", "Variant", "n", *FORCED_METRICS),
                tuple(forced),
                ("Above chance on items to refuse, the evidence was not removed or the question gives it away.",),
                frozenset({0, 1}),
            )
        )
    return Section(
        "variants",
        "Without the image, and in other words",
        "A score that survives the loss of its image was not earned by looking; one that changes with the wording of "
        "the prompt is no property of the model.",
        parts,
    )


def _prompts(run: Run) -> list[tuple[str, ...]]:
    """Return one row with the range of accept_acc over the prompts, where there is more than one."""
    others = [other for other in run.variants.values() if other.spec.variant == "main" and not other.is_forced]
    values = [of(each, "accept_acc").value for each in (run, *others)]
    known = [value for value in values if value is not None]
    if not others or not known:
        return []
    reach = f"{100 * min(known):.1f} to {100 * max(known):.1f}"
    return [(run.name, f"{len(known)} prompts, min to max", str(run.n), reach, *[UNDEFINED] * 6)]


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
    table = _table("By what the label rests on", "Label", found)
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
    labels = [item.label for item in runs[0].benchmark.items]
    known: dict[str, Provenance] = {}
    for run in runs:
        known.update(run.provenance)
    parts: list[Part] = []
    for family, severity in severities(labels, known).items():
        drawn = [(number, curve(run, family, severity)) for number, run in enumerate(runs)]
        drawn = [(number, one) for number, one in drawn if one.fit]
        if not drawn:
            continue
        rows = []
        for number, one in drawn:
            reach = one.fit.half_interval if one.fit and one.half is not None else None
            share = f"{sum(one.refused)}/{len(one.refused)}"
            half = UNDEFINED if one.half is None else f"{one.half:.3g}"
            interval = f"{reach[0]:.3g} to {reach[1]:.3g}" if reach else UNDEFINED
            rows.append((runs[number].name, str(len(one.values)), share, half, interval, str(one.unparsed)))
        parts.append(
            Figure(
                f"curve-{len(parts)}",
                f"{family}: refusal against {severity.measure}",
                severity_curves(drawn[:DRAWN], [runs[number].name for number, _ in drawn[:DRAWN]]),
                conclude="A steep curve sees the evidence go; the marker stands where half is refused. Strokes above "
                "and below are single items, refused and answered.",
                beware="Much from few items: the fit is penalised so that it stays finite, and drawn, not proven. No "
                "marker means that the point lies beyond what was measured.",
                data=Table(
                    f"Refusal of {family} by {severity.measure}",
                    ("Run", "n", "Refused", "50 % point", "95 % interval", "No verdict"),
                    tuple(rows),
                    ("A dash for the interval: the slope is too uncertain for there to be one.",),
                ),
            )
        )
    return parts
