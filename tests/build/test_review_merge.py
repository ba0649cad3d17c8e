"""Two blind votes and, where they differ, a third: what becomes of an item, and how far the reviewers agree."""

import itertools
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.inter_rater import cohens_kappa

from georefusal_build.review.joined import Judged
from georefusal_build.review.merge import (
    Decision,
    Fate,
    alarm,
    decide,
    lever_counts,
    relabelled,
    supports,
    switched_off,
)
from georefusal_build.review.rates import agreement, alpha, alpha_of, coincidences, grade
from georefusal_build.review.summary import blind_votes
from georefusal_task.core.records import Label
from georefusal_task.core.verdicts import VERDICTS, Verdict

HIDDEN, COARSE, UNCLEAR, FALSE = (
    Verdict.INFO_MISSING,
    Verdict.GRANULARITY,
    Verdict.AMBIGUOUS,
    Verdict.FALSE_PREMISE,
)


def label(gold: str = UNCLEAR, **more: Any) -> Label:
    fields = {
        "id": "A-00",
        "set": "A",
        "gold": gold,
        "accept": (gold,),
        "anchor": "consensus",
        "lever": "aq_scope_high",
    }
    return Label(**{**fields, **more})


def vote(verdict: str, reviewer: str = "a", answer: str = "", **more: Any) -> Judged:
    fields = {
        "schema": "review-joined/1", "id": "A-00", "item_sha256": "0", "kind": "blind", "role": "item",
        "reviewer": reviewer, "expects_answer": False, "right_answer": None, "ms": 1, "order": 1, "votes": 1,
        "verdict": verdict, "answer": answer, "alt": None, "confidence": 3, "flags": [], "note": "",
    }  # fmt: skip
    return Judged(**{**fields, **more})


def both(verdict: str, answer: str = "", **more: Any) -> list[Judged]:
    return [vote(verdict, name, answer, **more) for name in "ab"]


def fate(*args: Any, **more: Any) -> tuple[Fate, str]:
    decision = decide(*args, **more)
    return decision.fate, decision.reason


# the rules, one by one


def test_both_say_the_label() -> None:
    assert decide(label(), {}, both(UNCLEAR)) == Decision(Fate.KEEP, verdict=UNCLEAR)
    yes = label(Verdict.ANSWER, answer="yes")
    assert decide(yes, {}, both("ANSWER", "yes")).fate is Fate.KEEP


def test_either_of_two_accepted_verdicts_is_the_label() -> None:
    two = label(HIDDEN, accept=(HIDDEN, COARSE))
    assert decide(two, {}, both(COARSE)).fate is Fate.KEEP
    assert relabelled(two, decide(two, {}, both(COARSE))) == relabelled(two, Decision(Fate.KEEP))


@pytest.mark.parametrize("anchor", ["consensus", "structural", None])
def test_both_agree_on_another_verdict_and_the_item_changes(anchor: str | None) -> None:
    before = label(HIDDEN, accept=(HIDDEN, COARSE), anchor=anchor)
    decision = decide(before, {}, both(FALSE))
    assert (decision.fate, decision.contradicts) == (Fate.CHANGE, True)
    after = relabelled(before, decision)
    assert (after.gold, after.accept, after.answer) == (FALSE, (FALSE,), "")
    assert after.model_copy(update={"gold": HIDDEN, "accept": before.accept, "answer": None}) == before


def test_both_say_that_it_can_be_answered() -> None:
    after = relabelled(label(), decide(label(), {}, both("ANSWER", "no")))
    assert (after.gold, after.accept, after.answer) == (Verdict.ANSWER, (Verdict.ANSWER,), "no")


def test_the_other_answer_is_a_change_too() -> None:
    """A wrong yes would stay in the set if verdicts alone were compared."""
    yes = label(Verdict.ANSWER, answer="yes")
    decision = decide(yes, {}, both("ANSWER", "no"))
    assert decision.fate is Fate.CHANGE
    assert relabelled(yes, decision).answer == "no"
    unknown = label(Verdict.ANSWER, answer=None)
    assert decide(unknown, {}, both("ANSWER", "no")).fate is Fate.KEEP
    assert relabelled(unknown, decide(unknown, {}, both("ANSWER", "no"))).answer is None


