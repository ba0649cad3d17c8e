"""Levers of INFO_MISSING_IN_CONTEXT: the evidence is hidden, blacked out, saturated, cut off or drowned."""

from dataclasses import replace
from functools import lru_cache

import numpy as np

from georefusal_build.anchors import clipped_mask
from georefusal_build.anchors_colour import COLOURS, colour_anchors
from georefusal_build.arrays import F32, Mask
from georefusal_build.kernels import blocks, swath
from georefusal_build.kernels.channels import REDUCTIONS
from georefusal_build.levers import slopes
from georefusal_build.levers.blackout import over_instances, over_regions
from georefusal_build.levers.drowning import DROWNINGS, Contrast
from georefusal_build.levers.exposure import expose
from georefusal_build.levers.framing import cut_tile
from georefusal_build.levers.glint import draw_glint
from georefusal_build.levers.losing import drop_lines, plan_wedges, slide_gaps
from georefusal_build.levers.registry import Effect, Subject, Variant, lever
from georefusal_build.levers.search import first, in_band
from georefusal_build.levers.sky import SKIES, draw_sky
from georefusal_build.outcomes import InapplicableError, Json, Reason
from georefusal_build.scenes import Modality
from georefusal_build.streams import Stream
from georefusal_task.core.records import Intensity
from georefusal_task.core.verdicts import Verdict

_BOTH: tuple[Modality, ...] = ("optical", "sar")


@lever(
    "im_occlude",
    Verdict.INFO_MISSING,
    Variant("cloud", ("optical",), "opaque cloud and its shadow"),
    Variant("smoke", ("optical",), "thinner, tinted cloud"),
    Variant("haze_bank", ("optical",), "smooth bank with a soft border"),
    Variant("radar_shadow", ("sar",), "slopes that no pulse reaches: the noise floor", experimental=True),
    Variant("layover", ("sar",), "slopes onto which several returns fold over", experimental=True),
    budget="hidden_fraction",
)
def occlude(subject: Subject, stream: Stream, intensity: Intensity, variant: str) -> Effect:
    """Cloud, smoke or a slope between sensor and ground, over the targets or over decoys of their size."""
    sky = draw_sky(subject, stream, SKIES[variant])
    through, pull = sky.settle(intensity)
    draw = sky.draw
    params: dict[str, Json] = {"cover": draw.cover, "pull": pull, "shadow_px": [*draw.sun], "aim": str(draw.aim)}
    if variant in ("radar_shadow", "layover"):
        slope = slopes.shadow if variant == "radar_shadow" else slopes.fold_over
        effect = slope(subject, stream, through < 0.5)
        return replace(effect, params=params | effect.params)
    return Effect(sky.render(through), through, params=params)


@lever(
    "im_redact",
    Verdict.INFO_MISSING,
    Variant("black", _BOTH, "blocks of zeros"),
    Variant("grey", _BOTH, "blocks of mid-grey"),
    Variant("mosaic", _BOTH, "blocks of coarse cells"),
    Variant(
        "noise", ("optical",), "blocks of noise with the image's own histogram; on SAR they would pass for speckle"
    ),
    budget="hidden_fraction",
)
def redact(subject: Subject, stream: Stream, intensity: Intensity, variant: str) -> Effect:
    """Blocks blacked out: of one fixed list of sizes, some over the targets and the others beside them."""
    place = over_instances if subject.answer == "yes" else over_regions
    placed = place(subject, stream, intensity)
    mask = blocks.painted(placed, subject.shape)
    if variant == "mosaic":
        cell = max(8.0, max(target.minor for target in subject.targets) / 1.5)  # at most 1.5 cells across a target
        out = blocks.fill_mosaic(subject.pixels, placed, cell)
    elif variant == "noise":
        out = blocks.fill_noise(subject.pixels, mask, stream.uniform(subject.shape))
    else:
        out = blocks.fill_constant(subject.pixels, mask, 0 if variant == "black" else 128)
    return Effect(out, _kept(mask), params={"blocks": [[*block] for block in placed]})


@lever(
    "im_saturate",
    Verdict.INFO_MISSING,
    Variant("glint_bloom", ("optical",), "sun glint, charge spilling along columns"),
    Variant("receiver_sat", ("sar",), "receiver driven to its ceiling, spilling along range lines"),
    Variant("gain_clip", ("optical",), "exposure too long for bright targets", paired=True),
    Variant("crush", ("optical",), "exposure too short for dark targets", paired=True),
    budget="sat_global",
)
def saturate(subject: Subject, stream: Stream, intensity: Intensity, variant: str) -> Effect:
    """Clipping at an end of the code range: a glint over the targets or beside them, or a wrong exposure."""
    if variant in ("gain_clip", "crush"):
        return expose(subject, stream, intensity, variant)
    gamma, along = (2.2, 0) if variant == "glint_bloom" else (1.0, 1)
    out, slide, size = draw_glint(subject, stream, gamma, along).shine(intensity)
    scale = "display" if variant == "glint_bloom" else "amplitude"
    return Effect(out, _kept(clipped_mask(out)), params={"slide": slide, "size": size, "scale": scale})


