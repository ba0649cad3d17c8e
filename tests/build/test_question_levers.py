"""Contracts of every question lever in the registry, checked on random towns, and mutations that must break them."""

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.asked import INTENSITIES, MASTER, items, picture, scattered, situation, situations, town
from support.question_checks import CHECKS, TOWNS, check_premises, labelled, premise

from georefusal_build import geometry as geo
from georefusal_build.ask import Asked, ask, judge, question_bank
from georefusal_build.bands import BANDS, decide
from georefusal_build.bands_questions import QUESTION_BANDS
from georefusal_build.geometry import SURE, Finding
from georefusal_build.judging import rederive
from georefusal_build.levers import QUESTION_FAMILIES, QuestionFamily, find_question
from georefusal_build.levers.asked import Draft, Situation, measure_question
from georefusal_build.outcomes import Reason
from georefusal_task.core.errors import ConfigError
from georefusal_task.core.records import Intensity
from georefusal_task.core.verdicts import Verdict

LOW, MEDIUM, HIGH = Intensity
FAMILIES = list(QUESTION_FAMILIES.values())
every_family = pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__.removeprefix("check_"))
@every_family
def test_contract(check: Callable[[QuestionFamily], None], family: QuestionFamily) -> None:
    check(family)


@every_family
def test_the_same_item_comes_again_and_another_attempt_or_seed_may_differ(family: QuestionFamily) -> None:
    for lever_id in family.lever_ids:
        found = labelled(lever_id)[:3]
        for one, got in found:
            again = ask(lever_id, replace(one), MASTER)
            assert isinstance(again, Asked)
            assert (again.question, again.measurement, again.params) == (got.question, got.measurement, got.params)
    low = labelled(family.lever_ids[0])
    assert {ask(family.lever_ids[0], low[0][0], MASTER, attempt=a).question for a in range(5)} != {low[0][1].question}  # type: ignore[union-attr]


SHARED = [f for f in FAMILIES if f.category is Verdict.FALSE_PREMISE or f.name in ("gm_part", "gm_subtype")]
HALF_SHARED = [QUESTION_FAMILIES[n] for n in ("aq_deictic", "aq_region", "aq_comparand", "aq_sense")]


@pytest.mark.parametrize("family", [*SHARED, *HALF_SHARED], ids=lambda family: family.name)
def test_no_shared_string_belongs_to_one_label(family: QuestionFamily) -> None:
    """On one base, LOW and MEDIUM (and HIGH, where the list is shared) draw one template."""
    together = INTENSITIES if family in SHARED else (LOW, MEDIUM)
    for i in range(0, len(situations(TOWNS)), 7):
        drawn = set()
        for lever_id, intensity in zip(family.lever_ids, INTENSITIES, strict=True):
            got = items(lever_id, TOWNS)[i][1]
            if intensity in together and isinstance(got, Asked):
                drawn.add(got.template)
        assert len(drawn) <= 1
    bank = question_bank(MASTER)
    assert not [name for name in bank if name.startswith(family.name) and name.endswith(("_low", "_medium"))]


@pytest.mark.parametrize("family", [f for f in FAMILIES if f.category is Verdict.FALSE_PREMISE], ids=lambda f: f.name)
def test_the_question_does_not_depend_on_the_answer_of_the_base(family: QuestionFamily) -> None:
    """Nouns and templates must not tell whether what is asked about is there."""
    for lever_id in family.lever_ids:
        for one, got in labelled(lever_id)[:5]:
            turned = replace(one, base=replace(one.base, answer="no" if one.base.answer == "yes" else "yes"))
            other = ask(lever_id, turned, MASTER)
            assert isinstance(other, Asked)
            assert other.template == got.template
            if got.answer is None:
                assert other.question == got.question


def test_both_answers_occur_in_families_that_allow_it() -> None:
    for family in FAMILIES:
        if not family.yes_only or family.category is Verdict.AMBIGUOUS:
            answers = {got.answer for _, got in labelled(family.lever_ids[0])}
            assert answers == {"yes", "no"} or family.name == "aq_sense", family.name


@every_family
def test_every_lever_has_a_band_with_the_verdict_of_its_category(family: QuestionFamily) -> None:
    low, medium, high = (BANDS[lever_id] for lever_id in family.lever_ids)
    assert low.verdict is Verdict.ANSWER
    assert medium.verdict is high.verdict is family.category


def test_bands_and_families_are_the_same_levers() -> None:
    assert set(QUESTION_BANDS) == {lever_id for family in FAMILIES for lever_id in family.lever_ids}


