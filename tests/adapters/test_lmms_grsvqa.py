"""The hooks of the grounding tasks without the host: what it is given, what it logs, what it sums up."""

import json
import pickle
import random
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from support.grounding import make_set

from georefusal_task import grounding_data
from georefusal_task.adapters import lmms_grsvqa, lmms_grsvqa_models
from georefusal_task.benchmarks.grounding import METRICS, build_prompt, scalar
from georefusal_task.core.errors import ConfigError
from georefusal_task.core.frames import get_frame
from georefusal_task.grounding_replies import frame_of, score_replies
from georefusal_task.grounding_tasks import GROUNDING_TASKS
from georefusal_task.replies import ItemReplies

FRAME = "qwen3_vl"


@pytest.fixture(scope="module")
def questions(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_set(tmp_path_factory.mktemp("grsvqa") / "set", n=20)


@pytest.fixture
def documents(questions: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], list[lmms_grsvqa.Doc]]:
    monkeypatch.setenv("GRSVQA_DATA", str(questions))
    monkeypatch.setenv("GEOREFUSAL_FRAME", FRAME)
    return lambda task: list(getattr(lmms_grsvqa, f"{task}_docs")(None))


def aggregated(values: list[dict[str, Any]]) -> dict[str, float | None]:
    aggregate = {metric["metric"]: metric["aggregation"] for metric in lmms_grsvqa.METRIC_LIST}
    names = dict.fromkeys(name for value in values for name in value)
    return {name: aggregate[name]([value[name] for value in values if name in value]) for name in names}


def replies(model: lmms_grsvqa_models.GroundingBaseline, docs: list[lmms_grsvqa.Doc]) -> list[str]:
    model.task_dict = {"task": {"test": docs}}
    return model.generate_until([SimpleNamespace(args=("", {}, None, n, "task", "test")) for n in range(len(docs))])


def run(docs: list[lmms_grsvqa.Doc], texts: list[str]) -> list[dict[str, Any]]:
    return [lmms_grsvqa.process_results(doc, [text]) for doc, text in zip(docs, texts, strict=True)]


def test_simple_and_chat_backends_read_the_same_words(documents: Any) -> None:
    for task in GROUNDING_TASKS:
        for doc in documents(task)[:3] if task != "grsvqa_mini" else []:
            (turn,) = lmms_grsvqa.doc_to_messages(doc)
            texts = [part["text"] for part in turn["content"] if part["type"] == "text"]
            kinds = [part["type"] for part in turn["content"]]
            assert kinds == (["text"] if task == "grsvqa_noimage" else ["text", "image", "text"])
            assert "\n\n".join(texts) == lmms_grsvqa.doc_to_text(doc)
            question = lmms_grsvqa.request_of(doc).question
            assert lmms_grsvqa.doc_to_text(doc) == build_prompt(question, get_frame(FRAME), doc["turn"])


def test_no_gold_answer_and_no_box_gets_into_a_prompt(documents: Any) -> None:
    for doc in documents("grsvqa_two_turn"):
        bare = {**doc, "gold": json.dumps({"id": "x", "answer": "no", "instances": {}})}
        assert lmms_grsvqa.doc_to_text(bare) == lmms_grsvqa.doc_to_text(doc)


def test_the_frame_stands_in_document_target_log_and_metadata(documents: Any) -> None:
    for task in ("grsvqa", "grsvqa_two_turn"):
        doc = documents(task)[0]
        assert doc["frame"] == FRAME
        assert lmms_grsvqa.doc_to_target(doc).split() == [doc["id"], lmms_grsvqa.request_of(doc).gold.answer, FRAME]
        logged = json.loads(json.dumps(lmms_grsvqa.process_results(doc, ["Answer: yes"])))
        assert logged["accuracy"]["frame"] == FRAME
        assert {logged[name] for name in METRICS if name in logged and name != "accuracy"} == {""}
        about = getattr(lmms_grsvqa, f"{task}_metadata")
        assert about["frame"] == FRAME
        assert len(about["prompt_sha256"].split("+")) == len(GROUNDING_TASKS[task].turns)


