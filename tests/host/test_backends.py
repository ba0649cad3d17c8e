"""The host's own backends on the mini set: tiny checkpoints on the CPU, and a local server for the API backends."""

import json
from pathlib import Path

import pytest
from support.host import run_host
from support.server import Answer, ChatServer, Request

from georefusal_demo.checkpoints import FAMILIES, make_checkpoint
from georefusal_task import data
from georefusal_task.benchmarks.prompts import get_prompt

pytestmark = [pytest.mark.host, pytest.mark.slow]

TASK = "georefusalbench_mini"
VERDICT = json.dumps({"verdict": "ANSWER", "answer": "yes", "justification": "seen"})


@pytest.fixture(scope="module")
def checkpoints(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("checkpoints")
    return {family: make_checkpoint(family, folder / family) for family in FAMILIES}


@pytest.mark.parametrize(
    ("family", "mode"),
    [("internvl", "chat"), ("qwen2_5_vl", "chat"), ("qwen2_5_vl", "simple"), ("qwen3_vl", "chat"), ("llava", "chat")],
)
def test_a_checkpoint_runs_in_the_hosts_own_backend(
    tmp_path: Path, checkpoints: dict[str, Path], family: str, mode: str
) -> None:
    recipe = FAMILIES[family]
    run = run_host(
        tmp_path / "run",
        *("--model", recipe.backend, "--model_args", recipe.model_args(checkpoints[family]), "--tasks", TASK),
        *("--limit", "3", "--batch_size", "1", "--log_samples", "--gen_kwargs", "max_new_tokens=12"),
        *(["--force_simple"] if mode == "simple" else []),
        env={"OMP_NUM_THREADS": "1"},
    )
    replies = [sample["filtered_resps"] for sample in run.samples(TASK)]
    assert len(replies) == 3
    assert all(reply not in ("", [""]) for reply in replies), "llava_hf turns its own errors into empty replies"
    metrics = run.metrics(TASK)
    assert metrics["unparsed_rate"] == 1.0, "noise must not be read as a verdict"
    assert metrics["accept_acc"] == 0.0


@pytest.mark.parametrize("backend", ["openai", "async_openai"])
def test_a_server_sees_the_files_own_bytes_and_its_failures_are_no_answers(tmp_path: Path, backend: str) -> None:
    prompt = get_prompt("default")
    items = data.load_mini().items
    asked = [prompt.ask(item.case) for item in items]
    refused, empty = set(asked[:2]), set(asked[-2:])

    def reply(request: Request) -> Answer:
        question = request.texts[-1]
        return 429 if question in refused else None if question in empty else VERDICT

    with ChatServer(reply) as server:
        model_args = f"model=scripted,base_url={server.base_url},max_retries=1,retry_backoff_s=0"
        run = run_host(
            tmp_path / "run",
            *("--model", backend, "--model_args", model_args, "--tasks", TASK),
            env={"OPENAI_API_KEY": "none", "NO_PROXY": "127.0.0.1"},
        )

    # a set, since the client asks again after a refusal
    seen = {(*request.texts, *request.images) for request in server.requests}
    assert seen == {
        (prompt.instruction, prompt.ask(item.case), ("image/png", item.case.image.read_bytes())) for item in items
    }
    for request in server.requests:
        assert request.kinds == ["text", "image_url", "text"], "servers share the cached start: instruction, image"
        assert [message["role"] for message in request.body["messages"]] == ["user"]
        assert request.params["temperature"] == 0
        assert not request.params.get("stop"), "the host's default stops at the first empty line"
        assert request.params["max_tokens"] == 1024

    metrics = run.metrics(TASK)
    n_refused, n_empty = (sum(question in some for question in asked) for some in (refused, empty))
    # for a null reply async_openai stores an error text where openai stores nothing
    n_failed = n_refused + (n_empty if backend == "async_openai" else 0)
    assert metrics["host_error_rate"] == n_failed / len(items)
    assert metrics["unparsed_rate"] == (n_refused + n_empty) / len(items)
    assert metrics["false_refusal_rate"] == 0.0
    answered = [item for item, question in zip(items, asked, strict=True) if question not in refused | empty]
    assert metrics["accept_acc"] == sum("ANSWER" in item.label.accept for item in answered) / len(items)
