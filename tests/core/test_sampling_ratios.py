"""Several ratios from the same resamples: the figures of one ratio alone, at any number of clusters, in any order."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from georefusal_task.core import stats
from georefusal_task.core.sampling import Sample


def columns(items: int, clusters: int, seed: int = 0) -> tuple[Sample, dict[str, tuple[np.ndarray, np.ndarray]]]:
    random = np.random.default_rng(seed)
    below = random.integers(0, 5, items)
    above = random.integers(0, below + 1)
    shares = random.random(items)
    sample = Sample(np.unique(random.integers(0, clusters, items), return_inverse=True)[1])
    return sample, {"counts": (above, below), "all": (below, below), "shares": (shares, np.ones(items, dtype=np.int64))}


def test_a_ratio_of_masks_is_the_clustered_rate() -> None:
    sample, _ = columns(300, 40)
    random = np.random.default_rng(1)
    hits, among = random.random(300) < 0.4, random.random(300) < 0.8
    together = sample.ratios({"rate": ((hits & among).astype(np.int64), among.astype(np.int64))})["rate"]
    alone = sample.rate(hits, among)
    assert (together.value, together.n, together.count) == (alone.value, alone.n, alone.count)
    assert together.low == pytest.approx(alone.low)
    assert together.high == pytest.approx(alone.high)
    assert together.method == alone.method


def test_drawing_in_parts_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    # thousands of clusters are drawn a few at a time and never kept
    sample, wanted = columns(400, 60)
    kept = sample.ratios(wanted)
    monkeypatch.setattr(stats, "_SHARED_CLUSTERS", 5)
    drawn = sample.ratios(wanted)
    assert (drawn["counts"], drawn["all"]) == (kept["counts"], kept["all"])
    assert drawn["shares"].low == pytest.approx(kept["shares"].low, abs=1e-6)  # of measures, to 32 bits


def test_the_interval_of_a_mean_is_about_the_cluster_robust_one_of_statsmodels() -> None:
    import statsmodels.api as sm

    sample, wanted = columns(2000, 100)
    shares = wanted["shares"][0]
    fitted = sm.OLS(shares, np.ones(len(shares))).fit(cov_type="cluster", cov_kwds={"groups": sample.clusters})
    found = sample.ratios(wanted)["shares"]
    assert found.value == pytest.approx(fitted.params[0])
    assert [found.low, found.high] == pytest.approx(fitted.conf_int()[0], abs=0.003)


def test_what_never_varies_has_the_width_of_its_clusters_if_counted_and_none_if_measured() -> None:
    sample = Sample(np.array([0, 0, 1, 2]))
    ones = np.ones(4, dtype=np.int64)
    found = sample.ratios({"counted": (ones, ones), "measured": (np.ones(4), ones), "nothing": (0 * ones, 0 * ones)})
    assert (found["counted"].low, found["counted"].high) == (pytest.approx(stats.wilson(3, 3)[0]), 1.0)
    assert (found["measured"].low, found["measured"].high) == (1.0, 1.0)
    assert found["nothing"].value is None
    assert Sample().ratios({"empty": (ones[:0], ones[:0])})["empty"] == stats.undefined()


@settings(deadline=None, max_examples=20)
@given(st.randoms(use_true_random=False))
def test_order_changes_no_digit_of_counts(random: object) -> None:
    sample, wanted = columns(50, 12)
    order = list(range(50))
    random.shuffle(order)  # type: ignore[attr-defined]
    assert sample.clusters is not None
    shuffled = Sample(sample.clusters[order]).ratios({n: (a[order], b[order]) for n, (a, b) in wanted.items()})
    expected = sample.ratios(wanted)
    assert (shuffled["counts"], shuffled["all"]) == (expected["counts"], expected["all"])
    assert shuffled["shares"].value == expected["shares"].value
