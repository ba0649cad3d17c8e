"""Frames that end in a target: from the plan over large scenes to rows that give label and image again."""

import json
import shutil
from collections import Counter
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from PIL import Image
from support.levers import optical
from typer.testing import CliRunner

from georefusal_build.asking import Court
from georefusal_build.build_config import load_config
from georefusal_build.commands import APP
from georefusal_build.context import Context, open_context
from georefusal_build.jobs import Job
from georefusal_build.judging import rederive
from georefusal_build.layout import read_set
from georefusal_build.levers import FAMILIES
from georefusal_build.made import Made
from georefusal_build.making import make
from georefusal_build.outcomes import Reason
from georefusal_build.plan import Plan, make_plan
from georefusal_build.release.recipes import CONFIG, JOBS, Recipes, rebuild
from georefusal_build.settling import settle
from georefusal_build.streams import Stream
from georefusal_build.templates import lint
from georefusal_task.core.records import Intensity
from georefusal_task.core.verdicts import Verdict

SIZE, PARENT = 96, 125
"""A tile, and 1.3 times that."""
CLASSES = ("ship", "plane", "storage tank", "tennis court")


def paint(folder: Path, name: str, width: int, height: int, seed: int) -> None:
    """Write a scene and its COCO file: an object at each edge of every parent, each of another class."""
    stream = Stream(seed)
    pixels = np.resize(optical((128, 160)), (height, width, 3)) // 4 + 60
    annotations: list[dict[str, Any]] = []
    for left, top in ((x, y) for x in range(0, width - 80, PARENT) for y in range(0, height - 80, PARENT)):
        kinds = stream.shuffled(range(len(CLASSES)))
        for edge, kind in enumerate(kinds):
            w, h, near, aside = (int(low + stream.uniform() * 10) for low in (20, 20, 3, 40))
            far = PARENT - near - (w if edge < 2 else h)
            x, y = ((near, aside), (far, aside), (aside, near), (aside, far))[edge]
            x, y = min(left + x, width - w), min(top + y, height - h)
            pixels[y : y + h, x : x + w] = (60 + 40 * kind, 190, 220 - 40 * kind)
            box = {"bbox": [x, y, w, h], "area": w * h, "category_id": kind + 1}
            annotations.append({"id": len(annotations), "image_id": 1, **box})
    folder.mkdir(parents=True, exist_ok=True)
    Image.fromarray(pixels).save(folder / f"{name}.png")
    content = {
        "info": {"complete": [*CLASSES], "gsd_m": 1.0, "licence": "ours"},
        "images": [{"id": 1, "file_name": f"{name}.png", "width": width, "height": height}],
        "categories": [{"id": i + 1, "name": name} for i, name in enumerate(CLASSES)],
        "annotations": annotations,
    }
    (folder / f"{name}.json").write_text(json.dumps(content))


def write_config(folder: Path, **changed: Any) -> Path:
    content: dict[str, Any] = {
        "name": "frames",
        "seed": 5,
        "salt": "salt of the frames",
        "sources": [{"format": "coco", "root": "scenes"}],
        "tiling": {"size": SIZE, "overlap": 0},
        "bases": {"balance": "off"},
        "levers": {"only": ["im_truncate"], "variants": {"im_truncate": ["tile_cut"]}},
        "sets": {"names": ["A"]},
    }
    path = folder / "build.yaml"
    path.write_text(yaml.safe_dump(content | changed))
    return path


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("frames")
    for number in range(3):
        paint(root / "scenes", f"large{number}", 2 * PARENT, 3 * PARENT, number)
    paint(root / "scenes", "wide", 400, PARENT - 1, 9)
    paint(root / "scenes", "small", 90, 200, 10)
    return root


@pytest.fixture(scope="module")
def context(folder: Path) -> Context:
    return open_context(load_config(write_config(folder)))


@pytest.fixture(scope="module")
def plan(context: Context) -> Plan:
    return make_plan(context.config, context)


@pytest.fixture(scope="module")
def items(plan: Plan, context: Context) -> list[Made]:
    return [one for one in (make(job, context) for job in plan.jobs) if isinstance(one, Made)]


