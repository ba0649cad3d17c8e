"""Images sent to a server as their own PNG bytes, against the host encoding each one again."""

import json
import resource
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from PIL import Image
from support.host import LMMS_EVAL, run_host
from support.server import ChatServer

from georefusal_task import data

ITEMS, SIDE = 100, 800
TASK = "georefusalbench"
REPLY = json.dumps({"verdict": "ANSWER", "answer": "yes", "justification": "at once"})
RE_ENCODE = """
from PIL import Image
from georefusal_task.images import PassthroughPng
from lmms_eval.__main__ import cli_evaluate

PassthroughPng.save = Image.Image.save
cli_evaluate()
"""


def make_set(folder: Path) -> Path:
    """Write a set of ITEMS mosaics of the mini set's tiles, SIDE pixels wide, and return its folder."""
    rng = np.random.default_rng(0)
    tiles = [np.asarray(Image.open(item.case.image).convert("RGB")) for item in data.load_mini().items]
    across = -(-SIDE // tiles[0].shape[0])
    for name in ("cases", "labels", "images/A"):
        (folder / name).mkdir(parents=True)
    cases, labels = [], []
    for number in range(ITEMS):
        rows = [np.hstack([tiles[k] for k in rng.integers(len(tiles), size=across)]) for _ in range(across)]
        case = {"id": f"A-{number:010x}", "image": f"images/A/A-{number:010x}.png", "question": f"Is {number} shown?"}
        # not Pillow's own default: the same settings would give the same bytes, and nothing could be told apart
        Image.fromarray(np.vstack(rows)[:SIDE, :SIDE]).save(folder / case["image"], compress_level=9)
        cases.append(json.dumps(case))
        labels.append(json.dumps({"id": case["id"], "gold": "ANSWER", "accept": ["ANSWER"]}))
    (folder / "cases/A.jsonl").write_text("\n".join(cases))
    (folder / "labels/A.jsonl").write_text("\n".join(labels))
    return folder


def ask(folder: Path, work: Path, items: int, program: Sequence[str] = LMMS_EVAL) -> tuple[float, int]:
    """Return the CPU seconds of the whole run, and how many images the server got as their files' own bytes."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with ChatServer(lambda _: REPLY) as server:
        run = run_host(
            work,
            *("--model", "openai", "--model_args", f"model=scripted,base_url={server.base_url}"),
            *("--tasks", TASK, "--limit", str(items)),
            program=program,
            env={"OPENAI_API_KEY": "none", "NO_PROXY": "127.0.0.1", "GEOREFUSAL_DATA": str(folder)},
        )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    run.metrics(TASK)
    files = {path.read_bytes() for path in (folder / "images/A").iterdir()}
    own = sum(image in files for request in server.requests for _, image in request.images)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, own


def main() -> None:
    with tempfile.TemporaryDirectory() as scratch:
        folder = make_set(Path(scratch, "set"))
        size = sum(path.stat().st_size for path in (folder / "images/A").iterdir()) / ITEMS
        print(f"{ITEMS} documents of {SIDE} x {SIDE} pixels, {size / 1e6:.2f} MB each; openai backend, CPU time")
        start_s, _ = ask(folder, Path(scratch, "start"), 1)
        own_s, own = ask(folder, Path(scratch, "own"), ITEMS)
        again_s, same = ask(folder, Path(scratch, "again"), ITEMS, (sys.executable, "-c", RE_ENCODE))
    own_ms, again_ms = (1000 * (total_s - start_s) / (ITEMS - 1) for total_s in (own_s, again_s))
    print(f"  sent as they are     {own_ms:6.1f} ms per document; the file's own bytes for {own} of {ITEMS}")
    print(f"  encoded by the host  {again_ms:6.1f} ms per document; the file's own bytes for {same} of {ITEMS}")
    print(f"  587 documents        {587 * own_ms / 1000:.0f} s instead of {587 * again_ms / 1000:.0f} s", end="")
    print(f" ({again_ms / own_ms:.1f} x)")
