"""Too much light: saturation with blooming, and exposure."""

import math

import numpy as np
from scipy.signal import lfilter

from georefusal_build.arrays import F32, U8
from georefusal_build.kernels.tones import from_light, to_light


def spill(excess: F32, spread: float, axis: int) -> F32:
    """Return what reaches each pixel when charge above full well runs along an axis, both ways.

    excess: charge above full well, (H, W), not negative. spread: e-folding length of the two-sided exponential, pixels.
    """
    keep = np.float32(math.exp(-1 / spread))
    tail, feed = np.array([1, -keep], dtype=np.float32), np.array([1 - keep], dtype=np.float32)
    spilled = np.zeros(excess.shape, dtype=np.float32)
    lines, reached = (excess.T, spilled.T) if axis == 0 else (excess, spilled)
    charged = lines.any(axis=1)
    some = np.ascontiguousarray(lines[charged])
    reached[charged] = lfilter(feed, tail, some, axis=1) + lfilter(feed, tail, some[:, ::-1], axis=1)[:, ::-1]
    return spilled


def expose(pixels: U8, gain: float) -> U8:
    """Return the image under `gain` times the exposure, clipped at full scale."""
    return from_light(np.float32(gain) * to_light(pixels))
