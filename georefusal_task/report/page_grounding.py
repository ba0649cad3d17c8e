"""One HTML file on runs that answered and drew boxes: `render(runs) -> str`, with the parts of every page here."""

from collections.abc import Sequence

from georefusal_task.benchmarks.grounding import METRICS
from georefusal_task.core.errors import ConfigError
from georefusal_task.report.gallery_boxes import FILTERS, gallery, lead
from georefusal_task.report.grounding_runs import GroundingRun
from georefusal_task.report.page_about import Made, about, title
from georefusal_task.report.page_grounding_scores import by_type, headline, replies
from georefusal_task.report.templating import fill
from georefusal_task.report.texts import visible

SCRIPTS = "tables.js", "gallery.js", "gallery_boxes.js"
STYLES = "page.css", "figures.css", "gallery.css", "boxes.css"


def render(runs: Sequence[GroundingRun]) -> str:
    """Return the report on runs over one set of questions, side by side.

    Raises:
        ConfigError: no runs, or runs over different questions.
    """
    _check(runs)
    return fill(
        "report.html",
        scripts=SCRIPTS,
        styles=STYLES,
        title=title([run.name for run in runs]),
        tagline="Do the boxes that the model draws bear out its answer?",
        sections=[headline(runs), by_type(runs), replies(runs)],
        about=about([_made(run) for run in runs], METRICS),
        gallery=gallery(runs),
        gallery_lead=lead(runs),
        filters=FILTERS,
    )


def _check(runs: Sequence[GroundingRun]) -> None:
    if not runs:
        raise ConfigError("a report needs at least one run")
    first = runs[0]
    for run in runs:
        if run.questions.digest != first.questions.digest:
            raise ConfigError(
                f"{visible(run.name)} and {visible(first.name)} are runs over different questions "
                f"({run.questions.digest[:12]} and {first.questions.digest[:12]}); make a report of each, with --task"
            )


def _made(run: GroundingRun) -> Made:
    items = f"{run.n}/{run.n_total}"
    return Made(run.name, run.task.name, items, run.data_digest[:12], run.prompt, run.meta, run.frame.label)
