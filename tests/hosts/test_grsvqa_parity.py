"""The grounding tasks in inspect_ai and lm-eval: what is shown, how scores look, and the same digits as lmms-eval's."""

import json
import random
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest
from inspect_ai.log import EvalLog
from support.grounding import make_set
from support.harnesses import InspectRun, LmEvalRun, run_inspect, run_lm_eval
from support.host import MODULE, HostRun, run_host
from support.server import Answer, ChatServer, Request
from typer.testing import CliRunner

from georefusal_task import grounding_data
from georefusal_task.adapters import inspect as adapter
from georefusal_task.adapters import inspect_grsvqa
from georefusal_task.adapters.lm_eval import IMAGE
from georefusal_task.benchmarks.grounding import METRICS, Gold, Question
from georefusal_task.benchmarks.grounding_prompts import PROMPTS
from georefusal_task.cli import app
from georefusal_task.core.errors import ConfigError
from georefusal_task.core.frames import get_frame
from georefusal_task.replies import json_lines
from georefusal_task.report.grounding_runs import load_grounding_runs

pytestmark = pytest.mark.host

FRAME, MINI, TWO = "internvl", "grsvqa_mini", "grsvqa_two_turn"
MINI_FOLDER = Path(grounding_data.__file__).parent / "assets" / "grsvqa_mini"


def boxes(question: Question, gold: Gold) -> list[list[float]]:
    right, lower = get_frame(FRAME).extents(question.width, question.height)
    sides = (right / question.width, lower / question.height)
    return [
        [round(x * sides[0], 3), round(y * sides[1], 3), round(x2 * sides[0], 3), round(y2 * sides[1], 3)]
        for instances in gold.instances.values()
        for (x, y), _, (x2, y2), *_ in (points for points in instances if len(points) > 3)
    ]


def hostile(draw: random.Random, question: Question, gold: Gold) -> str | None:
    """A reply of the kinds that readers and harnesses have been seen to trip over."""
    right = boxes(question, gold)
    drawn, answer = json.dumps(right), draw.choice((gold.answer, "yes", "no", "3"))
    plain = f"Answer: {answer}\nBoxes: {drawn}"
    return draw.choice(
        (
            None,
            "",
            plain,
            plain,
            f"<think>Answer: 7</think>{plain}",
            f"<think>{plain}",
            f"{plain}\nAnswer: no\nAnswer: yes",
            f"Answer: {answer}\nBoxes: {drawn[: len(drawn) // 2]}",
            f"Answer: {answer}\nBoxes: [[900, 900, 1200, 1300], [10, 10, 5, 5], {drawn[1:]}",
            json.dumps({"answer": answer, "boxes": [{"bbox_2d": box, "label": "x"} for box in right]}),
            f"The answer is {answer}. I see them at {', '.join(map(str, right * 2))}.",
            f"```json\n{json.dumps(right)}\n```\nAnswer: {answer}",
            "Answer: about 5\nBoxes: none",
            "[LMMS_EVAL_REQUEST_FAILED after 5 retries] timeout",
            f"{plain}\u2028\x85\x00",
            "\U0001f6f0\ufe0f " + plain,
        )
    )


Key = tuple[str, bytes]


def asked(request: Request) -> Key:
    return "\n\n".join(request.texts), b"".join(file for _, file in request.images)


def script(folder: Path) -> dict[Key, str | None]:
    """Everything asked, text and image -> reply."""
    draw, frame = random.Random(7), get_frame(FRAME)
    return {
        (prompt.text(question, frame), question.image.read_bytes()): hostile(draw, question, gold)
        for question, gold in grounding_data.load(folder).by_id.values()
        for prompt in PROMPTS.values()
    }


