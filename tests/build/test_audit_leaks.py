"""A leak of every tier is caught where it is planted, and nowhere else."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from support.audit_sets import QUICK, made_up

from georefusal_build.audit import trial
from georefusal_build.audit.gates import Finding, Gate, Outcome
from georefusal_build.audit.models import Name, refitted
from georefusal_build.audit.plan import make_plan
from georefusal_build.audit.progress import Progress
from georefusal_build.audit.run import probe_all
from georefusal_build.audit.shuffles import shuffled

TINY = replace(QUICK, trees=5, rounds=4, refits=10, tree_refits=5, null_trees=5)
PLANTED = [
    ("id", "T0", "id"),
    ("order", "T0", "row order"),
    ("bytes", "T1", "file bytes"),
    ("word", "T2", "region"),
    ("bright", "T3", "mean"),
    ("base", "T6", "base answer"),
]
POOLS = ("inside all families", "inside fp_entity (one wording)")


@cache
def found(leak: str, tier: str = "", seed: int = 3) -> tuple[Finding, ...]:
    """The pooled gates alone, of one tier or all: what single families say takes several times as long."""
    subjects = made_up(seed, leak)
    probes = [p for p in make_plan(subjects).probes if p.gate and p.target.name in POOLS and tier in ("", p.tier)]
    return probe_all(probes, subjects, TINY, Progress())


@pytest.mark.parametrize(("leak", "tier", "figure"), PLANTED)
def test_a_planted_leak_is_caught_and_its_figure_named(leak: str, tier: str, figure: str) -> None:
    """The other tiers see what they see of the set without a leak, which the next test lets through."""
    (finding,) = found(leak, tier)
    assert finding.outcome == Outcome.LEAK
    assert any(figure in name for name, _ in finding.suspects)


def test_a_set_without_a_leak_is_let_through() -> None:
    findings = found("")
    assert {finding.tier for finding in findings} == {"T0", "T1", "T2", "T3", "T6"}
    assert not [finding for finding in findings if finding.outcome == Outcome.LEAK]


def test_effective_sampling_gives_the_label_away_and_has_no_gate() -> None:
    """What the benchmark's card reports: provenance alone predicts; it must never be read as a fault of the images."""
    subjects = made_up(3, "gsd")
    probes = [
        probe
        for probe in make_plan(subjects).probes
        if probe.tier == "T4" and probe.target.name == "answer or refuse" and probe.features.startswith("effective")
    ]
    (finding,) = probe_all(probes, subjects, TINY, Progress())
    assert finding.outcome == Outcome.REPORTED
    assert finding.strongest is not None
    assert finding.strongest.balanced > 0.95


def test_no_figure_depends_on_the_number_of_processes() -> None:
    subjects = made_up(5, "bytes")
    probes = [probe for probe in make_plan(subjects).probes if probe.tier == "T1" and probe.target.scope == "pool"]
    settings = replace(TINY, refits=5)
    one = probe_all(probes, subjects, settings, Progress())
    two = probe_all(probes, subjects, replace(settings, jobs=2), Progress())
    assert [(f.scores, f.null, f.suspects) for f in one] == [(f.scores, f.null, f.suspects) for f in two]


def test_shuffled_labels_bring_refitted_regression_back_to_chance() -> None:
    """A leak through the folds would let a model learn shuffled labels."""
    subjects = made_up(3, "bytes")
    (probe,) = (p for p in make_plan(subjects).probes if p.tier == "T1" and p.target.scope == "pool")
    owners = probe.owners[probe.target.places]
    orders = shuffled(probe.target, subjects.groups, 40, 1)
    null = np.array(list(refitted("logistic", probe.data, probe.target, owners, orders, TINY)))
    assert abs(null.mean() - 0.5) < 0.03
    assert np.quantile(null, 0.95) < 0.62
    (finding,) = probe_all([probe], subjects, TINY, Progress())
    assert finding.strongest is not None
    assert finding.strongest.balanced > 0.8


