"""The first section: the headline in words, against always answering, and what stands between it and the model."""

from collections.abc import Sequence

from georefusal_task.benchmarks.refusal import SMALL
from georefusal_task.report.comparable import MANY_FAILED
from georefusal_task.report.figures import MARKERS, Figure
from georefusal_task.report.figures_charts import dots
from georefusal_task.report.page_parts import (
    DRAWN,
    Note,
    Part,
    Section,
    always_answering,
    of,
    percent,
    shown,
)
from georefusal_task.report.paired import ALPHA
from georefusal_task.report.references import Figures, always_answer, uniform_guess
from georefusal_task.report.runs import Run
from georefusal_task.report.tables import UNDEFINED, Table
from georefusal_task.report.texts import p_value


def headline(runs: Sequence[Run], floor: Run | None) -> Section:
    """Return accept_acc of every run against always answering, with all that speaks against taking it at its word."""
    notes: list[Part] = [Note(verdict_on(run), "result") for run in runs[:DRAWN]]
    if len(runs) > DRAWN:
        notes.append(Note(f"The other {len(runs) - DRAWN} runs stand in the figure and its table."))
    notes += [Note(text, "warning") for text in warnings(runs)]
    drawn = [(run.name, [(number, of(run, "accept_acc"))]) for number, run in enumerate(runs)]
    if floor:
        drawn.append((floor.name, [(MARKERS - 1, of(floor, "accept_acc"))]))
    figure = Figure(
        "headline",
        "Accepted verdicts against always answering",
        dots(
            drawn,
            reference=always_answering(runs),
        ),
        conclude="How far each model stands from always answering, and how well that is known. Whether it can be "
        "chance is for the test to say, in the sentences above.",
        beware="Whether two models differ: intervals of two models may overlap although a paired test tells them "
        "apart. Use georefusal compare.",
        data=_headline_table(runs, floor),
        is_open=True,
    )
    return Section(
        "headline",
        "Headline",
        "The share of items whose verdict is accepted. A model that answers everything already gets about half, so "
        "what counts is the gap to that, and whether chance could have made it.",
        [*notes, figure],
    )


def verdict_on(run: Run) -> str:
    """Return the headline of one run in words."""
    score, test = of(run, "accept_acc"), run.summary.tests.get("always_answer")
    gap = of(run, "always_answer_gap")
    how_many = f"all {run.n} items" if run.n == run.n_total else f"{run.n} of {run.n_total} items, a partial run"
    if score.value is None or test is None or gap.value is None:
        return f"{run.name}: nothing was scored ({how_many})."
    if score.n < SMALL:
        return f"{run.name}: {score.count} of {score.n} replies accepted ({how_many}), too few for a rate."
    told = "cannot be told from always answering"
    if test.p < ALPHA:
        told = f"is {'better' if test.better > test.worse else 'worse'} than always answering"
    return (
        f"{run.name} {told}: {shown(score)} % accepted over {how_many}, {shown(gap, signed=True)} points from always "
        f"answering ({p_value(test.p)}, {test.method})."
    )


def warnings(runs: Sequence[Run]) -> list[str]:
    """Return what stands between the figures and the models, each once."""
    found = []
    for run in runs:
        if run.n < run.n_total:
            found.append(f"{run.name}: {run.n_total - run.n} of {run.n_total} items have no reply.")
        share = run.host_error_share or 0.0
        if share > MANY_FAILED:
            bounds = of(run, "accept_acc").bounds
            right, dropped = bounds.get("value_if_right"), bounds.get("value_if_dropped")
            reach = f"with all of them right it would be {percent(right)}, without them {percent(dropped)}"
            found.append(f"{run.name}: {100 * share:.1f} % of the requests failed and count as wrong; {reach}.")
        found += [text if text in run.benchmark.warnings else f"{run.name}: {text}" for text in run.warnings]
        found += [f"{text[0].upper()}{text[1:]}." for text in (run.untied, run.few_clusters) if text]
    differing: dict[str, set[str]] = {
        "prompt": {f"{run.spec.asks.id} {run.prompt_sha256[:12]}" for run in runs},
        "image": {run.spec.variant for run in runs},
        "data": {run.data_digest[:12] for run in runs},
        "number of items": {str(run.n) for run in runs},
    }
    for what, told in differing.items():
        if len(told) > 1:
            found.append(
                f"The {what} differs between runs ({', '.join(sorted(told))}): differences may not be the models'."
            )
    return list(dict.fromkeys(found))


def _headline_table(runs: Sequence[Run], floor: Run | None) -> Table:
    rows = [_headline_row(run.name, run) for run in runs]
    labels = [item.label for item in runs[0].benchmark.items]
    if floor:
        rows.append(_headline_row(floor.name, floor))
    if labels:
        rows += [_constant("always answer", always_answer(labels)), _constant("uniform guess", uniform_guess(labels))]
    return Table(
        "Headline, per cent with 95 % interval",
        ("Run", "n", "Accepted", "Gap to always answering", "p", "Detectable gap", "Strict", "Test and interval"),
        tuple(rows),
        (
            "Detectable gap: the smallest that these items and this much disagreement would show in 80 % of cases.",
            "The references are constants of the data, without an interval of their own.",
        ),
        frozenset({0, 7}),
    )


def _headline_row(name: str, run: Run) -> tuple[str, ...]:
    test = run.summary.tests.get("always_answer")
    return (
        name,
        f"{run.n}/{run.n_total}",
        shown(of(run, "accept_acc")),
        shown(of(run, "always_answer_gap"), signed=True),
        f"{test.p:.2g}" if test else UNDEFINED,
        f"{100 * test.detectable:.1f}" if test and test.detectable and test.detectable <= 1 else UNDEFINED,
        shown(of(run, "strict_acc")),
        f"{test.method if test else 'no test'}; {of(run, 'accept_acc').method}",
    )


def _constant(name: str, figures: Figures) -> tuple[str, ...]:
    n = figures["accept_acc"].n
    gap = shown(figures["always_answer_gap"], signed=True)
    return (
        name,
        f"{n}/{n}",
        shown(figures["accept_acc"]),
        gap,
        UNDEFINED,
        UNDEFINED,
        UNDEFINED,
        "constant of the data",
    )
