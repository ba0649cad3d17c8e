"""Clouds that are aimed: pulled towards the targets and away from decoys (MEDIUM, HIGH), or the other way (LOW)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, cast

import cv2
import numpy as np

from georefusal_build.anchors import RING, Measurement, Value, visibility
from georefusal_build.arrays import F32, F64, U8, Shape
from georefusal_build.kernels.blocks import detail_sums
from georefusal_build.kernels.cloud import cast_shadow, cover_edge, cover_with, relief, transmission
from georefusal_build.kernels.fields import Bump, bumps_field, power_law
from georefusal_build.kernels.tones import brightest_band, darkest_band
from georefusal_build.levers.placing import TRIES, Alike, block_over, detail_under, keep_clear, place_apart
from georefusal_build.levers.registry import Subject
from georefusal_build.levers.search import first, in_band
from georefusal_build.outcomes import InapplicableError, Reason
from georefusal_build.streams import Stream
from georefusal_build.targets import Target, evidence, ring, union
from georefusal_task.core.records import Intensity

COVER = (0.15, 0.50)
PULLS = (1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 6.0, 8.0, 12.0)
"""How strongly the targets attract cloud; the first one that reaches the band is used."""

_PAD = 6.0
_REACH = {"yes": {Intensity.MEDIUM: 1.7, Intensity.HIGH: 3.4}, "no": {Intensity.MEDIUM: 1.1, Intensity.HIGH: 1.4}}
"""Size of the bumps, in target sizes; a region asked about on a no base is large already."""
_CLEARING = {"yes": 1.8, "no": 1.4}
"""Size of the dents that keep cloud away."""
_APART = {"yes": 2.0, "no": 1.0}
"""How far around a target no decoy lies, in target sizes."""

CLEAR_AIR, SPARED = 0.9, 0.98
"""Transmission of clear air, and how much of a thing has to lie in it to be spared."""


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


@dataclass(frozen=True)
class AimedSky:
    """A drawn sky over a subject. decoys: as many as there are targets, and of their sizes.

    Every intensity covers one of the two and spares the other, or gaps in the cloud would tell of an answer.
    """

    subject: Subject
    look: Sky
    draw: Draw
    decoys: tuple[Target, ...]

    def settle(self, intensity: Intensity) -> tuple[F32, float]:
        """Return the transmission of the first pull that covers the one and spares the other, and that pull.

        Raises:
            InapplicableError: no pull does both.

        """
        targets, decoys = self.subject.targets, self.decoys
        if intensity is Intensity.LOW:
            return self._search(self.draw.aim, covered=decoys, spared=targets)
        return self._search(intensity, covered=targets, spared=decoys)

    def render(self, through: F32) -> U8:
        """Return the image under the cloud and its shadow; the brightest cloud stays below the saturation code."""
        pixels, look = self.subject.pixels, self.look
        shade = cast_shadow(through, self.draw.sun, look.shadow, blur=3.0)
        colour = (np.mean(look.colour),) if pixels.ndim == 2 else look.colour
        tops = 6 * self.draw.texture + 14 * relief(through, self.draw.sun)
        bright = [np.clip(tops + np.float32(dn), 170, 248) for dn in colour]
        return cover_with(pixels, through, shade, cast("F32", cv2.merge(bright)))

    def _search(self, aim: Intensity, *, covered: Sequence[Target], spared: Sequence[Target]) -> tuple[F32, float]:
        subject, wobble = self.subject, self.draw.wobble
        swept = covered if subject.shadow_px is None else [evidence(one, subject.shadow_px) for one in covered]
        lure = bumps_field(subject.shape, _bumps(swept, _REACH[subject.answer][aim], _PAD), wobble)
        dent = bumps_field(subject.shape, _bumps(spared, _CLEARING[subject.answer], 2 * _PAD), wobble)
        hidden = _Hidden(covered, subject)
        gaps = [target.patch(subject.shape) for target in spared]

        def good(pull: float) -> bool:
            through = self._through(lure - dent, pull, step=2)
            return in_band("im_occlude", aim, hidden.measure(through), subject) and all(
                float(np.mean(gap.of(through) >= CLEAR_AIR)) >= SPARED for gap in gaps
            )

        pull = first(PULLS, good)
        if pull is None:
            raise InapplicableError(Reason.UNEVEN_BUDGET, "no cloud of this cover hides one place and spares another")
        return self._through(lure - dent, pull), pull

    def _through(self, aim: F32, pull: float, step: int = 1) -> F32:
        """Transmission; step 2 estimates the edge on every second pixel: exact enough to choose a pull by."""
        score = self.draw.noise + np.float32(pull) * aim
        edge = cover_edge(score[::step, ::step], self.draw.cover, self.look.softness)
        return transmission(score, edge, self.look.tau_max)


class _Hidden:
    """Measures, on targets or decoys, all that the label of a refusal rests on."""

    def __init__(self, things: Sequence[Target], subject: Subject) -> None:
        self._patches = [one.patch(subject.shape) for one in things]
        self._around = [ring(one, subject.shape, RING) for one in things]
        self._swept = [evidence(one, subject.shadow_px).patch(subject.shape) for one in things]
        self._n_eff: list[Value] = [one.minor for one in things]

    def measure(self, through: F32) -> Measurement:
        """Return the anchors under a cloud of this transmission."""
        seen = visibility(through, self._patches, self._around)
        swept = visibility(through, self._swept, self._around)["visible_fraction"]
        return Measurement(seen | {"evidence_visible": swept, "n_eff": self._n_eff}, {"nominal_fits": 1.0})


def _decoys(subject: Subject, spots: F64) -> tuple[Target, ...]:
    """What stands for the targets: blocks of their sizes with as much to see; for a region the one opposite to it."""
    boxes = [target.bounds for target in subject.targets]
    taken = keep_clear(subject.targets, subject.shape, _APART[subject.answer], _PAD)
    if subject.answer == "no":
        height, width = subject.shape
        opposite = tuple(Target.box(width - x1, height - y1, width - x0, height - y0) for x0, y0, x1, y1 in boxes)
        if not (union(subject.targets, subject.shape) & union(opposite, subject.shape)).any():
            return opposite
    sizes = [(max(1, round(x1 - x0)), max(1, round(y1 - y0))) for x0, y0, x1, y1 in boxes]
    sums = detail_sums(subject.pixels)
    over = [block_over(box, size, (0.0, 0.0), subject.shape) for box, size in zip(boxes, sizes, strict=True)]
    placed = place_apart(sizes, taken, spots, Alike(sums, [detail_under(sums, block) for block in over]))
    return tuple(Target.box(b.x, b.y, b.x + b.width, b.y + b.height) for b in placed)


def draw_sky(subject: Subject, stream: Stream, sky: Sky) -> AimedSky:
    """Return a sky whose cover leaves room for the targets.

    Raises:
        InapplicableError: the targets take more than 0.6 of the largest cover, the base is cloudy already, or there is
            no room for decoys.

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
    return AimedSky(subject, sky, Draw(cover, noise, texture, wobble, sun, aim), _decoys(subject, spots))


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
