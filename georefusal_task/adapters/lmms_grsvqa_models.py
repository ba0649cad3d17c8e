"""Baselines of answer-grounding consistency as host models: they see no image, and show how each score can be gamed."""

from abc import abstractmethod
from typing import Any

from georefusal_task.adapters.lmms_grsvqa import Doc, request_of
from georefusal_task.adapters.lmms_models import Baseline
from georefusal_task.benchmarks.grounding import Gold, Question, QuestionType
from georefusal_task.core.frames import get_frame

Fractions = tuple[float, float, float, float]
"""x1, y1, x2, y2 in fractions of the image's width and height."""

WHOLE: Fractions = (0.0, 0.0, 1.0, 1.0)
CENTRED: Fractions = (0.25, 0.25, 0.75, 0.75)


class GroundingBaseline(Baseline):
    """Replies with an answer and at most one box, in the frame that the request names."""

    replies_to = "grsvqa", "turn"

    @abstractmethod
    def choose(self, question: Question, gold: Gold) -> tuple[str, Fractions | None]:
        """Return the answer to one question and the box beside it, if any."""

    def reply(self, doc: Doc | dict[str, Any], repeat: int) -> str:  # noqa: ARG002
        """Return what the turn asks for."""
        request = request_of(doc)  # type: ignore[arg-type]  # the host knows documents as plain dictionaries
        answer, box = self.choose(request.question, request.gold)
        right, lower = get_frame(doc["frame"]).extents(request.question.width, request.question.height)
        numbers = [] if box is None else [number * side for number, side in zip(box, (right, lower) * 2, strict=True)]
        boxes = f"[[{', '.join(f'{number:g}' for number in numbers)}]]" if numbers else "none"
        return {"one": f"Answer: {answer}\nBoxes: {boxes}", "answer": answer, "grounding": boxes}[request.turn]


class AlwaysYes(GroundingBaseline):
    """`grsvqa_always_yes`: yes, or one, and one box in the middle of the image."""

    def choose(self, question: Question, gold: Gold) -> tuple[str, Fractions]:  # noqa: ARG002
        """Return the same for every question of a type."""
        return "1" if question.type is QuestionType.COUNTING else "yes", CENTRED


class EmptyBoxes(GroundingBaseline):
    """`grsvqa_empty_boxes`: what no boxes support, which is no, none, and equally many: ES_overall = ES_correct = 1."""

    def choose(self, question: Question, gold: Gold) -> tuple[str, None]:  # noqa: ARG002
        """Return the answer that nothing contradicts."""
        return {QuestionType.COUNTING: "0", QuestionType.EQUAL: "yes"}.get(question.type, "no"), None


class WholeImage(GroundingBaseline):
    """`grsvqa_whole_image`: the right answer and one box over everything: ES_correct = 1, and JS is accuracy_E."""

    def choose(self, question: Question, gold: Gold) -> tuple[str, Fractions]:  # noqa: ARG002
        """Return the gold answer."""
        return gold.answer, WHOLE
