"""A release without images, and its images made again: the same bytes, or a refusal that names what is at fault."""

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from PIL import Image
from support.coco_archive import write_config
from typer.testing import CliRunner

from georefusal_build.audit.settings import Settings
from georefusal_build.commands import APP
from georefusal_build.ids import pixel_sha256
from georefusal_build.layout import read_set
from georefusal_build.release.croissant import About
from georefusal_build.release.gates import Limits
from georefusal_build.release.publish import Order, content_digest, read_sums, release
from georefusal_build.release.recipes import CONFIG, HERE, JOBS, Recipes, rebuild
from georefusal_task.core.errors import ConfigError, DataError
from georefusal_task.data import load

QUICK = Settings(repeats=1, trees=3, rounds=1, refits=3, tree_refits=3, null_trees=3, draws=40, jobs=1)
ABOUT = About("demo", "1.0.0", "A demo.", "2026-11-30", "https://example.org/l", "https://example.org", "Demo, 2026")
ORDER = Order(ABOUT, "a salt that nobody knows", unreviewed=True, small=True, limits=Limits(0.5, 0.5), audit=QUICK)
LEVERS = "levers: {only: [im_redact, fp_entity, nf_value, gm_part, aq_scope]}\n"
SPLIT = {"A": ["tile00000"], "B": ["tile00001"]}


