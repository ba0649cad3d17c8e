"""What can be taken for granted about objects and pictures, and whether it is so.

Every function returns a `Claimed`, or None where the annotation or the pixels cannot tell.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from georefusal_build import geometry as geo
from georefusal_build.arrays import U8
from georefusal_build.geometry import Frame
from georefusal_build.kernels.tones import brightest_band, darkest_band, luma
from georefusal_build.question_tables import Claim
from georefusal_build.scenes import Instance, Modality
from georefusal_build.targets import Target, ring

Found = tuple[Instance, ...]


@dataclass(frozen=True)
class Claimed:
    """Whether something taken for granted holds, with the figures that say how clearly.

    tags: which figures count. to_confirm: what verifiers have to agree on beside.
    """

    true: bool
    figures: dict[str, float]
    variant: str = ""
    tags: frozenset[str] = frozenset()
    to_confirm: tuple[str, ...] = ()


@dataclass(frozen=True)
class Look:
    """What clauses about an object may look at beside its outline. is_round: its class is a circle by nature."""

    frame: Frame
    pixels: U8 | None = None
    is_round: bool = False


# clauses about objects of one class

_CIRCLE = 5 / 3
"""Aspect between what may count as roughly circular and what may not."""
_LONG = 3.0
"""Aspect that the wording of "elongated" names."""


def _ratio(value: float, limit: float, unsure: float = 0.0) -> Claimed:
    """Compare two sizes. unsure: what the log ratio could be off by; it is taken off its strength."""
    exact = math.log(max(value, 1e-9) / max(limit, 1e-9))
    signed = math.copysign(max(0.0, abs(exact) - unsure), exact)
    return Claimed(exact >= 0, {"premise_log": signed}, tags=frozenset({"ratio"}))


def _larger(found: Found, look: Look, side: str) -> Claimed | None:
    """Of two objects, is the one on this side the larger?"""
    if len(found) != 2:
        return None
    (first, second), room = _from_side(found, look.frame, side)
    return _ratio(first.area, second.area, _hidden(found, look)) if room else None


def _smallest(found: Found, look: Look, side: str) -> Claimed | None:
    """Of several objects, is the one nearest this edge the smallest?"""
    if not 3 <= len(found) <= 6:
        return None
    order, room = _from_side(found, look.frame, side)
    return _ratio(min(one.area for one in order[1:]), order[0].area, _hidden(found, look)) if room else None


def _hidden(found: Found, look: Look) -> float:
    """How far off a ratio of areas may be: an upright box around a slanted object has up to twice its area."""
    return 0.0 if look.is_round or all(one.oriented for one in found) else math.log(2)


def _from_side(found: Found, frame: Frame, side: str) -> tuple[list[Instance], bool]:
    """The objects from this side on, and whether the first is clearly the first: by 5 % of the frame."""
    axis = 0 if side in ("left", "right") else 1
    sign = 1 if side in ("left", "upper") else -1

    def place(one: Instance) -> float:
        return sign * (one.bounds[axis] + one.bounds[axis + 2]) / 2

    order = sorted(found, key=place)
    return order, place(order[1]) - place(order[0]) >= 0.05 * frame[axis]


def _circular(found: Found, look: Look, _: str) -> Claimed | None:
    """A square outline may hold anything, so only classes that are round by nature count as circular."""
    if len(found) != 1 or (not look.is_round and geo.aspect(found[0]) < 2):
        return None
    return _ratio(_CIRCLE, geo.aspect(found[0]))


def _elongated(found: Found, look: Look, _: str) -> Claimed | None:
    """An upright box can hide a slanted long object, but cannot make one longer than it is."""
    if len(found) != 1:
        return None
    aspect = geo.aspect(found[0])
    return _ratio(aspect, _LONG) if found[0].oriented or look.is_round or aspect >= _LONG else None


def _aligned(found: Found, _look: Look, _: str) -> Claimed | None:
    """An upright box of aspect 4 cannot hold an object more than 15 degrees off an axis."""
    if len(found) != 1 or geo.aspect(found[0]) < (2 if found[0].oriented else 4):
        return None
    tilt = geo.tilt(found[0])
    return Claimed(tilt < 22.5, {"premise_tilt": tilt}, tags=frozenset({"angle"}))


def _bright(found: Found, look: Look, _: str) -> Claimed | None:
    """Mean luma on the object against that of the ring around it."""
    if len(found) != 1 or look.pixels is None:
        return None
    light, target = luma(look.pixels), Target(found[0].polygon)
    shape = light.shape[0], light.shape[1]
    inside, outside = (patch.of(light) for patch in (target.patch(shape), ring(target, shape, (1.3, 2.2))))
    if not inside.size or not outside.size:
        return None
    signed = float(inside.mean(dtype=np.float64) - outside.mean(dtype=np.float64))
    return Claimed(signed > 0, {"premise_dn": signed}, tags=frozenset({"brightness"}))


ATTRIBUTES: dict[str, Callable[[Found, Look, str], Claimed | None]] = {
    "larger": _larger,
    "smallest": _smallest,
    "circular": _circular,
    "elongated": _elongated,
    "aligned": _aligned,
    "bright": _bright,
}
"""Clauses about one class. The figure is a log ratio, an angle or a difference in luma; above 0 the clause is true."""


# clauses about an object of one class (A) and one or two of another (D)


def _related(true: bool, miss: float, *, converse: bool = False) -> Claimed:
    """miss: how far A is from making it true, in its own lengths. converse: the reverse relation holds."""
    return Claimed(true, {"miss_lengths": miss, "converse": float(converse), "gross": max(miss / 10, float(converse))})


def _lengths(a: Instance, d: Instance) -> float:
    return geo.gap(a, d) / a.sides[1]


def _share_in(inner: Instance, outer: Instance) -> float:
    return float(inner.shape.intersection(outer.shape).area) / inner.area


def _touches(a: Instance, d: Instance) -> Claimed | None:
    true = geo.gap(a, d) <= 2 and a.oriented and d.oriented  # upright boxes touch before objects do
    return _related(true, _lengths(a, d))


def _inside(a: Instance, d: Instance) -> Claimed | None:
    true = _share_in(a, d) >= 0.95 and d.oriented
    return _related(true, _lengths(a, d), converse=_share_in(d, a) >= 0.95 and a.oriented)


def _near(a: Instance, d: Instance) -> Claimed | None:
    return _related(_lengths(a, d) <= 0.5, _lengths(a, d))


def _above(a: Instance, d: Instance) -> Claimed | None:
    (ax0, ay0, ax1, ay1), (dx0, dy0, dx1, dy1) = a.bounds, d.bounds
    beside = max(ax0 - dx1, dx0 - ax1)
    lined_up = abs(ax0 + ax1 - dx0 - dx1) / 2 <= 0.25 * (ax1 - ax0 + dx1 - dx0)
    true, converse = lined_up and ay1 <= dy0, lined_up and dy1 <= ay0
    if not (true or converse) and beside <= 0:
        return None
    return _related(true, max(0.0, beside) / a.sides[1], converse=converse)


def _opposite(a: Instance, d: Instance, frame: Frame) -> Claimed | None:
    """Outer thirds of the frame, across or down; D must lie in one for the words to have a meaning."""
    ways = []
    for axis, side in enumerate(frame):
        at_a, at_d = a.centre[axis] / side, d.centre[axis] / side
        if abs(at_d - 0.5) > 1 / 6:
            ways.append(max(0.0, (2 / 3 - at_a) if at_d < 0.5 else (at_a - 1 / 3)) * side)
    return _related(min(ways) == 0, min(ways) / a.sides[1]) if ways else None


def _between(a: Instance, first: Instance, second: Instance) -> Claimed | None:
    at, off = _along(a.centre, first.centre, second.centre)
    true = 0.25 <= at <= 0.75 and off <= 0.25
    if not true and 0 <= at <= 1:
        return None
    ends = [math.dist(a.centre, one.centre) for one in (first, second)]
    reverse = any(
        0.25 <= t <= 0.75 and o <= 0.25
        for t, o in (_along(first.centre, a.centre, second.centre), _along(second.centre, a.centre, first.centre))
    )
    return _related(true, 0.0 if true else min(ends) / a.sides[1], converse=reverse)


def _along(point: tuple[float, float], start: tuple[float, float], end: tuple[float, float]) -> tuple[float, float]:
    """Where a point lies along a line (0 = start, 1 = end) and how far off it, both in units of the line's length."""
    (px, py), (sx, sy), (ex, ey) = point, start, end
    dx, dy = ex - sx, ey - sy
    square = max(dx * dx + dy * dy, 1e-9)
    return ((px - sx) * dx + (py - sy) * dy) / square, abs((px - sx) * dy - (py - sy) * dx) / square


