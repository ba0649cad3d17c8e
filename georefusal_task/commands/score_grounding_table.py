"""The figures of one run of a grounding task as lines of text, for a terminal."""

from collections.abc import Iterator, Mapping
from typing import Any

from georefusal_task.benchmarks.grounding import GroundingSummary
from georefusal_task.benchmarks.summary import SMALL
from georefusal_task.commands.score_table import figure, how_many
from georefusal_task.core.stats import Estimate

SECTIONS: dict[str, tuple[str, ...]] = {
    "Answers": ("accuracy", "accuracy_E", "invalid_rate"),
    "Do the boxes support the answer (on E)": ("ES_overall", "ES_correct", "JS"),
    "How much of the image that takes (on E)": ("covered_area_share", "ES_tight"),
    "Localisation at IoU 0.5 (on E)": ("localisation_precision", "localisation_recall", "localisation_F1"),
    "Replies": ("box_flag_rate", "host_error_rate", "incomplete_rate"),
}

IN_GROUPS = ("accuracy", "ES_overall", "ES_correct", "JS")
"""What the breakdowns show; `--json` has all."""


def lines(summary: GroundingSummary, meta: Mapping[str, Any]) -> Iterator[str]:
    """Yield the lines: what was scored in which frame, the figures, the breakdowns, what was wrong with boxes."""
    yield f"{meta['task']}: {how_many(summary.n, meta['n_total'])}"
    yield f"coordinate frame {meta['frame']}"
    yield f"prompt {meta['prompt']['id']} ({meta['prompt']['sha256'][:12]}), reader {meta['reader']}"
    if extracted := meta.get("extractor"):
        yield f"{extracted['extracted']} answers were read by {extracted['model']} where the strict reader found none"
        agreement = f"{_share(extracted['agreement'])} of {extracted['compared']} compared"
        yield f"  the two agree on {agreement}; {extracted['failures']} of its requests failed"
    yield f"data {meta['data']['digest'][:12]} from {meta['data']['source']}"
    for title, names in SECTIONS.items():
        yield from ("", title)
        for name in names:
            yield f"  {name:<38} {figure(summary.metrics[name])}"
    for breakdown, groups in summary.by.items():
        yield from ("", f"{f'By {breakdown}':<20}" + "".join(f"{name:>12}" for name in IN_GROUPS))
        for group, found in groups.items():
            yield f"  {group:<18}" + "".join(f"{_cell(found[name]):>12}" for name in IN_GROUPS)
    if summary.flags:
        yield from ("", "Boxes that were mended or dropped")
        for flag, count in summary.flags.items():
            yield f"  {flag:<38} {count:>3}"
    yield ""
    yield "E: all questions but those of existence whose answer is no. Intervals are clustered by image."
    yield f"[low, high]: 95 % interval. k/n: fewer than {SMALL}, so no rate. -: not defined on these questions."


def _share(value: float | None) -> str:
    return "-" if value is None else f"{100 * value:.1f} %"


def _cell(estimate: Estimate) -> str:
    """Return the value alone; counts where there are too few questions for a rate."""
    if estimate.count is not None and estimate.n < SMALL:
        return f"{estimate.count}/{estimate.n}"
    return "-" if estimate.value is None else f"{estimate.value:.3f}"
