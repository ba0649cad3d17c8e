"""Drawing the jobs of a plan: what fits where, spread over scenes."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

from georefusal_build.ask import Asked, ask
from georefusal_build.context import Context
from georefusal_build.feasible import ImageJobs, Pick, allowed
from georefusal_build.jobs import Job
from georefusal_build.levers import FAMILIES, QUESTION_FAMILIES, QuestionFamily
from georefusal_build.levers.asked import Situation
from georefusal_build.outcomes import NotApplicable, Reason
from georefusal_build.pulling import situation_of
from georefusal_build.scenes import Modality, Window
from georefusal_build.trimming import exact, plenty, spread

Picks = dict[str, list[Pick]]
"""Base questions by tile."""

PATIENCE = 300
"""Base questions on which a lever is tried for each one that it fits, before it is given up for a modality."""

_Place = tuple[str, Modality]


def image_jobs(context: Context, picks: Picks, wanted: frozenset[str]) -> Iterator[Job]:
    """Yield what the wanted image levers offer on each tile, tiles in a drawn order, as many as the search allows."""
    tiles = spread(picks, str, lambda name: picks[name][0][0].scene_id, context.config.seed)
    for name in tiles[: context.config.bases.search]:
        base = picks[name][0][0]
        offers = ImageJobs(context.court(base.scene_id, base.window), context.config)
        for family in FAMILIES.values():
            if wanted & {*family.lever_ids}:
                yield from (job for job in offers.of(family, picks[name]) if job.lever_id in wanted)


def parent_jobs(context: Context, wanted: frozenset[str]) -> Iterator[Job]:
    """Yield what the wanted levers offer that release a part of a larger tile, as large as the other images.

    Scenes that are smaller than such a parent in a direction have none.
    """
    config, scenes = context.config, sorted(context.scenes)
    for family in (one for one in FAMILIES.values() if wanted & {*one.lever_ids}):
        for variant in (one for one in family.variants if one.parent > 1):
            takes = [one for one in scenes if variant in allowed(family, context.scenes[one].modality, config)]
            parents = [parent for scene_id in takes for parent in _parents(context, scene_id, variant.parent)]
            for scene_id, window in spread(parents, str, lambda one: one[0], config.seed)[: config.bases.search]:
                offers = ImageJobs(context.court(scene_id, window), config)
                yield from (job for job in offers.cut(family, variant) if job.lever_id in wanted)


def _parents(context: Context, scene_id: str, parent: float) -> list[tuple[str, Window]]:
    """The tiles of a scene that are `parent` times as long and wide as those of its source."""
    packed = context.scenes[scene_id]
    scene, tiling = packed.unpack(), packed.tiling.tiling
    side = round(parent * tiling.size)
    if min(scene.width, scene.height) < side:
        return []
    larger = replace(tiling, size=side)
    return [(scene_id, (x, y, side, side)) for y in larger.starts(scene.height) for x in larger.starts(scene.width)]


def question_jobs(context: Context, picks: Picks, wanted: frozenset[str]) -> Iterator[Job]:
    """Yield the wanted questions that come out when they are really asked, without pixels.

    On optical images, families whose questions rest on pixels are planned wherever they might fit. A lever that is
    found often enough for all the items that are wanted, or very seldom, is tried no further.
    """
    most, found, tried = plenty(context.config), Counter[_Place](), Counter[_Place]()
    bases = [pick for found in picks.values() for pick in found if pick[0].scope == "whole"]
    order = spread(bases, lambda pick: pick[0].id, lambda pick: pick[0].scene_id, context.config.seed)
    for base, kind in order[: context.config.bases.search]:
        situation = situation_of(base, context.court(base.scene_id, base.window), None, context)
        modality = situation.tile.scene.modality
        for family in QUESTION_FAMILIES.values():
            for lever_id in (one for one in family.lever_ids if one in wanted):
                place = lever_id, modality
                if most is not None and (found[place] >= most or tried[place] >= PATIENCE * (found[place] + 1)):
                    continue
                tried[place] += 1
                if _comes_out(lever_id, family, situation, context):
                    found[place] += 1
                    yield Job(base, lever_id, kind)


def _comes_out(lever_id: str, family: QuestionFamily, situation: Situation, context: Context) -> bool:
    if not exact(family.name) and situation.tile.scene.modality == "optical":
        return not (family.yes_only and situation.base.answer == "no")
    for attempt in range(context.config.attempts):
        asked = ask(lever_id, situation, context.config.seed, attempt=attempt)
        if isinstance(asked, Asked) and asked.verdict is not None:
            return True
        if isinstance(asked, NotApplicable) and asked.reason in (Reason.WRONG_BASE, Reason.NO_MATCH):
            return False  # no draw changes that
    return False
