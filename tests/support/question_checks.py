"""What every family of question levers must do, as functions that a broken lever makes fail."""

import json
import re
from collections.abc import Callable

from support import painted
from support.asked import INTENSITIES, MASTER, items, kind_of

from georefusal_build.anchors import Measurement
from georefusal_build.ask import Asked, answer_of, judge, question_bank
from georefusal_build.levers import QuestionFamily
from georefusal_build.levers.asked import Situation
from georefusal_build.levers.false_premise import NUMBERS
from georefusal_build.outcomes import NotApplicable, Reason
from georefusal_build.templates import lint
from georefusal_task.core.records import Intensity
from georefusal_task.core.verdicts import Verdict

LOW = Intensity.LOW
TOWNS = 30

RARE = {"aq_region_medium", "aq_comparand_medium"}
"""Levers that random towns need not reach; `test_question_examples` shows that they work."""


def labelled(lever_id: str) -> list[tuple[Situation, Asked]]:
    """Return the items of a lever that have a label."""
    return [(one, got) for one, got in items(lever_id, TOWNS) if isinstance(got, Asked) and got.verdict]


def presence(one: Situation) -> bool:
    """Return whether the base's class is there, from the list of objects alone."""
    return any(i.class_name == one.base.class_name for i in one.tile.instances)


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
        said = re.search(r"(upper|lower)-(left|right)|(left|right|upper|lower) third", got.question)
        assert said, got.question
        side = said.group().removesuffix(" third")
        return painted.third(there, side) if said[3] else painted.quarter(there) == side
    if family == "fp_capture":
        return looks_like(name, one)
    classes = [str(c) for c in got.params["classes"]]  # type: ignore[union-attr]
    assert name.lower() in got.question.lower()
    return painted.holds(got.variant, one.tile, classes, name, one.pixels)


def looks_like(name: str, one: Situation) -> bool:
    """The picture of the towns is known: from above, and by day and clear where it is optical."""
    kind = kind_of(int(one.tile.scene.id.partition("/")[2]))
    true = {"radar": {"radar image"}, "grey": {"grey-scale optical image"}, "colour": {"colour optical image"}}[kind]
    true |= set() if kind == "radar" else {"daylight image", "cloud-free image"}
    return name in true | {"view from overhead"}


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
