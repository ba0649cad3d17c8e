"""What is asked: in the notation of the frame, and in two turns neither knows of the other."""

import pytest

from georefusal_task.benchmarks.grounding import Question, build_prompt
from georefusal_task.benchmarks.grounding_prompts import PROMPTS
from georefusal_task.core.frames import FRAMES, get_frame

QUESTION = Question(
    id="q-1",
    type="counting",
    classes=["ship"],
    question="How many ships with {braces} are there?",
    image="x.png",
    width=200,
    height=100,
    image_id="x",
)


@pytest.mark.parametrize("frame", FRAMES)
def test_boxes_are_asked_for_in_the_notation_of_the_frame(frame: str) -> None:
    for turn in ("one", "grounding"):
        text = build_prompt(QUESTION, FRAMES[frame], turn)
        assert FRAMES[frame].notation in text
        assert text.endswith(f"Question: {QUESTION.question}")
        assert "{notation}" not in text


def test_the_turns_ask_for_one_thing_each() -> None:
    frame = get_frame("qwen3_vl")
    answer, grounding = (build_prompt(QUESTION, frame, turn) for turn in ("answer", "grounding"))
    assert "box" not in answer.lower()
    assert frame.notation not in answer
    assert "Do not answer" in grounding


def test_a_digest_is_of_prompt_and_frame() -> None:
    digests = {(turn, name): PROMPTS[turn].sha256(frame) for turn in PROMPTS for name, frame in FRAMES.items()}
    boxes = [digest for (turn, _), digest in digests.items() if turn != "answer"]
    assert len(set(boxes)) == len(boxes)
    assert len({digest for (turn, _), digest in digests.items() if turn == "answer"}) == 1, "it shows no notation"
    limits = (get_frame(f"qwen2_5_vl,3136,{pixels}") for pixels in (10_000, 20_000))
    assert len({PROMPTS["one"].sha256(frame) for frame in limits}) == 1, "the limits are not told to the model"
