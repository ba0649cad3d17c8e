"""Rectangular blocks: where they fit and what they are filled with."""

import math
from typing import Any, NamedTuple, cast

import cv2
import numpy as np
from numpy.typing import NDArray

from georefusal_build.arrays import F64, U8, Mask, Shape
from georefusal_build.kernels.tones import luma


class Block(NamedTuple):
    """Pixel rectangle: rows [y, y + height), columns [x, x + width)."""

    x: int
    y: int
    width: int
    height: int

    @property
    def window(self) -> tuple[slice, slice]:
        """Index of the block's pixels."""
        return slice(self.y, self.y + self.height), slice(self.x, self.x + self.width)


CHOICE = 24
"""Free places that are compared when a block has to hide as much as another."""


def detail_sums(pixels: U8) -> F64:
    """Return sums (H + 1, W + 1) of how much there is to see above and left of each corner: |Laplacian| of luma."""
    return cast("F64", cv2.integral(np.abs(cv2.Laplacian(luma(pixels), cv2.CV_32F)), sdepth=cv2.CV_64F))


def sum_in(sums: NDArray[Any], top: Any, left: Any, bottom: Any, right: Any) -> Any:
    """Return the sums inside rectangles, from sums as of `cv2.integral`; corners may be arrays."""
    return sums[bottom, right] - sums[top, right] - sums[bottom, left] + sums[top, left]


def fit_block(
    taken: Mask, width: int, height: int, spots: F64, detail: F64 | None = None, wanted: float = 0.0
) -> Block | None:
    """Return the first block at `spots` that touches no pixel of `taken`, or None.

    spots: (n, 2) values in [0, 1); each is a position between the frame's upper left and lower right. detail: of the
    first few that are free, take the one whose sum (see `detail_sums`) comes closest to `wanted`.
    """
    rows, columns = taken.shape[0] - height + 1, taken.shape[1] - width + 1
    if rows < 1 or columns < 1 or width < 1 or height < 1:
        return None
    count = cv2.integral(taken.view(np.uint8))
    x, y = (spots[:, 0] * columns).astype(np.intp), (spots[:, 1] * rows).astype(np.intp)
    free = np.flatnonzero(sum_in(count, y, x, y + height, x + width) == 0)[:CHOICE]
    if not free.size:
        return None
    x, y = x[free], y[free]
    best = 0
    if detail is not None:
        best = int(np.argmin(np.abs(sum_in(detail, y, x, y + height, x + width) - wanted)))
    return Block(int(x[best]), int(y[best]), width, height)


def painted(blocks: list[Block], shape: Shape) -> Mask:
    """Return the mask of all pixels of `blocks`."""
    mask = np.zeros(shape, dtype=bool)
    for block in blocks:
        mask[block.window] = True
    return mask


def fill_constant(pixels: U8, mask: Mask, value: int) -> U8:
    """Return a copy with `value` in every band of the masked pixels."""
    out = pixels.copy()
    out[mask] = value
    return out


def fill_mosaic(pixels: U8, blocks: list[Block], cell: float) -> U8:
    """Return a copy in which each block shows the means of cells of about `cell` pixels (never smaller)."""
    out = pixels.copy()
    for block in blocks:
        cells = max(1, int(block.width / cell)), max(1, int(block.height / cell))
        coarse = cv2.resize(pixels[block.window], cells, interpolation=cv2.INTER_AREA)
        out[block.window] = cv2.resize(coarse, (block.width, block.height), interpolation=cv2.INTER_NEAREST)
    return out


def fill_noise(pixels: U8, mask: Mask, ranks: F64) -> U8:
    """Return a copy in which masked pixels are drawn from the image's own pixels. ranks: (H, W) values in [0, 1)."""
    out = pixels.copy()
    flat = pixels.reshape(mask.size, *pixels.shape[2:])
    out[mask] = flat[(ranks[mask] * mask.size).astype(np.intp)]
    return out


def holds_rectangle(mask: Mask, width: float, height: float) -> bool:
    """Return whether an upright rectangle of this size, either way round, fits wholly into `mask`."""
    count = cv2.integral(mask.view(np.uint8))
    wide, tall = max(1, math.ceil(width)), max(1, math.ceil(height))
    for w, h in ((wide, tall), (tall, wide)):
        if h <= mask.shape[0] and w <= mask.shape[1]:
            full = count[h:, w:] - count[:-h, w:] - count[h:, :-w] + count[:-h, :-w]
            if bool((full == w * h).any()):
                return True
    return False
