"""Comparing two runs: the numbers against independent computations, the words, and what must not be compared."""

import random
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats.multitest import multipletests
from support.runs import always_answer, oracle, skilled, texts, write_host, write_provenance, write_replies
from support.twin import make_twin

from georefusal_task import data as loader
from georefusal_task.core.errors import ConfigError, DataError
from georefusal_task.core.sampling import Sample
from georefusal_task.core.verdicts import VERDICTS
from georefusal_task.data import Benchmark
from georefusal_task.report.agreement import cohen_kappa, gwet_ac1
from georefusal_task.report.paired import compare, holm
from georefusal_task.report.runs import Run, load_run

N = 120


@pytest.fixture(scope="module")
def twin(tmp_path_factory: pytest.TempPathFactory) -> Benchmark:
    return loader.load(make_twin(tmp_path_factory.mktemp("twin") / "data", n=N))


@pytest.fixture(scope="module")
def better(tmp_path_factory: pytest.TempPathFactory, twin: Benchmark) -> Run:
    return made(tmp_path_factory.mktemp("r"), twin, "better", skilled(0.8, seed=1))


@pytest.fixture(scope="module")
def worse(tmp_path_factory: pytest.TempPathFactory, twin: Benchmark) -> Run:
    return made(tmp_path_factory.mktemp("r"), twin, "worse", skilled(0.4, seed=2))


def made(folder: Path, twin: Benchmark, name: str, say: Any, **more: Any) -> Run:
    return load_run(write_replies(folder / f"{name}.jsonl", texts(say, N)), data=twin, name=name, **more)


def some(run: Run, ids: Sequence[str]) -> Run:
    return replace(run, rows=tuple(run.by_id[item] for item in ids))


def test_the_numbers_are_those_of_mcnemar(better: Run, worse: Run) -> None:
    found = compare(better, worse)
    up = sum(a.right and not b.right for a, b in zip(better.rows, worse.rows, strict=True))
    down = sum(b.right and not a.right for a, b in zip(better.rows, worse.rows, strict=True))
    assert (found.test.better, found.test.worse, found.n) == (up, down, N)
    assert found.test.p == pytest.approx(binomtest(up, up + down).pvalue)
    assert "assumes independent items" in found.test.method
    gap = found.differences["accept_acc"]
    assert gap.difference.value == pytest.approx((up - down) / N)
    assert len(found.flips) == up + down
    assert sum(flip.first_is_right for flip in found.flips) == up


def test_every_rate_is_the_one_of_score(better: Run, worse: Run) -> None:
    for name, difference in compare(better, worse).differences.items():
        for run, estimate in ((better, difference.first), (worse, difference.second)):
            assert estimate.value == run.summary.metrics[name].value, name
        assert difference.difference.value == pytest.approx(difference.first.value - difference.second.value)


def test_swapping_the_two_turns_every_sign(better: Run, worse: Run) -> None:
    one, other = compare(better, worse), compare(worse, better)
    assert one.test.p == other.test.p
    for name, difference in one.differences.items():
        turned = other.differences[name].difference
        assert difference.difference.value == pytest.approx(-turned.value)
        assert difference.difference.low == pytest.approx(-turned.high)
    assert one.agreement["cohen_kappa"].value == pytest.approx(other.agreement["cohen_kappa"].value)


def test_order_changes_nothing(better: Run, worse: Run) -> None:
    shuffled = list(better.by_id)
    random.Random(0).shuffle(shuffled)
    one = compare(better, worse).to_json()
    other = compare(some(better, shuffled), some(worse, shuffled[::-1])).to_json()
    assert sorted(one.pop("flips"), key=str) == sorted(other.pop("flips"), key=str)
    assert one == other


def test_clusters_change_the_test_and_not_the_difference(
    tmp_path: Path, twin: Benchmark, better: Run, worse: Run
) -> None:
    folder = write_provenance(tmp_path, N, items_per_base=2)
    joined = load_run(better.path, data=twin, provenance=folder)
    found = compare(joined, worse)
    assert "clusters" in found.test.method
    assert (
        found.differences["accept_acc"].difference.value
        == compare(better, worse).differences["accept_acc"].difference.value
    )
    few = dict.fromkeys(better.by_id, "one") | dict.fromkeys(list(better.by_id)[:60], "two")
    assert "sign flips over 2 clusters" in compare(better, worse, clusters=few).test.method


def test_the_words(better: Run, worse: Run, tmp_path: Path, twin: Benchmark) -> None:
    found = compare(worse, better)
    assert found.is_distinguishable
    assert found.sentence.startswith("better is right more often than worse: worse minus better is -")
    near = made(tmp_path, twin, "near", skilled(0.8, seed=3))
    found = compare(better, near)
    assert not found.is_distinguishable
    assert "cannot be told apart" in found.sentence
    assert f"reach {100 * found.test.detectable:.1f} points" in found.sentence
    assert "nothing tells them apart" in compare(better, better).sentence


def test_names_cannot_write_on_the_terminal(better: Run, worse: Run) -> None:
    found = compare(replace(better, name="\x1b[31mred\nsecond line"), worse)
    assert "\x1b" not in found.sentence
    assert "\n" not in found.sentence


def test_groups_are_corrected_together(better: Run, worse: Run) -> None:
    found = compare(better, worse)
    groups = found.groups["gold"]
    assert [group.name for group in groups] == list(VERDICTS)
    assert sum(group.test.n for group in groups) == N
    expected = multipletests([group.test.p for group in groups], method="holm")[1]
    assert [group.p_holm for group in groups] == pytest.approx(list(expected))
    for group in groups:
        assert group.accept_acc.first.value == better.summary.metrics[f"recall_{group.name}"].value


