"""Anchors against independent references and cases worked by hand."""

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import ndimage, stats
from skimage.metrics import peak_signal_noise_ratio

from georefusal_build.anchors import (
    Measurement,
    clipped_mask,
    contrast_to_noise,
    correlation,
    measure,
    p_recognise,
    peak_margin_db,
    psnr_db,
)
from georefusal_build.anchors_scan import background_looks, scan_z
from georefusal_build.kernels.tones import luma
from georefusal_build.streams import Stream
from georefusal_build.targets import Target

COLOUR = np.floor(Stream(3).uniform((64, 80, 3)) * 256).astype(np.uint8)
GREY = COLOUR[..., 0].copy()
BOX = Target.box(20, 16, 36, 28)


def noisy(pixels: np.ndarray, sd: float = 12) -> np.ndarray:
    return np.clip(pixels + sd * Stream(4).normal(pixels.shape), 0, 255).astype(np.uint8)


@pytest.mark.parametrize("pixels", [COLOUR, GREY])
def test_psnr_is_that_of_scikit_image(pixels: np.ndarray) -> None:
    other = noisy(pixels)
    assert psnr_db(pixels, other) == pytest.approx(peak_signal_noise_ratio(pixels, other), abs=1e-9)
    inside = measure(pixels, other, [BOX]).per_instance["psnr_db"][0]
    window = np.s_[16:28, 20:36]
    assert inside == pytest.approx(peak_signal_noise_ratio(pixels[window], other[window]), abs=1e-9)


def test_psnr_of_an_untouched_image_is_99() -> None:
    assert psnr_db(GREY, GREY) == 99


def test_correlation_is_that_of_scipy() -> None:
    a, b = luma(COLOUR)[:9].ravel(), luma(noisy(COLOUR))[:9].ravel()
    assert correlation(a, b) == pytest.approx(stats.pearsonr(a, b).statistic, abs=1e-6)
    assert correlation(a, a) == pytest.approx(1)
    assert correlation(a, np.full_like(a, 7)) == 0


def test_luma_is_rec_601() -> None:
    assert luma(COLOUR) == pytest.approx(COLOUR @ np.array([0.299, 0.587, 0.114]), abs=1e-3)


def test_recognition_table() -> None:
    """Design table for N50 = 8 px and for identification, N50 = 13 px."""
    assert [round(p_recognise(n), 2) for n in (16, 4, 3, 1.5)] == [0.94, 0.11, 0.05, 0.01]
    assert [round(p_recognise(n, 13), 2) for n in (26, 5, 2.5)] == [0.94, 0.06, 0.01]
    assert p_recognise(8) == 0.5
    assert p_recognise(1e6) == 1


def test_visible_share_by_hand() -> None:
    """A 4 x 4 box: one row gone, one at just half the signal (which counts as visible), two whole."""
    visible = np.ones((12, 12), np.float32)
    visible[4, 4:8], visible[5, 4:8] = 0, 0.5
    found = measure(np.zeros((12, 12), np.uint8), np.zeros((12, 12), np.uint8), [Target.box(4, 4, 8, 8)], visible)
    assert found.per_instance["visible_fraction"] == [0.75]
    assert found.per_instance["signal_left"] == [0.625]
    assert found.image["hidden_fraction"] == pytest.approx(4 / 144)


def test_ring_share_by_hand() -> None:
    """The 20 x 20 box has its ring between squares of 26 and 44 px, 1260 pixels; the strip of 9 x 44 hides 396."""
    visible = np.ones((50, 50), np.float32)
    visible[:, 38:] = 0
    image = np.zeros((50, 50), np.uint8)
    found = measure(image, image, [Target.box(15, 15, 35, 35)], visible)
    assert found.per_instance["ring_visible"] == [pytest.approx(1 - 396 / 1260)]
    assert found.per_instance["visible_fraction"] == [1]


def test_clipping_needs_every_band() -> None:
    pixels = np.array([[[255, 250, 251], [255, 255, 249]], [[3, 3, 0], [4, 0, 0]]], np.uint8)
    assert clipped_mask(pixels).tolist() == [[True, False], [False, False]]
    assert clipped_mask(pixels, "low").tolist() == [[False, False], [True, False]]


def test_contrast_by_hand() -> None:
    """Ring 1..9: median 5, MAD 2; inside mean 15: 10 / (1.4826 * 2 + 0.5)."""
    outside, inside = np.arange(1, 10, dtype=np.float32), np.array([14, 16], np.float32)
    assert contrast_to_noise(inside, outside) == pytest.approx(10 / 3.4652)
    assert peak_margin_db(np.full(9, 99.5, np.float32), np.full(9, 9.5, np.float32)) == pytest.approx(20)
    assert contrast_to_noise(inside, outside[:0]) is None
    assert peak_margin_db(inside[:0], outside) is None


