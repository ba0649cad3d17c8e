"""The catalogue's worked examples, built as scenes by hand: the label that each must get."""

from typing import Any

import numpy as np
import pytest
from support.asked import COMPLETE, MASTER, SIZE, TABLE, census, oblong, picture

from georefusal_build.ask import Asked, ask, question_bank
from georefusal_build.asking import Court
from georefusal_build.levers.asked import Situation
from georefusal_build.outcomes import NotApplicable, Reason
from georefusal_build.questions import Candidate
from georefusal_build.scenes import IgnoreRegion, Instance, Scene, Tile
from georefusal_task.core.verdicts import Verdict

ANSWER, COARSE = Verdict.ANSWER, Verdict.GRANULARITY
AMBIGUOUS, FALSE, NONFACTUAL = Verdict.AMBIGUOUS, Verdict.FALSE_PREMISE, Verdict.NONFACTUAL


def tile(*instances: Instance, modality: str = "optical", gsd_m: float | None = 0.8, **facts: Any) -> Tile:
    facts = {"complete": COMPLETE} | facts
    scene = Scene("x/1", "1.png", SIZE, SIZE, modality, "fair1m", gsd_m, instances=instances, **facts)  # type: ignore[arg-type]
    return Tile(scene, 0, 0, SIZE, SIZE, instances, ignore_regions=scene.ignore_regions)


def about(where: Tile, name: str, pixels: Any = None) -> Situation:
    court = Court(where, TABLE)
    answer = court.rule(name).answer
    assert answer is not None
    base = Candidate(where.scene.id, "fair1m", (0, 0, SIZE, SIZE), name, "whole", answer)
    pixels = picture(where.scene.modality) if pixels is None else pixels
    return Situation(base, court, census(), question_bank(MASTER), pixels=pixels, even=False)


def tries(lever_id: str, one: Situation, count: int = 12) -> list[Any]:
    return [ask(lever_id, one, MASTER, attempt=attempt) for attempt in range(count)]


BRIDGE = oblong("bridge", 400, 100, 40, 200)
BRIDGE_LEFT = oblong("bridge", 100, 420, 24, 90)
SHIP_NEAR = oblong("ship", 400, 240, 20, 60)
SHIP_FAR = oblong("ship", 600, 700, 20, 60)
CAR = oblong("car", 180, 150, 17, 36)
TANKS = tuple(oblong("storage tank", x, y, 50, 50) for x, y in ((120, 120), (220, 220)))
TANK_BELOW = oblong("storage tank", 620, 620, 50, 50)
SHIPS = tuple(oblong("ship", 200 * i + 100, 600, 16 + i, length) for i, length in enumerate((120, 60, 30)))
PLANES = tuple(oblong("plane", 150 + 180 * i, 550, 44, 48) for i in range(3))