@given(st.lists(st.floats(0, 1), min_size=1, max_size=30))
@settings(deadline=None, max_examples=12)  # the reference takes a sixth of a second
def test_holm_is_that_of_statsmodels(p_values: list[float]) -> None:
    assert holm(p_values) == pytest.approx(list(multipletests(p_values, method="holm")[1]))


@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), min_size=1, max_size=60))
@settings(deadline=None, max_examples=60)
def test_kappa_is_that_of_sklearn(pairs: list[tuple[int, int]]) -> None:
    counts = np.bincount([7 * a + b for a, b in pairs], minlength=49).astype(float)
    ours = float(cohen_kappa(counts))
    if len({value for pair in pairs for value in pair}) == 1:
        assert np.isnan(ours)  # two constant raters
    else:
        first, second = zip(*pairs, strict=True)
        assert ours == pytest.approx(cohen_kappa_score(first, second))


def test_ac1_by_hand() -> None:
    """Two raters, two categories, 125 subjects; Gwet's worked example of a prevalent category.

    118 both +, 5 and 2 apart, 0 both -: agreement 118/125 = 0.944. Share of + is (123 + 120) / 250 = 0.972, so chance
    is 2 * 0.972 * 0.028 = 0.054432 and AC1 = (0.944 - 0.054432) / (1 - 0.054432) = 0.940776; kappa is -0.0234.
    """
    counts = np.array([118.0, 5.0, 2.0, 0.0])
    assert float(gwet_ac1(counts)) == pytest.approx((0.944 - 0.054432) / (1 - 0.054432))
    assert float(cohen_kappa(counts)) == pytest.approx(-0.0234, abs=1e-4)


def test_agreement_of_a_run_with_itself_and_with_a_constant(better: Run, tmp_path: Path, twin: Benchmark) -> None:
    same = compare(better, better).agreement
    assert same["agreement"].value == same["cohen_kappa"].value == same["gwet_ac1"].value == 1.0
    constant = made(tmp_path, twin, "constant", always_answer)
    assert compare(constant, constant).agreement["cohen_kappa"].value is None
    found = compare(better, constant).agreement
    assert found["cohen_kappa"].value == pytest.approx(0)
    assert found["cohen_kappa"].low <= 0 <= found["cohen_kappa"].high


def test_only_common_items_count(better: Run, worse: Run) -> None:
    ids = list(better.by_id)
    found = compare(some(better, ids[:80]), some(worse, ids[50:]))
    assert (found.n, found.left_out) == (30, (50, 40))
    whole = compare(some(better, ids[50:80]), some(worse, ids[50:80]))
    assert found.differences == whole.differences
    assert any("50 items of better" in note for note in found.notes)
    with pytest.raises(DataError, match="no item in common"):
        compare(some(better, ids[:5]), some(worse, ids[5:]))


def test_one_item(better: Run, worse: Run) -> None:
    found = compare(some(better, list(better.by_id)[:1]), worse)
    assert found.n == 1
    assert found.test.p == 1.0
    assert found.sentence


def test_what_must_not_be_compared_says_why(tmp_path: Path, twin: Benchmark, better: Run) -> None:
    said = texts(oracle, N)
    minimal = load_run(write_replies(tmp_path / "m.jsonl", said), data=twin, task="georefusalbench_minimal")
    shuffled = load_run(write_replies(tmp_path / "s.jsonl", said), data=twin, task="georefusalbench_shuffled")
    other = load_run(write_host(tmp_path, {"georefusalbench": said}, metadata={"data_digest": "e" * 64}), data=twin)
    for run, why in ((minimal, "prompt.*minimal/v1"), (shuffled, "image.*shuffled"), (other, "data.*eeeeeeeeeeee")):
        with pytest.raises(ConfigError, match=why):
            compare(better, run)
        assert compare(better, run, force=True).forced_over


def test_the_forced_prompt_has_no_verdicts_to_compare(tmp_path: Path, twin: Benchmark, better: Run) -> None:
    forced = load_run(
        write_replies(tmp_path / "f.jsonl", texts(lambda _: "yes", N)), data=twin, task="georefusalbench_forced"
    )
    with pytest.raises(ConfigError, match="yes and no only"):
        compare(better, forced, force=True)


def test_many_failed_requests_are_noted(tmp_path: Path, twin: Benchmark, better: Run) -> None:
    said = texts(oracle, N)
    said |= dict.fromkeys(list(said)[:36], "[LMMS_EVAL_REQUEST_FAILED after 5 retries]")
    failed = load_run(write_replies(tmp_path / "r.jsonl", said), data=twin, name="failed")
    assert any("30.0% of the requests of failed" in note for note in compare(better, failed).notes)


def test_unparsed_replies_are_wrong_and_an_outcome_of_their_own(tmp_path: Path, twin: Benchmark, better: Run) -> None:
    garbage = made(tmp_path, twin, "garbage", lambda _: "%%%")
    found = compare(better, garbage)
    assert found.differences["accept_acc"].second.value == 0
    assert found.agreement["agreement"].value == 0
    assert all(flip.second is None for flip in found.flips)


def test_a_true_null_is_rejected_at_five_percent() -> None:
    """Six items per base, answered alike: McNemar rejects far too often, the clustered test as often as it says."""
    rng = np.random.default_rng(0)
    bases, per, trials = 100, 6, 2_000
    clusters = np.repeat(np.arange(bases), per)
    clustered = naive = 0
    for _ in range(trials):
        tendency = rng.normal(size=(2, bases, 1))
        ours, theirs = (rng.normal(size=(2, bases, per)) + tendency > 0).reshape(2, -1)
        clustered += Sample(clusters).test(ours, theirs).p < 0.05
        naive += Sample().test(ours, theirs).p < 0.05
    assert 0.035 < clustered / trials < 0.065
    assert naive / trials > 0.12
