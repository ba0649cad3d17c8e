"""Our summary as the host's metrics: every item's value carries its scored row, every aggregation reads the rows.

The host averages nothing here. It hands each metric the list of its per-item values, and the summary of their rows has
the figure; it is made once and kept for the other metrics. The types can be logged and sent between ranks.
"""

import logging
from collections.abc import Callable, Sequence
from dataclasses import asdict
from functools import lru_cache
from typing import Any

from georefusal_task.benchmarks.refusal import Summary, scalar
from georefusal_task.benchmarks.refusal_metrics import FORCED_METRICS, METRICS, Metric
from georefusal_task.core.errors import DataError
from georefusal_task.core.records import Row
from georefusal_task.tasks_table import TaskSpec, summed_up

HEADLINE = "accept_acc"
SCORE = "score"
"""The headline once more, under the name that the host's paired comparison looks for."""


class Carrier:
    """A per-item value that also knows the row it comes from and the task that decides how rows are summed up."""

    row: Row
    spec: TaskSpec


class Record(Carrier, dict[str, Any]):
    """A row with all its fields, for the sample log; the host takes a standard error from its `score`."""


class Score(Carrier, float):
    """1.0 for a right verdict, 0.0 for any other outcome."""


class Part(Carrier, str):
    """An item's part in a figure that exists for the whole set only; an empty text in the sample log."""


def carried(row: Row, spec: TaskSpec) -> dict[str, Carrier]:
    """Return one value per metric that the task reports, each with the row."""
    values: dict[str, Carrier] = {name: Part() for name in reported(spec)}
    if HEADLINE in values:
        values |= {HEADLINE: Record(score=float(row.right), **asdict(row)), SCORE: Score(row.right)}
    for value in values.values():
        value.row, value.spec = row, spec
    return values


def reported(spec: TaskSpec) -> list[str]:
    """Return the names of the metrics that the task's summary has, in the order of their table."""
    if spec.asks.reply == "yes_no":
        return list(FORCED_METRICS)
    absent = {"answer_rate"} if spec.variant == "grey" else {"grey_answer_rate"}
    return [name for name in METRICS if name not in absent]


def metric_list() -> list[dict[str, Any]]:
    """Return the host's `metric_list`: every metric of any task, with its aggregation."""
    table: dict[str, Metric] = {**METRICS, **FORCED_METRICS, SCORE: METRICS[HEADLINE]}
    return [
        {"metric": name, "aggregation": _aggregation(name), "higher_is_better": metric.higher_is_better}
        for name, metric in table.items()
    ]


def _aggregation(name: str) -> Callable[[Sequence[Carrier]], float | None]:
    figure = HEADLINE if name == SCORE else name

    def aggregate(values: Sequence[Carrier]) -> float | None:
        rows = tuple(sorted((value.row for value in values), key=lambda row: row.id))
        summary = _summary(values[0].spec, rows)
        return None if summary is None else scalar(summary, figure)

    return aggregate


@lru_cache(maxsize=4)
def _summary(spec: TaskSpec, rows: tuple[Row, ...]) -> Summary | None:
    """Return the summary of a run; None, said once, when its rows contradict each other: the replies must be kept."""
    try:
        return summed_up(spec, rows)
    except DataError as error:
        logging.getLogger(__name__).error("no figures for this run: %s", error)
        return None