EXAMPLES = [
    ("aq_deictic_low", (BRIDGE, SHIP_NEAR), "ship", ANSWER, "yes"),
    ("aq_deictic_low", (BRIDGE, SHIP_FAR), "ship", ANSWER, "no"),
    ("aq_deictic_medium", (TANKS[0], TANK_BELOW, oblong("car", 170, 120, 17, 36)), "car", AMBIGUOUS, None),
    ("aq_deictic_high", (*TANKS, BRIDGE, SHIP_NEAR, *PLANES), "ship", AMBIGUOUS, None),
    ("aq_region_low", (*TANKS, CAR), "car", ANSWER, "yes"),
    ("aq_region_low", (*TANKS, oblong("car", 600, 600, 17, 36)), "car", ANSWER, "no"),
    ("aq_region_medium", (TANKS[0], TANK_BELOW, CAR), "car", AMBIGUOUS, None),
    ("aq_region_high", (CAR,), "car", AMBIGUOUS, None),
    ("aq_criterion_low", (SHIPS[0], SHIPS[2]), "ship", ANSWER, None),
    ("aq_criterion_medium", SHIPS, "ship", AMBIGUOUS, None),
    ("aq_criterion_high", SHIPS, "ship", AMBIGUOUS, None),
    ("aq_sense_low", TANKS, "storage tank", ANSWER, "yes"),
    ("aq_sense_medium", TANKS, "storage tank", AMBIGUOUS, None),
    ("aq_sense_medium", (SHIP_FAR,), "ship", AMBIGUOUS, None),
    ("aq_comparand_low", (BRIDGE, SHIP_FAR), "ship", ANSWER, "no"),
    ("aq_comparand_medium", (BRIDGE, oblong("bridge", 400, 400, 20, 40), oblong("ship", 600, 700, 20, 90)), "ship",
     AMBIGUOUS, None),
    ("aq_comparand_high", (BRIDGE, *TANKS, oblong("ship", 600, 700, 20, 90)), "ship", AMBIGUOUS, None),
    ("fp_entity_low", (BRIDGE, SHIP_FAR), "ship", ANSWER, "yes"),
    ("fp_entity_medium", (SHIP_FAR,), "ship", FALSE, None),
    ("fp_count_low", PLANES, "car", ANSWER, "no"),
    ("fp_count_medium", PLANES, "car", FALSE, None),
    ("fp_count_high", PLANES, "car", FALSE, None),
    ("fp_place_low", (oblong("bridge", 600, 600, 24, 90), SHIP_NEAR), "ship", ANSWER, "yes"),
    ("fp_place_medium", (oblong("bridge", 600, 600, 24, 90), SHIP_NEAR), "ship", FALSE, None),
    ("fp_place_high", (oblong("bridge", 600, 600, 24, 90), SHIP_NEAR), "ship", FALSE, None),
    ("fp_place_low", (BRIDGE_LEFT, SHIP_NEAR), "ship", ANSWER, "yes"),
    ("fp_place_medium", (BRIDGE_LEFT, SHIP_NEAR), "ship", FALSE, None),
    ("fp_place_high", (BRIDGE_LEFT, SHIP_NEAR), "ship", FALSE, None),
    ("gm_part_low", PLANES, "plane", ANSWER, "yes"),
    ("gm_part_medium", PLANES, "plane", COARSE, None),
    ("gm_part_high", PLANES, "plane", COARSE, None),
    ("gm_change_low", (SHIP_FAR,), "ship", ANSWER, "yes"),
    ("gm_change_medium", (SHIP_FAR,), "ship", COARSE, None),
    ("gm_motion_high", (SHIP_FAR,), "ship", COARSE, None),
    ("gm_schedule_medium", PLANES, "plane", COARSE, None),
    ("nf_intent_low", (SHIP_FAR,), "ship", ANSWER, "yes"),
    ("nf_forecast_medium", PLANES, "plane", NONFACTUAL, None),
    ("nf_value_high", (oblong("swimming pool", 300, 300, 20, 40),), "swimming pool", NONFACTUAL, None),
]  # fmt: skip


@pytest.mark.parametrize(("lever", "instances", "name", "verdict", "answer"), EXAMPLES)
def test_worked_examples(
    lever: str, instances: tuple[Instance, ...], name: str, verdict: Verdict, answer: str | None
) -> None:
    got = ask(lever, about(tile(*instances), name), MASTER)
    assert isinstance(got, Asked), got
    assert got.verdict is verdict, (got.question, got.rejection, got.measurement)
    if answer:
        assert got.answer == answer, got.question


def test_two_bridges_make_one_string_ambiguous() -> None:
    """The same words: one bridge, answerable; two bridges that differ, ambiguous."""
    short = oblong("bridge", 400, 400, 20, 40)
    ship = oblong("ship", 600, 700, 20, 90)
    low = ask("aq_comparand_low", about(tile(BRIDGE, ship), "ship"), MASTER)
    medium = ask("aq_comparand_medium", about(tile(BRIDGE, short, ship), "ship"), MASTER)
    assert isinstance(low, Asked)
    assert isinstance(medium, Asked)
    assert low.question == medium.question


