"""What only a radar does to an image: slopes that fold over, shadows, ghosts. Pixels are amplitudes."""

from typing import cast

import cv2
import numpy as np

from georefusal_build.arrays import F32, U8, Mask
from georefusal_build.kernels.tones import per_band, to_u8

FOLDS = 3
"""Range cells that fall onto one cell of a slope that is folded over."""


def radar_shadow(pixels: U8, hidden: Mask, speckle: F32) -> U8:
    """Return an amplitude image that shows nothing but the noise floor where no pulse arrives.

    The floor is half of the amplitude that 2 % of the values stay below, four DN at least. speckle: intensity factors
    of the image's shape.
    """
    floor = max(4.0, 0.5 * float(np.percentile(pixels, 2)))
    return np.where(per_band(hidden.view(np.uint8), pixels), to_u8(np.float32(floor) * np.sqrt(speckle)), pixels)


def folded(ground: U8, step: float, level: float) -> F32:
    """Return the intensity (DN ** 2) that a slope facing the sensor adds by folding over, its mean at `level` ** 2.

    Half of it, the same everywhere, is what the steep face itself sends back; the rest is the ground behind it.
    ground: amplitude, (H, W), without the targets, which would come again beside themselves. step: range cells between
    the returns that fall together, pixels along a row; negative where the sensor is on the right.
    """
    height, width = ground.shape
    smooth = cv2.GaussianBlur(ground.astype(np.float32) ** 2 + np.float32(1), (0, 0), 2)
    total = np.zeros((height, width), dtype=np.float32)
    for fold in range(1, FOLDS + 1):
        shift = np.array([[1, 0, -fold * step], [0, 1, 0]], dtype=np.float32)
        total += cv2.warpAffine(smooth, shift, (width, height), borderMode=cv2.BORDER_REPLICATE)
    mean = float(total.mean(dtype=np.float64))
    return cast("F32", np.float32(level * level / 2) * (1 + total / np.float32(mean)))


def layover(pixels: U8, slope: Mask, fold: F32, speckle: F32) -> tuple[U8, F32]:
    """Return an amplitude image in which `fold` (intensity) lies over a slope, and the share of signal left anywhere.

    speckle: unit-mean intensity factors (H, W), drawn afresh where returns fall together. The share is I / (I + fold).
    """
    intensity = pixels.astype(np.float32) ** 2
    added = per_band(fold, pixels)
    mixed = to_u8(np.sqrt((intensity + added) * per_band(speckle, pixels)))
    own = intensity if pixels.ndim == 2 else intensity.max(axis=2)
    left = np.where(slope, own / (own + fold), np.float32(1))
    return np.where(per_band(slope.view(np.uint8), pixels), mixed, pixels), cast("F32", left)


def ghosts(pixels: U8, distance: int, level_db: float, orders: int = 2) -> U8:
    """Return an amplitude image with azimuth ambiguities: weak copies of the scene, moved along the columns.

    distance: between a return and its first ghost, rows. level_db: intensity of the first pair of ghosts under the
    return's own, each further pair 6 dB weaker. What lies outside the frame has no ghost in it.
    """
    intensity = pixels.astype(np.float32) ** 2
    total = intensity.copy()
    for order in range(1, orders + 1):
        rows = order * distance
        if not 0 < rows < pixels.shape[0]:
            continue
        share = np.float32(10 ** ((level_db - 6 * (order - 1)) / 10))
        total[rows:] += share * intensity[:-rows]
        total[:-rows] += share * intensity[rows:]
    return to_u8(np.sqrt(total))
