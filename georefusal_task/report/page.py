"""One HTML file that shows what runs did: `render(runs) -> str`. It needs nothing else and runs no text of others."""

from collections.abc import Sequence

from georefusal_task.benchmarks.refusal import METRICS
from georefusal_task.core.errors import ConfigError
from georefusal_task.report.gallery import FILTERS, LEAD, gallery
from georefusal_task.report.page_about import Made, about, title
from georefusal_task.report.page_groups import groups, variants
from georefusal_task.report.page_headline import headline
from georefusal_task.report.page_provenance import provenance
from georefusal_task.report.page_scores import categories, detection, replies
from georefusal_task.report.page_selective import selection
from georefusal_task.report.runs import Run
from georefusal_task.report.templating import fill
from georefusal_task.report.texts import visible

SCRIPTS, STYLES = ("tables.js", "gallery.js", "gallery_verdicts.js"), ("page.css", "figures.css", "gallery.css")


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
    known = {name: METRICS[name] for name in METRICS if any(name in run.summary.metrics for run in runs)}
    return fill(
        "report.html",
        scripts=SCRIPTS,
        styles=STYLES,
        title=title([run.name for run in runs]),
        tagline="Does the model know when not to answer a question about a satellite image?",
        sections=[section for section in sections if section],
        about=about([_made(run) for run in runs], known),
        gallery=gallery(runs),
        gallery_lead=LEAD,
        filters=FILTERS,
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


def _made(run: Run) -> Made:
    prompt = f"{run.spec.asks.id} {run.prompt_sha256[:12]}"
    return Made(run.name, run.task, f"{run.n}/{run.n_total}", run.data_digest[:12], prompt, run.meta)