@pytest.mark.parametrize(
    ("lever", "instances", "said"),
    [
        ("fp_attribute_low", (BRIDGE, SHIP_NEAR), "three times"),
        ("fp_attribute_high", (oblong("bridge", 400, 100, 30, 200), SHIP_NEAR), "circ"),
        ("fp_attribute_medium", (oblong("bridge", 400, 400, 40, 120, 45), SHIP_NEAR), "left to right"),
        ("fp_attribute_high", (oblong("bridge", 400, 400, 40, 200, 90), SHIP_NEAR), "left to right"),
        ("fp_relation_medium", (oblong("plane", 300, 300, 40, 44), oblong("bridge", 300, 500, 30, 90)), "touch"),
        ("fp_relation_low", (oblong("plane", 300, 300, 40, 44), oblong("bridge", 300, 500, 30, 90)), "above"),
        ("fp_relation_high", (oblong("plane", 300, 500, 40, 44), oblong("bridge", 300, 300, 30, 90)), "above"),
        ("fp_relation_low", (oblong("plane", 60, 300, 40, 44), oblong("bridge", 700, 300, 30, 90)), "opposite"),
    ],
)
def test_clauses(lever: str, instances: tuple[Instance, ...], said: str) -> None:
    """Each clause comes up among the attempts on a scene made for it."""
    found = [got for got in tries(lever, about(tile(*instances), "stadium"), 40) if isinstance(got, Asked)]
    wanted = Verdict.ANSWER if lever.endswith("low") else FALSE
    assert any(said in got.question and got.verdict is wanted for got in found), {got.question for got in found}


def test_between_two_ships() -> None:
    ends = oblong("ship", 200, 400, 20, 60), oblong("ship", 600, 400, 20, 60)
    inside, beyond = oblong("plane", 400, 410, 40, 44), oblong("car", 60, 760, 17, 36)
    for one, lever in ((inside, "fp_relation_low"), (beyond, "fp_relation_high")):
        found = tries(lever, about(tile(*ends, one), "stadium"), 40)
        said = [g.question for g in found if isinstance(g, Asked) and g.verdict and g.variant == "between"]
        assert said, lever


def test_a_plane_beyond_two_ships_has_the_reverse_relation() -> None:
    """The nearer ship lies between the plane and the other one: grossly wrong, however small the miss."""
    ends = oblong("ship", 200, 400, 20, 60), oblong("ship", 330, 400, 20, 60)
    one = about(tile(*ends, oblong("plane", 60, 400, 40, 44)), "stadium")
    variants = {
        level: {got.variant for got in tries(f"fp_relation_{level}", one, 40) if isinstance(got, Asked) and got.verdict}
        for level in ("medium", "high")
    }
    assert "between" in variants["high"]
    assert "between" not in variants["medium"]


def test_the_size_of_a_part_in_pixels() -> None:
    """Worked by hand: a cabin door of 0.9 m at 0.8 m a pixel; without sampling, from 44 px for a nominal 30 m."""
    for gsd_m, pixels in ((0.8, 0.9 / 0.8), (None, 0.9 / 30 * 44)):
        got = ask("gm_part_medium", about(tile(*PLANES, gsd_m=gsd_m), "plane"), MASTER)
        assert isinstance(got, Asked)
        assert got.measurement.image["n_part_px"] == pytest.approx(pixels)


def test_a_radar_image_is_called_one() -> None:
    for lever, said in (("fp_capture_low", "radar image"), ("fp_capture_high", "colour optical image")):
        found = tries(lever, about(tile(SHIP_FAR, modality="sar"), "ship"), 30)
        assert any(said in got.question for got in found)
        assert all("radar" not in got.question for got in found if not lever.endswith("low"))


