"""Contrast anchors: whether anything stands out where the target is, to an observer who integrates over its area."""

from collections import defaultdict
from collections.abc import Sequence
from typing import cast

import cv2
import numpy as np
from numpy.typing import NDArray

from georefusal_build.arrays import F32, F64, U8, Image, Mask, Shape
from georefusal_build.kernels.tones import is_grey
from georefusal_build.targets import Target, union

SCALES = (1.0, 0.5, 0.25)
MIN_BACKGROUND = 12
"""Fewer background boxes than this make the statistic undefined."""

_BLOCK = 16
_ROUNDING = 12**-0.5
"""Sd of the error that rounding to whole DN leaves on a pixel; a spread below that of a mean says nothing."""

Spots = tuple[NDArray[np.intp], NDArray[np.intp]]


def scan_z(pixels: U8, targets: Sequence[Target], among: Sequence[Target] = ()) -> list[float | None]:
    """Return, per target, how far it stands out from background boxes of its size, in robust sd of these.

    Compared are the most extreme local means in each box.
    The largest value over scales (the target's box, a half and a quarter of it), over bands, and over bright and dark;
    at least 0. Background boxes have the target's size, lie on a grid and keep clear of all targets, and of those
    `among` which they are. None: fewer than 12 of them fit, or the target is outside the image.
    """
    shape: Shape = pixels.shape[0], pixels.shape[1]
    busy = cv2.integral(union([target.grown(1.6, 4) for target in (*targets, *among)], shape).view(np.uint8))
    bands = cv2.split(pixels.astype(np.float32))[: 1 if is_grey(pixels) else 3]
    windows = [_window(target, shape) for target in targets]
    spots = {size: _background(busy, size) for size in {window[2:] for window in windows}}
    spots = {size: found for size, found in spots.items() if 0 not in size and len(found[0]) >= MIN_BACKGROUND}
    members = {size: [i for i, window in enumerate(windows) if window[2:] == size] for size in spots}
    sizes: defaultdict[tuple[int, int], list[tuple[int, int]]] = defaultdict(list)
    for height, width in spots:
        for scale in SCALES:
            sizes[max(1, int(width * scale)), max(1, int(height * scale))].append((height, width))
    best = np.zeros(len(windows))
    for band in bands:
        for kernel, of_kernel in sizes.items():
            rounding = _ROUNDING / (kernel[0] * kernel[1]) ** 0.5
            means = cast("F32", cv2.blur(band, kernel, borderType=cv2.BORDER_REFLECT))
            for size in of_kernel:
                mine = members[size]
                found = _stand_out(means, [windows[i] for i in mine], spots[size], size, rounding)
                best[mine] = np.maximum(best[mine], found)
    return [float(z) if window[2:] in spots else None for window, z in zip(windows, best, strict=True)]


def background_looks(amplitude: Image, background: Mask) -> float | None:
    """Return the equivalent number of looks: mean^2 / variance of amplitude ** 2, the median over blocks of 16 x 16.

    Only blocks that lie wholly in `background` count; None when there are none or the typical one is constant.
    """
    height, width = (length // _BLOCK * _BLOCK for length in background.shape)
    if height == 0 or width == 0:
        return None
    tiled = height // _BLOCK, _BLOCK, width // _BLOCK, _BLOCK
    intensity = (amplitude[:height, :width].astype(np.float64) ** 2).reshape(tiled)
    clear = background[:height, :width].reshape(tiled).all(axis=(1, 3))
    mean, variance = intensity.mean(axis=(1, 3))[clear], intensity.var(axis=(1, 3))[clear]
    usable = variance > 0
    return float(np.median(mean[usable] ** 2 / variance[usable])) if usable.any() else None


def _window(target: Target, shape: Shape) -> tuple[int, int, int, int]:
    """(top, left, height, width) of the target's upright box inside the image; no height or width outside it."""
    patch = target.patch(shape)
    return patch.rows.start, patch.columns.start, *patch.inside.shape


def _background(busy: Image, size: tuple[int, int]) -> Spots:
    """Grid positions (row, column) of the background boxes; a step is the box size, 8 px at least."""
    height, width = size
    y = np.arange(0, busy.shape[0] - height, max(height, 8))[:, None]
    x = np.arange(0, busy.shape[1] - width, max(width, 8))[None, :]
    taken = busy[y + height, x + width] - busy[y, x + width] - busy[y + height, x] + busy[y, x]
    return cast("Spots", np.nonzero(taken == 0))


def _stand_out(
    means: F32, windows: Sequence[tuple[int, int, int, int]], spots: Spots, size: tuple[int, int], floor: float
) -> F64:
    """Largest excess, bright or dark, of each window's extreme local mean over those of the background boxes.

    floor: smallest spread of these that is believed.
    """
    result = np.zeros(len(windows))
    for extreme, sign in ((np.maximum, 1.0), (np.minimum, -1.0)):
        background = sign * _grid_extremes(extreme, means, size)[spots].astype(np.float64)
        centre = float(np.median(background))
        spread = max(1.4826 * float(np.median(np.abs(background - centre))), floor)
        own = [sign * float(extreme.reduce(means[y : y + h, x : x + w], axis=None)) for y, x, h, w in windows]
        result = np.maximum(result, (np.array(own) - centre) / spread)
    return result


def _grid_extremes(extreme: np.ufunc, values: F32, size: tuple[int, int]) -> F32:
    """Maximum or minimum of every grid box of `_background`."""
    steps = [max(side, 8) for side in size]
    boxes = [(n - side) // step + 1 for n, side, step in zip(values.shape, size, steps, strict=True)]
    ends = [count * step for count, step in zip(boxes, steps, strict=True)]
    beyond = [max(0, end - n) for end, n in zip(ends, values.shape, strict=True)]
    if any(beyond):  # the last of boxes below 8 px; what is added lies between boxes
        values = np.pad(values, [(0, beyond[0]), (0, beyond[1])])
    tiles = values[: ends[0], : ends[1]].reshape(boxes[0], steps[0], boxes[1], steps[1])[:, : size[0], :, : size[1]]
    return cast("F32", extreme.reduce(extreme.reduce(tiles, axis=1), axis=2))