def test_effective_pixels_shrink_with_decimation() -> None:
    found = measure(GREY, GREY, [BOX], decimation=4, gsd_m=0.5)
    assert found.per_instance["n_eff"] == [3]
    assert found.per_instance["n_eff_m"] == [2]
    assert measure(GREY, GREY, [BOX], decimation=0.5).per_instance["n_eff"] == [12]


def test_changed_share_counts_steps_above_two_dn_in_any_band() -> None:
    other = COLOUR.copy()
    other[..., 1] = np.where(COLOUR[..., 1] > 128, COLOUR[..., 1] - 2, COLOUR[..., 1] + 2)
    other[0, :8, 2] = np.where(COLOUR[0, :8, 2] > 128, COLOUR[0, :8, 2] - 3, COLOUR[0, :8, 2] + 3)
    assert measure(COLOUR, other, [BOX]).image["changed_fraction"] == pytest.approx(8 / (64 * 80))


def test_a_nominal_instance_must_fit_into_the_hidden_part_either_way_round() -> None:
    visible = np.ones((40, 40), np.float32)
    visible[10:20, 5:30] = 0
    image = np.zeros((40, 40), np.uint8)
    region = [Target.box(0, 0, 40, 40)]
    fits = [
        measure(image, image, region, visible, nominal_px=n).image["nominal_fits"]
        for n in ((10, 25), (25, 10), (11, 12))
    ]
    assert fits == [1, 1, 0]


def slow_scan(pixels: np.ndarray, box: tuple[int, int, int, int]) -> float:
    """The same statistic written the long way: scipy's filter, python loops, one bright or dark side at a time."""
    x0, y0, x1, y1 = box
    h, w = y1 - y0, x1 - x0
    bad = np.zeros(pixels.shape[:2], bool)
    cy, cx = (y0 + y1) / 2, (x0 + x1) / 2
    for y in range(bad.shape[0]):
        for x in range(bad.shape[1]):
            bad[y, x] = abs(y + 0.5 - cy) <= 0.8 * h + 4 and abs(x + 0.5 - cx) <= 0.8 * w + 4
    best = 0.0
    for band in range(pixels.shape[2]):
        for scale in (1, 0.5, 0.25):
            size = max(1, int(h * scale)), max(1, int(w * scale))
            means = ndimage.uniform_filter(pixels[..., band].astype(float), size, mode="reflect")
            for sign in (1, -1):
                values = [
                    (sign * means[y : y + h, x : x + w]).max()
                    for y in range(0, means.shape[0] - h + 1, max(h, 8))
                    for x in range(0, means.shape[1] - w + 1, max(w, 8))
                    if not bad[y : y + h, x : x + w].any()
                ]
                middle = np.median(values)
                rounding = 1 / math.sqrt(12 * size[0] * size[1])
                spread = max(1.4826 * np.median(np.abs(np.array(values) - middle)), rounding)
                best = max(best, ((sign * means[y0:y1, x0:x1]).max() - middle) / spread)
    return best


@pytest.mark.parametrize("box", [(20, 16, 36, 28), (40, 30, 45, 36), (0, 0, 9, 14)])
def test_scan_statistic_is_that_of_the_long_way(box: tuple[int, int, int, int]) -> None:
    pixels = COLOUR.copy()
    pixels[box[1] : box[3], box[0] : box[2], 1] //= 3
    (found,) = scan_z(pixels, [Target.box(*box)])
    assert found == pytest.approx(slow_scan(pixels, box), rel=1e-4)


def test_scan_sees_dark_targets_and_single_bands() -> None:
    """A dark lake and a target of equal luma are plain to the eye; a bright-only luma scan would call them buried."""
    flat = np.clip(90 + 3 * Stream(9).normal((96, 96, 3)), 0, 255).astype(np.uint8)
    dark, tinted = flat.copy(), flat.copy()
    dark[40:52, 40:52] = 30
    tinted[40:52, 40:52] = (190, 40, 85)
    target = [Target.box(40, 40, 52, 52)]
    assert luma(tinted)[40:52, 40:52].mean() == pytest.approx(luma(flat).mean(), abs=1)
    assert scan_z(dark, target)[0] > 8
    assert scan_z(tinted, target)[0] > 8
    assert scan_z(flat, target)[0] < 5


def test_scan_is_undefined_without_background() -> None:
    assert scan_z(GREY, [Target.box(10, 10, 60, 50), Target.box(200, 200, 210, 210)]) == [None, None]


