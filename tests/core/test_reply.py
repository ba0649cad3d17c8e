"""The reply reader against our golden replies."""

import json
from pathlib import Path

import pytest

from georefusal_task.core.reply import read_reply

GOLDEN = [
    json.loads(line)
    for line in Path(__file__).parents[1].joinpath("data/replies.jsonl").read_text("utf-8").splitlines()
]


@pytest.mark.parametrize("case", GOLDEN, ids=lambda case: case["id"])
def test_golden(case):
    reply = read_reply(case["text"])
    assert reply.verdict == case["verdict"]
    assert reply.status in case["status"]
    if case["reason"] is not None:
        assert reply.reason == case["reason"]
