"""`georefusal parse` as a user runs it."""

import json
import subprocess
import sys
from pathlib import Path

GOLDEN = Path(__file__).parents[1] / "data" / "replies.jsonl"
FIELDS = ["id", "verdict", "status", "reason", "answer", "justification", "confidence", "flags"]


def parse(*arguments: str, stdin: str = "") -> tuple[int, list[dict[str, object]], str]:
    command = [sys.executable, "-c", "from georefusal_task.cli import main; main()", "parse", *arguments]
    done = subprocess.run(command, check=False, input=stdin.encode("utf-8", "surrogatepass"), capture_output=True)
    return done.returncode, [json.loads(line) for line in done.stdout.splitlines()], done.stderr.decode()


def test_one_line_per_reply_in_order():
    status, lines, error = parse(str(GOLDEN))
    wanted = [json.loads(line) for line in GOLDEN.read_text("utf-8").splitlines()]
    assert (status, error) == (0, "")
    assert [line["id"] for line in lines] == [case["id"] for case in wanted]
    assert [line["verdict"] for line in lines] == [case["verdict"] for case in wanted]
    assert all(list(line) == FIELDS for line in lines)


def test_standard_input_and_kind():
    rows = '{"id": 1, "text": "C", "model": "x"}\n\n{"text": "<think>A</think>D", "id": null}\n'
    status, lines, _ = parse("-", "--kind", "letter", stdin=rows)
    assert status == 0
    assert [(line["id"], line["verdict"]) for line in lines] == [
        (1, "REFUSE_GRANULARITY_MISMATCH"),
        (None, "REFUSE_AMBIGUOUS_QUERY"),
    ]


def test_unparsed_and_odd_texts_are_no_error():
    texts = [
        "",
        None,
        "\ud800",
        "[LMMS_EVAL_BUDGET_EXCEEDED]",
        '{"verdict": "ANSWER", "justification": "\ud800\u2028"}',
    ]
    status, lines, _ = parse(
        "-", stdin="\ufeff" + "".join(json.dumps({"id": "a", "text": text}) + "\n" for text in texts)
    )
    assert status == 0
    assert [line["reason"] for line in lines] == ["empty", "empty", "no_verdict", "host_error", None]


def test_a_bad_line_is_named_and_what_stands_before_it_is_written(tmp_path):
    for bad in ('{"id": "b"}', '{"id": "b", "text": 3}', '["b"]', '{"id": "b", "te', "\udcff"):
        file = tmp_path / "replies.jsonl"
        lines = ('{"id": "a", "text": "ANSWER"}', bad, '{"id": "c", "text": "ANSWER"}', "")
        file.write_text("\n".join(lines), "utf-8", errors="surrogateescape")
        status, written, error = parse(str(file))
        assert (status, [line["id"] for line in written]) == (1, ["a"])
        assert error.startswith(f"error: {file}:2: ")
        assert "Traceback" not in error


def test_a_missing_file_is_named():
    status, _, error = parse("no/such/file.jsonl")
    assert status == 1
    assert "no/such/file.jsonl" in error
