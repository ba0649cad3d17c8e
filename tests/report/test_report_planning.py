"""Planning against simulation: the power that is promised is the power that is had."""

from pathlib import Path

import numpy as np
import pytest
import typer
from scipy.special import bdtr
from scipy.stats import norm
from support.twin import make_twin
from typer.testing import CliRunner

from georefusal_task.commands.power import power as power_command
from georefusal_task.core.stats import minimal_detectable
from georefusal_task.report.planning import SAME_BASE, Design, detectable, items_needed, power

_app = typer.Typer()
_app.command()(power_command)


def simulated_mcnemar(effect: float, discordance: float, n: int, trials: int = 20_000) -> float:
    rng = np.random.default_rng(0)
    up = rng.binomial(n, (discordance + effect) / 2, trials)
    down = rng.binomial(n - up, (discordance - effect) / 2 / (1 - (discordance + effect) / 2))
    p = np.minimum(1, 2 * bdtr(np.minimum(up, down).astype(float), up + down, 0.5))
    return float((p < 0.05).mean())


def simulated_clusters(effect: float, discordance: float, design: Design, trials: int = 4_000) -> float:
    """Each item follows its cluster with a chance whose square is the correlation, else decides alone."""
    rng = np.random.default_rng(1)
    per = design.n // design.clusters

    def draw(*shape: int) -> np.ndarray:
        u = rng.random(shape)
        return np.where(u < (discordance + effect) / 2, 1, np.where(u < discordance, -1, 0))

    follows = rng.random((trials, design.clusters, per)) < np.sqrt(design.correlation)
    items = np.where(follows, draw(trials, design.clusters, 1), draw(trials, design.clusters, per))
    sums = items.sum(axis=-1)
    z = np.abs(sums.sum(axis=-1)) / np.sqrt((sums**2).sum(axis=-1))
    return float((z > 1.96).mean())


@pytest.mark.parametrize(("effect", "discordance", "n"), [(0.05, 0.25, 587), (0.1, 0.4, 200), (0.03, 0.05, 150)])
def test_power_of_mcnemar_is_what_simulation_gives(effect: float, discordance: float, n: int) -> None:
    assert power(effect, discordance, Design(n)) == pytest.approx(simulated_mcnemar(effect, discordance, n), abs=0.012)


def test_without_an_effect_the_level_is_kept() -> None:
    assert 0.02 < power(1e-9, 0.25, Design(587)) <= 0.05
    assert power(1e-9, 0.25, Design(587, clusters=100)) == pytest.approx(0.05, abs=1e-4)


@pytest.mark.parametrize("correlation", [0.0, 0.3, 1.0])
def test_power_over_clusters_is_what_simulation_gives(correlation: float) -> None:
    design = Design(600, clusters=150, correlation=correlation)
    assert power(0.06, 0.25, design) == pytest.approx(simulated_clusters(0.06, 0.25, design), abs=0.03)


@pytest.mark.parametrize(("per", "naive"), [(3, 0.14), (6, 0.19)])
def test_the_assumed_correlation_fits_what_is_known_of_the_design(per: int, naive: float) -> None:
    inflation = Design(100 * per, clusters=100, correlation=SAME_BASE).inflation
    assert 2 * norm.sf(1.96 / np.sqrt(inflation)) == pytest.approx(naive, abs=0.03)


@pytest.mark.parametrize("discordance", [0.10, 0.25, 0.40])
def test_the_detectable_difference_is_near_the_rule_that_reports_print(discordance: float) -> None:
    found = detectable(discordance, Design(587))
    assert found == pytest.approx(minimal_detectable(discordance, 587), rel=0.05)
    assert power(found, discordance, Design(587)) >= 0.8 > power(found - 2e-4, discordance, Design(587))


def test_no_difference_may_be_detectable() -> None:
    assert detectable(0.1, Design(20)) is None


def test_items_needed_are_enough_and_not_too_many() -> None:
    n = items_needed(0.05, 0.25, Design(587))
    assert power(0.05, 0.25, Design(n)) >= 0.8 > power(0.05, 0.25, Design(round(0.96 * n)))
    clustered = items_needed(0.05, 0.25, Design(587, clusters=150))
    assert clustered > n
    assert power(0.05, 0.25, Design(clustered, clusters=round(clustered * 150 / 587))) == pytest.approx(0.8, abs=0.01)


def test_more_items_bigger_effects_and_fewer_ties_help() -> None:
    assert power(0.05, 0.25, Design(1200)) > power(0.05, 0.25, Design(587)) > power(0.04, 0.25, Design(587))
    assert power(0.05, 0.25, Design(587)) > power(0.05, 0.40, Design(587)) > power(0.05, 0.40, Design(587, 100))


def run(*arguments: object) -> tuple[int, str, str]:
    found = CliRunner().invoke(_app, [str(argument) for argument in arguments])
    return found.exit_code, found.stdout, found.stderr


def test_the_command_plans_for_the_released_set() -> None:
    status, out, _ = run("--effect", 0.05)
    assert status == 0
    assert "587 items" in out
    assert "295" in out
    assert "5.9 points" in out


def test_the_command_reads_the_classes_of_a_set(tmp_path: Path) -> None:
    folder = make_twin(tmp_path / "data", n=40)
    status, out, _ = run("--data", folder, "--clusters", 10, "--discordance", 0.3)
    assert status == 0
    assert "gold REFUSE_FALSE_PREMISE_IN_QUERY" in out
    assert "10 clusters, variance times 1.90" in out


@pytest.mark.parametrize("options", [("--effect", 0), ("--effect", 0.3, "--discordance", 0.2), ("--effect", -0.1)])
def test_the_command_refuses_what_cannot_be(options: tuple[object, ...]) -> None:
    status, _, error = run(*options)
    assert status == 1
    assert "--effect" in error
