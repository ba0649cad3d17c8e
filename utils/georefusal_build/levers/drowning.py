"""Ways to drown evidence: each draws its noise once and renders it at any level of a ladder."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from georefusal_build.anchors import RING, Measurement, peak_margin_db
from georefusal_build.anchors_scan import scan_z
from georefusal_build.arrays import U8
from georefusal_build.kernels import noise, radar
from georefusal_build.kernels.tones import luma
from georefusal_build.levers.registry import Subject
from georefusal_build.outcomes import InapplicableError, Json, Reason
from georefusal_build.streams import Stream
from georefusal_build.targets import ring
from georefusal_task.core.records import Intensity

PLAIN_Z = 5.0
"""scan_z from which a target stands out. Source: the Rose model puts reliable detection at a signal-to-noise of 5."""


class Drowning(NamedTuple):
    """render: the image at a level. usual: the level that every item of the base gets if it can.

    mild, ladder: levels to fall back on, for LOW and (rising) for the refusals; they make noise tell the label, so
    provenance says it. params: what was drawn, and the scale that pixels are taken to have: "amplitude" (DN grows with
    the square root of power), "display" (DN is light to the power 1 / 2.2) or "dn" (nothing is assumed).
    """

    render: Callable[[float], U8]
    usual: float
    mild: Sequence[float]
    ladder: Sequence[float]
    params: dict[str, Json]

    def levels(self, intensity: Intensity) -> list[float]:
        """Return the levels to try, in order."""
        return [self.usual, *(self.mild if intensity is Intensity.LOW else self.ladder)]


def speckle_floor(subject: Subject, stream: Stream) -> Drowning:
    """Return noise floors in dB over the scene's median, with fresh speckle of 1, 2 or 4 looks."""
    usual, looks = stream.choice((14.0, 15.0, 16.0)), stream.choice((1, 2, 4))
    factors = stream.gamma(looks, subject.pixels.shape).astype(np.float32)
    ladder = [float(level) for level in range(6, 37, 2)]
    params: dict[str, Json] = {"scale": "amplitude", "looks": looks}
    return Drowning(lambda level: noise.add_speckle(subject.pixels, level, factors), usual, [-10.0], ladder, params)


def sensor_noise(subject: Subject, stream: Stream) -> Drowning:
    """Return full wells in electrons, with a read noise of 2 electrons."""
    usual = stream.choice((40.0, 60.0, 90.0))
    shot, dark = (stream.normal(subject.pixels.shape) for _ in range(2))
    ladder = [4000 / 2 ** (step / 2) for step in range(16)]
    params: dict[str, Json] = {"scale": "display", "read_electrons": 2.0}
    return Drowning(
        lambda well: noise.sensor_noise(subject.pixels, well, 2.0, shot, dark), usual, [4000.0], ladder, params
    )


def haze(subject: Subject, stream: Stream) -> Drowning:
    """Return transmissions of a haze, recorded by a sensor with 2 DN of grain."""
    usual, airlight = stream.choice((0.10, 0.15, 0.20)), stream.between(190, 235)
    grain = np.float32(2) * stream.normal(subject.shape)

    def render(transmission: float) -> U8:
        return noise.add_grain(noise.haze(subject.pixels, transmission, airlight).astype(np.float32), grain)

    params: dict[str, Json] = {"scale": "dn", "airlight": airlight}
    return Drowning(render, usual, [0.6], [0.5, 0.4, 0.3, 0.2, 0.15, 0.1, 0.07, 0.05], params)


def stripe(subject: Subject, stream: Stream) -> Drowning:
    """Return sds of a per-column gain, with an offset of 100 DN times that sd."""
    usual = stream.choice((0.06, 0.10, 0.15))
    gains, offsets = stream.normal((subject.shape[1],)), stream.normal((subject.shape[1],))

    def render(sd: float) -> U8:
        return noise.stripes(subject.pixels, 1 + sd * gains, 100 * sd * offsets)

    return Drowning(render, usual, [0.02], [0.04, 0.06, 0.08, 0.10, 0.13, 0.16, 0.20, 0.25], {"scale": "dn"})


AMBIGUITY_M = 5300.0
"""Distance of the first ambiguity along the track, metres: wavelength * range * pulse rate / (2 * speed).

Source: Sentinel-1-like figures, 0.0555 m, 850 km, 1700 Hz and 7500 m/s.
"""


def az_ambiguity(subject: Subject, stream: Stream) -> Drowning:
    """Return levels of azimuth ambiguities in dB; where the sampling is unknown they lie at a drawn distance.

    Raises:
        InapplicableError: of known sampling, the ghosts fall outside the image.

    """
    usual, share = stream.choice((-16.0, -14.0, -12.0)), stream.between(0.12, 0.35)
    rows = round(share * subject.shape[0] if subject.gsd_m is None else AMBIGUITY_M / subject.gsd_m)
    if not 1 <= rows < subject.shape[0]:
        raise InapplicableError(Reason.NO_ROOM, f"ghosts lie {rows} rows away, the image has {subject.shape[0]}")
    ladder = [float(level) for level in range(-25, -11, 1)]
    params: dict[str, Json] = {
        "scale": "amplitude",
        "rows": rows,
        "rows_from": "draw" if subject.gsd_m is None else "gsd",
    }
    return Drowning(lambda level: radar.ghosts(subject.pixels, rows, level), usual, [-25.0], ladder, params)


DROWNINGS: dict[str, Callable[[Subject, Stream], Drowning]] = {
    "speckle_floor": speckle_floor,
    "sensor_noise": sensor_noise,
    "haze": haze,
    "stripe": stripe,
    "az_ambiguity": az_ambiguity,
}


class Contrast:
    """Measures whether the targets of a subject still stand out; before: their scan_z on the clean image."""

    def __init__(self, subject: Subject) -> None:
        self._targets = subject.targets
        self._clean, self._before = subject.pixels, _clean_contrast(subject)
        self._patches = [target.patch(subject.shape) for target in subject.targets]
        self._rings = [ring(target, subject.shape, RING) for target in subject.targets]
        self.measured = Measurement()
        """What was measured last."""

    def measure(self, pixels: U8) -> Measurement:
        """Return scan_z and peak margin of a rendered image."""
        values = luma(pixels)
        pairs = zip(self._patches, self._rings, strict=True)
        margins = [peak_margin_db(inside.of(values), around.of(values)) for inside, around in pairs]
        after = self._before if pixels is self._clean else scan_z(pixels, self._targets)
        self.measured = Measurement({"scan_z": after, "scan_z_before": self._before, "peak_margin_db": margins})
        return self.measured


def _clean_contrast(subject: Subject) -> list[float | None]:
    """Return the scan_z of every target on the clean image.

    Raises:
        InapplicableError: a target does not stand out there: nobody could tell whether the noise or the scene hides it.

    """
    before = scan_z(subject.pixels, subject.targets)
    if any(z is None for z in before):
        raise InapplicableError(Reason.TARGET_TOO_LARGE, "fewer than 12 background boxes of a target's size")
    faint = min(z for z in before if z is not None)
    if faint < PLAIN_Z:
        raise InapplicableError(Reason.TARGET_TOO_FAINT, f"a target's scan_z is {faint:.1f} before, it needs {PLAIN_Z}")
    return before
