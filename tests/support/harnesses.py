"""Runs inspect_ai and lm-evaluation-harness as their users do, in a subprocess with a folder of its own."""

import json
import os
import subprocess
import sys
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from georefusal_task import inspect_logs
from georefusal_task.adapters import lm_eval
from georefusal_task.replies import json_lines

TIMEOUT_S = 300
LEFT_OUT = any(find_spec(name) is None for name in ("inspect_ai", "lm_eval")) and os.environ.get("CI") != "true"
"""Without the extras `inspect` and `lm-eval` the tests of these harnesses are left out, but never in CI."""
CHECKOUT_TASK = f"{Path(lm_eval.__file__).with_name('inspect.py')}@georefusalbench"
"""The task's name for inspect_ai where the package is not installed from a wheel."""


@dataclass(frozen=True)
class InspectRun:
    """One run of `inspect eval` and its log."""

    status: int
    output: str
    log: Path

    @cached_property
    def header(self) -> dict[str, Any]:
        with zipfile.ZipFile(self.log) as archive:
            return dict(json.loads(inspect_logs._content(archive, "header.json")))

    @cached_property
    def samples(self) -> list[dict[str, Any]]:
        return sorted(inspect_logs._samples(self.log), key=lambda sample: (sample["id"], sample["epoch"]))

    @property
    def metrics(self) -> dict[str, float]:
        (scores,) = self.header["results"]["scores"]
        return {name: metric["value"] for name, metric in scores["metrics"].items()}

    @property
    def rows(self) -> dict[str, dict[str, Any]]:
        """Item id -> the scored row of its first epoch."""
        return {s["id"]: s["scores"]["accept_set"]["metadata"] for s in reversed(self.samples)}


@dataclass(frozen=True)
class LmEvalRun:
    """One run of `lm-eval run` and what it wrote."""

    status: int
    output: str
    folder: Path

    @cached_property
    def results(self) -> dict[str, Any]:
        (file,) = self.folder.rglob("results_*.json")
        return dict(json.loads(file.read_text()))

    def metrics(self, task: str) -> dict[str, float]:
        figures = self.results["results"][task]
        ours = {name.removesuffix(",none"): value for name, value in figures.items() if name.endswith(",none")}
        return {name: value for name, value in ours.items() if not name.endswith("_stderr")}

    def sample_file(self, task: str) -> Path:
        (file,) = self.folder.rglob(f"samples_{task}_*.jsonl")
        return file

    def rows(self, task: str) -> dict[str, dict[str, Any]]:
        """Item id -> its scored row."""
        return rows_of(self.sample_file(task))


def rows_of(samples: Path) -> dict[str, dict[str, Any]]:
    """Item id -> its scored row, from a sample log of lmms-eval or lm-evaluation-harness."""
    return {line["accept_acc"]["id"]: line["accept_acc"] for _, line in json_lines(samples)}


def run_inspect(
    folder: Path,
    base_url: str,
    *options: str,
    task: str = CHECKOUT_TASK,
    python: str | Path = sys.executable,
    **env: str,
) -> InspectRun:
    """Run a task against an OpenAI-compatible server."""
    command = [str(python), "-m", "inspect_ai", "eval", task, "--model", "openai-api/own/scripted"]
    shown = ["--display", "plain", "--log-dir", str(folder / "logs")]
    done = _run([*command, *shown, *options], folder, {"OWN_API_KEY": "none", "OWN_BASE_URL": base_url, **env})
    logs = sorted((folder / "logs").glob("*.eval"))
    assert len(logs) == 1, f"{len(logs)} logs; inspect printed:\n{done.stdout[-4000:]}"
    return InspectRun(done.returncode, done.stdout, logs[0])


def run_lm_eval(
    folder: Path,
    base_url: str,
    task: str,
    *options: str,
    tasks: Path | None = None,
    python: str | Path = sys.executable,
    **env: str,
) -> LmEvalRun:
    """Run a task against an OpenAI-compatible server."""
    model = ["local-chat-completions", "--model_args", f"model=scripted,base_url={base_url}/chat/completions"]
    command = [str(python), "-m", "lm_eval", "run", "--model", *model, "--apply_chat_template"]
    where = ["--tasks", task, "--include_path", str(tasks or lm_eval.tasks_dir())]
    out = ["--log_samples", "--output_path", str(folder / "out")]
    done = _run([*command, *where, *out, *options], folder, {"OPENAI_API_KEY": "none", **env})
    return LmEvalRun(done.returncode, done.stdout, folder / "out")


def _run(command: Sequence[str], folder: Path, env: dict[str, str]) -> "subprocess.CompletedProcess[str]":
    home = folder.parent / "home"
    foreign = ("GEOREFUSAL_", "LMMS_", "LMEVAL_", "INSPECT_", "RANK")
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith(foreign)},
        "HF_HUB_OFFLINE": "1",
        "HF_HOME": str(home / "hf"),
        "XDG_CACHE_HOME": str(home / "cache"),
        "XDG_DATA_HOME": str(home / "data"),
        "CUDA_VISIBLE_DEVICES": "",
        "NO_PROXY": "127.0.0.1",
        **env,
    }
    folder.mkdir(parents=True, exist_ok=True)
    return subprocess.run(
        command,
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
    )
