"""Intervals and tests against scipy, statsmodels, brute force and simulation."""

import itertools
import math

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.contingency_tables import mcnemar as statsmodels_mcnemar

from georefusal_task.core.sampling import Sample
from georefusal_task.core.stats import (
    Z95,
    Estimate,
    bootstrap,
    bootstrap_clusters,
    mcnemar,
    minimal_detectable,
    mover,
    paired_difference,
    sign_test,
    wilson,
)


@pytest.mark.parametrize("n", [1, 2, 3, 19, 20, 292, 587])
def test_wilson_equals_scipy_for_every_count(n: int) -> None:
    for k in range(n + 1):
        oracle = scipy.stats.binomtest(k, n).proportion_ci(method="wilson")
        assert wilson(k, n) == pytest.approx((oracle.low, oracle.high), abs=1e-12)


def test_wilson_keeps_its_digits_on_millions() -> None:
    for k in (0, 1, 293_123, 999_999, 1_000_000):
        oracle = scipy.stats.binomtest(k, 1_000_000).proportion_ci(method="wilson")
        assert wilson(k, 1_000_000) == pytest.approx((oracle.low, oracle.high), abs=1e-12)


def test_z_is_the_normal_quantile() -> None:
    assert pytest.approx(scipy.stats.norm.ppf(0.975), abs=1e-15) == Z95


# MOVER


def test_mover_of_one_rate_is_wilson() -> None:
    assert mover([(7, 30)]) == pytest.approx(wilson(7, 30), abs=1e-15)


def test_mover_by_hand() -> None:
    # rates 0.5 and 0.8; distances to the Wilson limits are added in squares and halved
    (low1, high1), (low2, high2) = wilson(10, 20), wilson(40, 50)
    down = math.hypot(0.5 - low1, 0.8 - low2) / 2
    up = math.hypot(high1 - 0.5, high2 - 0.8) / 2
    assert mover([(10, 20), (40, 50)]) == pytest.approx((0.65 - down, 0.65 + up), abs=1e-15)


def test_mover_gives_width_where_a_bootstrap_gives_none() -> None:
    low, high = mover([(0, 30)] * 6)
    assert low == 0
    assert 0 < high < wilson(0, 30)[1]


def test_mover_covers_the_true_macro_mean() -> None:
    random = np.random.default_rng(1)
    truth, sizes = np.array([0.02, 0.3, 0.5, 0.7, 0.9, 0.99]), np.array([40, 60, 80, 50, 30, 40])
    hits = random.binomial(sizes, truth, size=(4_000, 6))
    inside = 0
    for row in hits:
        low, high = mover(list(zip(row.tolist(), sizes.tolist(), strict=True)))
        inside += low <= truth.mean() <= high
    assert 0.94 <= inside / 4_000 <= 0.975


# the paired difference and its tests


def test_paired_difference_by_hand() -> None:
    # b = 30, c = 18, n = 98: (31 - 19) / 100 = 0.12; variance (0.31 + 0.19 - 0.0144) / 100 = 0.004856
    half = Z95 * math.sqrt(0.004856)
    assert paired_difference(30, 18, 98) == pytest.approx((0.12 - half, 0.12 + half), abs=1e-15)


@given(st.integers(1, 400).flatmap(lambda n: st.tuples(st.integers(0, n), st.integers(0, n), st.just(n))))
def test_paired_difference_holds_the_observed_one(case: tuple[int, int, int]) -> None:
    better, worse, n = case
    if better + worse > n:
        return
    low, high = paired_difference(better, worse, n)
    assert -1 <= low <= (better - worse) / n <= high <= 1


def test_paired_difference_covers_the_truth() -> None:
    random = np.random.default_rng(2)
    draws = random.multinomial(200, [0.25, 0.15, 0.60], size=4_000)
    inside = [low <= 0.10 <= high for low, high in (paired_difference(b, c, 200) for b, c, _ in draws.tolist())]
    assert 0.94 <= np.mean(inside) <= 0.965


@pytest.mark.parametrize(("better", "worse"), [(0, 1), (1, 0), (3, 3), (10, 2), (121, 179), (0, 40), (300, 287)])
def test_mcnemar_equals_scipy_and_statsmodels(better: int, worse: int) -> None:
    found = mcnemar(better, worse, 600)
    assert found.p == pytest.approx(scipy.stats.binomtest(better, better + worse).pvalue, rel=1e-9)
    oracle = statsmodels_mcnemar([[5, better], [worse, 7]], exact=True)
    assert found.p == pytest.approx(oracle.pvalue, rel=1e-9)
    assert "assumes independent items" in found.method


