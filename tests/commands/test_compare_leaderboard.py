"""`georefusal compare` and `georefusal leaderboard` from the outside."""

import json
from pathlib import Path

import pytest
import typer
import yaml
from support.runs import HOST_ERROR, oracle, skilled, texts, write_host, write_provenance, write_replies
from support.twin import make_twin
from typer.testing import CliRunner, Result

from georefusal_task.commands.compare import compare
from georefusal_task.commands.leaderboard import leaderboard

N = 80

_app = typer.Typer()
_app.command()(compare)
_app.command()(leaderboard)


def run(*arguments: object) -> Result:
    return CliRunner().invoke(_app, [str(argument) for argument in arguments])


@pytest.fixture(scope="module")
def twin(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_twin(tmp_path_factory.mktemp("twin") / "data", n=N)


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder = tmp_path_factory.mktemp("files")
    return [write_replies(folder / f"m{i}.jsonl", texts(skilled(0.3 + 0.3 * i, i), N)) for i in range(3)]


def test_compare_says_it_in_words_and_tables(files: list[Path], twin: Path) -> None:
    found = run("compare", files[2], files[0], "--data", twin)
    assert found.exit_code == 0, found.output
    assert found.stdout.startswith("m2 is right more often than m0")
    assert "assumes independent items" in found.stdout
    assert "REFUSE_GRANULARITY_MISMATCH" in found.stdout


def test_what_provenance_leaves_open_is_said_once(files: list[Path], twin: Path, tmp_path: Path) -> None:
    loose = tmp_path / "loose.jsonl"
    loose.write_text('{"id": "A-00", "cluster": 1}\n')
    found = run("leaderboard", *files, "--data", twin, "--provenance", loose)
    assert found.exit_code == 0
    assert found.stderr.count("they count as independent") == 1
    assert "assumes independent items" in found.stdout


def test_compare_writes_files(files: list[Path], twin: Path, tmp_path: Path) -> None:
    out = tmp_path / "c.json"
    found = run("compare", files[2], files[0], "--data", twin, "-o", out)
    assert (found.exit_code, found.stdout) == (0, "")
    content = json.loads(out.read_text())
    assert content["distinguishable"] is True
    assert len(content["flips"]) == content["test"]["better"] + content["test"]["worse"]
    assert run("compare", files[2], files[0], "--data", twin, "-o", tmp_path / "c.md").exit_code == 0
    assert "| Rate |" in (tmp_path / "c.md").read_text()


def test_compare_refuses_and_says_why(files: list[Path], twin: Path, tmp_path: Path) -> None:
    other = write_host(tmp_path, {"georefusalbench_shuffled": texts(oracle, N)})
    found = run("compare", files[0], other, "--data", twin)
    assert found.exit_code == 1
    assert "the image differs (main against shuffled)" in found.stderr
    found = run("compare", files[0], other, "--data", twin, "--force")
    assert found.exit_code == 0
    assert "Compared all the same, although the image differs" in found.stdout


def test_a_folder_of_several_models_is_not_one_run(files: list[Path], twin: Path, tmp_path: Path) -> None:
    for model in ("lab/a", "lab/b"):
        write_host(tmp_path, {"georefusalbench": texts(oracle, N)}, model=model)
    found = run("compare", files[0], tmp_path, "--data", twin)
    assert found.exit_code == 1
    assert "2 runs are wanted, but 3" in found.stderr


@pytest.mark.parametrize("command", ["compare", "leaderboard"])
def test_output_is_checked_before_any_work(files: list[Path], twin: Path, tmp_path: Path, command: str) -> None:
    for out, why in ((tmp_path / "none" / "x.json", "not there"), (tmp_path / "x.docx", ".docx")):
        found = run(command, files[0], files[1], "--data", twin, "-o", out)
        assert found.exit_code == 1
        assert why in found.stderr


@pytest.mark.parametrize("suffix", [".md", ".tex", ".html", ".tsv", ".json"])
def test_leaderboard_in_every_form(files: list[Path], twin: Path, tmp_path: Path, suffix: str) -> None:
    out = tmp_path / f"board{suffix}"
    found = run("leaderboard", *files, "--data", twin, "-o", out, "--declare", "m1=xView = half")
    assert found.exit_code == 0, found.output
    text = out.read_text()
    assert all(name in text for name in ("m0", "m1", "m2", "random verdict"))
    assert "xView = half" in text


def test_leaderboard_takes_a_folder_provenance_a_floor_and_writes_cards(twin: Path, tmp_path: Path) -> None:
    results = tmp_path / "results"
    for i, model in enumerate(("lab/a", "lab/b")):
        write_host(results, {"georefusalbench": texts(skilled(0.9 - 0.4 * i, i), N)}, model=model)
    floor = write_replies(tmp_path / "floor.jsonl", texts(skilled(0.5, 5), N))
    provenance = write_provenance(tmp_path, N)
    cards = tmp_path / "cards"
    options = ("--provenance", provenance, "--floor", floor, "--cards", cards)
    found = run("leaderboard", results, "--data", twin, *options)
    assert found.exit_code == 0, found.output
    assert "question-only floor: better" in found.stdout
    assert "clusters" in found.stdout
    written = sorted(cards.iterdir())
    assert [file.name for file in written] == ["001_lab_a.yaml", "002_lab_b.yaml"]
    assert yaml.safe_load(written[0].read_text().split("---")[1])["model-index"][0]["name"] == "lab/a"


def test_leaderboard_withholds(files: list[Path], twin: Path, tmp_path: Path) -> None:
    said = texts(oracle, N)
    failed = write_replies(tmp_path / "failed.jsonl", said | dict.fromkeys(list(said)[:24], HOST_ERROR))
    found = run("leaderboard", *files, failed, "--data", twin)
    assert found.exit_code == 0
    line = next(line for line in found.stdout.splitlines() if line.strip().startswith("failed"))
    assert "withheld: 30.0% of requests failed" in line


def test_a_wrong_declaration_is_named(files: list[Path], twin: Path) -> None:
    found = run("leaderboard", *files, "--data", twin, "--declare", "nobody=xView")
    assert found.exit_code == 1
    assert "nobody=xView" in found.stderr
    assert "m0, m1, m2" in found.stderr