def test_a_bright_object_on_dark_ground() -> None:
    pixels = np.full((SIZE, SIZE), 60, np.uint8)
    pixels[275:325, 255:345] = 160
    bridge = oblong("bridge", 300, 300, 50, 90)
    found = tries("fp_attribute_low", about(tile(bridge), "ship", pixels), 30)
    assert any(got.variant == "bright" and got.verdict is ANSWER for got in found if isinstance(got, Asked))
    dark = tries("fp_attribute_high", about(tile(bridge), "ship", 220 - pixels), 30)
    assert any(got.variant == "bright" and got.verdict is FALSE for got in dark if isinstance(got, Asked))


# what may not be taken for granted, or counted


@pytest.mark.parametrize(
    "where",
    [
        tile(BRIDGE, SHIP_NEAR, complete=COMPLETE - {"bridge"}),
        tile(oblong("bridge", 400, 100, 40, 200, difficult=True), SHIP_NEAR),
        tile(oblong("bridge", 400, 100, 40, 200, truncated=True), SHIP_NEAR),
        tile(oblong("bridge", 400, 100, 12, 200), SHIP_NEAR),
        tile(BRIDGE, SHIP_NEAR, ignore_regions=(IgnoreRegion("bridge", ((0, 0), (9, 0), (9, 9), (0, 9))),)),
        tile(BRIDGE, SHIP_NEAR, oblong("overpass", 600, 600, 30, 90)),
        tile(BRIDGE, SHIP_NEAR, undecidable=frozenset({"overpass"})),
    ],
    ids=["not complete", "difficult", "cut", "small", "ignored", "a rival", "a rival unknown"],
)
def test_what_is_not_certain_to_be_the_only_one_is_not_called_the(where: Tile) -> None:
    one = about(where, "ship")
    assert one.counted("bridge") is None
    for lever in ("fp_entity_low", "fp_entity_medium", "fp_entity_high", "aq_deictic_low", "fp_place_low"):
        for got in tries(lever, one, 6):
            assert isinstance(got, NotApplicable) or "the bridge" not in got.question.lower()
            assert isinstance(got, NotApplicable) or got.verdict is not FALSE or "bridge" not in got.question


def test_a_second_class_has_nothing_to_do_with_the_first() -> None:
    both = tile(oblong("car", 100, 100, 17, 36), oblong("truck or bus", 300, 300, 20, 60),
                complete=frozenset({"car", "truck or bus", "vehicle"}))  # fmt: skip
    assert about(both, "vehicle").partners("vehicle") == []


def test_objects_that_nearly_touch_are_not_counted() -> None:
    close = (oblong("plane", 200, 200, 44, 44), oblong("plane", 246, 200, 44, 44), oblong("plane", 400, 200, 44, 44))
    for level in ("low", "medium", "high"):
        got = ask(f"fp_count_{level}", about(tile(*close), "car"), MASTER)
        assert isinstance(got, Asked)
        assert got.rejection is Reason.DEAD_ZONE


@pytest.mark.parametrize(
    ("x", "y", "variant"),
    [
        (440, 150, "side"),  # near the line between the quarters, in the middle of the upper edge
        (120, 120, "quarter"),  # in a corner: no side could be wrong by one third only
        (400, 400, ""),  # in the centre of the frame
        (440, 270, ""),  # on a line between thirds, and near one between quarters
        (240, 400, ""),  # in the left third, but hardly
    ],
)
def test_where_an_object_lies_decides_on_the_kind_of_place_at_every_label(x: int, y: int, variant: str) -> None:
    """A kind of place that only some labels could name would tell which label it is."""
    for level in ("low", "medium", "high"):
        got = ask(f"fp_place_{level}", about(tile(oblong("bridge", x, y, 20, 60)), "ship"), MASTER)
        assert (got.variant if isinstance(got, Asked) else "") == variant
        assert isinstance(got, NotApplicable) or got.verdict


