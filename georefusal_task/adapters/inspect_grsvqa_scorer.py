"""Scorer and metrics of the grounding tasks for inspect_ai: a score carries its outcome, the metric sums them up."""

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

from georefusal_task.core.frames import get_frame
from georefusal_task.core.reply import FAILED_REQUEST
from georefusal_task.grounding_replies import Half, Outcome, outcome, summed_up
from georefusal_task.grounding_tasks import GROUNDING_TASKS, load_set, requests

_OUTCOME: TypeAdapter[Outcome] = TypeAdapter(Outcome)


@metric(scores="unreduced")
def grounding() -> Metric:
    """Return all our figures as one metric, with the 95 % interval of the headline; the first epoch counts."""

    def figures(scores: list[SampleScore]) -> Value:
        said: dict[tuple[str, str], Outcome] = {}
        for score in sorted((found.score for found in scores), key=lambda score: score.metadata["epoch"]):
            one = _OUTCOME.validate_python(score.metadata["outcome"])
            said.setdefault((one.id, one.turn if isinstance(one, Half) else "one"), one)
        metrics = summed_up(said.values()).metrics
        headline, estimate = next(iter(metrics.items()))
        limits = {f"{headline}_low": estimate.low, f"{headline}_high": estimate.high}
        return {name: found.value for name, found in metrics.items()} | limits

    return figures


@scorer(metrics=[grounding()])
def answer_and_boxes(name: str, data: str | None, frame: str) -> Scorer:
    """Return the scorer: correct when the answer is; a turn that asks for boxes alone has no answer to be right."""
    spec, chosen = GROUNDING_TASKS[name], get_frame(frame)
    asked = {one.id: one for one in requests(spec, load_set(spec, data))}

    async def score(state: TaskState, target: Target) -> Score:  # noqa: ARG001
        # without a choice there was no answer to the request: see score_on_error of the task
        text = state.output.completion if state.output.choices else FAILED_REQUEST
        found = outcome(asked[str(state.sample_id)], text, chosen)
        said = found.reply if isinstance(found, Half) else found
        reason = "host_error" if said.failed else "invalid_response_format" if said.answer is None else None
        boxes_alone = found.right is None
        return Score(
            value=NOANSWER if said.answer is None else CORRECT if found.right else INCORRECT,
            answer=None if said.answer is None else str(said.answer),
            explanation=None if isinstance(found, Half) else "borne out" if found.support else "not borne out",
            reason=None if boxes_alone and not said.failed else reason,
            metadata={"outcome": _OUTCOME.dump_python(found, mode="json"), "epoch": state.epoch},
        )

    return score
