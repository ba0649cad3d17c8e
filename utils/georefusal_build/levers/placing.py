"""Where blocks and decoys go, so that LOW, MEDIUM and HIGH of one base cost the same share of the image."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from georefusal_build.arrays import F64, Mask, Shape
from georefusal_build.kernels.blocks import Block, fit_block, sum_in
from georefusal_build.outcomes import InapplicableError, Reason
from georefusal_build.targets import Target, union

Box = tuple[float, float, float, float]

TRIES = 512
"""Positions tried for a decoy, all drawn beforehand: the stream does not depend on which one fits."""

_GAP = 2
"""Pixels between two blocks, so that they stay two."""


class Alike(NamedTuple):
    """What decoys have to hide, or an image without a target would also be one with more to see.

    sums: detail of the image, as of `detail_sums`. wanted: detail under each decoy, None where it may be any.
    """

    sums: F64
    wanted: Sequence[float | None]


def place_apart(sizes: Sequence[tuple[int, int]], taken: Mask, spots: F64, alike: Alike | None = None) -> list[Block]:
    """Return one block per (width, height), clear of `taken` and of each other; spots: (len(sizes), TRIES, 2).

    Raises:
        InapplicableError: no room for one of them.

    """
    taken = taken.copy()
    blocks = []
    wanted = alike.wanted if alike else [None] * len(sizes)
    for (width, height), positions, much in zip(sizes, spots, wanted, strict=True):
        detail = None if alike is None or much is None else alike.sums
        block = fit_block(taken, width, height, positions, detail, much or 0.0)
        if block is None:
            raise InapplicableError(
                Reason.NO_ROOM, f"no room for a decoy of {width} x {height} px away from the targets"
            )
        blocks.append(block)
        claim(taken, block)
    return blocks


def claim(taken: Mask, block: Block) -> None:
    """Mark a block and the gap around it as taken."""
    taken[
        max(0, block.y - _GAP) : block.y + block.height + _GAP, max(0, block.x - _GAP) : block.x + block.width + _GAP
    ] = True


class Cluster(NamedTuple):
    """Targets that one block has to cover: the box around them, and the largest width and height among them."""

    box: Box
    width: float
    height: float

    def size(self, factor: float, pad: float) -> tuple[int, int]:
        """Return (width, height) of a block: the box, grown as `factor` and `pad` would grow the largest target."""
        x0, y0, x1, y1 = self.box
        dx, dy = self.slack(factor, pad)
        return round(x1 - x0 + dx), round(y1 - y0 + dy)

    def slack(self, factor: float, pad: float) -> tuple[float, float]:
        """Return how much wider and taller than the box such a block is."""
        return (factor - 1) * self.width + 2 * pad, (factor - 1) * self.height + 2 * pad

    def meets(self, other: "Cluster", factor: float, pad: float) -> bool:
        """Return whether blocks over both, wherever they slide, could touch."""
        (ax, ay), (bx, by) = self.slack(factor, pad), other.slack(factor, pad)
        (ax0, ay0, ax1, ay1), (bx0, by0, bx1, by1) = self.box, other.box
        dx, dy = ax + bx + _GAP, ay + by + _GAP
        return ax0 < bx1 + dx and bx0 < ax1 + dx and ay0 < by1 + dy and by0 < ay1 + dy


def clusters(boxes: Sequence[Box], factor: float, pad: float) -> list[Cluster]:
    """Return the boxes, those joined whose blocks (`factor` times a box, plus `pad` on each side) could touch."""
    joined: list[Cluster] = []
    for x0, y0, x1, y1 in boxes:
        one = Cluster((x0, y0, x1, y1), x1 - x0, y1 - y0)
        while near := [other for other in joined if one.meets(other, factor, pad)]:
            joined = [other for other in joined if other not in near]
            corners = np.array([one.box, *(other.box for other in near)])
            box = (*corners[:, :2].min(axis=0).tolist(), *corners[:, 2:].max(axis=0).tolist())
            one = Cluster(box, max(c.width for c in (one, *near)), max(c.height for c in (one, *near)))
        joined.append(one)
    return sorted(joined)


def block_over(box: Box, size: tuple[int, int], slide: tuple[float, float], shape: Shape) -> Block:
    """Return a block of `size` (width, height) that contains `box`, inside the frame.

    slide: (x, y) in [-1, 1], how far off the box's centre, as a share of the slack.
    """
    left, top = (
        round(min(max((low + high - side) / 2 + s * (side - (high - low)) / 2, 0), length - side))
        for low, high, side, s, length in (
            (box[0], box[2], size[0], slide[0], shape[1]),
            (box[1], box[3], size[1], slide[1], shape[0]),
        )
    )
    return Block(left, top, *size)


def detail_under(sums: F64, block: Block) -> float:
    """Return the detail that a block, cut to the frame, would hide."""
    rows, columns = (np.clip(ends, 0, length - 1) for ends, length in zip(_ends(block), sums.shape, strict=True))
    return float(sum_in(sums, rows[0], columns[0], rows[1], columns[1]))


def _ends(block: Block) -> tuple[tuple[int, int], tuple[int, int]]:
    return (block.y, block.y + block.height), (block.x, block.x + block.width)


def keep_clear(targets: Sequence[Target], shape: Shape, factor: float, pad: float) -> Mask:
    """Return the pixels on which nothing that stands for LOW may fall."""
    return union([target.grown(factor, pad) for target in targets], shape)


def sliver_over(box: Box, size: tuple[int, int], shape: Shape, *, share: float, axis: int, ahead: bool) -> Block:
    """Return a block of `size` (width, height) over `box`, moved until `share` of the box looks out.

    axis: along which it is moved, 0 = x, 1 = y. ahead: towards larger coordinates; turned round where the frame leaves
    no room for that.
    """
    low, high, length = box[axis], box[axis + 2], shape[1 - axis]
    sliver = max(1, round(share * (high - low)))
    starts = [round(low) + sliver, round(high) - sliver - size[axis]]
    start = next((s for s in (starts if ahead else starts[::-1]) if 0 <= s <= length - size[axis]), starts[0])
    block = block_over(box, size, (0.0, 0.0), shape)
    start = min(max(start, 0), length - size[axis])
    return block._replace(x=start) if axis == 0 else block._replace(y=start)
