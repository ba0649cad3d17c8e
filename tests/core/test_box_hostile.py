"""Hostile replies: no text makes the reader of boxes raise, and none makes it slow."""

import math
import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from georefusal_task.core.box_reader import BoxReply, read_boxes
from georefusal_task.core.frames import FRAMES

UNITS = [
    *(
        "[",
        "]",
        "{",
        "}",
        "(",
        "[]",
        "([{",
        "([{)",
        "[[1]",
        "<points ",
        '"1, ',
        '{"x": 1, "y": 2}',
        '"center": [1,2]',
        "1",
        "1 ",
        "1,",
        "9",
        ".",
        "-",
        "1-",
        "e",
        "1e",
        "%",
        "<",
        "|",
    ),
    *(
        "[1,",
        "[1,2,3,4],",
        "(1,2),",
        "<box>",
        "</box>",
        "<box>[",
        "<box>[(",
        "[{(<box>",
        "<b_a_",
        "x1=1 ",
        "x1: ",
        "a",
        "a-",
    ),
    *(
        "{<1><2><3><4>|<5>}",
        "}{",
        "1,2,3,4;",
        "(1,2) and ",
        "[1 a ",
        "bbox: 1, ",
        "angle: 3 ",
        "&lt;",
        "\\n",
        "<loc_1>",
        "［",
    ),
    *('{"bbox_2d":', '{"bbox_2d":[1,2,3,4]},', "<think>", "</think>", '"', "\\", "\n", ";", ":", "_", "é"),
]
PARTS = st.sampled_from(
    [*UNITS, "bbox_2d", "label", "percent", "</", "x2", "10", "0.5", "1e999", "NaN", ", ", "ship", "</box>"]
)
FRAME = st.sampled_from(list(FRAMES.values()))


def check(reply: BoxReply, width: int, height: int) -> None:
    for points in reply.regions:
        assert len(points) >= 3
        assert all(math.isfinite(value) for point in points for value in point)
    assert all(count > 0 for count in reply.flags.values())


@given(st.text(), FRAME, st.integers(1, 5000), st.integers(1, 5000))
@example("\ud800[1,2,3,4]", FRAMES["qwen3_vl"], 10, 10)
@example("[" + "9" * 5000 + ",1,2,3]", FRAMES["unit"], 10, 10)
def test_no_text_makes_it_raise(text: str, frame: object, width: int, height: int) -> None:
    check(read_boxes(text, frame, width, height), width, height)  # type: ignore[arg-type]


@given(st.lists(PARTS, max_size=40).map("".join), FRAME)
def test_no_mixture_of_notations_makes_it_raise(text: str, frame: object) -> None:
    check(read_boxes(text, frame, 640, 480), 640, 480)  # type: ignore[arg-type]


@pytest.mark.parametrize("bracket", ["[", "(", "{", "<box>[", "[{("])
def test_brackets_that_nest_a_hundred_thousand_deep(bracket: str) -> None:
    read_boxes(bracket * 100_000, FRAMES["qwen3_vl"], 100, 100)
    reply = read_boxes("[" * 100_000 + "10,20,30,40" + "]" * 100_000 + " [50,60,70,80]", FRAMES["qwen3_vl"], 1000, 1000)
    assert len(reply.regions) == 2


@pytest.mark.parametrize("unit", UNITS)
def test_time_is_linear(unit: str) -> None:
    """Four times the text may take eight times as long; quadratic reading takes sixteen times."""

    def seconds(size: int) -> float:
        text, best = (unit * size)[:size], math.inf
        for _ in range(3):
            start = time.process_time()
            read_boxes(text, FRAMES["geochat"], 640, 480)
            best = min(best, time.process_time() - start)
        return best

    assert seconds(40_000) < 8 * max(seconds(10_000), 0.005)
