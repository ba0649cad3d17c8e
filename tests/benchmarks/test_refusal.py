"""Every metric of the facts against a second computation, by hand where it is small, by oracle where it is large."""

import math
import random
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import metrics as sk

from georefusal_task.benchmarks.prompts import get_prompt
from georefusal_task.benchmarks.refusal import (
    FORCED_METRICS,
    METRICS,
    Summary,
    build_prompt,
    scalar,
    score_one,
    summarise,
    summarise_forced,
)
from georefusal_task.core.errors import ConfigError, DataError
from georefusal_task.core.records import Case, Flag, Intensity, Label, Reason, Reply, Row, Status
from georefusal_task.core.verdicts import REFUSALS, VERDICTS, Verdict

A, IM, GM, AQ, FP, NF = VERDICTS


def row(
    item: str,
    accept: Verdict | Sequence[Verdict],
    verdict: Verdict | None,
    *,
    answer: str = "",
    gold_answer: Any = "yes",
    **more: Any,
) -> Row:
    """A row whose other fields do not matter; the first accepted verdict is the gold one."""
    accepted = (accept,) if isinstance(accept, Verdict) else tuple(accept)
    plain = {
        "id": f"A-{item}",
        "set": "A",
        "gold": accepted[0],
        "accept": accepted,
        "gold_answer": gold_answer if A in accepted else "",
        "category": None,
        "intensity": None,
        "lever": None,
        "score_answer": True,
        "verdict": verdict,
        "status": Status.JSON if verdict else Status.UNPARSED,
        "reason": None if verdict else Reason.NO_VERDICT,
        "answer": answer,
        "flags": (),
    }
    return Row(**(plain | more))


def random_rows(n: int, seed: int) -> list[Row]:
    """Rows of every kind: several accepted verdicts, all statuses, failed requests, unknown answers left out."""
    rng = random.Random(seed)
    rows = []
    for i in range(n):
        accept = [A] if rng.random() < 0.5 else rng.sample(REFUSALS, rng.choice([1, 1, 1, 2, 3]))
        verdict = rng.choice([None, *VERDICTS, *accept, *accept, *accept])
        status = rng.choice([Status.JSON, Status.JSON, Status.REPAIRED, Status.PROSE]) if verdict else Status.UNPARSED
        reason = None if verdict else rng.choice([Reason.HOST_ERROR, Reason.TRUNCATED, Reason.ECHO])
        rows.append(
            row(
                f"{i:x}",
                accept,
                verdict,
                status=status,
                reason=reason,
                answer=rng.choice(["yes", "no", "Yes.", "perhaps"]),
                gold_answer=rng.choice(["yes", "no"]),
                score_answer=rng.random() > 0.02,
                set=rng.choice("ABC"),
                category=rng.choice(REFUSALS),
                intensity=rng.choice(list(Intensity)),
                lever=f"family{rng.randrange(12)}_{rng.choice(['low', 'MEDIUM', 'high'])}",
                flags=(Flag.TRUNCATED,) if verdict and rng.random() < 0.1 else (),
                repeats=(verdict, *rng.choices([None, *VERDICTS, *accept], k=2)) if i % 2 else (),
            )
        )
    return rows


def share(hits: Sequence[bool]) -> float | None:
    return sum(hits) / len(hits) if hits else None


