"""A build with toy jobs: small pictures that are a pure function of their key."""

import hashlib
import os
import signal
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from georefusal_build.made import Made, Reject
from georefusal_build.run import run_jobs

IDENTITY = {"config": "toy", "numpy": np.__version__}


@dataclass(frozen=True)
class ToyJob:
    number: int
    side: int = 24
    does: str = ""
    """What goes wrong: "raise", "die"."""

    @property
    def key(self) -> str:
        return f"scene-{self.number:03d}|im_toy_{('low', 'medium', 'high')[self.number % 3]}"


def make_toy(job: ToyJob) -> Made | Reject:
    if job.does == "raise":
        raise ZeroDivisionError("toy trouble")
    if job.does == "die":
        os.kill(os.getpid(), signal.SIGKILL)
    seed = int.from_bytes(hashlib.sha256(job.key.encode()).digest()[:8], "big")
    if job.number % 5 == 4:
        return Reject(job.key, "dead_zone" if job.number % 2 else "no_room", f"toy {job.number}")
    # every tenth picture is the one before it: items that share an image
    pixels = np.random.default_rng(job.number - (job.number % 10 == 1)).integers(0, 256, (job.side, job.side), np.uint8)
    name = "AB"[job.number % 2]
    low = job.number % 3 == 0
    gold = "ANSWER" if low else "REFUSE_INFO_MISSING_IN_CONTEXT"
    label = {
        "gold": gold, "accept": [gold], "answer": "yes" if low else "", "category": "REFUSE_INFO_MISSING_IN_CONTEXT",
        "intensity": job.key.split("|")[1].rpartition("_")[2].upper(), "lever": job.key.split("|")[1],
        "anchor": "pixel", "score_answer": True,
    }  # fmt: skip
    provenance = {
        "base_id": job.key.split("|")[0],
        "seed": hex(seed),
        "attempt": job.number % 4,
        "status": "unreviewed",
    }
    return Made(job.key, name, {"question": f"Is there a shed {job.number}?"}, label, provenance, pixels)


def jobs(count: int = 30, **changed: ToyJob) -> list[ToyJob]:
    return [changed.get(f"job_{number}", ToyJob(number)) for number in range(count)]


def run(out: Path, work: list[ToyJob] | None = None, *, workers: int = 1, shard_size: int = 4) -> None:
    run_jobs(work or jobs(), make_toy, out, identity=IDENTITY, workers=workers, shard_size=shard_size)


def tree(folder: Path) -> dict[str, bytes]:
    """Relative path -> bytes of every file below a folder."""
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
