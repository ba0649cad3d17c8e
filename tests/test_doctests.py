"""The examples in docstrings are true."""

import doctest
import importlib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
MODULES = sorted(
    ".".join(path.relative_to(folder).with_suffix("").parts)
    for folder, package in ((ROOT, "georefusal_task"), (ROOT / "utils", "georefusal_build"))
    for path in (folder / package).rglob("*.py")
    if ">>> " in path.read_text(encoding="utf-8")
)


@pytest.mark.parametrize("name", MODULES)
def test_examples(name: str) -> None:
    done = doctest.testmod(importlib.import_module(name))
    assert done.attempted, "an example that nobody runs"
    assert not done.failed
