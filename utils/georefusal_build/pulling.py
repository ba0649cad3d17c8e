"""One attempt at a job: the lever pulled, its label decided, or one reason why it gives none."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from georefusal_build.anchors import Measurement
from georefusal_build.anchors_colour import COLOURS, CORE, colour_of
from georefusal_build.apply import apply
from georefusal_build.arrays import U8, Mask
from georefusal_build.ask import ask
from georefusal_build.asking import Answer, Court
from georefusal_build.context import Context
from georefusal_build.evidence import nominal_px, settling, targets_of
from georefusal_build.jobs import Job
from georefusal_build.judging import among, image_verdict
from georefusal_build.levers import FAMILIES
from georefusal_build.levers.asked import Situation
from georefusal_build.levers.drowning import DROWNINGS
from georefusal_build.levers.exposure import EXPOSURES
from georefusal_build.levers.registry import Variant
from georefusal_build.outcomes import Json, NotApplicable, Outcome, Reason
from georefusal_build.questions import Candidate, phrase
from georefusal_build.streams import Stream, derive_key
from georefusal_build.sun import Shadow, shadow
from georefusal_build.targets import Target
from georefusal_build.templates import render
from georefusal_task.core.records import lever_family
from georefusal_task.core.verdicts import Verdict

_TELLING = {
    *("visible_fraction", "ring_visible", "sat_fraction", "n_eff", "scan_z", "peak_margin_db"),
    *("dE_full", "dE_remaining", "reading_margin"),
}
_WHOLE_IMAGE = {"psnr_db", "changed_fraction", "mean_dn", "enl_bg"}
"""Numbers that explain a rejection, and numbers that explain none."""


@dataclass(frozen=True)
class Finished:
    """An item before it is written into rows.

    pixels: (H, W) or (H, W, 3). stream_id: of the image's random stream. shares_image: other questions about the tile
    may come with the same image.
    """

    question: str
    template: str
    variant: str
    pixels: U8
    verdict: Verdict
    answer: Answer | None
    measurement: Measurement
    tags: frozenset[str]
    params: dict[str, Json]
    stream_id: str
    mask: Mask | None = None
    to_confirm: tuple[str, ...] = ()
    may_accept: Verdict | None = None
    shares_image: bool = False


@dataclass(frozen=True)
class Failed:
    """Why an attempt gave no item."""

    reason: Reason
    detail: str


def situation_of(base: Candidate, court: Court, pixels: U8 | None, context: Context) -> Situation:
    """Return what question levers know of a base; without pixels they ask nothing that needs them."""
    return Situation(base, court, context.census, context.question_bank, pixels=pixels, even=context.config.levers.even)


def finish_question(job: Job, court: Court, pixels: U8, context: Context, attempt: int) -> Finished | Failed:
    """Return the item of a question lever, or why there is none."""
    asked = ask(job.lever_id, situation_of(job.base, court, pixels, context), context.config.seed, attempt=attempt)
    if isinstance(asked, NotApplicable):
        return Failed(asked.reason, asked.detail)
    if asked.verdict is None:
        return Failed(asked.rejection or Reason.DEAD_ZONE, _told(asked.measurement))
    return Finished(
        question=asked.question,
        template=asked.template,
        variant=asked.variant,
        pixels=pixels if asked.pixels is None else asked.pixels,
        verdict=asked.verdict,
        answer=asked.answer,
        measurement=asked.measurement,
        tags=asked.tags,
        params=asked.params,
        stream_id=job.base.id,
        to_confirm=asked.to_confirm,
        may_accept=asked.may_accept,
    )


def finish_image(job: Job, court: Court, pixels: U8, context: Context, attempt: int) -> Finished | Failed:
    """Return the item of an image lever, or why there is none; of a pair, only where the other half succeeds too."""
    variant = variant_of(job.lever_id, job.variants[attempt % len(job.variants)])
    own, *others = halves(job)
    result = _pull(own, variant, court, pixels, context, attempt)
    if isinstance(result, Failed):
        return result
    for half in others:
        other = _pull(half, variant, court, pixels, context, attempt)
        if isinstance(other, Failed):
            return Failed(other.reason, f"the other question about this image fails: {other.detail}")
    return result


def halves(job: Job) -> tuple[Job, ...]:
    """Return the job, and after it that of the other question about its image, where there is one."""
    if job.partner is None:
        return (job,)
    return job, replace(job, base=job.partner.base, lever_id=job.partner.lever_id, kind=None, partner=None)


def variant_of(lever_id: str, name: str) -> Variant:
    """Return a variant of an image lever."""
    family = FAMILIES[lever_family(lever_id) or ""]
    return next(one for one in family.variants if one.name == name)


def _pull(job: Job, variant: Variant, court: Court, pixels: U8, context: Context, attempt: int) -> Finished | Failed:
    """One question about one image. Where a variant acts on the whole image its draws are those of the tile."""
    if job.cell and job.cell[0] == "colour":
        return _pull_colour(job, variant, court, pixels, context, attempt)
    stream_id = job.tile_id if variant.paired else job.base.id
    scene, asks = court.tile.scene, job.cell[0] if job.cell else variant.asks
    cast = _shadow(court, job.base)
    outcome = apply(
        job.lever_id,
        pixels,
        targets_of(court, job.base),
        stream_id,
        context.config.seed,
        attempt=attempt,
        variant=variant.name,
        modality=scene.modality,
        answer=job.base.answer,
        nominal_px=nominal_px(court, job.base),
        gsd_m=scene.gsd_m,
        asks=asks,
        shadow_px=cast.px if cast else None,
        wakes=court.table.wakes(job.base.class_name),
        settings=_settings(job, variant, context, attempt),
    )
    if isinstance(outcome, Outcome) and cast and cast.cut:
        outcome = replace(outcome, params={**outcome.params, "object_shadow_cut": cast.cut})
    edge = "" if isinstance(outcome, NotApplicable) else edge_of(outcome.params)
    base = phrase((job.base, job.kind), context.table, context.base_bank, context.config.seed, edge=edge)
    tags = {job.base.answer, scene.modality, asks, "shadow" if cast else ""} - {""}
    return _label(outcome, frozenset(tags), settling(court, job.base), base.question, base.template, stream_id, variant)


def _shadow(court: Court, base: Candidate) -> Shadow | None:
    """What an ordinary instance casts; None where sun, sampling or height are not known, or nothing is there."""
    tile, height = court.tile, court.table.height_m(base.class_name)
    sun, gsd = tile.scene.sun, tile.scene.gsd_m
    if base.answer == "no" or tile.scene.modality != "optical" or not (sun and gsd and height):
        return None
    return shadow(sun, height, gsd, (tile.width, tile.height))


def _pull_colour(
    job: Job, variant: Variant, court: Court, pixels: U8, context: Context, attempt: int
) -> Finished | Failed:
    """Ask for a colour that some instance has, or that none has, as drawn; the first one that gives a label."""
    seed, scene = context.config.seed, court.tile.scene
    stream = Stream(derive_key(seed, job.base.id, "im_channel|colour", attempt))
    noun, template = (
        stream.choice(court.table.by_name[job.base.class_name].nouns),
        stream.choice(context.question_bank["im_channel"]),
    )
    targets = targets_of(court, job.base)
    answer: Answer = stream.choice(("yes", "no"))
    own = {_colour(pixels, target) for target in targets} if pixels.ndim == 3 else {None}
    colours = [name for name in COLOURS if (name in own) == (answer == "yes")]
    result: Finished | Failed = Failed(Reason.NO_MATCH, "no instance has one of the colours that can be asked for")
    for colour in stream.shuffled(colours) if own != {None} else ():
        outcome = apply(
            job.lever_id,
            pixels,
            targets,
            job.tile_id,
            seed,
            attempt=attempt,
            variant=variant.name,
            modality=scene.modality,
            answer=answer,
            gsd_m=scene.gsd_m,
            asks="colour",
            colour=colour,
            settings=_settings(job, variant, context, attempt),
        )
        question = render(template, noun.slots("C") | {"COL": colour})
        tags = frozenset({answer, scene.modality, "colour"})
        result = _label(outcome, tags, settling(court, job.base), question, template, job.tile_id, variant)
        if isinstance(result, Finished):
            break
    return result


def _colour(pixels: U8, target: Target) -> str | None:
    core = target.grown(CORE).patch((pixels.shape[0], pixels.shape[1])).of(pixels)
    return colour_of(core) if core.size else None


def edge_of(params: Mapping[str, Json]) -> str:
    """Return the edge that the question names, "" where it names none."""
    return str(params.get("edge", ""))


def _settings(job: Job, variant: Variant, context: Context, attempt: int) -> dict[str, float]:
    """What two questions about one image have to agree on beside the random stream."""
    if job.cell:
        return {"reduced": float(job.cell[1])}
    if variant.name in EXPOSURES:
        drawn = Stream(derive_key(context.config.seed, job.tile_id, f"im_saturate|{variant.name}"))
        return {"gain": drawn.shuffled(EXPOSURES[variant.name])[attempt]}
    if variant.name in DROWNINGS:
        return {"usual": 1.0}  # a noise of its own would tell the label
    return {} if job.step is None else {"step": job.step}


def _label(
    outcome: Outcome | NotApplicable,
    tags: frozenset[str],
    sure: Sequence[bool],
    question: str,
    template: str,
    stream_id: str,
    variant: Variant,
) -> Finished | Failed:
    """The item, where its numbers give it a label; a yes has to rest on instances that settle it."""
    if isinstance(outcome, NotApplicable):
        return Failed(outcome.reason, outcome.detail)
    verdict = image_verdict(outcome.lever_id, outcome.measurement, tags)
    if verdict is Verdict.ANSWER and "yes" in tags:
        verdict = image_verdict(outcome.lever_id, among(outcome.measurement, sure), tags)
    if isinstance(verdict, Reason):
        return Failed(verdict, _told(outcome.measurement))
    answered = verdict is Verdict.ANSWER
    return Finished(
        question=question,
        template=template,
        variant=variant.name,
        pixels=outcome.pixels,
        verdict=verdict,
        answer=("yes" if "yes" in tags else "no") if answered else None,
        measurement=outcome.measurement,
        tags=tags,
        params=outcome.params,
        stream_id=stream_id,
        mask=outcome.mask,
        may_accept=None,
        shares_image=variant.paired,
    )


def _told(measurement: Measurement) -> str:
    """The numbers that a label rests on, in short."""
    columns = {name: values for name, values in measurement.per_instance.items() if name in _TELLING}
    figures = {name: value for name, value in measurement.image.items() if name not in _WHOLE_IMAGE}
    shown = [f"{name} {_range(values)}" for name, values in columns.items()]
    return ", ".join([*shown, *(f"{name} {_number(value)}" for name, value in figures.items())])


def _range(values: list[float | None]) -> str:
    known = [value for value in values if value is not None]
    return f"{_number(min(known))}..{_number(max(known))}" if known else "undefined"


def _number(value: float | None) -> str:
    return "undefined" if value is None else f"{value:.3g}"
