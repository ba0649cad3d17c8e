"""The tests here need every harness: a developer's environment may lack some, CI's may not."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from support.harnesses import LEFT_OUT
from support.server import Answer, ChatServer, Request

if TYPE_CHECKING:
    from inspect_ai import Task
    from inspect_ai.log import EvalLog

collect_ignore_glob = ["test_*.py"] if LEFT_OUT else []


@pytest.fixture
def run(tmp_path: Path) -> "Callable[..., tuple[EvalLog, list[Request]]]":
    """Run a task of inspect_ai against a local server; return its log and what the server was asked."""
    from inspect_ai import eval as evaluate
    from inspect_ai.model import get_model

    def run(task: "Task", reply: Callable[[Request], Answer], **options: Any) -> "tuple[EvalLog, list[Request]]":
        with ChatServer(reply) as server:
            model = get_model("openai-api/own/scripted", base_url=server.base_url, api_key="none", memoize=False)
            (log,) = evaluate(task, model=model, log_dir=str(tmp_path), display="none", max_retries=0, **options)
        return log, server.requests

    return run
