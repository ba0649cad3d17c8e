"""Missing channels."""

from collections.abc import Callable
from functools import partial
from typing import cast

import numpy as np

from georefusal_build.arrays import U8
from georefusal_build.kernels.tones import luma, to_u8


def panchromatic(pixels: U8) -> U8:
    """Return luma in all three bands, each with a level of grain at most: the difference of the lowest bits of two.

    Three bands that are the same to the bit take half the space, and the size of a file would tell that colour is gone.
    """
    lowest = (pixels & 1).astype(np.int16)
    bands = to_u8(luma(pixels)).astype(np.int16)[..., None] + lowest - np.roll(lowest, 1, axis=2)
    return cast("U8", np.clip(bands, 0, 255).astype(np.uint8))


def drop_band(pixels: U8, band: int) -> U8:
    """Return a copy in which `band` (0, 1, 2) is the mean of the other two; those stay as they are."""
    out = pixels.copy()
    first, second = (pixels[..., i].astype(np.uint16) for i in range(3) if i != band)
    out[..., band] = ((first + second + 1) // 2).astype(np.uint8)
    return out


def one_polarisation(pixels: U8) -> U8:
    """Return the first band, the like-polarised one of a composite, in all three bands."""
    return cast("U8", np.repeat(pixels[..., :1], 3, axis=2))


REDUCTIONS: dict[str, Callable[[U8], U8]] = {
    "pan": panchromatic,
    "drop_R": partial(drop_band, band=0),
    "drop_G": partial(drop_band, band=1),
    "drop_B": partial(drop_band, band=2),
    "drop_pol": one_polarisation,
}
"""Ways to lose colour, by variant name."""