def _one_of_each(clause: Callable[[Instance, Instance], Claimed | None]) -> Callable[..., Claimed | None]:
    def judged(first: Found, second: Found, _: Frame) -> Claimed | None:
        return clause(first[0], second[0]) if len(first) == len(second) == 1 else None

    return judged


RELATIONS: dict[str, Callable[[Found, Found, Frame], Claimed | None]] = {
    "touches": _one_of_each(_touches),
    "inside": _one_of_each(_inside),
    "near": _one_of_each(_near),
    "above": _one_of_each(_above),
    "opposite": lambda a, d, frame: _opposite(a[0], d[0], frame) if len(a) == len(d) == 1 else None,
    "between": lambda a, d, _: _between(a[0], *d) if (len(a), len(d)) == (1, 2) else None,
}
"""Clauses about A and D; `miss_lengths` is how far A would have to move to make them true, in its own lengths."""


# claims about the picture as a whole

COLOURFUL = 15.0
"""Colourfulness from which a picture is in colour. Source: the generator's design; the scale is that of `colourful`."""
BRIGHT_DAY = 60.0
"""Mean luma from which it is day."""
WHITE_SHARE = 0.02
"""Share of bright pixels without colour below which there is neither cloud nor snow to speak of."""


def colourful(pixels: U8) -> float:
    """Return how colourful an image is, 0 for grey; about 15 slightly, 33 averagely, 59 quite, 109 extremely.

    Source: Hasler and Suesstrunk, Measuring colourfulness in natural images, 2003.
    """
    if pixels.ndim == 2:
        return 0.0
    red, green, blue = (pixels[..., band].astype(np.float32) for band in range(3))
    a, b = red - green, (red + green) / 2 - blue
    spread, shift = ((f(a, dtype=np.float64), f(b, dtype=np.float64)) for f in (np.std, np.mean))
    return math.hypot(*spread) + 0.3 * math.hypot(*shift)


