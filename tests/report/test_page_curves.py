"""Curves of refusal against severity, and paired consistency: against independent computations and by hand."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import minimize
from statsmodels.api import Logit, add_constant
from support.runs import oracle, texts, verdict, write_replies
from support.twin import make_twin

from georefusal_task import data as loader
from georefusal_task.core.records import Intensity, Row, Status
from georefusal_task.core.stats import Z95
from georefusal_task.core.verdicts import Verdict
from georefusal_task.data import Benchmark
from georefusal_task.report.curves import Curve, curve, fit_logistic, paired_consistency
from georefusal_task.report.provenance import Provenance, Severity
from georefusal_task.report.runs import Run, load_run

N = 60


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    folder = tmp_path_factory.mktemp("twin")
    twin: Benchmark = loader.load(make_twin(folder / "data", n=N, provenance="none"))
    return load_run(write_replies(folder / "r.jsonl", texts(oracle, N)), data=twin, name="oracle")


def penalised(beta: np.ndarray, x: np.ndarray, hit: np.ndarray) -> float:
    design = add_constant(x)
    share = 1 / (1 + np.exp(-design @ beta))
    information = design.T @ (design * (share * (1 - share))[:, None])
    likelihood = np.where(hit == 1, np.log(share), np.log1p(-share)).sum()
    return float(-(likelihood + 0.5 * np.linalg.slogdet(information)[1]))


@pytest.mark.parametrize("seed", range(6))
def test_the_fit_maximises_the_penalised_likelihood(seed: int) -> None:
    rng = np.random.default_rng(seed)
    x = rng.normal(3, 2, 15)
    hit = (rng.random(15) < 1 / (1 + np.exp(3 - x))).astype(np.float64)
    fit = fit_logistic(x, hit)
    assert fit
    best = minimize(
        penalised, np.zeros(2), args=(x, hit), method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-12}
    )
    assert (fit.intercept, fit.slope) == pytest.approx(best.x, abs=1e-4)


def test_with_many_items_it_is_the_ordinary_logistic_regression() -> None:
    rng = np.random.default_rng(0)
    x = rng.uniform(0, 10, 20_000)
    hit = (rng.random(20_000) < 1 / (1 + np.exp(4 - 0.8 * x))).astype(np.float64)
    ours, theirs = fit_logistic(x, hit), Logit(hit, add_constant(x)).fit(disp=False)
    assert ours
    assert (ours.intercept, ours.slope) == pytest.approx(theirs.params, rel=2e-3)
    assert ours.covariance[2] == pytest.approx(theirs.cov_params()[1, 1], rel=1e-2)


def test_a_lever_that_parts_the_outcomes_has_a_finite_curve() -> None:
    """Plain maximum likelihood runs away here, and this is what a good model does."""
    x = np.array([0.1, 0.2, 0.3, 0.7, 0.8, 0.9])
    fit = fit_logistic(x, (x > 0.5).astype(np.float64))
    assert fit
    assert fit.half == pytest.approx(0.5)
    assert np.isfinite(fit.at(np.array([-1e9, 0.5, 1e9]))).all()
    assert fit_logistic(np.ones(6), np.array([0, 1, 0, 1, 0, 1.0])) is None


def test_units_of_the_measure_do_not_change_the_curve() -> None:
    rng = np.random.default_rng(1)
    x, hit = rng.random(20), rng.integers(0, 2, 20).astype(np.float64)
    metres, kilometres = fit_logistic(1000 * x + 7, hit), fit_logistic(x + 0.007, hit)
    assert metres
    assert kilometres
    assert metres.half == pytest.approx(1000 * kilometres.half)
    assert metres.at(1000 * x + 7) == pytest.approx(kilometres.at(x + 0.007))


def test_the_interval_holds_the_points_where_half_cannot_be_rejected() -> None:
    rng = np.random.default_rng(2)
    x = rng.uniform(0, 1, 80)
    fit = fit_logistic(x, (rng.random(80) < 1 / (1 + np.exp(5 - 10 * x))).astype(np.float64))
    assert fit
    assert fit.half_interval
    grid = np.linspace(0, 1, 100_001)
    var_a, cov, var_b = fit.covariance
    inside = np.abs(fit.intercept + fit.slope * grid) <= Z95 * np.sqrt(var_a + 2 * grid * cov + grid**2 * var_b)
    assert fit.half_interval == pytest.approx((grid[inside].min(), grid[inside].max()), abs=1e-4)


def test_flat_curves_have_no_interval_and_wrong_ones_no_point() -> None:
    x = np.linspace(0, 1, 12)
    flat = fit_logistic(x, np.tile([0.0, 1.0], 6))
    assert flat
    assert flat.half_interval is None
    falling = fit_logistic(x, (x < 0.5).astype(np.float64))
    wrong = Curve("f", "m", True, tuple(x), tuple(x < 0.5), 0, falling)
    assert wrong.half is None
    assert replace(wrong, rising=False).half == pytest.approx(0.5, abs=0.01)
    always = fit_logistic(x, np.ones(12))
    assert Curve("f", "m", True, tuple(x), (True,) * 12, 0, always).half is None


def test_replies_without_a_verdict_are_in_no_curve(run: Run) -> None:
    ids = [row.id for row in run.rows[:10]]
    unread = {ids[0], ids[1]}
    rows = tuple(replace(row, verdict=None, status=Status.UNPARSED) if row.id in unread else row for row in run.rows)
    found = curve(replace(run, rows=rows), "f", Severity("m", True, {item: i / 10 for i, item in enumerate(ids)}))
    assert (len(found.values), found.unparsed) == (8, 2)


def row(run: Run, number: int, intensity: str, *, answerable: bool, said: str | None) -> Row:
    gold = Verdict.ANSWER if answerable else Verdict.AMBIGUOUS
    verdict_ = None if said is None else Verdict(said)
    return replace(run.rows[number], intensity=Intensity(intensity), gold=gold, accept=(gold,), verdict=verdict_)


def test_pairs_by_hand(run: Run) -> None:
    refuse = "REFUSE_GRANULARITY_MISMATCH"  # another reason than gold: refusing is what counts
    pairs = {
        "told apart": [("LOW", True, "ANSWER"), ("HIGH", False, refuse)],
        "told apart in three": [("LOW", True, "ANSWER"), ("MEDIUM", False, refuse), ("HIGH", False, refuse)],
        "answers": [("LOW", True, "ANSWER"), ("HIGH", False, "ANSWER")],
        "refuses": [("LOW", True, refuse), ("MEDIUM", False, refuse)],
        "half": [("LOW", True, "ANSWER"), ("MEDIUM", False, "ANSWER"), ("HIGH", False, refuse)],
        "unread": [("LOW", True, "ANSWER"), ("HIGH", False, None)],
        "alone": [("LOW", True, "ANSWER")],
        "turned round": [("LOW", False, refuse), ("HIGH", False, refuse)],
    }
    rows, provenance = [], {}
    for pair, members in pairs.items():
        for intensity, answerable, said in members:
            rows.append(row(run, len(rows), intensity, answerable=answerable, said=said))
            provenance[rows[-1].id] = Provenance(id=rows[-1].id, pair_id=pair)
    found = paired_consistency(replace(run, rows=tuple(rows), provenance=provenance))
    assert found
    assert found.outcomes == {"consistent": 2, "always answers": 1, "always refuses": 1, "other": 2}
    assert (found.consistent.count, found.consistent.n) == (2, 6)


def test_without_pair_ids_the_base_question_pairs(run: Run) -> None:
    rows = (
        row(run, 0, "LOW", answerable=True, said="ANSWER"),
        row(run, 1, "HIGH", answerable=False, said="REFUSE_AMBIGUOUS_QUERY"),
    )
    known = {each.id: Provenance(id=each.id, base_question="Is there a ship?") for each in rows}
    found = paired_consistency(replace(run, rows=rows, provenance=known))
    assert found
    assert (found.paired_by, found.consistent.count, found.consistent.n) == ("base question", 1, 1)


def test_no_pairs_no_figure(run: Run, tmp_path: Path) -> None:
    assert paired_consistency(run) is None
    said = write_replies(tmp_path / "r.jsonl", texts(lambda _: verdict("ANSWER", "yes"), N))
    assert paired_consistency(load_run(said, data=run.benchmark)) is None
