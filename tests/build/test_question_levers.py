"""Contracts of every question lever in the registry, checked on random towns, and mutations that must break them."""

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support import painted
from support.asked import INTENSITIES, MASTER, items, picture, situation, situations, town

from georefusal_build.anchors import Measurement
from georefusal_build.ask import Asked, answer_of, ask, judge, measure_question, question_bank
from georefusal_build.bands import BANDS, decide
from georefusal_build.bands_questions import QUESTION_BANDS
from georefusal_build.geometry import SURE, Finding
from georefusal_build.levers import QUESTION_FAMILIES, QuestionFamily, find_question
from georefusal_build.levers.asked import Draft, Situation
from georefusal_build.levers.false_premise import NUMBERS
from georefusal_build.outcomes import NotApplicable, Reason
from georefusal_build.templates import lint
from georefusal_task.core.errors import ConfigError
from georefusal_task.core.records import Intensity
from georefusal_task.core.verdicts import Verdict

LOW, MEDIUM, HIGH = Intensity
TOWNS = 30

FAMILIES = list(QUESTION_FAMILIES.values())
every_family = pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)

RARE = {"aq_region_medium", "aq_comparand_medium"}
"""Levers that random towns need not reach; `test_question_examples` shows that they work."""


def labelled(lever_id: str) -> list[tuple[Situation, Asked]]:
    """Return the items of a lever that have a label."""
    return [(one, got) for one, got in items(lever_id, TOWNS) if isinstance(got, Asked) and got.verdict]


def presence(one: Situation) -> bool:
    """Return whether the base's class is there, from the list of objects alone."""
    return any(i.class_name == one.base.class_name for i in one.tile.instances)


# what every family must do


def check_labels(family: QuestionFamily) -> None:
    """LOW is answerable, MEDIUM and HIGH are refusals of the category, wherever there is a label at all."""
    for lever_id, intensity in zip(family.lever_ids, INTENSITIES, strict=True):
        found = labelled(lever_id)
        assert found or lever_id in RARE, f"{lever_id} never reaches its band"
        wanted = Verdict.ANSWER if intensity is LOW else family.category
        for _, got in found:
            assert got.verdict is wanted
            assert (got.answer is not None) == (intensity is LOW)


def check_one_reason(family: QuestionFamily) -> None:
    """What has no label has exactly one reason for it."""
    for lever_id in family.lever_ids:
        for _, got in items(lever_id, TOWNS):
            if isinstance(got, NotApplicable):
                assert got.reason in Reason
            else:
                assert (got.verdict is None) != (got.rejection is None)


def check_rederived(family: QuestionFamily) -> None:
    """The label and the answer follow from the stored numbers and tags alone."""
    for lever_id in family.lever_ids:
        for _, got in items(lever_id, TOWNS):
            if isinstance(got, Asked):
                row = json.loads(json.dumps({"m": got.measurement.to_json(), "t": sorted(got.tags), "p": got.params}))
                measured = Measurement.from_json(row["m"])
                assert judge(lever_id, measured, frozenset(row["t"])) == (got.verdict or got.rejection)
                assert row["p"] == got.params
                if got.answer:
                    assert answer_of(measured) == got.answer


def check_wording(family: QuestionFamily) -> None:
    """Questions obey the rules of the bank and come from the published part of it."""
    shipped = {text for texts in question_bank(MASTER).values() for text in texts}
    for lever_id in family.lever_ids:
        for _, got in labelled(lever_id):
            assert lint(got.question) == []
            assert got.template in shipped
            assert got.variant in {variant.name for variant in family.variants}


def check_low_is_the_base(family: QuestionFamily) -> None:
    """Where LOW comes down to the base question, its answer is whether the class is there."""
    for one, got in labelled(family.lever_ids[0]):
        if family.category not in (Verdict.AMBIGUOUS,) and got.variant != "fine_label":
            assert got.answer == ("yes" if presence(one) else "no")


def check_bases(family: QuestionFamily) -> None:
    """A family whose refusals need a yes is answered on such bases only: the base must not tell the label."""
    for lever_id in family.lever_ids:
        for one, _ in labelled(lever_id):
            assert presence(one) or not family.yes_only


