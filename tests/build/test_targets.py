"""Outlines as sets of pixels."""

import math

import numpy as np
import pytest
import shapely
from hypothesis import given
from hypothesis import strategies as st

from georefusal_build.targets import Target, as_targets, ring, union

SHAPE = (24, 32)
corner = st.tuples(st.floats(-10, 42), st.floats(-10, 34))


def mask(target: Target, shape: tuple[int, int] = SHAPE) -> np.ndarray:
    return union([target], shape)


@given(st.lists(corner, min_size=3, max_size=7, unique=True))
def test_pixels_are_those_whose_centre_is_inside(corners: list[tuple[float, float]]) -> None:
    """Oracle: shapely. Centres within rounding of the outline are left out of the comparison."""
    polygon = shapely.Polygon(corners)
    if not polygon.is_valid or polygon.area < 4:
        return
    y, x = np.mgrid[0 : SHAPE[0], 0 : SHAPE[1]] + 0.5
    clear = shapely.distance(polygon.exterior, shapely.points(x, y)) > 1e-9
    expected = shapely.contains_xy(polygon, x, y)
    if expected.any():
        assert (mask(Target(tuple(corners))) == expected)[clear].all()


def test_a_box_is_half_open() -> None:
    assert np.argwhere(mask(Target.box(2, 3, 4, 5))).tolist() == [[3, 2], [3, 3], [4, 2], [4, 3]]
    left, right = mask(Target.box(0, 0, 2.5, 4)), mask(Target.box(2.5, 0, 6, 4))
    assert not (left & right).any()
    assert (left | right)[:4, :6].all()


@pytest.mark.parametrize("box", [(-50, -50, 90, 90), (30, 20, 60, 60), (31.2, 23.1, 31.4, 23.3), (0, 0, 0.2, 0.2)])
def test_a_box_at_or_beyond_the_border_has_pixels_inside_only(box: tuple[float, float, float, float]) -> None:
    patch = Target.box(*box).patch(SHAPE)
    assert 1 <= patch.size <= SHAPE[0] * SHAPE[1]
    assert patch.of(np.zeros((*SHAPE, 3))).shape == (patch.size, 3)


@pytest.mark.parametrize("box", [(40, 3, 50, 9), (-9, -9, -1, -1), (5, 30, 9, 40)])
def test_a_box_outside_has_none(box: tuple[float, float, float, float]) -> None:
    assert Target.box(*box).patch(SHAPE).size == 0


def test_sides_of_a_rotated_rectangle() -> None:
    """The upright box of this 10 x 50 rectangle is 38 x 46."""
    tilted = Target(((0, 0), (30, 40), (22, 46), (-8, 6)))
    assert tilted.sides == pytest.approx((10, 50))
    assert tilted.bounds == (-8, 0, 30, 46)


def test_growing_keeps_centre_and_direction() -> None:
    tilted = Target(((0, 0), (30, 40), (22, 46), (-8, 6)))
    grown = tilted.grown(2, 3)
    assert grown.sides == pytest.approx((26, 106))
    assert grown.rectangle.mean(axis=0) == pytest.approx(tilted.rectangle.mean(axis=0))
    (x0, y0), (x1, y1) = grown.rectangle[:2]
    assert math.atan2(y1 - y0, x1 - x0) % (math.pi / 2) == pytest.approx(math.atan2(40, 30) % (math.pi / 2))


def test_an_outline_without_area_is_one_pixel() -> None:
    line = Target(((4.2, 5.1), (4.2, 5.1), (4.2, 5.1)))
    assert line.sides == (0, 0)
    assert np.argwhere(mask(line)).tolist() == [[5, 4]]
    assert line.grown(2, 1).patch(SHAPE).size == 0 or line.grown(2, 1).patch(SHAPE).size <= 9


def test_a_ring_leaves_the_target_out() -> None:
    target = Target.box(10, 8, 20, 16)
    around = ring(target, SHAPE, (1.3, 2.2))
    found = np.zeros(SHAPE, bool)
    around.paint(found)
    inner, outer = mask(target.grown(1.3)), mask(target.grown(2.2))
    assert (found == (outer & ~inner)).all()
    assert not (found & mask(target)).any()


def test_polygons_boxes_and_targets_are_taken() -> None:
    box = Target.box(1, 2, 3, 4)
    assert as_targets([(1, 2, 3, 4), ((1, 2), (3, 2), (3, 4), (1, 4)), box]) == (box, box, box)
