"""The answer of a reply is read apart from its boxes: no coordinate is a count, nothing ambiguous is an answer."""

import random
import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from georefusal_task.benchmarks.grounding import Question, QuestionType
from georefusal_task.benchmarks.grounding_reading import read_answer, read_turn
from georefusal_task.core.frames import FRAMES, get_frame

COUNT, YES = QuestionType.COUNTING, QuestionType.EXISTENCE
QUESTION = Question(
    id="q-1",
    type=COUNT,
    classes=["ship"],
    question="How many ships are there?",
    image="x.png",
    width=200,
    height=100,
    image_id="x",
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Answer: 3\nBoxes: [[1,2,3,4],[5,6,7,8]]", 3),
        ("3\nBoxes: none", 3),  # "none" says that there are no boxes, not that there are 0 ships
        ("Answer: 0\nBoxes: none", 0),
        ("**Answer:** 12\n**Boxes:** none", 12),
        ('{"answer": 3, "boxes": [[1, 2, 3, 4]]}', 3),
        ('{"answer": "none", "boxes": []}', 0),
        ('```json\n{"boxes": [[1, 2, 3, 4]], "answer": 1}\n```', 1),
        ("There are 2 ships: [10,20,30,40] and [1,2,3,4].", 2),
        ("2 ships at 10, 20, 30, 40; 50, 60, 70, 80", 2),
        ("Two. <|box_start|>(1,2),(3,4)<|box_end|>", 2),
        ("{<12><40><30><55>|<90>}{<1><2><3><4>|<0>} 2 ships", 2),
        ("<answer>4</answer><box>[[1,2,3,4]]</box>", 4),
        ("There are no ships.", 0),
        ("Answer: 1,204", 1204),
        ("<think>3 or 4? Answer: 4</think>Answer: 3\nBoxes: none", 3),
        ('[{"bbox_2d": [1, 2, 3, 4], "label": "ship"}]', None),
        ("Boxes: [[1,2,3,4]]", None),
        ("about 5 [[1,2,3,4]]", None),
        ("Answer: 5 or 6\nBoxes: none", None),
        ("Answer: several\nBoxes: [[1,2,3,4]]", None),
        ("Answer: 2\nBoxes: none\nFinal answer: 3", None),
        ("Answer: 1,5\nBoxes: none", None),
        ("Answer: yes\nBoxes: [[1,2,3,4]]", None),
        ("Answer: 5 Boxes: none", 5),  # on one line
        ("Answer: 5 Boxes: [[1,2,3,4]]", 5),
        ('{"count": 5, "boxes": [[1, 2, 3, 4]]}', 5),
        ("\\boxed{\\text{5}}", 5),
        ("\\(5\\)", 5),
        ("3 + 2, so the answer is $\\boxed{5}$.", 5),
        ("Answer: 1\nBoxes: \\boxed{[[1, 2, 3, 4]]}", 1),
        ("(5)", 5),
        ("Answer: [3]\nBoxes: none", 3),
        ("five (5) ships: [1,2,3,4]", 5),
        ("There are 2 ships: (1) [10,20,30,40], (2) [50,60,70,80]", 2),
        ("5 (2 large, 3 small)", 5),
        ("There are 2 ships.\n\n1. Ship at [10, 20, 30, 40]\n2. Ship at [50, 60, 70, 80]", 2),
        ("There are 2 ships.\nShip 1: [10, 20, 30, 40]\nShip 2: [50, 60, 70, 80]", 2),
        ("2 ships:\n\n| # | box |\n|---|---|\n| 1 | [10, 20, 30, 40] |\n| 2 | [50, 60, 70, 80] |", 2),
        ("Ship 1: [10, 20, 30, 40]\nShip 2: [50, 60, 70, 80]", None),
        ("1 [10, 20, 30, 40]", 1),
        ("I cannot provide bounding boxes, but there are 2 ships.", 2),
        ("I'm unable to give a count or any boxes.", None),
        ("2\n10 20 30 40\n50 60 70 80", 2),
        ('{"final_answer": 2, "boxes": []}', 2),
        ("## Answer\n2\n\n## Boxes\n[[10, 20, 30, 40]]", 2),
        *[
            (text, None)
            for text in ("five (6)", "5 (or 6)", "5 (approx.)", "5 (at least)", ">10", ">= 5", "Answer: >5")
        ],
        ("", None),
    ],
)
def test_counts(text: str, expected: int | None) -> None:
    assert read_answer(text, COUNT) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Answer: yes\nBoxes: none", "yes"),
        ("Answer: No\nBoxes: none", "no"),
        ("Yes, there is a ship at [1,2,3,4].", "yes"),
        ("[[1,2,3,4]] yes", "yes"),
        ('{"answer": true, "boxes": []}', "yes"),
        ('{"answer": "No", "boxes": [{"bbox_2d": [1, 2, 3, 4], "label": "yes"}]}', "no"),
        ('{\n "answer":\n "yes",\n "boxes": []\n}', "yes"),
        ("The answer is **No**.", "no"),
        ("The correct answer is: Yes", "yes"),
        ("Answer: yes Boxes: none", "yes"),
        ("\\boxed{\\text{Yes}}", "yes"),
        ("“Yes”", "yes"),
        ("Answer: 'yes'", "yes"),
        ("{'answer': 'no', 'boxes': []}", "no"),
        ("The answer is \\boxed{Yes}.", "yes"),
        ("The answer would be yes.", "yes"),
        ('```json\n[{"bbox_2d": [1, 2, 3, 4]}]\n```\nYes', "yes"),
        ("Yes<ref>ship</ref><box>[[10, 20, 30, 40]]</box>", "yes"),
        ("**Answer**\n\nYes\n\n**Boxes**\n\n[[10, 20, 30, 40]]", "yes"),
        ("The answer is yes and the box is [10, 20, 30, 40]", "yes"),
        ("The answer to the question is no.", "no"),
        ('{"final_answer": "yes"}', "yes"),
        ("Answer: yes. Final answer: no", None),
        ("Answer: yes and no", None),
        ("Answer: maybe yes", None),
        ("Answer: 1\nBoxes: [[1,2,3,4]]", None),
        ("[[1,2,3,4]]", None),
    ],
)
def test_yes_and_no(text: str, expected: str | None) -> None:
    assert read_answer(text, YES) == expected


