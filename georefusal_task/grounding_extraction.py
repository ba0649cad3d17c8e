"""Grounding replies read with the help of a language model, where the strict reader finds no answer; off by default."""

from dataclasses import dataclass, replace

from georefusal_task.benchmarks.grounding_prompts import Turn
from georefusal_task.benchmarks.grounding_reading import read_turn
from georefusal_task.benchmarks.grounding_records import GroundingReply, Question, QuestionType
from georefusal_task.core.extractor import AnswerKind, Extraction, Extractor
from georefusal_task.core.frames import Frame


@dataclass
class ExtractingReader:
    """Reads as `read_turn`, and counts what the extractor did; it sees question and reply, never boxes as such or gold.

    What the strict reader reads counts. Of those replies the extractor is asked about every `compare_every`th, which
    shows how often the two agree.
    """

    extractor: Extractor
    compare_every: int = 10
    replies: int = 0
    direct: int = 0
    extracted: int = 0
    agreed: int = 0
    compared: int = 0

    def __call__(self, text: str, turn: Turn, question: Question, frame: Frame) -> GroundingReply:
        """Return the reply, its answer given by the extractor where it could not be read directly."""
        reply = read_turn(text, turn, question, frame)
        if turn == "grounding" or reply.failed:
            return reply
        self.replies += 1
        if reply.answer is None:
            answer, _ = self._ask(text, question)
            self.extracted += answer is not None
            return replace(reply, answer=answer)
        self.direct += 1
        if self.direct % self.compare_every == 1 or self.compare_every == 1:
            answer, failed = self._ask(text, question)
            self.compared += not failed
            self.agreed += not failed and answer == reply.answer
        return reply

    def _ask(self, text: str, question: Question) -> tuple[str | int | None, bool]:
        """Return the extractor's answer, and whether the request failed."""
        before = self.extractor.failures
        kind: AnswerKind = "count" if question.type is QuestionType.COUNTING else "yes_no"
        return self.extractor.read(question.question, text, kind), self.extractor.failures > before

    def report(self) -> dict[str, str | int | float | None]:
        """Return what the extractor did over the run, for the `meta` of `score --json`."""
        done = Extraction(
            self.replies, self.direct, self.extracted, self.extractor.failures, self.agreed, self.compared
        )
        return {
            "model": self.extractor.model,
            "share": done.share,
            "extracted": done.extracted,
            "failures": done.failures,
            "agreement": done.agreement,
            "compared": done.compared,
        }
