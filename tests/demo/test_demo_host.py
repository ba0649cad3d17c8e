"""The demonstration believes the files that the host wrote, and nothing else."""

import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from georefusal_demo import host, run
from georefusal_demo.host import HostFailedError, evaluate, finished
from georefusal_task.core.errors import GeoRefusalError

TASK = "georefusalbench_mini"


def program(path: Path, body: str) -> str:
    """A command that stands in for the host's."""
    path.write_text(
        f"#!{sys.executable}\nimport json, os, pathlib, sys, time\nout = pathlib.Path(sys.argv[1])\n{body}\n"
    )
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return str(path)


def good(path: Path) -> str:
    return program(
        path,
        f"(out / 'm').mkdir()\n(out / 'm' / '1_results.json').write_text(json.dumps("
        f"{{'results': {{'{TASK}': {{'accept_acc,none': 0.5, 'accept_acc_stderr,none': 'N/A', 'alias': 'x'}}}}}}))\n"
        f"(out / 'm' / '1_samples_{TASK}.jsonl').write_text('')",
    )


def test_a_failed_run_is_an_error_although_the_host_exits_with_0(tmp_path: Path) -> None:
    line = [program(tmp_path / "host", "print('Tasks not found: some_task')"), str(tmp_path / "out")]
    with pytest.raises(HostFailedError, match=r"(?s)lmms-eval\.log.*Tasks not found: some_task"):
        evaluate(line, tmp_path / "out", TASK, "a run")


def test_results_of_another_task_are_no_results(tmp_path: Path) -> None:
    body = "(out / '1_results.json').write_text(json.dumps({'results': {'mmmu': {'acc,none': 1}}}))"
    line = [program(tmp_path / "host", body), str(tmp_path / "out")]
    with pytest.raises(HostFailedError):
        evaluate(line, tmp_path / "out", TASK, "a run")


def test_only_a_finished_run_of_the_same_command_is_taken_over(tmp_path: Path) -> None:
    out = tmp_path / "out"
    line = [good(tmp_path / "host"), str(out)]
    assert finished(line, out, TASK) is None
    done = evaluate(line, out, TASK, "a run")
    assert done.metrics["accept_acc"] == 0.5
    assert finished(line, out, TASK) == done
    assert finished([*line, "--limit", "3"], out, TASK) is None, "the figures would be those of another subset"
    log = out / host.LOG
    log.write_text(log.read_text().replace("[finished]\n", ""))
    assert finished(line, out, TASK) is None, "a run that was stopped may have half a log of samples"


def test_an_earlier_run_does_not_speak_for_a_failed_one(tmp_path: Path) -> None:
    out = tmp_path / "out"
    evaluate([good(tmp_path / "host"), str(out)], out, TASK, "a run")
    with pytest.raises(HostFailedError):
        evaluate([program(tmp_path / "host", ""), str(out)], out, TASK, "again")


def test_stopping_the_demonstration_stops_the_host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[int] = []

    def interrupt(process: subprocess.Popen[bytes], label: str) -> None:
        started.append(process.pid)
        raise KeyboardInterrupt

    monkeypatch.setattr(host, "_wait", interrupt)
    line = [program(tmp_path / "host", "time.sleep(60)"), str(tmp_path / "out")]
    with pytest.raises(KeyboardInterrupt):
        evaluate(line, tmp_path / "out", TASK, "a run")
    with pytest.raises(ProcessLookupError):
        os.kill(started[0], 0)


@pytest.mark.host
@pytest.mark.slow
def test_the_whole_demonstration(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "georefusal_demo", "--out", str(tmp_path / "demo")]
    root = Path(__file__).parents[2]
    environment = os.environ | {"PYTHONPATH": str(root / "utils"), "HF_HOME": str(tmp_path / "hf")}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    headline = next(line for line in lines if line.startswith("accept_acc "))
    assert not headline.split()[2].startswith("["), "always-answer is a constant of the data: no interval"
    assert "weights are random" in done.stdout
    readme = (root / "README.md").read_text(encoding="utf-8")
    shown = readme.split("make demo\n", 1)[1].split("```")[1].splitlines()[1:]
    assert [line for line in shown if line not in lines and not line.startswith(("[", "making", "..."))] == []
    results = [Path(line.split()[-1]) for line in lines if line.endswith("_results.json")]
    assert len(results) == 4
    for file in results:
        assert TASK in json.loads((tmp_path / file).read_text())["results"]

    again = subprocess.run(
        [*command, "--reuse"], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False, timeout=60
    )
    assert again.stdout.count("finished before") == 4
    assert headline in again.stdout.splitlines()

    oracle = next(file for file in results if "oracle" in str(file))
    found = host.HostRun(TASK, tmp_path / oracle, next((tmp_path / oracle).parent.glob("*_samples_*")))
    found.results.write_text(found.results.read_text().replace('"accept_acc,none": 1.0', '"accept_acc,none": 0.9'))
    with pytest.raises(GeoRefusalError, match=r"accept_acc is 0\.9, its replies give 1\.0"):
        run.rescore(found)