def test_nothing_differs() -> None:
    found = mcnemar(0, 0, 587)
    assert (found.p, found.discordance, found.detectable) == (1.0, 0.0, None)
    none = np.zeros(50, dtype=np.int64)
    assert sign_test(none, none, 587).p == 1.0


def test_detectable_difference_of_the_facts() -> None:
    assert minimal_detectable(0.25, 100) == pytest.approx(2.80 * 0.5 / 10, abs=1e-15)
    # 3.7 points at d = .10, 5.8 at .25, 7.3 at .40, n = 587
    assert [round(100 * (minimal_detectable(d, 587) or 0), 1) for d in (0.10, 0.25, 0.40)] == [3.7, 5.8, 7.3]


def test_sign_flips_equal_brute_force() -> None:
    random = np.random.default_rng(3)
    for _ in range(20):
        better, worse = random.integers(0, 6, size=(2, 11))
        sums = better - worse
        flips = [abs(np.dot(signs, sums)) for signs in itertools.product((-1, 1), repeat=11)]
        oracle = np.mean([flip >= abs(sums.sum()) for flip in flips])
        assert sign_test(better, worse, 60).p == pytest.approx(oracle, abs=1e-12)


def test_clusters_of_one_item_give_exact_mcnemar() -> None:
    better = np.array([1] * 14 + [0] * 9 + [0] * 200)
    worse = np.array([0] * 14 + [1] * 9 + [0] * 200)
    clustered, plain = sign_test(better, worse, 223), mcnemar(14, 9, 223)
    assert clustered.p == pytest.approx(plain.p, abs=1e-12)
    assert (clustered.discordance, clustered.detectable) == (plain.discordance, plain.detectable)


def test_many_clusters_give_the_normal_test() -> None:
    random = np.random.default_rng(4)
    better, worse = random.integers(0, 4, size=(2, 150))
    sums = better - worse
    z = sums.sum() / math.sqrt((sums**2).sum())
    found = sign_test(better, worse, 600)
    assert found.p == pytest.approx(2 * scipy.stats.norm.sf(abs(z)), rel=1e-9)
    assert "Z" in found.method


@pytest.mark.parametrize("clusters", [25, 120])
def test_a_true_null_with_clusters_is_rejected_in_5_percent(clusters: int) -> None:
    """Items of one base question succeed and fail together: plain McNemar takes that for evidence."""
    random = np.random.default_rng(5)
    runs, size = 2_000, 5
    leaning = random.beta(0.3, 0.3, size=(runs, clusters, 1))  # of a cluster, towards one of the two systems
    differ = random.random((runs, clusters, size)) < 0.4
    first = random.random((runs, clusters, size)) < leaning
    better, worse = (differ & first).sum(-1), (differ & ~first).sum(-1)
    n = clusters * size
    clustered = np.mean([sign_test(b, w, n).p < 0.05 for b, w in zip(better, worse, strict=True)])
    naive = np.mean([mcnemar(int(b.sum()), int(w.sum()), n).p < 0.05 for b, w in zip(better, worse, strict=True)])
    assert 0.025 <= clustered <= 0.065  # sign flips have few possible values, so they stay below 5 %
    assert naive > 0.10


# bootstrap


def _mean(counts: np.ndarray) -> np.ndarray:
    return counts[..., 1] / counts.sum(axis=-1)


def _share(sums: np.ndarray) -> np.ndarray:
    return sums[..., 0] / sums[..., 1]


def test_bootstrap_equals_that_of_scipy() -> None:
    found = bootstrap(_mean, np.eye(2, dtype=np.int64), np.array([70, 30]))
    data = np.array([0] * 70 + [1] * 30)
    oracle = scipy.stats.bootstrap((data,), np.mean, n_resamples=9_999, method="percentile", rng=0).confidence_interval
    assert found == pytest.approx((oracle.low, oracle.high), abs=0.011)  # one or two steps of 1/100


def test_bootstrap_of_constant_data_is_none_and_not_nan() -> None:
    assert bootstrap(_mean, np.eye(2, dtype=np.int64), np.array([0, 12])) is None


