"""Reference bases on which every lever has to work, and the checks that every lever has to pass."""

from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np

from georefusal_build.anchors_colour import colour_of
from georefusal_build.apply import apply
from georefusal_build.kernels.fields import power_law
from georefusal_build.kernels.tones import to_u8
from georefusal_build.streams import Stream
from georefusal_build.targets import Target
from georefusal_task.core.records import Intensity

MASTER = 11
SHAPE = (240, 320)


@dataclass(frozen=True)
class Base:
    """A clean image with its targets; `known`: further arguments of `apply`."""

    name: str
    pixels: np.ndarray
    targets: tuple[Target, ...]
    known: dict[str, Any] = field(default_factory=dict)

    def pull(self, lever_id: str, variant: str, **more: Any) -> Any:
        arguments = {"base_id": self.name, "master": MASTER, "variant": variant} | self.known | more
        return apply(lever_id, self.pixels, self.targets, **arguments)


@cache
def optical(shape: tuple[int, int] = SHAPE) -> np.ndarray:
    """Soft ground of three tints, nowhere near either end of the range."""
    source = Stream(5)
    ground = power_law(source.normal(shape), 2.4, shape)
    tint = np.array([96.0, 108.0, 84.0]) + 14 * ground[..., None] + source.normal((*shape, 3))
    return to_u8(tint.astype(np.float32))


@cache
def radar(shape: tuple[int, int] = SHAPE) -> np.ndarray:
    """Four-look sea, amplitude."""
    return to_u8((28 * np.sqrt(Stream(6).gamma(4, shape))).astype(np.float32))


def with_boxes(pixels: np.ndarray, boxes: list[tuple[int, int, int, int]], value: float, sd: float) -> np.ndarray:
    """Return a copy with plain bright or dark objects, a little textured."""
    out = pixels.copy()
    for i, (x0, y0, x1, y1) in enumerate(boxes):
        patch = out[y0:y1, x0:x1]
        patch[...] = np.clip(value + sd * Stream(100 + i).normal(patch.shape), 0, 244)
    return out


def base(
    name: str, ground: np.ndarray, boxes: list[tuple[int, int, int, int]], value: float, sd: float = 6, **known: Any
) -> Base:
    targets = tuple(Target.box(*map(float, box)) for box in boxes)
    return Base(name, with_boxes(ground, boxes, value, sd), targets, known)


PAIR = [(36, 40, 62, 60), (52, 90, 76, 116)]


@cache
def bases(variant: str, modality: str) -> dict[Intensity, Base]:
    """Return the base on which each intensity of a variant gives a label.

    One for all; where a variant is paired, a strong class for LOW and a weak one for MEDIUM and HIGH.
    """
    sar = modality == "sar"
    ground = radar() if sar else optical()
    known: dict[str, Any] = {"modality": modality}
    match variant:
        case "pan" | "drop_R" | "drop_G" | "drop_B":
            tint = (64, 136, 184) if variant == "drop_B" else (70, 100, 170)
            return _coloured(variant, ground, tint, known)
        case "drop_pol":
            return _coloured(variant, _composite(), (70, 100, 170), known)
        case "layover":
            shared = base("layover", ground, PAIR, 62, 8, **known)
        case "tile_cut":
            shared = base("cut", ground, [(24, 60, 48, 84)], 200, asks="edge", **known)
        case "az_ambiguity":
            return _ghosted(known)
        case "line_drop":
            shared = base("lines", ground, [(100, 60, 140, 82)], 200, **known)
        case "slc_gap":
            shared = base("gaps-8", ground, [(300, 60, 316, 72)], 200, **known)
        case "burst_gap":
            shared = base("burst", ground, [(100, 60, 140, 95)], 200, **known)
        case "gain_clip":
            dark, bright = (
                base("gain", ground, [(40, 40, 70, 60)], 40, **known),
                base("gain", ground, [(40, 40, 70, 60)], 205, 30),
            )
            return _pair(dark, bright)
        case "crush":
            bright, dark = (
                base("crush", ground, [(40, 40, 70, 60)], 240, **known),
                base("crush", ground, [(40, 40, 70, 60)], 9),
            )
            return _pair(bright, dark)
        case "speckle_floor":
            strong, weak = (
                base("floor", ground, [(60, 60, 84, 76)], 240, **known),
                base("floor", ground, [(60, 60, 68, 66)], 62, **known),
            )
            return _pair(strong, weak)
        case "sensor_noise" | "haze" | "stripe":
            strong, weak = (
                base(variant, optical((144, 192)), [(60, 60, 84, 76)], 235),
                base(variant, _flat(), [(60, 60, 64, 64)], 108, 2),
            )
            return _pair(strong, weak)
        case "bicubic" | "nearest" | "box":
            large, small = (
                base("steps", ground, [(40, 40, 140, 130)], 60, **known),
                base("steps", ground, [(60, 150, 80, 168)], 12 if sar else 60, **known),
            )
            return _pair(large, small)
        case _:
            shared = base("shared", ground, PAIR, 170, 22, **known)
    return dict.fromkeys(Intensity, shared)


def _coloured(
    variant: str, ground: np.ndarray, tint: tuple[int, int, int], known: dict[str, Any]
) -> dict[Intensity, Base]:
    pixels = ground.copy()
    pixels[60:90, 60:96] = np.clip(np.array(tint) + 3 * Stream(9).normal((30, 36, 3)), 0, 255)
    name = colour_of(pixels[60:90, 60:96].reshape(-1, 3)) or "none"
    asked = Base(variant, pixels, (Target.box(60, 60, 96, 90),), known | {"asks": "colour", "colour": name})
    return dict.fromkeys(Intensity, asked)


def _pair(low: Base, refuse: Base) -> dict[Intensity, Base]:
    return {Intensity.LOW: low, Intensity.MEDIUM: refuse, Intensity.HIGH: refuse}


@cache
def _composite() -> np.ndarray:
    """A dual-polarised composite: two bands of four-look sea, the third their mean."""
    like, cross = (36 * np.sqrt(Stream(seed).gamma(4, SHAPE)) + 40 for seed in (6, 7))
    return to_u8(np.stack([like, cross, (like + cross) / 2], axis=-1).astype(np.float32))


def _ghosted(known: dict[str, Any]) -> dict[Intensity, Base]:
    """Sea full of bright points, whose ghosts are brighter than the weak target and darker than the strong one."""
    busy = (radar() // 3).copy()
    for place in Stream(31).uniform((300, 2)):
        y, x = int(place[0] * (SHAPE[0] - 3)), int(place[1] * (SHAPE[1] - 3))
        busy[y : y + 3, x : x + 3] = 205
    busy[50:90, 50:100] = (radar() // 3)[50:90, 50:100]
    return _pair(
        base("ghosts", busy, [(60, 60, 84, 76)], 250, 2, **known),
        base("ghosts", busy, [(64, 64, 70, 70)], 21, 1.5, **known),
    )


@cache
def _flat() -> np.ndarray:
    return to_u8((100 + 1.5 * Stream(8).normal((96, 128, 3))).astype(np.float32))
