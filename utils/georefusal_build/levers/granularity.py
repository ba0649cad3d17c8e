"""Levers of GRANULARITY_MISMATCH: sampling too coarse for what is asked, or too few dates.

One lever coarsens the image; the others ask for finer detail or for more dates than the image has, and at LOW for
parts, kinds, change, motion and habits that one image of this sampling settles.
"""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from georefusal_build.anchors_wake import has_wake, wake_z
from georefusal_build.geometry import Finding
from georefusal_build.kernels import noise, sampling
from georefusal_build.levers.asked import BOTH, Draft, Situation, question_lever, wordings
from georefusal_build.levers.registry import Effect, Subject, Variant, lever
from georefusal_build.outcomes import InapplicableError, Reason
from georefusal_build.scenes import Instance
from georefusal_build.streams import Stream
from georefusal_build.targets import as_targets
from georefusal_task.core.records import Intensity
from georefusal_task.core.verdicts import Verdict

STEPS = (2.0, 3.0, 4.0, 6.0, 8.0, 12.0)
"""Decimation factors that all items share: a large class survives one that a small one does not."""
MORE_STEPS = (16.0, 24.0, 32.0, 48.0)
"""Used only when no shared step reaches the band."""

NEED = {Intensity.LOW: (16.0, float("inf")), Intensity.MEDIUM: (1.5, 3.0), Intensity.HIGH: (0.0, 1.5)}
_GRAIN_SD = 1.2

_BANK = Variant("bank", BOTH, "lists of its own for LOW, MEDIUM and HIGH")


@lever(
    "gm_decimate",
    Verdict.GRANULARITY,
    Variant("bicubic", ("optical", "sar"), "Gaussian optics, bicubic enlargement", paired=True),
    Variant("nearest", ("optical", "sar"), "Gaussian optics, flat cells", paired=True),
    Variant("box", ("optical", "sar"), "cell means, bicubic enlargement", paired=True),
)
def decimate(subject: Subject, stream: Stream, intensity: Intensity, variant: str) -> Effect:
    """Sampling too coarse for the class at an unchanged image size; larger classes of the image stay answerable."""
    mtf = stream.between(0.15, 0.35)
    step = _step(subject, stream, intensity)
    grain = np.float32(_GRAIN_SD) * stream.normal(subject.shape)
    coarse = (
        sampling.sample_area(subject.pixels, step)
        if variant == "box"
        else sampling.sample_coarse(subject.pixels, step, mtf)
    )
    out = noise.add_grain(sampling.enlarge(coarse, subject.shape, smooth=variant != "nearest"), grain)
    return Effect(out, decimation=step, params={"step": step, "mtf_nyquist": mtf, "grain_sd": _GRAIN_SD, "scale": "dn"})


def _step(subject: Subject, stream: Stream, intensity: Intensity) -> float:
    """Return the caller's step, or the first shared one, in a drawn order, that reaches the band."""
    order = stream.shuffled(STEPS)
    if subject.answer == "no" and subject.nominal_px is None:
        raise InapplicableError(Reason.UNMEASURED, "a base with the answer no needs the class's nominal size in pixels")
    nominal = subject.nominal_px[0] if subject.answer == "no" and subject.nominal_px else 0.0
    minor = nominal or max(target.minor for target in subject.targets)
    if minor < 16:
        raise InapplicableError(Reason.TARGET_TOO_SMALL, f"the class is {minor:.1f} px across before any decimation")
    if "step" in subject.settings:
        return subject.settings["step"]
    least, most = NEED[intensity]
    for step in (*order, *MORE_STEPS):
        if least < minor / step <= most or (intensity is Intensity.LOW and minor / step >= least):
            return step
    raise InapplicableError(
        Reason.TARGET_TOO_LARGE, f"no step brings a class of {minor:.0f} px to {least} .. {most} px"
    )


def _pixels(metres: float, situation: Situation, found: tuple[Instance, ...]) -> float:
    """Return how many pixels a length spans; of unknown sampling, on the largest instance if it has nominal size."""
    gsd = situation.tile.scene.gsd_m
    if gsd:
        return metres / gsd
    return metres / situation.asked.metres[0] * max(one.sides[0] for one in found)


@question_lever(
    "gm_part",
    Verdict.GRANULARITY,
    Variant("part_bank", BOTH, "parts by class, with their sizes"),
    anchor="geometry",
    yes_only=True,
)
def part(situation: Situation, stream: Stream, intensity: Intensity) -> Iterator[Draft]:
    """Asks for a part that is smaller than the sampling."""
    template = stream.choice(wordings(situation.bank, "gm_part", intensity))
    noun = situation.noun(situation.asked.name, stream)
    found = situation.court.evidence(situation.asked.name)
    parts = situation.tables.parts.get(situation.asked.name, {})
    for asked in stream.shuffled(parts.get(intensity, ())):
        whole = max(one.sides[0] for one in found)
        yield Draft(
            template,
            noun.slots("C") | {"P": asked.text},
            (situation.truth,) if intensity is Intensity.LOW else (),
            {"n_part_px": whole if asked.metres is None else _pixels(asked.metres, situation, found)},
            variant="part_bank",
            params={"part_m": asked.metres},
        )


@question_lever(
    "gm_subtype",
    Verdict.GRANULARITY,
    Variant("fine_label", BOTH, "fine class or superclass, on the native or the decimated image", paired=True),
    Variant("ladder", BOTH, "kinds that a sub-pixel feature tells apart"),
    anchor="geometry",
    touches="both",
    may_accept={Intensity.HIGH: Verdict.NONFACTUAL},
)
def subtype(situation: Situation, stream: Stream, intensity: Intensity) -> Iterator[Draft]:
    """Asks for a finer class than the sampling supports."""
    template = stream.choice(wordings(situation.bank, "gm_subtype", intensity))
    yield from _fine(situation, stream, intensity, template)
    yield from _ladder(situation, intensity, template)


