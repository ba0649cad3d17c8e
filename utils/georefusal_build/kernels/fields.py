"""Smooth random fields and bumps."""

from collections.abc import Iterable
from typing import NamedTuple, cast

import cv2
import numpy as np
from scipy import fft

from georefusal_build.arrays import F32, F64, Shape


class Bump(NamedTuple):
    """An ellipse: centre and half axes, pixels."""

    x: float
    y: float
    half_width: float
    half_height: float


def power_law(white: F64 | F32, beta: float, shape: Shape) -> F32:
    """Return a zero-mean, unit-sd field of `shape` with isotropic power f ** -beta, made from white noise.

    white: standard normal values on the same or a coarser grid; a coarser one gives a field without its finest scales.
    Source: clouds have beta of about 2.8 to 3.6.
    """
    rows, columns = white.shape
    spectrum = fft.rfft2(white.astype(np.float32))
    frequency = np.hypot(fft.fftfreq(rows)[:, None], fft.rfftfreq(columns)[None, :])
    frequency[0, 0] = np.inf
    spectrum *= (frequency ** (-beta / 2)).astype(np.float32)
    field = fft.irfft2(spectrum, s=white.shape)
    if white.shape != shape:
        field = cv2.resize(field, shape[::-1], interpolation=cv2.INTER_CUBIC)
    mean, sd = cv2.meanStdDev(field)
    return cast("F32", (field - np.float32(mean.item())) / np.float32(sd.item() + 1e-12))


def squared_radius(shape: Shape, bumps: Iterable[Bump], wobble: F32, reach: float = 3.2) -> F32:
    """Return, per pixel, the smallest squared elliptic radius to any of `bumps`, warped by a smooth unit-sd field.

    1 on the outline of an unwarped bump, `reach` ** 2 and more far away. The warp keeps an outline from repeating that
    of a box or a disc.
    """
    far = np.full(shape, reach * reach, dtype=np.float32)
    for bump in bumps:
        ry, rx = reach * bump.half_height, reach * bump.half_width
        y0, y1 = max(0, int(bump.y - ry)), min(shape[0], int(bump.y + ry) + 2)
        x0, x1 = max(0, int(bump.x - rx)), min(shape[1], int(bump.x + rx) + 2)
        if y0 >= y1 or x0 >= x1:
            continue
        dy = (np.arange(y0, y1, dtype=np.float32) + np.float32(0.5 - bump.y)) / np.float32(bump.half_height)
        dx = (np.arange(x0, x1, dtype=np.float32) + np.float32(0.5 - bump.x)) / np.float32(bump.half_width)
        warp = np.clip(1 + np.float32(0.45) * wobble[y0:y1, x0:x1], 0.4, 2.2)
        radius = (dy[:, None] ** 2 + dx[None, :] ** 2) * warp
        np.minimum(far[y0:y1, x0:x1], radius, out=far[y0:y1, x0:x1])
    return far


def bumps_field(shape: Shape, bumps: Iterable[Bump], wobble: F32) -> F32:
    """Return the largest of Gaussian bumps exp(-r ** 2), 0 where none reaches."""
    radius = squared_radius(shape, bumps, wobble)
    return cast("F32", np.where(radius < radius.dtype.type(3.2**2), np.exp(-radius), np.float32(0)))