@dataclass
class Runs:
    """The mini set through both harnesses against the same server, in one turn and in two."""

    folder: Path

    def __post_init__(self) -> None:
        self.replies = script(MINI_FOLDER)

    def reply(self, request: Request) -> Answer:
        text, image = asked(request)
        return self.replies[text.replace(f"{IMAGE}\n\n", ""), image]

    @cached_property
    def lmms(self) -> HostRun:
        with ChatServer(self.reply) as server:
            return run_host(
                self.folder / "lmms",
                *("--model", "openai", "--model_args", f"model=scripted,base_url={server.base_url}"),
                *("--tasks", f"{MINI},{TWO}", "--log_samples"),
                program=MODULE,
                env={
                    "OPENAI_API_KEY": "none",
                    "NO_PROXY": "127.0.0.1",
                    "GRSVQA_DATA": str(MINI_FOLDER),
                    "GEOREFUSAL_FRAME": FRAME,
                },
            )

    @cached_property
    def inspect(self) -> dict[str, InspectRun]:
        with ChatServer(self.reply) as server:
            return {
                task: run_inspect(
                    self.folder / f"inspect_{task}",
                    server.base_url,
                    *("-T", f"frame={FRAME}"),
                    task=f"{inspect_grsvqa.__file__}@{task}",
                    GRSVQA_DATA=str(MINI_FOLDER),
                )
                for task in (MINI, TWO)
            }

    @cached_property
    def lm_eval(self) -> LmEvalRun:
        env = {"GRSVQA_DATA": str(MINI_FOLDER), "GEOREFUSAL_FRAME": FRAME}
        with ChatServer(self.reply) as server:
            return run_lm_eval(self.folder / "lm_eval", server.base_url, f"{MINI},{TWO}", **env)


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Runs:
    return Runs(tmp_path_factory.mktemp("parity"))


@pytest.mark.slow
@pytest.mark.parametrize("task", [MINI, TWO])
def test_every_reply_and_every_metric_is_what_lmms_eval_makes_of_it(runs: Runs, task: str) -> None:
    figures, host = dict(runs.inspect[task].metrics), runs.lmms.metrics(task)
    low, high = figures.pop("accuracy_low"), figures.pop("accuracy_high")
    assert low < figures["accuracy"] < high
    # inspect_ai has no place for a figure that is not defined
    known = {name: host.get(name) for name in METRICS if host.get(name) is not None}
    assert {name: figures[name] for name in known} == known
    assert 0 < figures["JS"] < figures["accuracy_E"] < 1
    assert figures["host_error_rate"] > 0
    assert figures["box_flag_rate"] > 0
    rows = {
        line["accuracy"]["id"] + line["accuracy"].get("turn", ""): line["accuracy"] for _, line in logged(runs, task)
    }
    for sample in runs.inspect[task].samples:
        outcome = sample["scores"]["answer_and_boxes"]["metadata"]["outcome"]
        row = rows[outcome["id"] + outcome.get("turn", "")]
        mine = {**outcome, **outcome.get("reply", {})}
        assert {name: mine[name] for name in row if name in mine} == {name: row[name] for name in row if name in mine}
        assert set(row) - set(mine) <= {"score"}


def logged(runs: Runs, task: str) -> Any:
    return json_lines(runs.lmms.sample_file(task))


@pytest.mark.slow
@pytest.mark.parametrize("task", [MINI, TWO])
def test_lm_eval_says_the_same_too(runs: Runs, task: str, tmp_path: Path) -> None:
    host, ours = runs.lmms.metrics(task), runs.lm_eval.metrics(task)
    assert ours["JS"] > 0
    assert {name: ours[name] for name in METRICS if name in host} == {n: host[n] for n in METRICS if n in host}
    log, out = runs.lm_eval.sample_file(task), tmp_path / "scores.json"
    said = CliRunner().invoke(app, ["score", str(log), "--data", str(MINI_FOLDER), "--json", str(out)])
    assert said.exit_code == 3, said.output
    scored = json.loads(out.read_text())["metrics"]
    assert {name: scored[name]["value"] for name in METRICS if name in host} == {
        n: ours[n] for n in METRICS if n in host
    }


@pytest.mark.slow
@pytest.mark.parametrize("task", [MINI, TWO])
def test_score_and_report_read_the_log(runs: Runs, task: str, tmp_path: Path) -> None:
    log, out = runs.inspect[task].log, tmp_path / "scores.json"
    data = ["--data", str(MINI_FOLDER)]
    said = CliRunner().invoke(app, ["score", str(log), *data, "--json", str(out)])
    assert said.exit_code == 3, said.output  # the replies hold more failed requests than 1 %
    scored = json.loads(out.read_text())
    figures = runs.inspect[task].metrics
    assert {name: metric["value"] for name, metric in scored["metrics"].items()} == {n: figures.get(n) for n in METRICS}
    assert scored["meta"]["frame"] == FRAME
    (run,) = load_grounding_runs([log], data=MINI_FOLDER)
    assert (run.task.name, run.meta.harness, run.frame.label) == (task, "inspect_ai", FRAME)
    assert run.summary.metrics["JS"].value == figures["JS"]
    assert not [text for text in run.warnings if "wording" in text or "data" in text]