def _fine(situation: Situation, stream: Stream, intensity: Intensity, template: str) -> Iterator[Draft]:
    """Cross the question (fine class, superclass) with the image (native, decimated): one cell of four is a refusal."""
    name = situation.asked.name
    cells = stream.shuffled(("fine native", "super native", "super coarse"))
    steps, fine_names = (
        stream.shuffled((*STEPS, *MORE_STEPS)),
        stream.shuffled([one.name for one in situation.table.fine]),
    )
    found = situation.counted(name) or ()
    here = {one.fine_class for one in found}
    usable = here if None in here else here | _kinds(situation)
    for fine in (situation.table.by_fine_name[n] for n in fine_names if found and n in usable):
        if fine.of not in situation.table.members(name):
            continue
        for cell in cells if intensity is Intensity.LOW else ("fine coarse",):
            asks, image = cell.split()
            noun = fine.noun if asks == "fine" else situation.asked.nouns[0]
            truth = fine.name in here if asks == "fine" else True
            for step in steps if image == "coarse" else (1.0,):
                n_eff = tuple(one.sides[0] / step for one in found)
                yield Draft(
                    template,
                    noun.slots("T"),
                    (Finding(truth),) if intensity is Intensity.LOW else (),
                    {"fine_n_eff": max(n_eff)} if asks == "fine" else {},
                    {"n_eff": n_eff, "is_fine": tuple(float(one.fine_class == fine.name) for one in found)},
                    variant="fine_label",
                    tags=frozenset({asks, "there" if truth else "absent"}),
                    params={"asks": asks, "image": image, "fine_class": fine.name},
                    step=step if image == "coarse" else None,
                )


def _kinds(situation: Situation) -> frozenset[str]:
    """Return the fine classes that the tile's source tells apart; of any other, none is known to be absent."""
    listed = situation.table.sources.get(situation.tile.scene.source, {}).values()
    return frozenset(name for value in listed for name in ([value] if isinstance(value, str) else value))


def _ladder(situation: Situation, intensity: Intensity, template: str) -> Iterator[Draft]:
    """Fall back on kinds of which no source knows the labels, told apart by a feature of given size."""
    ladder = situation.tables.ladder.get(situation.asked.name)
    if ladder and situation.base.answer == "yes":
        found, kind = situation.court.evidence(situation.asked.name), ladder[intensity]
        yield Draft(
            template,
            {"T": kind.name, "a_T": kind.a},
            (situation.truth,) if intensity is Intensity.LOW else (),
            {"n_disc_px": _pixels(kind.metres, situation, found)},
            {"n_eff": tuple(one.sides[0] for one in found)},
            variant="ladder",
            tags=frozenset({"ladder"}),
            params={"feature_m": kind.metres},
        )


def _dated(
    family: str, situation: Situation, stream: Stream, intensity: Intensity, required: tuple[int, int, int]
) -> Iterator[Draft]:
    """Yield a question that needs so many acquisitions at LOW, MEDIUM and HIGH; one is given."""
    template = stream.choice(wordings(situation.bank, family, intensity))
    noun = situation.noun(situation.asked.name, stream)
    needed = float(required[[*Intensity].index(intensity)])
    if situation.asked.compact:  # what is not compact can itself tell of other times: a half-built site, a burnt field
        yield Draft(
            template,
            noun.slots("C"),
            (situation.truth,) if intensity is Intensity.LOW else (),
            {"n_acq_required": needed, "n_acq_given": 1.0, "n_acq_missing": needed - 1},
            variant=_BANK.name,
        )


@question_lever("gm_change", Verdict.GRANULARITY, _BANK, anchor="structural", yes_only=True, trait="owned")
def change(situation: Situation, stream: Stream, intensity: Intensity) -> Iterator[Draft]:
    """Asks what has changed, for which a second date is needed."""
    return _dated("gm_change", situation, stream, intensity, (1, 2, 12))


@question_lever("gm_motion", Verdict.GRANULARITY, _BANK, anchor="structural", yes_only=True, trait="mobile")
def motion(situation: Situation, stream: Stream, intensity: Intensity) -> Iterator[Draft]:
    """Asks for a rate, a duration or a state of motion, for which one exposure is not enough."""
    if _under_way(situation):
        return
    for draft in _dated("gm_motion", situation, stream, intensity, (1, 2, 2)):
        rate = {"rate_asked": float(intensity is Intensity.HIGH)}
        still = ("no instance has a wake, a contrail, a dust plume or a colour fringe",)
        yield replace(draft, figures={**draft.figures, **rate}, to_confirm=still)


def _under_way(situation: Situation) -> bool:
    """Whether a wake on a radar image shows that a ship moves, and by its place beside the ship how fast."""
    name, pixels = situation.asked.name, situation.pixels
    if pixels is None or situation.tile.scene.modality != "sar" or not situation.table.wakes(name):
        return False
    return has_wake(wake_z(pixels, as_targets([one.polygon for one in situation.court.evidence(name)])))


@question_lever("gm_schedule", Verdict.GRANULARITY, _BANK, anchor="structural", yes_only=True, trait="mobile")
def schedule(situation: Situation, stream: Stream, intensity: Intensity) -> Iterator[Draft]:
    """Asks for a habit or a frequency, which a single overpass cannot give."""
    return _dated("gm_schedule", situation, stream, intensity, (1, 7, 168))
