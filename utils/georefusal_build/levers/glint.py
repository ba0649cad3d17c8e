"""Glint that is aimed: one pattern of blobs per base, over the targets or moved as a whole to free ground."""

import math
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import NamedTuple, cast

import cv2
import numpy as np

from georefusal_build.anchors import SATURATED, Measurement
from georefusal_build.arrays import F32, F64, U8, Mask, Shape
from georefusal_build.kernels.blocks import detail_sums, sum_in
from georefusal_build.kernels.fields import Bump, power_law, squared_radius
from georefusal_build.kernels.glare import spill
from georefusal_build.kernels.tones import darkest_band, from_light, per_band, to_light
from georefusal_build.levers.placing import TRIES, keep_clear
from georefusal_build.levers.registry import Subject
from georefusal_build.levers.search import first, in_band
from georefusal_build.outcomes import InapplicableError, Reason
from georefusal_build.streams import Stream
from georefusal_task.core.records import Intensity

GAIN = 8.0
LEAK = 0.05
VEIL = 0.25
"""Stray light around a blob: at its centre, in units of full scale."""
SPREAD = 14.0
SLIDES = tuple(round(1.6 - 0.05 * i, 2) for i in range(33))
"""How far MEDIUM pushes a blob off its target, in blob sizes: far to near, the first that leaves a rim."""

_SIZES = tuple(round(0.80 + 0.0025 * i, 4) for i in range(181))
"""Common factor on the blobs' size; the saturated share picks one, so that it is equal for LOW, MEDIUM and HIGH."""

_PAD = 4.0
_JITTER = 0.1
_NEAR = 2.6
"""Half axes around a blob, at any size, in which it can saturate."""
_RIM = 1.27
"""Radius, in half axes, up to which a blob saturates ground of middle brightness."""


class _Pattern:
    """The blobs at one placement; renders them for any size, in the window that they can reach."""

    def __init__(self, darkest: F32, bumps: Sequence[Bump], glint: "Glint", *, reach: float) -> None:
        tail = 6 * SPREAD
        dx, dy = (0.0, tail) if glint.along == 0 else (tail, 0.0)
        left, right = min(b.x - reach * b.half_width for b in bumps), max(b.x + reach * b.half_width for b in bumps)
        top, bottom = min(b.y - reach * b.half_height for b in bumps), max(b.y + reach * b.half_height for b in bumps)
        rows = slice(max(0, int(top - dy)), max(1, int(bottom + dy) + 1))
        columns = slice(max(0, int(left - dx)), max(1, int(right + dx) + 1))
        self.window = rows, columns
        self._darkest = darkest[self.window]
        near = [bump._replace(x=bump.x - columns.start, y=bump.y - rows.start) for bump in bumps]
        shape: Shape = self._darkest.shape[0], self._darkest.shape[1]
        self._radius = squared_radius(shape, near, glint.wobble[self.window])
        self._along = glint.along

    @property
    def core_mask(self) -> Mask:
        """Where blobs of size 1 saturate ground of middle brightness."""
        reached: Mask = self._radius < _RIM**2
        return reached

    @property
    def core(self) -> int:
        """Number of pixels of `core_mask`."""
        return int(np.count_nonzero(self.core_mask))

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
        radius = self._radius / np.float32(size * size)
        veil = np.float32(VEIL) * np.exp(-radius / np.float32(1.6))
        return cast("F32", np.float32(GAIN) * np.exp(-(radius**2)) + veil)

    def _spilled(self, glare: F32) -> F32:
        """The charge is white: what every band has above full well spills, so the darkest band decides."""
        return cast("F32", np.float32(LEAK) * spill(np.maximum(self._darkest + glare - 1, 0), SPREAD, self._along))


class Glint(NamedTuple):
    """All that is random about a glint: warp of the outlines, a direction per blob, moves of the pattern (TRIES, 2).

    gamma: display exponent of the image. along: axis of the spill, 0 = columns, 1 = range lines.
    """

    wobble: F32
    directions: F64
    moves: F64
    gamma: float
    along: int


