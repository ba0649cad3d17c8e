"""`export`, any model, `score`: the same figures as the same model gets through the host, to the last digit."""

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from PIL.PngImagePlugin import PngInfo
from support.host import HostRun, run_host
from support.server import ChatServer, Request
from support.twin import POISON, make_twin
from typer.testing import CliRunner

from georefusal_task import data
from georefusal_task.cli import app
from georefusal_task.core.verdicts import VERDICTS

pytestmark = [pytest.mark.host, pytest.mark.slow]

VARIANTS = ("", "_shuffled", "_jpeg_q95", "_grey", "_noimage", "_mcq", "_conf", "_forced")
TASKS = [f"georefusalbench{variant}" for variant in VARIANTS]


def model(text: str, image: bytes | None) -> str:
    """A model whose reply hangs on every byte that it is shown; some replies need mending, some cannot be read."""
    digest = hashlib.sha256(text.encode() + (image or b"")).digest()
    verdict = VERDICTS[digest[0] % len(VERDICTS)]
    reply = json.dumps({"verdict": verdict, "answer": "yes" if digest[1] % 2 else "no", "justification": digest.hex()})
    forms = (
        reply,
        f"```json\n{reply}\n```",
        f"<think>or {VERDICTS[digest[2] % 6]}?</think>\n\n{reply}  ",
        f"<think>a <think> inside</think>\n{reply}",  # the host's own cutting of thoughts would show here
        reply.replace('"', "'"),
        f"My verdict is {verdict}",
        reply[: digest[3] % len(reply)],
        "ABCDEF"[digest[3] % 6],
        "Yes." if digest[3] % 2 else "no",
        "I cannot say\u2028 really",
        "",
    )
    return forms[digest[4] % len(forms)]


@dataclass(frozen=True)
class Served:
    """One run of all tasks through the host and a server with that model."""

    run: HostRun
    requests: list[Request]


@pytest.fixture(scope="module")
def twin(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A set with poisoned provenance, in a file of its own and in the text of a PNG."""
    folder = make_twin(tmp_path_factory.mktemp("data") / "twin", n=90, spelling="other", accept="bar")
    notes = PngInfo()
    notes.add_text("Comment", POISON)
    file = min((folder / "images").rglob("*.png"))
    Image.open(file).save(file, pnginfo=notes)
    return folder


@pytest.fixture(scope="module")
def served(twin: Path, tmp_path_factory: pytest.TempPathFactory) -> Served:
    def reply(request: Request) -> str:
        (image,) = [file for _, file in request.images] or [None]
        return model("\n\n".join(request.texts), image)

    with ChatServer(reply) as server:
        run = run_host(
            tmp_path_factory.mktemp("host") / "run",
            *("--model", "openai", "--model_args", f"model=scripted,base_url={server.base_url}"),
            *("--tasks", ",".join(TASKS), "--log_samples"),
            env={"OPENAI_API_KEY": "none", "NO_PROXY": "127.0.0.1", "GEOREFUSAL_DATA": str(twin)},
        )
        return Served(run, server.requests)


def test_no_provenance_and_no_label_gets_into_a_request(served: Served, twin: Path) -> None:
    labels = [item.label for item in data.load(twin).items]
    secrets = {POISON, *(label.lever for label in labels if label.lever), *(label.id for label in labels)}
    assert len(served.requests) == len(TASKS) * len(labels)
    for request in served.requests:
        words = json.dumps(request.params) + "".join(request.texts)
        assert not {secret for secret in secrets if secret in words}
        assert not any(POISON.encode() in file for _, file in request.images)
    assert not [path for path in served.run.files if POISON in path.read_text(encoding="utf-8")]


@pytest.mark.parametrize("task", TASKS)
def test_a_model_scores_the_same_with_and_without_a_harness(
    served: Served, twin: Path, tmp_path: Path, task: str
) -> None:
    options = ["--task", task, "--data", str(twin)]
    folder = tmp_path / "export"
    exported = CliRunner().invoke(app, ["export", str(folder), *options])
    assert exported.exit_code == 0, exported.output
    replies = [
        {
            "id": item["id"],
            "text": model(item["prompt"], (folder / item["image"]).read_bytes() if item["image"] else None),
        }
        for item in map(json.loads, (folder / "prompts.jsonl").read_text().splitlines())
    ]
    (folder / "replies.jsonl").write_text("".join(json.dumps(reply) + "\n" for reply in replies))

    own = scores(folder / "replies.jsonl", options, tmp_path / "own.json")
    logged = scores(served.run.sample_file(task), options, tmp_path / "logged.json")
    assert (own["metrics"], own["by"], own["tests"]) == (logged["metrics"], logged["by"], logged["tests"])
    figures = served.run.metrics(task)
    assert {name: figures[name] for name in own["metrics"]} == {
        name: metric["value"] for name, metric in own["metrics"].items()
    }
    assert 0 < own["metrics"]["unparsed_rate"]["value"] < 1, "the model should be neither perfect nor mute"


def scores(replies: Path, options: list[str], out: Path) -> Any:
    """What `georefusal score --json` writes for a file of replies."""
    done = CliRunner().invoke(app, ["score", str(replies), *options, "--json", str(out)])
    assert done.exit_code == 0, done.output
    return json.loads(out.read_text())
