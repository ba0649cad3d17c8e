"""Coordinate frames: a box must come back to the pixels that the model meant, on images that are not square."""

import math
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from georefusal_task.core.box_reader import read_boxes
from georefusal_task.core.errors import ConfigError, DataError
from georefusal_task.core.frames import FRAMES, Points, frame_of_model, get_frame, smart_resize

NAMES = ["geochat", "geoground", "qwen2_vl", "internvl", "qwen2_5_vl", "qwen3_vl", "unit", "rel999"]
LIMITS = [(3136, 12845056), (200704, 1605632), (3136, 50176), (28 * 28, 28 * 28)]

WIDTH, HEIGHT = 800, 400
"""With the limits of the released processor this becomes 812 x 392."""
BOX = ((200.0, 100.0), (400.0, 100.0), (400.0, 300.0), (200.0, 300.0))
"""A quarter to a half of the width, a quarter to three quarters of the height."""
REPLIES = {
    "geochat": "<p>ship</p> {<25><25><50><75>|<0>}",
    "geoground": "<box>[[0.25, 0.25, 0.5, 0.75]]</box>",
    "qwen2_vl": "<|object_ref_start|>ship<|object_ref_end|><|box_start|>(250,250),(500,750)<|box_end|>",
    "internvl": "<ref>ship</ref><box>[[250, 250, 500, 750]]</box>",
    "qwen2_5_vl": '```json\n[{"bbox_2d": [203, 98, 406, 294], "label": "ship"}]\n```',
    "qwen3_vl": '[{"bbox_2d": [250, 250, 500, 750], "label": "ship"}]',
    "unit": "[[0.25, 0.25, 0.5, 0.75]]",
    "rel999": "[[249.75, 249.75, 499.5, 749.25]]",
}


def bounds(points: Points) -> tuple[float, ...]:
    xs, ys = zip(*points, strict=True)
    return min(xs), min(ys), max(xs), max(ys)


def test_every_frame_of_the_interface_exists() -> None:
    assert list(FRAMES) == list(REPLIES) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_each_model_s_own_notation_gives_the_same_box(name: str) -> None:
    reply = read_boxes(REPLIES[name], FRAMES[name], WIDTH, HEIGHT)
    assert not reply.flags
    assert [bounds(points) for points in reply.regions] == [pytest.approx(bounds(BOX), abs=1e-9)]


@pytest.mark.parametrize("name", NAMES)
def test_the_example_of_a_frame_is_readable_in_it(name: str) -> None:
    """The prompt must not show what the reader cannot read; all examples show the same two boxes."""
    reply = read_boxes(FRAMES[name].example, FRAMES[name], 1000, 600)
    assert not reply.flags
    first, _ = reply.regions
    assert bounds(first) == pytest.approx((120, 240, 300, 330), abs=1 if name != "geochat" else 60)
    assert len(reply.regions) == 2


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("other", NAMES)
def test_the_wrong_frame_gives_wrong_boxes(name: str, other: str) -> None:
    """Nobody guesses a frame from the numbers: the same reply lies elsewhere, except where two frames are one."""
    same = [{"qwen2_vl", "internvl", "qwen3_vl"}, {"unit", "geoground"}]
    regions = read_boxes(REPLIES[name], FRAMES[other], WIDTH, HEIGHT).regions
    right = [bounds(points) for points in regions] == [pytest.approx(bounds(BOX), abs=1e-9)]
    assert right == (name == other or any({name, other} <= group for group in same))


def test_the_pixel_limits_move_the_boxes_of_qwen2_5_vl() -> None:
    """The same numbers mean other places when the model is run with other limits."""
    text = "[[28, 28, 56, 84]]"
    released = read_boxes(text, get_frame("qwen2_5_vl"), 1000, 500).regions[0]
    small = read_boxes(text, get_frame("qwen2_5_vl,3136,50176"), 1000, 500).regions[0]
    # 1000 x 500 becomes 1008 x 504, and 308 x 140 within 50176 pixels
    assert bounds(released) == pytest.approx((28 / 1008 * 1000, 28 / 504 * 500, 56 / 1008 * 1000, 84 / 504 * 500))
    assert bounds(small) == pytest.approx((28 / 308 * 1000, 28 / 140 * 500, 56 / 308 * 1000, 84 / 140 * 500))


@given(st.integers(1, 5000), st.integers(1, 5000), st.sampled_from(LIMITS))
@example(1, 200, LIMITS[0])
@example(200, 1, LIMITS[2])
@example(1, 201, LIMITS[0])
@example(5000, 25, LIMITS[1])
@example(14, 14, LIMITS[0])
@example(42, 70, LIMITS[0])
def test_smart_resize_equals_transformers(width: int, height: int, limits: tuple[int, int]) -> None:
    oracle = pytest.importorskip("transformers.models.qwen2_vl.image_processing_qwen2_vl").smart_resize
    try:
        wanted = oracle(height, width, factor=28, min_pixels=limits[0], max_pixels=limits[1])
    except ValueError:
        with pytest.raises(DataError, match=f"{width} x {height}"):
            smart_resize(width, height, *limits)
    else:
        assert smart_resize(width, height, *limits) == wanted[::-1]


