"""The table of label bands, and `decide` as a pure function of it."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from georefusal_build.anchors import Measurement
from georefusal_build.bands import IMAGE_BANDS as BANDS
from georefusal_build.bands import decide, to_json
from georefusal_build.levers import FAMILIES
from georefusal_build.outcomes import Reason
from georefusal_build.rules import Condition, Rule
from georefusal_task.core.verdicts import Verdict

TAGS = [frozenset({answer, modality}) for answer in ("yes", "no") for modality in ("optical", "sar")]
TAGS += [frozenset({"yes", "optical", "edge"})]
NAMES = sorted({c.field for band in BANDS.values() for rule in band.rules for c in rule.conditions})
EDGES = sorted({c.value for band in BANDS.values() for rule in band.rules for c in rule.conditions})
near_an_edge = st.sampled_from(EDGES).flatmap(lambda v: st.sampled_from([v - 1e-6, v, v + 1e-6]))
values = st.one_of(near_an_edge, st.floats(-1, 60))


@st.composite
def measurements(draw: st.DrawFn) -> Measurement:
    count = draw(st.integers(1, 3))
    per_instance = {name: [draw(values) for _ in range(count)] for name in NAMES}
    return Measurement(per_instance, {name: draw(values) for name in NAMES})


@given(measurements(), st.sampled_from(TAGS))
def test_no_measurement_is_both_answerable_and_to_be_refused(measured: Measurement, tags: frozenset[str]) -> None:
    for family in FAMILIES.values():
        low, *refusals = (decide(lever_id, measured, tags) for lever_id in family.lever_ids)
        if low is Verdict.ANSWER:
            assert not [verdict for verdict in refusals if isinstance(verdict, Verdict)]
        assert set(refusals) <= {family.category, *Reason}


@pytest.mark.parametrize("family", FAMILIES.values(), ids=str)
def test_every_image_lever_has_a_band_with_the_verdict_of_its_category(family: object) -> None:
    low, medium, high = (BANDS[lever_id] for lever_id in family.lever_ids)  # type: ignore[attr-defined]
    assert low.verdict is Verdict.ANSWER
    assert medium.verdict is high.verdict is family.category  # type: ignore[attr-defined]


def test_bands_of_levers_that_do_not_exist_are_gone() -> None:
    assert set(BANDS) == {lever_id for family in FAMILIES.values() for lever_id in family.lever_ids}


def occluded(visible: list[float], around: float, left: float = 0.0, n_eff: float = 20) -> Measurement:
    n = len(visible)
    return Measurement(
        {"visible_fraction": [*visible], "ring_visible": [around] * n, "signal_left": [left] * n, "n_eff": [n_eff] * n}
    )


@pytest.mark.parametrize(
    ("lever", "measured", "expected"),
    [
        ("im_occlude_low", occluded([0.0, 0.9], 1), Verdict.ANSWER),
        ("im_occlude_low", occluded([0.89, 0.2], 1), Reason.DEAD_ZONE),
        ("im_occlude_low", occluded([1.0], 1, n_eff=15), Reason.DEAD_ZONE),
        ("im_occlude_medium", occluded([0.15, 0.0], 0.25), Verdict.INFO_MISSING),
        ("im_occlude_medium", occluded([0.16, 0.0], 0.25), Reason.DEAD_ZONE),
        ("im_occlude_medium", occluded([0.0], 0.24), Reason.DEAD_ZONE),
        ("im_occlude_medium", occluded([0.0], 0.5, left=0.3), Reason.DEAD_ZONE),
        ("im_occlude_high", occluded([0.02], 0.25), Verdict.INFO_MISSING),
        ("im_occlude_high", occluded([0.02], 0.26), Reason.DEAD_ZONE),
        ("im_occlude_high", occluded([0.0], 0.1, n_eff=2), Reason.COLLATERAL),
        ("im_occlude_high", Measurement(), Reason.UNMEASURED),
        (
            "im_occlude_high",
            Measurement({"visible_fraction": [None], "ring_visible": [0.1], "signal_left": [0.0]}),
            Reason.UNMEASURED,
        ),
        ("gm_decimate_low", Measurement({"n_eff": [2.0, 16.0]}), Verdict.ANSWER),
        ("gm_decimate_medium", Measurement({"n_eff": [1.0, 3.0]}), Verdict.GRANULARITY),
        ("gm_decimate_medium", Measurement({"n_eff": [1.0, 1.5]}), Reason.DEAD_ZONE),
        ("gm_decimate_high", Measurement({"n_eff": [1.0, 1.5]}), Verdict.GRANULARITY),
    ],
)
def test_worked_cases(lever: str, measured: Measurement, expected: Verdict | Reason) -> None:
    assert decide(lever, measured) == expected


def test_one_clear_instance_settles_a_yes() -> None:
    """Hiding all but one instance must not become a refusal."""
    hidden_but_one = occluded([0.0, 0.0, 1.0], 0.1)
    assert decide("im_occlude_low", hidden_but_one) is Verdict.ANSWER
    assert decide("im_occlude_high", hidden_but_one) is Reason.DEAD_ZONE


def test_a_bright_point_in_sar_is_not_too_coarse() -> None:
    measured = Measurement({"n_eff": [2.0], "peak_margin_db": [3.8]})
    assert decide("gm_decimate_medium", measured, frozenset({"yes", "sar"})) is Reason.DEAD_ZONE
    assert decide("gm_decimate_medium", measured, frozenset({"yes", "optical"})) is Verdict.GRANULARITY


def test_a_no_needs_most_of_its_region_hidden_and_room_for_an_instance() -> None:
    no = frozenset({"no", "optical"})
    region = {"visible_fraction": [0.15], "n_eff": [100.0]}
    assert decide("im_redact_medium", Measurement(region, {"nominal_fits": 1.0}), no) is Verdict.INFO_MISSING
    assert decide("im_redact_medium", Measurement(region, {"nominal_fits": 0.0}), no) is Reason.DEAD_ZONE
    assert decide("im_redact_medium", Measurement(region), no) is Reason.UNMEASURED
    assert decide("im_redact_low", Measurement({"visible_fraction": [0.99]}), no) is Verdict.ANSWER
    assert decide("im_redact_low", Measurement({"visible_fraction": [0.98]}), no) is Reason.DEAD_ZONE


def test_a_family_that_cannot_refuse_a_no_does_not_answer_one_either() -> None:
    """LOW alone on such bases would make "the base says no" mean "answerable"."""
    for lever in ("im_saturate_low", "im_bury_low", "im_bury_high"):
        assert decide(lever, Measurement({"scan_z": [9.0]}), frozenset({"no", "optical"})) is Reason.WRONG_BASE


def test_a_false_rule_is_not_hidden_by_an_unknown_one() -> None:
    rule = Rule("some", (Condition("a", ">=", 1), Condition("b", ">=", 1)))
    assert rule.holds(Measurement({"a": [0.0], "b": [None]})) is False
    assert rule.holds(Measurement({"a": [1.0], "b": [None]})) is None
    assert rule.holds(Measurement({"a": [1.0, 1.0], "b": [None, 1.0]})) is True


def test_the_table_is_published_as_it_is_applied() -> None:
    path = Path(__file__).parents[2] / "docs" / "levers" / "bands.json"
    assert json.loads(path.read_text()) == to_json(), f"write {path} again: make docs"
