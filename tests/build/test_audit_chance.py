"""What chance would do: label shuffles, intervals over source images, and one error rate for many gates."""

import numpy as np
import pytest
from sklearn.metrics import balanced_accuracy_score

from georefusal_build.audit.gates import GATES, Outcome, Score, chance, decide
from georefusal_build.audit.models import Features, folds, matrix, votes
from georefusal_build.audit.report import detectable
from georefusal_build.audit.settings import Settings
from georefusal_build.audit.shuffles import interval, shuffled
from georefusal_build.audit.suspects import suspects
from georefusal_build.audit.targets import Target
from georefusal_task.core.errors import ConfigError


def target(y: list[int] | np.ndarray, strata: list[int] | np.ndarray | None = None, classes: int = 2) -> Target:
    y = np.asarray(y)
    strata = np.zeros(len(y), dtype=np.int64) if strata is None else np.asarray(strata)
    return Target("t", "pool", np.arange(len(y)), y, tuple("abcdef"[:classes]), strata)


def test_weights_make_plain_balanced_accuracy() -> None:
    random = np.random.default_rng(0)
    y, guess = random.integers(0, 3, 90), random.integers(0, 3, 90)
    t = target(y, classes=3)
    assert t.weights[np.arange(90), y][guess == y].sum() == pytest.approx(balanced_accuracy_score(y, guess))


def test_weights_make_the_family_worth_nothing() -> None:
    """Nine in ten of family 0 are refusals, one in ten of family 1: guessing by family must score one half."""
    y = np.array([1] * 9 + [0] + [0] * 9 + [1])
    strata = np.repeat([0, 1], 10)
    t = target(y, strata)
    by_family = 1 - strata
    assert t.weights[np.arange(20), y][by_family == y].sum() == pytest.approx(0.5)


def test_shuffles_stay_in_their_family_and_keep_what_an_image_holds() -> None:
    """A free shuffle would tear apart labels that always come together, and make chance look narrower than it is."""
    y = np.array([0, 0, 1, 1, 0, 1, 0, 1, 1, 0, 0, 0])
    strata = np.array([0] * 8 + [1] * 4)
    groups = np.array([0, 0, 1, 1, 2, 2, 3, 4, 5, 5, 6, 6])
    t = target(y, strata)
    order = shuffled(t, groups, 400, 1)
    assert (np.sort(order, axis=1) == np.arange(12)).all()
    moved = y[order]
    assert (moved[:, :8].sum(axis=1) == y[:8].sum()).all()
    pairs = np.sort(moved[:, :6].reshape(-1, 3, 2), axis=2)
    kept = np.sort(pairs[..., 0] * 2 + pairs[..., 1], axis=1)
    assert (kept == np.sort([0, 3, 1])).all()  # {0, 0}, {1, 1} and {0, 1} in each shuffle, in any place
    assert len(np.unique(moved[:, :6], axis=0)) > 6


def test_one_item_an_image_is_shuffled_freely() -> None:
    t = target(np.arange(40) % 2)
    moved = t.y[shuffled(t, np.arange(40), 2_000, 1)]
    assert abs(moved.mean(axis=0) - 0.5).max() < 0.06


def test_the_interval_widens_when_items_hang_together() -> None:
    random = np.random.default_rng(1)
    right = np.repeat(random.integers(0, 2, 40), 5).astype(float)
    t = target(np.arange(200) % 2)
    weights = t.weights[np.arange(200), t.y]
    apart = interval(right, weights, t, np.arange(200), 2_000, 1)
    together = interval(right, weights, t, np.repeat(np.arange(40), 5), 2_000, 1)
    assert apart[0] < right.mean() < apart[1]
    assert together[1] - together[0] > 1.7 * (apart[1] - apart[0])


