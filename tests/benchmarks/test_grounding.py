"""Support by hand, every figure against a scorer written apart, and what must not change a score."""

import random
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import permutations
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.grounding import box, gold_of, naive, questions_and_replies

from georefusal_task.benchmarks.grounding import (
    METRICS,
    Gold,
    GroundingReply,
    GroundingRow,
    GroundingSummary,
    Question,
    scalar,
    score_one,
    summarise,
)
from georefusal_task.core.errors import DataError

SIZE = (100, 80)
SHIPS = [box(10 * n, 5, 10 * n + 6, 11) for n in range(5)]
CARS = [box(10 * n, 45, 10 * n + 6, 51) for n in range(5)]


def question(kind: str, **more: Any) -> Question:
    classes = ["ship", "car"] if kind in ("more", "fewer", "equal") else ["ship"]
    plain = {
        "id": "q-1",
        "type": kind,
        "classes": classes,
        "question": "What is asked?",
        "image": "tile.png",
        "width": SIZE[0],
        "height": SIZE[1],
        "image_id": "tile",
    }
    return Question(**plain | more)


def scored(kind: str, answer: Any, ships: int, cars: int = 0, gold: str = "yes") -> GroundingRow:
    """A row in which boxes lie on so many of five ships and so many of five cars."""
    truth = Gold(id="q-1", answer=gold, instances={"ship": tuple(SHIPS), "car": tuple(CARS)})
    return score_one(question(kind), truth, GroundingReply(answer, (*SHIPS[:ships], *CARS[:cars])))


@pytest.mark.parametrize(
    ("kind", "answer", "supporting"),
    [
        # existence: yes needs one covered instance, no needs none
        ("existence", "yes", {(1, 0), (2, 0), (3, 0)}),
        ("existence", "no", {(0, 0)}),
        # counting: exactly the count that was said
        ("counting", 2, {(2, 0)}),
        ("counting", 0, {(0, 0)}),
        # comparisons: a claim and its exact opposite; ties bear out "no" to more and fewer
        ("more", "yes", {(1, 0), (2, 0), (3, 0), (2, 1), (3, 1), (3, 2)}),
        ("more", "no", {(0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)}),
        ("fewer", "yes", {(0, 1), (0, 2), (1, 2)}),
        ("fewer", "no", {(0, 0), (1, 1), (2, 2), (1, 0), (2, 0), (3, 0), (2, 1), (3, 1), (3, 2)}),
        ("equal", "yes", {(0, 0), (1, 1), (2, 2)}),
        ("equal", "no", {(1, 0), (2, 0), (3, 0), (2, 1), (3, 1), (3, 2), (0, 1), (0, 2), (1, 2)}),
        # what cannot be read supports nothing
        *((kind, None, set()) for kind in ("existence", "counting", "more", "fewer", "equal")),
        # nor does an answer to another kind of question
        ("counting", "yes", set()),
        ("existence", 1, set()),
        ("equal", 0, set()),
        ("counting", -1, set()),
    ],
)
def test_support_by_hand(kind: str, answer: Any, supporting: set[tuple[int, int]]) -> None:
    cars = range(3) if kind in ("more", "fewer", "equal") else range(1)
    found = {(a, b) for a in range(4) for b in cars if scored(kind, answer, a, b, gold="1").support}
    assert found == supporting


@pytest.mark.parametrize(
    ("kind", "gold", "right", "wrong"),
    [
        *((kind, gold, gold, other) for kind in ("existence", "more", "fewer", "equal") for gold, other in
          permutations(("yes", "no"))),
        ("counting", "3", 3, 2),
        ("counting", "0", 0, 1),
        ("counting", "1204", 1204, 1205),
    ],
)  # fmt: skip
def test_right_wrong_and_invalid(kind: str, gold: str, right: Any, wrong: Any) -> None:
    rows = [scored(kind, answer, 1, gold=gold) for answer in (right, wrong, None)]
    assert [row.right for row in rows] == [True, False, False]
    assert [row.invalid for row in rows] == [False, False, True]
    assert all(row.in_support_set == ((kind, gold) != ("existence", "no")) for row in rows)


def one(
    *regions: Any, kind: str = "counting", answer: Any = 1, instances: Sequence[Any] = (box(20, 20, 40, 40),)
) -> Any:
    truth = Gold(id="q-1", answer="1", instances={"ship": tuple(instances)})
    return score_one(question(kind), truth, GroundingReply(answer, tuple(regions)))


def test_true_is_no_count_of_one() -> None:
    row = scored("counting", True, 1, gold="1")
    assert (row.invalid, row.right, row.support) == (True, False, False)


def test_a_centre_on_the_border_or_corner_is_covered_and_one_beside_it_is_not() -> None:
    # the centre is (30, 30)
    assert one(box(30, 10, 50, 50)).covered == (1,)
    assert one(box(30, 30, 50, 50)).covered == (1,)
    assert one(box(30.001, 10, 50, 50)).covered == (0,)
    diamond = ((30.0, 10.0), (50.0, 30.0), (30.0, 50.0), (10.0, 30.0))
    assert one(diamond).covered == (1,)