def draw_glint(subject: Subject, stream: Stream, gamma: float, along: int) -> "AimedGlint":
    """Return a glint for a subject.

    Raises:
        InapplicableError: the base is a question about a region, is saturated already, or its targets are too large.

    """
    if subject.answer == "no":
        raise InapplicableError(Reason.WRONG_BASE, "saturation is aimed at instances, and this base has none")
    if float(keep_clear(subject.targets, subject.shape, 1.0, _PAD).mean()) > 0.25:
        raise InapplicableError(Reason.TARGET_TOO_LARGE, "the targets take more than a quarter of the image")
    coarse = (max(4, -(-subject.shape[0] // 4)), max(4, -(-subject.shape[1] // 4)))
    smooth, ragged = (power_law(stream.normal(coarse), beta, subject.shape) for beta in (2.4, 1.4))
    wobble = np.float32(1.1) * smooth + np.float32(0.3) * ragged
    directions = 2 * np.pi * stream.uniform((len(subject.targets),))
    glint = Glint(wobble, directions, 2 * stream.uniform((TRIES, 2)) - 1, gamma, along)
    light = to_light(subject.pixels, gamma)
    darkest = darkest_band(light)
    aimed = AimedGlint(subject, glint, light, darkest, darkest >= ((SATURATED - 0.5) / 255) ** gamma)
    if float(aimed.clipped.mean()) >= 0.01:
        raise InapplicableError(Reason.BASE_NOT_CLEAN, f"{aimed.clipped.mean():.3f} of the base is saturated already")
    return aimed


@dataclass(frozen=True)
class AimedGlint:
    """A drawn glint over a subject. light, darkest, clipped: its light, the darkest band of it, what is saturated."""

    subject: Subject
    glint: Glint
    light: F32
    darkest: F32
    clipped: Mask

    def shine(self, intensity: Intensity) -> tuple[U8, float, float]:
        """Return the image with the glint, how far its blobs slid (blob sizes) and their common size factor.

        Raises:
            InapplicableError: no free ground for LOW, or the saturated share cannot be made equal.

        """
        slide = {Intensity.LOW: 0.0, Intensity.HIGH: _JITTER}.get(intensity)
        if slide is None:
            slide = first(SLIDES, self._leaves_rim) or SLIDES[-1]
        places = self._moved() if intensity is Intensity.LOW else [self._placed(slide)]
        fitted = ((place, size) for place in places if (size := self._fitted(place)) is not None)
        bumps, size = next(fitted, (None, 0.0))
        if bumps is None:
            raise InapplicableError(Reason.UNEVEN_BUDGET, "the saturated share cannot be made equal everywhere")
        pattern = _Pattern(self.darkest, bumps, self.glint, reach=3.2 * _SIZES[-1])
        out = self.subject.pixels.copy()
        out[pattern.window] = from_light(pattern.lit(self.light, size), self.glint.gamma)
        return out, slide, size

    @cached_property
    def budget(self) -> int:
        """Number of saturated pixels that every intensity gets: those that blobs of size 1 over the targets reach."""
        centred = _Pattern(self.darkest, self._placed(_JITTER), self.glint, reach=_NEAR)
        return int(np.count_nonzero(self.clipped)) + centred.core

    def _leaves_rim(self, slide: float) -> bool:
        bumps = self._placed(slide)
        pattern = _Pattern(self.darkest, bumps, self.glint, reach=_NEAR)
        if not 0.8 < min(self._shares(pattern.window, pattern.core_mask)) < 1:
            return False  # far off the band: not worth a full rendering
        size = self._fitted(bumps)
        if size is None:
            return False
        shares = self._shares(pattern.window, pattern.saturated(size, self._code))
        return in_band("im_saturate", Intensity.MEDIUM, Measurement({"sat_fraction": [*shares]}), self.subject)

    def _fitted(self, bumps: Sequence[Bump]) -> float | None:
        """Size factor at which the glint saturates the budget, None when none does to 1 %."""
        pattern = _Pattern(self.darkest, bumps, self.glint, reach=_NEAR)
        elsewhere = int(np.count_nonzero(self.clipped)) - int(np.count_nonzero(self.clipped[pattern.window]))

        @cache
        def count(size: float) -> int:
            return elsewhere + int(np.count_nonzero(pattern.saturated(size, self._code)))

        size = _SIZES[min(bisect_left(_SIZES, self.budget, key=count), len(_SIZES) - 1)]
        return size if abs(count(size) / self.budget - 1) <= 0.01 else None

    def _shares(self, window: tuple[slice, slice], reached: Mask) -> list[float]:
        """Share of each target that is saturated when `reached` is what the window holds."""
        mask = self.clipped.copy()
        mask[window] |= reached
        return [float(np.mean(target.patch(self.subject.shape).of(mask))) for target in self.subject.targets]

    @property
    def _code(self) -> float:
        return float(((SATURATED - 0.5) / 255) ** self.glint.gamma)

    def _placed(self, slide: float) -> list[Bump]:
        """Blobs over the targets, each slid into its own direction by `slide` times its half axis / 1.35."""
        return [
            Bump(
                b.x + slide / 1.35 * b.half_width * math.cos(a),
                b.y + slide / 1.35 * b.half_height * math.sin(a),
                *b[2:],
            )
            for b, a in zip(_blobs(self.subject), self.glint.directions, strict=True)
        ]

    def _moved(self) -> list[list[Bump]]:
        """The blobs, moved as a whole to places where they miss all targets and stay inside the frame.

        Places where they hide as much as over the targets come first: plain ground would tell that nothing was lost.
        """
        subject, moves = self.subject, self.glint.moves
        (height, width), blobs = subject.shape, _blobs(subject)
        clear = keep_clear(subject.targets, subject.shape, 1.0, _PAD)
        distance = cv2.distanceTransform((~clear).astype(np.uint8), cv2.DIST_L2, 5)
        x, y, rx, ry = np.array(blobs).T[:, :, None]
        nx, ny = x + moves[:, 1] * width, y + moves[:, 0] * height
        inside = (nx >= _RIM * rx) & (nx < width - _RIM * rx) & (ny >= _RIM * ry) & (ny < height - _RIM * ry)
        gap = distance[np.clip(ny.astype(int), 0, height - 1), np.clip(nx.astype(int), 0, width - 1)]
        free = np.flatnonzero((inside & (gap > 1.6 * np.maximum(rx, ry))).all(axis=0))
        if not free.size:
            raise InapplicableError(Reason.NO_ROOM, "no free ground for the glint pattern")
        free = free[np.argsort(self._hidden_detail(nx[:, free], ny[:, free], rx, ry), kind="stable")]
        return [
            [b._replace(x=float(nx[i, place]), y=float(ny[i, place])) for i, b in enumerate(blobs)]
            for place in free[:8]
        ]

    def _hidden_detail(self, x: F64, y: F64, rx: F64, ry: F64) -> F64:
        """How far the detail under the blobs at each place (columns of x, y) is from that under them at the targets."""
        sums = detail_sums(self.subject.pixels)

        def under(x: F64, y: F64) -> F64:
            rows, columns = (
                [np.clip(np.rint(at + sign * reach), 0, length - 1).astype(np.intp) for sign in (-1, 1)]
                for at, reach, length in zip((y, x), (ry, rx), sums.shape, strict=True)
            )
            return cast("F64", sum_in(sums, rows[0], columns[0], rows[1], columns[1]).sum(axis=0))

        own = np.array(_blobs(self.subject)).T[:, :, None]
        return np.abs(under(x, y) - under(own[0], own[1]))


def _blobs(subject: Subject) -> list[Bump]:
    blobs = []
    for target in subject.targets:
        x0, y0, x1, y1 = target.bounds
        rx, ry = (1.35 * (0.6 * side + _PAD) for side in (x1 - x0, y1 - y0))
        blobs.append(Bump((x0 + x1) / 2, (y0 + y1) / 2, max(rx, ry / 2), max(ry, rx / 2)))
    return blobs
