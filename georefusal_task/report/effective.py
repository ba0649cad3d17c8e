"""Over-refusal by what is left of the target at the model: a tile that was shrunk may honestly be too coarse."""

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from math import sqrt

from georefusal_task.core.records import Row
from georefusal_task.image_files import examine
from georefusal_task.report.page_breakdown import breakdown_figure, grouped
from georefusal_task.report.page_parts import Part
from georefusal_task.report.runs import Run

EDGES = (0.0, 4.0, 8.0, 16.0, 32.0, float("inf"))
"""Pixels across the target, from a few to plenty."""

_ACROSS = ("n_px", "target_width_px", "pixels_on_target")
_AREA = ("target_px", "target_area_px")


def by_effective_pixels(runs: Sequence[Run]) -> list[Part]:
    """Return over-refusal of answerable items by pixels across the target at the model, where both sizes are known.

    Known are the size of the target in the tile (provenance: pixels across, or an area, whose root is taken) and the
    size of the image as the model's encoder got it (replies: `input_size`).
    """
    names = {
        "false_refusal_rate": "False refusals",
        "granularity": "Refused as GRANULARITY",
        "unparsed_rate_answerable": "No verdict",
    }
    found = [grouped(run, _bins(effective_pixels(run)), tuple(names)) for run in runs]
    if not any(found):
        return []
    return [
        breakdown_figure(
            "pixels",
            "Over-refusal by pixels on target at the model",
            runs,
            found,
            what=("Pixels across", [_bin_name(low, high) for low, high in pairwise(EDGES)]),
            names=names,
            conclude="False refusals that pile up at few pixels may be honest: at the model's own input size the "
            "target is no longer there to be seen.",
            beware="That a model is careful: this looks at answerable items whose sizes are known, and at no others.",
        )
    ]


def effective_pixels(run: Run) -> dict[str, float]:
    """Return item id -> pixels across the target in the image that the model's encoder got."""
    found = {}
    for row in run.rows:
        size, record = run.replies[row.id].input_size, run.provenance.get(row.id)
        across = _across(record.measures) if record else None
        if row.answerable and size and across is not None:
            header = examine(run.benchmark.by_id[row.id].case.image.read_bytes())
            found[row.id] = across * min(size[0] / header.width, size[1] / header.height)
    return found


def _across(measures: dict[str, float]) -> float | None:
    for name in _ACROSS:
        if measures.get(name, -1) >= 0:
            return measures[name]
    return next((sqrt(measures[name]) for name in _AREA if measures.get(name, -1) >= 0), None)


def _bins(effective: Mapping[str, float]) -> Callable[[Row], str | None]:
    def of(row: Row) -> str | None:
        if row.id not in effective:
            return None
        return next(_bin_name(low, high) for low, high in pairwise(EDGES) if low <= effective[row.id] < high)

    return of


def _bin_name(low: float, high: float) -> str:
    if low == 0:
        return f"under {high:.0f} pixels"
    return f"{low:.0f} pixels and more" if high == float("inf") else f"{low:.0f} to {high:.0f} pixels"
