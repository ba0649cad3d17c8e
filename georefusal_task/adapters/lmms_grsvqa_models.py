"""The baselines of answer-grounding consistency as host models."""

from typing import Any

from georefusal_task.adapters.lmms_baseline import Baseline
from georefusal_task.adapters.lmms_grsvqa import request_of
from georefusal_task.benchmarks.grounding_baselines import BASELINES, reply_text
from georefusal_task.core.frames import get_frame


class GroundingBaseline(Baseline):
    """Replies with an answer and at most one box, in the frame that the request names."""

    name: str
    replies_to = "grsvqa", "turn"

    def reply(self, doc: Any, repeat: int) -> str:  # noqa: ARG002
        """Return what the turn asks for."""
        request = request_of(doc)
        choice = BASELINES[self.name](request.question, request.gold)
        return reply_text(choice, request.question, request.turn, get_frame(doc["frame"]))


class AlwaysYes(GroundingBaseline):
    """`grsvqa_always_yes`: yes, or one, and one box in the middle of the image."""

    name = "grsvqa_always_yes"


class EmptyBoxes(GroundingBaseline):
    """`grsvqa_empty_boxes`: what no boxes support, which is no, none, and equally many."""

    name = "grsvqa_empty_boxes"


class WholeImage(GroundingBaseline):
    """`grsvqa_whole_image`: the right answer and one box over everything."""

    name = "grsvqa_whole_image"
