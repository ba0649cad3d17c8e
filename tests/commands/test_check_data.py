"""`georefusal check-data` succeeds on sound sets only, and shows the card's numbers beside what it counted."""

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest
import typer
from PIL import Image, ImageFile
from support.twin import make_twin
from typer.testing import CliRunner, Result

from georefusal_task.commands.check_data import check_data
from georefusal_task.data import load

app = typer.Typer()
app.command()(check_data)


def run(*arguments: object) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def counted(result: Result, fact: str) -> tuple[str, ...]:
    """Return the columns beside a fact."""
    (line,) = (line for line in result.stdout.splitlines() if line.startswith(fact))
    return tuple(line.removeprefix(fact).split())


def test_the_released_layout_with_the_counts_of_the_card_passes(tmp_path: Path) -> None:
    result = run("--data", make_twin(tmp_path, sums=True), "--released")
    assert result.exit_code == 0, result.stderr
    assert counted(result, "items") == ("587", "587")
    assert counted(result, "accept ANSWER") == ("295", "295")
    assert counted(result, "always-answer accept_acc") == ("0.5026", "0.5026")
    assert counted(result, "accept several verdicts") == ("15", "15")
    assert counted(result, "distinct (image, question)") == ("586", "586")
    assert counted(result, "levers used") == ("83", "83")
    assert counted(result, "anchored by measurement") == ("193", "193")
    assert counted(result, "left out at answer level") == ("3", "3")
    assert "SHA256SUMS lists and matches 593 of 593" in result.stdout
    assert result.stdout.count("same image and question: ") == 1
    assert load(tmp_path).digest in result.stdout


def test_other_counts_matter_only_where_the_released_set_is_claimed(tmp_path: Path) -> None:
    folder = make_twin(tmp_path, n=40)
    assert run("--data", folder).exit_code == 0
    result = run("--data", folder, "--released")
    assert result.exit_code == 1
    assert "items: 40 here, 587 on the card" in result.stderr


def test_unknown_anchors_are_no_difference(tmp_path: Path) -> None:
    result = run("--data", make_twin(tmp_path, drop=["anchor"]), "--released")
    assert result.exit_code == 0, result.stderr
    assert counted(result, "anchored by measurement") == ("unknown",)


def flip(content: bytes) -> bytes:
    """Change a byte of the pixel data."""
    changed = bytearray(content)
    changed[len(changed) // 2] ^= 1
    return bytes(changed)


@pytest.mark.parametrize("tolerant", [True, False])
def test_an_image_that_only_a_strict_decode_finds_damaged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tolerant: bool
) -> None:
    monkeypatch.setattr(ImageFile, "LOAD_TRUNCATED_IMAGES", tolerant)
    folder = make_twin(tmp_path, n=20)
    image = min((folder / "images/A").iterdir())
    image.write_bytes(flip(image.read_bytes()))
    load(folder)
    result = run("--data", folder)
    assert result.exit_code == 1
    assert "1 of 20 images cannot be used" in result.stderr
    assert f"{image.stem}: image {image}" in result.stderr
    assert "19 of 20 decoded strictly" in result.stdout


def test_bytes_that_changed_without_a_trace_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A disk error changes neither size nor time, so the remembered digest would still say that all is well."""
    folder = make_twin(tmp_path, n=12)
    item = load(folder).items[0]
    stored = next((Path(os.environ["XDG_CACHE_HOME"]) / "georefusal/digests").iterdir())
    known = json.loads(stored.read_bytes())
    stamp, _ = known[str(item.case.image)]
    known[str(item.case.image)] = (stamp, "0" * 64)
    stored.write_text(json.dumps(known))
    result = run("--data", folder)
    assert result.exit_code == 1
    assert f"{item.case.id}: image {item.case.image} has other bytes" in result.stderr


def test_many_damaged_images_are_counted(tmp_path: Path) -> None:
    folder = make_twin(tmp_path, n=20)
    for image in folder.glob("images/*/*.png"):
        image.write_bytes(flip(image.read_bytes()))
    result = run("--data", folder)
    assert result.exit_code == 1
    assert result.stderr.rstrip().endswith("... and 10 more")


@pytest.mark.parametrize(
    ("spoil", "says"),
    [
        (lambda folder: next(folder.glob("images/A/*")).unlink(), "there is no file"),
        (lambda folder: (folder / "labels/C.jsonl").unlink(), "case has no label"),
        (lambda folder: (folder / "cases/A.jsonl").write_text("{"), "cases/A.jsonl line 1 is not JSON"),
    ],
    ids=["image", "labels", "table"],
)
def test_what_the_loader_refuses_is_refused_here(tmp_path: Path, spoil: Callable[[Path], object], says: str) -> None:
    folder = make_twin(tmp_path, n=20)
    spoil(folder)
    result = run("--data", folder)
    assert (result.exit_code, result.stdout) == (1, "")
    assert says in result.stderr
    assert "Traceback" not in result.stderr


def test_files_that_no_case_shows_are_mentioned(tmp_path: Path) -> None:
    folder = make_twin(tmp_path, n=20)
    Image.new("L", (4, 4)).save(folder / "images/A/A-00.png")
    result = run("--data", folder)
    assert result.exit_code == 0
    assert "1 below images/ that no case shows, such as images/A/A-00.png" in result.stdout


def test_mini_and_a_folder_do_not_go_together(tmp_path: Path) -> None:
    result = run("--mini", "--data", tmp_path)
    assert result.exit_code == 1
    assert "leave out --data" in result.stderr