def test_a_duplicate_counts_no_instance_twice_but_is_a_false_positive() -> None:
    ship = box(20, 20, 40, 40)
    once, twice = one(ship), one(ship, ship)
    assert (once.support, once.tight, once.covered, once.area_share) == (
        twice.support, twice.tight, twice.covered, twice.area_share,
    )  # fmt: skip
    assert (once.matched, once.predicted) == (1, 1)
    assert (twice.matched, twice.predicted) == (1, 2)
    assert summarise([twice]).metrics["localisation_precision"].count == 1
    assert summarise([twice]).metrics["localisation_precision"].n == 2


def test_matching_is_the_largest_not_the_first() -> None:
    # the wide region fits both instances, the narrow one only the first: a greedy choice in this order loses one
    instances = [box(0, 0, 10, 10), box(4, 0, 14, 10)]
    wide, narrow = box(2, 0, 12, 10), box(0, 0, 8, 10)
    assert one(wide, narrow, instances=instances).matched == 2
    assert one(narrow, wide, instances=instances).matched == 2


def test_tight_regions_have_at_most_four_times_the_area_of_what_they_cover() -> None:
    # instance 20 x 20 = 400 px2
    assert one(box(10, 10, 50, 50)).tight  # 1600
    assert not one(box(10, 10, 50, 50.5)).tight
    assert one(box(10, 10, 50, 50), box(12, 12, 48, 48)).tight, "areas are of the union"
    assert one(box(20, 20, 60, 1000), instances=[box(20, 20, 60, 200)]).tight, "areas are clipped to the image"
    assert not one(kind="existence", answer="no").tight, "no regions cover nothing"
    assert one(kind="existence", answer="no").support


def test_area_is_of_the_union_within_the_image() -> None:
    assert one(box(0, 0, 50, 80), box(25, 0, 75, 80)).area_share == pytest.approx(0.75)
    assert one(box(-50, -50, 500, 500)).area_share == pytest.approx(1.0)
    assert one().area_share == 0.0


def test_undefined_is_none_and_keeps_its_n() -> None:
    nothing = summarise([])
    assert {name: nothing.metrics[name].value for name in METRICS} == dict.fromkeys(METRICS)
    only_no = summarise([scored("existence", "no", 0, gold="no")])
    assert scalar(only_no, "accuracy") == 1.0
    for name in ("accuracy_E", "ES_overall", "ES_correct", "JS", "localisation_F1", "covered_area_share"):
        assert scalar(only_no, name) is None, name
    none_right = summarise([scored("more", "no", 0)])
    assert (scalar(none_right, "ES_correct"), scalar(none_right, "JS")) == (None, 0.0)


def run_of(cases: Sequence[tuple[Question, Gold, GroundingReply]]) -> GroundingSummary:
    return summarise(score_one(*case) for case in cases)


@settings(deadline=None, max_examples=40)
@given(st.integers(0, 10**6), st.integers(1, 40))
def test_every_figure_equals_that_of_a_scorer_written_apart(seed: int, n: int) -> None:
    cases = questions_and_replies(random.Random(seed), n)
    ours, theirs = run_of(cases), naive(cases)
    for name, value in theirs.items():
        assert scalar(ours, name) == (None if value is None else pytest.approx(value, abs=1e-9)), name
    for kind in {question.type for question, _, _ in cases}:
        of_kind = [case for case in cases if case[0].type == kind]
        found = ours.by["type"][kind]
        for name, value in naive(of_kind).items():
            figure = found[name]
            if figure.method.startswith("counts only"):
                assert figure.value is None
                assert figure.n < 20
            else:
                assert figure.value == (None if value is None else pytest.approx(value, abs=1e-9)), (kind, name)


@settings(deadline=None, max_examples=40)
@given(st.integers(0, 10**6))
def test_the_joint_score_is_exactly_es_correct_times_accuracy(seed: int) -> None:
    found = run_of(questions_and_replies(random.Random(seed), 30)).metrics

    def exact(name: str) -> Fraction:
        return Fraction(found[name].count or 0, found[name].n)

    if found["accuracy_E"].count:
        assert exact("JS") == exact("ES_correct") * exact("accuracy_E")


@settings(deadline=None, max_examples=25)
@given(st.integers(0, 10**6), st.sampled_from([0.25, 3.0, 1.7, 10.0]))
def test_scale_changes_no_score(seed: int, factor: float) -> None:
    def larger(points: Any) -> Any:
        return tuple((factor * x, factor * y) for x, y in points)

    cases = questions_and_replies(random.Random(seed), 12, side=400)
    scaled = [
        (
            question.model_copy(update={"width": factor * question.width, "height": factor * question.height}),
            gold.model_copy(update={"instances": {k: tuple(map(larger, v)) for k, v in gold.instances.items()}}),
            replace(reply, regions=tuple(map(larger, reply.regions))),
        )
        for question, gold, reply in cases
    ]
    for case, other in zip(cases, scaled, strict=True):
        row, again = score_one(*case), score_one(*other)
        assert replace(again, area_share=row.area_share) == row
        assert again.area_share == pytest.approx(row.area_share, rel=1e-9)


