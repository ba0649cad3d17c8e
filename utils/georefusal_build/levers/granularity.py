"""Levers of GRANULARITY_MISMATCH that act on the image: sampling too coarse for what is asked."""

import numpy as np

from georefusal_build.kernels import noise, sampling
from georefusal_build.levers.registry import Effect, Subject, Variant, lever
from georefusal_build.outcomes import InapplicableError, Reason
from georefusal_build.streams import Stream
from georefusal_task.core.records import Intensity
from georefusal_task.core.verdicts import Verdict

STEPS = (2.0, 3.0, 4.0, 6.0, 8.0, 12.0)
"""Decimation factors that all items share: a large class survives one that a small one does not."""
MORE_STEPS = (16.0, 24.0, 32.0, 48.0)
"""Used only when no shared step reaches the band."""

NEED = {Intensity.LOW: (16.0, float("inf")), Intensity.MEDIUM: (1.5, 3.0), Intensity.HIGH: (0.0, 1.5)}
_GRAIN_SD = 1.2


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
    return Effect(out, decimation=step, params={"step": step, "mtf_nyquist": mtf, "grain_sd": _GRAIN_SD})


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
