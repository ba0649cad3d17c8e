"""The wrapper around the real VLMEvalKit, where it can be imported: docs/hosts.md says which version was tried."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from support.server import ChatServer

from georefusal_task.data import load_mini

pytestmark = [pytest.mark.host, pytest.mark.slow]


def test_the_wrapper_runs_the_mini_set_through_the_real_harness(tmp_path: Path) -> None:
    pytest.importorskip("vlmeval.run", reason="VLMEvalKit is not installed, and no extra of ours can install it")
    wrapper = [sys.executable, "-m", "georefusal_task.adapters.vlmevalkit", "--data", "GeoRefusalBench_mini"]
    reply = json.dumps({"verdict": "ANSWER", "answer": "yes", "justification": "seen"})
    with ChatServer(lambda request: reply) as server:
        model = ["--model", "scripted", "--base-url", server.base_url, "--key", "none", "--work-dir", str(tmp_path)]
        env = {**os.environ, "LMUData": str(tmp_path / "data"), "NO_PROXY": "127.0.0.1", "CUDA_VISIBLE_DEVICES": ""}
        done = subprocess.run([*wrapper, *model], cwd=tmp_path, env=env, capture_output=True, text=True, check=False)
    assert '"always_answer_gap": 0.0' in done.stdout, (done.stdout + done.stderr)[-4000:]
    assert len(server.requests) == len(load_mini().items)
    assert {tuple(request.kinds) for request in server.requests} == {("text", "image_url", "text")}