@settings(deadline=None, max_examples=40)
@given(st.integers(0, 10**6))
def test_another_region_never_covers_less(seed: int) -> None:
    chance = random.Random(seed)
    (question, gold, reply), (_, _, other) = questions_and_replies(chance, 2)
    fewer, more = (
        score_one(question, gold, replace(reply, regions=r)) for r in (reply.regions, reply.regions + other.regions)
    )
    assert all(a <= b for a, b in zip(fewer.covered, more.covered, strict=True))
    assert fewer.area_share <= more.area_share + 1e-9
    assert fewer.matched <= more.matched


@settings(deadline=None, max_examples=40)
@given(st.integers(0, 10**6))
def test_order_changes_nothing_and_duplicates_nothing_in_support(seed: int) -> None:
    chance = random.Random(seed)
    ((question, gold, reply),) = questions_and_replies(chance, 1)
    shuffled = list(reply.regions)
    chance.shuffle(shuffled)
    row = score_one(question, gold, reply)
    again = score_one(question, gold, replace(reply, regions=tuple(shuffled)))
    assert replace(again, area_share=row.area_share) == row
    assert again.area_share == pytest.approx(row.area_share)
    double = score_one(question, gold, replace(reply, regions=reply.regions * 2))
    assert (double.support, double.tight, double.covered) == (row.support, row.tight, row.covered)
    assert double.predicted == 2 * row.predicted
    assert double.right == row.right


def test_no_boxes_with_no_zero_and_equal_yes_gets_full_support() -> None:
    cases = questions_and_replies(random.Random(5), 200)
    empty = {"existence": "no", "counting": 0, "more": "no", "fewer": "no", "equal": "yes"}
    found = run_of([(q, g, GroundingReply(empty[q.type])) for q, g, _ in cases])
    assert scalar(found, "ES_overall") == scalar(found, "ES_correct") == 1.0
    assert scalar(found, "JS") == scalar(found, "accuracy_E")
    assert scalar(found, "covered_area_share") == scalar(found, "ES_tight") == 0.0
    assert scalar(found, "localisation_precision") is None


def test_a_whole_image_box_beside_right_answers_supports_all_of_them() -> None:
    cases = questions_and_replies(random.Random(6), 200)
    whole = box(0, 0, *SIZE)
    found = run_of([(q, g, GroundingReply(gold_of(q, g), (whole,))) for q, g, _ in cases])
    assert scalar(found, "ES_correct") == 1.0
    assert scalar(found, "JS") == scalar(found, "accuracy_E") == 1.0
    assert scalar(found, "covered_area_share") == pytest.approx(1.0)
    wrong = [(q, g, r if i % 3 else GroundingReply(None, (whole,))) for i, (q, g, _) in enumerate(cases)
             for r in [GroundingReply(gold_of(q, g), (whole,))]]  # fmt: skip
    found = run_of(wrong)
    assert scalar(found, "ES_correct") == 1.0
    assert scalar(found, "JS") == scalar(found, "accuracy_E")
    assert 0.5 < (scalar(found, "JS") or 0) < 0.8


def test_rows_in_any_order_and_sent_twice_give_the_same_figures() -> None:
    rows = [score_one(*case) for case in questions_and_replies(random.Random(7), 60)]
    again = random.Random(1).sample(rows, len(rows)) + rows[:9]
    assert summarise(again) == summarise(rows)
    with pytest.raises(DataError, match=rows[0].id):
        summarise([*rows, replace(rows[0], predicted=77)])


def test_intervals_know_that_questions_share_an_image() -> None:
    cases = questions_and_replies(random.Random(8), 200)
    apart = [(q.model_copy(update={"image_id": q.id}), g, r) for q, g, r in cases]
    together = [(q.model_copy(update={"image_id": f"i{n // 50}"}), g, r) for n, (q, g, r) in enumerate(cases)]
    assert run_of(apart).metrics["accuracy"].method == "bootstrap over 200 clusters"
    assert run_of(together).metrics["accuracy"].method == "bootstrap over 4 clusters"


def test_flags_and_frames_and_failures_are_counted() -> None:
    rows = [
        replace(scored("more", "yes", 1), id="a", flags={"clipped": 2, "reversed": 1}, frame="qwen2_vl"),
        replace(scored("more", "yes", 1), id="b", flags={"clipped": 1}, frame="qwen2_vl"),
        replace(scored("more", None, 1), id="c", failed=True, frame="qwen2_vl"),
    ]
    found = summarise(rows, incomplete=2)
    assert found.flags == {"clipped": 3, "reversed": 1}
    assert found.frames == ("qwen2_vl",)
    assert (found.metrics["box_flag_rate"].count, found.metrics["host_error_rate"].count) == (2, 1)
    assert (found.metrics["incomplete_rate"].value, found.metrics["incomplete_rate"].n) == (0.4, 5)
    assert found.to_json({"task": "x"})["box_flags"] == {"clipped": 3, "reversed": 1}
    assert list(found.metrics) == list(METRICS)