def test_a_turn_is_read_for_what_it_asks() -> None:
    frame, text = get_frame("unit"), "Answer: 1\nBoxes: [[0, 0, 0.5, 1]]"
    left = (((0.0, 0.0), (100.0, 0.0), (100.0, 100.0), (0.0, 100.0)),)
    both, answer, boxes = (read_turn(text, turn, QUESTION, frame) for turn in ("one", "answer", "grounding"))
    assert (both.answer, both.regions) == (1, left)
    assert (answer.answer, answer.regions) == (1, ())
    assert (boxes.answer, boxes.regions) == (None, left)
    assert both.frame == "unit"


def test_boxes_are_read_in_the_declared_frame_and_flagged() -> None:
    said = read_turn("Answer: 1\nBoxes: [[500, 0, 1200, 1000]]", "one", QUESTION, get_frame("qwen3_vl"))
    assert said.regions == (((100.0, 0.0), (200.0, 0.0), (200.0, 100.0), (100.0, 100.0)),)
    assert said.flags == {"clipped": 1}


def test_a_failed_request_is_no_answer() -> None:
    said = read_turn("[LMMS_EVAL_REQUEST_FAILED after 5 retries] 429", "one", QUESTION, get_frame("unit"))
    assert said.failed
    assert (said.answer, said.regions) == (None, ())


@pytest.mark.parametrize("frame", FRAMES)
def test_the_example_of_every_frame_has_two_boxes_beside_an_answer(frame: str) -> None:
    wide = QUESTION.model_copy(update={"width": 1000, "height": 600})  # the example in pixels needs room
    said = read_turn(f"Answer: 2\nBoxes: {FRAMES[frame].example}", "one", wide, FRAMES[frame])
    assert (said.answer, len(said.regions), said.flags) == (2, 2, {})


@settings(deadline=None, max_examples=150)
@given(st.text(alphabet=st.sampled_from(list("answer: isyno0123,.;[](){}<>|\"'\n\\boxed-%")), max_size=80))
def test_no_text_is_too_much(text: str) -> None:
    for kind in (COUNT, YES):
        found = read_answer(text, kind)
        assert found is None or isinstance(found, int if kind is COUNT else str)


UNITS = (
    "answer: ",
    "answer is ",
    "1",
    "1,",
    "1, 2; ",
    "[",
    "{<",
    ")",
    '"',
    '", ',
    "box ",
    "\\boxed{",
    "<answer>",
    "ship 1 ",
    "cannot draw ",
    "| 1 | ",
    "## answer\n",
    "1 2 ",
    "5 (",
    "5 (or ",
    "\\text{",
    '"count": ',
    ">",
    " ",
    "\n",
    "1.",
)


@pytest.mark.parametrize("unit", UNITS)
def test_time_grows_no_faster_than_the_text(unit: str) -> None:
    def seconds(size: int) -> float:
        text = unit * (size // len(unit))
        start = time.process_time()
        read_answer(text, YES)
        read_answer(text, COUNT)
        return time.process_time() - start

    small, large = (min(seconds(size) for _ in range(2)) for size in (20_000, 80_000))
    assert large < 10 * small + 0.1  # four times the text; a square would be sixteen


def test_replies_in_any_disguise_give_the_same_answer() -> None:
    chance = random.Random(0)
    for _ in range(200):
        count = chance.randrange(12)
        numbers = [[chance.randrange(1000) for _ in range(4)] for _ in range(count)]
        boxes: Any = chance.choice([str(numbers), "".join(f"<box>{n}</box>" for n in numbers) or "none"])
        form = chance.choice(
            ["Answer: {a}\nBoxes: {b}", "{a}\n\nBoxes: {b}", '{{"answer": {a}, "boxes": "{b}"}}', "{b}\nAnswer: {a}"]
        )
        text = form.format(a=count, b=boxes)
        assert read_answer(text, COUNT) == count, text
