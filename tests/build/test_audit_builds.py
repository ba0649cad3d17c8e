"""A build whose severity follows the intensity, and one whose budget is matched, from the same painted scenes."""

from pathlib import Path

import numpy as np
import pytest
from support.levers import optical, with_boxes

import audit_example
from georefusal_build.audit.models import votes
from georefusal_build.audit.plan import make_plan
from georefusal_build.audit.progress import Progress
from georefusal_build.audit.run import probe_all, read
from georefusal_build.audit.settings import Settings
from georefusal_task.core.records import Intensity

QUICK = Settings(repeats=1, trees=20, rounds=10, refits=12, tree_refits=5, null_trees=10, draws=400, jobs=1)


def painted(count: int) -> list[audit_example.Place]:
    """Return places with a large and a small bright object on soft ground, each cut from somewhere else."""
    random = np.random.default_rng(4)
    ground = optical((240, 320))
    found = []
    for number in range(count):
        top, left = random.integers(0, 240 - 160), random.integers(0, 320 - 160)
        x, y = random.integers(2, 10, 2).tolist()
        u, v = random.integers(122, 138, 2).tolist()
        boxes = [(x, y, x + 100, y + 100), (u, v, u + 16, v + 16)]
        pixels = with_boxes(np.ascontiguousarray(ground[top : top + 160, left : left + 160]), boxes, 190, 6)
        corners = [((a, b), (c, b), (c, d), (a, d)) for a, b, c, d in boxes]
        found.append(
            audit_example.Place(f"scene {number}", number, pixels, (("hall", corners[0]), ("hut", corners[1])), 0.5)
        )
    return found


def test_one_image_asks_for_the_large_and_the_small() -> None:
    """Pairing: no figure of the image can tell a LOW item from the refusal that shows the same bytes."""
    made = [one for one in audit_example.matched(painted(3)) if one.family == "gm_decimate"]
    assert len(made) == 6
    for low, refusal in zip(made[::2], made[1::2], strict=True):
        assert (low.intensity, low.target[0], refusal.target[0]) == (Intensity.LOW, "hall", "hut")
        assert (low.pixels == refusal.pixels).all()


def test_effective_sampling_gives_the_naive_build_away_and_its_images_too(tmp_path: Path) -> None:
    audit_example.write(tmp_path / "naive", list(audit_example.naive(painted(12))))
    subjects = read(tmp_path / "naive", QUICK, Progress())
    probes = [
        probe
        for probe in make_plan(subjects).probes
        if (probe.tier, probe.target.name) == ("T3", "inside all families")
        or (probe.features.startswith("effective") and probe.target.name == "answer or refuse")
    ]
    assert {probe.tier for probe in probes} == {"T3", "T4"}
    for probe in probes:
        vote = votes(probe.data, probe.target, subjects.groups[probe.target.places], QUICK, ("forest",))["forest"]
        right = float((vote * probe.target.weights)[np.arange(len(vote)), probe.target.y].sum())
        assert right > (0.9 if probe.tier == "T3" else 0.6)


@pytest.mark.slow
def test_the_naive_build_fails_where_the_matched_one_passes(tmp_path: Path) -> None:
    found = painted(30)
    outcome = {}
    for name, build in (("naive", audit_example.naive), ("matched", audit_example.matched)):
        audit_example.write(tmp_path / name, list(build(found)))
        subjects = read(tmp_path / name, QUICK, Progress())
        probes = [
            p for p in make_plan(subjects).probes if p.gate and p.tier in ("T1", "T3") and p.target.scope == "pool"
        ]
        findings = probe_all(probes, subjects, QUICK, Progress())
        outcome[name] = {finding.tier: finding.outcome.name for finding in findings}
    assert outcome["naive"] == {"T1": "LEAK", "T3": "LEAK"}
    assert "LEAK" not in outcome["matched"].values()
