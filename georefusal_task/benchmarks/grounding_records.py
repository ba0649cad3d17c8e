"""The records of answer-grounding consistency: Question and Gold in, GroundingReply in the middle, GroundingRow out."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from georefusal_task.core.frames import Points

Answer = str | int | None
"""A model's own answer: "yes" or "no", a count, or None where none could be read."""


class QuestionType(StrEnum):
    """What is asked: is there one, how many, and three ways to compare two classes."""

    EXISTENCE = "existence"
    COUNTING = "counting"
    MORE = "more"
    FEWER = "fewer"
    EQUAL = "equal"

    @property
    def family(self) -> str:
        """The three kinds that the benchmark's paper reports."""
        return "comparison" if self.compares else str(self)

    @property
    def compares(self) -> bool:
        """True where two classes are asked about."""
        return self in (QuestionType.MORE, QuestionType.FEWER, QuestionType.EQUAL)


class _Record(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Question(_Record):
    """Everything a model may see, and the classes that its boxes are compared with."""

    id: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_-]*$", description="opaque id; a safe file name without dots")
    type: QuestionType
    classes: tuple[str, ...] = Field(min_length=1, max_length=2)
    """The class asked about; of a comparison the two, in the order of the question."""
    question: str = Field(min_length=1)
    image: Path
    """Absolute path of the image file."""
    width: int = Field(gt=0)
    height: int = Field(gt=0)
    image_id: str = Field(min_length=1)
    """Shared by all questions about one image; intervals are clustered by it."""

    @model_validator(mode="after")
    def _has_the_classes_it_compares(self) -> Self:
        if len(self.classes) != 1 + self.type.compares:
            raise ValueError(f"a question of type {self.type} has {1 + self.type.compares} classes, not {self.classes}")
        return self


class Gold(_Record):
    """The right answer, and every annotated instance of the classes asked about."""

    id: str
    answer: str = Field(pattern=r"^(yes|no|\d+)$")
    instances: dict[str, tuple[Points, ...]]
    """Class -> polygons in pixels of the original image; a class that is not there has none."""


@dataclass(frozen=True, slots=True)
class GroundingReply:
    """What a model said about one question: its answer, and where it looked."""

    answer: Answer
    regions: tuple[Points, ...] = ()
    """Polygons in pixels of the original image."""
    flags: Mapping[str, int] = field(default_factory=dict)
    """What was wrong with the boxes -> how often."""
    frame: str = ""
    """The coordinate frame that the boxes were read in."""
    failed: bool = False
    """The harness has no reply: a request failed."""


@dataclass(frozen=True, slots=True)
class GroundingRow:
    """One scored question."""

    id: str
    image_id: str
    type: QuestionType
    gold: str
    answer: Answer
    right: bool
    support: bool
    """The boxes support the answer that was given, right or wrong."""
    tight: bool
    """Support, from regions not much larger than what they cover."""
    covered: tuple[int, ...]
    """Instances covered, per class asked about."""
    annotated: tuple[int, ...]
    """Instances there are, per class."""
    predicted: int
    """Regions in the reply."""
    matched: int
    """Regions that match an instance of their own at IoU >= 0.5."""
    area_share: float
    """Area of the regions' union over that of the image."""
    flags: Mapping[str, int] = field(hash=False)
    frame: str
    failed: bool

    @property
    def in_support_set(self) -> bool:
        """True in E, where support and localisation are scored: all but existence questions whose truth is no.

        Source: facts of the benchmark; of 15,027 questions 5,328 are left out.
        """
        return self.type is not QuestionType.EXISTENCE or self.gold != "no"

    @property
    def invalid(self) -> bool:
        """True when no answer could be read."""
        return self.answer is None
