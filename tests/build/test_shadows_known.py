"""The sun over a scene: where it is read from, which way shadows fall, and what they do to a refusal."""

import copy
import json
import math
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image
from support import small_build as small

from georefusal_build.build_config import load_config
from georefusal_build.classes import ClassTable
from georefusal_build.context import open_context
from georefusal_build.judging import rederive
from georefusal_build.made import Made
from georefusal_build.making import make
from georefusal_build.outcomes import Reason
from georefusal_build.plan import make_plan
from georefusal_build.scenes import Scene
from georefusal_build.sources import ReadOptions, ReadReport, get_source
from georefusal_build.sun import Sun, shadow
from georefusal_build.targets import Target, evidence
from georefusal_task.core.errors import ConfigError
from georefusal_task.core.verdicts import Verdict

TABLE = ClassTable.load()
SUN = {"azimuth_deg": 135, "elevation_deg": 40}


@pytest.mark.parametrize(
    ("azimuth", "elevation", "x", "y"),
    [
        (0, 45, 0, 20),  # the sun at the top of the image: the shadow points down, as long as the object is tall
        (90, 45, -20, 0),
        (180, 45, 0, -20),
        (270, 45, 20, 0),
        (135, math.degrees(math.atan(2)), -10 / math.sqrt(2), -10 / math.sqrt(2)),  # half as long as it is tall
        (300, 30, 30, 20 * math.sqrt(3) / 2),  # 20 / tan 30 = 34.64, away from the upper left
        (17, 90, 0, 0),
    ],
)
def test_shadows_fall_away_from_the_sun(azimuth: float, elevation: float, x: float, y: float) -> None:
    """10 m at 0.5 m per pixel are 20 px; a mixed-up axis or sign would hide the sunlit side instead."""
    found = shadow(Sun(azimuth, elevation), 10, 0.5, (800, 800))
    assert found.px == pytest.approx((x, y), abs=1e-3)
    assert found.cut == ""


def test_a_flat_sun_and_a_long_shadow_are_cut_and_say_so() -> None:
    flat = shadow(Sun(180, 1), 2, 0.5, (800, 600))
    assert flat.px == pytest.approx((0, -4 / math.tan(math.radians(5))), abs=1e-3)
    assert flat.cut == "sun"
    assert shadow(Sun(180, 5), 2, 0.5, (800, 600)).cut == ""
    long = shadow(Sun(90, 10), 130, 0.3, (800, 600))
    assert (long.px, long.cut) == ((-1000, 0), "frame")


@given(st.floats(0, 359.99), st.floats(0.1, 90), st.floats(0.5, 200), st.floats(0.1, 30))
def test_a_shadow_is_finite_fits_the_frame_and_is_plain_json(az: float, el: float, height: float, gsd: float) -> None:
    found = shadow(Sun(az, el), height, gsd, (300, 400))
    assert math.hypot(*found.px) <= 500.01
    assert json.loads(json.dumps(found.px)) == [*found.px]
    assert "-0.0" not in {str(value) for value in found.px}
    swept = evidence(Target.box(10, 10, 30, 20), found.px)
    assert all(math.isfinite(value) for point in swept.polygon for value in point)


@pytest.mark.parametrize(
    ("azimuth", "elevation", "told"),
    [
        (360, 30, "azimuth_deg is 360"),
        (-1, 30, "azimuth_deg is -1"),
        (math.nan, 30, "azimuth_deg is nan"),
        (10, 0, "elevation_deg is 0"),
        (10, 90.5, "elevation_deg is 90.5"),
    ],
)
def test_a_sun_that_cannot_be_is_refused(azimuth: float, elevation: float, told: str) -> None:
    with pytest.raises(ValueError, match=told):
        Sun(azimuth, elevation)


def test_heights_are_those_of_the_tallest_that_counts_as_one() -> None:
    """An aircraft may be a plane: the shadow of a helicopter would leave half of a plane's in view."""
    assert TABLE.height_m("aircraft") == TABLE.height_m("plane") == 12
    assert TABLE.height_m("vehicle") == TABLE.height_m("truck or bus")
    assert TABLE.height_m("sea") is None
    assert [one.name for one in TABLE.classes if one.height_m and one.divisible] == []
    assert [name for name in TABLE.by_name if TABLE.wakes(name)] == ["ship"]


def coco(root: Path, image: dict[str, Any], info: dict[str, Any] | None = None) -> Path:
    Image.new("RGB", (64, 48), "grey").save(root / "a.png")
    content = {
        "info": {"complete": ["plane"], **(info or {})},
        "images": [{"id": 1, "file_name": "a.png", **image}],
        "categories": [{"id": 1, "name": "plane"}],
        "annotations": [{"id": 1, "image_id": 1, "category_id": 1, "bbox": [4, 4, 20, 20]}],
    }
    (root / "a.json").write_text(json.dumps(content))
    return root


def read(root: Path, sun: Sun | None = None) -> tuple[Scene, ReadReport]:
    report = ReadReport()
    (scene,) = get_source("coco").read(root, ReadOptions(sun=sun), report)
    return scene, report


def test_a_records_own_sun_wins(tmp_path: Path) -> None:
    own = {"sun_azimuth_deg": 120, "sun_elevation_deg": 33.5}
    everybody = {"sun_azimuth_deg": 10.0, "sun_elevation_deg": 20}
    assert read(coco(tmp_path, own, everybody), Sun(1, 2))[0].sun == Sun(120, 33.5)
    assert read(coco(tmp_path, {}, everybody), Sun(1, 2))[0].sun == Sun(10, 20)
    assert read(coco(tmp_path, {}), Sun(1, 2))[0].sun == Sun(1, 2)
    assert read(coco(tmp_path, {}))[0].sun is None


