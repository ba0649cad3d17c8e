"""What all tests share: `support` is importable, and nobody's cache or data settings are touched or used."""

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

sys.path.insert(0, str(Path(__file__).parent))
# the same examples on every machine, however slow it is
settings.register_profile("shared", derandomize=True, deadline=None)
settings.load_profile("shared")


@pytest.fixture(autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Give each test an empty cache, and no data but what it names."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
    monkeypatch.delenv("GEOREFUSAL_DATA", raising=False)


# Tests of pages in a browser need one; where there is none they are deselected, and the run says so.

CHROMIUM = next(
    filter(None, map(shutil.which, ("/usr/bin/chromium", "chromium", "chromium-browser", "google-chrome"))), None
)
_LEFT_OUT = pytest.StashKey[int]()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if CHROMIUM:
        return
    left_out = [item for item in items if item.get_closest_marker("browser")]
    config.stash[_LEFT_OUT] = len(left_out)
    config.hook.pytest_deselected(items=left_out)
    items[:] = [item for item in items if item not in left_out]


def pytest_report_collectionfinish(config: pytest.Config) -> str | None:
    count = config.stash.get(_LEFT_OUT, 0)
    return (
        f"{count} tests of the page need Chromium, which is not installed (apt-get install chromium)" if count else None
    )


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """A Chromium with nothing of its own to fetch."""
    from playwright.sync_api import sync_playwright
    from support.browser import FLAGS

    with sync_playwright() as driver:
        started = driver.chromium.launch(executable_path=CHROMIUM, headless=True, args=list(FLAGS))
        yield started
        started.close()