def check_premises(family: QuestionFamily) -> None:
    """What is taken for granted is true at LOW and false at MEDIUM and HIGH, by a second opinion."""
    if family.category is not Verdict.FALSE_PREMISE:
        return
    for lever_id, intensity in zip(family.lever_ids, INTENSITIES, strict=True):
        for one, got in labelled(lever_id):
            assert premise(family.name, one, got) is (intensity is LOW), (lever_id, got.question)


def premise(family: str, one: Situation, got: Asked) -> bool:
    """Judge what a question takes for granted from its words, the list of objects and painted pixels."""
    name = str(got.params["premise"])
    if family == "fp_entity":
        found = len(painted.of_class(one.tile, name))
        return found == 1 if got.variant == "definite" else found > 0
    if family == "fp_count":
        words = set(re.findall(r"[a-z]+", got.question.lower())) & set(NUMBERS)
        assert len(words) == 1, got.question
        return NUMBERS.index(words.pop()) + 2 == len(painted.of_class(one.tile, name))
    if family == "fp_place":
        (there,) = painted.of_class(one.tile, name)
        said = re.search(r"(upper|lower)-(left|right)", got.question)
        assert said, got.question
        return painted.quarter(there) == said.group()
    if family == "fp_capture":
        return looks_like(name, one)
    classes = [str(c) for c in got.params["classes"]]  # type: ignore[union-attr]
    assert name.lower() in got.question.lower()
    return painted.holds(got.variant, one.tile, classes, name, one.pixels)


def looks_like(name: str, one: Situation) -> bool:
    """The picture of the towns is known: by day, clear, from above, in colour where it is optical."""
    optical = one.tile.scene.modality == "optical"
    true = {"view from overhead"}
    true |= {"colour optical image", "daylight image", "cloud-free image"} if optical else {"radar image"}
    return name in true


def check_readings(family: QuestionFamily) -> None:
    """The stored readings are those that a second opinion finds, and promise what they should."""
    if family.category is not Verdict.AMBIGUOUS:
        return
    for lever_id, intensity in zip(family.lever_ids, INTENSITIES, strict=True):
        for one, got in labelled(lever_id)[:12]:
            stored = [bool(v) for v in got.measurement.per_instance["reading"]]
            if intensity is LOW:
                assert len({*stored}) == 1
            elif lever_id != "aq_criterion_high":
                assert {*stored} == {True, False}
            found = readings(family.name, one, got)
            if found is not None:
                assert sorted(found) == sorted(stored), (lever_id, got.question, found, stored)


def readings(family: str, one: Situation, got: Asked) -> list[bool] | None:
    """Work out by brute force what each way to understand a question comes to."""
    asked = painted.of_class(one.tile, one.base.class_name)
    anchors = painted.of_class(one.tile, str(got.params.get("anchor", "")))
    pronoun = got.variant in ("pronoun", "elided")
    if pronoun:
        anchors = [i for i in one.tile.instances if i.class_name != one.base.class_name]
    if family == "aq_deictic":
        return None if pronoun else [any(painted.gap(a, c) <= painted.sides(a)[1] for c in asked) for a in anchors]
    if family == "aq_comparand":
        long = max(painted.sides(c)[1] for c in asked)
        return None if pronoun else [long > painted.sides(a)[1] for a in anchors]
    if family == "aq_region" and got.variant == "by_class":
        return [any(painted.quarter(c) == q for c in asked) for q in {painted.quarter(a) for a in anchors}]
    if family == "aq_criterion" and got.lever_id == "aq_criterion_low":
        limit = int(re.findall(r"\d+", got.question)[0])
        return [max(painted.sides(c)[1] for c in asked) >= limit]
    return None


CHECKS: list[Callable[[QuestionFamily], None]] = [
    check_labels,
    check_one_reason,
    check_rederived,
    check_wording,
    check_low_is_the_base,
    check_bases,
    check_premises,
    check_readings,
]


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
    *(frozenset({clause}) for clause in ("ladder", "ratio", "angle", "brightness")),
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


# mutations


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