def test_scenes_of_the_size_of_a_parent_offer_jobs_and_no_others(plan: Plan) -> None:
    assert {job.base.scene_id for job in plan.jobs} == {f"coco/large{number}" for number in range(3)}
    for job in plan.jobs:
        assert job.base.window[2:] == (PARENT, PARENT)
        assert job.variants == ("tile_cut",)
        assert (job.base.answer, job.base.scope) == ("yes", "whole")


def test_what_lies_outside_the_frame_is_never_asked_about(plan: Plan) -> None:
    """A question about ground that the image does not cover fits no category."""
    levels = Counter(job.intensity for job in plan.jobs)
    assert set(levels) == {Intensity.LOW, Intensity.MEDIUM}
    assert levels[Intensity.LOW] == levels[Intensity.MEDIUM]


def test_only_classes_of_which_every_object_is_whole_are_asked(plan: Plan, context: Context) -> None:
    for job in plan.jobs:
        court: Court = context.court(job.base.scene_id, job.base.window)
        assert job.base.class_name not in court.tile.cut | court.tile.slivers
        assert not any(one.truncated for one in court.evidence(job.base.class_name))


def test_it_is_planned_beside_the_other_variants_unless_it_is_left_out(folder: Path) -> None:
    def variants(**levers: Any) -> set[str]:
        jobs = make_plan(load_config(write_config(folder, levers={"only": ["im_truncate"], **levers}))).jobs
        return {name for job in jobs for name in job.variants}

    assert {"tile_cut", "swath_wedge"} <= variants()
    assert "tile_cut" not in variants(variants={"im_truncate": ["swath_wedge"]})


def test_items_have_one_size_a_question_about_an_edge_and_a_label_from_the_row_alone(items: list[Made]) -> None:
    assert Counter(one.label["gold"] for one in items).keys() == {Verdict.ANSWER, Verdict.INFO_MISSING}
    for one in items:
        row = json.loads(json.dumps(one.provenance))
        assert one.pixels.shape == (SIZE, SIZE, 3)
        assert rederive(row) == one.label["gold"]
        assert row["params"]["edge"] in one.case["question"]
        assert one.case["question"] == row["base_question"]
        assert lint(one.case["question"]) == []
        assert "edge" in row["tags"]
    assert {one.provenance["params"]["edge"] for one in items} == {"left", "right", "upper", "lower"}


def test_the_wording_of_an_answer_is_that_of_a_refusal(items: list[Made]) -> None:
    by_base: dict[str, dict[str, str]] = {}
    for one in items:
        by_base.setdefault(one.provenance["base_id"], {})[one.label["intensity"]] = one.case["question"]
    both = [found for found in by_base.values() if len(found) == 2]
    assert len(both) > 10
    assert all(found["LOW"] == found["MEDIUM"] for found in both)


def test_pixels_and_outlines_are_those_of_the_window(items: list[Made], context: Context) -> None:
    for one in items:
        row = one.provenance
        (px, py, *_), (x, y, width, height) = row["window"], row["params"]["window"]
        scene = context.pixels(row["scene"])
        assert (one.pixels == scene[py + y : py + y + height, px + x : px + x + width]).all()
        assert row["boxes"]
        corners = np.array([corner for box in row["boxes"] for corner in box["polygon"]])
        assert (corners >= 0).all()
        assert (corners <= SIZE).all()
        shown = [v for v in row["measurement"]["per_instance"]["visible_fraction"] if v]
        assert len(shown) == len(row["boxes"])
        assert {box["truncated"] for box in row["boxes"]} == {one.label["intensity"] == "MEDIUM"}
        edge, low = row["params"]["edge"], one.label["intensity"] == "LOW"
        ends = {"left": corners[:, 0].min(), "right": SIZE - corners[:, 0].max()}
        ends |= {"upper": corners[:, 1].min(), "lower": SIZE - corners[:, 1].max()}
        assert (0 < ends[edge] <= 0.04 * SIZE) if low else ends[edge] == 0


