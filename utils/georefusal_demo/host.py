"""Runs the real `lmms-eval` command and judges it by its results file: its exit status is 0 for a failed run too."""

import json
import os
import shlex
import shutil
import subprocess
import sys
import sysconfig
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from georefusal_task.core.errors import GeoRefusalError

LOG = "lmms-eval.log"
_FINISHED = "\n[finished]\n"


class HostFailedError(GeoRefusalError):
    """The host wrote no results for the task that it was asked to run."""


@dataclass(frozen=True)
class HostRun:
    """The files of one finished run."""

    task: str
    results: Path
    samples: Path

    @property
    def metrics(self) -> dict[str, Any]:
        """The task's figures as the host wrote them, under their plain names."""
        figures = json.loads(self.results.read_text(encoding="utf-8"))["results"][self.task]
        return {name.removesuffix(",none"): value for name, value in figures.items() if name.endswith(",none")}


def command(model: str, model_args: str, task: str, output: Path, more: Sequence[str] = ()) -> list[str]:
    """Return the host's command line, as a user would type it."""
    options = ["--model", model, "--tasks", task, "--batch_size", "1", "--log_samples", "--output_path", str(output)]
    return ["lmms-eval", *options, *(["--model_args", model_args] if model_args else []), *more]


def evaluate(line: Sequence[str], output: Path, task: str, label: str) -> HostRun:
    """Return the finished run of one command line, which writes into `output`; what it prints goes to a log there.

    Raises:
        HostFailedError: the host is not installed, or wrote no results for the task; quotes the end of its log.
    """
    program = Path(sysconfig.get_path("scripts")) / line[0]
    if not program.exists():
        raise HostFailedError(f"{program} does not exist; install the host with: pip install 'georefusal[lmms]'")
    shutil.rmtree(output, ignore_errors=True)
    output.mkdir(parents=True)
    log = output / LOG
    # a tiny model gains nothing from threads, and loses a factor of thirty where cores are shared
    environment = os.environ | {"HF_HUB_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false", "OMP_NUM_THREADS": "1"}
    with log.open("w", encoding="utf-8") as out:
        out.write(_head(line))
        out.flush()
        process = subprocess.Popen([program, *line[1:]], stdout=out, stderr=subprocess.STDOUT, env=environment)
        try:
            _wait(process, label)
        finally:
            process.kill()
            process.wait()
        run = _find(output, task)
        if run is None:
            said = log.read_text(encoding="utf-8", errors="replace").splitlines()[-15:]
            raise HostFailedError("\n  ".join([f"lmms-eval wrote no results for {task}; the end of {log}:", *said]))
        out.seek(0, os.SEEK_END)
        out.write(_FINISHED)
    return run


def finished(line: Sequence[str], output: Path, task: str) -> HostRun | None:
    """Return the run that the same command line finished in `output` before, None when there is none."""
    with suppress(FileNotFoundError):
        said = (output / LOG).read_text(encoding="utf-8", errors="replace")
        if said.startswith(_head(line)) and said.endswith(_FINISHED):
            return _find(output, task)
    return None


def _find(output: Path, task: str) -> HostRun | None:
    for results in output.rglob("*_results.json"):
        run = HostRun(task, results, results.with_name(results.name.replace("_results.json", f"_samples_{task}.jsonl")))
        with suppress(KeyError):
            if run.metrics and run.samples.is_file():
                return run
    return None


def _head(line: Sequence[str]) -> str:
    return f"$ {shlex.join(line)}\n"


def _wait(process: subprocess.Popen[bytes], label: str) -> None:
    """Wait for the process; on a terminal, the line with the label counts the seconds."""
    start = time.monotonic()
    back = "\r" if sys.stderr.isatty() else ""
    while process.poll() is None:
        if back:
            print(f"{back}{label}: {time.monotonic() - start:.0f} s", end="", file=sys.stderr, flush=True)
        with suppress(subprocess.TimeoutExpired):
            process.wait(timeout=1)
    print(f"{back}{label}: {time.monotonic() - start:.0f} s", file=sys.stderr)
