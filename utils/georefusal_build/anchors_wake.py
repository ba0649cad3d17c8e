"""Whether a ship draws a wake across a radar image: a strip of water on its long axis, brighter or darker than others.

| field | of | unit | meaning |
|---|---|---|---|
| wake_z | instance | robust sd | how far the strip before or behind it stands out, bright or dark, from those like it |

Looked at are the two strips that begin one width beyond the ends and are two lengths long and one width wide, as far as
they lie in the frame, each against what lies two widths beside it, so that uneven wind does not count. What a ship's
speed moves in azimuth, away from its wake, and its ghosts are not looked for.
"""

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from georefusal_build.anchors import Value
from georefusal_build.anchors_scan import MIN_BACKGROUND
from georefusal_build.arrays import F32, F64, U8, Mask, Shape
from georefusal_build.kernels.tones import luma
from georefusal_build.targets import Target, union

WAKE_Z = 4.0
"""From here on a wake is taken to be there. Ours: docs/levers/limits.md says what that finds on painted scenes."""

_LEAST = 0.25
"""Share of a strip that has to lie in the frame."""
_GRID = 24
"""Places of background strips along a side of the frame, at most."""
_STEP = 4
"""Pixels between them, at least."""
_ROUNDING = 12**-0.5
"""Sd of the error that rounding to whole DN leaves on a pixel; a spread below that of a mean says nothing."""

Places = NDArray[np.intp]


def has_wake(found: Sequence[Value]) -> bool:
    """Return whether any of these values of `wake_z` tells of a wake."""
    return any(z is not None and z >= WAKE_Z for z in found)


def wake_z(pixels: U8, targets: Sequence[Target]) -> list[Value]:
    """Return how far the strips before and behind each target stand out, the larger of the two, robust sd.

    pixels: amplitude, uint8 (H, W) or (H, W, 3). Background strips have the size and direction of the target's, lie on
    a grid and keep clear of all targets and their strips, what lies beside them of the targets. None: too little of
    both strips lies in the frame, or fewer than 12 background strips do.
    """
    return [*_searched(pixels.tobytes(), pixels.shape, tuple(targets))]


@lru_cache(maxsize=4)
def _searched(data: bytes, size: tuple[int, ...], targets: tuple[Target, ...]) -> tuple[Value, ...]:
    """What `wake_z` returns, remembered: every lever and attempt asks for the same clean image and ships."""
    amplitude = luma(np.frombuffer(data, np.uint8).reshape(size))
    shape: Shape = amplitude.shape[0], amplitude.shape[1]
    pairs = [strips(target) for target in targets]
    ships = union([target.grown(1.6, 4) for target in targets], shape)
    busy = ships | union([strip for pair in pairs for strip in pair], shape)
    found = [[_stands_out(amplitude, ships, busy, strip) for strip in pair] for pair in pairs]
    return tuple(max((z for z in pair if z is not None), default=None) for pair in found)


def strips(target: Target) -> tuple[Target, ...]:
    """Return the strips beyond the two ends of a target's smallest rectangle.

    >>> [strip.bounds for strip in strips(Target.box(40, 10, 60, 14))]
    [(-4.0, 10.0, 36.0, 14.0), (64.0, 10.0, 104.0, 14.0)]
    """
    corners = target.rectangle
    sides = corners[1] - corners[0], corners[2] - corners[1]
    along, across = sorted(sides, key=lambda side: -float(np.hypot(*side)))
    near = 0.5 + float(np.hypot(*across) / np.hypot(*along))
    spans = ((-near - 2, -near), (near, near + 2))
    ends = np.array([((a, -0.5), (b, -0.5), (b, 0.5), (a, 0.5)) for a, b in spans])
    return tuple(_target(corners.mean(axis=0) + end @ np.stack([along, across])) for end in ends)


def _target(corners: F64) -> Target:
    return Target(tuple((float(x), float(y)) for x, y in corners))


def _stands_out(amplitude: F32, ships: Mask, busy: Mask, strip: Target) -> Value:
    corners, width = np.asarray(strip.polygon), amplitude.shape[1]
    aside = 2 * (corners[2] - corners[1])
    own = _water(strip, ships)
    beside = np.concatenate([_water(_target(corners + way * aside), ships) for way in (-1, 1)])
    if len(own) < max(1.0, _LEAST * strip.minor * strip.sides[1]) or len(beside) < len(own) / 2:
        return None
    moves, parts = _moves(np.concatenate([own, beside]), ships.shape), [y * width + x for y, x in (own.T, beside.T)]
    for part, taken in zip(parts, (busy, ships), strict=True):
        moves = moves[~taken.ravel()[moves[:, None] + part].any(axis=1)]
    if len(moves) < MIN_BACKGROUND:
        return None
    background, (excess,) = (_excess(amplitude, at, parts) for at in (moves, np.zeros(1, np.intp)))
    centre = float(np.median(background))
    spread = 1.4826 * float(np.median(np.abs(background - centre)))
    return float(abs(excess - centre) / max(spread, _ROUNDING / len(own) ** 0.5))


def _water(strip: Target, ships: Mask) -> Places:
    """Rows and columns (n, 2) of the pixels of a strip that are not a ship's."""
    patch = strip.patch((ships.shape[0], ships.shape[1]))
    places: Places = np.argwhere(patch.inside & ~ships[patch.rows, patch.columns])
    places += np.array([patch.rows.start, patch.columns.start])
    return places


def _moves(pixels: Places, shape: tuple[int, ...]) -> Places:
    """Moves of pixels over a grid, all of them staying in the frame, as distances in a flat image."""
    axes = []
    for first, last, length in zip(pixels.min(axis=0), pixels.max(axis=0), shape, strict=True):
        room = int(length - 1 - last + first)
        axes.append(np.arange(-int(first), room - int(first) + 1, max(_STEP, -(-room // _GRID)), dtype=np.intp))
    moves: Places = (axes[0][:, None] * shape[1] + axes[1]).ravel()
    return moves


def _excess(amplitude: F32, moves: Places, parts: Sequence[Places]) -> F64:
    """Mean of the first of two sets of pixels over that of the second, at each move."""
    inside, outside = (amplitude.ravel()[moves[:, None] + part].mean(axis=1, dtype=np.float64) for part in parts)
    excess: F64 = inside - outside
    return excess
