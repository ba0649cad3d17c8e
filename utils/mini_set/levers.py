"""What is done to a tile, and how much of a target survives: pure functions of pixels, parameters and a seed.

Every lever returns the new pixels and V, the share of the scene's signal that is left at each (0 hidden, 1 clear).
Source: the design catalogue's image levers, with parameters that fit tiles of 192 pixels.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from PIL import Image

from mini_set.scenes import TILE, Mask, Pixels

Field = npt.NDArray[np.float64]

_YY, _XX = np.mgrid[0:TILE, 0:TILE].astype(np.float64)


@dataclass(frozen=True)
class Altered:
    """A tile after a lever: pixels, what survives of the scene at each of them, and the coarsening factor."""

    pixels: Pixels
    visible: Field
    decimation: int = 1


def noise(seed: int, beta: float) -> Field:
    """Return a random field of zero mean and unit deviation whose power falls as frequency to the minus `beta`.

    Only raw 64-bit words are drawn from the generator: its methods may change between numpy versions, they do not.
    """
    words = np.random.Philox(key=seed).random_raw(2 * TILE * TILE).astype(np.float64) / 2.0**64
    radius = np.sqrt(-2 * np.log(words[: TILE * TILE] + 2.0**-65))
    white = (radius * np.cos(2 * math.pi * words[TILE * TILE :])).reshape(TILE, TILE)
    frequency = np.hypot(np.fft.fftfreq(TILE)[:, None], np.fft.fftfreq(TILE)[None, :])
    frequency[0, 0] = np.inf
    coloured: Field = np.fft.ifft2(np.fft.fft2(white) * frequency ** (-beta / 2)).real
    coloured /= coloured.std()
    return coloured


def blur(field: Field, sigma: float) -> Field:
    """Return the field under a Gaussian of `sigma` pixels; edges are mirrored."""
    pad = math.ceil(3 * sigma)
    kernel = np.exp(-0.5 * (np.arange(-pad, pad + 1) / sigma) ** 2)
    kernel /= kernel.sum()
    for axis in (0, 1):
        widths = [(pad, pad) if a == axis else (0, 0) for a in (0, 1)]
        field = np.apply_along_axis(np.convolve, axis, np.pad(field, widths, mode="symmetric"), kernel, mode="valid")
    return field


def _bumps(ellipses: Sequence[Sequence[float]], wobble: Field) -> Field:
    field = np.zeros((TILE, TILE))
    for cx, cy, rx, ry in ellipses:
        distance = np.hypot((_XX - cx) / rx, (_YY - cy) / ry) * (1 + 0.25 * wobble)
        field = np.maximum(field, np.exp(-(distance**4)))
    return field


def _smoothstep(x: Field) -> Field:
    x = np.clip(x, 0, 1)
    return x * x * (3 - 2 * x)


def _as_bytes(values: Field) -> Pixels:
    return np.clip(np.rint(values), 0, 255).astype(np.uint8)


def cloud(
    tile: Pixels,
    *,
    seed: int,
    cover: float,
    over: Sequence[Sequence[float]],
    clear: Sequence[Sequence[float]],
    strength: float = 3.0,
    shadow: Sequence[int] = (-14, -18),
) -> Altered:
    """Return a colour tile under an opaque cloud and its cast shadow; it hides the share `cover`.

    `over` and `clear` are ellipses (cx, cy, rx, ry) that draw the cloud or push it away; their outlines are wobbled
    by a second noise field, so that the cloud never takes the outline of a target. `shadow` is its (x, y) offset.
    """
    wobble = noise(seed + 1, 3.4)
    score = noise(seed, 3.0) + strength * (_bumps(over, wobble) - _bumps(clear, wobble))
    edge, top = np.quantile(score, (1 - cover, 0.995))
    depth = 5.0 * _smoothstep((score - edge) / (0.25 * (top - edge)) + 0.2345)
    through = blur(np.exp(-depth), 1.0)
    dx, dy = shadow
    cast = np.roll(1 - through, (dy, dx), (0, 1))
    cast[_rolled_in(dy, dx)] = 0
    shade = 1 - 0.45 * blur(cast, 2.0)
    white = np.clip(232 + 8 * noise(seed + 2, 2.4), 200, 248)
    mixed = tile * (shade * through)[..., None] + (white * (1 - through))[..., None]
    return Altered(_as_bytes(mixed), through)


def _rolled_in(dy: int, dx: int) -> Mask:
    wrapped = np.zeros((TILE, TILE), dtype=bool)
    wrapped[slice(0, dy) if dy > 0 else slice(TILE + dy, None)] = dy != 0
    wrapped[:, slice(0, dx) if dx > 0 else slice(TILE + dx, None)] |= dx != 0
    return wrapped


def blocks(tile: Pixels, boxes: Sequence[Sequence[int]]) -> Altered:
    """Return the tile with the boxes (x0, y0, x1, y1) painted black, as lost data blocks are."""
    visible = np.ones((TILE, TILE))
    for x0, y0, x1, y1 in boxes:
        visible[y0:y1, x0:x1] = 0
    return Altered(np.where(_like(visible, tile) > 0, tile, 0).astype(np.uint8), visible)


def wedge(tile: Pixels, top: float, bottom: float, side: str) -> Altered:
    """Return the tile with no data beyond a slanted swath edge that runs from x = `top` to x = `bottom`."""
    edge = top + (bottom - top) * _YY / (TILE - 1)
    visible = (edge <= _XX if side == "left" else edge > _XX).astype(np.float64)
    return Altered(np.where(_like(visible, tile) > 0, tile, 0).astype(np.uint8), visible)


def receiver_saturation(tile: Pixels, seed: int, first: int, last: int) -> Altered:
    """Return a radar tile whose lines `first` to `last` ran into the receiver's ceiling.

    The tile is log-stretched, so that gain is an offset; it varies from line to line and fades at the band's ends.
    """
    lines = _YY[:, 0]
    flank = np.minimum(lines - first, last - lines)
    jitter = noise(seed, 0.0)[:, 0]
    gain = np.where(flank < 0, 0.0, np.clip(120 + 60 * flank, 0, 300)) + np.where(flank >= 0, 12 * jitter, 0)
    pixels = _as_bytes(tile + _like(np.repeat(gain[:, None], TILE, 1), tile))
    return Altered(pixels, (~saturated(pixels)).astype(np.float64))


def overexposure(tile: Pixels, gain: float) -> Altered:
    """Return the tile as recorded with `gain` times the light, clipped at full well (display gamma 2.2)."""
    light = np.minimum((tile / 255.0) ** 2.2 * gain, 1.0)
    pixels = _as_bytes(255 * light ** (1 / 2.2))
    return Altered(pixels, (~saturated(pixels)).astype(np.float64))


def panchromatic(tile: Pixels) -> Altered:
    """Return the tile's luma as one band: brightness is kept, colour is lost."""
    return Altered(np.asarray(Image.fromarray(tile).convert("L")), np.ones((TILE, TILE)))


