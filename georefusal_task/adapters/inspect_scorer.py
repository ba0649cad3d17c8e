"""Scorer and metrics for inspect_ai: a score carries its scored row, and the metric sums the rows up."""

from dataclasses import asdict, replace
from pathlib import Path

from inspect_ai.scorer import (
    CORRECT,
    INCORRECT,
    NOANSWER,
    Metric,
    SampleScore,
    Score,
    Scorer,
    Target,
    Value,
    metric,
    scorer,
)
from inspect_ai.solver import TaskState
from pydantic import TypeAdapter

from georefusal_task.adapters.common import load, spec_of
from georefusal_task.benchmarks.refusal import score_one
from georefusal_task.core.records import Reason, Row
from georefusal_task.core.reply import FAILED_REQUEST, read_reply
from georefusal_task.replies import read_clusters
from georefusal_task.tasks_table import Variant, summed_up

_REASONS = {Reason.EMPTY: "no_response", Reason.HOST_ERROR: "host_error"}
"""All others are to inspect_ai an invalid format; a failed request is kept apart from what the model did."""

_ROW = TypeAdapter(Row)


@metric(scores="unreduced")
def georefusal(prompt: str = "default", variant: Variant = "main", clusters: str | None = None) -> Metric:
    """Return all our figures as one metric, with the 95 % interval of the headline."""
    spec = spec_of(prompt, variant)

    def figures(scores: list[SampleScore]) -> Value:
        said: dict[str, list[Row]] = {}
        for score in sorted((found.score for found in scores), key=lambda score: score.metadata["epoch"]):
            row = _ROW.validate_python(score.metadata)
            said.setdefault(row.id, []).append(row)
        # of several epochs the first reply counts; all of them tell how steady the model is
        rows = [
            replace(epochs[0], repeats=tuple(row.verdict for row in epochs) if len(epochs) > 1 else ())
            for epochs in said.values()
        ]
        metrics = summed_up(spec, rows, read_clusters(Path(clusters)) if clusters else None).metrics
        headline, estimate = next(iter(metrics.items()))
        limits = {f"{headline}_low": estimate.low, f"{headline}_high": estimate.high}
        return {name: estimate.value for name, estimate in metrics.items()} | limits

    return figures


@scorer(metrics=[georefusal()])
def accept_set(prompt: str = "default", data: str | None = None) -> Scorer:
    """Return the scorer: correct when the verdict is accepted; a reply that cannot be read is no answer."""
    spec = spec_of(prompt, data=data)
    items, kind = load(spec, data).by_id, spec.asks.reply

    async def score(state: TaskState, target: Target) -> Score:  # noqa: ARG001
        item = items[str(state.sample_id)]
        # without a choice there was no answer to the request: see score_on_error of the task
        reply = read_reply(state.output.completion if state.output.choices else FAILED_REQUEST, kind)
        row = score_one(item.case, item.label, [reply], kind)
        right = row.answer == row.gold_answer if kind == "yes_no" else row.right
        return Score(
            value=NOANSWER if row.reason else CORRECT if right else INCORRECT,
            answer=row.answer if kind == "yes_no" else row.verdict,
            explanation=reply.justification or row.reason,
            reason=row.reason and _REASONS.get(row.reason, "invalid_response_format"),
            metadata={**asdict(row), "epoch": state.epoch},
        )

    return score