def test_a_row_whose_target_is_not_at_the_edge_loses_its_label(items: list[Made]) -> None:
    for level, name, value in (
        ("LOW", "edge_gap", 0.7),
        ("LOW", "edge_gap_frame", 0.05),
        ("MEDIUM", "edge_depth", 1.0),
        ("MEDIUM", "edge_cnr", 4.0),
    ):
        row = json.loads(json.dumps(next(one.provenance for one in items if one.label["intensity"] == level)))
        column = row["measurement"]["per_instance"]
        column[name] = [value for _ in column[name]]
        assert rederive(row) is Reason.DEAD_ZONE


def test_swapped_low_and_medium_are_caught(plan: Plan, context: Context, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever a lever means to do, what is measured sets the label: none comes out."""
    from dataclasses import replace

    real = FAMILIES["im_truncate"]
    swapped = {Intensity.LOW: Intensity.MEDIUM, Intensity.MEDIUM: Intensity.LOW}
    pull = lambda subject, stream, intensity, name: real.pull(subject, stream, swapped[intensity], name)  # noqa: E731
    monkeypatch.setitem(FAMILIES, "im_truncate", replace(real, pull=pull))
    assert not [job for job in plan.jobs[:12] if isinstance(make(job, context), Made)]


def test_an_answer_about_an_edge_is_kept_only_against_a_refusal_about_one(folder: Path, items: list[Made]) -> None:
    """Were one side of these questions more frequent, their words would tell the label."""
    rows = [{"key": one.key, "case": one.case, "label": one.label, "provenance": one.provenance} for one in items]
    few = [row for row in rows if row["label"]["intensity"] == "LOW"]
    few += [row for row in rows if row["label"]["intensity"] == "MEDIUM"][:5]
    other = [json.loads(json.dumps(row)) for row in rows if row["label"]["intensity"] == "MEDIUM"]
    for number, row in enumerate(other):
        row["key"] += "|other"
        row["provenance"] |= {"base_id": f"other-{number}", "fingerprint": f"other-{number}", "params": {}}
    kept, _ = settle(few + other, load_config(write_config(folder)))
    assert Counter(row["label"]["intensity"] for row in kept if row["provenance"]["params"]) == {"LOW": 5, "MEDIUM": 5}
    assert len(kept) == 10


def test_workers_and_shards_change_no_byte_and_the_recipes_give_the_images_again(folder: Path, tmp_path: Path) -> None:
    config = write_config(folder, items=16)
    run = partial(CliRunner().invoke, APP)
    for out, workers, shard in (("one", 1, 32), ("two", 2, 3)):
        done = run(
            ["run", str(config), "-o", str(tmp_path / out), "--workers", str(workers), "--shard-size", str(shard)]
        )
        assert done.exit_code == 0, done.stderr
    one, two = (
        {path.relative_to(tmp_path / out): path.read_bytes() for path in (tmp_path / out).rglob("*") if path.is_file()}
        for out in ("one", "two")
    )
    assert one == two
    items = read_set(tmp_path / "one")
    assert Counter(item.label.intensity for item in items) == {Intensity.LOW: 8, Intensity.MEDIUM: 8}
    release = tmp_path / "release"
    shutil.copytree(tmp_path / "one", release, ignore=shutil.ignore_patterns("images"))
    for name, text in Recipes(config).files(items).items():
        (release / name).parent.mkdir(exist_ok=True)
        (release / name).write_text(text)
    assert all(Job.from_json(json.loads(line)["job"]) for line in (release / JOBS).read_text().splitlines())
    content = yaml.safe_load((release / CONFIG).read_text())
    content["sources"][0]["root"] = str(folder / "scenes")
    (tmp_path / "mine.yaml").write_text(yaml.safe_dump(content))
    assert rebuild(release, tmp_path / "mine.yaml", tmp_path / "again") == 16
    images = {name: bytes_ for name, bytes_ in one.items() if name.suffix == ".png"}
    assert len(images) == 16
    assert all((tmp_path / "again" / name).read_bytes() == bytes_ for name, bytes_ in images.items())
