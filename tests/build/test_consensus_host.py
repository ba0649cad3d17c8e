"""Verifiers inside the real host: two small checkpoints, and what a server is really sent, down to the consensus."""

import json
import shutil
from pathlib import Path

import pytest
from support.host import run_host
from support.server import ChatServer, Request
from typer.testing import CliRunner

import georefusal_task
from georefusal_build.commands import APP
from georefusal_build.consensus.checks import CHECKS, INSTRUCTION
from georefusal_build.consensus.tasks import IMAGE, INFORMED
from georefusal_build.layout import read_set, write_set
from georefusal_demo.checkpoints import FAMILIES, make_checkpoint
from georefusal_task.benchmarks.prompts import get_prompt

pytestmark = [pytest.mark.host, pytest.mark.slow]

MINI = Path(georefusal_task.__file__).parent / "assets" / "mini"


def command(*arguments: object) -> str:
    done = CliRunner().invoke(APP, [*map(str, arguments)])
    assert done.exit_code == 0, done.output
    return done.output


@pytest.fixture(scope="module")
def candidates(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("candidates") / "set"
    one_each = {one.case.question: one for one in read_set(MINI)}  # the server tells items apart by their question
    write_set(folder, [*one_each.values()][:5])
    return folder


def test_a_server_verifies_both_ways(tmp_path: Path, candidates: Path) -> None:
    """The image pass sees the benchmark's own prompt and no provenance; the informed pass sees all of it."""
    command("verify-task", "--data", candidates, "-o", tmp_path / "tasks")
    items = {get_prompt("default").ask(one.case): one for one in read_set(candidates)}

    def reply(request: Request) -> str:
        if request.texts[0] == INSTRUCTION:
            return json.dumps(dict.fromkeys(CHECKS, True))
        label = items[request.texts[-1]].label
        return json.dumps({"verdict": label.gold, "answer": label.answer or "", "justification": "seen"})

    with ChatServer(reply) as server:
        run = run_host(
            tmp_path / "run",
            *("--model", "openai", "--model_args", f"model=scripted,base_url={server.base_url},max_retries=1"),
            *("--include_path", str(tmp_path / "tasks"), "--tasks", f"{IMAGE},{INFORMED}", "--log_samples"),
            env={"OPENAI_API_KEY": "none", "NO_PROXY": "127.0.0.1"},
        )
    assert run.metrics(IMAGE)["accept_acc"] == 1.0
    assert run.metrics(INFORMED)["all_confirmed"] == 1.0
    assert run.metrics(INFORMED)["unreadable"] == 0.0
    seen = {name: [r for r in server.requests if (r.texts[0] == INSTRUCTION) is name] for name in (True, False)}
    assert len(seen[True]) == len(seen[False]) == len(items)
    for request in seen[False]:
        assert request.texts[0] == get_prompt("default").instruction
        one = items[request.texts[-1]]
        assert request.images == [("image/png", one.case.image.read_bytes())]
        assert not any(
            str(secret) in "".join(request.texts[1:]) for secret in (one.label.lever, one.provenance["base_id"])
        )
    for request in seen[True]:
        assert any(
            str(one.label.lever) in request.texts[-1] and one.case.question in request.texts[-1]
            for one in items.values()
        )

    copies = {name: shutil.copytree(run.folder, tmp_path / name) for name in "abc"}  # three who say the same
    logs = [f"--{way}={name}={folder}" for way in ("image", "informed") for name, folder in copies.items()]
    printed = command("consensus", candidates, *logs, "-o", tmp_path / "out", "--minimum-nonfactual", 3)
    assert f"accepted: {len(items)} of {len(items)}" in printed


def test_two_small_checkpoints_verify_whatever_they_say(tmp_path: Path, candidates: Path) -> None:
    """Noise is unreadable, so nothing passes that rests on consensus, and what is measured goes to people."""
    command("verify-task", "-o", tmp_path / "tasks")
    options = []
    for family in ("qwen2_5_vl", "internvl"):
        recipe = FAMILIES[family]
        checkpoint = make_checkpoint(family, tmp_path / family)
        run = run_host(
            tmp_path / f"run_{family}",
            *("--model", recipe.backend, "--model_args", recipe.model_args(checkpoint), "--batch_size", "1"),
            *("--include_path", str(tmp_path / "tasks"), "--tasks", f"{IMAGE},{INFORMED}", "--log_samples"),
            *("--gen_kwargs", "max_new_tokens=8"),
            env={"GEOREFUSAL_CANDIDATES": str(candidates)},
        )
        assert run.metrics(IMAGE)["unparsed_rate"] == run.metrics(INFORMED)["unreadable"] == 1.0
        options += [f"--image={family}={run.folder}", f"--informed={family}={run.folder}"]
    out = tmp_path / "out"
    command("consensus", candidates, *options, "-o", out, "--minimum", 2, "--minimum-nonfactual", 2)
    report = json.loads((out / "consensus.json").read_text("utf-8"))
    measured = sum(one.label.anchor in ("pixel", "geometry") for one in read_set(candidates))
    assert report["outcomes"] == {"accepted": 0, "contested": measured, "no_consensus": 5 - measured, "incomplete": 0}
    assert report["needed"] == {"verifiers": 2, "nonfactual": 2}
    assert all(one["unreadable"] == one["informed_unreadable"] == 5 for one in report["verifiers"].values())
    assert {one.provenance["status"] for one in read_set(out)} <= {"contested"}


def test_the_host_says_what_is_missing(tmp_path: Path) -> None:
    command("verify-task", "-o", tmp_path / "tasks")
    run = run_host(
        tmp_path / "run",
        *("--model", "georefusal_constant", "--include_path", str(tmp_path / "tasks"), "--tasks", IMAGE),
    )
    assert "set GEOREFUSAL_CANDIDATES to the folder of the candidates" in run.output