@pytest.mark.parametrize("anchor", ["pixel", "geometry"])
def test_a_measurement_never_goes_before_it_is_repeated(anchor: str) -> None:
    measured = label(HIDDEN, anchor=anchor)
    assert decide(measured, {}, both(COARSE)).fate is Fate.REMEASURE
    assert fate(measured, {}, both(COARSE), remeasure=lambda _: HIDDEN) == (Fate.REMOVE, "measurement_stands")
    right = decide(measured, {}, both(COARSE), remeasure=lambda _: COARSE)
    assert (right.fate, relabelled(measured, right).gold) == (Fate.CHANGE, COARSE)
    assert fate(measured, {}, both(COARSE), remeasure=lambda _: FALSE) == (Fate.REMOVE, f"measured_again: {FALSE}")
    assert decide(measured, {}, both(HIDDEN), remeasure=lambda _: COARSE).fate is Fate.KEEP  # nobody contradicts


def test_a_measured_answer_that_both_read_otherwise_goes() -> None:
    yes = label(Verdict.ANSWER, answer="yes", anchor="pixel")
    assert fate(yes, {}, both("ANSWER", "no"), remeasure=lambda one: one.gold) == (Fate.REMOVE, "measurement_stands")


def test_where_they_differ_a_third_person_decides() -> None:
    differ = [vote(UNCLEAR, "a"), vote(FALSE, "b")]
    assert decide(label(), {}, differ).fate is Fate.THIRD
    third = {"kind": "adjudication", "reviewer": "c"}
    assert decide(label(), {}, differ, vote(UNCLEAR, **third)).fate is Fate.KEEP
    assert decide(label(), {}, differ, vote(FALSE, **third)).fate is Fate.CHANGE
    assert fate(label(), {}, differ, vote("REMOVE", **third)) == (Fate.REMOVE, "third_person_removed")
    answers = [vote("ANSWER", "a", "yes"), vote("ANSWER", "b", "no")]
    assert decide(label(Verdict.ANSWER, answer="yes"), {}, answers).fate is Fate.THIRD


def test_nothing_is_settled_by_a_majority() -> None:
    three = [vote(FALSE, "a"), vote(FALSE, "b"), vote(UNCLEAR, "d")]
    assert decide(label(), {}, three).fate is Fate.THIRD


@pytest.mark.parametrize("votes", [[], [vote(UNCLEAR)], [vote(FALSE)]])
def test_one_vote_decides_nothing(votes: list[Judged]) -> None:
    assert decide(label(), {}, votes).fate is Fate.WAIT


def test_an_artefact_is_enough_and_wording_takes_two() -> None:
    box, wording = {"flags": ["box_shaped_artefact"]}, {"flags": ["wording"]}
    assert fate(label(), {}, [vote(UNCLEAR, "a", **box), vote(UNCLEAR, "b")]) == (Fate.REMOVE, "box_shaped_artefact")
    assert decide(label(), {}, [vote(UNCLEAR, "a", **wording), vote(UNCLEAR, "b")]).fate is Fate.KEEP
    assert fate(label(), {}, both(UNCLEAR, **wording)) == (Fate.REMOVE, "wording")
    third = vote(UNCLEAR, "c", kind="adjudication", **wording)
    differ = [vote(UNCLEAR, "a", **wording), vote(FALSE, "b")]
    assert fate(label(), {}, differ, third) == (Fate.REMOVE, "wording")
    others = ["unnatural_image", "class_name_unclear", "duplicate", "other"]
    assert decide(label(), {}, both(UNCLEAR, flags=others)).fate is Fate.KEEP


def test_a_flag_at_the_second_view_counts_and_is_one_persons_only() -> None:
    views = [
        vote(UNCLEAR, "a", flags=["wording"]),
        vote(UNCLEAR, "a", role="repeat", flags=["wording"]),
        vote(UNCLEAR, "b"),
    ]
    assert decide(label(), {}, blind_votes(views)).fate is Fate.KEEP
    views[1] = vote(UNCLEAR, "a", role="repeat", flags=["box_shaped_artefact"])
    assert decide(label(), {}, blind_votes(views)).reason == "box_shaped_artefact"


def test_a_second_verdict_of_both_is_accepted_from_then_on() -> None:
    decision = decide(label(), {}, both(UNCLEAR, alt=COARSE))
    assert relabelled(label(), decision).accept == (UNCLEAR, COARSE)
    assert relabelled(label(), decide(label(), {}, both(FALSE, alt=COARSE))).accept == (FALSE, COARSE)
    one = [vote(UNCLEAR, "a", alt=COARSE), vote(UNCLEAR, "b")]
    other = [vote(UNCLEAR, "a", alt=COARSE), vote(UNCLEAR, "b", alt=HIDDEN)]
    for votes in (one, other):
        assert relabelled(label(), decide(label(), {}, votes)).accept == (UNCLEAR,)


