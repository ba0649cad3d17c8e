"""Whole items per second and core, beside the time that encoding the same PNGs takes; memory with 10,000 scenes.

Items are made one after another in one process, from painted scenes of 800 x 800. What a reject costs is counted to
its family's items. The memory is that of a worker process which holds a build of 10,000 scenes and makes items of
800 x 800.
"""

import multiprocessing
import pickle
import resource
import statistics
import tempfile
import time
import tracemalloc
from collections import defaultdict
from functools import partial
from pathlib import Path

from support.coco_archive import write_archive

from georefusal_build.build_config import load_config
from georefusal_build.context import Context, open_context
from georefusal_build.jobs import Job
from georefusal_build.made import Made
from georefusal_build.making import make
from georefusal_build.plan import make_plan
from georefusal_build.store import png

SIDE, SCENES, PER_LEVER = 800, 3, 2
MANY, SMALL, JOBS = 10_000, 128, 60


def opened(
    folder: Path, scenes: int, side: int, *, sar: bool = False, large: int = 0, search: int = 5000
) -> tuple[Context, tuple[Job, ...]]:
    """Return the context and the jobs of a build from a painted archive."""
    write_archive(folder / "archive", scenes, side, sar=sar, large=large)
    config = folder / "build.yaml"
    config.write_text(
        f"name: bench\nseed: 7\nsalt: salt-of-the-bench\ntiling: {{size: {SIDE}}}\nbases: {{search: {search}}}\n"
        f"sources:\n  - {{format: coco, root: archive, options: {{modality: {'sar' if sar else 'optical'}}}}}\n"
    )
    context = open_context(load_config(config))
    return context, make_plan(context.config, context).jobs


def throughput(folder: Path, *, sar: bool) -> None:
    print("SAR" if sar else "optical")
    context, jobs = opened(folder, SCENES, SIDE, sar=sar)
    chosen: defaultdict[str, list[Job]] = defaultdict(list)
    for job in jobs:
        if len(chosen[job.lever_id]) < PER_LEVER:
            chosen[job.lever_id].append(job)
    spent: defaultdict[str, list[float]] = defaultdict(lambda: [0.0, 0.0, 0.0, 0.0])  # items, rejects, making, encoding
    for job in sorted((job for few in chosen.values() for job in few), key=lambda job: job.key):
        start = time.process_time()
        found = make(job, context)
        between = time.process_time()
        family = spent[job.family]
        family[2] += between - start
        if isinstance(found, Made):
            png(found.pixels)
            family[3] += time.process_time() - between
        family[0 if isinstance(found, Made) else 1] += 1
    print(f"{'family':20}{'items':>6}{'rejects':>9}{'making':>10}{'encoding':>10}{'ratio':>7}   (ms for each item)")
    ratios = []
    for family, (items, rejects, making, encoding) in sorted(spent.items()):
        if items:
            ratios.append(making / encoding)
            times = f"{1e3 * making / items:10.0f}{1e3 * encoding / items:10.0f}{ratios[-1]:7.2f}"
        else:
            times = f"{1e3 * making:10.0f}   in vain"
        print(f"{family:20}{items:6.0f}{rejects:9.0f}{times}")
    made, _, making, encoding = (sum(column) for column in zip(*spent.values(), strict=True))
    print(f"\n{made:.0f} items in {making + encoding:.1f} s of one core, {made / (making + encoding):.2f} a second")
    print(f"encoding alone {made / encoding:.2f} a second; making / encoding, mean of families", end=" ")
    print(f"{statistics.mean(ratios):.2f} (goal 1)\n", flush=True)


def memory(folder: Path) -> None:
    start = time.process_time()
    context, jobs = opened(folder, MANY, SMALL, large=JOBS, search=200)
    print(f"{MANY:,} scenes opened and planned in {time.process_time() - start:.0f} s: {len(jobs)} jobs")
    print(f"their process {peak_mb():.0f} MB; sent to each worker {len(pickle.dumps(context)) / 1e6:.1f} MB")
    large = [job for job in jobs if context.scene(job.base.scene_id).width == SIDE][:JOBS]
    processes = multiprocessing.get_context("spawn")
    ours, theirs = processes.Pipe()
    worker = processes.Process(target=work, args=(theirs, partial(make, context=context), large))
    worker.start()
    peak, growth = ours.recv()
    worker.join()
    print(f"a worker that makes {len(large)} items of {SIDE} x {SIDE}: {peak:.0f} MB at most (limit 1000)")
    print(f"of which Python's own objects grew by {growth:.2f} MB over the second half of them")


def work(connection, made, jobs) -> None:
    half = len(jobs) // 2
    for job in jobs[:half]:
        finish(made(job))
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    for job in jobs[half:]:
        finish(made(job))
    growth = tracemalloc.get_traced_memory()[0] - before
    connection.send((peak_mb(), growth / 1e6))


def finish(found) -> None:
    if isinstance(found, Made):
        png(found.pixels)


def peak_mb() -> float:
    """Return the largest resident size that this process has had."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        throughput(Path(folder) / "optical", sar=False)
        throughput(Path(folder) / "sar", sar=True)
        memory(Path(folder) / "many")


if __name__ == "__main__":
    main()
