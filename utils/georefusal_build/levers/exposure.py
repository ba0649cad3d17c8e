"""Wrong exposures of the whole image, and whether they clip the targets."""

import numpy as np

from georefusal_build.anchors import Clip, Measurement, clipped_mask
from georefusal_build.arrays import U8
from georefusal_build.kernels import glare
from georefusal_build.kernels.tones import luma
from georefusal_build.levers.registry import Effect, Subject
from georefusal_build.levers.search import first, in_band
from georefusal_build.outcomes import InapplicableError, Reason
from georefusal_build.streams import Stream
from georefusal_task.core.records import Intensity

EXPOSURES = {"gain_clip": (1.5, 2.0, 3.0, 4.0, 6.0, 8.0), "crush": (0.1, 0.05, 0.02, 0.01, 0.004, 0.002)}
"""Exposure gains that all items share: bright targets clip where dark ones stay, and the other way round."""


def expose(subject: Subject, stream: Stream, intensity: Intensity, variant: str) -> Effect:
    """Return the image under the caller's gain, or the first shared one, in a drawn order, that reaches the band.

    Raises:
        InapplicableError: the base is a question about a region or is clipped already.

    """
    clip: Clip = "high" if variant == "gain_clip" else "low"
    order = stream.shuffled(EXPOSURES[variant])
    if subject.answer == "no":
        raise InapplicableError(Reason.WRONG_BASE, "exposure is judged on instances, and this base has none")
    if float(clipped_mask(subject.pixels, clip).mean()) >= 0.01:
        raise InapplicableError(Reason.BASE_NOT_CLEAN, "more than 1 % of the base image is clipped already")
    gains = [subject.settings["gain"]] if "gain" in subject.settings else order

    def good(gain: float) -> bool:
        return in_band("im_saturate", intensity, clipping(glare.expose(subject.pixels, gain), subject, clip), subject)

    found = first(gains, good)
    gain = gains[-1] if found is None else found
    out = glare.expose(subject.pixels, gain)
    return Effect(
        out, 1 - clipped_mask(out, clip).astype(np.float32), clip=clip, params={"gain": gain, "scale": "display"}
    )


def clipping(pixels: U8, subject: Subject, clip: Clip) -> Measurement:
    """Return the anchors that tell whether the targets are clipped."""
    mask, values = clipped_mask(pixels, clip), luma(pixels)
    patches = [target.patch(subject.shape) for target in subject.targets]
    return Measurement(
        {
            "sat_fraction": [float(np.mean(patch.of(mask))) for patch in patches],
            "peak_dn": [float(np.percentile(patch.of(values), 95)) for patch in patches],
            "n_eff": [target.minor for target in subject.targets],
        }
    )
