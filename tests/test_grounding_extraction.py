"""The extractor reads what the strict reader cannot, sees question and reply only, and is off unless asked for."""

import json
from pathlib import Path

from support.grounding import make_set
from support.server import ChatServer, Request
from typer.testing import CliRunner

from georefusal_task import grounding_data
from georefusal_task.cli import app


def test_answers_that_cannot_be_read_are_asked_for_once_and_counted(tmp_path: Path) -> None:
    folder = make_set(tmp_path / "set", n=20)
    golds = {gold.id: gold.answer for gold in grounding_data.load(folder).golds}
    hidden = sorted(golds)[::4]  # their answers stand in words that the strict reader does not take
    file = tmp_path / "replies.jsonl"
    rows = [
        {
            "id": item,
            "frame": "unit",
            "text": f"I dare say <{gold}>" if item in hidden else f"Answer: {gold}\nBoxes: none",
        }
        for item, gold in golds.items()
    ]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))

    def reply(request: Request) -> str:
        (text,) = request.texts
        return text.rpartition("<")[2].partition(">")[0] if "<" in text else "invalid"

    def scored(*options: str) -> dict[str, dict[str, dict[str, float]]]:
        out = tmp_path / "figures.json"
        command = ["score", str(file), "--task", "grsvqa", "--data", str(folder), "--json", str(out), *options]
        done = CliRunner().invoke(app, command)
        assert done.exit_code == 0, done.output
        return dict(json.loads(out.read_text()))

    without = scored()
    assert without["meta"]["extractor"] is None
    assert without["metrics"]["invalid_rate"]["count"] == len(hidden) == 5
    with ChatServer(reply) as server:
        found = scored("--extractor", f"{server.base_url},tiny")
        asked = len(server.requests)
        again = scored("--extractor", f"{server.base_url},tiny")
        assert len(server.requests) == asked, "replies are kept"
    assert again == found
    assert found["metrics"]["accuracy"]["value"] == 1.0
    about = found["meta"]["extractor"]
    assert (about["model"], about["extracted"], about["share"], about["failures"]) == ("tiny", 5, 0.25, 0)
    assert about["compared"] == 2  # every tenth of the fifteen that were read directly
    assert about["agreement"] == 0.0, "this one says invalid to them"
    words = " ".join(text for request in server.requests for text in request.texts)
    assert not [item for item in golds if item in words]
    assert all(request.kinds == ["text"] for request in server.requests)