def naive(rows: Sequence[Row]) -> dict[str, float | None]:
    """The table of the facts, written down once more, item by item."""
    answerable = [r for r in rows if A in r.accept]
    others = [r for r in rows if A not in r.accept]

    def correct(r: Row) -> bool:
        return r.verdict in r.accept

    def refused(r: Row) -> bool:
        return r.verdict in REFUSALS

    def right_answer(r: Row) -> bool:
        return r.verdict == A and r.answer.strip(".").lower() == r.gold_answer

    m: dict[str, float | None] = {}
    m["accept_acc"] = share([correct(r) for r in rows])
    m["always_answer_gap"] = m["accept_acc"] - share([A in r.accept for r in rows]) if rows else None
    m["strict_acc"] = share([r.verdict == r.gold for r in rows])
    m["accept_acc_json"] = share([correct(r) and r.status == "json" for r in rows])
    for v in VERDICTS:
        m[f"recall_{v}"] = share([correct(r) for r in rows if r.gold == v])
        m[f"strict_recall_{v}"] = share([r.verdict == v for r in rows if r.gold == v])
    recalls = [m[f"recall_{v}"] for v in VERDICTS if m[f"recall_{v}"] is not None]
    m["macro_recall"] = sum(recalls) / len(recalls) if recalls else None
    m["answer_recall"] = share([r.verdict == A for r in answerable])
    m["refusal_acc"] = share([correct(r) for r in others])
    both = answerable and others
    m["balanced_verdict_acc"] = (m["answer_recall"] + m["refusal_acc"]) / 2 if both else None
    scored = [r for r in answerable if r.score_answer is not False]
    known = [r for r in scored if r.gold_answer in ("yes", "no")]
    m["yesno_acc"] = share([right_answer(r) for r in known])
    m["calibrated_refusal_score"] = (
        (share([right_answer(r) for r in scored]) + share([r.verdict == r.gold for r in others])) / 2
        if scored and others and known == scored
        else None
    )
    if any(r.score_answer is None for r in answerable):
        m["yesno_acc"] = m["calibrated_refusal_score"] = None
    m["false_refusal_rate"] = share([refused(r) for r in answerable])
    m["missed_refusal_rate"] = share([r.verdict == A for r in others])
    m["detection_precision"] = share([A not in r.accept for r in rows if refused(r)])
    m["detection_recall"] = share([refused(r) for r in others])
    tp, fp = sum(map(refused, others)), sum(map(refused, answerable))
    fn = len(others) - tp
    m["detection_f1"] = tp / (tp + (fp + fn) / 2) if others else None
    h, f = (tp + 0.5) / (len(others) + 1), (fp + 0.5) / (len(answerable) + 1)
    zh, zf = scipy.stats.norm.ppf(h), scipy.stats.norm.ppf(f)
    m["refusal_dprime"], m["refusal_bias"] = (zh - zf, -(zh + zf) / 2) if both else (None, None)
    m["category_acc"] = share([correct(r) for r in others if refused(r)])
    m["hierarchical_score"] = m["detection_f1"] * m["category_acc"] if tp else None
    m["unsafe_answer_share"] = share([A not in r.accept for r in rows if r.verdict == A])
    m["answer_rate"] = share([r.verdict == A for r in rows])
    m["unparsed_rate"] = share([r.verdict is None for r in rows])
    m["unparsed_rate_answerable"] = share([r.verdict is None for r in answerable])
    m["unparsed_rate_must_refuse"] = share([r.verdict is None for r in others])
    m["repaired_rate"] = share([r.status == "repaired" for r in rows])
    m["truncated_rate"] = share([r.reason == "truncated" or "truncated" in r.flags for r in rows])
    m["host_error_rate"] = share([r.reason == "host_error" for r in rows])
    several = [r for r in rows if len(r.repeats) > 1]
    each = [share([v in r.accept for v in r.repeats]) for r in several]
    m["repeat_mean_accept_acc"] = sum(each) / len(each) if each else None
    m["repeat_agreement"] = share([len(set(r.repeats)) == 1 for r in several])
    return m


def values(summary: Summary) -> dict[str, float | None]:
    return {name: estimate.value for name, estimate in summary.metrics.items()}


@pytest.mark.parametrize("n", [0, 1, 2, 3, 5, 10, 40, 587])
@pytest.mark.parametrize("seed", range(4))
def test_every_metric_equals_a_second_computation(n: int, seed: int) -> None:
    rows = random_rows(n, seed)
    found, expected = values(summarise(rows)), naive(rows)
    assert found.keys() == expected.keys()
    for name, value in expected.items():
        assert found[name] == (None if value is None else pytest.approx(value, abs=1e-12)), name


def test_the_names_are_those_of_the_table_of_metrics() -> None:
    found = list(summarise(random_rows(30, 0)).metrics)
    assert found == [name for name in METRICS if name != "grey_answer_rate"]