def test_another_frame_is_another_digest(documents: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    # the host mixes metadata into the keys of its reply cache
    first = lmms_grsvqa.grsvqa_metadata
    monkeypatch.setenv("GEOREFUSAL_FRAME", "internvl")
    assert lmms_grsvqa.grsvqa_metadata["prompt_sha256"] != first["prompt_sha256"]
    assert lmms_grsvqa.grsvqa_metadata["data_digest"] == first["data_digest"]


def test_two_rows_of_a_question_are_joined_in_any_order_and_however_often(documents: Any) -> None:
    one, two = documents("grsvqa"), documents("grsvqa_two_turn")
    model = lmms_grsvqa_models.AlwaysYes()
    apart = run(two, replies(model, two))
    together = aggregated(run(one, replies(model, one)))
    assert 0 < (together["accuracy"] or 0) < 1
    assert {name: value for name, value in aggregated(apart).items() if name != "incomplete_rate"} == together
    again = pickle.loads(pickle.dumps(random.Random(1).sample(apart, len(apart)) + apart[:5]))  # as gathered from ranks
    assert aggregated(again) == aggregated(apart)


def test_an_incomplete_pair_is_counted_and_not_scored(documents: Any) -> None:
    docs = documents("grsvqa_two_turn")[:7]
    found = aggregated(run(docs, replies(lmms_grsvqa_models.WholeImage(), docs)))
    assert found["incomplete_rate"] == 0.25
    assert found["accuracy"] == 1.0
    alone = aggregated(run(docs[:1], ["yes"]))
    assert alone["incomplete_rate"] == 1.0
    assert alone["accuracy"] is None


def test_contradicting_replies_give_no_figure_instead_of_ending_a_run(documents: Any, caplog: Any) -> None:
    docs = documents("grsvqa_two_turn")[:1] * 2
    assert set(aggregated(run(docs, ["yes", "no"])).values()) == {None}
    assert docs[0]["id"].partition(".")[0] in caplog.text


@pytest.mark.parametrize("text", ["", "[[[[", "Answer: ", "\u0000", "Answer: 9e99999\nBoxes: [[1e999, nan, 2, 3]]"])
def test_no_reply_whatever_stops_a_run(documents: Any, text: str) -> None:
    docs = documents("grsvqa")
    found = aggregated(run(docs, [text] * len(docs)))
    assert found["invalid_rate"] == 1.0
    assert found["ES_overall"] == 0.0


@pytest.mark.parametrize("frame", ["unit", "qwen2_5_vl,3136,6000", "geochat", "rel999"])
def test_baselines_write_in_the_frame_that_they_are_asked_for(
    documents: Any, questions: Path, monkeypatch: pytest.MonkeyPatch, frame: str
) -> None:
    monkeypatch.setenv("GEOREFUSAL_FRAME", frame)
    docs = documents("grsvqa")
    whole = aggregated(run(docs, replies(lmms_grsvqa_models.WholeImage(), docs)))
    assert whole["covered_area_share"] == pytest.approx(1.0)
    assert whole["box_flag_rate"] == 0.0
    assert whole["ES_correct"] == 1.0
    empty = aggregated(run(docs, replies(lmms_grsvqa_models.EmptyBoxes(), docs)))
    assert empty["ES_overall"] == empty["ES_correct"] == 1.0
    assert empty["box_flag_rate"] == 0.0
    centred = aggregated(run(docs, replies(lmms_grsvqa_models.AlwaysYes(), docs)))
    assert centred["covered_area_share"] == pytest.approx(0.25)


def test_baselines_refuse_other_tasks_and_misspelt_arguments() -> None:
    with pytest.raises(ConfigError, match="grsvqa"):
        replies(lmms_grsvqa_models.AlwaysYes(), [{"prompt": "default"}])  # type: ignore[list-item]
    with pytest.raises(ConfigError, match="sede"):
        lmms_grsvqa_models.EmptyBoxes(sede=1)


def test_a_reply_file_is_scored_as_the_host_does(documents: Any, questions: Path) -> None:
    docs = documents("grsvqa")
    texts = replies(lmms_grsvqa_models.AlwaysYes(), docs)
    said = {doc["id"]: ItemReplies((text,)) for doc, text in zip(docs, texts, strict=True)}
    task, found = GROUNDING_TASKS["grsvqa"], grounding_data.load(questions)
    summary = score_replies(task, found, said, frame_of(said))
    host = aggregated(run(docs, texts))
    assert {name: scalar(summary, name) for name in host if name != "score"} == {
        name: value for name, value in host.items() if name != "score"
    }


def test_frames_that_contradict_each_other_are_refused() -> None:
    lines = {"a": ItemReplies(("",), frame="unit"), "b": ItemReplies(("",), frame="rel999")}
    with pytest.raises(ConfigError, match="rel999, unit"):
        frame_of(lines)
    with pytest.raises(ConfigError, match="unit, not internvl"):
        frame_of({"a": lines["a"]}, "internvl")
    assert frame_of({"a": lines["a"]}, "unit").label == "unit"
    assert frame_of({"a": ItemReplies(("",), model="Qwen/Qwen3-VL-8B")}).label == "qwen3_vl"
