"""`georefusal report` from the outside."""

from pathlib import Path

import pytest
from support.runs import HOST_ERROR, skilled, texts, write_provenance, write_replies
from support.twin import make_twin
from typer.testing import CliRunner, Result

from georefusal_task.cli import app

N = 60


def run(*arguments: object) -> Result:
    return CliRunner().invoke(app, ["report", *map(str, arguments)])


@pytest.fixture(scope="module")
def twin(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_twin(tmp_path_factory.mktemp("twin") / "data", n=N)


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder = tmp_path_factory.mktemp("files")
    return [write_replies(folder / f"m{i}.jsonl", texts(skilled(0.3 + 0.3 * i, i), N)) for i in range(3)]


def test_runs_stand_side_by_side(files: list[Path], twin: Path, tmp_path: Path) -> None:
    out = tmp_path / "r.html"
    found = run(*files, "--data", twin, "-o", out)
    assert (found.exit_code, found.stdout) == (0, "")
    page = out.read_text(encoding="utf-8")
    assert all(f"m{number}" in page for number in range(3))
    assert "clusters" not in page.split("<main", 1)[1].split("<script", 1)[0]


def test_provenance_and_floor_are_joined(files: list[Path], twin: Path, tmp_path: Path) -> None:
    out = tmp_path / "r.html"
    made = write_provenance(tmp_path / "made", N)
    found = run(files[0], "--data", twin, "--provenance", made, "--floor", files[1], "-o", out)
    assert found.exit_code == 0, found.output
    page = out.read_text(encoding="utf-8")
    assert "question-only floor" in page
    assert f"as {N // 4} clusters" in page


def test_a_place_that_cannot_be_written_costs_no_work(files: list[Path], twin: Path, tmp_path: Path) -> None:
    found = run(files[0], "--data", twin, "-o", tmp_path / "none" / "r.html")
    assert found.exit_code == 1
    assert "is not there" in found.stderr


def test_replies_of_another_data_set_are_an_error_that_says_so(files: list[Path], tmp_path: Path) -> None:
    other = make_twin(tmp_path / "other", n=N, seed=1)
    found = run(files[0], "--data", other, "-o", tmp_path / "r.html")
    assert found.exit_code == 1
    assert "not among the" in found.stderr
    assert not (tmp_path / "r.html").exists()


def test_a_run_of_failed_requests_still_has_a_report(twin: Path, tmp_path: Path) -> None:
    file = write_replies(tmp_path / "m.jsonl", texts(lambda _: HOST_ERROR, N))
    found = run(file, "--data", twin, "-o", tmp_path / "r.html")
    assert found.exit_code == 0, found.output
    assert "100.0 % of the requests failed" in (tmp_path / "r.html").read_text(encoding="utf-8")
