"""Rounding, linear light and grey levels."""

from functools import reduce
from typing import TypeVar, cast

import cv2
import numpy as np
from numpy.typing import NDArray

from georefusal_build.arrays import F32, U8, Image

_T = TypeVar("_T", bound=np.generic)

GAMMA = 2.2
"""Display exponent of optical images: light = (DN / 255) ** GAMMA. SAR amplitude images are linear, exponent 1."""


def to_u8(values: Image) -> U8:
    """Return `values` rounded to the nearest integer and clipped to 0..255."""
    return cast("U8", cv2.addWeighted(values, 1, values, 0, 0, dtype=cv2.CV_8U))  # rounds half to even, saturates


def to_light(pixels: U8, gamma: float = GAMMA) -> F32:
    """Return (DN / 255) ** gamma in [0, 1], linear in what reached the sensor."""
    table = (np.arange(256, dtype=np.float32) / np.float32(255)) ** np.float32(gamma)
    return cast("F32", cv2.LUT(pixels, table))


def from_light(light: F32, gamma: float = GAMMA) -> U8:
    """Return DN of light, clipped at full scale; the inverse of `to_light`."""
    return to_u8(255.0 * np.clip(light, 0.0, 1.0) ** np.float32(1 / gamma))


def luma(pixels: U8) -> F32:
    """Return Rec. 601 luma in DN, (H, W)."""
    values = pixels.astype(np.float32)
    return values if values.ndim == 2 else cast("F32", cv2.cvtColor(values, cv2.COLOR_RGB2GRAY))


def darkest_band(pixels: Image) -> Image:
    """Return the smallest value of the bands, (H, W)."""
    return pixels if pixels.ndim == 2 else reduce(np.minimum, cv2.split(pixels))


def brightest_band(pixels: Image) -> Image:
    """Return the largest value of the bands, (H, W)."""
    return pixels if pixels.ndim == 2 else reduce(np.maximum, cv2.split(pixels))


def is_grey(pixels: U8) -> bool:
    """Return whether an image has three equal bands."""
    if pixels.ndim == 2 or (pixels[0] != pixels[0, :, :1]).any():
        return False
    first, *others = cv2.split(pixels)
    return all(np.array_equal(first, band) for band in others)


def median_dn(pixels: U8) -> int:
    """Return the lower median of all values."""
    counts = np.cumsum(np.bincount(pixels.ravel(), minlength=256))
    return int(np.searchsorted(counts, (counts[-1] + 1) // 2))


def per_band(field: NDArray[_T], pixels: Image) -> NDArray[_T]:
    """Return a field (H, W), once for each band of `pixels`: broadcasting along an axis of three is slow."""
    return field if pixels.ndim == 2 else cast("NDArray[_T]", cv2.merge([cast("Image", field)] * 3))
