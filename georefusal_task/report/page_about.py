"""What pages of any benchmark begin and end with: whose runs these are, how they were made, what the words mean."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from georefusal_task.benchmarks.refusal_metrics import Metric
from georefusal_task.report.logs import Meta
from georefusal_task.report.page_parts import Note, Part, Section
from georefusal_task.report.tables import UNDEFINED, Table
from georefusal_task.report.texts import visible


@dataclass(frozen=True)
class Made:
    """How one run was made."""

    name: str
    task: str
    items: str
    """How many, of how many."""
    data: str
    prompt: str
    meta: Meta
    frame: str | None = None
    """The coordinate frame of boxes, where the task asks for them."""


def title(names: Sequence[str]) -> str:
    """Return the heading of a page on the runs of these names."""
    shown = [visible(name, 60) for name in names]
    more = f" and {len(shown) - 3} more" if len(shown) > 3 else ""
    return f"{', '.join(shown[:3])}{more}"


def about(runs: Sequence[Made], metrics: Mapping[str, Metric]) -> Section:
    """Return how the runs were made, and what every figure of the page means."""
    cells = [_cells(run) for run in runs]
    columns = tuple(cells[0])
    parts: list[Part] = [
        Table(
            "How the runs were made, as far as they recorded it",
            columns,
            tuple(tuple(row.values()) for row in cells),
            left=frozenset(range(len(columns))),
        ),
        Note("A dash means not defined or not recorded; n says over how many items. Brackets hold 95 % intervals."),
        Table(
            "Every metric",
            ("Metric", "What it says and how it can mislead"),
            tuple((name, metric.meaning) for name, metric in metrics.items()),
            left=frozenset({0, 1}),
        ),
    ]
    return Section("about", "About these runs", "What was evaluated, and what the words of this page mean.", parts)


def _cells(run: Made) -> dict[str, str]:
    """Return heading -> cell of the row of a run."""
    meta = run.meta
    return {
        "Run": run.name,
        "Task": run.task,
        "Items": run.items,
        "Data": run.data,
        "Prompt": run.prompt,
        **({"Frame": run.frame} if run.frame else {}),
        "Model": meta.model or UNDEFINED,
        "Revision": meta.revision or UNDEFINED,
        "Harness": " ".join(filter(None, (meta.harness, meta.harness_version))) or UNDEFINED,
        "Fed as": " ".join(filter(None, (meta.backend, meta.style))) or UNDEFINED,
        "Generation": ", ".join(f"{key} {value}" for key, value in meta.generation.items()) or UNDEFINED,
        "Seed": UNDEFINED if meta.seed is None else str(meta.seed),
        "Type": meta.dtype or UNDEFINED,
    }
