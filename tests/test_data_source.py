"""The Hub path, against a stand-in on 127.0.0.1; each load in its own process, as the client reads settings once."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.hub import COMMIT, Hub, serve_hub
from support.twin import make_twin

from georefusal_task.data import load
from georefusal_task.data_source import REPOSITORY

NOWHERE = "http://127.0.0.1:9"
"""The discard port: refuses connections."""

LOAD = """
import json, sys
from georefusal_task import data, data_source
data_source.REVISION = sys.argv[1] or None
try:
    found = data.load()
    print(json.dumps([len(found.items), found.digest, found.source, found.revision]))
except data.DataError as error:
    print(json.dumps(str(error)))
"""


@pytest.fixture
def hub(tmp_path: Path) -> Iterator[Hub]:
    folder = make_twin(tmp_path / "remote", n=12, sums=True)
    (folder / "README.md").write_text("the card")
    with serve_hub(folder, REPOSITORY) as server:
        yield server


def start(home: Path, revision: str, **settings: str) -> "subprocess.Popen[str]":
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(("HF_", "HUGGINGFACE_"))}
    environment = {**inherited, "HF_HOME": str(home), "HF_HUB_DISABLE_TELEMETRY": "1", **settings}
    command = [sys.executable, "-c", LOAD, revision]
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def outcome(process: "subprocess.Popen[str]") -> Any:
    """Return [items, digest, source, revision], or the message of the DataError."""
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    return json.loads(out)


def loaded(home: Path, revision: str = "", **settings: str) -> Any:
    return outcome(start(home, revision, **settings))


def test_a_download_records_its_commit_and_leaves_provenance_behind(hub: Hub, tmp_path: Path) -> None:
    items, digest, source, revision = loaded(tmp_path, HF_ENDPOINT=hub.url)
    assert (items, digest, revision) == (12, load(hub.folder).digest, COMMIT)
    assert COMMIT in source
    assert [path for path in hub.paths if "provenance" in path or "README" in path] == []
    assert list(tmp_path.glob("hub/**/provenance")) == []


def test_a_warm_cache_serves_offline_and_unreachable(hub: Hub, tmp_path: Path) -> None:
    fresh = loaded(tmp_path, HF_ENDPOINT=hub.url)
    asked = len(hub.paths)
    assert loaded(tmp_path, HF_ENDPOINT=hub.url, HF_HUB_OFFLINE="1") == fresh
    assert len(hub.paths) == asked, "the offline flag was ignored"
    assert loaded(tmp_path, HF_ENDPOINT=NOWHERE) == fresh
    assert loaded(tmp_path, COMMIT, HF_ENDPOINT=NOWHERE) == fresh


@pytest.mark.parametrize(
    "settings", [{"HF_HUB_OFFLINE": "1"}, {"HF_ENDPOINT": NOWHERE}], ids=["offline", "unreachable"]
)
def test_a_cold_cache_says_once_what_to_set(tmp_path: Path, settings: dict[str, str]) -> None:
    message = loaded(tmp_path, **settings)
    assert "GEOREFUSAL_DATA" in message
    assert "georefusalbench_mini" in message
    assert "\n" not in message


@pytest.mark.parametrize("revision", ["f" * 40, "v9"], ids=["commit", "tag"])
def test_a_revision_that_does_not_exist_is_not_replaced_by_another(hub: Hub, tmp_path: Path, revision: str) -> None:
    """A pin that falls back to the newest commit lets scores move without a word."""
    loaded(tmp_path, HF_ENDPOINT=hub.url)
    assert f"revision {revision}" in loaded(tmp_path, revision, HF_ENDPOINT=hub.url)
    assert f"revision {revision}" in loaded(tmp_path, revision, HF_HUB_OFFLINE="1")


def test_a_data_set_that_does_not_exist_is_one_message(hub: Hub, tmp_path: Path) -> None:
    hub.repository = "somebody/else"
    assert "GEOREFUSAL_DATA" in loaded(tmp_path, HF_ENDPOINT=hub.url)


def test_ranks_may_download_at_the_same_time(hub: Hub, tmp_path: Path) -> None:
    ranks = [start(tmp_path, "", HF_ENDPOINT=hub.url) for _ in range(3)]
    first, *others = [outcome(rank) for rank in ranks]
    assert first[0] == 12
    assert others == [first, first]


def test_a_snapshot_with_a_damaged_file_is_refused(hub: Hub, tmp_path: Path) -> None:
    image = min((hub.folder / "images/A").iterdir())
    image.write_bytes(max((hub.folder / "images/B").iterdir()).read_bytes())
    assert f"images/A/{image.name}: SHA256SUMS says" in loaded(tmp_path, HF_ENDPOINT=hub.url)
