"""The rows of an item: what a model may see, what is right, and where it all comes from."""

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import replace
from enum import StrEnum
from itertools import pairwise
from typing import Any

import numpy as np

from georefusal_build.arrays import U8, Mask
from georefusal_build.asking import Court
from georefusal_build.context import Context
from georefusal_build.ids import fingerprint, phash, pixel_sha256
from georefusal_build.jobs import Job
from georefusal_build.levers import FAMILIES, QUESTION_FAMILIES
from georefusal_build.made import Made
from georefusal_build.outcomes import Json
from georefusal_build.polygons import clip_polygon
from georefusal_build.pulling import Finished, edge_of
from georefusal_build.questions import phrase
from georefusal_build.scenes import Instance
from georefusal_build.streams import derive_key
from georefusal_task.core.verdicts import Verdict

UNREVIEWED = "unreviewed"
"""Status of an item that nobody has looked at yet."""

_SECOND_DATE = frozenset({"gm_change", "gm_motion", "gm_schedule"})
_NAMING = ("premise", "anchor", "classes", "others")
"""Parameters of question levers in which further classes are named."""


class Remedy(StrEnum):
    """What would settle a question that has to be refused."""

    CLEAR_IMAGE = "clear_image"
    FINER_SAMPLING = "finer_sampling"
    SECOND_DATE = "second_date"
    WHICH_REFERENT = "which_referent"
    CORRECTED_PREMISE = "corrected_premise"
    NOTHING = "nothing"


_REMEDIES = {
    Verdict.INFO_MISSING: Remedy.CLEAR_IMAGE,
    Verdict.GRANULARITY: Remedy.FINER_SAMPLING,
    Verdict.AMBIGUOUS: Remedy.WHICH_REFERENT,
    Verdict.FALSE_PREMISE: Remedy.CORRECTED_PREMISE,
    Verdict.NONFACTUAL: Remedy.NOTHING,
}


def remedy(verdict: Verdict, family: str) -> Remedy | None:
    """Return what would settle the question; None where it is answerable.

    >>> remedy(Verdict.GRANULARITY, "gm_change")
    <Remedy.SECOND_DATE: 'second_date'>
    """
    return Remedy.SECOND_DATE if family in _SECOND_DATE and verdict.is_refusal else _REMEDIES.get(verdict)


def made(job: Job, item: Finished, court: Court, context: Context, attempt: int) -> Made:
    """Return a finished item with its rows; ids and digests of files come with the files."""
    set_name, pixels = context.scenes[job.base.scene_id].set_name, as_rgb(item.pixels)
    head = {"set": set_name}
    family = FAMILIES.get(job.family) or QUESTION_FAMILIES[job.family]
    label = {
        "gold": item.verdict.value,
        "accept": [item.verdict.value],
        "answer": item.answer or "",
        "category": family.category.value,
        "intensity": job.intensity.value,
        "lever": job.lever_id,
        "anchor": family.anchor,
        "score_answer": True,
    }
    return Made(
        key=job.key,
        set=set_name,
        case={**head, "question": item.question},
        label={**head, **label},
        provenance={**head, **_provenance(job, item, pixels, court, context, attempt)},
        pixels=pixels,
    )


