"""When a class may be asked about, and what the answer is."""

from pathlib import Path

import numpy as np
import pytest
import shapely
from hypothesis import given, settings
from hypothesis import strategies as st

from georefusal_build.asking import QUARTERS, Bar, Court, Limits, Ruling, Scope, region
from georefusal_build.classes import ClassTable
from georefusal_build.polygons import Points
from georefusal_build.scenes import IgnoreRegion, Instance, Scene, Tile, Tiling, cut_tiles

TABLE = ClassTable.load()
SIZE = 200


def box(x: float, y: float, w: float, h: float) -> Points:
    return (x, y), (x + w, y), (x + w, y + h), (x, y + h)


def tile(*instances: Instance, cut: frozenset[str] = frozenset(), **facts: object) -> Tile:
    scene = Scene("coco/1", Path("1.png"), SIZE, SIZE, "optical", "coco", instances=instances, **facts)  # type: ignore[arg-type]
    return Tile(scene, 0, 0, SIZE, SIZE, instances, cut, ignore_regions=scene.ignore_regions)


def ship(x: float, y: float, w: float = 20, h: float = 20, **more: bool) -> Instance:
    return Instance("ship", box(x, y, w, h), **more)


SHIPS = frozenset({"ship"})


@pytest.mark.parametrize(
    ("given", "scope", "expected"),
    [
        (tile(ship(10, 10)), "whole", "yes"),
        (tile(ship(10, 10)), "upper-left", "yes"),
        (tile(ship(10, 10)), "upper-right", Bar.INCOMPLETE),
        (tile(ship(10, 10), complete=SHIPS), "upper-right", "no"),
        (tile(ship(90, 10), complete=SHIPS), "upper-left", Bar.STRADDLES),
        (tile(ship(101, 10), complete=SHIPS), "upper-left", Bar.STRADDLES),  # too close to the border to say no
        (tile(ship(105, 10), complete=SHIPS), "upper-left", "no"),
        (tile(ship(90, 10), ship(10, 10)), "upper-left", "yes"),
        (tile(ship(10, 10, w=15)), "whole", Bar.TOO_SMALL),
        (tile(ship(10, 10, difficult=True), complete=SHIPS), "whole", Bar.DIFFICULT),
        (tile(ship(10, 10, truncated=True)), "whole", Bar.TRUNCATED),
        (tile(ship(10, 10, w=15), ship(50, 50, difficult=True)), "whole", Bar.DIFFICULT),
        (tile(ship(10, 10), ship(0, 90, truncated=True), cut=SHIPS), "whole", "yes"),  # a whole one settles it
        (tile(ship(0, 90, truncated=True), cut=SHIPS, complete=SHIPS), "whole", Bar.CUT),
        (tile(ship(0, 10, truncated=True), cut=SHIPS, complete=SHIPS), "lower-right", Bar.CUT),  # no "no" beside it
        (tile(), "whole", Bar.INCOMPLETE),
        (tile(complete=SHIPS), "whole", "no"),
        (tile(verified_absent=SHIPS), "whole", "no"),
        (tile(complete=SHIPS, undecidable=SHIPS), "whole", Bar.UNDECIDABLE),
        (tile(complete=SHIPS, ignore_regions=(IgnoreRegion("ship", box(0, 0, 9, 9)),)), "whole", Bar.IGNORED),
        (tile(complete=SHIPS, ignore_regions=(IgnoreRegion("all", box(0, 0, 9, 9)),)), "upper-left", Bar.IGNORED),
        (tile(complete=SHIPS, ignore_regions=(IgnoreRegion("ship", box(0, 0, 9, 9)),)), "lower-right", "no"),
        (tile(ship(10, 10), ignore_regions=(IgnoreRegion("ship", box(0, 0, 9, 9)),)), "whole", "yes"),
    ],
)
def test_rulings(given: Tile, scope: Scope, expected: str) -> None:
    wanted = Ruling(bar=expected) if isinstance(expected, Bar) else Ruling(expected)  # type: ignore[arg-type]
    assert Court(given, TABLE).rule("ship", scope) == wanted


def test_a_rival_forbids_no_but_not_yes() -> None:
    overpass = Instance("overpass", box(10, 10, 30, 30))
    court = Court(tile(overpass, complete=frozenset({"bridge", "overpass"})), TABLE)
    assert court.rule("bridge") == Ruling(bar=Bar.RIVAL)
    assert court.rule("bridge", "lower-right") == Ruling("no")
    assert court.rule("overpass") == Ruling("yes")


def test_doubt_about_a_rival_forbids_no() -> None:
    court = Court(tile(complete=frozenset({"lake"}), undecidable=frozenset({"pond"})), TABLE)
    assert court.rule("lake") == Ruling(bar=Bar.UNDECIDABLE)


def test_what_a_class_includes_counts_for_it() -> None:
    car = Instance("car", box(10, 10, 20, 20))
    court = Court(tile(car, complete=frozenset({"car", "vehicle", "truck or bus"})), TABLE)
    assert court.rule("vehicle") == Ruling("yes")
    assert court.evidence("vehicle") == (car,)
    assert court.rule("truck or bus") == Ruling("no")
    other = Court(tile(Instance("vehicle", box(10, 10, 20, 20)), complete=frozenset({"car", "vehicle"})), TABLE)
    assert other.rule("car") == Ruling(bar=Bar.RIVAL)  # the unnamed vehicle may be a car


