"""Runs the real lmms-eval in a subprocess, judged by the files that it wrote: its exit status is 0 for failures too."""

import json
import os
import subprocess
import sys
import sysconfig
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

LMMS_EVAL = (str(Path(sysconfig.get_path("scripts")) / "lmms-eval"),)
MODULE = (sys.executable, "-m", "lmms_eval")
TIMEOUT_S = 300


@dataclass(frozen=True)
class HostRun:
    """What one run printed and wrote."""

    status: int
    output: str
    folder: Path

    @property
    def files(self) -> list[Path]:
        return sorted(path for path in self.folder.rglob("*") if path.is_file())

    @property
    def results(self) -> dict[str, Any]:
        """The results file; fails with what the host printed when there is not exactly one."""
        found = [path for path in self.files if path.name.endswith("_results.json")]
        assert len(found) == 1, f"{len(found)} results files; the host printed:\n{self.output[-4000:]}"
        return dict(json.loads(found[0].read_text(encoding="utf-8")))

    def metrics(self, task: str) -> dict[str, Any]:
        """The task's figures under plain names, standard errors included."""
        figures = self.results["results"]
        assert task in figures, f"no results for {task}; the host printed:\n{self.output[-4000:]}"
        return {name.removesuffix(",none"): value for name, value in figures[task].items()}

    def n(self, task: str) -> int:
        """How many items of the task were evaluated."""
        return int(self.results["n-samples"][task]["effective"])

    def sample_file(self, task: str) -> Path:
        return next(path for path in self.files if path.name.endswith(f"_samples_{task}.jsonl"))

    def samples(self, task: str) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.sample_file(task).read_text(encoding="utf-8").splitlines()]


def run_host(
    folder: Path,
    *options: str,
    program: Sequence[str] = LMMS_EVAL,
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
    output: bool = True,
) -> HostRun:
    """Run `program` with the options in `folder`, offline, with a home of its own; its results go to `folder`/out.

    `output=False` leaves the option for that out, for commands that do not evaluate.
    """
    out = folder / "out"
    home = folder.parent / "hf"
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith(("GEOREFUSAL_", "LMMS_", "RANK"))},
        "HF_HUB_OFFLINE": "1",
        "HF_HOME": str(home),
        "XDG_CACHE_HOME": str(home / "cache"),
        "TOKENIZERS_PARALLELISM": "false",
        "CUDA_VISIBLE_DEVICES": "",
        "OMP_NUM_THREADS": "1",  # a tiny model's threads mostly wait for each other
        "GIT_DIR": str(home / "no.git"),  # the host mixes the commit of the surrounding repository into its cache keys
        **(env or {}),
    }
    folder.mkdir(parents=True, exist_ok=True)
    done = subprocess.run(
        [*program, *options, *(["--output_path", str(out)] if output else [])],
        cwd=cwd or folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
    )
    return HostRun(done.returncode, done.stdout, out)