def test_class_metrics_equal_those_of_scikit_learn() -> None:
    rows = random_rows(587, 9)
    found = values(summarise(rows))
    gold, said = [str(r.gold) for r in rows], [str(r.verdict or "unparsed") for r in rows]
    recalls = sk.recall_score(gold, said, labels=list(VERDICTS), average=None)
    for verdict, recall in zip(VERDICTS, recalls, strict=True):
        assert found[f"strict_recall_{verdict}"] == pytest.approx(recall)
    assert found["strict_acc"] == pytest.approx(sk.accuracy_score(gold, said))
    must, refused = [A not in r.accept for r in rows], [r.verdict in REFUSALS for r in rows]
    assert found["detection_precision"] == pytest.approx(sk.precision_score(must, refused))
    assert found["detection_recall"] == pytest.approx(sk.recall_score(must, refused))
    assert found["detection_f1"] == pytest.approx(sk.f1_score(must, refused))


def test_a_table_worked_by_hand() -> None:
    summary = summarise(
        [
            row("1", A, A, answer="yes", gold_answer="yes"),
            row("2", A, A, answer="yes", gold_answer="no"),
            row("3", A, A, answer="no", gold_answer="no", score_answer=False),
            row("4", A, IM),
            row("5", A, None, reason=Reason.HOST_ERROR),
            row("6", IM, IM),
            row("7", IM, GM),
            row("8", GM, A),
            row("9", (FP, AQ), AQ, status=Status.REPAIRED),
            row("a", NF, None, reason=Reason.TRUNCATED),
        ]
    )
    expected = {
        "accept_acc": 5 / 10,  # 1 2 3 6 9
        "always_answer_gap": 5 / 10 - 5 / 10,
        "strict_acc": 4 / 10,  # 9 is accepted, not gold
        "accept_acc_json": 4 / 10,  # 9 was repaired
        f"recall_{A}": 3 / 5,
        f"recall_{IM}": 1 / 2,
        f"recall_{GM}": 0 / 1,
        f"recall_{AQ}": None,  # gold of none
        f"recall_{FP}": 1 / 1,  # 9
        f"recall_{NF}": 0 / 1,
        f"strict_recall_{FP}": 0 / 1,
        "macro_recall": (3 / 5 + 1 / 2 + 0 + 1 + 0) / 5,
        "answer_recall": 3 / 5,
        "refusal_acc": 2 / 5,  # 6 9
        "balanced_verdict_acc": (3 / 5 + 2 / 5) / 2,
        "yesno_acc": 1 / 4,  # 1 of 1 2 4 5; 3 is left out
        "calibrated_refusal_score": (1 / 4 + 1 / 5) / 2,  # exactly the gold verdict: 6
        "false_refusal_rate": 1 / 5,  # 4
        "missed_refusal_rate": 1 / 5,  # 8
        "detection_precision": 3 / 4,  # 6 7 9 of 4 6 7 9
        "detection_recall": 3 / 5,
        "detection_f1": 2 * 3 / (4 + 5),
        # z(3.5 / 6) = 0.210428, z(1.5 / 6) = -0.674490
        "refusal_dprime": 0.884918,
        "refusal_bias": 0.232031,
        "category_acc": 2 / 3,  # 6 9 of 6 7 9
        "hierarchical_score": 6 / 9 * 2 / 3,
        "unsafe_answer_share": 1 / 4,  # 8 of 1 2 3 8
        "answer_rate": 4 / 10,
        "unparsed_rate": 2 / 10,
        "unparsed_rate_answerable": 1 / 5,
        "unparsed_rate_must_refuse": 1 / 5,
        "repaired_rate": 1 / 10,
        "truncated_rate": 1 / 10,
        "host_error_rate": 1 / 10,
    }
    found = values(summary)
    for name, value in expected.items():
        assert found[name] == (None if value is None else pytest.approx(value, abs=1e-6)), name
    sizes = {name: summary.metrics[name].n for name in ("yesno_acc", "macro_recall", "calibrated_refusal_score")}
    assert sizes == {"yesno_acc": 4, "macro_recall": 10, "calibrated_refusal_score": 9}
    assert summary.metrics["detection_precision"].n == 4
    assert summary.metrics["accept_acc"].bounds == {
        "value_if_unparsed_answer": 6 / 10,  # 5 too
        "value_if_unparsed_refusal": 6 / 10,  # a too
        "value_if_right": 6 / 10,
        "value_if_dropped": 5 / 9,
    }
    assert summary.metrics["false_refusal_rate"].bounds["value_if_unparsed_refusal"] == 2 / 5
    assert summary.metrics["missed_refusal_rate"].bounds["value_if_unparsed_answer"] == 2 / 5
    assert summary.metrics["answer_recall"].bounds["value_if_unparsed_answer"] == 4 / 5
    assert summary.metrics["detection_recall"].bounds["value_if_unparsed_refusal"] == 4 / 5
    test = summary.tests["always_answer"]
    assert test is not None
    assert (test.better, test.worse, test.p) == (2, 2, 1.0)  # 6 9 against 4 5


