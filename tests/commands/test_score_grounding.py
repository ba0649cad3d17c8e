"""`score` and `export` for the grounding tasks: without a frame they refuse, and the table says what was read."""

import json
from pathlib import Path

import pytest
from support.grounding import make_set
from typer.testing import CliRunner, Result

from georefusal_task import grounding_data
from georefusal_task.benchmarks.grounding import METRICS
from georefusal_task.cli import app


@pytest.fixture(scope="module")
def questions(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_set(tmp_path_factory.mktemp("grsvqa") / "set", n=20)


@pytest.fixture(autouse=True)
def undeclared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GEOREFUSAL_FRAME", raising=False)


def call(*arguments: object) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def replies(path: Path, questions: Path, turn: str = "", **more: str) -> Path:
    golds = grounding_data.load(questions).golds
    text = "Answer: {}\nBoxes: [[0, 0, 1, 1], [0.5, 0, 2, 1]]"
    rows = [{"id": gold.id + turn, "text": text.format(gold.answer), **more} for gold in golds]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def test_the_table_and_the_json_say_what_was_read_in_which_frame(tmp_path: Path, questions: Path) -> None:
    file, out = replies(tmp_path / "replies.jsonl", questions), tmp_path / "figures.json"
    done = call("score", file, "--task", "grsvqa", "--data", questions, "--frame", "unit", "--json", out)
    assert done.exit_code == 0, done.output
    assert "coordinate frame unit" in done.output
    assert "all 20 items" in done.output
    assert "clipped" in done.output
    figures = json.loads(out.read_text())
    assert list(figures["metrics"]) == list(METRICS)
    assert figures["metrics"]["accuracy"]["value"] == 1.0
    assert "clusters" in figures["metrics"]["accuracy"]["method"]
    assert figures["box_flags"] == {"clipped": 20}
    assert figures["frames"] == ["unit"]
    assert figures["meta"]["frame"] == "unit"
    assert set(figures["by"]) == {"type", "family"}
    assert set(figures["by"]["type"]) == {"existence", "counting", "more", "fewer", "equal"}


def test_boxes_mean_nothing_until_a_frame_is_named(tmp_path: Path, questions: Path) -> None:
    options = ["--task", "grsvqa", "--data", questions]
    silent = call("score", replies(tmp_path / "silent.jsonl", questions), *options)
    assert silent.exit_code == 1
    assert "qwen2_5_vl" in silent.stderr
    assert "--frame" in silent.stderr
    assert call("score", replies(tmp_path / "frame.jsonl", questions, frame="unit"), *options).exit_code == 0
    assert call("score", replies(tmp_path / "model.jsonl", questions, model="Qwen3-VL-8B"), *options).exit_code == 0
    other = call("score", tmp_path / "frame.jsonl", *options, "--frame", "rel999")
    assert other.exit_code == 1
    assert "unit" in other.stderr
    unknown = call("score", tmp_path / "silent.jsonl", *options, "--frame", "pixels")
    assert "'pixels'" in unknown.stderr
    refused = call("export", tmp_path / "out", *options)
    assert refused.exit_code == 1
    assert "GEOREFUSAL_FRAME" in refused.stderr


def test_half_a_run_is_counted(tmp_path: Path, questions: Path) -> None:
    file = replies(tmp_path / "half.jsonl", questions, turn=".answer", frame="unit")
    done = call("score", file, "--task", "grsvqa_two_turn", "--data", questions)
    assert done.exit_code == 0, done.output
    assert "0 of 20 items, a partial run" in done.output
    assert "1.000" in next(line for line in done.output.splitlines() if "incomplete_rate" in line)


def test_options_of_the_other_benchmark_are_refused(tmp_path: Path, questions: Path) -> None:
    file = replies(tmp_path / "replies.jsonl", questions, frame="unit")
    clustered = call("score", file, "--task", "grsvqa", "--data", questions, "--clusters", file)
    assert clustered.exit_code == 1
    assert "--clusters" in clustered.stderr
    framed = call("score", file, "--task", "georefusalbench_mini", "--frame", "unit")
    assert framed.exit_code == 1
    assert "--frame" in framed.stderr


def test_failed_requests_are_wrong_and_end_with_3(tmp_path: Path, questions: Path) -> None:
    file = replies(tmp_path / "replies.jsonl", questions, frame="unit")
    rows = [json.loads(line) for line in file.read_text().splitlines()]
    rows[3]["text"] = "[LMMS_EVAL_REQUEST_FAILED after 5 retries] 429"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    done = call("score", file, "--task", "grsvqa", "--data", questions)
    assert done.exit_code == 3
    assert "1 of 20 requests failed" in done.stderr


def test_an_export_shows_an_image_once_and_names_the_frame_in_every_line(tmp_path: Path, questions: Path) -> None:
    out = tmp_path / "out"
    done = call("export", out, "--task", "grsvqa_two_turn", "--data", questions, "--frame", "internvl")
    assert done.exit_code == 0, done.output
    lines = [json.loads(line) for line in (out / "prompts.jsonl").read_text().splitlines()]
    assert len(lines) == 40
    assert {line["frame"] for line in lines} == {"internvl"}
    assert len(list((out / "images").iterdir())) == 20
    first = grounding_data.load(questions).questions[0]
    assert (out / lines[0]["image"]).read_bytes() == first.image.read_bytes()
    assert [line["id"] for line in lines[:2]] == [f"{first.id}.answer", f"{first.id}.grounding"]
    about = json.loads((out / "export.json").read_text())
    assert (about["task"], about["frame"], about["items"]) == ("grsvqa_two_turn", "internvl", 20)
    gold = json.dumps([gold.model_dump(mode="json")["instances"] for gold in grounding_data.load(questions).golds])
    assert gold not in (out / "prompts.jsonl").read_text()
    blind = tmp_path / "blind"
    assert call("export", blind, "--task", "grsvqa_noimage", "--data", questions, "--frame", "unit").exit_code == 0
    assert {json.loads(line)["image"] for line in (blind / "prompts.jsonl").read_text().splitlines()} == {None}


def test_a_set_of_questions_without_a_task_is_told_which_task_it_is_for(tmp_path: Path, questions: Path) -> None:
    done = call("score", replies(tmp_path / "replies.jsonl", questions), "--data", questions)
    assert done.exit_code == 1
    assert "--task grsvqa" in done.stderr
