"""Drawing the jobs of a plan: what fits where, spread over scenes, and no more of it than is needed."""

import hashlib
import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice, zip_longest
from typing import TypeVar

from georefusal_build.ask import Asked, ask
from georefusal_build.build_config import Weights
from georefusal_build.catalogue import families
from georefusal_build.context import Context
from georefusal_build.feasible import ImageJobs, Pick
from georefusal_build.jobs import Job
from georefusal_build.levers import FAMILIES, QUESTION_FAMILIES, QuestionFamily
from georefusal_build.levers.asked import Situation
from georefusal_build.outcomes import NotApplicable, Reason
from georefusal_build.pulling import situation_of
from georefusal_build.scenes import Modality
from georefusal_task.core.records import Intensity
from georefusal_task.core.verdicts import Verdict

Picks = dict[str, list[Pick]]
"""Base questions by tile."""

_T = TypeVar("_T")


def exact(family: str) -> bool:
    """Return whether planning a family's lever is as good as pulling it, since nothing of it depends on pixels."""
    return family in QUESTION_FAMILIES and QUESTION_FAMILIES[family].anchor != "pixel"


def image_jobs(context: Context, picks: Picks, wanted: frozenset[str]) -> Iterator[Job]:
    """Yield what the wanted image levers offer on each tile, tiles in a drawn order, as many as the search allows."""
    tiles = spread(picks, str, lambda name: picks[name][0][0].scene_id, context.config.seed)
    for name in tiles[: context.config.bases.search]:
        base = picks[name][0][0]
        offers = ImageJobs(context.court(base.scene_id, base.window), context.config)
        for family in FAMILIES.values():
            if wanted & {*family.lever_ids}:
                yield from (job for job in offers.of(family, picks[name]) if job.lever_id in wanted)


def question_jobs(context: Context, picks: Picks, wanted: frozenset[str]) -> Iterator[Job]:
    """Yield the wanted questions that come out when they are really asked, without pixels.

    Families whose questions rest on pixels are planned wherever they might fit.
    """
    bases = [pick for found in picks.values() for pick in found if pick[0].scope == "whole"]
    order = spread(bases, lambda pick: pick[0].id, lambda pick: pick[0].scene_id, context.config.seed)
    for base, kind in order[: context.config.bases.search]:
        situation = situation_of(base, context.court(base.scene_id, base.window), None, context)
        for family in QUESTION_FAMILIES.values():
            for lever_id in (one for one in family.lever_ids if one in wanted):
                if _comes_out(lever_id, family, situation, context):
                    yield Job(base, lever_id, kind)


def _comes_out(lever_id: str, family: QuestionFamily, situation: Situation, context: Context) -> bool:
    if not exact(family.name):
        return not (family.yes_only and situation.base.answer == "no")
    for attempt in range(context.config.attempts):
        asked = ask(lever_id, situation, context.config.seed, attempt=attempt)
        if isinstance(asked, Asked) and asked.verdict is not None:
            return True
        if isinstance(asked, NotApplicable) and asked.reason is Reason.WRONG_BASE:
            return False
    return False


def trimmed(context: Context, jobs: Sequence[Job]) -> list[Job]:
    """Return no more jobs than the wanted items need with what may fail to spare, and the other halves of their pairs.

    Of each category and modality the families take turns, so that one that fits everywhere does not crowd out the rest;
    a family that has only answers, or only refusals, is left out: nothing of it could be kept.
    """
    config, category = context.config, {family.name: family.category for family in families()}
    most = None if config.items is None else math.ceil(config.spare * config.items / len({*category.values()}))
    queues: defaultdict[tuple[Verdict, Modality], defaultdict[str, list[Job]]] = defaultdict(lambda: defaultdict(list))
    for job in jobs:
        queues[category[job.family], context.scenes[job.base.scene_id].modality][job.family].append(job)
    kept: dict[str, Job] = {}
    for by_family in queues.values():
        blocks = in_turn({name: _blocks(found, config.weights) for name, found in by_family.items()})
        kept |= {job.key: job for job in islice(chain.from_iterable(blocks), most)}
    by_key = {job.key: job for job in jobs}
    halves = [f"{one.partner.base.id}|{one.partner.lever_id}" for one in kept.values() if one.partner]
    return list((kept | {key: by_key[key] for key in halves if key in by_key}).values())


def _blocks(jobs: Sequence[Job], weights: Weights) -> list[list[Job]]:
    """The jobs of a family, pairs first, in blocks that hold the intensities by their weights while there are any."""
    ordered = sorted(jobs, key=lambda job: job.partner is None)
    queues = {intensity: [job for job in ordered if job.intensity is intensity] for intensity in Intensity}
    if not queues[Intensity.LOW] or len(queues[Intensity.LOW]) == len(jobs):
        return []
    count = max(math.ceil(len(queue) / weights[i]) for i, queue in queues.items() if weights[i])
    return [
        [job for i, queue in queues.items() for job in queue[n * weights[i] : (n + 1) * weights[i]]]
        for n in range(count)
    ]


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
