"""What those get who game the scores of answer-grounding consistency: no boxes, and one box over the whole image."""

from georefusal_task.benchmarks.grounding import GroundingRow
from georefusal_task.benchmarks.grounding_baselines import BASELINES, reply_text
from georefusal_task.benchmarks.grounding_scores import columns
from georefusal_task.core.frames import get_frame
from georefusal_task.core.stats import Estimate
from georefusal_task.grounding_data import GroundingSet
from georefusal_task.grounding_replies import joined, outcome
from georefusal_task.grounding_tasks import GROUNDING_TASKS, requests

Figures = dict[str, Estimate]

SHOWN = {
    "grsvqa_empty_boxes": "no boxes, No and 0",
    "grsvqa_whole_image": "whole-image box, right answer",
}
"""Baseline -> what the page calls it."""


def gaming(questions: GroundingSet) -> dict[str, Figures]:
    """Return name -> metric -> its value for each gaming baseline: constants of the data, without an interval."""
    return {label: _figures(_rows(questions, name)) for name, label in SHOWN.items()}


def _rows(questions: GroundingSet, baseline: str) -> list[GroundingRow]:
    task, frame, choose = GROUNDING_TASKS["grsvqa"], get_frame("unit"), BASELINES[baseline]
    replies = (
        (request, reply_text(choose(request.question, request.gold), request.question, request.turn, frame))
        for request in requests(task, questions)
    )
    rows, _ = joined(outcome(request, text, frame) for request, text in replies)
    return rows


def _figures(rows: list[GroundingRow]) -> Figures:
    sums = {name: (float(above.sum()), float(below.sum())) for name, (above, below) in columns(rows).items()}
    return {
        name: Estimate(above / below if below else None, None, None, len(rows), "constant of the data")
        for name, (above, below) in sums.items()
    }
