"""Boxes in replies, in every notation that models were seen to write, and in broken ones."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from georefusal_task.core.box_reader import BoxFlag, read_boxes
from georefusal_task.core.frames import FRAMES, Points, get_frame

A, B = (10, 20, 30, 40), (50, 60, 70, 80)
"""Read in a frame of 0 to 1000 on an image of 1000 x 1000 pixels, so that numbers are pixels."""


def corners(points: Points) -> tuple[float, ...]:
    """Return x1, y1, x2, y2 of a box, all coordinates of any other polygon; whole numbers of tenths."""
    (x1, y1), *_ = points
    flat = [value for point in points for value in point]
    if len(points) == 4 and flat == [x1, y1, points[1][0], y1, points[1][0], points[2][1], x1, points[2][1]]:
        flat = [x1, y1, *points[2]]
    return tuple(round(value, 1) for value in flat)


def read(
    text: str, frame: str = "qwen3_vl", size: tuple[int, int] = (1000, 1000)
) -> tuple[list[object], dict[str, int]]:
    reply = read_boxes(text, get_frame(frame), *size)
    return [corners(points) for points in reply.regions], {str(flag): n for flag, n in reply.flags.items()}


TWO = [
    '[{"bbox_2d": [10, 20, 30, 40], "label": "ship 3"}, {"bbox_2d": [50, 60, 70, 80], "label": "x (2)"}]',
    '```json\n[\n\t{"bbox_2d": [\n10,\n20,\n30,\n40], "label": "ship"},\n\t{"bbox_2d": [50, 60, 70, 80]},\n]\n```',
    "[[10,20,30,40],[50,60,70,80]]",
    "[10, 20, 30, 40], [50, 60, 70, 80]",
    "[10 20 30 40]\n[50 60 70 80]",
    "[(10,20,30,40),(50,60,70,80)]",
    "<box>[[10, 20, 30, 40]]</box> and <box>[[50, 60, 70, 80]]</box>",
    "<ref>ship</ref><box>[[10, 20, 30, 40], [50, 60, 70, 80]]</box>",
    "<box>10,20,30,40;50,60,70,80</box>",
    "<bbox>10 20 30 40</bbox><bbox>50 60 70 80</bbox>",
    "<|box_start|>(10,20),(30,40)<|box_end|><|box_start|>(50,60),(70,80)<|box_end|>",
    "<|object_ref_start|>ship<|object_ref_end|><|box_start|>(10,20),(30,40)<|box_end|> (50,60),(70,80)",
    "(10,20),(30,40)(50,60),(70,80)",
    "[[[10,20],[30,40]],[[50,60],[70,80]]]",
    "<|ref|>ship<|/ref|><|det|>[[10, 20, 30, 40], [50, 60, 70, 80]]<|/det|>",
    "<loc_10><loc_20><loc_30><loc_40> <delim> <loc_50><loc_60><loc_70><loc_80>",
    "The ships are at 10, 20, 30, 40 and 50, 60, 70, 80.",
    "Yes. There are 2 ships at (10, 20, 30, 40) and (50, 60, 70, 80).",
    "1. 10, 20, 30, 40\n2. 50, 60, 70, 80",
    "1) [10, 20, 30, 40] 2) [50, 60, 70, 80]",
    "- Ship 1: 10, 20, 30, 40\n- Ship 2: 50, 60, 70, 80",
    "Box 1: (10, 20, 30, 40)\nBox 2: (50, 60, 70, 80)",
    "x1=10, y1=20, x2=30, y2=40; x1=50, y1=60, x2=70, y2=80",
    "x1: 10\ny1: 20\nx2: 30\ny2: 40\n\nx1: 50\ny1: 60\nx2: 70\ny2: 80",
    "top-left: (10, 20), bottom-right: (30, 40); top-left: (50, 60), bottom-right: (70, 80)",
    "Top-left: (10, 20)\nBottom-right: (30, 40)\n\nTop-left: (50, 60)\nBottom-right: (70, 80)",
    "from (10, 20) to (30, 40) and from (50, 60) to (70, 80)",
    "| ship | 10 | 20 | 30 | 40 |\n|---|---|---|---|---|\n| ship | 50 | 60 | 70 | 80 |",
    '[{"x1": 10, "y1": 20, "x2": 30, "y2": 40}, {"xmin": 50, "ymin": 60, "xmax": 70, "ymax": 80}]',
    '[{"left": 10, "top": 20, "right": 30, "bottom": 40}, {"x": 50, "y": 60, "width": 20, "height": 20}]',
    "cx=20, cy=30, w=20, h=20. cx=60, cy=70, w=20, h=20",
    '{"boxes": [{"top_left": [10, 20], "bottom_right": [30, 40]}, {"box": {"x1": 50, "y1": 60, "x2": 70, "y2": 80}}]}',
    "{'ship_1': {'bbox': [10, 20, 30, 40]}, 'ship_2': {'bbox': [50, 60, 70, 80]}}",
    '{"answer": "2", "boxes": [[10, 20, 30, 40], [50, 60, 70, 80]], "scores": [0.9, 0.8, 0.7, 0.6]}',
    '{"bbox": "10,20,30,40"} {"bbox": "50,60,70,80"}',
    "['10', '20', '30', '40'] ['50', '60', '70', '80']",
    "1%, 2%, 3%, 4%; [5%, 6%, 7%, 8%]",
    "(1%, 2%) - (3%, 4%), (5 %, 6 %) - (7 %, 8 %)",
    '<box x1="10" y1="20" x2="30" y2="40"/><box x1="50" y1="60" x2="70" y2="80"/>',
    "<bbox><x1>10</x1><y1>20</y1><x2>30</x2><y2>40</y2></bbox> <bbox>50,60,70,80</bbox>",
    "POLYGON ((10 20, 30 20, 30 40, 10 40, 10 20)), POLYGON ((50 60, 70 60, 70 80, 50 80, 50 60))",
    "[10, 20, 30, 20, 30, 40, 10, 40], [[50, 60], [70, 60], [70, 80], [50, 80]]",
    "<quad>(10,20),(30,20),(30,40),(10,40)</quad> [50.0, 60., 7e1, 80]",
    "10px, 20px, 30px, 40px and (50 px, 60 px, 70 px, 80 px)",
    "[ship, 10, 20, 30, 40], [50, 60, 70, 80, ship]",
    "\\boxed{[[10, 20, 30, 40], [50, 60, 70, 80]]}",
    "［10，20，30，40］、［50，60，70，80］",
    "&lt;box&gt;(10,20),(30,40)&lt;/box&gt; &lt;box&gt;(50,60),(70,80)&lt;/box&gt;",
    "<think>[1, 2, 3, 4] or [5, 6, 7, 8]</think>[[10,20,30,40],[50,60,70,80]]",
    '["10,20,30,40", "50,60,70,80"]',
    "10 20 30 40, 50 60 70 80",
    "<box>10 20 30 40, 50 60 70 80</box>",
    "[10,\u200b20,30,40] [50,60,70,80\u200b]",
    "<loc10><loc20><loc30><loc40> ; <bin_50><bin_60><bin_70><bin_80>",
    '{"top_left": {"x": 10, "y": 20}, "bottom_right": {"x": 30, "y": 40}} [50, 60, 70, 80]',
    '[10, 20, 30, 40] {"start": {"y": 60, "x": 50}, "end": {"x": 70, "y": 80}}',
    '{"polygon": [{"x": 10, "y": 20}, {"x": 30, "y": 20}, {"x": 30, "y": 40}, {"x": 10, "y": 40}]}, [50, 60, 70, 80]',
    '{"center": [20, 30], "size": [20, 20]} {"center": {"x": 60, "y": 70}, "width": 20, "height": 20}',
    '"[{\\"bbox_2d\\": [10, 20, 30, 40]},\\n{\\"bbox_2d\\": [50, 60, 70, 80]}]"',
]


@pytest.mark.parametrize("text", TWO)
def test_two_boxes_in_every_notation(text: str) -> None:
    assert read(text) == ([A, B], {})


@pytest.mark.parametrize(
    "text",
    [
        *(
            "",
            "No boxes.",
            "none",
            "[]",
            "[[]]",
            "{}",
            "No, there are none.",
            '{"answer": 0, "boxes": []}',
            "boxes: none",
        ),
        *('{"bbox_2d": []}', '{"bbox_2d": null}', "<box></box>", "<box>[]</box>", "[x1, y1, x2, y2]", "12", "Yes"),
        *("There are 12 ships and 3 cars in 2020.", "The image is 512 x 512 pixels.", "see [1] and (2, 3)"),
        *(
            '{"answer": "5", "confidence": 0.9}',
            "scores: 0.9, 0.8, 0.7, 0.6",
            "The ship at (10,20). Another at (50,60).",
        ),
    ],
)
def test_a_reply_without_boxes_has_none_and_no_problem(text: str) -> None:
    assert read(text) == ([], {})


@pytest.mark.parametrize(
    ("text", "boxes", "flags"),
    [
        # out of range
        ("[-10, 20, 30, 40]", [(0, 20, 30, 40)], {"clipped": 1}),
        ("[10, 20, 30, 4000]", [(10, 20, 30, 1000)], {"clipped": 1}),
        ("[2000, 20, 3000, 40]", [], {"clipped": 1, "degenerate": 1}),
        ("[10, 20, 130%, 40]", [], {"malformed": 1}),
        ("110%, 20%, 30%, 40%", [(300, 200, 1000, 400)], {"clipped": 1, "reversed": 1}),
        # reversed
        ("[30, 40, 10, 20]", [A], {"reversed": 1}),
        ("[30, 20, 10, 40]", [A], {"reversed": 1}),
        ("[10, 20, 30, 40, 30, 20, 10, 40]", [A], {"reversed": 1}),
        # duplicates are kept
        ("[10,20,30,40],[10,20,30,40],[10,20,30,40]", [A, A, A], {"duplicate": 2}),
        ("[10,20,30,40] [30,40,10,20]", [A, A], {"reversed": 1, "duplicate": 1}),
        # no area
        ("[10, 20, 10, 40]", [], {"degenerate": 1}),
        ("[0, 0, 0, 0]", [], {"degenerate": 1}),
        ("[[10,20],[30,40],[50,60]]", [], {"degenerate": 1}),
        # wrong number of numbers
        ("[10, 20, 30]", [], {"malformed": 1}),
        ("[[10, 20, 30, 40], [50, 60, 70]]", [A], {"malformed": 1}),
        ("[10, 20, 30, 40, 0.9]", [], {"malformed": 1}),
        ("[10, 20, null, 40]", [], {"malformed": 1}),
        ('{"box": [10, 20, "a", "b"]}', [], {"malformed": 1}),
        ('{"box": {"xmin": 10, "ymin": 20, "xmax": 30}}', [], {"malformed": 1}),
        ('{"point_2d": [10, 20]}', [], {"malformed": 1}),
        ('<points x1="10" y1="20" x2="50" y2="60" alt="ships">ships</points>', [], {"malformed": 1}),
        ("Boxes: 10, 20, 30", [], {"malformed": 1}),
        ("<box>(10,20)</box>", [], {"malformed": 1}),
        ("[10, 20, 30, 1e999]", [], {"malformed": 1}),
        # brackets that are missing or wrong cost their own box at most
        ('{"bbox_2d": [10,20,30,40}, {"bbox_2d": [50,60,70,80]}', [A, B], {"malformed": 1}),
        ("<box>[[10,20,30,40</box><box>[[50,60,70,80]]</box>", [A, B], {"malformed": 1}),
        ("<box>10,20,30,40 <box>50,60,70,80</box>", [A, B], {"malformed": 1}),
        ("[10,20,30,40]]] [50,60,70,80]", [A, B], {}),
        # cut off
        ("[10, 20, 30, 40", [], {"truncated": 1}),
        ("[[10,20,30,40],[50,60,7", [A], {"truncated": 1}),
        ("[[10,20,30,40],[50,60,70,80]", [A, B], {"truncated": 1}),
        ('[{"bbox_2d": [10,20,30,40], "label": "sh', [A], {"truncated": 1}),
        ('[{"bbox_2d": [10,20,30,40]}, {"bbox_2d":', [A], {"truncated": 1}),
        ("<|box_start|>(10,20),(30,", [], {"truncated": 1}),
        ("<|box_start|>(10,20),(30,40)", [A], {"truncated": 1}),
        ("[10,20,30,40] <think>and [50,60", [A], {"truncated": 1}),
    ],
)
def test_every_problem_is_counted(text: str, boxes: list[object], flags: dict[str, int]) -> None:
    assert read(text) == (boxes, flags)


@pytest.mark.parametrize(
    ("frame", "text", "boxes", "flags"),
    [
        ("geochat", "{<1><2><3><4>}", [A], {}),
        ("geochat", "<p>ship</p> {<1><2><3><4>|<0>}<delim>{<5><6><7><8>|<0>}", [A, B], {}),
        ("geochat", "{<1><2><3><4>|<0>}{<5><6><7><8>|<0>}", [A, B], {}),
        ("geochat", "{<1><2><3><4>|<90>}", [(30, 20, 30, 40, 10, 40, 10, 20)], {}),
        ("geochat", "{<1><2><5><4>|<90>}", [(40, 10, 40, 50, 20, 50, 20, 10)], {}),
        ("geochat", "{<1><2><5><4>|<-90>}", [(20, 50, 20, 10, 40, 10, 40, 50)], {}),
        ("geochat", "[1, 2, 5, 4, 90]", [(40, 10, 40, 50, 20, 50, 20, 10)], {}),
        ("geochat", "{<1><2><3>|<90>}{<5><6><7><8>|<0>}", [B], {"malformed": 1}),
        ("geochat", "{<1><2><3><4>|<0>}{<5><6><7><8>|<9", [A], {"truncated": 1}),
        ("geochat", "{<1><2><3><400>|<0>}", [(10, 20, 30, 1000)], {"clipped": 1}),
        ("geoground", "[[0.5, 0.5, 0.2, 0.1, 0]]", [(400, 450, 600, 550)], {}),
        ("geoground", "<obb>[[0.5, 0.5, 0.2, 0.1, 90]]</obb>", [(550, 400, 550, 600, 450, 600, 450, 400)], {}),
        ("geoground", "(0.9, 0.5, 0.4, 0.1, 0)", [(700, 450, 1100, 550)], {}),
        ("qwen3_vl", '{"bbox_2d": [10, 20, 50, 40], "angle": 90}', [(40, 10, 40, 50, 20, 50, 20, 10)], {}),
        ("qwen3_vl", '{"angle": 90, "bbox_2d": [10, 20, 50, 40]}', [(40, 10, 40, 50, 20, 50, 20, 10)], {}),
        ("qwen3_vl", '{"obb": [30, 30, 40, 20, 90]}', [(40, 10, 40, 50, 20, 50, 20, 10)], {}),
        ("qwen3_vl", "[10,10,40,20,30,50,5,30]", [(10, 10, 40, 20, 30, 50, 5, 30)], {}),
    ],
)
def test_boxes_that_lie_askew(frame: str, text: str, boxes: list[object], flags: dict[str, int]) -> None:
    assert read(text, frame) == (boxes, flags)


def test_an_image_that_the_model_cannot_take_is_no_crash() -> None:
    assert read("[1, 2, 3, 4], [5, 6, 7, 8]", "qwen2_5_vl", (3000, 10)) == ([], {"unmapped": 2})


boxes = st.tuples(*[st.integers(0, 400)] * 2, *[st.integers(1, 500)] * 2).map(
    lambda box: (box[0], box[1], box[0] + box[2], box[1] + box[3])
)
WRITERS = [
    lambda box: '{{"bbox_2d": [{}, {}, {}, {}], "label": "ship"}}'.format(*box),
    lambda box: "[{}, {}, {}, {}]".format(*box),
    lambda box: "<|box_start|>({},{}),({},{})<|box_end|>".format(*box),
    lambda box: "<box>[[{}, {}, {}, {}]]</box>".format(*box),
    lambda box: "one at ({}, {}, {}, {})".format(*box),
    lambda box: "x1={} y1={} x2={} y2={}".format(*box),
]


@given(st.lists(st.tuples(boxes, st.sampled_from(WRITERS)), max_size=8), st.sampled_from(["\n", ", ", "; ", " and "]))
def test_notations_may_be_mixed(written: list[tuple[tuple[int, ...], object]], between: str) -> None:
    text = between.join(writer(box) for box, writer in written)  # type: ignore[operator]
    reply = read_boxes(text, FRAMES["qwen3_vl"], 1000, 1000)
    assert [corners(points) for points in reply.regions] == [box for box, _ in written]
    assert set(reply.flags) <= {BoxFlag.DUPLICATE}


@given(st.lists(boxes, min_size=1, max_size=4, unique=True), st.data())
def test_a_reply_cut_anywhere_keeps_its_first_boxes(given_boxes: list[tuple[int, ...]], data: st.DataObject) -> None:
    """A cut never invents a box: what is left is a beginning of the list."""
    text = "[" + ", ".join('{{"bbox_2d": [{}, {}, {}, {}]}}'.format(*box) for box in given_boxes) + "]"
    at = data.draw(st.integers(0, len(text) - 1))
    reply = read_boxes(text[:at], FRAMES["qwen3_vl"], 1000, 1000)
    found = [corners(points) for points in reply.regions]
    assert found == given_boxes[: len(found)]
    begun = 'bbox_2d":' in text[:at]
    assert reply.flags == ({BoxFlag.TRUNCATED: 1} if begun else {})


@given(boxes, st.integers(0, 3))
def test_rotation_keeps_area_and_centre(box: tuple[int, ...], quarter: int) -> None:
    (points,) = read_boxes(
        "{{<{}><{}><{}><{}>|<{}>}}".format(*(value / 10 for value in box), 90 * quarter + 17),
        FRAMES["geochat"],
        900,
        300,
    ).regions
    xs, ys = zip(*points, strict=True)
    assert sum(xs) / 4 == pytest.approx((box[0] + box[2]) / 2000 * 900)
    assert sum(ys) / 4 == pytest.approx((box[1] + box[3]) / 2000 * 300)
    area = math.dist(points[0], points[1]) * math.dist(points[1], points[2])
    assert area == pytest.approx((box[2] - box[0]) * (box[3] - box[1]) * 900 * 300 / 1e6)
