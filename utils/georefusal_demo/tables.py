"""The runs of the demonstration side by side, as text."""

from collections.abc import Iterable, Mapping, Sequence

from georefusal_task.benchmarks.refusal import SMALL, Summary
from georefusal_task.core.stats import Estimate
from georefusal_task.core.verdicts import VERDICTS

RATES = (
    "accept_acc",
    "always_answer_gap",
    "strict_acc",
    "macro_recall",
    "answer_recall",
    "detection_recall",
    # without the unparsed shares beside them, a model that says nothing would look safe
    "false_refusal_rate",
    "unparsed_rate_answerable",
    "missed_refusal_rate",
    "unparsed_rate_must_refuse",
)
RECALLS = tuple(f"recall_{verdict}" for verdict in VERDICTS)


def cell(estimate: Estimate, *, interval: bool = False) -> str:
    """Return one figure: a fraction, `hits/n` where n is too small for a rate, `-` where it is not defined.

    >>> cell(Estimate(0.375, 0.14, 0.69, 8, "wilson", count=3))
    '3/8'
    """
    if estimate.value is None:
        return "-"
    if estimate.count is not None and estimate.n < SMALL:
        return f"{estimate.count}/{estimate.n}"
    limits = f" [{estimate.low:.3f}, {estimate.high:.3f}]" if interval and estimate.low is not None else ""
    return f"{estimate.value:.3f}{limits}"


def side_by_side(summaries: Mapping[str, Summary], names: Iterable[str]) -> str:
    """Return a table with a column per run and a line per metric; below the headline, its test against the bar."""
    lines = [["metric", *summaries]]
    for name in names:
        headline = name == "accept_acc"
        lines.append([name, *(cell(s.metrics[name], interval=headline and not _is_bar(s)) for s in summaries.values())])
        if headline:
            lines.append(["  against always-answer", *map(_against_bar, summaries.values())])
    return _aligned(lines)


def _is_bar(summary: Summary) -> bool:
    """Whether every item was answered: then the figures are constants of the data, and no estimates."""
    return summary.metrics["answer_rate"].value == 1


def _against_bar(summary: Summary) -> str:
    test = summary.tests["always_answer"]
    if test is None or _is_bar(summary):
        return "-"
    return f"{'better' if test.better > test.worse else 'worse'}, p = {test.p:.1g}"


def _aligned(rows: Sequence[Sequence[str]]) -> str:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    head, *body = [
        "  ".join([row[0].ljust(widths[0]), *(text.rjust(w) for text, w in zip(row[1:], widths[1:], strict=True))])
        for row in rows
    ]
    return "\n".join([head, "-" * len(head), *body])
