"""Clouds that are aimed: pulled towards the targets (MEDIUM, HIGH), or towards decoys and away from them (LOW)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import cv2
import numpy as np

from georefusal_build.anchors import RING, Measurement, Value, visibility
from georefusal_build.arrays import F32, F64, U8, Shape
from georefusal_build.kernels.blocks import detail_sums
from georefusal_build.kernels.cloud import cast_shadow, cover_edge, cover_with, relief, transmission
from georefusal_build.kernels.fields import Bump, bumps_field, power_law
from georefusal_build.kernels.tones import brightest_band, darkest_band, per_band
from georefusal_build.levers.placing import TRIES, Alike, block_over, detail_under, keep_clear, place_apart
from georefusal_build.levers.registry import Subject
from georefusal_build.levers.search import first, in_band
from georefusal_build.outcomes import InapplicableError, Reason
from georefusal_build.streams import Stream
from georefusal_build.targets import Target, ring
from georefusal_task.core.records import Intensity

COVER = (0.15, 0.50)
PULLS = (1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 6.0, 8.0, 12.0)
"""How strongly the targets attract cloud; the first one that reaches the band is used."""

_PAD = 6.0
_REACH = {"yes": {Intensity.MEDIUM: 1.7, Intensity.HIGH: 3.4}, "no": {Intensity.MEDIUM: 1.1, Intensity.HIGH: 1.4}}
"""Size of the bumps, in target sizes; a region asked about on a no base is large already."""


class Sky(NamedTuple):
    """How a kind of cloud looks: spectral slope (from, to), optical depth, softness of its border, DN, shadow."""

    beta: tuple[float, float]
    tau_max: float
    softness: float
    colour: tuple[float, float, float]
    shadow: float


SKIES = {
    "cloud": Sky((2.8, 3.4), 5.0, 0.30, (226, 227, 229), 0.45),
    "smoke": Sky((3.0, 3.6), 3.0, 0.40, (200, 195, 185), 0.20),
    "radar_shadow": Sky((2.8, 3.4), 5.0, 0.01, (0, 0, 0), 0.0),
    "layover": Sky((2.8, 3.4), 5.0, 0.01, (0, 0, 0), 0.0),
    "haze_bank": Sky((4.0, 4.0), 5.0, 0.60, (224, 227, 231), 0.15),
}


class Draw(NamedTuple):
    """All that is random about a sky, the same for LOW, MEDIUM and HIGH; aim: which of those two LOW mimics."""

    cover: float
    noise: F32
    texture: F32
    wobble: F32
    sun: tuple[float, float]
    aim: Intensity
    spots: F64


@dataclass(frozen=True)
class AimedSky:
    """A drawn sky over a subject."""

    subject: Subject
    look: Sky
    draw: Draw

    def settle(self, intensity: Intensity) -> tuple[F32, float]:
        """Return the transmission of the first pull that reaches the band, or of the last one, and that pull."""
        if intensity is not Intensity.LOW:
            return self._search(intensity, self._towards(intensity), PULLS)
        _, pull = self._search(self.draw.aim, self._towards(self.draw.aim), PULLS)
        return self._search(intensity, self._away(), PULLS[PULLS.index(pull) :])

    def render(self, through: F32) -> U8:
        """Return the image under the cloud and its shadow; the brightest cloud stays below the saturation code."""
        pixels, look = self.subject.pixels, self.look
        shade = cast_shadow(through, self.draw.sun, look.shadow, blur=3.0)
        colour = np.float32(np.mean(look.colour)) if pixels.ndim == 2 else np.array(look.colour, dtype=np.float32)
        tops = 6 * self.draw.texture + 14 * relief(through, self.draw.sun)
        bright = np.clip(per_band(tops, pixels) + colour, 170, 248)
        return cover_with(pixels, through, shade, bright)

    def _search(self, intensity: Intensity, aim: F32, pulls: Sequence[float]) -> tuple[F32, float]:
        subject = self.subject
        patches = [target.patch(subject.shape) for target in subject.targets]
        around = [ring(target, subject.shape, RING) for target in subject.targets]
        known: dict[str, list[Value]] = {"n_eff": [target.minor for target in subject.targets]}

        def good(pull: float) -> bool:
            seen = known | visibility(self._through(aim, pull, step=2), patches, around)
            return in_band("im_occlude", intensity, Measurement(seen, {"nominal_fits": 1.0}), subject)

        found = first(pulls, good)
        pull = pulls[-1] if found is None else found
        return self._through(aim, pull), pull

    def _through(self, aim: F32, pull: float, step: int = 1) -> F32:
        """Transmission; step 2 estimates the edge on every second pixel: exact enough to choose a pull by."""
        score = self.draw.noise + np.float32(pull) * aim
        edge = cover_edge(score[::step, ::step], self.draw.cover, self.look.softness)
        return transmission(score, edge, self.look.tau_max)

    def _towards(self, intensity: Intensity) -> F32:
        subject = self.subject
        bumps = _bumps(subject.targets, _REACH[subject.answer][intensity], _PAD)
        return bumps_field(subject.shape, bumps, self.draw.wobble)

    def _away(self) -> F32:
        """Bumps over decoys of the targets' sizes (smaller ones for a region), and a dent over the targets."""
        subject, wobble = self.subject, self.draw.wobble
        boxes = [target.bounds for target in subject.targets]
        share, far, spread = (1.0, 2.0, 2.2) if subject.answer == "yes" else (0.75, 1.0, 1.4)
        sizes = [(max(1, round(share * (x1 - x0))), max(1, round(share * (y1 - y0)))) for x0, y0, x1, y1 in boxes]
        taken = keep_clear(subject.targets, subject.shape, far, _PAD)
        sums = detail_sums(subject.pixels)
        over = [block_over(box, size, (0.0, 0.0), subject.shape) for box, size in zip(boxes, sizes, strict=True)]
        alike = Alike(sums, [detail_under(sums, block) for block in over])
        decoys = [
            Target.box(b.x, b.y, b.x + b.width, b.y + b.height)
            for b in place_apart(sizes, taken, self.draw.spots, alike)
        ]
        lure = bumps_field(subject.shape, _bumps(decoys, _REACH[subject.answer][self.draw.aim] / share, _PAD), wobble)
        return lure - 2 * bumps_field(subject.shape, _bumps(subject.targets, spread, 2 * _PAD), wobble)


