"""Wakes on radar images: where they are looked for, what is found on painted scenes, and what may not be asked then."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from support import small_build as small
from support.asked import MASTER, oblong, situation, town
from support.levers import radar
from support.wakes import Wake, ship_at_sea

from georefusal_build.anchors_wake import WAKE_Z, has_wake, strips, wake_z
from georefusal_build.apply import apply
from georefusal_build.ask import Asked, ask
from georefusal_build.build_config import load_config
from georefusal_build.context import open_context
from georefusal_build.levers.asked import Situation
from georefusal_build.made import Reject
from georefusal_build.making import make
from georefusal_build.outcomes import NotApplicable, Outcome, Reason
from georefusal_build.plan import make_plan
from georefusal_build.scenes import Tile
from georefusal_build.targets import Target

EAST = Target.box(100, 90, 148, 102)
"""A ship of 48 x 12 px; its strips span x 160..256 and -8..88, y 90..102."""


def sea(*streaks: tuple[slice, slice, float]) -> np.ndarray:
    """Return speckle with rectangles of it scaled, and the ship."""
    pixels = np.asarray(2 * radar((192, 280)).astype(np.float32))
    for rows, columns, factor in streaks:
        pixels[rows, columns] *= factor
    pixels[90:102, 100:148] = 230
    return np.clip(np.rint(pixels), 0, 255).astype(np.uint8)


def found(pixels: np.ndarray, *targets: Target) -> list[float]:
    return [z if z is not None else -1.0 for z in wake_z(pixels, targets or (EAST,))]


def rate(wake: Wake, count: int, strength_db: float = 3.0, uneven: float = 0.0) -> float:
    """Return the share of painted scenes in which a wake is found."""
    scenes = (ship_at_sea(number, wake, strength_db, uneven) for number in range(count))
    return float(np.mean([has_wake(wake_z(pixels, [ship])) for pixels, ship in scenes]))


def test_strips_begin_one_width_beyond_the_ends_along_the_longer_side() -> None:
    """By hand for a ship turned by atan(3/4): axis (0.8, 0.6), 50 long and 10 wide around (100, 100)."""
    (rear, fore) = strips(Target(((83, 81), (123, 111), (117, 119), (77, 89))))
    axis, aside = np.array([0.8, 0.6]), np.array([-0.6, 0.8])
    for strip, way in ((rear, -1), (fore, 1)):
        reach = sorted({round(float(way * (np.array(p) - 100) @ axis), 6) for p in strip.polygon})
        assert abs(np.array(reach)) == pytest.approx([35, 135])
        assert {abs(round(float((np.array(p) - 100) @ aside), 6)) for p in strip.polygon} == {5.0}
    assert {one.bounds for one in strips(Target.box(10, 40, 14, 60))} == {(10, -4, 14, 36), (10, 64, 14, 104)}


@pytest.mark.parametrize("factor", [0.7, 1.35])
@pytest.mark.parametrize("columns", [slice(160, 256), slice(0, 88)])
def test_bright_and_dark_wakes_are_found_ahead_and_astern(factor: float, columns: slice) -> None:
    assert found(sea())[0] < WAKE_Z
    assert found(sea((slice(90, 102), columns, factor)))[0] > 2 * WAKE_Z


def test_what_lies_beside_the_axis_or_far_away_is_no_wake() -> None:
    """Another ship's streak, and wind that darkens half of the sea along the ship, are not this ship's wake."""
    assert found(sea((slice(30, 42), slice(160, 256), 0.7)))[0] < WAKE_Z
    assert found(sea((slice(0, 192), slice(150, 280), 0.6)))[0] < WAKE_Z


def test_the_number_turns_with_the_image_and_ignores_gain() -> None:
    pixels = sea((slice(90, 102), slice(160, 256), 0.8))
    turned = Target(tuple((y, x) for x, y in EAST.polygon))
    assert found(np.ascontiguousarray(pixels.T), turned) == pytest.approx(found(pixels), rel=0.05)
    assert found(np.repeat(pixels[..., None], 3, axis=2)) == pytest.approx(found(pixels), rel=1e-3)
    assert found((pixels // 2 * 2).astype(np.uint8))[0] == pytest.approx(found(pixels)[0], rel=0.1)


def test_it_is_undefined_where_nothing_can_be_compared() -> None:
    """A ship as long as the frame has no strip in it; a frame that its strips fill has no others."""
    across = Target.box(2, 90, 278, 102)
    small = np.ascontiguousarray(sea()[70:122, 60:200])
    assert wake_z(sea(), [across]) == [None]
    assert wake_z(small, [Target.box(40, 20, 88, 32)]) == [None]
    assert wake_z(sea(), []) == []
    assert not has_wake([None])


def test_another_ship_on_the_axis_is_no_wake() -> None:
    pixels, other = sea(), Target.box(180, 88, 228, 104)
    pixels[88:104, 180:228] = 230
    assert found(pixels, EAST, other)[0] < WAKE_Z < found(pixels)[0]


def test_painted_wakes_are_found_and_their_lack_too() -> None:
    assert rate("none", 25) == 0
    assert rate("dark", 25) >= 0.96
    assert rate("bright", 25) >= 0.96


@pytest.mark.slow
@pytest.mark.parametrize(
    ("wake", "strength_db", "uneven", "share"),
    [
        ("none", 0, 0.0, 0.0), ("dark", 2, 0.0, 0.955), ("dark", 3, 0.0, 0.995),
        ("bright", 2, 0.0, 0.96), ("bright", 3, 0.0, 0.995),
        ("none", 0, 0.05, 0.0), ("dark", 2, 0.05, 0.525), ("dark", 3, 0.05, 0.88),
        ("bright", 2, 0.05, 0.615), ("bright", 3, 0.05, 0.92),
        ("none", 0, 0.1, 0.01), ("dark", 2, 0.1, 0.105), ("dark", 3, 0.1, 0.345),
        ("bright", 2, 0.1, 0.125), ("bright", 3, 0.1, 0.435),
    ],
)  # fmt: skip
def test_rates_are_those_of_the_documentation(wake: Wake, strength_db: float, uneven: float, share: float) -> None:
    """The table in docs/levers/limits.md, on 200 painted scenes each."""
    assert rate(wake, 200, strength_db, uneven) == pytest.approx(share, abs=0.0051)


@pytest.mark.parametrize("lever", ["im_redact_high", "im_redact_low", "im_truncate_medium", "im_bury_high"])
def test_a_ship_with_a_wake_is_not_hidden(lever: str) -> None:
    """LOW neither: ships with wakes would otherwise be answerable ones only."""
    wake = sea((slice(90, 102), slice(160, 256), 0.7))
    got = apply(lever, wake, [EAST], "x", MASTER, modality="sar", wakes=True)
    assert isinstance(got, NotApplicable)
    assert got.reason is Reason.WAKE
    assert "robust sd" in got.detail


def test_nobody_looks_for_wakes_of_what_has_none_or_by_light() -> None:
    wake = sea((slice(90, 102), slice(160, 256), 0.7))
    calm = apply("im_redact_high", sea(), [EAST], "x", MASTER, modality="sar", wakes=True)
    assert isinstance(calm, Outcome)
    assert calm.measurement.per_instance["wake_z"] == wake_z(sea(), [EAST])
    for known in ({"modality": "sar"}, {"modality": "optical", "wakes": True}):
        other = apply("im_redact_high", wake, [EAST], "x", MASTER, **known)  # type: ignore[arg-type]
        assert isinstance(other, Outcome)
        assert "wake_z" not in other.measurement.per_instance


def at_sea(modality: str, pixels: np.ndarray) -> Situation:
    """Return the situation of a question about the one ship of an image."""
    scene = replace(town(4, modality).scene, instances=(), width=280, height=192)
    ship = oblong("ship", 124, 96, 16.5, 52)
    tile = Tile(replace(scene, instances=(ship,)), 0, 0, 280, 192, (ship,))
    made = situation(tile, "ship")
    assert made is not None
    return replace(made, pixels=pixels)


@pytest.mark.parametrize("intensity", ["low", "medium", "high"])
def test_nobody_is_asked_how_a_ship_with_a_wake_moves(intensity: str) -> None:
    wake = sea((slice(90, 102), slice(160, 256), 0.7))
    lever = f"gm_motion_{intensity}"
    barred = ask(lever, at_sea("sar", wake), MASTER)
    assert isinstance(barred, NotApplicable)
    assert barred.reason is Reason.NO_MATCH
    for other in (at_sea("sar", sea()), at_sea("optical", wake), replace(at_sea("sar", wake), pixels=None)):
        assert isinstance(ask(lever, other, MASTER), Asked)
    assert isinstance(ask(lever.replace("motion", "schedule"), at_sea("sar", wake), MASTER), Asked)


@pytest.mark.parametrize(
    ("streak", "reasons"), [(0.7, {("im_redact", "wake"), ("gm_motion", "no_match")}), (1.0, set())]
)
def test_the_line_looks_for_wakes_of_what_is_asked_about(
    tmp_path: Path, streak: float, reasons: set[tuple[str, str]]
) -> None:
    small.write_scenes(tmp_path / "sar", {"strait": []}, sar=True)
    wake = sea((slice(90, 102), slice(160, 256), streak))
    Image.fromarray(wake).save(tmp_path / "sar" / "strait.png")
    path = tmp_path / "sar" / "strait.json"
    content = json.loads(path.read_text())
    content["images"][0] |= {"width": 280, "height": 192}
    content["annotations"] = [{"id": 1, "image_id": 1, "category_id": 1, "bbox": [98, 88, 52, 16]}]
    path.write_text(json.dumps(content))
    sources, levers = [{"format": "coco", "root": "sar"}], {"only": ["im_redact", "gm_motion"]}
    context = open_context(
        load_config(small.write_config(tmp_path, sources=sources, levers=levers, tiling={"size": 280}))
    )
    jobs = [job for job in make_plan(context.config, context).jobs if job.base.answer == "yes"]
    assert {job.family for job in jobs} == {"im_redact", "gm_motion"}
    made = {(job.family, one.reason) for job in jobs if isinstance(one := make(job, context), Reject)}
    assert made == reasons