def coarse(tile: Pixels, factor: int) -> Altered:
    """Return the tile as a sensor with pixels `factor` times larger records it: area means, smoothly re-enlarged."""
    small = Image.fromarray(tile).resize((TILE // factor, TILE // factor), Image.Resampling.BOX)
    large = np.asarray(small.resize((TILE, TILE), Image.Resampling.BICUBIC))
    return Altered(large, np.ones((TILE, TILE)), factor)


def untouched(tile: Pixels) -> Altered:
    """Return the tile as it is."""
    return Altered(tile, np.ones((TILE, TILE)))


OPERATORS: dict[str, Callable[..., Altered]] = {
    "none": untouched,
    "cloud": cloud,
    "blocks": blocks,
    "wedge": wedge,
    "receiver_saturation": receiver_saturation,
    "overexposure": overexposure,
    "panchromatic": panchromatic,
    "coarse": coarse,
}
"""Every lever by the name that the item list uses."""


def saturated(pixels: Pixels) -> Mask:
    """Return where every band is at 250 or above."""
    clipped: Mask = np.all(np.atleast_3d(pixels) >= 250, axis=2)
    return clipped


def ring(target: Mask) -> Mask:
    """Return the surroundings of a target: its bounding box grown to 2.2 times, without the box itself."""
    ys, xs = np.nonzero(target)
    cy, cx = (ys.min() + ys.max()) / 2, (xs.min() + xs.max()) / 2
    ry, rx = (np.ptp(ys) + 1) / 2, (np.ptp(xs) + 1) / 2
    reach: Field = np.maximum(abs(_YY - cy) / ry, abs(_XX - cx) / rx)
    return (reach > 1.3) & (reach <= 2.2)


def measure(tile: Pixels, altered: Altered, target: Mask) -> dict[str, Any]:
    """Return how much of a target is left: shares of its pixels, of its ring and of the whole tile."""
    around = ring(target)
    clear = altered.visible >= 0.5
    return {
        "target_px": int(target.sum()),
        "visible_fraction": _share(clear, target),
        "ring_visible": _share(clear, around),
        "sat_fraction": _share(saturated(altered.pixels), target),
        "hidden_fraction": round(1 - float(clear.mean()), 4),
        "changed_fraction": _share(_luma(altered.pixels) != _luma(tile), np.ones((TILE, TILE), dtype=bool)),
    }


def _share(hit: Mask, where: Mask) -> float | None:
    return round(float(hit[where].mean()), 4) if where.any() else None


def _luma(pixels: Pixels) -> Pixels:
    return np.asarray(Image.fromarray(pixels).convert("L"))


def _like(field: Field, tile: Pixels) -> Field:
    return field if tile.ndim == 2 else field[..., None]