def draw_sky(subject: Subject, stream: Stream, sky: Sky) -> AimedSky:
    """Return a sky whose cover leaves room for the targets.

    Raises:
        InapplicableError: the targets take more than 0.6 of the largest cover, or the base is cloudy already.

    """
    white = _white_share(subject.pixels) if subject.modality == "optical" else 0.0
    if white >= 0.02:
        raise InapplicableError(Reason.BASE_NOT_CLEAN, f"{white:.3f} of the base is as bright and colourless as cloud")
    least = float(keep_clear(subject.targets, subject.shape, 1.0, _PAD).mean()) / 0.6
    if least > COVER[1]:
        raise InapplicableError(Reason.TARGET_TOO_LARGE, f"the targets need a cloud cover of {least:.2f}")
    cover = stream.between(max(COVER[0], least), COVER[1])
    beta, angle, height = stream.between(*sky.beta), stream.between(0, 2 * np.pi), stream.between(18, 48)
    fields = (
        power_law(stream.normal(_coarse(subject.shape, n)), b, subject.shape)
        for n, b in ((2, beta), (4, 2.4), (4, 2.6))
    )
    noise, texture, wobble = fields
    aim = stream.choice((Intensity.MEDIUM, Intensity.HIGH))
    spots = stream.uniform((len(subject.targets), TRIES, 2))
    sun = height * float(np.cos(angle)), height * float(np.sin(angle))
    return AimedSky(subject, sky, Draw(cover, noise, texture, wobble, sun, aim, spots))


def _bumps(targets: Sequence[Target], factor: float, pad: float) -> list[Bump]:
    boxes = (target.bounds for target in targets)
    return [
        Bump((x0 + x1) / 2, (y0 + y1) / 2, *(factor * max(side, 0.6 * other) / 2 + pad for side, other in sides))
        for x0, y0, x1, y1 in boxes
        for sides in [((x1 - x0, y1 - y0), (y1 - y0, x1 - x0))]
    ]


def _white_share(pixels: U8) -> float:
    """Share of the image in bright, colourless areas; single roofs, boats and trunks average out with the ground."""
    dark, bright = (cv2.blur(band, (15, 15)) for band in (darkest_band(pixels), brightest_band(pixels)))
    return float(np.mean((dark >= 200) & (cv2.subtract(bright, dark) <= 20)))


def _coarse(shape: Shape, step: int) -> Shape:
    return max(4, -(-shape[0] // step)), max(4, -(-shape[1] // step))