def test_clustered_bootstrap_equals_resampling_clusters_one_by_one() -> None:
    random = np.random.default_rng(6)
    clusters = random.integers(0, 60, 300)
    hits = random.random(300) < random.beta(1, 1, 60)[clusters]
    found = Sample(clusters).rate(hits, np.ones(300, dtype=bool))
    names = np.unique(clusters)
    members = {name: np.flatnonzero(clusters == name) for name in names}
    means = []
    for _ in range(4_000):
        drawn = np.concatenate([members[name] for name in random.choice(names, names.size)])
        means.append(hits[drawn].mean())
    assert (found.low, found.high) == pytest.approx(tuple(np.quantile(means, (0.025, 0.975))), abs=0.015)
    independent = Sample().rate(hits, np.ones(300, dtype=bool))
    assert found.high - found.low > 1.3 * (independent.high - independent.low)


@pytest.mark.parametrize("clusters", [30, 1_200])
def test_draws_kept_for_clusters_are_those_of_the_multinomial_in_any_order(clusters: int) -> None:
    random = np.random.default_rng(8)
    size = random.integers(1, 6, clusters)
    sums = np.stack([size - (size * random.beta(1, 1, clusters)).astype(np.int64), size], axis=1)
    found = bootstrap_clusters(_share, sums)
    assert found == bootstrap_clusters(_share, sums[random.permutation(clusters)])
    oracle = bootstrap(_share, *np.unique(sums, axis=0, return_counts=True))
    assert found == pytest.approx(oracle, abs=0.01)


def test_clusters_of_one_item_give_about_the_interval_of_independent_items() -> None:
    hits = np.arange(400) < 130
    everything = np.ones(400, dtype=bool)
    clustered, plain = Sample(np.arange(400)).rate(hits, everything), Sample().rate(hits, everything)
    assert (clustered.low, clustered.high) == pytest.approx((plain.low, plain.high), abs=0.01)


# samples


def _everything(sample: Sample, hits: np.ndarray, among: np.ndarray) -> tuple[Estimate, ...]:
    return (
        sample.rate(hits, among),
        sample.mean_rate([(hits, among), (hits, ~among)]),
        sample.difference(hits, among),
        sample.statistic(_mean, hits.astype(np.int64), 2),
    )


@pytest.mark.parametrize("clustered", [False, True])
@pytest.mark.parametrize("n", [1, 2, 19, 300])
@pytest.mark.parametrize("kind", ["none", "all", "some"])
def test_no_estimate_is_ever_nan_or_outside_its_interval(kind: str, n: int, clustered: bool) -> None:
    hits = {"none": np.zeros(n, bool), "all": np.ones(n, bool), "some": np.arange(n) % 3 == 0}[kind]
    sample = Sample(np.arange(n) // 3) if clustered else Sample()
    for estimate in _everything(sample, hits, np.arange(n) % 2 == 0):
        assert -1 <= estimate.low <= estimate.value <= estimate.high <= 1, estimate


@pytest.mark.parametrize("clustered", [False, True])
def test_without_items_all_is_undefined(clustered: bool) -> None:
    nothing = np.zeros(0, dtype=bool)
    sample = Sample(np.zeros(0, dtype=np.int64)) if clustered else Sample()
    found = [sample.rate(nothing, nothing), sample.difference(nothing, nothing), sample.mean_rate([(nothing, nothing)])]
    found.append(sample.statistic(lambda counts: np.full(counts.shape[:-1], np.nan), nothing.astype(np.int64), 2))
    assert [(e.value, e.low, e.high, e.n) for e in found] == [(None, None, None, 0)] * 4
    assert sample.test(nothing, nothing) is None


@pytest.mark.parametrize("clustered", [False, True])
def test_the_order_of_items_and_the_names_of_clusters_change_no_digit(clustered: bool) -> None:
    random = np.random.default_rng(7)
    hits, odd = random.random(300) < 0.6, random.random(300) < 0.5
    clusters = random.integers(0, 80, 300)
    order, names = random.permutation(300), random.permutation(80)

    before, after = Sample(clusters if clustered else None), Sample(names[clusters][order] if clustered else None)
    assert _everything(before, hits, odd) == _everything(after, hits[order], odd[order])
    assert before.test(hits, odd) == after.test(hits[order], odd[order])


def test_one_cluster_tells_next_to_nothing() -> None:
    found = Sample(np.zeros(100, dtype=np.int64)).rate(np.arange(100) < 50, np.ones(100, dtype=bool))
    assert (found.low, found.high) == pytest.approx(wilson(0.5, 1))
    assert "no spread" in found.method


def test_a_rate_of_zero_has_width_with_clusters_too() -> None:
    found = Sample(np.arange(90) // 3).rate(np.zeros(90, bool), np.ones(90, bool))
    assert (found.low, found.high) == (0.0, wilson(0, 30)[1])  # 30 clusters are 30 trials, not 90
