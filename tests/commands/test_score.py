"""`georefusal score` from the outside: files in, table and JSON out, exit status."""

import json
import random
import resource
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import typer
from support.twin import make_twin, twin_rows
from typer.testing import CliRunner, Result

from georefusal_task.benchmarks.refusal import FORCED_METRICS, METRICS
from georefusal_task.commands.score import score
from georefusal_task.commands.score_table import SECTIONS

N = 60

_app = typer.Typer()
_app.command()(score)


def run(*arguments: object) -> Result:
    return CliRunner().invoke(_app, [str(argument) for argument in arguments])


@pytest.fixture(scope="module")
def twin(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_twin(tmp_path_factory.mktemp("twin") / "data", n=N)


def replies(path: Path, say: Callable[[dict[str, Any]], str], n: int = N) -> Path:
    """Write one reply per label; `say` gets the label."""
    rows = [{"id": label["id"], "text": say(label)} for label in twin_rows(N)[1][:n]]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def verdict(name: str, answer: str = "") -> str:
    return json.dumps({"verdict": name, "answer": answer, "justification": "because"})


def oracle(label: dict[str, Any]) -> str:
    return verdict(label["gold"], label["answer"])


def test_the_oracle_and_always_answer(tmp_path: Path, twin: Path) -> None:
    out = tmp_path / "out.json"
    found = run(replies(tmp_path / "r.jsonl", oracle), "--data", twin, "--json", out)
    assert found.exit_code == 0, found.output
    content = json.loads(out.read_text())
    assert content["metrics"]["accept_acc"]["value"] == 1.0
    assert content["metrics"]["yesno_acc"]["value"] == 1.0
    assert "distinguishable from it, better" in found.stdout

    found = run(replies(tmp_path / "r.jsonl", lambda label: verdict("ANSWER")), "--data", twin, "--json", out)
    content = json.loads(out.read_text())
    answerable = sum("ANSWER" in label["accept"] for label in twin_rows(N)[1])
    assert content["metrics"]["accept_acc"]["value"] == answerable / N
    assert content["metrics"]["always_answer_gap"]["value"] == 0
    assert "not distinguishable from it" in found.stdout


def test_the_json_says_what_it_was_made_from(tmp_path: Path, twin: Path) -> None:
    out = tmp_path / "out.json"
    run(replies(tmp_path / "r.jsonl", oracle, n=7), "--data", twin, "--json", out)
    meta = json.loads(out.read_text())["meta"]
    assert (meta["task"], meta["n"], meta["n_total"]) == ("georefusalbench", 7, N)
    assert meta["prompt"]["id"] == "default/v1"
    assert len(meta["prompt"]["sha256"]) == len(meta["data"]["digest"]) == 64
    assert {"reader", "georefusal"} <= meta.keys()
    assert str(twin) in meta["data"]["source"]


def test_a_partial_run_says_so(tmp_path: Path, twin: Path) -> None:
    found = run(replies(tmp_path / "r.jsonl", oracle, n=7), "--data", twin)
    assert found.exit_code == 0
    assert f"7 of {N} items, a partial run" in found.stdout


@pytest.mark.parametrize(("failed", "status"), [(0, 0), (1, 3), (N, 3)])
def test_failed_requests_are_written_then_end_with_3(tmp_path: Path, twin: Path, failed: int, status: int) -> None:
    """1 of 60 is more than 1 %; a script must not take such a file for a result."""
    ids = {label["id"] for label in twin_rows(N)[1][:failed]}

    def say(label: dict[str, Any]) -> str:
        return "[LMMS_EVAL_REQUEST_FAILED after 5 retries] timeout" if label["id"] in ids else oracle(label)

    out = tmp_path / "out.json"
    found = run(replies(tmp_path / "r.jsonl", say), "--data", twin, "--json", out)
    assert found.exit_code == status
    metrics = json.loads(out.read_text())["metrics"]
    assert metrics["host_error_rate"]["value"] == failed / N
    assert metrics["accept_acc"]["n"] == N
    if failed:
        assert f"warning: {failed} of {N} requests failed" in found.stderr
        assert metrics["accept_acc"]["value_if_right"] == 1.0


def test_reply_files_and_host_logs_give_the_same_figures(tmp_path: Path, twin: Path) -> None:
    rng = random.Random(0)
    texts = {
        label["id"]: rng.choice([oracle(label), verdict("ANSWER", "no"), "I refuse.", '{"verdict": "ANSW'])
        for label in twin_rows(N)[1]
    }
    ours = replies(tmp_path / "r.jsonl", lambda label: texts[label["id"]])
    log = tmp_path / "run" / "model" / "20260101_120000_samples_georefusalbench.jsonl"
    log.parent.mkdir(parents=True)
    rows = [{"target": f"{item} ANSWER", "filtered_resps": [text]} for item, text in texts.items()]
    rng.shuffle(rows)
    log.write_text("".join(json.dumps(row) + "\n" for row in rows))
    outs = []
    for file in (ours, log, tmp_path / "run"):
        outs.append(tmp_path / f"{len(outs)}.json")
        assert run(file, "--data", twin, "--json", outs[-1]).exit_code == 0
    contents = [json.loads(out.read_text()) for out in outs]
    assert contents[0] == contents[1] == contents[2]
    assert 0 < contents[0]["metrics"]["unparsed_rate"]["value"] < 1


def test_several_replies_per_item(tmp_path: Path, twin: Path) -> None:
    log = tmp_path / "1_samples_georefusalbench.jsonl"
    rows = [
        {"target": f"{label['id']} x", "filtered_resps": [oracle(label), oracle(label), "nothing"]}
        for label in twin_rows(N)[1]
    ]
    log.write_text("".join(json.dumps(row) + "\n" for row in rows))
    out = tmp_path / "out.json"
    found = run(log, "--data", twin, "--json", out)
    metrics = json.loads(out.read_text())["metrics"]
    assert metrics["accept_acc"]["value"] == 1.0
    assert metrics["repeat_mean_accept_acc"]["value"] == pytest.approx(2 / 3)
    assert metrics["repeat_agreement"]["value"] == 0.0
    assert "repeat_agreement" in found.stdout


def test_the_task_chooses_the_reader(tmp_path: Path, twin: Path) -> None:
    out = tmp_path / "out.json"
    file = replies(tmp_path / "r.jsonl", lambda label: "A" if label["gold"] == "ANSWER" else "no letter at all")
    run(file, "--data", twin, "--task", "georefusalbench_mcq", "--json", out)
    metrics = json.loads(out.read_text())["metrics"]
    assert metrics["answer_recall"]["value"] == 1.0
    assert metrics["yesno_acc"]["value"] is None  # a letter carries no yes/no
    run(file, "--data", twin, "--json", out)
    assert json.loads(out.read_text())["metrics"]["answer_recall"]["value"] == 0.0


def test_the_forced_task(tmp_path: Path, twin: Path) -> None:
    out = tmp_path / "out.json"
    file = replies(tmp_path / "r.jsonl", lambda label: label["answer"] or "no")
    found = run(file, "--data", twin, "--task", "georefusalbench_forced", "--json", out)
    assert found.exit_code == 0, found.output
    content = json.loads(out.read_text())
    assert list(content["metrics"]) == list(FORCED_METRICS)
    assert content["metrics"]["forced_acc"]["value"] == 1.0
    assert "By intensity (forced_acc)" in found.stdout


def test_the_grey_task(tmp_path: Path, twin: Path) -> None:
    found = run(replies(tmp_path / "r.jsonl", oracle), "--data", twin, "--task", "georefusalbench_grey")
    assert "grey_answer_rate" in found.stdout


def test_a_task_of_ones_own_and_a_misspelt_one(tmp_path: Path, twin: Path) -> None:
    file = replies(tmp_path / "r.jsonl", oracle)
    assert run(file, "--data", twin, "--task", "my_tiles").exit_code == 0
    for options in (["--task", "georefusalbench_mqc", "--data", twin], ["--task", "my_tiles"]):
        found = run(file, *options)
        assert found.exit_code == 1
        assert "georefusalbench_mcq" in found.stderr


def test_clusters_change_intervals_only(tmp_path: Path, twin: Path) -> None:
    labels = twin_rows(N)[1]
    clusters = tmp_path / "c.jsonl"
    clusters.write_text("".join(json.dumps({"id": x["id"], "cluster": i // 5}) + "\n" for i, x in enumerate(labels)))
    file = replies(tmp_path / "r.jsonl", lambda label: verdict("ANSWER" if label["id"][-1] < "8" else label["gold"]))
    plain, clustered = tmp_path / "plain.json", tmp_path / "clustered.json"
    run(file, "--data", twin, "--json", plain)
    found = run(file, "--data", twin, "--json", clustered, "--clusters", clusters)
    assert "12 clusters" in found.stdout
    one, two = (json.loads(out.read_text()) for out in (plain, clustered))
    assert {k: v["value"] for k, v in one["metrics"].items()} == {k: v["value"] for k, v in two["metrics"].items()}
    assert one["metrics"]["accept_acc"]["low"] != two["metrics"]["accept_acc"]["low"]


def test_a_confidence_in_the_file_is_accepted(tmp_path: Path, twin: Path) -> None:
    rows = [
        {"id": x["id"], "text": oracle(x), "confidence": 0.5, "model": "m", "input_size": [1, 1]}
        for x in twin_rows(N)[1]
    ]
    file, out = tmp_path / "r.jsonl", tmp_path / "out.json"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert run(file, "--data", twin, "--json", out).exit_code == 0
    assert json.loads(out.read_text())["meta"]["models"] == ["m"]


@pytest.mark.parametrize("line", ["not JSON", '{"id": "Z-9", "text": "x"}'])
def test_errors_are_one_line_with_the_place(tmp_path: Path, twin: Path, line: str) -> None:
    file = tmp_path / "r.jsonl"
    file.write_text(line + "\n")
    out = tmp_path / "out.json"
    found = run(file, "--data", twin, "--json", out)
    assert found.exit_code == 1
    assert "r.jsonl:1" in found.stderr
    assert found.stderr.count("\n") == 1
    assert not found.stdout
    assert not out.exists()


def test_a_missing_file_is_named(tmp_path: Path, twin: Path) -> None:
    found = run(tmp_path / "none.jsonl", "--data", twin)
    assert found.exit_code == 1
    assert "none.jsonl" in found.stderr


def test_the_table_shows_every_metric_but_the_strict_recalls() -> None:
    shown = {name for names in SECTIONS.values() for name in names}
    assert shown == {name for name in METRICS | FORCED_METRICS if not name.startswith("strict_recall")}


def test_false_and_missed_refusals_stand_beside_their_unparsed_shares(tmp_path: Path, twin: Path) -> None:
    """A model without one readable reply has neither false nor missed refusals."""
    lines = run(replies(tmp_path / "r.jsonl", lambda label: "?"), "--data", twin).stdout.splitlines()
    at = {line.split()[0]: place for place, line in enumerate(lines) if line.strip()}
    assert 0 < at["unparsed_rate_answerable"] - at["false_refusal_rate"] <= 2
    assert 0 < at["unparsed_rate_must_refuse"] - at["missed_refusal_rate"] <= 2


def test_small_counts_are_not_shown_as_rates(tmp_path: Path, twin: Path) -> None:
    found = run(replies(tmp_path / "r.jsonl", oracle, n=3), "--data", twin)
    line = next(line for line in found.stdout.splitlines() if line.strip().startswith("accept_acc "))
    assert line.split() == ["accept_acc", "3/3"]


def limit_file_size() -> None:
    """As a full disk does, make the write fail in the middle of the file."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (512, 512))
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)


def test_a_full_disk_leaves_the_earlier_figures_whole(tmp_path: Path, twin: Path) -> None:
    out = tmp_path / "figures.json"
    out.write_text("the figures of another run")
    said = replies(tmp_path / "r.jsonl", oracle)
    program = [sys.executable, "-c", "from georefusal_task.cli import main; main()"]
    command = [*program, "score", said, "--data", twin, "--json", out]
    found = subprocess.run(command, check=False, capture_output=True, text=True, preexec_fn=limit_file_size)
    assert found.returncode == 1
    assert found.stderr.count("\n") == 1
    assert str(out) in found.stderr
    assert out.read_text() == "the figures of another run"
    assert sorted(file.name for file in tmp_path.iterdir()) == ["figures.json", "r.jsonl"]


def test_figures_can_go_to_a_pipe_or_through_a_link(tmp_path: Path, twin: Path) -> None:
    (tmp_path / "link.json").symlink_to(tmp_path / "figures.json")
    said = replies(tmp_path / "r.jsonl", oracle)
    assert run(said, "--data", twin, "--json", tmp_path / "link.json").exit_code == 0
    assert (tmp_path / "link.json").is_symlink()
    assert json.loads((tmp_path / "figures.json").read_text())["meta"]["n"] == N
    assert run(said, "--data", twin, "--json", "/dev/null").exit_code == 0
    assert Path("/dev/null").is_char_device()