def white_share(pixels: U8) -> float:
    """Return the share of pixels that are bright in every band (at least 200) and nearly without colour."""
    low, high = darkest_band(pixels), brightest_band(pixels)
    return float(np.mean((low >= 200) & (high - low <= 30)))


def claims(pixels: U8 | None, modality: Modality) -> dict[Claim, Claimed]:
    """Return what holds and what does not of the kinds of picture that this one could be said to be.

    What neither the modality nor the pixels settle is left out. `premise_margin` is how far the test value lies from
    its limit, as a share of the limit.
    """
    found = {
        "overhead": _picture("viewpoint", true=True),
        "street": _picture("viewpoint", true=False, gross=True),
        "map": _picture("viewpoint", true=False, gross=True),
    }
    if modality == "sar":
        found |= {
            "radar": _picture("modality", true=True),
            "colour": _picture("modality", true=False, gross=True),
            "grey": _picture("modality", true=False, to_confirm="the image is no optical one"),
            "thermal": _picture("modality", true=False, to_confirm="the image is no thermal one"),
        }
    elif pixels is not None:
        found |= _optical(pixels)
    return found  # type: ignore[return-value]


def _optical(pixels: U8) -> dict[str, Claimed]:
    colour = colourful(pixels) / COLOURFUL - 1
    light = float(luma(pixels).mean(dtype=np.float64)) / BRIGHT_DAY - 1
    clear = 1 - white_share(pixels) / WHITE_SHARE
    found = {
        "colour": _picture("modality", true=colour > 0, margin=abs(colour)),
        "grey": _picture("modality", true=colour < 0, margin=abs(colour)),
    }
    if colour > 0:  # grey pictures might pass for radar or thermal ones
        found["radar"] = _picture("modality", true=False, gross=True, margin=colour)
        found["thermal"] = _picture("modality", true=False, margin=colour)
        if light > 0:
            found["day"] = _picture("condition", true=True, margin=light)
            found["night"] = _picture("condition", true=False, margin=light)
    if clear > 0:
        found["clear"] = _picture("condition", true=True, margin=clear)
        found["cloud"] = _picture("condition", true=False, margin=clear)
        found["snow"] = _picture("condition", true=False, margin=clear)
    return found


def _picture(variant: str, *, true: bool, gross: bool = False, margin: float = 1.0, to_confirm: str = "") -> Claimed:
    figures = {"premise_margin": margin, "gross": float(gross)}
    return Claimed(true, figures, variant, to_confirm=(to_confirm,) if to_confirm else ())