@pytest.fixture(scope="module")
def questions(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_set(tmp_path_factory.mktemp("data") / "set", n=20)


def figures_of(log: EvalLog) -> dict[str, float]:
    assert log.results is not None
    (scores,) = log.results.scores
    return {name: metric.value for name, metric in scores.metrics.items()}


def test_the_grounding_turn_never_hears_an_answer_and_sees_the_same_image(run: Any, questions: Path) -> None:
    task = adapter.grsvqa_two_turn(data=str(questions), frame=FRAME, limit=5)
    log, requests = run(task, lambda request: "yes")
    found, frame = grounding_data.load(questions).questions[:5], get_frame(FRAME)
    expected = [
        (PROMPTS[turn].text(question, frame), question.image.read_bytes())
        for question in found
        for turn in ("answer", "grounding")
    ]
    assert sorted(map(asked, requests)) == sorted(expected)
    assert {tuple(request.kinds) for request in requests} == {("text", "image_url", "text")}
    assert figures_of(log)["incomplete_rate"] == 0.0
    assert log.samples is not None
    turns = {sample.id.rpartition(".")[2]: (sample.scores or {})["answer_and_boxes"] for sample in log.samples}
    assert (turns["grounding"].value, turns["grounding"].answer, turns["grounding"].reason) == ("N", None, None)
    assert turns["answer"].answer in ("yes", None)


def test_without_images_nothing_is_shown(run: Any, questions: Path) -> None:
    _, requests = run(adapter.grsvqa_noimage(data=str(questions), frame=FRAME, limit=3), lambda request: "Answer: no")
    assert [request.images for request in requests] == [[]] * 3


def test_a_failed_request_is_wrong_counted_and_no_fault_of_the_model(run: Any, questions: Path) -> None:
    bad = grounding_data.load(questions).questions[1]

    def fail_once(request: Request) -> Answer:
        return (
            400 if asked(request)[1] == bad.image.read_bytes() and bad.question in asked(request)[0] else "Answer: no"
        )

    log, requests = run(adapter.grsvqa(data=str(questions), frame=FRAME, limit=4), fail_once)
    failed = sum(fail_once(request) == 400 for request in requests)
    assert figures_of(log)["host_error_rate"] == failed / 4 > 0
    assert log.samples is not None
    scores = {sample.id: (sample.scores or {})["answer_and_boxes"] for sample in log.samples}
    assert (scores[bad.id].value, scores[bad.id].reason) == ("N", "host_error")


def test_of_several_epochs_the_first_counts(run: Any, questions: Path) -> None:
    seen: dict[Key, int] = {}

    def fickle(request: Request) -> str:
        seen[asked(request)] = seen.get(asked(request), 0) + 1
        return "Answer: no\nBoxes: none" if seen[asked(request)] == 1 else "Answer: perhaps"

    task = adapter.grsvqa(data=str(questions), frame=FRAME, limit=6)
    # one connection, or the epochs of a question could overtake each other at the server
    log, _ = run(task, fickle, epochs=2, max_connections=1, max_samples=1)
    golds = [gold.answer for gold in grounding_data.load(questions).golds[:6]]
    assert figures_of(log)["accuracy"] == golds.count("no") / 6 > 0
    (again,) = load_grounding_runs([Path(log.location.removeprefix("file://"))], data=questions)
    assert again.summary.metrics["accuracy"].value == figures_of(log)["accuracy"]


def test_a_frame_is_declared_or_settled_by_the_model_but_never_guessed(
    questions: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("GEOREFUSAL_FRAME", raising=False)
    monkeypatch.delenv("INSPECT_EVAL_MODEL", raising=False)
    with pytest.raises(ConfigError, match="coordinate frame"):
        adapter.grsvqa(data=str(questions))
    monkeypatch.setenv("INSPECT_EVAL_MODEL", "mockllm/InternVL3-8B")
    settled = adapter.grsvqa_mini(limit=3)
    assert settled.metadata is not None
    assert settled.metadata["frame"] == "internvl"
    assert (settled.name, len(settled.dataset)) == (MINI, 3)
    monkeypatch.setenv("GEOREFUSAL_FRAME", "unit")
    declared = adapter.grsvqa_mini()
    assert declared.metadata is not None
    assert declared.metadata["frame"] == "unit"
