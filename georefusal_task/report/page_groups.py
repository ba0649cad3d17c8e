"""The sections that part the items by intensity, lever, batch and origin, and the runs by what was shown and asked."""

from collections.abc import Callable, Sequence

from georefusal_task.benchmarks.refusal import FORCED_METRICS, SMALL
from georefusal_task.core.records import Intensity, Row
from georefusal_task.core.stats import Estimate
from georefusal_task.report.figures import Figure
from georefusal_task.report.figures_charts import dots
from georefusal_task.report.page_parts import DRAWN, Part, Section, always_answering, drawn_note, grouped, of, shown
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
            parts.append(breakdown_table(title, breakdown.replace("_", " ").capitalize(), found))
    for title, field in (("By modality", "modality"), ("By source of the image", "source")):
        found = [(run, grouped(run, _known(run, field), tuple(NAMES))) for run in runs]
        if any(groups_ for _, groups_ in found):
            parts.append(breakdown_table(title, field.capitalize(), found))
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


def breakdown_table(title: str, what: str, found: Sequence[tuple[Run, Groups]]) -> Table:
    """Return a table with a row per group and run; `what` names the groups."""
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
        _variants_figure(runs),
        Table(
            "Variants beside the main run, per cent with 95 % interval",
            ("Run", "Variant", "n", *titles),
            tuple(rows),
            (
                "noimage, shuffled: of a good model little should be left above always answering.",
                "grey: a good model says that information is missing, so answering is bad.",
            ),
            frozenset({0, 1}),
        ),
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


def _variants_figure(runs: Sequence[Run]) -> Figure:
    def shortened(task: str) -> str:
        return task.removeprefix("georefusalbench_")

    of_run = [
        {"main": run} | {shortened(task): other for task, other in run.variants.items() if not other.is_forced}
        for run in runs
    ]
    order = list(dict.fromkeys(name for variants_ in of_run for name in variants_))
    members = [
        (name, [(number, of(found[name], "accept_acc")) for number, found in enumerate(of_run) if name in found])
        for name in order
    ]
    return Figure(
        "variants",
        "Accepted verdicts by what was shown and asked",
        dots(
            [(name, [one for one in ones if one[0] < DRAWN]) for name, ones in members],
            [run.name for run in runs[:DRAWN]] if len(runs) > 1 else (),
            reference=always_answering(runs),
        ),
        conclude="What is left without the image (noimage) or with another (shuffled) comes from the wording alone.",
        beware="A grey image is no blind baseline: there a good model refuses nearly everything, and so falls short of "
        "always answering." + drawn_note(runs),
        data=Table(
            "Accepted verdicts, per cent with 95 % interval",
            ("Variant", "Run", "n", "Accepted"),
            tuple((name, runs[number].name, str(one.n), shown(one)) for name, ones in members for number, one in ones),
            left=frozenset({0, 1}),
        ),
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
