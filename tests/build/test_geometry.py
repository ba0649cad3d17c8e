"""Geometry of what questions say, against plain arithmetic on boxes and brute force over truth tables."""

import itertools
import math
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.asked import oblong

from georefusal_build import geometry as geo
from georefusal_build.geometry import SURE, Finding, Items
from georefusal_build.levers.scope import BRACKETED, SHARED, TANGLED
from georefusal_build.scenes import Instance

FRAME = (200.0, 200.0)

boxes = st.tuples(st.integers(0, 160), st.integers(0, 160), st.integers(4, 40), st.integers(4, 40))
some_boxes = st.lists(boxes, max_size=4)


def box(x: float, y: float, w: float, h: float) -> Instance:
    return Instance("ship", ((x, y), (x + w, y), (x + w, y + h), (x, y + h)))


def gap(a: tuple[int, ...], b: tuple[int, ...]) -> float:
    """Return the distance between two upright boxes by arithmetic."""
    dx = max(a[0] - b[0] - b[2], b[0] - a[0] - a[2], 0)
    dy = max(a[1] - b[1] - b[3], b[1] - a[1] - a[3], 0)
    return math.hypot(dx, dy)


@settings(max_examples=1000, deadline=None)
@given(boxes, some_boxes)
def test_within_and_longer_agree_with_arithmetic(anchor: tuple[int, ...], others: list[tuple[int, ...]]) -> None:
    major = max(anchor[2:])
    near = geo.within(box(*anchor), [box(*one) for one in others])
    if near.margin > 1e-6:
        assert near.truth == any(gap(anchor, one) <= major for one in others)
    long = geo.longer(box(*anchor), [box(*one) for one in others])
    if long.margin > 1e-6:
        assert long.truth == any(max(one[2:]) > major for one in others)


def place(one: tuple[int, ...]) -> str | None:
    """Return the quarter that an upright box lies in, None when it crosses a line."""
    column = "left" if one[0] + one[2] <= 100 else "right" if one[0] >= 100 else None
    row = "upper" if one[1] + one[3] <= 100 else "lower" if one[1] >= 100 else None
    return f"{row}-{column}" if row and column else None


@settings(max_examples=1000, deadline=None)
@given(boxes)
def test_quarters_agree_with_arithmetic(one: tuple[int, ...]) -> None:
    name, margin = geo.quarter(box(*one), FRAME)
    upper = geo.in_upper_half(box(*one), FRAME)
    if margin > 0:
        assert name == place(one)
        assert upper.truth == name.startswith("upper")
    else:
        assert place(one) is None or margin == 0
    sides = [one[0] + one[2] - 100, 100 - one[0], one[1] + one[3] - 100, 100 - one[1]]
    room = min(max(-sides[0], -sides[1]), max(-sides[2], -sides[3])) / 200
    assert margin == pytest.approx(max(0.0, room))


@settings(max_examples=1000, deadline=None)
@given(boxes, st.sampled_from(geo.SIDES))
def test_thirds_agree_with_arithmetic(one: tuple[int, ...], side: geo.Side) -> None:
    """Of a frame of 240 x 300, seen from each side: lines at 80 and 160, or at 100 and 200."""
    x, y, w, h = one
    low, high, whole = {
        "left": (x, x + w, 240), "right": (240 - x - w, 240 - x, 240),
        "upper": (y, y + h, 300), "lower": (300 - y - h, 300 - y, 300),
    }[side]  # fmt: skip
    off, room = geo.thirds_off(box(*one), side, (240.0, 300.0))
    third = whole // 3
    assert off == (low + high) // 2 // third or (low + high) % (2 * third) == 0
    held = [n for n in range(3) if third * n <= low and high <= third * (n + 1)]
    if not held:
        assert room == 0
    else:
        line = {0: third - high, 1: low - third, 2: low - 2 * third}[held[0]]
        assert (off, room) == (held[0], pytest.approx(line / whole, abs=1e-9))


@given(st.sampled_from(geo.SIDES), boxes)
def test_the_opposite_side_is_the_other_two_thirds_away(side: geo.Side, one: tuple[int, ...]) -> None:
    other = geo.SIDES[geo.SIDES.index(side) ^ 1]
    (here, room), (there, _) = (geo.thirds_off(box(*one), which, FRAME) for which in (side, other))
    assert room == 0 or here + there == 2


@given(st.integers(4, 60), st.integers(61, 150), st.sampled_from([0, 17, 45, 63, 90]))
def test_tilt_and_aspect_of_turned_objects(minor: int, major: int, degrees: int) -> None:
    one = oblong("ship", 300, 300, minor, major, degrees)
    assert geo.tilt(one) == pytest.approx(degrees, abs=1e-3)
    assert geo.aspect(one) == pytest.approx(major / minor, rel=1e-4)


