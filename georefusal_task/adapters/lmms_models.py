"""Baselines that look at no image, as host models: the floors and the ceiling that every real result stands between."""

import hashlib
import json
from abc import abstractmethod
from typing import Any

from georefusal_task.adapters.lmms_baseline import Baseline
from georefusal_task.benchmarks.prompts import get_prompt
from georefusal_task.core.errors import ConfigError
from georefusal_task.core.records import Label, ReplyKind
from georefusal_task.core.verdicts import LETTERS, VERDICTS, Verdict

Choice = tuple[Verdict, str]
"""A verdict and the yes/no that goes with it."""


class VerdictBaseline(Baseline):
    """A baseline of GeoRefusalBench, in the form that the item's prompt asks for."""

    replies_to = "GeoRefusal", "prompt"

    @abstractmethod
    def choose(self, doc: dict[str, Any], repeat: int) -> Choice:
        """Return the verdict and answer to one item."""

    def reply(self, doc: dict[str, Any], repeat: int) -> str:
        """Return the choice as a flawless reply."""
        return reply_text(get_prompt(doc["prompt"]).reply, *self.choose(doc, repeat))


class Constant(VerdictBaseline):
    """`georefusal_constant`: always the same verdict; with verdict=ANSWER the always-answer baseline."""

    def __init__(self, verdict: str = "ANSWER", answer: str = "yes", **host_arguments: Any) -> None:
        super().__init__(**host_arguments)
        if verdict not in VERDICTS:
            raise ConfigError(f"verdict={verdict} is none of {', '.join(VERDICTS)}")
        if answer not in ("yes", "no"):
            raise ConfigError(f"answer={answer} is neither yes nor no")
        self._choice = Verdict(verdict), answer

    def choose(self, doc: dict[str, Any], repeat: int) -> Choice:  # noqa: ARG002
        """Return the verdict and answer that were asked for."""
        return self._choice


class Random(VerdictBaseline):
    """`georefusal_random`: each of the six verdicts with equal chance, drawn from the seed and the item's id."""

    def __init__(self, seed: int = 0, **host_arguments: Any) -> None:
        super().__init__(**host_arguments)
        self._seed = seed

    def choose(self, doc: dict[str, Any], repeat: int) -> Choice:
        """Return one of the six verdicts and of yes and no."""
        drawn = int.from_bytes(hashlib.sha256(f"{self._seed}\0{doc['id']}\0{repeat}".encode()).digest()[:8])
        return VERDICTS[drawn % len(VERDICTS)], ("yes", "no")[drawn // len(VERDICTS) % 2]


class Oracle(VerdictBaseline):
    """`georefusal_oracle`: the label itself; anything below 1.0 is a fault of the pipeline."""

    def choose(self, doc: dict[str, Any], repeat: int) -> Choice:  # noqa: ARG002
        """Return the gold verdict and answer."""
        label = Label.model_validate_json(doc["label"])
        return label.gold, label.answer or "yes"


def reply_text(kind: ReplyKind, verdict: Verdict, answer: str) -> str:
    """Return a flawless reply of that kind.

    >>> reply_text("letter", Verdict.ANSWER, "yes"), reply_text("yes_no", Verdict.ANSWER, "no")
    ('A', 'no')
    """
    if kind == "yes_no":
        return answer
    if kind == "letter":
        return next(letter for letter, meaning in LETTERS.items() if meaning is verdict)
    said = "" if verdict.is_refusal else answer
    return json.dumps({"verdict": verdict, "answer": said, "justification": "This baseline does not see the image."})
