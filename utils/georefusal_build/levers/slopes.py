"""Slopes between a radar and the ground: in the shadow of one no pulse arrives, onto another several returns fall."""

import numpy as np

from georefusal_build.anchors import RING
from georefusal_build.anchors_scan import background_looks
from georefusal_build.arrays import U8, Mask
from georefusal_build.kernels import radar
from georefusal_build.kernels.tones import luma, median_dn, to_u8
from georefusal_build.levers.registry import Effect, Subject
from georefusal_build.outcomes import Json
from georefusal_build.streams import Stream
from georefusal_build.targets import ring, union

LEVELS = tuple(float(level) for level in range(40, 240, 20))
"""Mean amplitudes (DN) of what folds over: the first is taken under which the targets keep next to nothing.

Brighter folds would clip to flat white; bright targets cannot be folded over.
"""

_KEPT = 0.06
"""Mean share of a target's intensity that may be left. Below what the label of HIGH asks for."""


def shadow(subject: Subject, stream: Stream, hidden: Mask) -> Effect:
    """Return the image with a radar shadow on the hidden ground."""
    speckle = stream.gamma(2, subject.pixels.shape).astype(np.float32)
    out = radar.radar_shadow(subject.pixels, hidden, speckle)
    return Effect(out, 1 - hidden.astype(np.float32), params={"scale": "amplitude"})


def fold_over(subject: Subject, stream: Stream, slope: Mask) -> Effect:
    """Return the image with returns folded onto a slope, as strongly at every intensity, and the share that is left."""
    step = stream.between(6, 20) * stream.choice((1, -1))
    ground = _without_targets(subject)
    looks = min(4, max(1, round(background_looks(ground, np.ones(subject.shape, bool)) or 1)))
    speckle = stream.gamma(looks, subject.shape).astype(np.float32)
    unit = radar.folded(ground, step, 1.0)
    patches = [target.patch(subject.shape) for target in subject.targets]

    def kept(level: float) -> float:
        _, left = radar.layover(subject.pixels, np.ones(subject.shape, bool), unit * np.float32(level**2), speckle)
        return max(float(patch.of(left).mean()) for patch in patches)

    level = next((one for one in LEVELS if kept(one) <= _KEPT), LEVELS[-1])
    out, left = radar.layover(subject.pixels, slope, unit * np.float32(level**2), speckle)
    params: dict[str, Json] = {"scale": "amplitude", "step_px": step, "level_dn": level, "looks": looks}
    return Effect(out, left, params=params)


def _without_targets(subject: Subject) -> U8:
    """The scene with its targets painted over, so that none comes again where the slope folds."""
    values = to_u8(luma(subject.pixels))
    for target in subject.targets:
        around = ring(target, subject.shape, RING).of(values)
        values[union([target.grown(1.3, 2)], subject.shape)] = median_dn(around if around.size else values)
    return values
