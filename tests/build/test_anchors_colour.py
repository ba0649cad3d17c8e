"""Colour anchors against scikit-image and colours with names."""

import numpy as np
import pytest
from skimage.color import rgb2lab

from georefusal_build.anchors_colour import COLOURS, colour_anchors, colour_of, to_lab
from georefusal_build.kernels.channels import REDUCTIONS
from georefusal_build.streams import Stream
from georefusal_build.targets import Target

BOX = Target.box(10, 10, 30, 26)


def painted(rgb: tuple[int, int, int], ground: tuple[int, int, int] = (120, 120, 110)) -> np.ndarray:
    image = np.full((40, 50, 3), ground, np.uint8)
    image[10:26, 10:30] = rgb
    return image


def test_lab_is_that_of_scikit_image() -> None:
    rgb = np.floor(Stream(1).uniform((500, 3)) * 256).astype(np.uint8)
    assert to_lab(rgb) == pytest.approx(rgb2lab(rgb[None] / 255)[0], abs=0.3)  # OpenCV interpolates in a table


@pytest.mark.parametrize(
    ("rgb", "name"),
    [
        ((200, 40, 40), "red"),
        ((150, 95, 50), "brown"),
        ((230, 140, 40), "brown"),
        ((60, 140, 60), "green"),
        ((50, 90, 190), "blue"),
        ((240, 240, 240), "white"),
        ((120, 120, 120), "grey"),
        ((230, 220, 40), None),
        ((180, 60, 180), None),
    ],
)
def test_colours_have_their_names(rgb: tuple[int, int, int], name: str | None) -> None:
    assert colour_of(np.full((20, 3), rgb, np.uint8)) == name


def test_typical_colours_lie_in_their_bins() -> None:
    for name, colour in COLOURS.items():
        assert colour_of(np.full((4, 3), colour.typical, np.uint8)) == name


def test_a_mixed_object_has_no_colour() -> None:
    half = np.array([[200, 40, 40]] * 5 + [[50, 90, 190]] * 5, np.uint8)
    assert colour_of(half) is None
    assert colour_of(half[:8]) == "red"  # 5 of 8


def test_distances_by_hand() -> None:
    """Blue asked, blue seen: the closest rival at its luma; after pan both are one grey."""
    image, reduce = painted((60, 98, 170)), REDUCTIONS["pan"]
    full = colour_anchors(image, [BOX], "blue", reduce, reduced=False)
    lost = colour_anchors(image, [BOX], "blue", reduce, reduced=True)
    grey = round(float(np.array([60, 98, 170]) @ [0.299, 0.587, 0.114]))
    lab = rgb2lab(np.array([[[60, 98, 170], [grey, grey, grey]]]) / 255)[0]
    assert full.per_instance["dE_full"][0] == pytest.approx(np.linalg.norm(lab[0] - lab[1]), abs=1.5)
    assert full.per_instance["has_colour"] == [1]
    assert lost.per_instance["dE_remaining"][0] == pytest.approx(0, abs=1)
    assert lost.image["chroma_left"] == pytest.approx(0, abs=0.1)


def test_another_colour_is_compared_with_the_asked_one_only() -> None:
    image = painted((60, 98, 170))
    near, far = (
        colour_anchors(image, [BOX], name, REDUCTIONS["pan"], reduced=False).per_instance for name in ("grey", "red")
    )
    assert near["has_colour"] == far["has_colour"] == [0]
    assert near["dE_full"][0] < far["dE_full"][0]


def test_an_object_without_a_colour_is_undefined() -> None:
    image = painted((230, 220, 40))
    found = colour_anchors(image, [BOX, Target.box(90, 90, 95, 95)], "red", REDUCTIONS["pan"], reduced=False)
    assert found.per_instance["dE_full"] == [None, None]
