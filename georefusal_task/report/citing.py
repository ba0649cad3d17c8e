"""A run as a paper would state it: the sentence for the methods section, a row of a LaTeX table, BibTeX."""

from georefusal_task import __version__
from georefusal_task.core.errors import ConfigError
from georefusal_task.data import RELEASED_ITEMS
from georefusal_task.data_source import REPOSITORY
from georefusal_task.report.comparable import MANY_FAILED
from georefusal_task.report.runs import Run
from georefusal_task.report.tables import figure
from georefusal_task.report.texts import latex, p_value, visible
from georefusal_task.tasks_table import TASKS

ROW = ("accept_acc", "always_answer_gap", "answer_recall", "detection_recall", "category_acc", "unparsed_rate")

_IMAGES = {
    "main": "",
    "jpeg_q95": " re-encoded as JPEG of quality 95",
    "noimage": ", without their images",
    "shuffled": ", each with the image of another",
    "grey": " with a grey image in place of each",
}


def cite(run: Run) -> str:
    """Return sentence, row and BibTeX, each under a heading that LaTeX takes for a comment.

    Raises:
        ConfigError: the run has no verdicts to speak of (forced prompt).
    """
    if run.is_forced:
        raise ConfigError(f"{visible(run.name)} answers {run.task}, which allows yes and no only: nothing to cite")
    return "\n".join(
        [
            "% Methods",
            latex(methods(run), longest=4_000),
            "",
            f"% Row (per cent, 95 % intervals): model & {' & '.join(ROW)} & n",
            latex_row(run),
            "",
            "% BibTeX",
            bibtex(run),
        ]
    )


def methods(run: Run) -> str:
    """Return the sentences that let a reader repeat the run and judge its headline; plain text."""
    summary = run.summary
    headline, test = summary.metrics["accept_acc"], summary.tests["always_answer"]
    unparsed, gap = summary.metrics["unparsed_rate"], summary.metrics["always_answer_gap"]
    revision = f" (revision {run.meta.revision})" if run.meta.revision else ""
    harness = f" in {run.meta.harness} {run.meta.harness_version or ''}".rstrip() if run.meta.harness else ""
    decoding = ", ".join(
        f"{name} {value}" for name, value in sorted(run.meta.generation.items()) if value not in ([], None)
    )
    recorded = "" if run.meta.prompt_sha256 else ", as the task has it; the run does not record it"
    prompt = f"prompt {run.spec.asks.id} (SHA-256 {run.prompt_sha256[:12]}{recorded})"
    sentences = [
        f"{visible(run.name)}{revision} was run on {_set_name(run)}{_IMAGES[run.spec.variant]}{harness}",
        f"It replied to {_items(run)}; data digest {run.data_digest[:12]}, {prompt}, georefusal {__version__}",
        f"Decoding: {visible(decoding, 500)}" if decoding else "",
    ]
    if headline.value is not None and headline.low is not None and headline.high is not None:
        sentences.append(
            f"{100 * headline.value:.1f} % of the items got an accepted verdict (95 % interval "
            f"{100 * headline.low:.1f} to {100 * headline.high:.1f}, n = {headline.n}, {headline.method})"
        )
        if test and gap.value is not None:
            sentences.append(
                f"Always answering gets {100 * (headline.value - gap.value):.1f} % on the same items "
                f"({p_value(test.p)}, {test.method})"
            )
    false, missed = summary.metrics["false_refusal_rate"], summary.metrics["missed_refusal_rate"]
    sides = [
        f"refused {false.count} of {false.n} answerable items" if false.n else "",
        f"answered {missed.count} of {missed.n} that must be refused" if missed.n else "",
    ]
    if any(sides):
        sentences.append(f"It {' and '.join(filter(None, sides))}")
    if unparsed.value:
        sentences.append(f"{unparsed.count} of {unparsed.n} replies held no readable verdict and count as wrong")
    if run.host_error_share:
        many = ", too many for a result" if run.host_error_share > MANY_FAILED else ""
        sentences.append(f"{run.host_error_share:.1%} of the requests failed and count as wrong{many}")
    return " ".join(f"{sentence}." for sentence in sentences if sentence)


def latex_row(run: Run) -> str:
    """Return the run as one row of a LaTeX table."""
    metrics = run.summary.metrics
    figures = (figure(metrics[name], signed=name == "always_answer_gap") for name in ROW)
    return " & ".join([latex(run.name), *map(latex, figures), str(run.n)]) + r" \\"


def bibtex(run: Run) -> str:
    """Return the entries for this software and, where it was used, the released data set."""
    software = (
        "@software{georefusal,\n"
        "  title = {{GeoRefusal}: measuring whether vision-language models know when not to answer about satellite "
        "images},\n"
        "  author = {{The GeoRefusal developers}},\n"
        f"  version = {{{__version__}}},\n"
        "}"
    )
    if not _is_released(run):
        return software
    revision = run.meta.data_revision or run.benchmark.revision
    at = f", revision {latex(revision)}" if revision else ""
    data = (
        "@misc{georefusalbench,\n"
        "  title = {{GeoRefusalBench}},\n"
        f"  howpublished = {{Hugging Face data set \\texttt{{{latex(REPOSITORY)}}}}},\n"
        f"  note = {{{run.n_total} items{at}, digest {run.data_digest[:12]}}},\n"
        "}"
    )
    return f"{software}\n\n{data}"


def _items(run: Run) -> str:
    return f"all {run.n} items" if run.n == run.n_total else f"{run.n} of {run.n_total} items (a partial run)"


def _set_name(run: Run) -> str:
    if run.spec.mini:
        return "the GeoRefusal mini set (not a benchmark)"
    return "GeoRefusalBench" if _is_released(run) else f"another set ({run.n_total} items, task {visible(run.task)})"


def _is_released(run: Run) -> bool:
    """The size speaks for the released set; the digest beside it lets a reader check."""
    return run.task in TASKS and not run.spec.mini and run.n_total == RELEASED_ITEMS