# policies whose score is known beforehand


def gold_rows(said: Any) -> list[Row]:
    """295 answerable and 292 other items, as in the released set, each with what the policy says."""
    golds = [A] * 295 + [REFUSALS[i % 5] for i in range(292)]
    return [row(f"{i:x}", gold, said(gold), answer="yes") for i, gold in enumerate(golds)]


def test_always_answer_has_a_gap_of_exactly_0() -> None:
    summary = summarise(gold_rows(lambda gold: A))
    assert scalar(summary, "accept_acc") == 295 / 587
    assert scalar(summary, "always_answer_gap") == 0.0
    assert scalar(summary, "balanced_verdict_acc") == 0.5
    assert scalar(summary, "refusal_dprime") == pytest.approx(0, abs=0.01)
    assert scalar(summary, "detection_f1") == 0
    assert scalar(summary, "hierarchical_score") is None  # nothing was refused, so no reason can be right
    test = summary.tests["always_answer"]
    assert test is not None
    assert (test.p, test.detectable) == (1.0, None)


def test_the_oracle_gets_1() -> None:
    found = values(summarise(gold_rows(lambda gold: gold)))
    for name in (
        "accept_acc",
        "macro_recall",
        "balanced_verdict_acc",
        "detection_f1",
        "hierarchical_score",
        "yesno_acc",
    ):
        assert found[name] == 1.0, name
    assert found["calibrated_refusal_score"] == 1.0


def test_always_refuse_has_the_f1_and_the_dprime_of_the_facts() -> None:
    found = values(summarise(gold_rows(lambda gold: IM)))
    assert round(found["detection_f1"] or 0, 3) == 0.664
    assert found["refusal_dprime"] == pytest.approx(0, abs=0.01)
    assert (found["refusal_bias"] or 0) < -2


def test_a_model_without_a_readable_reply_is_not_lifted_to_the_baseline() -> None:
    summary = summarise(gold_rows(lambda gold: None))
    found = values(summary)
    assert (found["accept_acc"], found["unparsed_rate"]) == (0, 1)
    assert (found["false_refusal_rate"], found["missed_refusal_rate"], found["detection_recall"]) == (0, 0, 0)
    assert found["detection_precision"] is None
    assert found["always_answer_gap"] == pytest.approx(-295 / 587)
    assert summary.metrics["accept_acc"].bounds == {
        "value_if_unparsed_answer": 295 / 587,
        "value_if_unparsed_refusal": 292 / 587,
    }


# what is not defined


def test_no_rows_leave_everything_undefined() -> None:
    for summary in (summarise([]), summarise([], clusters={}), summarise_forced([])):
        assert {(e.value, e.low, e.high, e.n) for e in summary.metrics.values()} == {(None, None, None, 0)}
    assert summarise([]).to_json()["tests"] == {"always_answer": None}


@pytest.mark.parametrize("accept", [A, IM])
@pytest.mark.parametrize("verdict", [A, IM, GM, None])
def test_one_row_is_enough_for_what_it_defines(accept: Verdict, verdict: Verdict | None) -> None:
    for clusters in (None, {"A-0": "x"}):
        for estimate in summarise([row("0", accept, verdict)], clusters=clusters).metrics.values():
            assert (estimate.value is None) == (estimate.low is None) == (estimate.high is None)
            assert estimate.value is None or (
                estimate.n and not math.isnan(estimate.value + estimate.low + estimate.high)
            )


