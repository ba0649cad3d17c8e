"""Painted radar scenes: speckled sea and one ship, with a wake behind it or without."""

from typing import Literal

import numpy as np

from georefusal_build.kernels.fields import power_law
from georefusal_build.kernels.tones import to_u8
from georefusal_build.streams import Stream
from georefusal_build.targets import Target

SIDE = 256
LOOKS = 4
Wake = Literal["none", "dark", "bright"]


def ship_at_sea(number: int, wake: Wake, strength_db: float = 3.0, uneven: float = 0.0) -> tuple[np.ndarray, Target]:
    """Return the image (amplitude) and the outline of its ship.

    uneven: relative sd of the sea's amplitude beside the speckle, patches of all sizes. strength_db: intensity of the
    wake's middle over, or under, that of the sea around; it is about a ship's width wide, two to four lengths long, and
    fades towards its edges and its end.
    """
    stream = Stream(4000 + number)
    shape = SIDE, SIDE
    sea = 1 + uneven * power_law(stream.normal(shape), 2.6, shape)
    angle, minor = stream.between(0, 2 * np.pi), stream.between(7, 13)
    major = minor * stream.between(3.5, 6)
    centre = np.array([stream.between(0.3, 0.7), stream.between(0.3, 0.7)]) * SIDE
    ahead = np.array([np.cos(angle), np.sin(angle)])
    aside = np.array([-ahead[1], ahead[0]])
    y, x = np.mgrid[:SIDE, :SIDE] + 0.5
    along = (x - centre[0]) * ahead[0] + (y - centre[1]) * ahead[1]
    across = (x - centre[0]) * aside[0] + (y - centre[1]) * aside[1]
    if wake != "none":
        behind, length = -along - major / 2, major * stream.between(2, 4)
        shape_of = np.exp(-((across / (0.4 * minor)) ** 2)) * np.clip(1 - behind / length, 0, 1) * (behind > 0)
        sea = sea * 10 ** ((strength_db if wake == "bright" else -strength_db) / 20 * shape_of)
    amplitude = 60 * sea * np.sqrt(stream.gamma(LOOKS, shape))
    hull = (np.abs(along) < major / 2) & (np.abs(across) < minor / 2)
    amplitude[hull] = 210 + 20 * stream.normal(shape)[hull]
    corners = [(1, 1), (1, -1), (-1, -1), (-1, 1)]
    points = [centre + a * major / 2 * ahead + b * minor / 2 * aside for a, b in corners]
    return to_u8(amplitude.astype(np.float32)), Target(tuple((float(px), float(py)) for px, py in points))
