"""What is declared for packaging is what exists; the wheel itself is tested in tests/host."""

import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def test_every_package_that_ships_is_declared() -> None:
    """A folder that is not listed works in the editable install and is missing from the wheel."""
    found = {
        ".".join(file.parent.relative_to(start).parts)
        for start, name in ((ROOT, "georefusal_task"), (ROOT / "utils", "georefusal_build"))
        for file in (start / name).rglob("__init__.py")
    }
    assert set(SETTINGS["tool"]["setuptools"]["packages"]) == found | {"georefusal_task.tasks"}


def test_make_installs_every_extra() -> None:
    extras = ",".join(SETTINGS["project"]["optional-dependencies"])
    assert f"'.[{extras}]'" in (ROOT / "Makefile").read_text(encoding="utf-8")
