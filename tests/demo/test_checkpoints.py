"""The tiny checkpoints: made offline, the same every time."""

import hashlib
from pathlib import Path

import pytest

from georefusal_demo.checkpoints import FAMILIES, make_checkpoint
from georefusal_task.core.errors import ConfigError

pytestmark = pytest.mark.slow


def _digests(folder: Path) -> dict[str, str]:
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.iterdir()}


@pytest.mark.parametrize("family", FAMILIES)
def test_equal_seeds_give_equal_files_and_another_seed_other_weights(tmp_path: Path, family: str) -> None:
    first = _digests(make_checkpoint(family, tmp_path / "first"))
    assert _digests(make_checkpoint(family, tmp_path / "again")) == first
    other = _digests(make_checkpoint(family, tmp_path / "other", seed=1))
    assert {name for name in first if first[name] != other[name]} == {"model.safetensors"}
    assert sum(path.stat().st_size for path in (tmp_path / "first").iterdir()) < 2_000_000


def test_an_existing_checkpoint_is_replaced_and_nothing_is_left_beside_it(tmp_path: Path) -> None:
    target = tmp_path / "deep" / "checkpoint"
    target.mkdir(parents=True)
    (target / "stale.bin").touch()
    make_checkpoint("llava", target)
    assert [path.name for path in target.parent.iterdir()] == ["checkpoint"]
    assert not (target / "stale.bin").exists()


def test_an_unknown_family_is_named_with_those_that_exist(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"'gpt'.*internvl.*qwen2_5_vl"):
        make_checkpoint("gpt", tmp_path / "x")


def test_a_path_that_the_host_would_split_is_refused() -> None:
    with pytest.raises(ConfigError, match="comma"):
        FAMILIES["llava"].model_args(Path("/data/a,b/checkpoint"))
