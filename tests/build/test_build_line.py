"""The whole line on a painted archive: from a configuration to candidates that the harness evaluates."""

import json
from pathlib import Path

import pytest
from support.coco_archive import write_config
from support.host import run_host
from support.toy_build import tree
from typer.testing import CliRunner

from georefusal_build.commands import APP
from georefusal_build.judging import rederive
from georefusal_build.layout import read_provenance
from georefusal_build.store import part_of
from georefusal_task.cli import app
from georefusal_task.data import load

FEW = "levers: {only: [im_redact, fp_entity, nf_value]}\n"


def build(*arguments: object) -> tuple[int, str, str]:
    """Return exit status, stdout and stderr of `georefusal build` with these arguments."""
    done = CliRunner().invoke(APP, [str(one) for one in arguments])
    return done.exit_code, done.stdout, done.stderr


@pytest.fixture(scope="module")
def config(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_config(tmp_path_factory.mktemp("painted"), scenes=2, side=128, more=FEW)


@pytest.fixture(scope="module")
def candidates(config: Path) -> Path:
    """The finished set."""
    out = config.parent / "candidates"
    status, printed, errors = build("run", config, "-o", out, "--workers", 1)
    assert status == 0, errors
    assert f"{len(load(out).items)} items" in printed
    return out


def test_a_dry_run_prints_the_yield_and_writes_nothing(config: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(config.parent)
    before = set(config.parent.rglob("*"))
    status, printed, errors = build("plan", config, "--dry-run")
    assert status == 0, errors
    lines = {line.split()[0]: line.split()[1:] for line in printed.splitlines() if line[:3] in ("im_", "fp_", "nf_")}
    assert lines["im_redact_low"][-3:-1] == ["at", "most"]
    assert lines["nf_value_low"][1] == lines["nf_value_low"][-1] != "0"
    assert lines["nf_intent_low"][-1] == "none"
    assert set(config.parent.rglob("*")) == before


def test_every_job_is_an_item_or_a_reject_with_one_reason(config: Path, candidates: Path, tmp_path: Path) -> None:
    assert build("plan", config, "-o", tmp_path / "plan.jsonl")[0] == 0
    jobs = (tmp_path / "plan.jsonl").read_text().splitlines()
    rejects = [json.loads(line) for line in (candidates / "rejects.jsonl").read_text().splitlines()]
    kept = read_provenance(candidates).values()
    named = [(row["base_id"], row["lever"]) for row in rejects] + [(row["base_id"], row["operator"]) for row in kept]
    assert len(named) == len(set(named)) == len(jobs)
    assert all(row["reason"].isidentifier() for row in rejects)
    summary = json.loads((candidates / "summary.json").read_text())
    assert (summary["items"], summary["rejects"]) == (len(kept), len(rejects))


def test_the_candidates_are_a_sound_set_that_is_marked_unreviewed(candidates: Path) -> None:
    done = CliRunner().invoke(app, ["check-data", "--data", str(candidates)])
    assert done.exit_code == 0, done.stderr
    assert "SHA256SUMS lists and matches" in done.stdout
    assert {row["status"] for row in read_provenance(candidates).values()} == {"unreviewed"}


def test_labels_follow_from_provenance_alone(candidates: Path) -> None:
    labels = {item.case.id: item.label.gold for item in load(candidates).items}
    assert {key: rederive(row) for key, row in read_provenance(candidates).items()} == labels


def test_the_steps_one_by_one_end_in_the_same_bytes(config: Path, candidates: Path, tmp_path: Path) -> None:
    plan, out = tmp_path / "plan.jsonl", tmp_path / "steps"
    shared = (config, "-o", out, "--plan", plan)
    assert build("plan", config, "-o", plan)[0] == 0
    status, _, errors = build("assemble", *shared)
    assert status == 1
    assert "are not made yet" in errors
    assert build("make", *shared, "--workers", 1, "--shard-size", 5)[0] == 0
    assert not out.exists()
    assert build("assemble", *shared)[0] == 0
    assert not part_of(out).exists()
    assert tree(out) == tree(candidates)


def test_a_finished_set_is_not_made_again(config: Path, candidates: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither are its sources read: planning anew, only to do nothing, takes minutes for large ones."""
    before = tree(candidates)
    monkeypatch.setattr("georefusal_build.line.open_context", None)
    status, printed, errors = build("run", config, "-o", candidates)
    assert status == 0, errors
    assert f"{len(load(candidates).items)} items" in printed
    assert tree(candidates) == before


@pytest.mark.parametrize(
    ("old", "new", "told"), [("seed: 7", "seed: 8", "config was"), ("salt-of-the-tests", "another salt", "salt was")]
)
def test_a_finished_set_is_not_mixed_with_another(
    config: Path, candidates: Path, old: str, new: str, told: str
) -> None:
    """A new salt means new ids: whoever changed it must not be left with the old ones."""
    before = tree(candidates)
    other = config.with_name("other.yaml")
    other.write_text(config.read_text().replace(old, new))
    status, _, errors = build("run", other, "-o", candidates)
    assert status == 1
    assert f"was built by another configuration or other versions ({told}" in " ".join(errors.split())
    assert tree(candidates) == before


def test_a_finished_set_of_another_plan_is_refused(config: Path, candidates: Path, tmp_path: Path) -> None:
    assert build("plan", config, "-o", tmp_path / "plan.jsonl")[0] == 0
    assert build("run", config, "-o", candidates, "--plan", tmp_path / "plan.jsonl")[0] == 0
    shorter = (tmp_path / "plan.jsonl").read_text().splitlines(keepends=True)[1:]
    (tmp_path / "plan.jsonl").write_text("".join(shorter))
    status, _, errors = build("run", config, "-o", candidates, "--plan", tmp_path / "plan.jsonl")
    assert status == 1
    assert "(plan was" in errors


def test_a_plan_without_a_job_says_what_was_left_out(config: Path, tmp_path: Path) -> None:
    """Such as of dense scenes, where every tile cuts an object of each class."""
    bare = config.with_name("bare.yaml")
    bare.write_text(config.read_text() + "limits: {min_minor_px: 90}\n")
    status, _, errors = build("run", bare, "-o", tmp_path / "out")
    assert status == 1
    assert "bare.yaml: there is no job to make; left out were" in errors
    assert "too_small" in errors
    assert not part_of(tmp_path / "out").exists()
    (tmp_path / "plan.jsonl").write_text("")
    status, _, errors = build("run", config, "-o", tmp_path / "out", "--plan", tmp_path / "plan.jsonl")
    assert "plan.jsonl: there is no job to make" in errors


def test_names_that_lead_nowhere_are_told(config: Path, tmp_path: Path) -> None:
    """A misspelt class costs every question about it."""
    odd = config.with_name("odd.yaml")
    odd.write_text(
        config.read_text().replace("modality: optical", "modality: optical, verified_absent: [brigde, bridge]")
    )
    status, _, errors = build("plan", odd, "--dry-run")
    assert status == 0, errors
    assert "names brigde, which is no known class" in errors


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("name: x\nseed: 1\nsalt: some-salt\n", "sources: is missing"),
        ("name: [\n", "is not YAML"),
        ("name: x\nseed: 1\nsalt: some-salt\nsources: [{format: coco, root: nowhere}]\n", "nowhere"),
    ],
)
def test_a_configuration_that_does_not_fit_is_named(tmp_path: Path, content: str, message: str) -> None:
    config = tmp_path / "wrong.yaml"
    config.write_text(content)
    status, _, errors = build("run", config, "-o", tmp_path / "out")
    assert status == 1
    assert message in errors
    assert "Traceback" not in errors


@pytest.mark.slow
def test_processes_change_no_byte(config: Path, candidates: Path, tmp_path: Path) -> None:
    assert build("run", config, "-o", tmp_path / "two", "--workers", 2, "--shard-size", 3)[0] == 0
    assert tree(tmp_path / "two") == tree(candidates)


@pytest.mark.host
@pytest.mark.slow
def test_the_harness_evaluates_the_candidates(candidates: Path, tmp_path: Path) -> None:
    host = run_host(
        tmp_path / "run",
        *("--model", "georefusal_constant", "--model_args", "verdict=ANSWER", "--tasks", "georefusalbench"),
        env={"GEOREFUSAL_DATA": str(candidates)},
    )
    items = load(candidates).items
    assert host.n("georefusalbench") == len(items)
    answerable = sum(item.label.gold == "ANSWER" for item in items)
    assert host.metrics("georefusalbench")["accept_acc"] == pytest.approx(answerable / len(items))
