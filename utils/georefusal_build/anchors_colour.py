"""Colour anchors: which colour an object has, and whether that colour can still be told from the others.

| field | of | unit | meaning |
|---|---|---|---|
| has_colour | instance | 0, 1 | its core has the asked colour |
| dE_full | instance | CIE76 | distance to the closest colour it could be mistaken for, all bands |
| dE_remaining | instance | CIE76 | the same in the bands that are left |
| chroma_left | image | C* | 95 % quantile of the finished image's chroma |
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple, cast

import cv2
import numpy as np

from georefusal_build.anchors import Measurement, Value
from georefusal_build.arrays import F32, U8
from georefusal_build.targets import Target


class Colour(NamedTuple):
    """A bin of colours. hue: CIELAB angles (from, to) in degrees, None if colourless; typical: an sRGB value."""

    hue: tuple[float, float] | None
    typical: tuple[int, int, int]

    @property
    def band(self) -> str:
        """The band that it is strongest in, R, G or B; "" if colourless."""
        return "" if self.hue is None else "RGB"[self.typical.index(max(self.typical))]


COLOURS = {
    "red": Colour((-20, 45), (178, 62, 52)),
    "brown": Colour((45, 85), (150, 104, 62)),
    "green": Colour((105, 190), (70, 128, 70)),
    "blue": Colour((215, 315), (60, 98, 170)),
    "white": Colour(None, (232, 232, 232)),
    "grey": Colour(None, (128, 128, 128)),
}
"""The bins of the design, with orange in brown."""

CHROMA = 20.0
"""Chroma from which a pixel has a hue."""
SHARE = 0.6
"""Share of an object's core that must lie in one bin."""
CORE = 0.7
"""Share of an object's rectangle, across and along, that is its core."""
_WHITE_L = 80.0


def to_lab(rgb: U8 | F32) -> F32:
    """Return CIELAB (D65) of sRGB values 0..255, shape (n, 3)."""
    values = np.asarray(rgb, dtype=np.float32).reshape(1, -1, 3) / np.float32(255)
    return cast("F32", cv2.cvtColor(values, cv2.COLOR_RGB2Lab)[0])


def colour_of(rgb: U8) -> str | None:
    """Return the bin that holds at least 60 % of the pixels (n, 3), None when none does.

    >>> colour_of(np.full((9, 3), (60, 98, 170), np.uint8))
    'blue'
    """
    lab = to_lab(rgb)
    chroma, hue = np.hypot(lab[:, 1], lab[:, 2]), np.degrees(np.arctan2(lab[:, 2], lab[:, 1]))
    for name, colour in COLOURS.items():
        if colour.hue is None:
            white = lab[:, 0] >= _WHITE_L
            inside = (chroma < CHROMA / 2) & (white if name == "white" else ~white)
        else:
            low, high = colour.hue
            inside = (chroma >= CHROMA) & ((hue - low) % 360 < high - low)
        if float(np.mean(inside)) >= SHARE:
            return name
    return None


def colour_anchors(
    pixels: U8, targets: Sequence[Target], asked: str, reduce: Callable[[U8], U8], *, reduced: bool
) -> Measurement:
    """Return the colour anchors of a question about a colour.

    An instance of the asked colour must be told from every other bin, any other one from the asked colour; these are
    taken at the instance's own luma, so that brightness alone settles nothing. reduce: what takes the bands away;
    reduced: whether it was applied.
    """
    shape = pixels.shape[0], pixels.shape[1]
    per_instance: dict[str, list[Value]] = {"has_colour": [], "dE_full": [], "dE_remaining": []}
    for target in targets:
        core = target.grown(CORE).patch(shape).of(pixels)
        own = colour_of(core) if core.size else None
        if own is None:
            for values in per_instance.values():
                values.append(None)
            continue
        mean = core.reshape(-1, 3).mean(axis=0)
        rivals = [name for name in COLOURS if name != asked] if own == asked else [asked]
        full = min(_distance(mean, name, lambda rgb: rgb) for name in rivals)
        left = min(_distance(mean, name, reduce) for name in rivals) if reduced else full
        for name, value in (("has_colour", float(own == asked)), ("dE_full", full), ("dE_remaining", left)):
            per_instance[name].append(value)
    finished = to_lab(reduce(pixels) if reduced else pixels)
    return Measurement(
        per_instance, {"chroma_left": float(np.percentile(np.hypot(finished[:, 1], finished[:, 2]), 95))}
    )


def _distance(mean: F32, name: str, reduce: Callable[[U8], U8]) -> float:
    """CIE76 distance of a colour and a bin's typical colour at the same luma, both after `reduce`."""
    weights = np.array([0.299, 0.587, 0.114])
    typical = np.array(COLOURS[name].typical, dtype=np.float64)
    rival = typical * float(mean @ weights) / float(typical @ weights)
    pair = np.clip(np.rint(np.stack([mean, rival])), 0, 255).astype(np.uint8)
    first, second = to_lab(reduce(pair[None]).reshape(-1, 3)).astype(np.float64)
    return float(np.linalg.norm(first - second))
