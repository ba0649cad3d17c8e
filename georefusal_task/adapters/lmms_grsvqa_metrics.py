"""The figures of the grounding tasks as the host's metrics: every value carries what its reply is worth by itself.

As in `lmms_metrics` the host averages nothing. Replies to two turns are rows of their own for the host; they are joined
where a metric is aggregated.
"""

import logging
from collections.abc import Callable, Sequence
from dataclasses import asdict
from functools import lru_cache
from typing import Any

from georefusal_task.benchmarks.grounding import METRICS, GroundingSummary, scalar
from georefusal_task.core.errors import DataError
from georefusal_task.grounding_replies import Half, Outcome, summed_up

HEADLINE = "accuracy"
SCORE = "score"
"""1.0 for a right answer, under the name that the host's paired comparison looks for."""


class Carrier:
    """A per-item value that also knows the outcome that it comes from."""

    outcome: Outcome


class Record(Carrier, dict[str, Any]):
    """An outcome with all its fields, for the sample log."""


class Score(Carrier, float):
    """1.0 for a right answer, 0.0 for any other."""


class Part(Carrier, str):
    """An item's part in a figure that exists for the whole set only; an empty text in the sample log."""


def carried(outcome: Outcome) -> dict[str, Carrier]:
    """Return one value per metric, each with the outcome; a reply that gives boxes alone has no score of its own."""
    values: dict[str, Carrier] = {name: Part() for name in METRICS}
    if isinstance(outcome, Half):
        record = Record(id=outcome.id, turn=outcome.turn, **asdict(outcome.reply))
    else:
        record = Record(asdict(outcome))
        del values["incomplete_rate"]
    if outcome.right is not None:
        record["score"] = float(outcome.right)
        values[SCORE] = Score(outcome.right)
    values[HEADLINE] = record
    for value in values.values():
        value.outcome = outcome
    return values


def metric_list() -> list[dict[str, Any]]:
    """Return the host's `metric_list`: every metric with its aggregation."""
    return [
        {"metric": name, "aggregation": _aggregation(name), "higher_is_better": metric.higher_is_better}
        for name, metric in {**METRICS, SCORE: METRICS[HEADLINE]}.items()
    ]


def _aggregation(name: str) -> Callable[[Sequence[Carrier]], float | None]:
    def aggregate(values: Sequence[Carrier]) -> float | None:
        summary = _summary(tuple(sorted((value.outcome for value in values), key=_key)))
        if summary is None or name != SCORE:
            return None if summary is None else scalar(summary, name)
        right = {value.outcome.id: bool(value.outcome.right) for value in values}  # of two turns, those of the answers
        return sum(right.values()) / len(right)

    return aggregate


def _key(outcome: Outcome) -> tuple[str, str]:
    return outcome.id, outcome.turn if isinstance(outcome, Half) else ""


@lru_cache(maxsize=4)
def _summary(outcomes: tuple[Outcome, ...]) -> GroundingSummary | None:
    """Return the summary of a run; None, said once, when its replies contradict each other: they must be kept."""
    try:
        return summed_up(outcomes)
    except DataError as error:
        logging.getLogger(__name__).error("no figures for this run: %s", error)
        return None
