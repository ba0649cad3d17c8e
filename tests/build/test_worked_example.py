"""The worked example of the documentation, every step by the command that it names."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.host import run_host
from typer.testing import CliRunner

from georefusal_build.commands import APP
from georefusal_build.judging import rederive
from georefusal_build.layout import read_set
from georefusal_task.data import load

pytestmark = [pytest.mark.host, pytest.mark.slow]

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "docs" / "examples" / "worked"
PAGE = (ROOT / "docs" / "worked-example.md").read_text("utf-8")


@pytest.fixture(scope="module")
def printed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, str]]:
    """The folder in which the commands were run, and what they printed."""
    folder, said = tmp_path_factory.mktemp("worked"), []

    def build(*arguments: str) -> None:
        done = CliRunner().invoke(APP, [*arguments])
        assert done.exit_code == 0, done.output
        said.append(done.output)

    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        blind, third = str(EXAMPLE / "blind.jsonl"), str(EXAMPLE / "third.jsonl")
        (folder / "salt").write_text(re.findall(r'echo "(.*)" > salt', PAGE)[0])
        build("run", str(EXAMPLE / "build.yaml"), "-o", "candidates")
        build("review", "score", blind, "--data", "candidates")
        build("review", "adjudicate", blind, third, "--data", "candidates", "-o", "reviewed", "--measurements-stand")
        release = ("--name", "worked-example", "--version", "1.0.0", "--date", "2026-11-30", "--balance", "0.15")
        build("release", "reviewed", "-o", "releases", "--salt-file", "salt", *release)
        yield folder, "".join(said)


def test_the_page_shows_what_is_printed(printed: tuple[Path, str]) -> None:
    """Every quoted line of the workshop's commands; one that ends in dots is quoted to there."""
    folder, said = printed
    lines = [line.rstrip() for line in said.splitlines()]
    lines += (folder / "releases/worked-example-1.0.0/AUDIT.md").read_text("utf-8").splitlines()[:3]
    quoted = [line for block in re.findall(r"```\n(.*?)```", PAGE, re.S)[:3] for line in block.splitlines()]
    continued = False
    for line in quoted:
        command = continued or line.startswith("$ ")
        continued = command and line.endswith("\\")
        if command or line in ("", "..."):
            continue
        start = line.removesuffix("...").rstrip()
        assert any(one == start or (line.endswith("...") and one.startswith(start)) for one in lines), line


def test_the_gates_are_those_of_the_page(printed: tuple[Path, str]) -> None:
    record = json.loads((printed[0] / "releases/worked-example-1.0.0/release.json").read_text("utf-8"))
    for name, detail in record["gates"].items():
        if name != "categories":
            assert any(line.endswith(detail) for line in PAGE.splitlines() if line.startswith(name[:25])), name


def test_the_release_is_whole_and_every_label_follows_from_its_row(printed: tuple[Path, str]) -> None:
    items = read_set(printed[0] / "releases/worked-example-1.0.0")
    assert len(items) >= 150
    assert {(item.label.category, item.provenance["modality"]) for item in items} >= {
        (item.label.category, modality) for item in items for modality in ("optical", "sar")
    }
    for item in items:
        assert item.provenance["verdict_changed"] or rederive(item.provenance) == item.label.gold
        assert item.provenance["status"] == "reviewed"


def test_the_host_evaluates_it(printed: tuple[Path, str], tmp_path: Path) -> None:
    release = printed[0] / "releases/worked-example-1.0.0"
    run = run_host(
        tmp_path / "run",
        *("--model", "georefusal_constant", "--model_args", "verdict=ANSWER", "--tasks", "georefusalbench"),
        env={"GEOREFUSAL_DATA": str(release)},
    )
    items = load(release).items
    share = sum("ANSWER" in item.label.accept for item in items) / len(items)
    assert run.metrics("georefusalbench")["accept_acc"] == pytest.approx(share)
    assert f"{share:.4f}" in PAGE
