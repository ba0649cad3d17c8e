"""One HTML file that shows what runs did: `render(runs) -> str`. It needs nothing else and runs no text of others."""

from collections.abc import Sequence

from georefusal_task.benchmarks.refusal import METRICS
from georefusal_task.core.errors import ConfigError
from georefusal_task.report.gallery import gallery
from georefusal_task.report.page_groups import groups, variants
from georefusal_task.report.page_headline import headline
from georefusal_task.report.page_parts import Note, Part, Section
from georefusal_task.report.page_provenance import provenance
from georefusal_task.report.page_scores import categories, detection, replies
from georefusal_task.report.page_selective import selection
from georefusal_task.report.runs import Run
from georefusal_task.report.tables import UNDEFINED, Table
from georefusal_task.report.templating import fill
from georefusal_task.report.texts import visible

SCRIPTS, STYLES = ("tables.js", "gallery.js"), ("page.css", "figures.css", "gallery.css")


def render(runs: Sequence[Run], *, floor: Run | None = None) -> str:
    """Return the report on runs over one data set, side by side.

    Args:
        runs: in the order they are to be shown.
        floor: the run of the question-only floor, shown among the references.

    Raises:
        ConfigError: no runs, runs over different data sets, or of the forced prompt, which has no verdicts.
    """
    _check(runs)
    sections = [
        headline(runs, floor),
        detection(runs),
        categories(runs),
        groups(runs),
        variants(runs),
        provenance(runs),
        selection(runs),
        replies(runs),
    ]
    return fill(
        "report.html",
        scripts=SCRIPTS,
        styles=STYLES,
        title=_title(runs),
        sections=[section for section in sections if section],
        about=_about(runs),
        gallery=gallery(runs),
        n_items=len({item for run in runs for item in run.by_id}),
    )


def _check(runs: Sequence[Run]) -> None:
    if not runs:
        raise ConfigError("a report needs at least one run")
    for run in runs:
        name = visible(run.name)
        if run.is_forced:
            raise ConfigError(f"{name} answers {run.task}, which allows yes and no only; name the main run beside it")
        if run.benchmark.digest != runs[0].benchmark.digest:
            raise ConfigError(
                f"{name} and {visible(runs[0].name)} are runs over different data "
                f"({run.benchmark.digest[:12]} and {runs[0].benchmark.digest[:12]}); make a report of each"
            )


def _title(runs: Sequence[Run]) -> str:
    names = [visible(run.name, 60) for run in runs]
    return (
        names[0]
        if len(names) == 1
        else f"{', '.join(names[:3])}{f' and {len(names) - 3} more' if len(names) > 3 else ''}"
    )


def _about(runs: Sequence[Run]) -> Section:
    """Return how the runs were made, and what every figure of the page means."""
    columns = (
        "Run",
        "Task",
        "Items",
        "Data",
        "Prompt",
        "Model",
        "Revision",
        "Harness",
        "Fed as",
        "Generation",
        "Seed",
        "Type",
    )
    rows = [
        (
            run.name,
            run.task,
            f"{run.n}/{run.n_total}",
            run.data_digest[:12],
            f"{run.spec.asks.id} {run.prompt_sha256[:12]}",
            run.meta.model or UNDEFINED,
            run.meta.revision or UNDEFINED,
            " ".join(filter(None, (run.meta.harness, run.meta.harness_version))) or UNDEFINED,
            " ".join(filter(None, (run.meta.backend, run.meta.style))) or UNDEFINED,
            ", ".join(f"{key} {value}" for key, value in run.meta.generation.items()) or UNDEFINED,
            UNDEFINED if run.meta.seed is None else str(run.meta.seed),
            run.meta.dtype or UNDEFINED,
        )
        for run in runs
    ]
    known = [name for name in METRICS if any(name in run.summary.metrics for run in runs)]
    glossary = tuple((name, METRICS[name].meaning) for name in known)
    parts: list[Part] = [
        Table(
            "How the runs were made, as far as they recorded it",
            columns,
            tuple(rows),
            left=frozenset(range(len(columns))),
        ),
        Note("A dash means not defined or not recorded; n says over how many items. Brackets hold 95 % intervals."),
        Table("Every metric", ("Metric", "What it says and how it can mislead"), glossary, left=frozenset({0, 1})),
    ]
    return Section("about", "About these runs", "What was evaluated, and what the words of this page mean.", parts)