FIGURES = sorted(
    {
        c.field
        for band in QUESTION_BANDS.values()
        for rule in band.rules
        for c in rule.conditions
        if rule.over == "image"
    }
    - {"differ", "n_readings"}
)
EDGES = sorted({c.value for band in QUESTION_BANDS.values() for rule in band.rules for c in rule.conditions})
near_an_edge = st.one_of(st.sampled_from(EDGES), st.sampled_from(EDGES).map(lambda v: v + 1e-6), st.floats(-1, 60))
findings = st.builds(Finding, st.booleans(), st.sampled_from([0.0, 0.04, 0.06, 0.3, 0.5, SURE]))
TAGS = [
    *(frozenset({asks, there}) for asks in ("fine", "super") for there in ("there", "absent")),
    *(frozenset({clause}) for clause in ("ladder", "ratio", "angle", "brightness", "quarter", "side")),
]


@settings(max_examples=150, deadline=None)
@given(
    st.lists(findings, max_size=5),
    st.dictionaries(st.sampled_from(FIGURES), near_an_edge),
    st.lists(near_an_edge, min_size=1, max_size=3),
    st.sampled_from(TAGS),
)
def test_no_measurement_is_both_answerable_and_to_be_refused(
    found: list[Finding], figures: dict[str, float], sizes: list[float], tags: frozenset[str]
) -> None:
    columns = {"n_eff": tuple(sizes), "is_fine": tuple(1.0 for _ in sizes)}
    if "fine" in tags:
        figures = figures | {"fine_n_eff": max(sizes)}
    measured = measure_question(Draft("?", {}, tuple(found), figures, columns))
    for family in FAMILIES:
        low, *refusals = (decide(lever_id, measured, tags) for lever_id in family.lever_ids)
        if low is Verdict.ANSWER:
            assert not [verdict for verdict in refusals if isinstance(verdict, Verdict)], family.name


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ({}, Verdict.ANSWER),
        ({"premise_true": 0.0}, Reason.COLLATERAL),
        ({"n_acq_missing": 1.0}, Reason.DEAD_ZONE),
        ({"unsettleable": 1.0}, Reason.COLLATERAL),
        ({"undefined": 1.0}, Reason.COLLATERAL),
        ({"n_part_px": 1.0}, Reason.COLLATERAL),
    ],
)
def test_a_second_reason_to_refuse_makes_an_item_collateral(more: dict[str, float], expected: Verdict | Reason) -> None:
    figures = {"n_acq_missing": 0.0} | more
    measured = measure_question(Draft("?", {}, (Finding(True),), figures))
    assert judge("gm_change_low", measured, frozenset({"yes"})) is expected


def test_a_lower_reason_does_not_matter() -> None:
    """FALSE_PREMISE outranks what else may be wrong with the question."""
    figures = {"premise_true": 0.0, "n_ref": 0.0, "company": 3.0, "unsettleable": 1.0, "n_acq_missing": 1.0}
    measured = measure_question(Draft("?", {}, (Finding(True),), figures))
    assert judge("fp_entity_medium", measured, frozenset({"yes"})) is Verdict.FALSE_PREMISE


def test_unknown_levers() -> None:
    for name in ("gm_part", "gm_part_extreme", "im_occlude_low", ""):
        with pytest.raises(ConfigError, match="no question lever"):
            find_question(name)


def test_a_crossed_lever_coarsens_the_image_it_asks_about() -> None:
    coarse = [got for _, got in labelled("gm_subtype_medium") if got.variant == "fine_label"]
    assert coarse
    for got in coarse:
        assert got.pixels is not None
        assert got.pixels.shape == picture("optical").shape or got.pixels.ndim == 2
        assert max(got.measurement.per_instance["n_eff"]) == pytest.approx(got.measurement.image["fine_n_eff"])  # type: ignore[type-var]
    assert all(got.pixels is None for lever in ("fp_place_high", "nf_value_low") for _, got in labelled(lever))


def test_without_pixels_nothing_is_said_of_colour_or_brightness() -> None:
    one = situation(town(0), town(0).instances[0].class_name, with_pixels=False)
    assert one is not None
    assert {*one.claims} == {"overhead", "street", "map"}


def at_sides() -> list[dict[str, tuple[Situation, Asked]]]:
    """Return what `fp_place` asks about a side of the frame, by level, for each base that has such items."""
    found = []
    for number in range(30):
        tile = scattered(number)
        for name in (tile.instances[0].class_name, "stadium"):
            one = situation(tile, name, with_pixels=False)
            assert one is not None
            got = {level: ask(f"fp_place_{level.lower()}", one, MASTER) for level in INTENSITIES}
            labelled = {level: (one, item) for level, item in got.items() if isinstance(item, Asked) and item.verdict}
            assert len(labelled) in (0, 3), "a base that has one label has them all"
            assert len({(item.variant, item.template, item.params["premise"]) for _, item in labelled.values()}) < 2
            if labelled and labelled[LOW][1].variant == "side":
                found.append(labelled)
    return found


