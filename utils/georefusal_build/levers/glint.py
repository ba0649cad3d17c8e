"""Glint that is aimed: one pattern of blobs per base, over the targets or moved as a whole to free ground."""

import math
from bisect import bisect_left
from collections.abc import Sequence
from typing import NamedTuple, cast

import cv2
import numpy as np

from georefusal_build.anchors import SATURATED, Clip, Measurement, clipped_mask
from georefusal_build.arrays import F32, F64, U8, Mask, Shape
from georefusal_build.kernels import glare
from georefusal_build.kernels.fields import Bump, power_law, squared_radius
from georefusal_build.kernels.glare import spill
from georefusal_build.kernels.tones import from_light, luma, per_band, to_light
from georefusal_build.levers.placing import TRIES, keep_clear
from georefusal_build.levers.registry import Effect, Subject
from georefusal_build.levers.search import first, in_band
from georefusal_build.outcomes import InapplicableError, Reason
from georefusal_build.streams import Stream
from georefusal_task.core.records import Intensity

GAIN = 8.0
LEAK = 0.05
SPREAD = 14.0
SLIDES = tuple(round(1.6 - 0.05 * i, 2) for i in range(33))
"""How far MEDIUM pushes a blob off its target, in blob sizes: far to near, the first that leaves a rim."""

_SIZES = tuple(round(0.70 + 0.0025 * i, 4) for i in range(281))
"""Common factor on the blobs' size; the saturated share picks one, so that it is equal for LOW, MEDIUM and HIGH."""

_PAD = 4.0
_RIM = 1.27
"""Radius, in half axes, up to which a blob saturates ground of middle brightness."""


EXPOSURES = {"gain_clip": (1.5, 2.0, 3.0, 4.0, 6.0, 8.0), "crush": (0.1, 0.05, 0.02, 0.01, 0.004, 0.002)}
"""Exposure gains that all items share: bright targets clip where dark ones stay, and the other way round."""


def expose(subject: Subject, stream: Stream, intensity: Intensity, variant: str) -> Effect:
    """Return the image under the caller's gain, or the first shared one, in a drawn order, that reaches the band.

    Raises:
        InapplicableError: the base is a question about a region or is clipped already.

    """
    clip: Clip = "high" if variant == "gain_clip" else "low"
    order = stream.shuffled(EXPOSURES[variant])
    if subject.answer == "no":
        raise InapplicableError(Reason.WRONG_BASE, "exposure is judged on instances, and this base has none")
    if float(clipped_mask(subject.pixels, clip).mean()) >= 0.01:
        raise InapplicableError(Reason.BASE_NOT_CLEAN, "more than 1 % of the base image is clipped already")
    gains = [subject.settings["gain"]] if "gain" in subject.settings else order

    def good(gain: float) -> bool:
        return in_band("im_saturate", intensity, clipping(glare.expose(subject.pixels, gain), subject, clip), subject)

    found = first(gains, good)
    gain = gains[-1] if found is None else found
    out = glare.expose(subject.pixels, gain)
    return Effect(out, 1 - clipped_mask(out, clip).astype(np.float32), clip=clip, params={"gain": gain})