def test_only_answerable_items_leave_detection_undefined_not_0() -> None:
    """One class alone: a subset of LOW items has false refusals, and nothing that could have been detected."""
    found = values(summarise([row("1", A, A), row("2", A, IM), row("3", A, None)]))
    undefined = (
        "detection_recall",
        "detection_f1",
        "hierarchical_score",
        "refusal_dprime",
        "refusal_bias",
        "category_acc",
    )
    assert [found[name] for name in undefined] == [None] * 6
    assert (found["detection_precision"], found["false_refusal_rate"]) == (0.0, 1 / 3)
    assert (found["balanced_verdict_acc"], found["refusal_acc"], found["macro_recall"]) == (None, None, 1 / 3)


def test_only_items_to_refuse_leave_answering_undefined_not_0() -> None:
    found = values(summarise([row("1", IM, IM), row("2", IM, A)]))
    assert [found[name] for name in ("answer_recall", "yesno_acc", "refusal_dprime", "balanced_verdict_acc")] == [
        None
    ] * 4
    assert (found["detection_f1"], found["hierarchical_score"]) == (pytest.approx(2 / 3), pytest.approx(2 / 3))


def test_yesno_needs_gold_answers() -> None:
    known, unknown = row("1", A, A, answer="yes"), row("2", A, A, answer="yes", gold_answer=None)
    refusal = row("3", IM, IM)
    found = summarise([known, unknown, refusal]).metrics
    assert (found["yesno_acc"].value, found["yesno_acc"].n) == (1.0, 1)
    assert found["calibrated_refusal_score"].value is None  # half of it would rest on one of two items
    assert summarise([unknown, refusal]).metrics["yesno_acc"].value is None


def test_yesno_is_undefined_while_the_exclusions_are_unknown() -> None:
    rows = [row("1", A, A, answer="yes"), row("2", A, A, answer="yes", score_answer=None), row("3", IM, IM)]
    found = summarise(rows).metrics
    assert (found["yesno_acc"].value, found["calibrated_refusal_score"].value) == (None, None)
    refusal_unknown = replace(row("3", IM, IM), score_answer=None)  # says nothing: it has no answer
    assert summarise([rows[0], refusal_unknown]).metrics["yesno_acc"].value == 1.0


def test_an_answer_is_read_as_text() -> None:
    rows = [row("1", A, A, answer="Yes, there is."), row("2", A, A, answer="not sure"), row("3", A, A, answer="")]
    assert summarise(rows).metrics["yesno_acc"].count == 1


# properties

ROWS = st.builds(random_rows, st.integers(1, 60), st.integers(0, 10_000))


