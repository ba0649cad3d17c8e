"""Pulling a lever: clean image in, finished image out, with the label that the measurement gives it."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Literal

import numpy as np

from georefusal_build.anchors import Measurement, measure
from georefusal_build.anchors_wake import has_wake, wake_z
from georefusal_build.arrays import U8
from georefusal_build.bands import decide
from georefusal_build.kernels.tones import is_grey
from georefusal_build.levers import find
from georefusal_build.levers.registry import Effect, Subject
from georefusal_build.outcomes import InapplicableError, Json, NotApplicable, Outcome, Reason
from georefusal_build.polygons import Points, clip_polygon
from georefusal_build.scenes import Modality
from georefusal_build.streams import Stream, derive_key
from georefusal_build.targets import Target, as_targets
from georefusal_task.core.errors import DataError
from georefusal_task.core.verdicts import Verdict


def apply(
    lever_id: str,
    pixels: U8,
    targets: Sequence[Points | Target | tuple[float, float, float, float]],
    base_id: str,
    master: int,
    *,
    attempt: int = 0,
    variant: str | None = None,
    modality: Modality = "optical",
    answer: Literal["yes", "no"] = "yes",
    nominal_px: tuple[float, float] | None = None,
    gsd_m: float | None = None,
    asks: str = "",
    colour: str = "",
    shadow_px: tuple[float, float] | None = None,
    wakes: bool = False,
    settings: Mapping[str, float] | None = None,
    levers_applied: Sequence[str] = (),
) -> Outcome | NotApplicable:
    """Return the finished image of a lever with its measurement and label, or why the lever cannot be pulled.

    It has the size of `pixels`, except after a geometric variant (tile_cut), whose window is in its parameters.

    pixels: uint8 (H, W) or (H, W, 3), never written to; three equal bands are treated as one. targets: outlines of ALL
    instances of the asked class, pixels; with answer "no" the asked region. base_id, master, attempt: key of the
    random stream, so that an item can be made again alone; two items that share an image pass the same base_id.
    asks: what a crossed question asks for, "colour" or "plain" (im_channel: the targets are instances whatever the
    answer); colour: the colour it names. shadow_px: from an object's foot to the end of its shadow, (x, y), where it is
    known; the parameter "evidence" says whether it was. wakes: the class may draw wakes, for which
    radar images are searched: with one, a base is of no use to what acts on pixels alone. settings: values that the
    caller fixes ("step" of gm_decimate, "level" of im_bury, or "usual" 1 for the one that all items of a base share and
    no other, "gain" of gain_clip and crush, "reduced" 0 or 1 of im_channel). levers_applied: levers that have changed
    `pixels` already; there must be none.

    Raises:
        ConfigError: no such lever or variant.
        DataError: `pixels` is not a uint8 image.

    """
    family, intensity = find(lever_id)
    if (
        pixels.dtype != np.uint8
        or pixels.ndim not in (2, 3)
        or (pixels.ndim == 3 and pixels.shape[2] != 3)
        or not pixels.size
    ):
        raise DataError(
            f"base {base_id!r}: levers take uint8 images (H, W) or (H, W, 3), not {pixels.dtype} {pixels.shape}"
        )
    grey = is_grey(pixels)
    subject = Subject(
        pixels=np.ascontiguousarray(pixels[..., 0]) if grey else pixels,
        targets=as_targets(targets),
        modality=modality,
        answer=answer,
        nominal_px=nominal_px,
        gsd_m=gsd_m,
        asks=asks,
        colour=colour,
        shadow_px=shadow_px,
        settings=dict(settings or {}),
    )
    chosen = family.variant(variant, modality)
    try:
        _check(subject, levers_applied)
        if chosen is None:
            raise InapplicableError(Reason.WRONG_BASE, f"{lever_id} {variant or ''} is not defined for {modality}")
        searched = _without_wake(subject) if wakes and family.touches == "pixels" else Measurement()
        stream = Stream(derive_key(master, base_id, family.name, attempt))
        effect = family.pull(subject, stream, intensity, chosen.name)
    except InapplicableError as error:
        return NotApplicable(lever_id, error.reason, error.detail)
    effect = replace(effect, measured=effect.measured.merged(searched))
    return _outcome(lever_id, chosen.name, subject, effect, contrast=family.contrast, grey=grey)


def _check(subject: Subject, levers_applied: Sequence[str]) -> None:
    if levers_applied:
        raise InapplicableError(Reason.ALREADY_PULLED, f"the image already carries {', '.join(levers_applied)}")
    if not subject.targets:
        raise InapplicableError(Reason.NO_TARGET, "no target outline was given")
    if not all(target.patch(subject.shape).size for target in subject.targets):
        raise InapplicableError(Reason.NO_TARGET, f"a target lies outside the image of {subject.shape}")


def _without_wake(subject: Subject) -> Measurement:
    """How far the water before and behind the targets stands out on a radar image, where it is not a wake.

    One would give a ship away whatever hides, drowns or coarsens it.
    """
    if subject.modality != "sar" or subject.answer == "no":
        return Measurement()
    found = wake_z(subject.pixels, subject.targets)
    if has_wake(found):
        strongest = max(z for z in found if z is not None)
        raise InapplicableError(Reason.WAKE, f"the water on a target's axis stands out by {strongest:.1f} robust sd")
    return Measurement({"wake_z": found})


def _outcome(lever_id: str, variant: str, subject: Subject, effect: Effect, *, contrast: bool, grey: bool) -> Outcome:
    measurement = measure(
        subject.pixels,
        effect.pixels,
        subject.targets,
        effect.visible,
        decimation=effect.decimation,
        gsd_m=subject.gsd_m,
        nominal_px=subject.nominal_px,
        clip=effect.clip,
        shadow_px=subject.shadow_px,
        contrast=contrast,
        known=effect.measured.per_instance,
    ).merged(effect.measured)
    decision = decide(lever_id, measurement, subject.tags)
    pixels, targets = _windowed(effect, subject)
    return Outcome(
        lever_id=lever_id,
        variant=variant,
        pixels=np.repeat(pixels[..., None], 3, axis=2) if grey else pixels,
        targets=targets,
        measurement=measurement,
        verdict=decision if isinstance(decision, Verdict) else None,
        rejection=decision if isinstance(decision, Reason) else None,
        params=effect.params | _evidence(subject),
        mask=None if effect.visible is None or effect.window else effect.visible < 0.5,
        levers_applied=(lever_id,),
    )


def _evidence(subject: Subject) -> dict[str, Json]:
    """What the region around the targets that has to be hidden takes in."""
    if subject.shadow_px is None:
        return {"evidence": "grown"}
    return {"evidence": "grown and shadow", "object_shadow_px": [*subject.shadow_px]}


def _windowed(effect: Effect, subject: Subject) -> tuple[U8, tuple[Target, ...]]:
    """The released part of the image, and the pieces of the targets in it, in its pixels."""
    if effect.window is None:
        return effect.pixels, subject.targets
    x, y, width, height = effect.window
    pieces = (p for target in subject.targets for p in clip_polygon(target.polygon, x, y, x + width, y + height)[:1])
    moved = (Target(tuple((px - x, py - y) for px, py in piece)) for piece in pieces)
    return np.ascontiguousarray(effect.pixels[y : y + height, x : x + width]), tuple(moved)
