"""Making one item: the tile's pixels, the lever pulled at one attempt after another, the rows. Pure."""

from collections.abc import Callable
from functools import partial

from georefusal_build.arrays import U8
from georefusal_build.asking import Court
from georefusal_build.context import Context
from georefusal_build.evidence import stands_out
from georefusal_build.jobs import Job
from georefusal_build.levers import FAMILIES
from georefusal_build.made import Made, Reject
from georefusal_build.outcomes import Reason
from georefusal_build.pixels import tile_pixels
from georefusal_build.pulling import Failed, Finished, finish_image, finish_question, halves
from georefusal_build.rows import made
from georefusal_build.sources import SourceError

BAD_IMAGE = "bad_image"
"""The source image is damaged or has changed since it was read."""
UNSOLVABLE = "unsolvable"
"""The clean image does not show what the answer rests on."""

_SETTLED = frozenset(
    {Reason.ALREADY_PULLED, Reason.NO_TARGET, Reason.BASE_NOT_CLEAN, Reason.TARGET_TOO_FAINT, Reason.WAKE}
)
"""Reasons that another attempt, with other draws, cannot change."""


def make(job: Job, context: Context) -> Made | Reject:
    """Return the item of a job, or the one reason why there is none; a function of the job and the context alone.

    An attempt that fails is followed by the next, with other draws; the reason given is that of the last one.
    """
    scene_id = job.base.scene_id
    try:
        court = context.court(scene_id, job.base.window)
        pixels = tile_pixels(context.pixels(scene_id), court.tile)
    except SourceError as error:
        return Reject(job.key, BAD_IMAGE, str(error))
    for base in (half.base for half in halves(job)):
        hidden = context.solvable.get(base.id, partial(stands_out, pixels, court, base, context.config.gate))
        if hidden:
            return Reject(job.key, UNSOLVABLE, hidden)
    return _attempts(job, court, pixels, context)


def _attempts(job: Job, court: Court, pixels: U8, context: Context) -> Made | Reject:
    finish: Callable[[Job, Court, U8, Context, int], Finished | Failed]
    finish = finish_image if job.family in FAMILIES else finish_question
    failed = Failed(Reason.DEAD_ZONE, "no attempt was made")
    for attempt in range(context.config.attempts):
        item = finish(job, court, pixels, context, attempt)
        if isinstance(item, Finished):
            return made(job, item, court, context, attempt)
        failed = item
        if item.reason in _SETTLED:
            break
    return Reject(job.key, failed.reason.value, f"{failed.detail} ({attempt + 1} attempts)")
