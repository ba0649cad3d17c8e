"""Coarser sampling at an unchanged image size."""

import math
from typing import cast

import cv2
import numpy as np
from numpy.typing import NDArray

from georefusal_build.arrays import F32, U8


def psf_sigma(step: float, mtf: float) -> float:
    """Return the sd (pixels) of the Gaussian whose transfer at the Nyquist frequency of a `step`-pixel grid is `mtf`.

    exp(-2 (pi sigma f)^2) = mtf at f = 1 / (2 step).

    >>> round(psf_sigma(4, 0.25), 2)
    2.12
    """
    return step * math.sqrt(-2 * math.log(mtf)) / math.pi


def sample_coarse(pixels: U8, step: float, mtf: float) -> F32:
    """Return the image as a sensor with a `step` times larger pixel and a Gaussian PSF records it, float32 DN."""
    sigma = psf_sigma(step, mtf)
    size = 2 * math.ceil(3.5 * sigma) + 1
    blurred = cv2.GaussianBlur(pixels.astype(np.float32), (size, size), sigma, borderType=cv2.BORDER_REFLECT)
    rows, columns = (_centres(length, step) for length in pixels.shape[:2])
    return cast("F32", np.ascontiguousarray(blurred[rows][:, columns]))


def sample_area(pixels: U8, step: float) -> F32:
    """Return the image as the means of cells of about `step` pixels, float32 DN."""
    height, width = (max(1, round(length / step)) for length in pixels.shape[:2])
    return cast("F32", cv2.resize(pixels.astype(np.float32), (width, height), interpolation=cv2.INTER_AREA))


def enlarge(coarse: F32, shape: tuple[int, int], smooth: bool = True) -> F32:
    """Return `coarse` on a grid of `shape`: bicubic when smooth, else as flat cells."""
    way = cv2.INTER_CUBIC if smooth else cv2.INTER_NEAREST
    return cast("F32", cv2.resize(coarse, shape[::-1], interpolation=way))


def _centres(length: int, step: float) -> NDArray[np.intp]:
    cells = max(1, round(length / step))
    return cast("NDArray[np.intp]", np.floor((np.arange(cells) + 0.5) * (length / cells)).astype(np.intp))