def test_upright_boxes_say_less_about_lengths() -> None:
    """A box of 30 x 30 may hold a ship of 30 or of 42 px: neither 35 nor 40 can be told from it."""
    sure, loose = box(0, 0, 30, 30), replace(box(0, 0, 30, 30), oriented=False)
    assert geo.span([sure], 40).margin == pytest.approx(math.log(4 / 3))
    assert geo.span([loose], 40).margin == 0
    assert geo.span([loose], 60).margin == pytest.approx(math.log(60 / 30 / math.sqrt(2)))
    assert geo.longer(loose, [loose, box(50, 0, 90, 30)]).margin == pytest.approx(math.log(3 / math.sqrt(2)))
    assert geo.within(loose, [box(75, 0, 30, 30)]).margin == pytest.approx(math.log(1.5) - math.log(2) / 2)


def test_distinct_gap() -> None:
    assert geo.distinct_gap([box(0, 0, 10, 10), box(13, 0, 10, 10), box(40, 0, 10, 10)]) == 3
    assert geo.distinct_gap([box(0, 0, 10, 10)]) == math.inf


# findings


findings = st.builds(Finding, st.booleans(), st.sampled_from([0.0, 0.1, 0.2, 0.5, SURE]))
formulas = st.sampled_from(
    [
        lambda a, b, c: a & (b | c),
        lambda a, b, c: (a & b) | c,
        lambda a, b, c: ~(a | b) & c,
        lambda a, b, c: geo.some([a, ~b, c]) & geo.every([a | b, c]),
    ]
)


@given(formulas, findings, findings, findings)
def test_what_is_less_safe_than_the_whole_cannot_turn_it(formula, a, b, c) -> None:  # type: ignore[no-untyped-def]
    """Turning every part whose margin is below that of the whole leaves the whole as it is."""
    whole = formula(a, b, c)
    turned = [~one if one.margin < whole.margin else one for one in (a, b, c)]
    assert formula(*turned).truth == whole.truth


@given(findings, findings)
def test_de_morgan(a: Finding, b: Finding) -> None:
    assert ~(a & b) == (~a | ~b)
    assert (a & b).truth == (a.truth and b.truth)


# sentence structures, read a second time


def truths(c: bool, a: bool, b: bool) -> dict[str, set[bool]]:
    """Return the values that each plain structure can take, written out from its words."""
    return {
        "and_or": {c and (a or b), (c and a) or b},
        "lack_pair": {not c and not a, not c or not a},
        "lack_and_or": {not (c and (a or b)), not ((c and a) or b)},  # "none of them" adds no third truth
        "both": {c and a},
        "either": {c or a},
        "neither": {not c and not a},
    }  # fmt: skip


@pytest.mark.parametrize(("c", "a", "b"), list(itertools.product([False, True], repeat=3)))
def test_plain_structures_by_truth_table(c: bool, a: bool, b: bool) -> None:
    items: Items = {letter: (box(0, 0, 9, 9),) * there for letter, there in zip("CAB", (c, a, b), strict=True)}
    for name, expected in truths(c, a, b).items():
        form = {**SHARED, **BRACKETED, **TANGLED}[name]
        readings = form.clause({letter: items[letter] for letter in form.letters}, FRAME)
        assert {one.truth for one in readings} == expected, name
        assert all(one.margin == SURE for one in readings)


@settings(max_examples=1000, deadline=None)
@given(some_boxes, some_boxes, some_boxes)
def test_placed_structures_by_brute_force(
    cs: list[tuple[int, ...]], as_: list[tuple[int, ...]], bs: list[tuple[int, ...]]
) -> None:
    given_boxes = {"C": cs, "A": as_, "B": bs}
    items: Items = {letter: tuple(box(*one) for one in found) for letter, found in given_boxes.items()}
    if any(geo.quarter(one, FRAME)[1] == 0 for found in items.values() for one in found):
        return
    up = {letter: [str(place(one)).startswith("upper") for one in found] for letter, found in given_boxes.items()}
    c, a, b = (any(up[letter]) for letter in "CAB")
    together = [[place(x) == place(y) for y in as_] for x in cs]
    expected = {
        "half_pair": [c and a, bool(cs) and a],
        "all_not": [not all(up["C"]), not any(up["C"])],
        "share": [any(map(all, together)), all(any(place(x) == place(y) for x in cs) for y in as_)],
        "upper": [c],
        "several": [len(cs) > 1],
        "half_and_or": [c and (a or b), (c and a) or b, bool(cs) and (a or b), (bool(cs) and bool(as_)) or b],
        "lack_half": [not c and not a, not c or not a, not cs and not a, not cs or not a],
        "all_not_every": [
            all(not all(row) for row in together), not all(all(row) for row in together), not any(map(any, together)),
        ],
    }  # fmt: skip
    for name, values in expected.items():
        form = {**SHARED, **BRACKETED, **TANGLED}[name]
        assert [one.truth for one in form.clause(items, FRAME)] == values, name
    assert {*expected, *truths(True, True, True)} == {*SHARED, *BRACKETED, *TANGLED}


def test_geometry_of_no_reading_and_of_two() -> None:
    empty = geo.geometry({}, FRAME, lambda _items, _frame: ())
    assert (empty.truth, empty.n_ref, empty.margin) == (False, 0, SURE)
    two = geo.geometry({}, FRAME, lambda _items, _frame: (Finding(True, 0.5), Finding(False, 0.2)))
    assert (two.truth, two.n_ref, two.margin) == (False, 2, 0.2)
