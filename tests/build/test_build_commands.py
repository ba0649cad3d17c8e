"""The commands of the workshop: what they print, write and refuse."""

import subprocess
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from support.levers import optical
from typer.testing import CliRunner

from georefusal_build.catalogue import levers
from georefusal_build.commands import APP

SCRIPT = Path(sys.executable).with_name("georefusal")
DOCS = Path(__file__).parents[2] / "docs" / "levers"


def build(*arguments: object) -> tuple[int, str, str]:
    """Return exit status, stdout and stderr of `georefusal build` with these arguments."""
    done = CliRunner().invoke(APP, [str(one) for one in arguments])
    return done.exit_code, done.stdout, done.stderr


def test_the_registered_command_prints_full_ids_one_per_line_when_piped() -> None:
    """A table library would cut ids to the width of the terminal."""
    done = subprocess.run(
        [SCRIPT, "build", "catalogue"], env={"COLUMNS": "20"}, capture_output=True, text=True, check=True
    )
    ids = done.stdout.splitlines()
    assert ids == [one.id for one in levers()]
    assert len(set(ids)) == 90
    assert set(Counter((one.family.category, one.intensity) for one in levers()).values()) == {6}


def test_the_documentation_is_what_the_command_writes(tmp_path: Path) -> None:
    status, _, errors = build("catalogue", "--docs", tmp_path)
    assert status == 0, errors
    for name in ("catalogue.md", "bands.json"):
        assert (tmp_path / name).read_text() == (DOCS / name).read_text(), f"{name} is not in step: run `make docs`"


def test_help_of_every_command_needs_no_package_of_the_extra() -> None:
    """Somebody without the extra, or with slow disks, must still get --help, and every other command pays for it."""
    code = (
        "import sys; from georefusal_build.commands import APP; import typer\n"
        "typer.main.get_command(APP)\n"
        "print(sorted({'cv2', 'scipy', 'shapely', 'PIL', 'yaml', 'numpy'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_without_the_extra_the_error_names_it() -> None:
    code = "import sys; sys.modules['cv2'] = None\nfrom georefusal_build.commands import APP; APP(['catalogue'])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "pip install 'georefusal[build]'" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.fixture
def image(tmp_path: Path) -> Path:
    path = tmp_path / "field.png"
    Image.fromarray(optical((160, 160))).save(path)
    return path


@pytest.mark.parametrize(("lever", "pictures"), [("im_redact_high", 2), ("im_redact", 4)], ids=["a lever", "a family"])
def test_preview_shows_the_image_before_and_after(image: Path, tmp_path: Path, lever: str, pictures: int) -> None:
    strip = tmp_path / "new" / "strip.png"
    status, printed, errors = build(
        "preview", lever, "--image", image, "--box", "40,40,80,80", "--side", 100, "-o", strip
    )
    assert (status, printed.strip()) == (0, str(strip)), errors
    with Image.open(strip) as shown:
        assert shown.width == pictures * 104
        before, last = (np.asarray(shown.convert("RGB"))[20:, x : x + 100] for x in (0, shown.width - 104))
    assert (before != last).any()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("im_fog", "--box", "1,1,9,9"), "no lever is called 'im_fog'"),
        (("nf_value_low", "--box", "1,1,9,9"), "changes the question, not the image"),
        (("im_redact", "--box", "9,9,1"), "'9,9,1' is not a box"),
        (("im_redact", "--box", "9,9,1,1"), "is empty"),
        (("im_redact", "--box", "1,1,9,9", "--window", "0,0,500,10"), "leaves the image of 160 x 160"),
    ],
)
def test_preview_says_what_is_wrong(image: Path, tmp_path: Path, arguments: tuple[str, ...], message: str) -> None:
    status, printed, errors = build("preview", *arguments, "--image", image, "-o", tmp_path / "strip.png")
    assert (status, printed) == (1, "")
    assert message in errors
    assert not (tmp_path / "strip.png").exists()


def test_preview_names_an_image_that_is_damaged(tmp_path: Path) -> None:
    (tmp_path / "half.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    status, _, errors = build("preview", "im_redact", "--image", tmp_path / "half.png", "--box", "1,1,9,9")
    assert status == 1
    assert "half.png" in errors
