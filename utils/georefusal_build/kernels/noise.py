"""Noise, haze and stripes: evidence that was recorded but drowned."""

from typing import cast

import numpy as np

from georefusal_build.arrays import F32, U8
from georefusal_build.kernels.tones import from_light, median_dn, per_band, to_light, to_u8

HAZE_EXPONENT = (0.8, 1.0, 1.25)
"""Haze optical depth of R, G, B relative to green (aerosol: it falls with wavelength)."""


def add_speckle(pixels: U8, floor_db: float, speckle: F32) -> U8:
    """Return an amplitude image with a noise floor and fresh speckle: I' = (I + N0) * g, at the old mean amplitude.

    floor_db: N0 over the scene's median intensity (at least a quarter DN), dB. speckle: unit-mean intensity factors g,
    the image's shape or (H, W).
    """
    amplitude = pixels.astype(np.float32)
    intensity = amplitude * amplitude
    floor = max(median_dn(pixels), 0.25) ** 2 * 10 ** (floor_db / 10)
    factors = speckle if speckle.ndim == pixels.ndim else per_band(speckle, pixels)
    noisy = np.sqrt((intensity + np.float32(floor)) * factors)
    return to_u8(noisy * np.float32(float(amplitude.mean()) / max(float(noisy.mean()), 1e-9)))


def sensor_noise(pixels: U8, full_well: float, read: float, shot: F32, dark: F32) -> U8:
    """Return the image of a sensor with `full_well` electrons at full scale.

    Shot noise is normal with the Poisson variance; read: sd of the read noise, electrons. shot, dark: standard normal
    fields of the image's shape. An infinite full well gives the image back.
    """
    light = to_light(pixels)
    electrons = np.sqrt(light / np.float32(full_well)) * shot + np.float32(read / full_well) * dark
    return from_light(light + electrons)


def haze(pixels: U8, transmission: float, airlight: float) -> U8:
    """Return I * t + A * (1 - t), t falling from red to blue; transmission: t of green in (0, 1]; airlight: A in DN."""
    exponents = np.array(HAZE_EXPONENT if pixels.ndim == 3 else (1.0,), dtype=np.float32)
    t = np.float32(transmission) ** exponents
    return to_u8(pixels.astype(np.float32) * t + np.float32(airlight) * (1 - t))


def stripes(pixels: U8, gains: F32, offsets: F32) -> U8:
    """Return DN * gain + offset per column, as an uncalibrated push-broom array records it; gains, offsets: (W,)."""
    shape = (1, -1) if pixels.ndim == 2 else (1, -1, 1)
    return to_u8(
        pixels * cast("F32", gains.astype(np.float32)).reshape(shape) + offsets.astype(np.float32).reshape(shape)
    )


def add_grain(values: F32, grain: F32) -> U8:
    """Return DN values with a noise field (H, W) in DN added to every band."""
    return to_u8(values + per_band(grain, values))