def test_work_stops_where_no_gate_can_fail(monkeypatch: pytest.MonkeyPatch) -> None:
    """Six of seven minutes went into shuffled labels for figures that no gate could fail on."""
    asked: list[Name] = []

    def counted(name: Name, *_: object) -> Iterator[float]:
        asked.append(name)
        yield from (0.5 + 0.02 * (-1) ** number for number in range(10))

    monkeypatch.setattr(trial, "refitted", counted)
    subjects = made_up(3, "bytes")
    probes = [p for p in make_plan(subjects).probes if p.gate and p.tier in ("T1", "T3")]
    findings = probe_all(probes, subjects, TINY, Progress())
    over = [f for f in findings if f.outcome in (Outcome.LEAK, Outcome.CHANCE)]
    assert 0 < len(over) < len(findings)
    assert len(asked) <= 3 * len(over)
    for finding in findings:
        known = [score for score in finding.scores if score.p is not None]
        assert bool(known) == (finding in over)
        if finding.outcome == Outcome.LEAK:  # the first model that fails the set ends the work on its probe
            assert known == [finding.strongest]


def test_shuffling_stops_once_a_figure_looks_common(monkeypatch: pytest.MonkeyPatch) -> None:
    """All 200 trainings for each figure that chance put over a limit would take most of an audit's time."""
    drawn: Counter[Name] = Counter()

    def values(name: Name, *_: object) -> Iterator[float]:
        for number in range(200):
            drawn[name] += 1
            yield 0.5 + 0.05 * (-1) ** number

    monkeypatch.setattr(trial, "refitted", values)
    subjects = made_up(3)
    (probe,) = (p for p in make_plan(subjects).probes if p.tier == "T1" and p.target.name == POOLS[0])
    crossed = replace(probe, gate=Gate("always crossed", low=-1.0))
    settings = replace(TINY, refits=200, tree_refits=40)
    held = trial.trial(crossed, subjects.groups, settings, looks=60)
    assert drawn == {"logistic": 25, "forest": 20, "boosting": 20}
    assert {score.p for score in held.scores} == {1.0}
    assert held.null is not None
    assert held.null[0] == pytest.approx(0.5, abs=0.01)


def test_a_figure_far_below_its_limit_is_looked_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    repeats: list[range] = []
    plain = trial.votes

    def counted(*args: Any, repeats_: list[range] = repeats, **more: Any) -> Any:
        repeats_.append(more["repeats"])
        return plain(*args, **more)

    monkeypatch.setattr(trial, "votes", counted)
    subjects = made_up(3, "bytes")
    probes = {p.tier: p for p in make_plan(subjects).probes if p.gate and p.target.name == POOLS[0]}
    three = replace(TINY, first=1, repeats=3)
    probe_all([probes["T1"]], subjects, three, Progress())
    assert repeats == [range(1), range(1, 3)]
    far = replace(probes["T1"], gate=Gate("none", value=0.5, low=0.5))
    probe_all([far, replace(probes["T1"], gate=None)], subjects, three, Progress())
    assert repeats[2:] == [range(1), range(1)]


def test_few_items_get_no_gate_and_are_not_passed() -> None:
    subjects = made_up(3, "bytes", items=12)
    probes = [probe for probe in make_plan(subjects).probes if probe.tier == "T1"]
    findings = probe_all(probes, subjects, TINY, Progress())
    assert {f.outcome for f in findings if f.target.scope != "set"} == {Outcome.TOO_FEW}
    assert all("needed" in f.why for f in findings if f.outcome == Outcome.TOO_FEW)


def test_without_provenance_near_images_are_one_source() -> None:
    subjects = made_up(3, known=False)
    assert len(np.unique(subjects.groups)) == len(subjects.items)
    twin = replace(subjects.pictures[0], phash=subjects.pictures[1].phash ^ 0b10101)
    tied = replace(subjects, pictures=(twin, *subjects.pictures[1:]))
    assert tied.groups[0] == tied.groups[1]
    assert "source images are not known" in tied.grouping


@pytest.mark.slow
def test_the_rate_of_false_alarms() -> None:
    """The stated rate is 5 % for all gates of a set: 6 or more of 40 clean sets would fail in 1.4 % of cases."""
    alarms = 0
    for seed in range(100, 140):
        alarms += any(finding.outcome == Outcome.LEAK for finding in found("", seed=seed))
    assert alarms <= 5