def test_the_levers_row_may_forbid_a_second_verdict() -> None:
    for allowed, accept in ((COARSE, (UNCLEAR, COARSE)), (HIDDEN, (UNCLEAR,)), (None, (UNCLEAR,))):
        decision = decide(label(), {"may_accept": allowed}, both(UNCLEAR, alt=COARSE))
        assert relabelled(label(), decision).accept == accept


outcomes = st.sampled_from([("ANSWER", "yes"), ("ANSWER", "no"), *((verdict, "") for verdict in VERDICTS[1:])])


@given(outcomes, outcomes, st.sampled_from([None, *VERDICTS[1:]]), st.sampled_from(["pixel", "consensus"]), outcomes)
def test_answer_never_stands_beside_a_refusal(
    said: tuple[str, str], gold: tuple[str, str], alt: Verdict | None, anchor: str, third: tuple[str, str]
) -> None:
    before = label(gold[0], answer=gold[1], anchor=anchor)
    fits = alt if said[0] not in ("ANSWER", alt) else None
    for blind in (both(*said, alt=fits), [vote(said[0], "a", said[1], alt=fits), vote(third[0], "b", third[1])]):
        last = vote(third[0], "c", third[1], kind="adjudication")
        decision = decide(before, {}, blind, last, lambda one: one.gold)
        after = relabelled(before, decision)
        assert after.gold in after.accept
        assert Verdict.ANSWER not in after.accept or after.accept == (Verdict.ANSWER,)
        assert bool(after.answer) == (after.gold is Verdict.ANSWER)
        assert not (decision.fate is Fate.CHANGE and anchor == "pixel")
        if decision.fate is Fate.KEEP:
            assert after.gold == before.gold


# levers and alarms


def lever(name: str, changed: int, kept: int) -> tuple[dict[str, Label], dict[str, Decision]]:
    labels, decisions = {}, {}
    for number in range(changed + kept):
        item = f"A-{name[0]}{number:x}"
        labels[item] = label(id=item, lever=name)
        decisions[item] = decide(labels[item], {}, both(FALSE if number < changed else UNCLEAR))
    return labels, decisions


def test_a_lever_with_more_than_a_third_of_its_verdicts_changed_is_switched_off() -> None:
    (bad, bad_fates), (good, good_fates) = lever("bad_low", 3, 5), lever("fine_low", 2, 4)
    labels, decisions = bad | good, bad_fates | good_fates
    assert [(one.lever, one.settled, one.changed, one.off) for one in lever_counts(labels, decisions)] == [
        ("bad_low", 8, 3, True),
        ("fine_low", 6, 2, False),  # a third is not more than a third
    ]
    after = switched_off(labels, decisions)
    assert {after[item].reason for item in bad} == {"lever_switched_off"}
    assert {item: after[item] for item in good} == good_fates


def test_alarms_stand_at_two_and_twenty_percent() -> None:
    assert [bool(alarm(changed, 100)) for changed in (0, 1, 2, 11, 20, 21)] == [True, True, False, False, False, True]
    assert "rubber" in alarm(1, 100)
    assert "broken" in alarm(30, 100)
    assert alarm(0, 0) == ""


# agreement, against independent references


def said(codes: Mapping[str, Sequence[int | None]]) -> dict[str, dict[str, Judged]]:
    """Reviewer -> codes of items 0, 1, 2, ...; None: no vote."""
    answers = {0: "yes"}
    return {
        name: {f"A-{n:02}": vote(VERDICTS[c], name, answers.get(c, "")) for n, c in enumerate(row) if c is not None}
        for name, row in codes.items()
    }


def alone(n: int) -> dict[str, str]:
    return {f"A-{item:02}": str(item) for item in range(n)}


_ = None
PUBLISHED = {
    "A": (1, 2, 3, 3, 2, 1, 4, 1, 2, _, _, _),
    "B": (1, 2, 3, 3, 2, 2, 4, 1, 2, 5, _, 3),
    "C": (_, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, _),
    "D": (1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, _),
}
"""Source: Krippendorff 2011, "Computing Krippendorff's Alpha-Reliability", example C: nominal alpha .743."""


def test_alpha_is_the_published_one() -> None:
    found = alpha(said(PUBLISHED), alone(12))
    assert found.value == pytest.approx(0.743, abs=0.0005)
    assert found.n == 11  # the last item has one vote
    assert found.low is not None
    assert found.high is not None
    assert found.low < found.value < found.high