class _Pattern:
    """The blobs at one placement; renders them for any size, in the window that they can reach."""

    def __init__(self, darkest: F32, bumps: Sequence[Bump], wobble: F32, along: int) -> None:
        reach, tail = 2.2 * _SIZES[-1], 6 * SPREAD
        dx, dy = (0.0, tail) if along == 0 else (tail, 0.0)
        left, right = min(b.x - reach * b.half_width for b in bumps), max(b.x + reach * b.half_width for b in bumps)
        top, bottom = min(b.y - reach * b.half_height for b in bumps), max(b.y + reach * b.half_height for b in bumps)
        rows = slice(max(0, int(top - dy)), max(1, int(bottom + dy) + 1))
        columns = slice(max(0, int(left - dx)), max(1, int(right + dx) + 1))
        self.window = rows, columns
        self._darkest = darkest[self.window]
        near = [bump._replace(x=bump.x - columns.start, y=bump.y - rows.start) for bump in bumps]
        shape: Shape = self._darkest.shape[0], self._darkest.shape[1]
        self._radius = squared_radius(shape, near, wobble[self.window])
        self._along = along

    @property
    def core(self) -> int:
        """Number of pixels that blobs of size 1 saturate on ground of middle brightness."""
        return int(np.count_nonzero(self._radius < _RIM**2))

    def saturated(self, size: float, code: float) -> Mask:
        """Return where every band of the window reaches `code` with blobs of this size."""
        glare = self._glare(size)
        reached: Mask = np.minimum(self._darkest + glare, 1) + self._spilled(glare) >= code
        return reached

    def lit(self, light: F32, size: float) -> F32:
        """Return the window's light, all bands, with blobs of this size."""
        glare = self._glare(size)
        window = light[self.window]
        lit: F32 = np.minimum(window + per_band(glare, window), 1) + per_band(self._spilled(glare), window)
        return lit

    def _glare(self, size: float) -> F32:
        return cast("F32", np.float32(GAIN) * np.exp(-((self._radius / np.float32(size * size)) ** 2)))

    def _spilled(self, glare: F32) -> F32:
        """The charge is white: what every band has above full well spills, so the darkest band decides."""
        return cast("F32", np.float32(LEAK) * spill(np.maximum(self._darkest + glare - 1, 0), SPREAD, self._along))


class Glint(NamedTuple):
    """All that is random about a glint: warp of the outlines, a direction per blob, moves of the pattern (TRIES, 2)."""

    wobble: F32
    directions: F64
    moves: F64


