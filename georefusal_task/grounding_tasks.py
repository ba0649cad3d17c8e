"""The tasks of answer-grounding consistency by name, what each requests, and in which coordinate frame."""

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from georefusal_task.benchmarks.grounding_prompts import PROMPTS, GroundingPrompt, Turn
from georefusal_task.benchmarks.grounding_records import Gold, Question
from georefusal_task.core.errors import ConfigError
from georefusal_task.core.frames import FRAMES, Frame, frame_of_model, get_frame
from georefusal_task.grounding_data import GroundingSet, load, load_mini

VARIABLE = "GEOREFUSAL_FRAME"


@dataclass(frozen=True)
class GroundingTask:
    """One task: answer and boxes in one request or in two, with the image or without."""

    name: str
    turns: tuple[Turn, ...] = ("one",)
    image: bool = True
    mini: bool = False

    @property
    def prompts(self) -> tuple[GroundingPrompt, ...]:
        """The prompt of each turn."""
        return tuple(PROMPTS[turn] for turn in self.turns)

    @property
    def variant(self) -> str:
        """What is shown in the image's place, in the words of the other tasks."""
        return "main" if self.image else "noimage"


GROUNDING_TASKS: dict[str, GroundingTask] = {
    task.name: task
    for task in (
        GroundingTask("grsvqa"),
        GroundingTask("grsvqa_two_turn", turns=("answer", "grounding")),
        GroundingTask("grsvqa_noimage", image=False),
        GroundingTask("grsvqa_mini", mini=True),
    )
}


@dataclass(frozen=True)
class Request:
    """One thing asked of a model."""

    question: Question
    gold: Gold
    turn: Turn

    @property
    def id(self) -> str:
        """The question's id; with the turn behind a dot where there are two."""
        return self.question.id if self.turn == "one" else f"{self.question.id}.{self.turn}"


def load_set(task: GroundingTask, folder: Path | str | None = None) -> GroundingSet:
    """Return the questions of a task: the mini set, else those in `folder`, else in the one that GRSVQA_DATA names.

    Raises:
        GeoRefusalError: as `grounding_data.load`.
    """
    return load_mini() if task.mini and folder is None else load(folder)


def requests(task: GroundingTask, questions: GroundingSet) -> Iterator[Request]:
    """Yield what the task asks, question by question."""
    for question, gold in questions.by_id.values():
        for turn in task.turns:
            yield Request(question, gold, turn)


def declared_frame(models: Iterable[str] = (), named: str | None = None) -> Frame:
    """Return the coordinate frame: `named`, else what GEOREFUSAL_FRAME says, else the one that the models' ids settle.

    Raises:
        ConfigError: none of them settles it; a frame is never guessed from numbers. The message lists the frames.
    """
    if text := named or os.environ.get(VARIABLE):
        return get_frame(text)
    ids = list(models)
    found = {frame for frame in map(frame_of_model, ids) if frame is not None}
    if len(found) == 1:
        return found.pop()
    why = f"{', '.join(map(repr, ids)) or 'no model id'} {'settles none' if not found else 'could mean several'}"
    raise ConfigError(
        f"the coordinate frame of the model's boxes is not known ({why}); set {VARIABLE}=name[,min_pixels,max_pixels], "
        f"or --frame of `georefusal score` and `export`, with one of {', '.join(FRAMES)}"
    )