@lever(
    "im_truncate",
    Verdict.INFO_MISSING,
    Variant("swath_wedge", _BOTH, "no data beyond a slanted swath edge"),
    Variant("line_drop", _BOTH, "a block of scan lines lost, zeros or the last good line"),
    Variant("slc_gap", ("optical",), "wedge-shaped gaps of a failed scan-line corrector"),
    Variant("burst_gap", ("sar",), "a missing burst", experimental=True),
    Variant(
        "tile_cut",
        _BOTH,
        "the frame ends in the target or, for looking at only, before it: its questions name the edge",
        parent=1.3,
        asks="edge",
    ),
    budget="hidden_fraction",
)
def truncate(subject: Subject, stream: Stream, intensity: Intensity, variant: str) -> Effect:
    """Ground that was not recorded: the same area lost over the targets or away from them."""
    if variant == "tile_cut":
        return cut_tile(subject, stream, intensity, 1.3)
    if variant == "swath_wedge":
        angles = stream.shuffled([float(sign * angle) for angle in range(4, 15) for sign in (1, -1)])
        wedge = getattr(plan_wedges(subject.targets, subject.shape, angles), intensity.lower())
        lost, params = swath.wedge_mask(wedge, subject.shape), {"side": wedge.side, "angle_deg": wedge.angle}
    elif variant == "slc_gap":
        lost, params = slide_gaps(subject, stream, intensity)
    else:
        lost, params = drop_lines(subject, stream, intensity, (8, 40) if variant == "line_drop" else (41, 160))
    repeat = variant == "line_drop" and stream.uniform() < 0.5
    out = (
        swath.repeat_last_line(subject.pixels, lost[:, 0]) if repeat else blocks.fill_constant(subject.pixels, lost, 0)
    )
    return Effect(out, _kept(lost), params=params | {"repeat": repeat})


@lever(
    "im_channel",
    Verdict.INFO_MISSING,
    Variant("pan", ("optical",), "one panchromatic band", paired=True),
    Variant("drop_R", ("optical",), "the red band lost", paired=True),
    Variant("drop_G", ("optical",), "the green band lost", paired=True),
    Variant("drop_B", ("optical",), "the blue band lost", paired=True),
    Variant("drop_pol", ("sar",), "a dual-polarised composite of which one is left", paired=True, experimental=True),
    touches="both",
)
def channel(subject: Subject, _: Stream, intensity: Intensity, variant: str) -> Effect:
    """A band missing that a question about a colour needs; plain questions, and full images, stay answerable."""
    if subject.asks not in ("colour", "plain") or (subject.asks == "colour") != (subject.colour in COLOURS):
        raise InapplicableError(Reason.WRONG_BASE, "the question asks neither for a known colour nor plainly")
    if subject.pixels.ndim == 2:
        raise InapplicableError(Reason.BASE_NOT_CLEAN, "the base image has no colour to lose")
    reduce = REDUCTIONS[variant]
    reduced = bool(subject.settings.get("reduced", subject.asks == "plain" or intensity is not Intensity.LOW))
    own_band = f"drop_{COLOURS[subject.colour].band}" if subject.asks == "colour" else ""
    if reduced and intensity is Intensity.LOW and variant == own_band:
        raise InapplicableError(Reason.NO_MATCH, f"readers miss the band of {subject.colour}, whether needed or not")
    out = reduce(subject.pixels) if reduced else subject.pixels.copy()
    if subject.asks == "plain":
        return Effect(out, params={"reduced": reduced})
    found = colour_anchors(subject.pixels, subject.targets, subject.colour, reduce, reduced=reduced)
    return Effect(out, params={"reduced": reduced, "colour": subject.colour}, measured=found)


@lever(
    "im_bury",
    Verdict.INFO_MISSING,
    Variant("speckle_floor", ("sar",), "noise floor and fresh speckle", paired=True),
    Variant("sensor_noise", ("optical",), "shot and read noise of a starved sensor", paired=True),
    Variant("haze", ("optical",), "haze that takes contrast, and the sensor noise that hides the rest", paired=True),
    Variant("stripe", ("optical",), "columns of an uncalibrated push-broom array", paired=True),
    Variant("az_ambiguity", ("sar",), "ghosts of bright returns along the track", paired=True, experimental=True),
    contrast=True,
)
def bury(subject: Subject, stream: Stream, intensity: Intensity, variant: str) -> Effect:
    """Evidence recorded but drowned in noise, speckle, haze or stripes; one setting, strong targets stay."""
    if subject.answer == "no":
        raise InapplicableError(
            Reason.WRONG_BASE, "only the contrast of an instance can be buried, and this base has none"
        )
    contrast = Contrast(subject)
    if intensity is Intensity.LOW and not in_band("im_bury", intensity, contrast.measure(subject.pixels), subject):
        raise InapplicableError(Reason.TARGET_TOO_FAINT, "no target would do for LOW even without any noise")
    drowning = DROWNINGS[variant](subject, stream)
    render = lru_cache(maxsize=1)(drowning.render)  # the level that is taken is the last one that was rendered
    if "level" in subject.settings:
        levels = [subject.settings["level"]]
    else:
        levels = [drowning.usual] if subject.settings.get("usual") else drowning.levels(intensity)
    found = first(levels, lambda v: in_band("im_bury", intensity, contrast.measure(render(v)), subject))
    level = levels[-1] if found is None else found
    params: dict[str, Json] = {"level": level, "matched": level == levels[0], **drowning.params}
    return Effect(render(level), params=params, measured=contrast.measured)


def _kept(lost: Mask) -> F32:
    return 1 - lost.astype(np.float32)
