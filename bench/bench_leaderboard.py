"""Ranking 10, 50 and 100 runs of 587 items and comparing two, in CPU seconds, without and with clusters."""

import random
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from bench.bench_scores import made_up_items
from georefusal_task.benchmarks.refusal import score_one
from georefusal_task.core.records import Reply, Status
from georefusal_task.core.verdicts import VERDICTS
from georefusal_task.data import Benchmark
from georefusal_task.report.paired import compare
from georefusal_task.report.provenance import Provenance
from georefusal_task.report.ranking import rank
from georefusal_task.report.runs import Run
from georefusal_task.tasks_table import TaskSpec

ITEMS_PER_BASE = 4


def main() -> None:
    benchmark = Benchmark(tuple(made_up_items(587)), "d" * 64, "made up")
    known = {
        item.case.id: Provenance(id=item.case.id, base_id=str(number // ITEMS_PER_BASE))
        for number, item in enumerate(benchmark.items)
    }
    compare(made_up_run(benchmark, 0), made_up_run(benchmark, 1))  # imports what it needs
    print(f"{'runs':>5} {'rank':>9} {'rank, clusters':>15} {'compare':>9} {'compare, clusters':>18}")
    for count in (10, 50, 100):
        runs = [made_up_run(benchmark, seed) for seed in range(count)]
        joined = [replace(run, provenance=known) for run in runs]
        times = [timed(lambda: rank(runs)), timed(lambda: rank(joined))]  # noqa: B023
        times += [timed(lambda: compare(*runs[:2])), timed(lambda: compare(*joined[:2]))]  # noqa: B023
        print(f"{count:>5} {times[0]:>7.2f} s {times[1]:>13.2f} s {times[2]:>7.2f} s {times[3]:>16.2f} s")


def made_up_run(benchmark: Benchmark, seed: int) -> Run:
    rng = random.Random(seed)
    skill = rng.uniform(0.3, 0.9)
    rows = [
        score_one(
            item.case,
            item.label,
            [Reply(item.label.gold if rng.random() < skill else rng.choice(VERDICTS), Status.JSON, answer="yes")],
        )
        for item in benchmark.items
    ]
    spec = TaskSpec("georefusalbench")
    return Run(f"model {seed}", spec.name, spec, tuple(sorted(rows, key=lambda row: row.id)), {}, benchmark)


def timed(work: Callable[[], Any]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


if __name__ == "__main__":
    main()
