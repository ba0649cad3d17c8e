"""Radar kernels against the geometry and the sums that they stand for."""

import numpy as np
import pytest

from georefusal_build.kernels import channels, radar
from georefusal_build.streams import Stream


def test_a_radar_shadow_shows_the_noise_floor_only() -> None:
    scene, hidden = np.full((80, 80), 60, np.uint8), np.zeros((80, 80), bool)
    hidden[20:60, 30:70] = True
    out = radar.radar_shadow(scene, hidden, Stream(1).gamma(2, scene.shape).astype(np.float32))
    assert (out[~hidden] == 60).all()
    assert np.sqrt(np.mean(out[hidden].astype(float) ** 2)) == pytest.approx(30, rel=0.05)


def test_a_fold_has_the_mean_that_is_asked_for_and_comes_from_further_along_the_row() -> None:
    scene = np.full((60, 200), 20, np.uint8)
    scene[:, 40:44] = 200
    fold = radar.folded(scene, 12.0, 90.0)
    assert np.sqrt(fold.mean()) == pytest.approx(90, rel=0.01)
    bright = [int(np.argmax(fold[30, a : a + 12])) + a for a in (0, 12, 24)]
    assert bright == pytest.approx([6, 18, 30], abs=1.5)  # three returns, twelve cells apart
    behind = fold - 90**2 / 2
    assert behind.min() >= 0
    assert behind[30, 42] < 0.05 * behind[30].max()
    assert radar.folded(scene, -12.0, 90.0)[30, 54] > 0.5 * fold.max()


def test_a_layover_adds_intensities_on_the_slope_only() -> None:
    scene, slope = np.full((80, 80), 30, np.uint8), np.zeros((80, 80), bool)
    slope[20:60, 30:70] = True
    fold = np.full((80, 80), 8100, np.float32)
    out, left = radar.layover(scene, slope, fold, np.ones((80, 80), np.float32))
    assert (out[~slope] == 30).all()
    assert (left[~slope] == 1).all()
    assert (out[slope] == round((30**2 + 90**2) ** 0.5)).all()
    assert left[slope] == pytest.approx(900 / 9000)
    speckled, _ = radar.layover(scene, slope, fold, Stream(2).gamma(4, scene.shape).astype(np.float32))
    power = speckled[slope].astype(float) ** 2
    assert power.mean() ** 2 / power.var() == pytest.approx(4, rel=0.2)


def test_ghosts_lie_along_the_columns_at_their_level() -> None:
    scene = np.zeros((120, 20), np.uint8)
    scene[60, 7] = 200
    out = radar.ghosts(scene, 25, -12)
    found = {int(row): int(out[row, 7]) for row in np.flatnonzero(out[:, 7])}
    once, twice = 200 * 10 ** (-12 / 20), 200 * 10 ** (-18 / 20)
    assert found == {10: round(twice), 35: round(once), 60: 200, 85: round(once), 110: round(twice)}
    assert (np.delete(out, 7, axis=1) == 0).all()
    assert (radar.ghosts(scene, 500, -12) == scene).all()


def test_one_polarisation_keeps_its_band_bit_for_bit() -> None:
    composite = np.floor(Stream(3).uniform((20, 30, 3)) * 256).astype(np.uint8)
    out = channels.one_polarisation(composite)
    assert (out == composite[..., :1]).all()
