"""The configuration of a build: what it reads, and what it says when something does not fit."""

import re
from pathlib import Path

import pytest
import yaml

from georefusal_build.build_config import BuildConfig, load_config
from georefusal_task.core.errors import ConfigError

EXAMPLE = Path(__file__).parents[2] / "docs" / "examples" / "build.yaml"
LEAST = {"name": "x", "seed": 1, "salt": "long enough", "sources": [{"format": "coco", "root": "scenes"}]}

CSV = {"format": "csv", "root": "boxes"}


def write(folder: Path, text: str) -> Path:
    path = folder / "build.yaml"
    path.write_text(text)
    return path


def load(folder: Path, **changed: object) -> BuildConfig:
    return load_config(write(folder, yaml.safe_dump(LEAST | changed)))


def test_example_loads_and_speaks_of_every_key() -> None:
    """The example is what users copy: a key that it lacks stays unknown to them."""
    text = EXAMPLE.read_text()
    assert load_config(EXAMPLE).items == 200
    assert [key for key in BuildConfig.model_fields if f"{key}:" not in text and key != "classes"] == []


def test_paths_are_relative_to_the_file(tmp_path: Path) -> None:
    config = load(tmp_path, classes="mine.json", sets={"file": "split.json"}, templates={"private": "/bank.json"})
    assert config.sources[0].root == tmp_path / "scenes"
    assert (config.classes, config.sets.file) == (tmp_path / "mine.json", tmp_path / "split.json")
    assert config.templates.private == Path("/bank.json")


def test_a_wrong_source_is_told_once_and_sent_to_its_place(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        load(tmp_path, sources=[{"format": "csv", "root": "x", "complete": ["Tree"]}])
    told = str(caught.value).splitlines()[1:]
    assert told == ["  sources.0.complete: there is no such key here; it belongs under `options` of a source"]
    with pytest.raises(ConfigError, match="sources: Tuple should have at least 1 item"):
        load(tmp_path, sources=[])


def test_options_as_one_writes_them(tmp_path: Path) -> None:
    """A class without its list and a version without quotation marks mean what they say."""
    options = {"version": 2.0, "complete": "*", "verified_absent": ["plane", "ship"]}
    source = {"format": "dota", "root": "x", "options": options}
    read = load(tmp_path, sources=[source]).sources[0].options
    assert read.version == "2.0"
    assert (read.complete, read.verified_absent) == (frozenset({"*"}), frozenset({"plane", "ship"}))


@pytest.mark.parametrize("word", ["off", "'off'", "all", "class"])
def test_balance_is_a_word_that_yaml_may_take_for_false(tmp_path: Path, word: str) -> None:
    """The page on building says `bases: {balance: off}`, and so does a plan without jobs."""
    config = load_config(write(tmp_path, f"{yaml.safe_dump(LEAST)}bases: {{balance: {word}}}\n"))
    assert config.bases.balance == word.strip("'")


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"seed": "x"}, r"seed: .*'x'"),
        ({"itmes": 3}, r"itmes: there is no such key"),
        ({"salt": "short"}, r"salt: .*'short'"),
        ({"sources": []}, r"sources: "),
        ({"sources": [{"format": "cocoa", "root": "a"}]}, r"sources\.0\.format: .*coco.*'cocoa'"),
        ({"sources": [{"format": "coco"}]}, r"sources\.0\.root: is missing"),
        ({"sources": [{"format": "coco", "root": "a", "options": {"gsd_m": 0}}]}, r"options\.gsd_m: .*0"),
        ({"tiling": {"size": 8}}, r"tiling\.size: .*32.*8"),
        ({"weights": {"LOW": 0}}, r"weights: .*above 0"),
        ({"weights": {"MEDIUM": 0, "HIGH": 0}}, r"weights: .*above 0"),
        ({"sets": {"file": "a", "scenes": {"A": ["b"]}}}, r"sets: .*not both"),
        ({"attempts": 6}, r"attempts: .*5.*6"),
        ({"limits": {"min_minor": 3}}, r"limits.*min_minor"),
        ({"limits": {"min_minor_px": -1}}, r"limits: .*at least 0"),
        ({"limits": {"margin": 5}}, r"limits: .*margin is a share"),
        ({"gate": {"min_z": float("nan")}}, r"gate\.min_z: .*finite.*nan"),
        ({"tiling": {"cut_from": 0.9, "cut_to": 0.5}}, r"tiling: .*cut_from must not be above cut_to"),
        ({"sets": {"names": []}}, r"sets\.names: .*at least 1"),
        ({"sets": {"names": ["A", "A"]}}, r"sets: .*alike"),
        ({"sets": {"names": ["A/B"]}}, r"sets\.names\.0: .*'A/B'"),
        ({"sources": [{**CSV, "options": {"gsd_m": float("inf")}}]}, r"options\.gsd_m: .*finite.*inf"),
        ({"sources": [{**CSV, "options": {"verified_absent": "*"}}]}, r"verified_absent: .*name those that are absent"),
    ],
)
def test_errors_name_file_key_and_value(tmp_path: Path, changed: dict[str, object], message: str) -> None:
    with pytest.raises(ConfigError, match=message) as caught:
        load(tmp_path, **changed)
    assert str(tmp_path / "build.yaml") in str(caught.value)


@pytest.mark.parametrize("text", ["- a\n- b\n", "name: [\n", "", "\x00"])
def test_a_file_that_is_no_configuration_is_named(tmp_path: Path, text: str) -> None:
    with pytest.raises(ConfigError, match=re.escape(str(tmp_path))):
        load_config(write(tmp_path, text))


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"none\.yaml"):
        load_config(tmp_path / "none.yaml")


def test_digest_tells_settings_apart_and_nothing_else(tmp_path: Path) -> None:
    """A digest that hung on the folder or on the order of a set would make a resumed build look like another one."""
    source = {"format": "coco", "root": "scenes", "options": {"complete": ["ship", "car", "plane", "bridge"]}}
    here = load(tmp_path, sources=[source]).digest
    turned = {**source, "options": {"complete": ["plane", "bridge", "ship", "car"]}}
    (tmp_path / "there").mkdir()
    assert load(tmp_path / "there", sources=[turned], salt="another salt").digest == here
    assert load(tmp_path, sources=[source], seed=2).digest != here
    assert load(tmp_path, sources=[source], items=3).digest != here


def test_digest_follows_what_a_named_file_holds_and_not_where_it_lies(tmp_path: Path) -> None:
    """A build that is moved with its files is the same build; one whose class table was edited is another."""
    content: dict[str, object] = {
        "classes": "files/classes.json",
        "sets": {"file": "files/split.json"},
        "templates": {"private": "files/bank.json"},
        "sources": [{"format": "sardet", "root": "s", "options": {"subsources": "files/listed.csv"}}],
    }
    digests = []
    for place in ("here", "there"):
        (tmp_path / place / "files").mkdir(parents=True)
        for name in ("classes.json", "split.json", "bank.json", "listed.csv"):
            (tmp_path / place / "files" / name).write_text(f"content of {name}")
        digests.append(load(tmp_path / place, **content).digest)
    assert digests[0] == digests[1] != load(tmp_path).digest
    for file in sorted((tmp_path / "there" / "files").iterdir()):
        before = file.read_text()
        file.write_text(before + " changed")
        assert load(tmp_path / "there", **content).digest != digests[0], file.name
        file.write_text(before)
    (tmp_path / "there" / "files" / "split.json").unlink()
    with pytest.raises(ConfigError, match=r"split\.json: cannot be read"):
        assert load(tmp_path / "there", **content).digest
