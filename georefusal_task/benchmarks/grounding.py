"""Answer-grounding consistency in remote-sensing VQA: do the boxes that a model draws bear out its own answer?

>>> ship = ((10.0, 10.0), (30.0, 10.0), (30.0, 20.0), (10.0, 20.0))
>>> question = Question(id="q-1", type="counting", classes=["ship"], question="How many ships are there?",
...                     image="tile.png", width=100, height=100, image_id="tile")
>>> gold = Gold(id="q-1", answer="1", instances={"ship": [ship]})
>>> row = score_one(question, gold, GroundingReply(answer=2, regions=(ship, ship)))
>>> row.right, row.support, row.covered, (row.matched, row.predicted)
(False, False, (1,), (1, 2))
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, compress
from typing import Any

import numpy as np

from georefusal_task.benchmarks.grounding_metrics import METRICS
from georefusal_task.benchmarks.grounding_prompts import GroundingPrompt, Turn, build_prompt
from georefusal_task.benchmarks.grounding_records import (
    Answer,
    Gold,
    GroundingReply,
    GroundingRow,
    Question,
    QuestionType,
)
from georefusal_task.benchmarks.grounding_scores import TIGHT, columns, supported, within
from georefusal_task.benchmarks.summary import SMALL, Summary, scalar
from georefusal_task.core.boxes import Regions, covered, match_count, union_area
from georefusal_task.core.errors import DataError
from georefusal_task.core.frames import Points
from georefusal_task.core.sampling import Sample
from georefusal_task.core.stats import Estimate, undefined

__all__ = [
    "METRICS",
    "Answer",
    "Gold",
    "GroundingPrompt",
    "GroundingReply",
    "GroundingRow",
    "GroundingSummary",
    "Question",
    "QuestionType",
    "Turn",
    "build_prompt",
    "scalar",
    "score_one",
    "summarise",
]

BREAKDOWNS: dict[str, Callable[[GroundingRow], str]] = {
    "type": lambda row: str(row.type),
    "family": lambda row: row.type.family,
}
_ORDER = [*map(str, QuestionType), "comparison"]


@dataclass(frozen=True)
class GroundingSummary(Summary):
    """Everything computed from one run; breakdowns by question type, and by the paper's three families of types."""

    flags: dict[str, int] = field(default_factory=dict)
    """What was wrong with boxes -> how many of them."""
    frames: tuple[str, ...] = ()
    """The coordinate frames that boxes were read in; one, unless runs were mixed."""

    def to_json(self, meta: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Return the content of `score --json`; what is not defined is None."""
        return super().to_json(meta) | {"box_flags": self.flags, "frames": list(self.frames)}


def score_one(question: Question, gold: Gold, reply: GroundingReply) -> GroundingRow:
    """Return the scored row of one question.

    An instance is covered, once, when the centre of its box lies in any region or on its border. The order of regions
    changes nothing, and a duplicate only the localisation, where it is a false positive. In a comparison the regions of
    both classes are taken together: no class labels are read.

    Source: facts of the benchmark, section on answer-grounding consistency.
    """
    size = question.width, question.height
    per_class = [gold.instances.get(name, ()) for name in question.classes]
    instances, regions = Regions.of(list(chain.from_iterable(per_class))), Regions.of(reply.regions)
    hit = covered(instances.centres, regions)
    ends = np.cumsum([len(some) for some in per_class])
    counts = tuple(int(part.sum()) for part in np.split(hit, ends[:-1]))
    answer = _valid(question.type, reply.answer)
    support = supported(question.type, answer, counts)
    area = union_area(regions, *size)
    return GroundingRow(
        id=question.id,
        image_id=question.image_id,
        type=question.type,
        gold=gold.answer,
        answer=answer,
        right=answer == _true(question, gold),
        support=support,
        tight=support and _tight(area, list(compress(instances.points, hit)), size),
        covered=counts,
        annotated=tuple(len(some) for some in per_class),
        predicted=len(reply.regions),
        matched=match_count(regions, instances),
        area_share=area / (question.width * question.height),
        flags=dict(reply.flags),
        frame=reply.frame,
        failed=reply.failed,
    )


def summarise(rows: Iterable[GroundingRow], *, incomplete: int = 0) -> GroundingSummary:
    """Return every metric of the rows with intervals clustered by image; the order of rows changes nothing.

    Args:
        rows: one per question; equal ones under one id (ranks of a distributed run) count once.
        incomplete: questions with a reply to one of their two turns only, which have no row.

    Raises:
        DataError: one id with different rows.
    """
    kept = _unique(rows)
    sample = Sample.of([row.id for row in kept], {row.id: row.image_id for row in kept})
    ratios = columns(kept)
    wanted = {("", "", name): ratio for name, ratio in ratios.items()}
    for breakdown, group_of in BREAKDOWNS.items():
        groups = [group_of(row) for row in kept]
        for group in sorted(set(groups), key=_ORDER.index):
            chosen = np.array([found == group for found in groups], dtype=np.int64)
            wanted |= {(breakdown, group, name): ratio for name, ratio in within(ratios, chosen).items()}
    found = sample.ratios(wanted)
    return GroundingSummary(
        n=len(kept),
        metrics={name: found["", "", name] for name in ratios} | {"incomplete_rate": _share(incomplete, len(kept))},
        by={
            breakdown: {
                group: {name: _shown(found[breakdown, group, name]) for name in ratios}
                for group in dict.fromkeys(group for other, group, _ in wanted if other == breakdown)
            }
            for breakdown in BREAKDOWNS
        },
        flags=dict(sorted(sum((Counter(row.flags) for row in kept), Counter()).items())),
        frames=tuple(sorted({row.frame for row in kept})),
    )


def _valid(kind: QuestionType, answer: Answer) -> Answer:
    """Return an answer of the kind that was asked for, None for any other."""
    if kind is QuestionType.COUNTING:
        return answer if isinstance(answer, int) and not isinstance(answer, bool) and answer >= 0 else None
    return answer if answer in ("yes", "no") else None


def _true(question: Question, gold: Gold) -> Answer:
    return int(gold.answer) if question.type is QuestionType.COUNTING else gold.answer


def _tight(area: float, found: Sequence[Points], size: tuple[int, int]) -> bool:
    """Return whether regions of that area cover anything, and are not much larger than what they cover."""
    return bool(found) and area <= TIGHT * union_area(found, *size) * (1 + 1e-9)  # exactly 4 times, at any scale


def _unique(rows: Iterable[GroundingRow]) -> list[GroundingRow]:
    """Return one row per id."""
    kept: dict[str, GroundingRow] = {}
    for row in rows:
        first = kept.setdefault(row.id, row)
        if first is not row and first != row:
            raise DataError(f"question {row.id} was scored twice with different results; score one run at a time")
    return list(kept.values())


def _share(part: int, rest: int) -> Estimate:
    """Return a share of the run itself, which has no interval."""
    n = part + rest
    return Estimate(part / n, part / n, part / n, n, "counted", count=part) if n else undefined()


def _shown(estimate: Estimate) -> Estimate:
    """Return the estimate, or its counts alone where there is too little for a rate."""
    if not 0 < estimate.n < SMALL:
        return estimate
    return Estimate(None, None, None, estimate.n, f"counts only, n < {SMALL}", count=estimate.count)
