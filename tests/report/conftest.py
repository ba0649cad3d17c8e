"""Tests of the page in a browser need one; where there is none they are deselected, and the run says so."""

import shutil

import pytest

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


@pytest.fixture(scope="session")
def chromium() -> str:
    assert CHROMIUM
    return CHROMIUM