@pytest.mark.parametrize(("level", "said"), [("low", {"left"}), ("medium", {"upper", "lower"}), ("high", {"right"})])
def test_sides_said_of_a_bridge_at_the_left_edge(level: str, said: set[str]) -> None:
    middle = about(tile(oblong("bridge", 100, 400, 20, 60)), "ship")
    assert {got.params["place"] for got in tries(f"fp_place_{level}", middle, 30)} == said


def test_a_fine_class_that_the_source_does_not_tell_apart_is_not_ruled_out() -> None:
    """With an unlabelled ship beside the tugboat, no one knows whether there is a fishing boat."""
    tug = oblong("ship", 300, 300, 60, 100, fine_class="tugboat")
    other = oblong("ship", 600, 600, 60, 100)
    mixed = tries("gm_subtype_low", about(tile(tug, other), "ship"), 20)
    assert {got.answer for got in mixed} == {"yes"}
    assert "a tugboat" in " ".join(got.question for got in mixed)
    known = tries("gm_subtype_low", about(tile(tug), "ship"), 40)
    assert {got.answer for got in known} == {"yes", "no"}


@pytest.mark.parametrize(
    ("lever", "name", "scope"),
    [
        ("nf_intent_low", "stadium", "whole"),
        ("gm_change_medium", "stadium", "whole"),
        ("gm_motion_low", "storage tank", "whole"),
        ("fp_entity_low", "ship", "upper-left"),
    ],
)
def test_bases_that_a_family_has_no_use_for(lever: str, name: str, scope: str) -> None:
    one = about(tile(SHIP_FAR, *TANKS), name)
    moved = Situation(
        Candidate(one.base.scene_id, "fair1m", one.base.window, name, scope, one.base.answer),  # type: ignore[arg-type]
        one.court, one.census, one.bank,
    )  # fmt: skip
    got = ask(lever, moved, MASTER)
    assert isinstance(got, NotApplicable)
    assert got.reason is Reason.WRONG_BASE


def test_a_class_that_the_source_never_has_is_not_taken_for_granted() -> None:
    """It would be wrong every time, and the words alone would tell."""
    one = about(tile(SHIP_FAR, complete=COMPLETE | {"volcano"}), "ship")
    for level in ("medium", "high"):
        assert all("volcano" not in got.question for got in tries(f"fp_entity_{level}", one) if isinstance(got, Asked))


def test_numbers_that_are_right_for_another_class_come_first() -> None:
    """With three planes and five cars, "five" is wrong of the planes and right of the cars."""
    cars = tuple(oblong("car", 80 + 90 * i, 80, 17, 36) for i in range(5))
    found = tries("fp_count_medium", about(tile(*PLANES, *cars), "ship"), 30)
    assert {(got.params["premise"], got.params["number"]) for got in found} == {("plane", 5), ("car", 3)}


def test_clauses_that_hold_of_something_else_here_come_first() -> None:
    long, short = oblong("bridge", 300, 100, 24, 220), oblong("plane", 600, 600, 44, 46)
    found = tries("fp_attribute_high", about(tile(long, short), "ship"), 30)
    assert {got.variant for got in found if got.verdict} <= {"elongated", "circular", "aligned", "bright"}
    medium = tries("fp_attribute_medium", about(tile(long, short), "ship"), 30)
    assert {got.variant for got in medium if got.verdict} == {"elongated"}


def test_upright_boxes_do_not_tell_which_of_two_slanted_objects_is_larger() -> None:
    def drawn(oriented: bool) -> list[Any]:
        two = (
            oblong("bridge", 150, 150, 24, 60, oriented=oriented),
            oblong("bridge", 500, 500, 40, 66, oriented=oriented),
        )
        found = tries("fp_attribute_low", about(tile(*two), "ship"), 12)
        return [got for got in found if got.variant == "larger" and got.verdict is ANSWER]

    assert drawn(oriented=True)
    assert not drawn(oriented=False)