def test_default_limits_are_those_of_the_released_processor() -> None:
    assert get_frame("qwen2_5_vl").label == "qwen2_5_vl,3136,12845056"


@pytest.mark.parametrize("size", [(0, 10), (10, 0), (-5, 5), (1, 201)])
def test_an_image_that_the_processor_refuses_is_an_error(size: tuple[int, int]) -> None:
    with pytest.raises(DataError, match=f"{size[0]} x {size[1]}"):
        get_frame("qwen2_5_vl").to_pixels([(0, 0)], *size)


@pytest.mark.parametrize("name", NAMES)
def test_a_label_leads_back_to_its_frame(name: str) -> None:
    assert get_frame(FRAMES[name].label) == FRAMES[name]


@pytest.mark.parametrize("text", ["qwen2_5_vl,3136,50176", "qwen2_5_vl, 3136 , 50176", "geoground,1000,100"])
def test_numbers_stand_in_the_label(text: str) -> None:
    assert get_frame(text).label == text.replace(" ", "")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("pixels", "'pixels'.*geochat, geoground, qwen2_vl"),
        ("", "''.*rel999"),
        ("QWEN3_VL", "'QWEN3_VL'"),
        ("qwen3_vl,3136,50176", "takes no numbers"),
        ("qwen2_5_vl,3136", "two whole numbers"),
        ("qwen2_5_vl,3136,50176,1", "two whole numbers"),
        ("qwen2_5_vl,0,50176", "two whole numbers"),
        ("qwen2_5_vl,a,b", "two whole numbers"),
        ("qwen2_5_vl,3136,", "two whole numbers"),
        ("qwen2_5_vl,50176,3136", "at least 50176 and at most 3136"),
    ],
)
def test_an_unknown_frame_is_refused_with_the_list(text: str, said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        get_frame(text)


@pytest.mark.parametrize(
    ("model", "name"),
    [
        ("Qwen/Qwen2-VL-7B-Instruct", "qwen2_vl"),
        ("Qwen/Qwen2.5-VL-7B-Instruct", "qwen2_5_vl"),
        ("qwen2_5_vl", "qwen2_5_vl"),
        ("/data/checkpoints/qwen2.5-vl-3b-rs", "qwen2_5_vl"),
        ("Qwen/Qwen3-VL-8B-Instruct", "qwen3_vl"),
        ("OpenGVLab/InternVL3-8B", "internvl"),
        ("internvl_hf", "internvl"),
        ("MBZUAI/geochat-7B", "geochat"),
        ("gpt-4o", None),
        ("llava-hf/llava-1.5-7b-hf", None),
        ("Qwen/Qwen2.5-7B-Instruct", None),
        ("GeoGround", None),
        ("distilled-from-qwen3-vl-to-internvl", None),
        ("", None),
    ],
)
def test_a_model_s_frame_is_known_only_where_its_id_settles_it(model: str, name: str | None) -> None:
    frame = frame_of_model(model)
    assert (frame and frame.name) == name


def test_a_turned_box_keeps_its_right_angles_on_an_image_that_is_not_square() -> None:
    """Turning before the mapping would shear it."""
    (points,) = read_boxes("{<40><40><60><60>|<30>}", get_frame("geochat"), 1000, 200).regions
    sides = [math.dist(points[i], points[i - 1]) for i in range(4)]
    assert sides == pytest.approx([40, 200, 40, 200])
    assert math.dist(points[0], points[2]) == pytest.approx(math.hypot(40, 200))
    # clockwise as the image is seen: the right end of the upper side sinks
    assert points[1][1] > points[0][1]


def test_geoground_s_oriented_boxes_have_a_scale_of_their_own() -> None:
    text = "<box>[[100, 200, 300, 400]]</box> <obb>[[50, 50, 20, 10, 90]]</obb>"
    first, second = read_boxes(text, get_frame("geoground,1000,100"), 1000, 1000).regions
    assert bounds(first) == pytest.approx((100, 200, 300, 400))
    assert bounds(second) == pytest.approx((450, 400, 550, 600))


@pytest.mark.parametrize("name", NAMES)
def test_the_documentation_shows_a_reply_that_the_frame_reads(name: str) -> None:
    page = (Path(__file__).parents[2] / "docs/frames.md").read_text(encoding="utf-8")
    (row,) = [line for line in page.splitlines() if line.startswith(f"| `{name}` |")]
    shown = row.replace("\\|", "¦").split("|")[3].replace("¦", "|")
    reply = read_boxes(shown, FRAMES[name], 1000, 600)
    assert reply.regions == read_boxes(FRAMES[name].example, FRAMES[name], 1000, 600).regions[: len(reply.regions)]
    assert reply.regions
    assert not reply.flags