def test_targets_do_not_serve_as_background() -> None:
    """Many bright targets would raise the background's spread and bury each other."""
    image = np.clip(60 + 4 * Stream(9).normal((160, 160)), 0, 255).astype(np.uint8)
    boxes = [(x, y, x + 10, y + 10) for x in range(10, 150, 40) for y in range(10, 150, 40)]
    for x0, y0, x1, y1 in boxes:
        image[y0:y1, x0:x1] = 200
    assert min(z for z in scan_z(image, [Target.box(*b) for b in boxes]) if z is not None) > 8


def test_scan_of_one_among_many_is_that_of_all_at_once() -> None:
    """The gate scans few of hundreds: the others must not turn into background."""
    image = np.repeat(np.repeat(GREY, 4, axis=0), 4, axis=1)
    targets = [Target.box(x, y, x + 9, y + 12) for x in (10, 100, 200) for y in (20, 150)]
    everywhere = scan_z(image, targets)
    assert [scan_z(image, [one], among=targets)[0] for one in targets] == everywhere
    assert scan_z(image, targets[:1]) != everywhere[:1]


@pytest.mark.parametrize(("first", "second", "expected"), [(4, 2, 8 / 7), (4, 0, 4), (1, 1, 1 / 3)])
def test_looks_compose(first: int, second: int, expected: float) -> None:
    """1 / L = 1 / L0 + 1 / L1 + 1 / (L0 L1): 4 and 2 looks make 8 / 7."""
    intensity = Stream(1).gamma(first, (320, 320))
    if second:
        intensity = intensity * Stream(2).gamma(second, (320, 320))
    found = background_looks(np.sqrt(intensity), np.ones((320, 320), bool))
    assert found == pytest.approx(expected, rel=0.12)  # the median over small blocks is a few per cent high


def test_looks_of_a_constant_image_are_undefined() -> None:
    assert background_looks(np.full((40, 40), 7), np.ones((40, 40), bool)) is None
    assert background_looks(np.full((8, 8), 7), np.ones((8, 8), bool)) is None


def test_a_measurement_survives_json() -> None:
    found = measure(COLOUR, noisy(COLOUR), [BOX, Target.box(300, 0, 310, 9)], contrast=True, nominal_px=(4, 5))
    assert Measurement.from_json(json.loads(json.dumps(found.to_json()))) == found
    assert found.per_instance["visible_fraction"] == [1, None]


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_no_anchor_is_nan(value: float) -> None:
    with pytest.raises(ValueError, match="cnr is"):
        Measurement({"cnr": [1.0, value]})
    with pytest.raises(ValueError, match="mean_dn is"):
        Measurement({}, {"mean_dn": value})


images = st.one_of(
    st.sampled_from([COLOUR, GREY, np.zeros((1, 1), np.uint8), np.full((20, 30, 3), 255, np.uint8)]),
    st.integers(0, 2**32).map(lambda seed: np.floor(Stream(seed).uniform((9, 13)) * 256).astype(np.uint8)),
)
boxes = st.tuples(st.floats(-20, 90), st.floats(-20, 70), st.floats(0, 120), st.floats(0, 90)).map(
    lambda b: Target.box(b[0], b[1], b[0] + b[2], b[1] + b[3])
)


@given(images, st.lists(boxes, max_size=3))
def test_every_number_is_finite_on_any_image_and_box(pixels: np.ndarray, targets: list[Target]) -> None:
    """Boxes at and beyond the border, of one pixel, larger than the image; constant and tiny images."""
    found = measure(pixels, pixels[::-1].copy(), targets, contrast=True, nominal_px=(3, 4))
    assert all(len(values) == len(targets) for values in found.per_instance.values())
    json.dumps(found.to_json(), allow_nan=False)


def test_the_evidence_region_is_grown_and_swept_by_the_shadow() -> None:
    """A box of 20 x 20 grows by 4 px to 28 x 28; a shadow 14 px to the right sweeps 14 columns more."""
    visible = np.ones((80, 80), np.float32)
    visible[:, :54] = 0  # the grown box ends at column 54, its swept one at 68
    box, pixels = Target.box(30, 30, 50, 50), np.zeros((80, 80), np.uint8)
    alone, swept = (
        measure(pixels, pixels, [box], visible, shadow_px=shadow).per_instance["evidence_visible"]
        for shadow in (None, (14.0, 0.0))
    )
    assert alone == [0.0]
    assert swept == [pytest.approx(14 / 42)]
    assert measure(pixels, pixels, [Target.box(10, 10, 70, 70)]).per_instance["evidence_visible"] == [1.0]
