"""The figures of one run as lines of text, for a terminal."""

from collections.abc import Iterator, Mapping
from typing import Any

from georefusal_task.benchmarks.refusal import SMALL, Summary
from georefusal_task.core.stats import Estimate
from georefusal_task.core.verdicts import VERDICTS

SECTIONS: dict[str, tuple[str, ...]] = {
    "Headline": ("accept_acc", "always_answer_gap"),
    "Wrongly refused, wrongly answered, and what could not be read": (
        "false_refusal_rate",
        "unparsed_rate_answerable",
        "missed_refusal_rate",
        "unparsed_rate_must_refuse",
        "unsafe_answer_share",
        "grey_answer_rate",
        "answer_rate",
    ),
    "To refuse or not (read with the section above)": (
        "answer_recall",
        "detection_recall",
        "detection_precision",
        "detection_f1",
        "refusal_dprime",
        "refusal_bias",
    ),
    "The right verdict": (
        *(f"recall_{verdict}" for verdict in VERDICTS),
        "macro_recall",
        "strict_acc",
        "refusal_acc",
        "category_acc",
        "balanced_verdict_acc",
        "calibrated_refusal_score",
        "hierarchical_score",
        "yesno_acc",
    ),
    "Several replies per item": ("repeat_mean_accept_acc", "repeat_agreement"),
    "Yes or no, no way to refuse": ("forced_acc", "forced_yes_share"),
    "Replies": ("accept_acc_json", "unparsed_rate", "repaired_rate", "truncated_rate", "host_error_rate"),
}
"""Every metric but the strict recalls, which only `--json` has."""

ALPHA = 0.05

_SIGNED = {"always_answer_gap", "refusal_dprime", "refusal_bias"}
_BOUNDS = {
    "value_if_unparsed_answer": "if the unparsed had been ANSWER",
    "value_if_unparsed_refusal": "if the unparsed had been refusals, right where one is",
    "value_if_right": "if the failed requests had been right",
    "value_if_dropped": "without the failed requests",
}


def lines(summary: Summary, meta: Mapping[str, Any]) -> Iterator[str]:
    """Yield the lines: what was scored, the headline and its test, then the rest, then the breakdowns."""
    yield f"{meta['task']}: {how_many(summary.n, meta['n_total'])}"
    yield f"prompt {meta['prompt']['id']} ({meta['prompt']['sha256'][:12]}), reader {meta['reader']}"
    yield f"data {meta['data']['digest'][:12]} from {meta['data']['source']}"
    for title, names in SECTIONS.items():
        shown = [name for name in names if name in summary.metrics and not _absent_repeat(summary, name)]
        if not shown:
            continue
        yield from ("", title)
        for name in shown:
            yield from _metric(name, summary.metrics[name])
        if title == "Headline":
            yield from _always_answer(summary)
    yield from _breakdowns(summary)
    yield ""
    yield f"[low, high]: 95 % interval. k/n: fewer than {SMALL} items, so no rate. -: not defined on these items."


def how_many(n: int, total: int) -> str:
    """Return whether everything was scored, or how much of it."""
    return f"all {n} items" if n == total else f"{n} of {total} items, a partial run"


def _absent_repeat(summary: Summary, name: str) -> bool:
    return name.startswith("repeat_") and summary.metrics[name].n == 0


def _metric(name: str, estimate: Estimate) -> Iterator[str]:
    yield f"  {name:<38} {figure(estimate, signed=name in _SIGNED)}"
    for bound, value in estimate.bounds.items():
        if value != estimate.value and estimate.n >= SMALL:
            yield f"  {'':<38} {value:6.3f} {_BOUNDS[bound]}"


def figure(estimate: Estimate, *, signed: bool = False) -> str:
    """Return value, interval and n; counts only where there are too few items for a rate."""
    if estimate.count is not None and estimate.n < SMALL:
        return f"{estimate.count:>3}/{estimate.n}"
    if estimate.value is None or estimate.low is None or estimate.high is None:
        return "     -"
    sign = "+" if signed else ""
    interval = f"[{estimate.low:{sign}.3f}, {estimate.high:{sign}.3f}]"
    no_spread = "  (all resamples alike)" if estimate.method.endswith("no spread") else ""
    return f"{estimate.value:{sign}6.3f} {interval:<18} n {estimate.n}{no_spread}"


def _always_answer(summary: Summary) -> Iterator[str]:
    """Yield what always answering gets on these items, and whether the run can be told from it."""
    test = summary.tests["always_answer"]
    accept_acc, gap = summary.metrics["accept_acc"].value, summary.metrics["always_answer_gap"].value
    if test is None or accept_acc is None or gap is None:
        return
    yield f"  always answering gets {accept_acc - gap:.3f}; alone right on {test.worse}, this run on {test.better}"
    told_apart = f"distinguishable from it, {'better' if test.better > test.worse else 'worse'}"
    yield f"  {told_apart if test.p < ALPHA else 'not distinguishable from it'}: p = {test.p:.2g} ({test.method})"
    if test.detectable is not None:
        yield f"  the smallest gap that these {test.n} items would show in 80 % of cases: {test.detectable:.3f}"


def _breakdowns(summary: Summary) -> Iterator[str]:
    """Yield the first rate of each group; lever families are too many for a terminal, and `--json` has all."""
    for breakdown, groups in summary.by.items():
        if breakdown == "lever_family" or not groups:
            continue
        name = next(iter(next(iter(groups.values()))))
        yield from ("", f"By {breakdown} ({name})")
        for group, found in groups.items():
            yield f"  {group:<38} {figure(found[name])}"