@given(st.lists(st.lists(st.integers(0, 5) | st.none(), min_size=3, max_size=3), min_size=2, max_size=12))
def test_alpha_is_one_minus_observed_over_expected_disagreement(rows: list[list[int | None]]) -> None:
    """The definition, pair by pair, as against the formula over counts."""
    items = [[code for code in row if code is not None] for row in rows]
    items = [codes for codes in items if len(codes) > 1]
    pool = [code for codes in items for code in codes]
    found = alpha(said(dict(zip("abc", zip(*rows, strict=True), strict=True))), alone(len(rows)))
    if len(set(pool)) < 2:
        assert found.value is None
        return
    observed = sum(
        sum(a != b for a, b in itertools.permutations(codes, 2)) / (len(codes) - 1) for codes in items
    ) / len(pool)
    expected = sum(a != b for a, b in itertools.permutations(pool, 2)) / (len(pool) * (len(pool) - 1))
    assert found.value == pytest.approx(1 - observed / expected, abs=1e-9)


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=2, max_size=30))
def test_kappa_is_that_of_statsmodels_and_ac1_follows_its_formula(pairs: list[tuple[int, int]]) -> None:
    first, second = zip(*pairs, strict=True)
    report = agreement(said({"a": first, "b": second}), alone(len(pairs)))
    for scale, kinds, codes in (
        ("six verdicts", 6, np.array(pairs)),
        ("answer or refuse", 2, (np.array(pairs) > 0).astype(int)),
    ):
        table = np.zeros((kinds, kinds))
        np.add.at(table, tuple(codes.T), 1)
        figures = report[scale]["a and b"]
        same = np.trace(table) / table.sum()
        assert figures["agreement"].value == pytest.approx(same)
        share = (table.sum(0) + table.sum(1)) / (2 * table.sum())
        chance = (share * (1 - share)).sum() / (kinds - 1)
        assert figures["gwet_ac1"].value == pytest.approx((same - chance) / (1 - chance), abs=1e-9)
        if len(set(codes.ravel().tolist())) > 1:
            oracle = cohens_kappa(table, return_results=False)
            if np.isfinite(oracle):
                assert figures["cohen_kappa"].value == pytest.approx(oracle, abs=1e-9)


def test_items_of_one_base_image_are_resampled_together() -> None:
    """Twenty views of two scenes are two observations, not twenty."""
    first = [1, 2, 3, 4] * 5
    second = [1, 2, 3, 3] * 5
    apart = alpha(said({"a": first, "b": second}), alone(20))
    together = alpha(said({"a": first, "b": second}), {f"A-{n:02}": str(n % 2) for n in range(20)})
    assert apart.value == together.value
    assert together.method == "bootstrap over 2 clusters"
    assert None not in (apart.low, apart.high, together.low, together.high)


def test_coincidences_by_hand() -> None:
    # votes 0, 0, 1: ordered pairs 0-0 twice, 0-1 twice, 1-0 twice
    assert coincidences([0, 0, 1], 2).tolist() == [2, 2, 2, 0]
    assert float(alpha_of(np.array([2.0, 0, 0, 2.0]))) == 1


@pytest.mark.parametrize(
    ("codes", "expected"),
    [
        ({"a": [1, 2] * 10, "b": [1, 2] * 10}, "good"),
        ({"a": [1, 2], "b": [1, 2]}, "good (few items)"),
        ({"a": [1, 2] * 10, "b": [2, 1] * 10}, "do not release"),
        ({"a": [1, 2, 1, 2, 1, 2, 1, 2] * 3, "b": [1, 2, 1, 2, 1, 2, 1, 1] * 3}, "usable, with a note"),
        ({"a": [1] * 20, "b": [1] * 20}, "no variation"),
        ({"a": [1] * 20}, "no votes"),
    ],
)
def test_grades(codes: dict[str, list[int]], expected: str) -> None:
    assert grade(alpha(said(codes), alone(24))) == expected


def test_a_vote_supports_what_the_label_accepts() -> None:
    assert supports(label(HIDDEN, accept=(HIDDEN, COARSE)), vote(COARSE))
    assert not supports(label(HIDDEN), vote("REMOVE", kind="adjudication"))


def test_a_joined_row_survives_json(tmp_path: Path) -> None:
    one = vote(UNCLEAR, alt=COARSE, flags=["wording"])
    assert Judged.model_validate(json.loads(one.model_dump_json(by_alias=True))) == one
