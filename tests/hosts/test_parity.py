"""The same replies through three harnesses: the same verdict for every item, the same figures to the last digit."""

import json
import random
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest
from support.harnesses import InspectRun, LmEvalRun, rows_of, run_inspect, run_lm_eval
from support.host import MODULE, HostRun, run_host
from support.server import ChatServer, Request
from support.twin import make_twin, twin_rows
from typer.testing import CliRunner

from georefusal_task import data
from georefusal_task.benchmarks.prompts import get_prompt
from georefusal_task.cli import app
from georefusal_task.core.records import Reason, Status
from georefusal_task.core.verdicts import VERDICTS

pytestmark = [pytest.mark.host, pytest.mark.slow]

N = 240
TASK = "georefusalbench"
GOLDEN = Path(__file__).parents[1] / "data" / "replies.jsonl"
ROW = ("id", "gold", "accept", "verdict", "status", "reason", "answer", "flags", "confidence")


def hostile(draw: random.Random) -> str | None:
    """A reply of the kinds that harnesses have been seen to trip over."""
    verdict, other = draw.sample(VERDICTS, 2)
    reply = json.dumps({"verdict": verdict, "answer": draw.choice(("yes", "no", "")), "justification": "because"})
    decoy = json.dumps({"verdict": other, "answer": "", "justification": "first thought"})
    return draw.choice(
        (
            None,
            "",
            " \n\t ",
            reply,
            f"\n\n  {reply}\r\n\r\n",
            f"<think>{decoy}</think>{reply}",
            f"<think>{decoy}",
            f"{decoy}</think>{reply}",
            f"<think>a<think>b</think>{decoy}</think>\n{reply}",
            f"<THINKING>{decoy}</THINKING>\n{reply}",
            f"<analysis>{decoy}</analysis>{reply}",
            f"<analysis>{decoy}",
            f"{decoy}\n\n{reply}",
            f"```json\n{reply}\n```",
            f"```\n{reply}",
            reply.replace('"', "'"),
            reply[: draw.randrange(len(reply))],
            f"Question: {reply}\n\nUser: {decoy}",
            f"My verdict is {verdict}.",
            f"**Verdict:** {verdict}",
            f"[LMMS_EVAL_REQUEST_FAILED after 5 retries] {reply}",
            f"{reply}\u2028{decoy}\x85\x0b\x00",
            f"\ufeff\u200b{reply}",
            f"{'x' * 40_000}{reply}",
            f"<|im_end|>{reply}<|endoftext|></s>",
            "\U0001f6f0\ufe0f " + reply,
            verdict,
            "Failed to obtain answer via API.",
        )
    )


def script() -> dict[str, str | None]:
    """Question -> reply, the golden hostile replies first; two items of the twin share a question, and so a reply."""
    golden = [json.loads(line)["text"] for line in GOLDEN.read_text(encoding="utf-8").splitlines()]
    draw = random.Random(7)
    questions = {row["question"]: None for row in twin_rows(N)[0]}
    replies = [*golden, *(hostile(draw) for _ in range(len(questions) - len(golden)))]
    return dict(zip(questions, replies, strict=True))


@dataclass
class Runs:
    """One run of each harness on the same data against the same server, and what arrived there."""

    folder: Path

    def __post_init__(self) -> None:
        self.replies = script()
        self.data = make_twin(self.folder / "twin", n=N)
        self.sent: dict[str, list[Request]] = {}

    def _asked(self, name: str, run: Callable[[str], Any]) -> Any:
        with ChatServer(lambda request: self.replies[question_of(request)]) as server:
            found = run(server.base_url)
            self.sent[name] = server.requests
        return found

    @cached_property
    def lmms(self) -> HostRun:
        args = "model=scripted,base_url="
        return self._asked(
            "lmms-eval",
            lambda url: run_host(
                self.folder / "lmms",
                *("--model", "openai", "--model_args", f"{args}{url}", "--tasks", TASK, "--log_samples"),
                program=MODULE,
                env={"OPENAI_API_KEY": "none", "NO_PROXY": "127.0.0.1", "GEOREFUSAL_DATA": str(self.data)},
            ),
        )

    @cached_property
    def inspect(self) -> InspectRun:
        folder = self.folder / "inspect"
        return self._asked("inspect_ai", lambda url: run_inspect(folder, url, GEOREFUSAL_DATA=str(self.data)))

    @cached_property
    def lm_eval(self) -> LmEvalRun:
        folder = self.folder / "lm_eval"
        return self._asked("lm-eval", lambda url: run_lm_eval(folder, url, TASK, GEOREFUSAL_DATA=str(self.data)))

    @cached_property
    def rows(self) -> dict[str, dict[str, dict[str, Any]]]:
        """Harness -> item id -> the scored row as it stands in the harness's log."""
        lmms = rows_of(self.lmms.sample_file(TASK))
        return {"lmms-eval": lmms, "inspect_ai": self.inspect.rows, "lm-eval": self.lm_eval.rows(TASK)}

    @cached_property
    def figures(self) -> dict[str, dict[str, float | None]]:
        """Harness -> metric -> value as the harness wrote it."""
        return {
            "lmms-eval": self.lmms.metrics(TASK),
            "inspect_ai": dict(self.inspect.metrics),
            "lm-eval": self.lm_eval.metrics(TASK),
        }

    def log(self, harness: str) -> Path:
        logs = {"lmms-eval": self.lmms.sample_file, "lm-eval": self.lm_eval.sample_file}
        return self.inspect.log if harness == "inspect_ai" else logs[harness](TASK)


