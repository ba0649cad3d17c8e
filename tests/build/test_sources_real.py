"""The readers on real scenes: DOTA files as published, and the annotated scenes of the project."""

import json
import os
from pathlib import Path

import pytest

from georefusal_build.build_config import BuildConfig, SourceConfig
from georefusal_build.pixels import scene_pixels
from georefusal_build.plan import make_plan
from georefusal_build.sources import SOURCES, ReadReport

ROOT = Path(__file__).parents[2]
SCENES = ROOT / "utils" / "mini_set" / "scenes"
BESIDE = ROOT.parent / "shared" / "data"
"""Where more real files may lie that cannot be passed on."""


def dota() -> Path:
    path = Path(os.environ.get("GEOREFUSAL_DOTA") or BESIDE / "dota")
    if not path.is_dir():
        pytest.skip("DOTA may not be passed on: set GEOREFUSAL_DOTA to a folder that holds some of it")
    return path


def test_real_dota_files() -> None:
    root = dota()
    report = ReadReport()
    scenes = list(SOURCES["dota"].read(root, report=report))
    assert not report.counts
    for scene in scenes:
        label = next(root.rglob(f"{scene.image.stem}*.txt"))
        lines = [line.split() for line in label.read_text().splitlines() if len(line.split()) >= 9]
        assert len(scene.instances) == len(lines)
        assert [i.class_name for i in scene.instances] == [line[8] for line in lines]
        assert sum(i.difficult for i in scene.instances) == sum(line[9] == "1" for line in lines)
        assert scene.gsd_m is not None
        assert 0.01 < scene.gsd_m < 5


def test_real_dota_agrees_with_its_coco_copy() -> None:
    """Two readers, two files of one image: a shift or swap in either shows."""
    root = dota()
    if not list(root.rglob("*.coco.json")):
        pytest.skip("this DOTA folder holds no COCO copies")
    copies = {s.image: s for s in SOURCES["coco"].read(root)}
    for scene in SOURCES["dota"].read(root):
        mine = sorted((i.class_name, i.bounds) for i in scene.instances)
        theirs = sorted((i.class_name, i.bounds) for i in copies[scene.image].instances)
        assert [name for name, _ in mine] == [name for name, _ in theirs]
        for (_, a), (_, b) in zip(mine, theirs, strict=True):
            assert a == pytest.approx(b, abs=0.51)


def test_real_dota_gives_jobs_of_every_category_at_the_default_tiling() -> None:
    """A marina whose every window cuts a ship: the whole ones beside it settle a yes."""
    source = SourceConfig(format="dota", root=dota())
    plan = make_plan(BuildConfig(name="dota", seed=7, salt="a test's own", sources=(source,)))
    assert plan.bases["optical", "yes"] > 0
    assert {job.family[:2] for job in plan.jobs} == {"im", "gm", "aq", "fp", "nf"}


@pytest.mark.parametrize("root", [SCENES, *(path for path in [BESIDE / "scenes"] if path.is_dir())])
def test_real_scenes(root: Path) -> None:
    report = ReadReport()
    scenes = {s.image.name: s for s in SOURCES["coco"].read(root, report=report)}
    assert not report.counts, report.problems
    files = list(root.glob("*.coco.json"))
    assert len(scenes) == len(files)
    for path in files:
        content = json.loads(path.read_text())
        scene = scenes[content["images"][0]["file_name"]]
        assert len(scene.instances) == len(content["annotations"])
        assert scene.complete == set(content["info"].get("complete", []))
        assert not scene.complete & scene.undecidable
        assert (scene.modality == "sar") == (content["info"].get("sensor") == "SAR")
        assert scene_pixels(scene).shape[:2] == (scene.height, scene.width)