def test_p_is_that_of_a_new_draw_from_the_shuffles() -> None:
    """With few shuffles the normal distribution would cry leak too often: its p must be uniform even for ten."""
    random = np.random.default_rng(2)
    draws = random.normal(0.5, 0.04, (4_000, 11))
    ps = np.array([chance(row[0], row[1:], 1) for row in draws])
    assert abs((ps <= 0.05).mean() - 0.05) < 0.012
    assert abs((ps <= 0.5).mean() - 0.5) < 0.03


def test_many_looks_share_one_rate() -> None:
    null = np.random.default_rng(2).normal(0.5, 0.04, 200)
    once = chance(0.6, null, 1)
    assert chance(0.6, null, 30) == pytest.approx(30 * once)
    assert chance(0.5, null, 30) == 1.0


def test_a_limit_alone_and_chance_alone_fail_nothing() -> None:
    def score(balanced: float, low: float, p: float) -> Score:
        return Score("logistic", balanced, low, 0.9, balanced, p)

    gate = GATES["T3"]
    assert decide(gate, [score(0.70, 0.55, 0.20)], 0.5) == Outcome.CHANCE
    assert decide(gate, [score(0.64, 0.59, 0.001)], 0.5) == Outcome.CLEAR
    assert decide(gate, [score(0.64, 0.61, 0.001)], 0.5) == Outcome.LEAK
    assert decide(gate, [score(0.66, 0.50, 0.001)], 0.5) == Outcome.LEAK
    assert decide(gate, [score(0.70, 0.50, 0.5), score(0.60, 0.55, 0.01)], 0.5) == Outcome.CHANCE
    assert decide(None, [score(1.0, 1.0, 0.0)], 0.5) == Outcome.REPORTED


def test_power_is_that_of_the_design() -> None:
    """Section 11: five points over one half need about 780 items; 4.0 points either way at 587."""
    assert detectable(0.5, 780) == pytest.approx(0.55, abs=0.001)


def test_an_image_is_never_learnt_from_and_guessed() -> None:
    owners = np.repeat(np.arange(17), 3)
    for learnt, guessed in folds(owners, 4):
        assert not set(owners[learnt]) & set(owners[guessed])


def test_words_turned_for_regression_keep_every_product() -> None:
    from scipy.sparse import random as sparse

    words = sparse(30, 200, density=0.1, random_state=1, format="csr")
    t = target(np.arange(30) % 2)
    dense = matrix("logistic", Features(np.zeros((30, 1)), ("nothing",), words, ("w",) * 200), t)
    assert np.allclose(dense @ dense.T, 9 * (words @ words.T).toarray())


def test_a_level_that_differs_between_families_is_no_leak() -> None:
    """Figures are compared inside a family: one family's images may all be brighter."""
    random = np.random.default_rng(3)
    strata = np.repeat([0, 1], 60)
    y = np.concatenate([np.arange(60) % 4 == 0, np.arange(60) % 4 != 0]).astype(np.int64)
    features = Features((10 * strata + random.normal(size=120))[:, None], ("mean",))
    t = target(y, strata)
    quick = Settings(repeats=1, trees=20, rounds=10)
    for vote in votes(features, t, np.arange(120), quick).values():
        assert (vote * t.weights)[np.arange(120), y].sum() < 0.65
    assert abs(suspects(features, t)[0][1] - 0.5) < 0.15


def test_suspects_are_ranked_by_the_area_under_their_curve() -> None:
    from sklearn.metrics import roc_auc_score

    random = np.random.default_rng(4)
    y = np.arange(80) % 2
    slim = random.normal(size=(80, 3)) + np.outer(y, [0.0, -2.0, 0.5])
    (first, area), *_ = suspects(Features(slim, ("a", "b", "c")), target(y))
    assert first == "b"
    assert area == pytest.approx(roc_auc_score(y, slim[:, 1]), abs=1e-4)


def test_a_spread_cannot_be_told_from_one_shuffle() -> None:
    with pytest.raises(ConfigError, match="refits need at least 2"):
        Settings(refits=1)