@pytest.mark.parametrize(
    ("image", "told"),
    [
        ({"sun_azimuth_deg": 120}, "sun_elevation_deg is 'None', not a number"),
        ({"sun_azimuth_deg": "south", "sun_elevation_deg": 30}, "sun_azimuth_deg is 'south'"),
        ({"sun_azimuth_deg": [1], "sun_elevation_deg": 30}, r"sun_azimuth_deg is '\[1\]'"),
        ({"sun_azimuth_deg": 360, "sun_elevation_deg": 30}, "azimuth_deg is 360"),
        ({"sun_azimuth_deg": 36, "sun_elevation_deg": 0}, "elevation_deg is 0; give degrees above the horizon"),
    ],
)
def test_a_wrong_sun_is_reported_and_nothing_rests_on_it(tmp_path: Path, image: dict[str, Any], told: str) -> None:
    """Without its shadow an object may be given away, so the image must not offer any to hide."""
    scene, report = read(coco(tmp_path, image))
    assert scene.sun is None
    assert scene.complete == frozenset()
    assert re.search(rf"a\.json, sun_azimuth_deg and sun_elevation_deg: {told}", report.problems[0])


@pytest.mark.parametrize("name", ["coco", "voc", "yolo", "csv"])
def test_formats_without_a_word_on_the_sun_take_it_as_an_option(name: str) -> None:
    assert "sun" in get_source(name).options


def config(folder: Path, **sun: Any) -> Path:
    source = {"format": "coco", "root": "optical", "options": {"sun": sun}}
    return small.write_config(folder, sources=[source], levers={"only": ["im_redact"]}, items=None, spare=1)


@pytest.mark.parametrize(
    ("sun", "told"),
    [
        ({"azimuth_deg": 400, "elevation_deg": 30}, r"options\.sun: .*azimuth_deg is 400"),
        ({"azimuth_deg": 40, "elevation_deg": -3}, r"options\.sun: .*elevation_deg is -3"),
        ({"azimuth_deg": 40}, r"options\.sun\.elevation_deg: is missing"),
        ({"azimuth_deg": 40, "elevation_deg": "low"}, r"options\.sun\.elevation_deg: .*'low'"),
        ({"azimuth_deg": 40, "elevation_deg": 3, "time": 12}, r"options\.sun\.time: "),
    ],
)
def test_a_configuration_with_a_wrong_sun_names_the_key(tmp_path: Path, sun: dict[str, Any], told: str) -> None:
    with pytest.raises(ConfigError, match=told):
        load_config(config(tmp_path, **sun))


def items(folder: Path, **sun: Any) -> list[Made]:
    """Return the items of one lever on painted scenes under a sun."""
    small.write_scenes(folder / "optical", {"airfield": small.OPTICAL["airfield"]}, sar=False)
    path = config(folder, **sun)
    if not sun:
        content = yaml.safe_load(path.read_text())
        content["sources"][0].pop("options")
        path.write_text(yaml.safe_dump(content))
    context = open_context(load_config(path))
    found = (make(job, context) for job in make_plan(context.config, context).jobs)
    return [one for one in found if isinstance(one, Made)]


def test_the_line_sweeps_the_shadow_and_a_label_follows_from_its_row(tmp_path: Path) -> None:
    lit = items(tmp_path, **SUN)
    yes = [one for one in lit if one.provenance["base_answer"] == "yes"]
    hidden = [one for one in yes if one.label["intensity"] != "LOW"]
    assert hidden
    assert {one.label["intensity"] for one in yes} == {"LOW", *(one.label["intensity"] for one in hidden)}
    for one in lit:
        row = json.loads(json.dumps(one.provenance))
        assert rederive(row) == one.label["gold"]
        assert ("shadow" in row["tags"]) == (row["base_answer"] == "yes") == ("object_shadow_px" in row["params"])
    for one in hidden:
        row = copy.deepcopy(one.provenance)
        height = TABLE.height_m(row["asks"]["class"])
        length = height / math.tan(math.radians(40))  # type: ignore[operator]
        assert row["params"]["evidence"] == "grown and shadow"
        assert row["params"]["object_shadow_px"] == pytest.approx([-length / 2**0.5] * 2, abs=1e-2)
        assert "object_shadow_cut" not in row["params"]
        row["measurement"]["per_instance"]["evidence_visible"] = [0.5 for _ in row["boxes"]]
        assert rederive(row) is Reason.DEAD_ZONE
        assert rederive({**row, "tags": [tag for tag in row["tags"] if tag != "shadow"]}) is Verdict.INFO_MISSING


def test_a_shadow_in_view_costs_its_refusal_and_an_unknown_sun_changes_nothing(tmp_path: Path) -> None:
    """Under a flat sun a plane of 34 px has a shadow of 137: blocks over it leave that in view."""
    dark = items(tmp_path)
    flat = items(tmp_path, azimuth_deg=225, elevation_deg=2)

    def refused(found: list[Made]) -> set[str]:
        return {one.key for one in found if one.label["intensity"] != "LOW" and one.provenance["base_answer"] == "yes"}

    assert {one.provenance["params"]["evidence"] for one in dark} == {"grown"}
    assert not any("shadow" in one.provenance["tags"] for one in dark)
    assert refused(flat) < refused(dark)
    low = next(one for one in flat if one.provenance["base_answer"] == "yes" and one.label["intensity"] == "LOW")
    assert low.provenance["params"]["object_shadow_cut"] == "sun"