@settings(max_examples=25, deadline=None)
@given(ROWS, st.randoms(use_true_random=False), st.booleans())
def test_the_order_of_rows_changes_no_digit(rows: list[Row], rng: random.Random, clustered: bool) -> None:
    clusters = {r.id: str(int(r.id[2:], 16) // 4) for r in rows} if clustered else None
    shuffled = rng.sample(rows, len(rows))
    assert summarise(rows, clusters=clusters).to_json() == summarise(shuffled, clusters=clusters).to_json()


@settings(max_examples=25, deadline=None)
@given(ROWS, st.sampled_from(VERDICTS))
def test_one_more_right_row_never_lowers_accuracy(rows: list[Row], gold: Verdict) -> None:
    more = [*rows, row("ffffff", gold, gold)]
    assert (scalar(summarise(more), "accept_acc") or 0) >= (scalar(summarise(rows), "accept_acc") or 0)


@settings(max_examples=25, deadline=None)
@given(ROWS)
def test_bounds_enclose_and_gap_is_a_difference(rows: list[Row]) -> None:
    summary = summarise(rows)
    accept_acc = summary.metrics["accept_acc"]
    assert all(value >= (accept_acc.value or 0) - 1e-12 for value in accept_acc.bounds.values())
    answerable = sum(r.answerable for r in rows) / len(rows)
    assert summary.metrics["always_answer_gap"].value == pytest.approx((accept_acc.value or 0) - answerable)


# rows


def test_equal_duplicates_count_once_and_different_ones_are_an_error() -> None:
    """A distributed run pads its ranks with items that others have too."""
    rows = random_rows(50, 3)
    assert summarise(rows + rows[:7]).to_json() == summarise(rows).to_json()
    other = replace(rows[0], verdict=None, status=Status.UNPARSED, reason=Reason.EMPTY)
    with pytest.raises(DataError, match=rows[0].id):
        summarise([*rows, replace(other, answer="else")])


def test_a_failed_request_stays_in_n() -> None:
    rows = [row("1", A, A), row("2", A, None, reason=Reason.HOST_ERROR)]
    accept_acc = summarise(rows).metrics["accept_acc"]
    assert (accept_acc.value, accept_acc.n) == (0.5, 2)
    assert accept_acc.bounds["value_if_right"] == 1.0
    assert accept_acc.bounds["value_if_dropped"] == 1.0
    only = summarise(rows[1:]).metrics["accept_acc"]
    assert "value_if_dropped" not in only.bounds  # nothing would be left


def test_score_one_takes_the_first_reply_and_keeps_all() -> None:
    case = Case(id="A-0", set="A", image="a.png", question="Is a ship there?")
    label = Label(id="A-0", set="A", gold=A, accept=[A], answer="yes", lever="im_cloud_low")
    first, second = Reply(A, Status.PROSE, answer="yes", confidence=0.7), Reply(None, Status.UNPARSED, Reason.ECHO)
    found = score_one(case, label, [first, second])
    assert (found.verdict, found.status, found.answer, found.confidence) == (A, Status.PROSE, "yes", 0.7)
    assert found.repeats == (A, None)
    assert score_one(case, label, [first]).repeats == ()


def test_a_letter_is_not_marked_down_for_the_answer_that_nobody_asked_for() -> None:
    case = Case(id="A-0", set="A", image="a.png", question="Is a ship there?")
    label = Label(id="A-0", set="A", gold=A, accept=[A], answer="yes", score_answer=True)
    rows = [score_one(case, label, [Reply(A, Status.PROSE)], "letter"), row("1", IM, IM)]
    assert scalar(summarise(rows), "yesno_acc") is None
    assert scalar(summarise(rows), "calibrated_refusal_score") is None


def test_build_prompt_is_the_prompts_text() -> None:
    case = Case(id="A-0", set="A", image="a.png", question="Is {this} a ship?")
    assert build_prompt(case, get_prompt("default")).endswith("Question: Is {this} a ship?")


# repeats


def test_repeats_by_hand() -> None:
    rows = [
        row("1", A, A, repeats=(A, A, A)),  # 3 of 3, agree
        row("2", A, IM, repeats=(IM, A, IM)),  # 1 of 3
        row("3", IM, None, repeats=(None, None, None)),  # 0 of 3, agree
        row("4", IM, IM, repeats=(IM, IM, A)),  # 2 of 3
    ]
    found = summarise(rows).metrics
    assert found["repeat_mean_accept_acc"].value == pytest.approx(6 / 12)
    assert found["repeat_agreement"].value == 2 / 4
    assert found["accept_acc"].value == 2 / 4
    once = summarise([row("1", A, A, repeats=(A,))]).metrics
    assert (once["repeat_mean_accept_acc"].value, once["repeat_agreement"].value) == (None, None)


# breakdowns and JSON


def test_breakdowns_show_counts_only_below_20() -> None:
    rows = [row(f"{i:x}", IM, IM if i % 3 else A, lever="im_cloud_high", intensity=Intensity.HIGH) for i in range(20)]
    rows += [row(f"{i:x}", A, A, lever="im_cloud_low", intensity=Intensity.LOW, set="B") for i in range(50, 69)]
    by = summarise(rows).by
    high, low = by["intensity"]["HIGH"]["accept_acc"], by["intensity"]["LOW"]["accept_acc"]
    assert (high.value, high.n, high.count) == (13 / 20, 20, 13)
    assert (low.value, low.low, low.n, low.count) == (None, None, 19, 19)
    assert list(by["intensity"]) == ["LOW", "HIGH"]
    assert by["lever_family"]["im_cloud"]["accept_acc"].n == 39
    assert by["set"]["B"]["refusal_acc"].n == 0
    assert by["category"] == {}


def test_breakdowns_equal_the_summary_of_each_group() -> None:
    rows = random_rows(587, 5)
    by = summarise(rows).by
    for breakdown, groups in by.items():
        assert sum(found["accept_acc"].n for found in groups.values()) == 587, breakdown
    for group, found in by["category"].items():
        expected = naive([r for r in rows if r.category == group])
        for name, estimate in found.items():
            assert estimate.value == pytest.approx(expected[name]), (group, name)


def test_json_has_the_agreed_form() -> None:
    content = summarise(random_rows(60, 1)).to_json({"task": "t"})
    assert list(content) == ["metrics", "by", "tests", "meta"]
    assert list(content["by"]) == ["category", "intensity", "lever_family", "set"]
    assert list(content["metrics"]["strict_acc"])[:5] == ["value", "low", "high", "n", "method"]
    assert {"value_if_right", "value_if_dropped"} <= content["metrics"]["accept_acc"].keys()
    assert content["metrics"]["accept_acc"]["method"] == "wilson"
    assert content["metrics"]["macro_recall"]["method"] == "mover"
    assert content["metrics"]["detection_f1"]["method"] == "bootstrap"
    assert content["meta"] == {"n": 60, "task": "t"}
    empty = summarise([]).to_json()
    assert empty["metrics"]["accept_acc"]["value"] is None


def test_scalar_names_what_there_is() -> None:
    with pytest.raises(ConfigError, match="macro_recall"):
        scalar(summarise([]), "acc")


def test_the_grey_task_has_a_name_of_its_own() -> None:
    rows = [row("1", A, A), row("2", A, IM), row("3", IM, IM), row("4", IM, None)]
    summary = summarise(rows, grey=True)
    assert scalar(summary, "grey_answer_rate") == 1 / 4
    assert "answer_rate" not in summary.metrics


# clusters


def test_clusters_widen_the_intervals_and_name_the_test() -> None:
    rows = [row(f"{i:x}", A if i % 8 < 4 else IM, IM if (i // 4) % 2 else A) for i in range(400)]
    clusters = {r.id: str(int(r.id[2:], 16) // 4) for r in rows}
    plain, clustered = summarise(rows), summarise(rows, clusters=clusters)
    assert values(plain) == values(clustered)
    narrow, wide = plain.metrics["answer_rate"], clustered.metrics["answer_rate"]
    assert (wide.high or 0) - (wide.low or 0) > 1.5 * ((narrow.high or 0) - (narrow.low or 0))
    assert "100 clusters" in wide.method
    test, independent = clustered.tests["always_answer"], plain.tests["always_answer"]
    assert test is not None
    assert independent is not None
    assert "clusters" in test.method
    assert (test.better, test.worse, test.n) == (independent.better, independent.worse, independent.n)
    assert test.p > independent.p


def test_an_item_without_a_cluster_is_named() -> None:
    with pytest.raises(DataError, match="A-2"):
        summarise([row("1", A, A), row("2", A, A)], clusters={"A-1": "x"})


# the forced prompt


def test_forced_by_hand() -> None:
    def said(item: str, answer: str, gold: Any, intensity: Intensity, **more: Any) -> Row:
        return row(item, A, None, answer=answer, gold_answer=gold, intensity=intensity, **more)

    summary = summarise_forced(
        [
            said("1", "yes", "yes", Intensity.LOW),
            said("2", "no", "yes", Intensity.LOW),
            said("3", "", "no", Intensity.LOW, reason=Reason.HOST_ERROR),
            said("4", "yes", None, Intensity.HIGH),
        ]
    )
    assert list(summary.metrics) == list(FORCED_METRICS)
    assert scalar(summary, "forced_acc") == pytest.approx(1 / 3)  # 1 of 1 2 3; the answer to 4 is not known
    assert scalar(summary, "forced_yes_share") == pytest.approx(2 / 3)  # 1 4 of 1 2 4
    assert scalar(summary, "unparsed_rate") == 1 / 4
    assert scalar(summary, "host_error_rate") == 1 / 4
    assert (summary.by["intensity"]["LOW"]["forced_acc"].count, summary.by["intensity"]["LOW"]["forced_acc"].n) == (
        1,
        3,
    )
    assert summary.by["intensity"]["HIGH"]["forced_acc"].n == 0


def test_every_metric_says_how_it_misleads_or_what_it_is() -> None:
    for name, metric in (METRICS | FORCED_METRICS).items():
        assert metric.meaning.endswith("."), name
        assert "\n" not in metric.meaning
        assert isinstance(metric.higher_is_better, bool)