def check_sides() -> None:
    """The side is true at LOW alone, by painted pixels, and the row alone gives the label again."""
    found = at_sides()
    for level in INTENSITIES:
        for one, got in (by_level[level] for by_level in found):
            assert premise("fp_place", one, got) is (level is LOW), (level, got.question)
            row = {"operator": got.lever_id, "tags": sorted(got.tags), "measurement": got.measurement.to_json()}
            assert rederive(json.loads(json.dumps(row))) is (Verdict.ANSWER if level is LOW else Verdict.FALSE_PREMISE)
        assert {by_level[level][1].params["place"] for by_level in found} == {*geo.SIDES}


def test_a_side_of_the_frame_is_true_or_false_as_its_label_says() -> None:
    check_sides()


def test_a_side_that_is_wrong_by_one_third_is_not_high() -> None:
    for by_level in at_sides()[:10]:
        levels = {
            level: [
                isinstance(judge(f"fp_place_{at.lower()}", got.measurement, got.tags), Verdict) for at in INTENSITIES
            ]
            for level, (_, got) in by_level.items()
        }
        assert levels == {at: [at is other for other in INTENSITIES] for at in INTENSITIES}


# mutations


def test_sides_mistaken_for_their_opposites_turn_the_checks_red(monkeypatch: pytest.MonkeyPatch) -> None:
    """LOW and HIGH swapped: "left" said of what lies on the right counts as true."""
    right = geo.thirds_off
    monkeypatch.setattr(
        geo, "thirds_off", lambda one, side, frame: right(one, geo.SIDES[geo.SIDES.index(side) ^ 1], frame)
    )
    with pytest.raises(AssertionError):
        check_sides()


def test_swapped_bands_of_sides_turn_the_checks_red(monkeypatch: pytest.MonkeyPatch) -> None:
    low, high = (BANDS[f"fp_place_{level}"] for level in ("low", "high"))
    monkeypatch.setitem(BANDS, "fp_place_low", replace(high, verdict=low.verdict))
    monkeypatch.setitem(BANDS, "fp_place_high", replace(low, verdict=high.verdict))
    monkeypatch.setattr("georefusal_build.ask.standing", lambda _: frozenset())
    with pytest.raises(AssertionError):
        check_sides()


def broken(family: QuestionFamily, how: str) -> Iterator[None]:
    """Replace a family by one that is wrong in one way."""
    swapped = {LOW: HIGH, MEDIUM: MEDIUM, HIGH: LOW}

    def pose(one: Situation, stream: Any, intensity: Intensity) -> Iterator[Draft]:
        if how == "swapped":
            yield from family.pose(one, stream, swapped[intensity])
        elif how == "silent":
            yield from ()
        else:
            for draft in family.pose(one, stream, intensity):
                yield replace(draft, readings=tuple(~r for r in draft.readings))

    QUESTION_FAMILIES[family.name] = replace(family, pose=pose)
    items.cache_clear()
    yield
    QUESTION_FAMILIES[family.name] = family
    items.cache_clear()


@pytest.mark.parametrize("how", ["swapped", "silent", "lying"])
@pytest.mark.parametrize("name", ["fp_entity", "gm_change", "aq_region", "nf_value", "gm_part"])
def test_a_broken_lever_turns_the_checks_red(name: str, how: str) -> None:
    family = QUESTION_FAMILIES[name]
    context = broken(family, how)
    next(context)
    try:
        failed = []
        for check in CHECKS:
            try:
                partial(check, QUESTION_FAMILIES[name])()
            except AssertionError:
                failed.append(check.__name__)
        assert failed, f"no check notices that {name} is {how}"
    finally:
        next(context, None)


@pytest.mark.parametrize("name", ["fp_place", "fp_count", "fp_attribute"])
def test_swapped_bands_turn_the_checks_red(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A label that rests on the wrong band is found by the second opinion on the premise."""
    low, high = (BANDS[f"{name}_{level}"] for level in ("low", "high"))
    monkeypatch.setitem(BANDS, f"{name}_low", replace(high, verdict=low.verdict))
    monkeypatch.setattr("georefusal_build.ask.standing", lambda _: frozenset())
    items.cache_clear()
    try:
        with pytest.raises(AssertionError):
            check_premises(QUESTION_FAMILIES[name])
    finally:
        items.cache_clear()