def test_names_outside_the_table_are_not_asked() -> None:
    court = Court(tile(Instance("widget", box(10, 10, 20, 20)), Instance("cloud", box(60, 60, 20, 20))), TABLE)
    assert court.rule("widget") == Ruling(bar=Bar.NOT_IN_TABLE)
    assert court.rule("cloud") == Ruling(bar=Bar.NOT_IN_TABLE)  # "on the ground, is there a cloud" has no good answer


def test_a_divisible_class_needs_a_large_enough_piece_in_the_quarter() -> None:
    sea = Instance("sea", box(0, 0, 110, 200), truncated=True)
    court = Court(tile(sea, complete=frozenset({"sea"})), TABLE)
    assert court.rule("sea") == Ruling("yes")
    assert court.rule("sea", "upper-left") == Ruling("yes")
    assert court.rule("sea", "upper-right") == Ruling(bar=Bar.STRADDLES)  # a strip of 10 px


def test_the_quarters_make_up_the_tile() -> None:
    given = tile()
    assert sum(shapely.box(*region(given, quarter)).area for quarter in QUARTERS) == SIZE * SIZE
    assert region(given, "whole") == (0, 0, SIZE, SIZE)
    assert region(given, "upper-right")[:2] == (SIZE / 2, 0)  # x to the right, y down
    assert region(given, "lower-left")[:2] == (0, SIZE / 2)


ships = st.builds(
    ship,
    st.integers(0, SIZE - 60),
    st.integers(0, SIZE - 60),
    st.integers(4, 60),
    st.integers(4, 60),
    difficult=st.booleans(),
)


def window(scope: Scope, margin: int = 0) -> np.ndarray[tuple[int, int], np.dtype[np.bool_]]:
    half, far = SIZE // 2, SIZE + margin
    spans = {"upper": (0, half), "lower": (half, SIZE), "left": (0, half), "right": (half, SIZE), "whole": (0, SIZE)}
    (top, bottom), (left, right) = spans[scope.split("-")[0]], spans[scope.split("-")[-1]]
    mask = np.zeros((SIZE, SIZE), bool)
    mask[max(0, top - margin) : min(far, bottom + margin), max(0, left - margin) : min(far, right + margin)] = True
    return mask


def painted(given: list[Instance], scope: Scope) -> Ruling:
    """A second implementation on a grid of pixels: paint each ship and look where its pixels fall."""
    inside, near = window(scope), window(scope, round(0.02 * SIZE))
    reasons: list[Bar | None] = []
    close = False
    for one in given:
        x0, y0, x1, y1 = (int(v) for v in one.bounds)
        mask = np.zeros_like(inside)
        mask[y0:y1, x0:x1] = True
        close |= bool((mask & near).any())
        if (mask & inside).any():
            small, out = min(x1 - x0, y1 - y0) < 16, bool((mask & ~inside).any())
            reasons.append(
                Bar.DIFFICULT if one.difficult else Bar.TOO_SMALL if small else Bar.STRADDLES if out else None
            )
    if None in reasons:
        return Ruling("yes")
    if reasons:
        return Ruling(bar=min((r for r in reasons if r), key=list(Bar).index))
    return Ruling(bar=Bar.STRADDLES) if close else Ruling("no")


@settings(max_examples=1000, deadline=None)
@given(st.lists(ships, max_size=5), st.sampled_from(["whole", *QUARTERS]))
def test_rulings_agree_with_painted_pixels(found: list[Instance], scope: Scope) -> None:
    assert Court(tile(*found, complete=SHIPS), TABLE).rule("ship", scope) == painted(found, scope)


@given(st.lists(ships, max_size=6), st.sampled_from(QUARTERS))
def test_more_ships_never_turn_a_yes_into_a_no(found: list[Instance], scope: Scope) -> None:
    fewer, more = (Court(tile(*some, complete=SHIPS), TABLE).rule("ship", scope) for some in (found[1:], found))
    if fewer.answer == "yes":
        assert more.answer == "yes"
    if more.answer == "no":
        assert fewer.answer == "no"


@given(st.lists(ships, max_size=6), st.integers(60, 200))
def test_tiles_agree_with_their_scene(found: list[Instance], size: int) -> None:
    """No tile may say "yes" without nearly all of a ship, or "no" where any part of one is left."""
    scene = Scene("coco/1", Path("1.png"), SIZE, SIZE, "optical", "coco", instances=tuple(found), complete=SHIPS)
    for one in cut_tiles(scene, Tiling(size=size), TABLE.divisible):
        answer = Court(one, TABLE).rule("ship").answer
        frame = shapely.box(one.x, one.y, one.x + one.width, one.y + one.height)
        if answer == "yes":
            assert any(i.shape.intersection(frame).area >= 0.9 * i.area - 1e-6 for i in found)
        if answer == "no":
            assert all(i.shape.intersection(frame).area < 1e-6 for i in found)


def test_limits_are_configurable() -> None:
    assert Court(tile(ship(10, 10, w=8)), TABLE, Limits(min_minor_px=8)).rule("ship") == Ruling("yes")
