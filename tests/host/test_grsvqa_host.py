"""The grounding tasks inside the real lmms-eval: baselines, a server, a tiny checkpoint; judged by what it writes."""

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from support.grounding import make_set
from support.host import HostRun, run_host
from support.server import ChatServer, Request
from typer.testing import CliRunner

from georefusal_demo.checkpoints import FAMILIES, make_checkpoint
from georefusal_task import grounding_data
from georefusal_task.benchmarks.grounding import METRICS, Gold, Question, build_prompt
from georefusal_task.cli import app
from georefusal_task.core.frames import get_frame

pytestmark = [pytest.mark.host, pytest.mark.slow]

MINI, TWO = "grsvqa_mini", "grsvqa_two_turn"
ALL = ("grsvqa", "grsvqa_two_turn", "grsvqa_noimage")
FRAME = "qwen2_5_vl,3136,6000"  # smaller than the images, and no side of theirs is a multiple of 28
Served = tuple[HostRun, list[Request]]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("grsvqa")


@pytest.fixture(scope="module")
def questions(folder: Path) -> Path:
    return make_set(folder / "set", n=30)


def baseline(folder: Path, name: str) -> dict[str, Any]:
    """The figures of one baseline on the mini set, with nothing declared."""
    run = run_host(folder / name, "--model", f"grsvqa_{name}", "--tasks", MINI, "--log_samples")
    found = run.metrics(MINI)
    assert {figure for figure in found if "_stderr" not in figure} == {*METRICS, "score", "alias"} - {"incomplete_rate"}
    assert run.n(MINI) == len(grounding_data.load_mini().questions) >= 60
    assert run.results["configs"][MINI]["metadata"]["frame"] == "unit"
    assert {sample["accuracy"]["frame"] for sample in run.samples(MINI)} == {"unit"}
    assert again(run, MINI) == {name: found[name] for name in again(run, MINI)}
    return found


def again(run: HostRun, task: str, *options: str) -> dict[str, Any]:
    """What `georefusal score` makes of a run's log."""
    out = run.folder / "again.json"
    done = CliRunner().invoke(app, ["score", str(run.sample_file(task)), "--task", task, "--json", str(out), *options])
    assert done.exit_code == 0, done.output
    figures = {name: figure["value"] for name, figure in json.loads(out.read_text())["metrics"].items()}
    return figures if task == TWO else {name: value for name, value in figures.items() if name != "incomplete_rate"}


def test_empty_boxes_game_the_support(folder: Path) -> None:
    found = baseline(folder, "empty_boxes")
    assert found["ES_overall"] == found["ES_correct"] == 1.0
    assert found["JS"] == found["accuracy_E"] < 1
    assert found["ES_tight"] == found["covered_area_share"] == 0.0


def test_a_whole_image_box_games_the_joint_score(folder: Path) -> None:
    found = baseline(folder, "whole_image")
    assert found["accuracy"] == found["ES_correct"] == 1.0
    assert found["JS"] == found["accuracy_E"]
    assert found["covered_area_share"] == pytest.approx(1.0)


def test_always_yes_is_right_as_often_as_yes_and_one_are(folder: Path) -> None:
    found = baseline(folder, "always_yes")
    golds = grounding_data.load_mini().golds
    assert found["accuracy"] == sum(gold.answer in ("yes", "1") for gold in golds) / len(golds)
    assert found["covered_area_share"] == pytest.approx(0.25)
    assert found["JS"] == pytest.approx(found["ES_correct"] * found["accuracy_E"])


def test_a_model_whose_frame_is_not_known_is_refused_with_the_list(folder: Path) -> None:
    run = run_host(folder / "unknown", "--model", "georefusal_constant", "--tasks", MINI)
    assert "coordinate frame" in run.output
    assert all(name in run.output for name in ("geochat", "qwen2_5_vl", "unit", "rel999"))
    assert "Traceback" not in run.output
    assert run.status != 0
    assert not [file for file in run.files if file.name.endswith("_results.json")]


def model(question: Question, gold: Gold, turn: str) -> str:
    """A model whose answers and boxes hang on the question, some right, some not to be read."""
    digest = hashlib.sha256(question.id.encode()).digest()
    right, lower = get_frame(FRAME).extents(question.width, question.height)
    boxes = [
        {"bbox_2d": [x1 * right / question.width, y1 * lower / question.height,
                     x2 * right / question.width, y2 * lower / question.height], "label": "ship"}
        for instances in gold.instances.values() for (x1, y1), _, (x2, y2), _ in instances
    ][: digest[0] % 5]  # fmt: skip
    answer = (gold.answer, gold.answer, "no", "2", "perhaps")[digest[1] % 5]
    parts = {"answer": answer, "grounding": json.dumps(boxes), "one": f"Answer: {answer}\nBoxes: {json.dumps(boxes)}"}
    return parts[turn]


def said_to(questions: Path) -> dict[str, str]:
    """Prompt -> reply, for everything that the tasks ask."""
    found, frame = grounding_data.load(questions), get_frame(FRAME)
    return {
        f"{build_prompt(question, frame, turn)} {question.image_id}": model(question, gold, turn)
        for question, gold in found.by_id.values()
        for turn in ("one", "answer", "grounding")
    }


