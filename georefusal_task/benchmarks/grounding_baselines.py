"""Replies that look at no image: what each score gives to those who game it, beside which every real result stands."""

from collections.abc import Callable

from georefusal_task.benchmarks.grounding_prompts import Turn
from georefusal_task.benchmarks.grounding_records import Gold, Question, QuestionType
from georefusal_task.core.frames import Frame

Fractions = tuple[float, float, float, float]
"""x1, y1, x2, y2 in fractions of the image's width and height."""
Choice = tuple[str, Fractions | None]
"""An answer, and the one box beside it, if any."""

WHOLE: Fractions = (0.0, 0.0, 1.0, 1.0)
CENTRED: Fractions = (0.25, 0.25, 0.75, 0.75)


def always_yes(question: Question, gold: Gold) -> Choice:  # noqa: ARG001
    """Return yes, or one, and one box in the middle of the image."""
    return "1" if question.type is QuestionType.COUNTING else "yes", CENTRED


def empty_boxes(question: Question, gold: Gold) -> Choice:  # noqa: ARG001
    """Return what no boxes support: no, none, and equally many. ES_overall = ES_correct = 1."""
    return {QuestionType.COUNTING: "0", QuestionType.EQUAL: "yes"}.get(question.type, "no"), None


def whole_image(question: Question, gold: Gold) -> Choice:  # noqa: ARG001
    """Return the right answer and one box over everything. ES_correct = 1, and JS is accuracy_E."""
    return gold.answer, WHOLE


BASELINES: dict[str, Callable[[Question, Gold], Choice]] = {
    "grsvqa_always_yes": always_yes,
    "grsvqa_empty_boxes": empty_boxes,
    "grsvqa_whole_image": whole_image,
}


def reply_text(choice: Choice, question: Question, turn: Turn, frame: Frame) -> str:
    r"""Return a choice as the reply to a turn, its box in the numbers of the frame.

    >>> from georefusal_task.core.frames import get_frame
    >>> asked = Question.model_construct(width=200, height=100)
    >>> reply_text(("yes", CENTRED), asked, "one", get_frame("internvl"))
    'Answer: yes\nBoxes: [[250, 250, 750, 750]]'
    """
    answer, box = choice
    extents = frame.extents(question.width, question.height)
    numbers = [f"{part * side:g}" for part, side in zip(box or (), extents * 2, strict=box is not None)]
    boxes = f"[[{', '.join(numbers)}]]" if box else "none"
    return {"one": f"Answer: {answer}\nBoxes: {boxes}", "answer": answer, "grounding": boxes}[turn]