def question_of(request: Request) -> str:
    return request.texts[-1].rpartition("Question: ")[2]


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Runs:
    return Runs(tmp_path_factory.mktemp("parity"))


def test_every_item_gets_the_same_verdict_for_the_same_reason(runs: Runs) -> None:
    assert {name: len(rows) for name, rows in runs.rows.items()} == dict.fromkeys(runs.rows, N)
    lmms, inspect, lm_eval = ({i: {key: row[key] for key in ROW} for i, row in r.items()} for r in runs.rows.values())
    assert inspect == lmms
    assert lm_eval == lmms


def test_the_replies_try_every_way_of_reading(runs: Runs) -> None:
    rows = runs.rows["lmms-eval"].values()
    assert len(runs.replies) >= 200
    assert {row["status"] for row in rows} == set(Status)
    assert {row["reason"] for row in rows} >= set(Reason) - {Reason.TOO_LONG, Reason.TOO_DEEP}
    assert {row["verdict"] for row in rows} == {*VERDICTS, None}


def test_every_metric_is_equal_to_the_last_digit(runs: Runs) -> None:
    lmms, inspect, lm_eval = runs.figures.values()
    ours = {name: value for name, value in lm_eval.items() if not name.startswith("repeat_")}
    assert {name: lmms[name] for name in ours} == ours
    low, high = inspect.pop("accept_acc_low"), inspect.pop("accept_acc_high")
    assert low < inspect["accept_acc"] < high
    # inspect_ai has no place for a figure that is not defined, and no second name for the headline
    assert inspect == {name: value for name, value in ours.items() if value is not None and name != "score"}


@pytest.mark.parametrize("harness", ["lmms-eval", "inspect_ai", "lm-eval"])
def test_scoring_the_log_again_gives_what_the_harness_said(runs: Runs, harness: str, tmp_path: Path) -> None:
    figures, out = runs.figures[harness], tmp_path / "scores.json"
    said = CliRunner().invoke(app, ["score", str(runs.log(harness)), "--data", str(runs.data), "--json", str(out)])
    assert said.exit_code == 3, said.output  # the replies hold more failed requests than 1 %
    metrics = json.loads(out.read_text())["metrics"]
    assert {name: metric["value"] for name, metric in metrics.items()} == {name: figures.get(name) for name in metrics}


def images_of(requests: list[Request]) -> set[bytes]:
    return {file for request in requests for _, file in request.images}


@pytest.mark.parametrize("harness", ["lmms-eval", "inspect_ai", "lm-eval"])
def test_the_bytes_of_the_image_files_arrive(runs: Runs, harness: str) -> None:
    assert runs.rows[harness]
    files = {item.case.image.read_bytes() for item in data.load(runs.data).items}
    assert images_of(runs.sent[harness]) == files
    assert len(runs.sent[harness]) == N


PAGE = Path(__file__).parents[2] / "docs" / "hosts.md"
HARNESSES = ("lmms-eval", "inspect_ai", "lm-eval")


def measured(runs: Runs, harness: str) -> dict[str, str]:
    """What arrived at the server from a harness: feature -> how a table says it; each is the same in all requests."""
    assert runs.rows[harness]
    items = {item.case.question: item for item in data.load(runs.data).items}
    seen: dict[str, set[str]] = {}
    for request in runs.sent[harness]:
        case = items[question_of(request)].case
        ((media_type, file),) = request.images
        (image,) = (part["image_url"] for part in request.parts if part["type"] == "image_url")
        asked = get_prompt("default").text(case)
        for feature, value in {
            "messages": ", ".join(message["role"] for message in request.body["messages"]),
            "parts": ", ".join(kind.removesuffix("_url") for kind in request.kinds),
            "image": f"bytes of the file, {media_type}" if file == case.image.read_bytes() else "re-encoded",
            "detail of the image": image.get("detail", "not sent"),
            "words": "the prompt" if "\n\n".join(request.texts) == asked else "the prompt with a mark `<image>` in it",
            **{name: json.dumps(request.params.get(name, "not sent")) for name in PARAMETERS},
            "other parameters": ", ".join(sorted(set(request.params) - {"model", *PARAMETERS})) or "none",
        }.items():
            seen.setdefault(feature, set()).add(value.replace('"not sent"', "not sent"))
    assert {feature: len(values) for feature, values in seen.items()} == dict.fromkeys(seen, 1)
    return {feature: values.pop() for feature, values in seen.items()}


PARAMETERS = ("max_tokens", "temperature", "stop", "seed")


def test_the_docs_say_what_each_harness_sends(runs: Runs) -> None:
    columns = [measured(runs, harness) for harness in HARNESSES]
    lines = [f"| sent | {' | '.join(HARNESSES)} |", "|---|---|---|---|"]
    lines += [f"| {feature} | {' | '.join(column[feature] for column in columns)} |" for feature in columns[0]]
    assert "\n".join(lines) in PAGE.read_text(encoding="utf-8")
