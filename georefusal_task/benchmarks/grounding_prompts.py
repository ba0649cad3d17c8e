"""The prompts of answer-grounding consistency: one for both at once, or one for the answer and one for the boxes.

A prompt's text never changes under the same version. Boxes are asked for in the notation of the model's coordinate
frame, so the digest that stands beside results is of prompt and frame together.
"""

import hashlib
from dataclasses import dataclass
from typing import Literal

from georefusal_task.benchmarks.grounding_records import Question
from georefusal_task.core.frames import Frame

Turn = Literal["one", "answer", "grounding"]
"""What one request asks for: answer and boxes, the answer alone, or the boxes alone."""


@dataclass(frozen=True)
class GroundingPrompt:
    """One request: the instruction stands before the image, the question after it."""

    name: Turn
    version: str
    wording: str
    """The instruction, with {notation} where the frame says how boxes are written."""
    question: str = "Question: {question}"

    @property
    def id(self) -> str:
        """`name/version`, the short form for tables."""
        return f"{self.name}/{self.version}"

    def instruction(self, frame: Frame) -> str:
        """Return the text that precedes the image."""
        return self.wording.replace("{notation}", frame.notation)

    def ask(self, question: Question) -> str:
        """Return the text that follows the image."""
        # replace, not format: a question may contain braces
        return self.question.replace("{question}", question.question)

    def text(self, question: Question, frame: Frame) -> str:
        """Return instruction and question as one text, for models that take one text and one image."""
        return f"{self.instruction(frame)}\n\n{self.ask(question)}"

    def sha256(self, frame: Frame) -> str:
        """Return the digest of everything a model is told apart from the question itself, 64 hex digits."""
        return hashlib.sha256(f"{self.instruction(frame)}\0{self.question}\0{self.name}".encode()).hexdigest()


_SCENE = "You are given one overhead image (satellite, aerial or radar) and one question about it."
_ANSWER = "with yes or no or, where the question asks how many, with a whole number in digits"
_BOXES = (
    "Locate every object in the image that it is about, of every class it names: one box for each object, written as "
    "{notation}."
)

_ALL = (
    GroundingPrompt(
        "one",
        "v1",
        f"{_SCENE} Answer it {_ANSWER}. {_BOXES} Reply in two lines and nothing else:\n"
        "Answer: yes, no or the number\n"
        "Boxes: the boxes, or none where there is no such object",
    ),
    GroundingPrompt("answer", "v1", f"{_SCENE} Answer it {_ANSWER}, and nothing else."),
    GroundingPrompt(
        "grounding",
        "v1",
        f"{_SCENE} Do not answer it. {_BOXES} Reply with the boxes and nothing else, or with none where there is no "
        "such object.",
    ),
)

PROMPTS: dict[Turn, GroundingPrompt] = {prompt.name: prompt for prompt in _ALL}


def build_prompt(question: Question, frame: Frame, turn: Turn = "one") -> str:
    """Return the whole text that goes with the image; nothing is known here of gold or other turns."""
    return PROMPTS[turn].text(question, frame)
