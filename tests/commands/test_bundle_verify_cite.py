"""`georefusal bundle`, `verify` and `cite` from the outside."""

import zipfile
from pathlib import Path

import pytest
import typer
from support.runs import skilled, texts, write_replies
from support.twin import make_twin
from typer.testing import CliRunner, Result

from georefusal_task.commands.bundle import bundle
from georefusal_task.commands.cite import cite
from georefusal_task.commands.verify import verify

N = 40

_app = typer.Typer()
_app.command()(bundle)
_app.command()(verify)
_app.command()(cite)


def run(*arguments: object) -> Result:
    return CliRunner().invoke(_app, [str(argument) for argument in arguments])


@pytest.fixture(scope="module")
def twin(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_twin(tmp_path_factory.mktemp("twin") / "data", n=N)


def test_bundle_then_verify_then_a_forgery(tmp_path: Path, twin: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    replies = write_replies(tmp_path / "m.jsonl", texts(skilled(0.5), N), model="lab/m 7b")
    found = run("bundle", replies, "--data", twin)
    assert (found.exit_code, found.stdout) == (0, "lab_m_7b_georefusalbench.zip: georefusalbench\n")
    packed = tmp_path / "lab_m_7b_georefusalbench.zip"
    found = run("verify", packed, "--data", twin)
    assert found.exit_code == 0, found.output
    assert "every figure" in found.stdout

    with zipfile.ZipFile(packed) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(packed, "w") as archive:
        for name, content in parts.items():
            archive.writestr(name, content.replace(b'"reader": "1"', b'"reader": "0"'))
    found = run("verify", packed, "--data", twin)
    assert found.exit_code == 1
    assert "reader: 0 then, 1 now" in found.stdout


def test_verify_of_a_damaged_file_is_an_error(tmp_path: Path, twin: Path) -> None:
    (tmp_path / "b.zip").write_bytes(b"PK")
    found = run("verify", tmp_path / "b.zip", "--data", twin)
    assert found.exit_code == 1
    assert found.stderr.startswith("error: ")
    assert found.stderr.count("\n") == 1


def test_cite_prints_all_three(tmp_path: Path, twin: Path) -> None:
    replies = write_replies(tmp_path / "m.jsonl", texts(skilled(0.5), N))
    found = run("cite", replies, "--data", twin)
    assert found.exit_code == 0
    assert all(part in found.stdout for part in ("% Methods", "% Row", "@software{georefusal"))
    out = tmp_path / "cite.tex"
    assert run("cite", replies, "--data", twin, "-o", out).stdout == ""
    assert out.read_text() == found.stdout


def test_a_place_that_cannot_be_written_is_named_first(tmp_path: Path) -> None:
    for command in ("bundle", "cite"):
        found = run(command, tmp_path / "none.jsonl", "-o", tmp_path / "no" / "x.zip")
        assert found.exit_code == 1
        assert "is not there" in found.stderr


@pytest.mark.parametrize("command", ["bundle", "verify", "cite"])
def test_a_missing_file_is_named_in_plain_words(tmp_path: Path, twin: Path, command: str) -> None:
    found = run(command, tmp_path / "none.zip", "--data", twin)
    assert found.exit_code == 1
    assert found.stderr == f"error: {tmp_path / 'none.zip'} is not there\n"
