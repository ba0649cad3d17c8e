"""The report of 1, 10 and 100 runs over 587 items, in CPU seconds: time must grow as the number of runs does."""

import random
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from support.runs import skilled, texts, write_provenance, write_replies
from support.twin import make_twin

from georefusal_task import data as loader
from georefusal_task.report.page import render
from georefusal_task.report.runs import load_runs

T = TypeVar("T")


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        twin = loader.load(make_twin(folder / "data", provenance="none"))
        provenance = write_provenance(folder / "made")
        files = [
            write_replies(folder / f"{number:03d}.jsonl", texts(skilled(0.3 + 0.006 * number, number)))
            for number in range(100)
        ]
        random.Random(0).shuffle(files)
        render(load_runs(files[:1], data=twin))  # imports what it needs
        print(f"{'runs':>5} {'provenance':>11} {'reading':>10} {'page':>10} {'per run':>10} {'size':>10}")
        for count, known in ((1, None), (10, None), (100, None), (1, provenance), (10, provenance)):
            reading, runs = timed(lambda: load_runs(files[:count], data=twin, provenance=known))  # noqa: B023
            making, page = timed(lambda: render(runs))  # noqa: B023
            print(
                f"{count:>5} {'yes' if known else 'no':>11} {reading:>8.2f} s {making:>8.2f} s "
                f"{(reading + making) / count:>8.2f} s {len(page.encode()) / 1e6:>7.1f} MB"
            )


def timed(work: Callable[[], T]) -> tuple[float, T]:
    start = time.process_time()
    result = work()
    return time.process_time() - start, result


if __name__ == "__main__":
    main()