def _provenance(job: Job, item: Finished, pixels: U8, court: Court, context: Context, attempt: int) -> dict[str, Any]:
    config, tile, scene = context.config, court.tile, court.tile.scene
    base = phrase((job.base, job.kind), context.table, context.base_bank, config.seed, edge=edge_of(item.params))
    step = item.params.get("step")
    gsd = scene.gsd_m
    return {
        "base_id": job.base.id,
        "base_question": base.question,
        "base_answer": job.base.answer,
        "base_kind": job.kind.value if job.kind else None,
        "base_image": scene.image.name,
        "base_sha256": context.source_sha256(scene.id),
        "scene": scene.id,
        "window": [tile.x, tile.y, tile.width, tile.height],
        "source": scene.source,
        "subsource": scene.subsource,
        "modality": scene.modality,
        "operator": job.lever_id,
        "variant": item.variant,
        "template_id": template_id(item.template),
        "template": item.template,
        "params": item.params,
        "seed": f"{derive_key(config.seed, item.stream_id, job.family, attempt):032x}",
        "attempt": attempt,
        "measurement": item.measurement.to_json(),
        "tags": sorted(item.tags),
        "asks": {"class": job.base.class_name, "scope": job.base.scope, "cell": list(job.cell) if job.cell else None},
        "gsd_m": gsd,
        "gsd_effective_m": gsd * float(step) if gsd and isinstance(step, int | float) else gsd,
        "boxes": _boxes(job, item, court),
        "mask": None if item.mask is None else run_lengths(item.mask),
        "remedy": remedy(item.verdict, job.family),
        "to_confirm": list(item.to_confirm),
        "may_accept": item.may_accept.value if item.may_accept else None,
        "pair_id": pixel_sha256(pixels)[:16] if item.shares_image else None,
        "verifier_votes": [],
        "review_votes": [],
        "verdict_changed": False,
        "pixel_sha256": pixel_sha256(pixels),
        "fingerprint": fingerprint(pixels, item.question),
        "phash": phash(pixels),
        "license": scene.licence,
        "attribution": scene.notice,
        "version": config.version,
        "status": UNREVIEWED,
    }


def as_rgb(pixels: U8) -> U8:
    """Return (H, W, 3); one band is repeated, so that every file of a set has one form."""
    return np.repeat(pixels[..., None], 3, axis=2) if pixels.ndim == 2 else pixels


def run_lengths(mask: Mask) -> dict[str, Json]:
    """Return the mask (H, W) as {"size": [H, W], "counts": [...]}: lengths of runs, column by column, zeros first.

    >>> run_lengths(np.array([[True, False], [True, True]]))
    {'size': [2, 2], 'counts': [0, 2, 1, 1]}
    """
    flat = np.asarray(mask, dtype=bool).ravel(order="F")
    edges = np.flatnonzero(np.diff(flat, prepend=False)).tolist()
    bounds = [0, *edges, flat.size]
    counts: list[Json] = [b - a for a, b in pairwise(bounds)]
    return {"size": [int(side) for side in mask.shape], "counts": counts}


def template_id(template: str) -> str:
    """Return a short name of a template that says nothing of its words.

    >>> template_id("Is there {a_C} in the area covered by this image?")
    't-11f1a4e1'
    """
    return f"t-{hashlib.sha256(template.encode()).hexdigest()[:8]}"


def _boxes(job: Job, item: Finished, court: Court) -> list[dict[str, Any]]:
    """The outlines of every class that the question names, pixels of the released image."""
    named = {job.base.class_name}
    for name in _NAMING:
        value = item.params.get(name)
        named |= {str(one) for one in (value if isinstance(value, list) else [value])}
    members = set().union(*(court.table.members(name) for name in named))
    window = item.params.get("window")
    listed = [one for one in court.tile.instances if one.class_name in members]
    return [
        {
            "class": one.class_name,
            "fine_class": one.fine_class,
            "polygon": [[round(x, 3), round(y, 3)] for x, y in one.polygon],
            "difficult": one.difficult,
            "truncated": one.truncated,
        }
        for one in (listed if window is None else _clipped(listed, window))
    ]


def _clipped(instances: Iterable[Instance], window: Any) -> Iterator[Instance]:
    """What a window (x, y, width, height) of the tile holds of the outlines, in its own pixels."""
    x, y, width, height = window
    for one in instances:
        for piece in clip_polygon(one.polygon, x, y, x + width, y + height):
            moved = tuple((px - x, py - y) for px, py in piece)
            yield replace(one, polygon=moved, truncated=one.truncated or piece != one.polygon)
