"""Clouds: how much of the ground shines through, and what is seen instead."""

import math
from typing import NamedTuple, cast

import cv2
import numpy as np

from georefusal_build.arrays import F32, U8
from georefusal_build.kernels.tones import per_band, to_u8


class Edge(NamedTuple):
    """Where a score turns into cloud. level: on the outline (transmission 1/2); width: range of its soft border."""

    level: float
    width: float


def cover_edge(score: F32, cover: float, softness: float) -> Edge:
    """Return the edge above which exactly round(cover * size) pixels of `score` lie.

    softness: width of the border as a share of the range between the edge and the 99.5 % quantile.
    """
    size = score.size
    hidden = min(max(round(cover * size), 1), size - 1)
    top = min(int(0.995 * size), size - 1)
    ranked = np.partition(score.ravel(), sorted({size - hidden - 1, size - hidden, top}))
    level = (float(ranked[size - hidden - 1]) + float(ranked[size - hidden])) / 2
    return Edge(level, softness * max(float(ranked[top]) - level, 0.0) + 1e-6)


def transmission(score: F32, edge: Edge, tau_max: float) -> F32:
    """Return exp(-tau), tau rising to tau_max across the border; below 1/2 exactly where score > edge.level."""
    half = 0.5 - math.sin(math.asin(1 - 2 * math.log(2) / tau_max) / 3)  # smoothstep(half) * tau_max = log 2
    ramp = np.clip((score - np.float32(edge.level)) * np.float32(1 / edge.width) + np.float32(half), 0, 1)
    depth = ramp * ramp * (3 - 2 * ramp)
    return cast("F32", np.exp(np.float32(-tau_max) * depth))


def cast_shadow(through: F32, offset: tuple[float, float], depth: float, blur: float) -> F32:
    """Return the factor in [1 - depth, 1] by which a cloud darkens the ground `offset` (x, y) pixels away from it."""
    height, width = through.shape
    shift = np.array([[1, 0, offset[0]], [0, 1, offset[1]]], dtype=np.float32)
    moved = cv2.warpAffine(through, shift, (width, height), flags=cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
    return cast("F32", 1 - np.float32(depth) * (1 - cv2.GaussianBlur(moved, (0, 0), blur)))


def relief(through: F32, offset: tuple[float, float], step: int = 4) -> F32:
    """Return how much brighter (to 1) or darker (to -1) a cloud top is for facing the sun or turning away from it.

    offset: (x, y) from a cloud to its shadow, pixels. Worked out on every `step`-th pixel.
    """
    thick = cv2.GaussianBlur(1 - through[::step, ::step], (0, 0), 24 / step)
    shift = np.array([[1, 0, -offset[0] / step / 2], [0, 1, -offset[1] / step / 2]], dtype=np.float32)
    ahead = cv2.warpAffine(thick, shift, thick.shape[::-1], borderMode=cv2.BORDER_REPLICATE)
    slope = np.clip(3 * (ahead - thick), -1, 1)
    return cast("F32", cv2.resize(slope, through.shape[::-1], interpolation=cv2.INTER_LINEAR))


def cover_with(pixels: U8, through: F32, shade: F32, brightness: F32) -> U8:
    """Return ground * shade * through + brightness * (1 - through). brightness: DN, (H, W) or (H, W, 3)."""
    ground = pixels.astype(np.float32)
    ground *= per_band(shade * through, pixels)
    top = brightness if brightness.ndim == pixels.ndim else per_band(brightness, pixels)
    ground += top * per_band(1 - through, pixels)
    return to_u8(ground)
