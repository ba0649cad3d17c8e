"""Geometry of regions against naive computations: one shapely call per pair, all subsets, one point at a time."""

import itertools
import math

import numpy as np
import pytest
import shapely
from hypothesis import given, settings
from hypothesis import strategies as st

from georefusal_task.core.boxes import Regions, covered, match_count, polygon_iou, union_area
from georefusal_task.core.frames import Points

SIDE = 64


def box(x1: float, y1: float, x2: float, y2: float) -> Points:
    return ((x1, y1), (x2, y1), (x2, y2), (x1, y2))


def turned(x: float, y: float, w: float, h: float, degrees: float) -> Points:
    cos, sin = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
    corners = ((-w / 2, -h / 2), (w / 2, -h / 2), (w / 2, h / 2), (-w / 2, h / 2))
    return tuple((x + a * cos - b * sin, y + a * sin + b * cos) for a, b in corners)


whole = st.integers(0, SIDE - 1)
sizes = st.integers(1, 24)
upright = st.builds(lambda x, y, w, h: box(x, y, x + w, y + h), whole, whole, sizes, sizes)
oriented = st.builds(turned, whole, whole, sizes, sizes, st.integers(-90, 90))
triangles = st.builds(lambda x, y, w, h: ((x, y), (x + w, y), (x, y + h)), whole, whole, sizes, sizes)
any_region = upright | oriented | triangles
many_upright, many = st.lists(upright, max_size=8), st.lists(any_region, max_size=6)


def naive_iou(a: Points, b: Points) -> float:
    first, second = shapely.Polygon(a), shapely.Polygon(b)
    return first.intersection(second).area / first.union(second).area


def naive_matches(pred: list[Points], gold: list[Points], iou: float) -> int:
    """Return the largest matching, by trying every way to give each prediction an annotation or none."""
    fits = [[j for j, g in enumerate(gold) if naive_iou(p, g) >= iou - 1e-9] for p in pred]

    def best(i: int, taken: frozenset[int]) -> int:
        if i == len(fits):
            return 0
        return max([best(i + 1, taken)] + [1 + best(i + 1, taken | {j}) for j in fits[i] if j not in taken])

    return best(0, frozenset())


@given(any_region, any_region)
def test_iou_equals_shapely_s_and_is_symmetric(a: Points, b: Points) -> None:
    assert polygon_iou(a, b) == pytest.approx(naive_iou(a, b), abs=1e-9)
    assert polygon_iou(a, b) == pytest.approx(polygon_iou(b, a), abs=1e-12)


def test_iou_of_an_outline_that_crosses_itself() -> None:
    """Annotations have such; they must not end a run."""
    bow = ((0, 0), (4, 4), (4, 0), (0, 4))  # two triangles of 4 each
    assert polygon_iou(bow, box(0, 0, 4, 4)) == pytest.approx(0.5)
    assert match_count([bow], [box(0, 0, 4, 4)]) == 1


def test_iou_where_neither_has_an_area() -> None:
    assert polygon_iou(box(1, 1, 1, 1), box(1, 1, 1, 1)) == 0


@settings(max_examples=60)
@given(many_upright, many_upright)
def test_matching_of_upright_boxes_is_the_largest(pred: list[Points], gold: list[Points]) -> None:
    for iou in (0.1, 0.5):
        assert match_count(pred, gold, iou) == naive_matches(pred, gold, iou)


@settings(max_examples=60)
@given(many, many)
def test_matching_of_any_regions_is_the_largest(pred: list[Points], gold: list[Points]) -> None:
    for iou in (0.1, 0.5):
        assert match_count(pred, gold, iou) == naive_matches(pred, gold, iou)


@given(many, st.randoms())
def test_order_plays_no_part(regions: list[Points], random: object) -> None:
    shuffled = list(regions)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert match_count(shuffled, regions) == match_count(regions, regions) == len(regions)
    assert union_area(shuffled, SIDE, SIDE) == pytest.approx(union_area(regions, SIDE, SIDE))


def test_greedy_matching_would_lose_a_pair() -> None:
    """The first prediction fits both annotations, the second only one of them."""
    pred = [box(0, 0, 10, 10), box(0, 0, 10, 6)]
    gold = [box(0, 0, 10, 8), box(0, 0, 10, 14)]
    assert naive_iou(pred[1], gold[1]) < 0.5
    assert match_count(pred, gold) == match_count(pred[::-1], gold[::-1]) == 2


def test_a_duplicate_matches_nothing_more() -> None:
    assert match_count([box(0, 0, 4, 4)] * 3, [box(0, 0, 4, 4)]) == 1


