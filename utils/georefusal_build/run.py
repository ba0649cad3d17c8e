"""Running a plan: every job made once, over any number of processes, however often it is stopped and started again."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from georefusal_build.pool import FailedError, run_all
from georefusal_build.store import FULL, Job, Make, MakeShard, Work, is_finished, missing, open_work, shards
from georefusal_task.core.errors import DataError

Progress = Callable[[int], None]
"""Hears how many more jobs are done."""


def run_jobs(
    jobs: Sequence[Job],
    make: Make[Job],
    out: Path,
    *,
    identity: Mapping[str, str],
    workers: int = 1,
    shard_size: int = 32,
    progress: Progress = lambda _: None,
) -> None:
    """Make and store every job that is not stored yet, in the work folder of the build that will appear at `out`.

    make: importable; what it holds is pickled once for each worker. identity: what is built and by which versions; a
    folder that was begun with another one is refused. The rows that are stored in the end do not depend on `workers`,
    `shard_size`, or how often the run was stopped. Where `out` is finished there is nothing to do.

    Raises:
        ConfigError: the folder is in use, or belongs to another build.
        DataError: a job failed, a worker died, or the disk is full; it names the job and says how to go on. What was
            stored stays.
    """
    if is_finished(out, identity):
        progress(len(jobs))
        return
    with open_work(out, identity) as work:
        done = work.done()
        left = missing(jobs, done)
        progress(len(jobs) - len(left))
        try:
            run_all(shards(jobs, shard_size, done), MakeShard(work, make), workers, lambda _: progress(1))
        except FailedError as error:
            raise DataError(_how_to_go_on(error, work, jobs)) from error


def _how_to_go_on(error: FailedError, work: Work, jobs: Sequence[Job]) -> str:
    left = missing(jobs, work.done())
    state = f"{len(jobs) - len(left)} of {len(jobs)} jobs are stored in {work.root}, {len(left)} are missing"
    if error.failure.errno in FULL:
        return (
            f"no room left to write ({error.failure.told}); {state}. Make room there and run the same command again: "
            f"it goes on with {left[0]}"
        )
    return f"job {error}; {state}. Run the same command again to go on once the cause is gone"