@pytest.fixture(scope="module")
def served(folder: Path, questions: Path) -> Served:
    """All tasks through a server that speaks the protocol of OpenAI."""
    found = grounding_data.load(questions)
    images = {question.image.read_bytes(): question.image_id for question in found.questions}
    replies = said_to(questions)

    def reply(request: Request) -> str:
        seen = [images[data] for _, data in request.images]
        # without an image the scene is not known, so any will do
        return replies.get(f"{chr(10).join([*request.texts[:1], '', *request.texts[1:]])} {''.join(seen)}", "perhaps")

    with ChatServer(reply) as server:
        run = run_host(
            folder / "served",
            *("--model", "openai", "--model_args", f"model=scripted,base_url={server.base_url}"),
            *("--tasks", ",".join(ALL), "--log_samples"),
            env={
                "OPENAI_API_KEY": "none",
                "NO_PROXY": "127.0.0.1",
                "GRSVQA_DATA": str(questions),
                "GEOREFUSAL_FRAME": FRAME,
            },
        )
        return run, server.requests


def test_two_turns_are_asked_apart_and_joined(served: Served, questions: Path) -> None:
    run, requests = served
    n = len(grounding_data.load(questions).questions)
    assert len(requests) == 4 * n  # one for each question in two tasks, two in the third
    one, two = run.metrics("grsvqa"), run.metrics(TWO)
    assert two["incomplete_rate"] == 0.0
    names = [name for name in METRICS if name != "incomplete_rate"]
    assert {name: one[name] for name in names} == {name: two[name] for name in names}, "the same words, asked apart"
    assert 0 < one["JS"] < one["accuracy_E"] < 1
    assert 0 < one["localisation_recall"] < 1
    assert one["localisation_precision"] == 1.0, "boxes in pixels of the resized image come back to where they were"


def test_the_grounding_turn_never_hears_an_answer(served: Served) -> None:
    _, requests = served
    for request in requests:
        assert [message["role"] for message in request.body["messages"]] == ["user"]
        assert not {"unit", "q-0000"} & set(" ".join(request.texts).split())


def test_without_images_nothing_is_shown(served: Served) -> None:
    _, requests = served
    assert sum(not request.images for request in requests) == len(requests) // 4


def test_score_and_export_equal_the_host(served: Served, questions: Path, tmp_path: Path) -> None:
    run, _ = served
    found = grounding_data.load(questions).by_id
    for task in ("grsvqa", TWO):
        host = run.metrics(task)
        logged = again(run, task, "--data", str(questions))
        assert logged == {name: host[name] for name in logged}
        out = tmp_path / task
        options = ["--task", task, "--data", str(questions)]
        done = CliRunner().invoke(app, ["export", str(out), *options, "--frame", FRAME])
        assert done.exit_code == 0, done.output
        lines = [json.loads(line) for line in (out / "prompts.jsonl").read_text().splitlines()]
        with (out / "replies.jsonl").open("w") as replies:
            for line in lines:
                item, _, turn = line["id"].partition(".")
                text = model(*found[item], turn or "one")
                replies.write(json.dumps({"id": line["id"], "frame": line["frame"], "text": text}) + "\n")
        done = CliRunner().invoke(app, ["score", str(out / "replies.jsonl"), *options, "--json", str(out / "own.json")])
        assert done.exit_code == 0, done.output
        own = json.loads((out / "own.json").read_text())
        assert {name: own["metrics"][name]["value"] for name in logged} == logged
        assert own["meta"]["frame"] == FRAME


def test_half_of_a_pair_is_counted_and_not_scored(folder: Path, questions: Path) -> None:
    run = run_host(
        folder / "limited",
        *("--model", "grsvqa_whole_image", "--tasks", TWO, "--limit", "7", "--log_samples"),
        env={"GRSVQA_DATA": str(questions)},
    )
    found = run.metrics(TWO)
    assert found["incomplete_rate"] == 0.25  # three pairs and one half
    assert found["accuracy"] == 1.0


@pytest.mark.parametrize("family", ["qwen2_5_vl", "internvl"])
def test_a_tiny_checkpoint_gets_its_frame_from_the_command_line(folder: Path, family: str) -> None:
    recipe = FAMILIES[family]
    checkpoint = make_checkpoint(family, folder / "models" / family)
    run = run_host(
        folder / family,
        *("--model", recipe.backend, "--model_args", recipe.model_args(checkpoint), "--tasks", MINI, "--log_samples"),
        *("--limit", "3", "--batch_size", "1", "--gen_kwargs", "max_new_tokens=12"),
    )
    frames = {sample["accuracy"]["frame"] for sample in run.samples(MINI)}
    assert frames == {run.results["configs"][MINI]["metadata"]["frame"]}
    assert frames.pop().startswith(family)
    figures = run.metrics(MINI)
    assert figures["invalid_rate"] > 0.5, "noise is no answer, though it may begin with one"
    assert figures["host_error_rate"] == figures["localisation_recall"] == 0.0
    assert again(run, MINI) == {name: figures[name] for name in again(run, MINI)}