@pytest.mark.parametrize("scale", [1, 3, 0.1, 7.3])
def test_an_iou_of_exactly_one_half_counts(scale: float) -> None:
    first, second = box(0, 0, 10 * scale, 10 * scale), box(0, 0, 10 * scale, 5 * scale)
    assert match_count([first], [second]) == 1
    assert match_count([turned(5 * scale, 5 * scale, 10 * scale, 10 * scale, 90)], [second]) == 1
    assert match_count([first], [box(0, 0, 10 * scale, 4.99 * scale)]) == 0


def test_no_regions() -> None:
    assert match_count([], [box(0, 0, 1, 1)]) == match_count([box(0, 0, 1, 1)], []) == match_count([], []) == 0
    assert covered([(0, 0)], []).tolist() == [False]
    assert covered([], [box(0, 0, 1, 1)]).tolist() == []
    assert union_area([], SIDE, SIDE) == 0


@given(st.lists(st.tuples(whole, whole), min_size=1, max_size=12), many)
def test_covered_equals_one_shapely_call_per_point(points: list[tuple[int, int]], regions: list[Points]) -> None:
    wanted = [
        any(shapely.Polygon(region).distance(shapely.Point(point)) < 1e-7 for region in regions) for point in points
    ]
    assert covered(points, regions).tolist() == wanted


@given(any_region)
def test_a_point_on_the_border_is_inside(region: Points) -> None:
    """Corners and the middles of sides, for every shape there is."""
    middles = [((a + c) / 2, (b + d) / 2) for (a, b), (c, d) in itertools.pairwise((*region, region[0]))]
    assert covered([*region, *middles], [region]).all()


@pytest.mark.parametrize("extent", [100, 999, 1000])
@pytest.mark.parametrize("width", [640, 1023, 777])
def test_rounding_does_not_take_a_centre_off_the_border(extent: int, width: int) -> None:
    for x in range(1, extent):
        edge, centre = x * width / extent, x / extent * width
        assert covered([(centre, 5)], [box(edge, 0, width + 1, 10)]).all()
        assert covered([(centre, 5)], [box(-1, 0, edge, 10)]).all()


def test_a_point_beside_the_border_is_outside() -> None:
    assert not covered([(10.001, 5), (5, -0.001)], [box(0, 0, 10, 10)]).any()
    assert not covered([(0.4, 0.4)], [((1, 0), (1, 1), (0, 1))]).any()  # within the box around a triangle


def test_the_centre_of_an_instance_is_that_of_its_box() -> None:
    assert Regions.of([((0, 0), (6, 0), (0, 3)), box(2, 2, 4, 8)]).centres.tolist() == [[3, 1.5], [3, 5]]


@given(many)
def test_union_equals_shapely_s(regions: list[Points]) -> None:
    wanted = shapely.union_all([shapely.Polygon(region) for region in regions]).intersection(
        shapely.box(0, 0, SIDE, SIDE)
    )
    assert union_area(regions, SIDE, SIDE) == pytest.approx(wanted.area, abs=1e-6)


@given(many_upright)
def test_union_of_upright_boxes_equals_counting_pixels(regions: list[Points]) -> None:
    pixels = np.zeros((SIDE, SIDE), dtype=bool)
    for (x1, y1), _, (x2, y2), _ in regions:
        pixels[int(y1) : int(y2), int(x1) : int(x2)] = True
    assert union_area(regions, SIDE, SIDE) == pixels.sum()


def test_union_of_more_boxes_than_the_grid_takes() -> None:
    boxes = [box(i, 0, i + 2, 1) for i in range(1000)]
    assert union_area(boxes, 2000, 1) == pytest.approx(1001)


@given(many, st.sampled_from([0.25, 2, 1000]))
def test_scale_changes_no_match_and_no_cover(regions: list[Points], scale: float) -> None:
    larger = [tuple((x * scale, y * scale) for x, y in region) for region in regions]
    centres = Regions.of(regions).centres
    assert covered(centres, regions).tolist() == covered(centres * scale, larger).tolist()
    assert match_count(larger, larger[::-1]) == match_count(regions, regions[::-1])
    assert union_area(larger, int(SIDE * 1000), int(SIDE * 1000)) == pytest.approx(
        scale**2 * union_area(regions, int(SIDE * 1000 / scale), int(SIDE * 1000 / scale)), abs=1e-6
    )


@given(upright)
def test_a_box_is_upright_wherever_its_list_of_corners_begins(region: Points) -> None:
    for start in range(4):
        rolled = region[start:] + region[:start]
        assert Regions.of([rolled, rolled[::-1]]).upright.all()
    assert not Regions.of([(region[0], region[2], region[1], region[3])]).upright.any()
