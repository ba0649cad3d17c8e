"""Kernels against the physics that they stand for."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import ndimage

from georefusal_build.kernels import blocks, channels, cloud, fields, glare, noise, sampling, swath, tones
from georefusal_build.kernels.blocks import Block
from georefusal_build.store import png
from georefusal_build.streams import Stream

SHAPE = (96, 128)
COLOUR = np.floor(Stream(3).uniform((*SHAPE, 3)) * 256).astype(np.uint8)
GREY = COLOUR[..., 0].copy()


def white(seed: int, shape: tuple[int, ...] = SHAPE) -> np.ndarray:
    return Stream(seed).normal(shape)


# clouds


@given(st.floats(0.02, 0.95), st.floats(0.05, 1), st.sampled_from([3.0, 5.0]))
def test_cover_is_exact(cover: float, softness: float, tau_max: float) -> None:
    """The share of hidden ground is the budget; half a per cent off would tell LOW from HIGH over many items."""
    score = fields.power_law(white(1), 3.1, SHAPE)
    through = cloud.transmission(score, cloud.cover_edge(score, cover, softness), tau_max)
    assert np.mean(through < 0.5) == pytest.approx(cover, abs=0.001)
    assert through.min() >= math.exp(-tau_max) - 1e-6
    assert through.max() <= 1


def test_a_constant_score_still_has_an_edge() -> None:
    through = cloud.transmission(
        np.zeros(SHAPE, np.float32), cloud.cover_edge(np.zeros(SHAPE, np.float32), 0.3, 0.2), 5
    )
    assert np.isfinite(through).all()


def test_clear_sky_changes_nothing_and_thick_cloud_shows_only_cloud() -> None:
    clear, thick = np.ones(SHAPE, np.float32), np.zeros(SHAPE, np.float32)
    tops = np.full(SHAPE, 231, np.float32)
    assert (cloud.cover_with(COLOUR, clear, clear, tops) == COLOUR).all()
    assert (cloud.cover_with(COLOUR, thick, clear, tops) == 231).all()


def test_a_shadow_lies_away_from_its_cloud_and_only_darkens() -> None:
    through = np.ones(SHAPE, np.float32)
    through[40:50, 50:60] = 0
    shade = cloud.cast_shadow(through, (20.0, -15.0), 0.45, 2.0)
    assert shade.max() <= 1
    assert shade.min() >= 0.55 - 1e-6
    y, x = ndimage.center_of_mass(1 - shade)
    assert (x, y) == pytest.approx((54.5 + 20, 44.5 - 15), abs=0.5)


def test_cloud_tops_are_lit_from_where_the_shadow_is_not() -> None:
    through = np.ones((128, 128), np.float32)
    through[32:96, 32:96] = 0
    lit = cloud.relief(through, (30.0, 0.0))
    assert lit[64, 40] > 0.05 > -0.05 > lit[64, 90]


# fields


@pytest.mark.parametrize("beta", [2.4, 3.2])
def test_the_spectrum_falls_as_asked(beta: float) -> None:
    field = fields.power_law(white(2, (256, 256)), beta, (256, 256))
    assert field.mean() == pytest.approx(0, abs=1e-4)
    assert field.std() == pytest.approx(1, abs=1e-3)
    power = np.abs(np.fft.rfft2(field)) ** 2
    frequency = np.hypot(np.fft.fftfreq(256)[:, None], np.fft.rfftfreq(256)[None, :])
    bands = [(0.02, 0.04), (0.04, 0.08), (0.08, 0.16), (0.16, 0.32)]
    levels = [np.log(power[(frequency >= a) & (frequency < b)].mean()) for a, b in bands]
    slope = np.polyfit(np.log([1, 2, 4, 8]), levels, 1)[0]
    assert slope == pytest.approx(-beta, abs=0.2)


def test_coarse_noise_gives_a_field_of_the_full_size() -> None:
    field = fields.power_law(white(2, (24, 32)), 3.0, SHAPE)
    assert field.shape == SHAPE
    assert field.std() == pytest.approx(1, abs=1e-3)


def test_bumps_follow_their_ellipses_without_a_warp() -> None:
    bump = fields.Bump(64, 40, 20, 10)
    flat = np.zeros(SHAPE, np.float32)
    radius = fields.squared_radius(SHAPE, [bump], flat)
    assert radius[40, 83] == pytest.approx((19.5 / 20) ** 2 + (0.5 / 10) ** 2)
    assert fields.bumps_field(SHAPE, [bump], flat).max() == pytest.approx(1, abs=0.01)
    assert fields.bumps_field(SHAPE, [], flat).max() == 0
    far = fields.Bump(-500, -500, 9, 9)
    assert fields.bumps_field(SHAPE, [far], flat).max() == 0


# blocks


def test_blocks_fit_where_nothing_is() -> None:
    taken = np.ones(SHAPE, bool)
    taken[10:20, 30:50] = False
    spots = Stream(5).uniform((4000, 2))
    found = blocks.fit_block(taken, 20, 10, spots)
    assert found == Block(30, 10, 20, 10)
    assert blocks.fit_block(taken, 21, 10, spots) is None
    assert blocks.fit_block(taken, 999, 10, spots) is None


@pytest.mark.parametrize("pixels", [COLOUR, GREY])
def test_fills_touch_only_the_blocks(pixels: np.ndarray) -> None:
    placed = [Block(3, 4, 20, 11), Block(60, 50, 17, 23)]
    mask = blocks.painted(placed, SHAPE)
    assert mask.sum() == 20 * 11 + 17 * 23
    ranks = Stream(6).uniform(SHAPE)
    for out in (
        blocks.fill_constant(pixels, mask, 128),
        blocks.fill_mosaic(pixels, placed, 8),
        blocks.fill_noise(pixels, mask, ranks),
    ):
        assert (out[~mask] == pixels[~mask]).all()
        assert (out[mask] != pixels[mask]).any()


def test_mosaic_cells_are_means_and_never_smaller_than_asked() -> None:
    out = blocks.fill_mosaic(GREY, [Block(8, 8, 32, 16)], 15)
    cell = out[8:24, 8:24]
    assert (cell == cell[0, 0]).all()
    assert cell[0, 0] == pytest.approx(GREY[8:24, 8:24].mean(), abs=0.5)


def test_noise_blocks_have_the_histogram_of_the_image() -> None:
    mask = np.ones(SHAPE, bool)
    two = np.where(Stream(8).uniform(SHAPE) < 0.25, 10, 200).astype(np.uint8)
    out = blocks.fill_noise(two, mask, Stream(9).uniform(SHAPE))
    assert set(np.unique(out)) == {10, 200}
    assert np.mean(out == 10) == pytest.approx(0.25, abs=0.02)


# saturation


def test_spill_is_the_two_sided_exponential() -> None:
    excess = np.zeros((41, 3), np.float32)
    excess[20, 1] = 1
    out = glare.spill(excess, 5, axis=0)
    keep = math.exp(-1 / 5)
    expected = [(1 - keep) * keep ** abs(i - 20) for i in range(41)]
    expected[20] *= 2  # the pixel itself is counted by both passes
    assert out[:, 1] == pytest.approx(expected, rel=1e-3, abs=1e-6)
    assert out[:, 0].max() == 0
    assert pytest.approx(out) == glare.spill(excess.T, 5, axis=1).T


@pytest.mark.parametrize("gain", [1.0, 1.5, 8.0])
def test_exposure_never_darkens_with_gain_and_one_is_the_identity(gain: float) -> None:
    out = glare.expose(COLOUR, gain)
    assert (out >= COLOUR).all()
    assert gain > 1 or (out == COLOUR).all()


@pytest.mark.parametrize("gamma", [1.0, 2.2])
def test_light_and_back_is_the_identity(gamma: float) -> None:
    codes = np.arange(256, dtype=np.uint8)[None]
    assert (tones.from_light(tones.to_light(codes, gamma), gamma) == codes).all()


# sampling


@pytest.mark.parametrize(("step", "mtf"), [(3, 0.25), (4, 0.15), (4, 0.35), (8, 0.25)])
def test_transfer_at_the_new_nyquist_frequency(step: int, mtf: float) -> None:
    """Slanted edge: the edge spread over all phases, differentiated, transformed."""
    slope, size = 0.09, 480
    y, x = np.mgrid[0:size, 0:size]
    edge = np.where(x - size / 2 > slope * (y - size / 2), 205, 50).astype(np.uint8)
    coarse = sampling.sample_coarse(edge, step, mtf)
    rows, columns = (np.floor((np.arange(n) + 0.5) * size / n) for n in coarse.shape)
    distance = (columns[None, :] - size / 2 - slope * (rows[:, None] - size / 2)) / math.hypot(1, slope) / step
    keep = np.abs(distance) < 10
    bins = np.round(distance[keep] * 8).astype(int) + 80
    spread = np.bincount(bins, coarse[keep]) / np.maximum(np.bincount(bins), 1)
    line = np.diff(spread)
    transfer = np.abs(np.fft.rfft(line, 1024))
    found = np.interp(0.5, np.fft.rfftfreq(1024, 1 / 8), transfer / transfer[0])
    assert found == pytest.approx(mtf, abs=0.03)


@pytest.mark.parametrize("step", [2.0, 3.0, 12.0, 48.0, 1000.0])
@pytest.mark.parametrize("smooth", [True, False])
def test_coarser_sampling_keeps_size_and_mean(step: float, smooth: bool) -> None:
    soft = tones.to_u8(110 + 30 * fields.power_law(white(4, (192, 160)), 2.5, (192, 160)))
    for coarse in (sampling.sample_coarse(soft, step, 0.25), sampling.sample_area(soft, step)):
        out = sampling.enlarge(coarse, soft.shape, smooth)
        assert out.shape == soft.shape
        if step <= 12:
            assert out.mean() == pytest.approx(soft.mean(), abs=0.5)


def test_coarse_samples_do_not_drift() -> None:
    """A bright column stays where it is: an offset of half a cell would move every box."""
    image = np.zeros((90, 90), np.uint8)
    image[:, 44:46] = 255
    for coarse in (sampling.sample_coarse(image, 3, 0.25), sampling.sample_area(image, 3)):
        profile = sampling.enlarge(coarse, image.shape).mean(axis=0)
        assert np.average(np.arange(90), weights=np.maximum(profile, 0)) == pytest.approx(44.5, abs=0.6)


# lost ground


@pytest.mark.parametrize("side", range(4))
@pytest.mark.parametrize("angle", [-14.0, -4.0, 9.0])
def test_a_wedge_is_one_region_at_its_side_and_has_its_area(side: int, angle: float) -> None:
    wedge = swath.wedge_of_area(side, angle, 3000, SHAPE)
    mask = swath.wedge_mask(wedge, SHAPE)
    assert mask.sum() == swath.wedge_area(wedge, SHAPE)
    assert mask.sum() == pytest.approx(3000, abs=max(SHAPE) / 4)
    assert ndimage.label(mask)[1] == 1
    edge = (mask[:, 0], mask[:, -1], mask[0], mask[-1])[side]
    assert edge.sum() > edge.size / 2


def test_scan_gaps_widen_away_from_the_centre_column() -> None:
    lost = swath.scan_gaps((320, 400), phase=3, centre=200, widest=14)
    assert not lost[:, 199:201].any()
    assert lost[:, 0].mean() == pytest.approx(14 / 32, abs=0.02)
    assert lost.mean() == pytest.approx(7 / 32, abs=0.02)  # about 22 %
    assert (lost[:32] == lost[32:64]).all()


def test_lost_lines_repeat_the_last_good_one() -> None:
    lines = np.arange(6, dtype=np.uint8)[:, None].repeat(3, axis=1)
    lost = np.array([True, False, True, True, False, True])
    assert swath.repeat_last_line(lines, lost)[:, 0].tolist() == [1, 1, 1, 1, 4, 4]
    assert swath.repeat_last_line(lines, np.ones(6, bool)).max() == 0


# noise


def test_speckle_multiplies_intensity() -> None:
    flat = np.full((300, 300), 60, np.uint8)
    out = noise.add_speckle(flat, -99, Stream(1).gamma(4, flat.shape).astype(np.float32)).astype(float) ** 2
    assert out.mean() ** 2 / out.var() == pytest.approx(4, rel=0.05)


def test_a_noise_floor_eats_contrast_but_not_the_mean() -> None:
    scene = np.full((200, 200), 40, np.uint8)
    scene[80:120, 80:120] = 160
    ones = np.ones(scene.shape, np.float32)
    out = noise.add_speckle(scene, 20, ones).astype(float)
    assert out.mean() == pytest.approx(scene.mean(), abs=0.5)
    assert out[100, 100] / out[0, 0] == pytest.approx(math.sqrt((160**2 + 100 * 40**2) / (101 * 40**2)), rel=0.02)


def test_noise_without_noise_is_the_identity() -> None:
    zero = np.zeros(COLOUR.shape, np.float32)
    assert (noise.sensor_noise(COLOUR, math.inf, 2.0, white(1, COLOUR.shape), white(2, COLOUR.shape)) == COLOUR).all()
    assert (noise.sensor_noise(COLOUR, 20, 2.0, zero, zero) == COLOUR).all()
    assert (noise.haze(COLOUR, 1.0, 200) == COLOUR).all()
    assert (noise.stripes(COLOUR, np.ones(128), np.zeros(128)) == COLOUR).all()
    assert (noise.add_grain(COLOUR.astype(np.float32), np.zeros(SHAPE, np.float32)) == COLOUR).all()
    assert (noise.add_speckle(GREY, -300, np.ones(SHAPE, np.float32)) == GREY).all()


def test_shot_noise_has_the_poisson_variance() -> None:
    half = np.full((300, 300), 186, np.uint8)  # light 0.5
    out = tones.to_light(noise.sensor_noise(half, 400, 0.0, white(1, half.shape), white(2, half.shape)))
    light = float(tones.to_light(half)[0, 0])
    assert out.std() == pytest.approx(math.sqrt(light / 400), rel=0.03)


def test_haze_takes_blue_first() -> None:
    black = np.zeros((4, 4, 3), np.uint8)
    red, green, blue = noise.haze(black, 0.4, 200)[0, 0]
    assert red < green < blue


def test_stripes_are_constant_along_columns() -> None:
    flat = np.full((50, 128, 3), 100, np.uint8)
    out = noise.stripes(flat, 1 + 0.1 * white(1, (128,)), 5 * white(2, (128,)))
    assert (out == out[:1]).all()
    assert out.std() > 3


# channels


@pytest.mark.parametrize("band", [0, 1, 2])
def test_dropping_a_band_keeps_the_others(band: int) -> None:
    out = channels.drop_band(COLOUR, band)
    others = [i for i in range(3) if i != band]
    assert (out[..., others] == COLOUR[..., others]).all()
    assert out[..., band] == pytest.approx(COLOUR[..., others].mean(axis=2), abs=0.51)


def test_panchromatic_is_luma_with_one_level_of_grain() -> None:
    out = channels.panchromatic(COLOUR)
    wanted = np.repeat((COLOUR @ np.array([0.299, 0.587, 0.114]))[..., None], 3, axis=2)
    assert out == pytest.approx(wanted, abs=1.51)
    assert out.mean(axis=2) == pytest.approx(wanted[..., 0], abs=0.51)  # what one band gains another one loses
    assert tones.is_grey(channels.panchromatic(np.repeat(GREY[..., None], 3, axis=2)))


def test_the_size_of_a_file_does_not_tell_that_colour_is_gone() -> None:
    """Three bands that are the same to the bit weigh half as much as three that differ."""
    field = np.random.default_rng(3).normal(size=(128, 128, 1))
    scene = np.clip(110 + 20 * field + np.random.default_rng(4).normal(0, 4, (128, 128, 3)), 0, 255).astype(np.uint8)
    lost = [len(png(channels.REDUCTIONS[name](scene))) for name in ("pan", "drop_R", "drop_G", "drop_B")]
    assert min(lost) > 0.9 * max(lost)


def test_grey_images_are_told_from_coloured_ones() -> None:
    last = np.repeat(GREY[..., None], 3, axis=2)
    assert tones.is_grey(last)
    last[-1, -1, 2] ^= 1
    assert not tones.is_grey(last)
    assert not tones.is_grey(GREY)


def test_rounding_is_to_the_nearest_and_saturates() -> None:
    values = np.array([[-7.0, -0.4, 0.6, 1.4, 254.4, 254.6, 255.4, 999.0]], np.float32)
    assert tones.to_u8(values).tolist() == [[0, 0, 1, 1, 254, 255, 255, 255]]
