"""From the texts of replies to the summary of a run; the harness's hooks and `georefusal score` make the same calls."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from georefusal_task import __version__
from georefusal_task.benchmarks.grounding import GroundingRow, GroundingSummary, score_one, summarise
from georefusal_task.benchmarks.grounding_prompts import Turn
from georefusal_task.benchmarks.grounding_reading import read_turn
from georefusal_task.benchmarks.grounding_records import Gold, GroundingReply, Question
from georefusal_task.core.errors import ConfigError, DataError
from georefusal_task.core.frames import Frame, get_frame
from georefusal_task.core.reply import READER
from georefusal_task.grounding_data import GroundingSet
from georefusal_task.grounding_tasks import GroundingTask, Request, declared_frame, requests
from georefusal_task.replies import ItemReplies


@dataclass(frozen=True, slots=True)
class Half:
    """The reply to one of two turns, which is scored when the other is there."""

    id: str
    turn: Turn
    question: Question = field(hash=False)
    gold: Gold = field(hash=False)
    reply: GroundingReply = field(hash=False)

    @property
    def right(self) -> bool | None:
        """Whether the answer is right; None of a turn that asks for boxes."""
        return score_one(self.question, self.gold, self.reply).right if self.turn == "answer" else None


Outcome = GroundingRow | Half
"""What one reply is worth by itself."""
Read = Callable[[str, Turn, Question, Frame], GroundingReply]


def outcome(request: Request, text: str, frame: Frame) -> Outcome:
    """Return the scored row of a reply, or half of one where answer and boxes are asked apart."""
    return outcome_of(request, read_turn(text, request.turn, request.question, frame))


def outcome_of(request: Request, reply: GroundingReply) -> Outcome:
    """Return what a reply is worth by itself, once it is read."""
    if request.turn == "one":
        return score_one(request.question, request.gold, reply)
    return Half(request.question.id, request.turn, request.question, request.gold, reply)


def summed_up(outcomes: Iterable[Outcome]) -> GroundingSummary:
    """Return the summary; halves are joined by question, and one without the other is counted and not scored.

    Raises:
        DataError: one question has different replies.
    """
    rows, incomplete = joined(outcomes)
    return summarise(rows, incomplete=incomplete)


def joined(outcomes: Iterable[Outcome]) -> tuple[list[GroundingRow], int]:
    """Return the scored rows, and how many questions have a reply to only one of their two turns.

    Raises:
        DataError: one question has different replies.
    """
    rows: list[GroundingRow] = []
    halves: dict[str, dict[Turn, Half]] = {}
    for one in outcomes:
        if isinstance(one, GroundingRow):
            rows.append(one)
            continue
        first = halves.setdefault(one.id, {}).setdefault(one.turn, one)
        if first != one:
            raise DataError(
                f"question {one.id} has two different replies to its turn {one.turn}; score one run at a time"
            )
    whole = [turns for turns in halves.values() if len(turns) == 2]
    rows += [_joined(turns["answer"], turns["grounding"]) for turns in whole]
    return rows, len(halves) - len(whole)


def _joined(answer: Half, grounding: Half) -> GroundingRow:
    failed = answer.reply.failed or grounding.reply.failed
    return score_one(answer.question, answer.gold, replace(grounding.reply, answer=answer.reply.answer, failed=failed))


def frame_of(replies: Mapping[str, ItemReplies], named: str | None = None) -> Frame:
    """Return the frame of a reply file: the one that its lines name, else `named`, GEOREFUSAL_FRAME or the models' ids.

    Raises:
        ConfigError: it is not known, the lines name several, or `named` contradicts them.
    """
    labels = sorted({said.frame for said in replies.values() if said.frame})
    if not labels:
        return declared_frame(sorted({said.model for said in replies.values() if said.model}), named)
    if len(labels) > 1:
        raise ConfigError(f"the replies were made in several coordinate frames: {', '.join(labels)}; score them apart")
    frame = get_frame(labels[0])
    if named and get_frame(named) != frame:
        raise ConfigError(f"the replies were asked for in the frame {frame.label}, not {named}; leave --frame out")
    return frame


def score_replies(
    task: GroundingTask,
    questions: GroundingSet,
    replies: Mapping[str, ItemReplies],
    frame: Frame,
    *,
    read: Read = read_turn,
    track: Callable[[Iterable[str]], Iterable[str]] = iter,
) -> GroundingSummary:
    """Return the summary of the replies, by the id of each request; raises as `summed_up`.

    `read` reads one reply; `track` passes the ids on and shows how far it got, such as a progress bar.
    """
    asked = {request.id: request for request in requests(task, questions)}

    def made(one: str) -> Outcome:
        request = asked[one]
        return outcome_of(request, read(replies[one].texts[0], request.turn, request.question, frame))

    return summed_up(map(made, track(replies)))


def described(task: GroundingTask, questions: GroundingSet, frame: Frame) -> dict[str, Any]:
    """Return what a harness should store with the results: prompts, frame and data, by digest."""
    return {
        "version": task.prompts[0].version,
        "prompt": "+".join(prompt.id for prompt in task.prompts),
        "prompt_sha256": "+".join(prompt.sha256(frame) for prompt in task.prompts),
        "variant": task.variant,
        "frame": frame.label,
        "data_digest": questions.digest,
        "data_revision": None,
        "reader": READER,
    }


def made_from(task: GroundingTask, questions: GroundingSet, frame: Frame) -> dict[str, Any]:
    """Return what figures were made from, for the `meta` of `score --json`."""
    about = described(task, questions, frame)
    return {
        "task": task.name,
        "variant": task.variant,
        "frame": frame.label,
        "n_total": len(questions.questions),
        "data": {"digest": questions.digest, "source": questions.source, "revision": None},
        "prompt": {"id": about["prompt"], "sha256": about["prompt_sha256"]},
        "reader": READER,
        "georefusal": __version__,
    }
