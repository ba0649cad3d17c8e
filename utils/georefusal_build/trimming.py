"""How many of the jobs that fit are planned: what the wanted items need, with what may fail to spare."""

import hashlib
import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, zip_longest
from typing import TypeVar

from georefusal_build.build_config import BuildConfig
from georefusal_build.catalogue import families
from georefusal_build.context import Context
from georefusal_build.jobs import Job
from georefusal_build.levers import QUESTION_FAMILIES
from georefusal_build.scenes import Modality
from georefusal_task.core.records import Intensity
from georefusal_task.core.verdicts import REFUSALS, Verdict

_T = TypeVar("_T")

_DOUBTFUL = 1 / 3
"""What a job counts for that pixels may refuse, or for which an answer in the same words may be missing."""


def exact(family: str) -> bool:
    """Return whether planning a family's lever is as good as pulling it, since nothing of it depends on pixels."""
    return family in QUESTION_FAMILIES and QUESTION_FAMILIES[family].anchor != "pixel"


def plenty(config: BuildConfig) -> int | None:
    """Return how many jobs of one category and modality are enough; None where all that fit are wanted."""
    return None if config.items is None else math.ceil(config.spare * config.items / len(REFUSALS))


def trimmed(context: Context, jobs: Sequence[Job]) -> list[Job]:
    """Return the jobs that are planned, with the other halves of their pairs.

    Of each category and modality the families take turns, so that one that fits everywhere does not crowd out the rest;
    a family that has only answers, or only refusals, is left out: nothing of it could be kept.
    """
    config, category = context.config, {family.name: family.category for family in families()}
    queues: defaultdict[tuple[Verdict, Modality], defaultdict[str, list[Job]]] = defaultdict(lambda: defaultdict(list))
    for job in jobs:
        queues[category[job.family], context.scenes[job.base.scene_id].modality][job.family].append(job)
    kept: dict[str, Job] = {}
    for (verdict, _), by_family in queues.items():
        blocks = in_turn({name: _blocks(found, config) for name, found in by_family.items()})
        by_words = verdict is Verdict.FALSE_PREMISE and config.levers.same_words == "strict"
        kept |= {job.key: job for job in _enough(chain.from_iterable(blocks), plenty(config), doubtful=by_words)}
    by_key = {job.key: job for job in jobs}
    halves = [f"{one.partner.base.id}|{one.partner.lever_id}" for one in kept.values() if one.partner]
    return list((kept | {key: by_key[key] for key in halves if key in by_key}).values())


def in_turn(queues: Mapping[str, Sequence[_T]]) -> Iterator[_T]:
    """Yield the members of several queues in turn, queues by name.

    >>> list(in_turn({"b": [4], "a": [1, 2, 3]}))
    [1, 4, 2, 3]
    """
    nothing = object()
    for row in zip_longest(*(queues[name] for name in sorted(queues)), fillvalue=nothing):
        yield from (one for one in row if one is not nothing)  # type: ignore[misc]


def spread(things: Iterable[_T], name: Callable[[_T], str], group: Callable[[_T], str], seed: int) -> list[_T]:
    """Return the things in an order drawn by the seed that takes one of each group before a second of any.

    >>> spread(["a1", "a2", "a3", "b1"], str, lambda one: one[0], 7)
    ['a2', 'b1', 'a1', 'a3']
    """
    seen: Counter[str] = Counter()
    ordered: list[tuple[int, _T]] = []
    for one in sorted(things, key=lambda one: (rank(seed, name(one)), name(one))):
        ordered.append((seen[group(one)], one))
        seen[group(one)] += 1
    return [one for _, one in sorted(ordered, key=lambda pair: pair[0])]


def rank(seed: int, text: str) -> bytes:
    """Return a place in an order drawn by the seed."""
    return hashlib.sha256(f"draw|{seed}|{text}".encode()).digest()


def _enough(jobs: Iterable[Job], most: int | None, *, doubtful: bool) -> Iterator[Job]:
    """The first of the jobs, as many as are needed."""
    count = 0.0
    for job in jobs:
        if most is not None and count >= most:
            return
        count += 1 if exact(job.family) and not doubtful else _DOUBTFUL
        yield job


def _blocks(jobs: Sequence[Job], config: BuildConfig) -> list[list[Job]]:
    """The jobs of a family, pairs first, in blocks that hold the intensities by their weights while there are any.

    Base questions come in an order of each lever's own, so that a bad one does not spoil every family; each gives one
    item of a family, so a block takes it up again only when no other is left.
    """
    weights = config.weights
    order = spread(jobs, lambda job: job.key, lambda job: job.base.scene_id, config.seed)
    order.sort(key=lambda job: job.partner is None)
    queues = {level: [job for job in order if job.intensity is level] for level in Intensity}
    if not queues[Intensity.LOW] or len(queues[Intensity.LOW]) == len(jobs):
        return []
    wanted = [level for level in Intensity for _ in range(weights[level])]
    blocks: list[list[Job]] = []
    used: set[str] = set()
    while any(queues[level] for level in wanted):
        block = []
        for queue in (queues[level] for level in wanted if queues[level]):
            if queue:
                fresh = next((i for i, job in enumerate(queue) if job.base.id not in used), 0)
                block.append(queue.pop(fresh))
                used.add(block[-1].base.id)
        blocks.append(block)
    return blocks
