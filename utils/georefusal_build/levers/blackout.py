"""Black-outs of one list of block sizes: LOW, MEDIUM and HIGH of a base differ only in where the blocks stand."""

from collections.abc import Sequence

from georefusal_build.arrays import Shape
from georefusal_build.kernels.blocks import Block, detail_sums
from georefusal_build.levers.placing import (
    TRIES,
    Alike,
    Box,
    block_over,
    claim,
    clusters,
    detail_under,
    keep_clear,
    place_apart,
    sliver_over,
)
from georefusal_build.levers.registry import Subject
from georefusal_build.outcomes import InapplicableError, Reason
from georefusal_build.streams import Stream
from georefusal_task.core.records import Intensity

SMALL, LARGE = 1.2, 2.2
"""Sizes of the blocks, in target sizes."""

BUDGET = 0.35
"""Largest share of the image that the blocks may take."""

_PAD = 4.0

_Sized = tuple[Box, tuple[int, int]]
"""What a block has to cover, and its size."""


def over_instances(subject: Subject, stream: Stream, intensity: Intensity) -> list[Block]:
    """Return small and large blocks: MEDIUM has the small ones over the targets, HIGH the large ones, LOW none of them.

    The others are decoys. Targets that are close share a block.

    Raises:
        InapplicableError: targets too small or too large, or no room for the decoys.

    """
    minor = min(target.minor for target in subject.targets)
    if minor < 12:
        raise InapplicableError(Reason.TARGET_TOO_SMALL, f"a target is {minor:.1f} px across, blocks need 12")
    bounds = [target.bounds for target in subject.targets]
    small, large = (
        [(cluster.box, cluster.size(factor, _PAD)) for cluster in clusters(bounds, factor, _PAD)]
        for factor in (SMALL, LARGE)
    )
    sizes = [size for _, size in (*large, *small)]
    _within_budget(sizes, subject.shape)
    slides, spots = 1.6 * stream.uniform((len(sizes), 2)) - 0.8, stream.uniform((len(sizes), TRIES, 2))
    aim = stream.choice((small, large))
    over, beside = {
        Intensity.LOW: ([], [*large, *small]),
        Intensity.MEDIUM: (small, large),
        Intensity.HIGH: (large, small),
    }[intensity]
    taken = keep_clear(subject.targets, subject.shape, 1.3, _PAD)
    placed = [
        block_over(box, size, (float(dx), float(dy)), subject.shape)
        for (box, size), (dx, dy) in zip(over, slides[: len(over)], strict=True)
    ]
    for block in placed:
        claim(taken, block)
    alike = None if over else _alike(subject, beside, aim)
    return placed + place_apart([size for _, size in beside], taken, spots[: len(beside)], alike)


def _alike(subject: Subject, blocks: Sequence[_Sized], aim: Sequence[_Sized]) -> Alike:
    """Let the decoys of LOW that stand for the blocks of a refusal hide as much as these would."""
    sums = detail_sums(subject.pixels)
    would = {one: detail_under(sums, block_over(*one, (0.0, 0.0), subject.shape)) for one in aim}
    return Alike(sums, [would.get(one) for one in blocks])


def over_regions(subject: Subject, stream: Stream, intensity: Intensity) -> list[Block]:
    """Return one block of each asked region's size: HIGH over it, MEDIUM leaving a tenth of it, LOW elsewhere.

    Raises:
        InapplicableError: the regions are too large, or there is no room beside them.

    """
    bounds = [target.bounds for target in subject.targets]
    sizes = [(round(x1 - x0), round(y1 - y0)) for x0, y0, x1, y1 in bounds]
    _within_budget(sizes, subject.shape)
    spots, ahead = stream.uniform((len(sizes), TRIES, 2)), stream.uniform() < 0.5
    if intensity is Intensity.LOW:
        return place_apart(sizes, keep_clear(subject.targets, subject.shape, 1.0, 0), spots)
    if intensity is Intensity.HIGH:
        return [block_over(box, size, (0, 0), subject.shape) for box, size in zip(bounds, sizes, strict=True)]
    return [
        sliver_over(b, size, subject.shape, share=0.1, axis=0, ahead=ahead)
        for b, size in zip(bounds, sizes, strict=True)
    ]


def _within_budget(sizes: Sequence[tuple[int, int]], shape: Shape) -> None:
    share = sum(width * height for width, height in sizes) / (shape[0] * shape[1])
    if share > BUDGET:
        raise InapplicableError(Reason.TARGET_TOO_LARGE, f"blocks for these targets take {share:.2f} of the image")