@pytest.fixture(scope="module")
def build(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with an archive, build.yaml and the candidates made from it."""
    folder = tmp_path_factory.mktemp("build")
    config = write_config(folder, scenes=2, side=128, more=LEVERS)
    done = CliRunner().invoke(APP, ["run", str(config), "-o", str(folder / "set"), "--workers", "1"])
    assert done.exit_code == 0, done.stderr
    return folder


@pytest.fixture(scope="module")
def with_images(build: Path) -> Path:
    return release(build / "set", build / "images", ORDER)


@pytest.fixture(scope="module")
def recipes(build: Path) -> Path:
    (build / "salt.txt").write_text(ORDER.salt)
    options = ["--name", "demo", "--version", "1.0.0", "--salt-file", build / "salt.txt", "--date", "2026-11-30"]
    options += ["--unreviewed", "--small", "--balance", 0.5, "--no-images", "--config", build / "build.yaml"]
    command = ["release", build / "set", "-o", build / "recipes", *options]
    done = CliRunner().invoke(APP, [str(one) for one in command])
    assert done.exit_code == 0, done.stderr
    return build / "recipes" / "demo-1.0.0"


def filled_in(recipes: Path, folder: Path, archive: Path, **changed: Any) -> Path:
    """Write the configuration of a release with the folder of its source put in, as its user does."""
    content = yaml.safe_load((recipes / CONFIG).read_text())
    assert [source["root"] for source in content["sources"]] == [HERE]
    content["sources"][0]["root"] = str(archive)
    (folder / "mine.yaml").write_text(yaml.safe_dump(content | changed, sort_keys=False))
    return folder / "mine.yaml"


def files(folder: Path) -> dict[str, bytes]:
    """Return what makes the benchmark, by relative path."""
    parts = ("cases", "labels", "provenance", "images")
    found = (path for part in parts for path in (folder / part).rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in found}


def test_the_recipes_hold_neither_images_nor_folders_nor_salts(recipes: Path, build: Path) -> None:
    assert not list(recipes.rglob("*.png"))
    told = "".join(path.read_text() for path in recipes.rglob("*") if path.is_file())
    for secret in (ORDER.salt, "salt-of-the-tests", str(build)):
        assert secret not in told


def test_what_is_made_again_is_the_release_with_its_images(
    recipes: Path, with_images: Path, build: Path, tmp_path: Path
) -> None:
    archive = shutil.copytree(build / "archive", tmp_path / "elsewhere")
    config = filled_in(recipes, tmp_path, archive)
    done = CliRunner().invoke(APP, ["rebuild", str(recipes), "--config", str(config), "-o", str(tmp_path / "out")])
    assert done.exit_code == 0, done.stderr
    assert files(tmp_path / "out") == files(with_images)
    assert load(tmp_path / "out").digest == load(with_images).digest
    sums = read_sums(tmp_path / "out")
    assert sum(path.startswith("images/") for path in sums) == len(read_set(with_images))
    assert content_digest({path: digest for path, digest in sums.items() if not path.startswith("recipe")}) == (
        content_digest(read_sums(with_images))
    )


def test_folders_put_into_the_release_itself_do_not_travel_on(recipes: Path, build: Path, tmp_path: Path) -> None:
    mine = shutil.copytree(recipes, tmp_path / "mine")
    shutil.copyfile(filled_in(recipes, tmp_path, build / "archive"), mine / CONFIG)
    rebuild(mine, mine / CONFIG, tmp_path / "out")
    assert (tmp_path / "out" / CONFIG).read_bytes() == (recipes / CONFIG).read_bytes()


def test_a_changed_source_image_is_refused_and_its_items_named(recipes: Path, build: Path, tmp_path: Path) -> None:
    archive = shutil.copytree(build / "archive", tmp_path / "archive")
    with Image.open(archive / "tile00001.png") as opened:
        image = opened.convert("RGB")
    for x in range(image.width):
        image.putpixel((x, 0), (1, 2, 3))
    image.save(archive / "tile00001.png")
    with pytest.raises(DataError, match=r"tile00001\.png is another file") as told:
        rebuild(recipes, filled_in(recipes, tmp_path, archive), tmp_path / "out")
    touched = [item.id for item in read_set(build / "set") if item.provenance["base_image"].endswith("tile00001.png")]
    assert f"{len(touched)} of " in str(told.value)
    assert not (tmp_path / "out").exists()
    assert not (tmp_path / "out.part").exists()


def test_a_source_image_that_is_gone_is_named(recipes: Path, build: Path, tmp_path: Path) -> None:
    archive = shutil.copytree(build / "archive", tmp_path / "archive")
    (archive / "tile00001.png").unlink()
    with pytest.raises(DataError, match=r"tile00001\.png is not among the sources"):
        rebuild(recipes, filled_in(recipes, tmp_path, archive), tmp_path / "out")


def test_another_configuration_is_refused(recipes: Path, build: Path, tmp_path: Path) -> None:
    config = filled_in(recipes, tmp_path, build / "archive", seed=8)
    with pytest.raises(ConfigError, match="change nothing but the folders"):
        rebuild(recipes, config, tmp_path / "out")


def test_pixels_that_come_out_otherwise_are_named(recipes: Path, build: Path, tmp_path: Path) -> None:
    mine = shutil.copytree(recipes, tmp_path / "mine")
    rows = [json.loads(line) for line in (mine / JOBS).read_text().splitlines()]
    rows[0]["pixel_sha256"] = "0" * 64
    (mine / JOBS).write_text("".join(json.dumps(row) + "\n" for row in rows))
    with pytest.raises(DataError, match=f"1 of {len(rows)} images .*\n.*{rows[0]['id']}.*other pixels"):
        rebuild(mine, filled_in(recipes, tmp_path, build / "archive"), tmp_path / "out")


@pytest.mark.parametrize("fault", ["dropped", "twice", "mangled", "no file", "no configuration"])
def test_recipes_that_are_not_whole_are_refused(recipes: Path, build: Path, tmp_path: Path, fault: str) -> None:
    config = filled_in(recipes, tmp_path, build / "archive")
    mine = shutil.copytree(recipes, tmp_path / "mine")
    lines = (mine / JOBS).read_text().splitlines(keepends=True)
    item = json.loads(lines[0])["id"]
    changed = {"dropped": lines[1:], "twice": [*lines, lines[0]], "mangled": ['{"id": "x"}\n', *lines[1:]]}
    if fault in changed:
        (mine / JOBS).write_text("".join(changed[fault]))
    else:
        (mine / (JOBS if fault == "no file" else CONFIG)).unlink()
    told = {"mangled": "line 1: is no recipe", "no file": "items.jsonl is missing", "no configuration": "build.yaml is"}
    with pytest.raises((DataError, ConfigError), match=told.get(fault, item)):
        rebuild(mine, config, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_files_that_the_configuration_names_travel_with_it(build: Path, tmp_path: Path) -> None:
    """The class table and the split lie elsewhere for whoever rebuilds."""
    config = yaml.safe_load((build / "build.yaml").read_text())
    (tmp_path / "my classes.json").write_text("{}")
    (tmp_path / "split.json").write_text(json.dumps(SPLIT))
    config |= {"classes": "my classes.json", "sets": {"names": ["A", "B"], "file": "split.json"}}
    config["sources"][0]["root"] = str(build / "archive")
    (tmp_path / "build.yaml").write_text(yaml.safe_dump(config))
    made = CliRunner().invoke(APP, ["run", str(tmp_path / "build.yaml"), "-o", str(tmp_path / "set"), "--workers", "1"])
    assert made.exit_code == 0, made.stderr
    out = release(tmp_path / "set", tmp_path, replace(ORDER, recipes=Recipes(tmp_path / "build.yaml")))
    assert sorted(path.name for path in (out / "recipe").iterdir()) == (
        ["build.yaml", "classes.json", "items.jsonl", "sets.json"]
    )
    for name in ("build.yaml", "my classes.json", "split.json"):
        (tmp_path / name).unlink()
    config = filled_in(out, out / "recipe", build / "archive")
    assert rebuild(out, config, tmp_path / "again") == len(read_set(tmp_path / "set"))
    for item in read_set(tmp_path / "again"):
        with Image.open(item.case.image) as opened:
            assert pixel_sha256(np.asarray(opened)) == item.provenance["pixel_sha256"]


def test_private_templates_are_not_published(build: Path, tmp_path: Path) -> None:
    content = yaml.safe_load((build / "build.yaml").read_text())
    (tmp_path / "bank.json").write_text("{}")
    (tmp_path / "build.yaml").write_text(yaml.safe_dump(content | {"templates": {"private": "bank.json"}}))
    with pytest.raises(ConfigError, match="would be published"):
        Recipes(tmp_path / "build.yaml").files(read_set(build / "set"))


def test_a_set_of_another_build_has_no_recipe(build: Path, tmp_path: Path) -> None:
    content = yaml.safe_load((build / "build.yaml").read_text()) | {"levers": {"only": ["nf_value"]}}
    content["sources"][0]["root"] = str(build / "archive")
    (tmp_path / "build.yaml").write_text(yaml.safe_dump(content))
    with pytest.raises(ConfigError, match="give the build's own configuration"):
        Recipes(tmp_path / "build.yaml").files(read_set(build / "set"))
