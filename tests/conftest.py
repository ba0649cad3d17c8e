"""What all tests share: `support` is importable, and nobody's cache or data settings are touched or used."""

import sys
from pathlib import Path

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