def draw_glint(subject: Subject, stream: Stream) -> Glint:
    """Return a glint for a subject.

    Raises:
        InapplicableError: the base is a question about a region, has bright ground of its own, or its targets are too
        large.

    """
    if subject.answer == "no":
        raise InapplicableError(Reason.WRONG_BASE, "saturation is aimed at instances, and this base has none")
    if float(keep_clear(subject.targets, subject.shape, 1.0, _PAD).mean()) > 0.25:
        raise InapplicableError(Reason.TARGET_TOO_LARGE, "the targets take more than a quarter of the image")
    coarse = (max(4, -(-subject.shape[0] // 4)), max(4, -(-subject.shape[1] // 4)))
    wobble = np.float32(0.6) * power_law(stream.normal(coarse), 3.0, subject.shape)
    directions = 2 * np.pi * stream.uniform((len(subject.targets),))
    return Glint(wobble, directions, 2 * stream.uniform((TRIES, 2)) - 1)


def shine(subject: Subject, glint: Glint, intensity: Intensity, gamma: float, along: int) -> tuple[U8, float, float]:
    """Return the image with the glint, how far its blobs slid (blob sizes) and their common size factor.

    gamma: display exponent of the image. along: axis of the spill, 0 = columns, 1 = range lines.

    Raises:
        InapplicableError: no free ground for LOW, or the saturated share cannot be made equal.

    """
    light = to_light(subject.pixels, gamma)
    darkest = light if light.ndim == 2 else light.min(axis=2)
    code = ((SATURATED - 0.5) / 255) ** gamma
    clipped: Mask = darkest >= code
    if float(clipped.mean()) >= 0.01:
        raise InapplicableError(Reason.BASE_NOT_CLEAN, f"{clipped.mean():.3f} of the base image is saturated already")
    centred = _Pattern(darkest, _placed(subject, glint, 0.1), glint.wobble, along)
    budget = int(np.count_nonzero(clipped)) + centred.core

    def saturated(pattern: _Pattern, size: float) -> Mask:
        mask = clipped.copy()
        mask[pattern.window] = pattern.saturated(size, code)
        return mask

    def fitted(pattern: _Pattern) -> float | None:
        place = bisect_left(_SIZES, budget, key=lambda size: int(np.count_nonzero(saturated(pattern, size))))
        size = _SIZES[min(place, len(_SIZES) - 1)]
        even = abs(int(np.count_nonzero(saturated(pattern, size))) / budget - 1) <= 0.01
        return size if even else None

    def rimmed(pattern: _Pattern, size: float | None) -> bool:
        if size is None:
            return False
        mask = saturated(pattern, size)
        share = [float(np.mean(target.patch(subject.shape).of(mask))) for target in subject.targets]
        return in_band("im_saturate", Intensity.MEDIUM, Measurement({"sat_fraction": [*share]}), subject)

    slide, pattern = 0.1, centred
    if intensity is Intensity.LOW:
        slide, pattern = 0.0, _Pattern(darkest, _moved(subject, glint), glint.wobble, along)
    elif intensity is Intensity.MEDIUM:
        for slide in SLIDES:
            pattern = _Pattern(darkest, _placed(subject, glint, slide), glint.wobble, along)
            if rimmed(pattern, 1.0) and rimmed(pattern, fitted(pattern)):
                break
    size = fitted(pattern)
    if size is None:
        raise InapplicableError(Reason.UNEVEN_BUDGET, "the saturated share cannot be made equal at every intensity")
    out = subject.pixels.copy()
    out[pattern.window] = from_light(pattern.lit(light, size), gamma)
    return out, slide, size


def _placed(subject: Subject, glint: Glint, slide: float) -> list[Bump]:
    """Blobs over the targets, each slid into its own direction by `slide` times its half axis / 1.35."""
    return [
        Bump(b.x + slide / 1.35 * b.half_width * math.cos(a), b.y + slide / 1.35 * b.half_height * math.sin(a), *b[2:])
        for b, a in zip(_blobs(subject), glint.directions, strict=True)
    ]


def _moved(subject: Subject, glint: Glint) -> list[Bump]:
    """The blobs over the targets, moved as a whole to where they miss all targets and stay inside the frame."""
    (height, width), blobs = subject.shape, _blobs(subject)
    clear = keep_clear(subject.targets, subject.shape, 1.0, _PAD)
    distance = cv2.distanceTransform((~clear).astype(np.uint8), cv2.DIST_L2, 5)
    x, y, rx, ry = np.array(blobs).T[:, :, None]
    nx, ny = x + glint.moves[:, 1] * width, y + glint.moves[:, 0] * height
    inside = (nx >= _RIM * rx) & (nx < width - _RIM * rx) & (ny >= _RIM * ry) & (ny < height - _RIM * ry)
    gap = distance[np.clip(ny.astype(int), 0, height - 1), np.clip(nx.astype(int), 0, width - 1)]
    free = np.flatnonzero((inside & (gap > 1.6 * np.maximum(rx, ry))).all(axis=0))
    if not free.size:
        raise InapplicableError(Reason.NO_ROOM, "no free ground for the glint pattern")
    return [b._replace(x=float(nx[i, free[0]]), y=float(ny[i, free[0]])) for i, b in enumerate(blobs)]


def _blobs(subject: Subject) -> list[Bump]:
    blobs = []
    for target in subject.targets:
        x0, y0, x1, y1 = target.bounds
        rx, ry = (1.35 * (0.6 * side + _PAD) for side in (x1 - x0, y1 - y0))
        blobs.append(Bump((x0 + x1) / 2, (y0 + y1) / 2, max(rx, ry / 2), max(ry, rx / 2)))
    return blobs


def clipping(pixels: U8, subject: Subject, clip: Clip) -> Measurement:
    """Return the anchors that tell whether the targets are clipped."""
    mask, values = clipped_mask(pixels, clip), luma(pixels)
    patches = [target.patch(subject.shape) for target in subject.targets]
    return Measurement(
        {
            "sat_fraction": [float(np.mean(patch.of(mask))) for patch in patches],
            "peak_dn": [float(np.percentile(patch.of(values), 95)) for patch in patches],
            "n_eff": [target.minor for target in subject.targets],
        }
    )
