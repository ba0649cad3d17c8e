"""The sun over a scene, and the shadow that something upright casts."""

import math
from dataclasses import dataclass

FLATTEST_DEG = 5.0
"""A lower sun is taken to stand here: typical heights and level ground say little about longer shadows."""


@dataclass(frozen=True)
class Sun:
    """Where the sun stands. azimuth_deg: clockwise from the image's up direction; elevation_deg: above the horizon.

    Raises: ValueError for an azimuth outside [0, 360) or an elevation outside (0, 90].
    """

    azimuth_deg: float
    elevation_deg: float

    def __post_init__(self) -> None:
        if not 0 <= self.azimuth_deg < 360:
            raise ValueError(
                f"azimuth_deg is {self.azimuth_deg:g}; give degrees clockwise from the image's up direction, [0, 360)"
            )
        if not 0 < self.elevation_deg <= 90:
            raise ValueError(f"elevation_deg is {self.elevation_deg:g}; give degrees above the horizon, (0, 90]")


@dataclass(frozen=True)
class Shadow:
    """A shadow on level ground. px: from the object's foot to the shadow's end, (x, y). cut: why it is not longer."""

    px: tuple[float, float]
    cut: str = ""


def shadow(sun: Sun, height_m: float, gsd_m: float, frame: tuple[int, int]) -> Shadow:
    """Return the shadow of something `height_m` tall, at most as long as the diagonal of the frame (width, height).

    >>> shadow(Sun(azimuth_deg=90, elevation_deg=45), 12, 0.5, (800, 800))
    Shadow(px=(-24.0, 0.0), cut='')
    """
    elevation = max(sun.elevation_deg, FLATTEST_DEG)
    length, longest = height_m / math.tan(math.radians(elevation)) / gsd_m, math.hypot(*frame)
    cut = "sun" if elevation > sun.elevation_deg else ""
    if length > longest:
        length, cut = longest, "frame"
    azimuth = math.radians(sun.azimuth_deg)
    x, y = (round(length * share, 3) + 0.0 for share in (-math.sin(azimuth), math.cos(azimuth)))
    return Shadow((x, y), cut)
