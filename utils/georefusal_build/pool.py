"""Worker processes that take one task after another and, when one dies, say what it was busy with."""

import multiprocessing
import pickle
import signal
import traceback
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Generic, TypeVar

from georefusal_task.core.errors import DataError, GeoRefusalError

T = TypeVar("T")
Started = Callable[[str], None]
"""Called with a name before each part of a task."""
Work = Callable[[T, Started], None]


@dataclass(frozen=True)
class Failure:
    """Why a part of a task could not be done, in a form that any process understands."""

    told: str
    errno: int | None = None
    trace: str = ""

    @classmethod
    def of(cls, error: Exception) -> "Failure":
        """Return the failure that an exception means; call it where the exception is handled."""
        told = str(error) if isinstance(error, GeoRefusalError | OSError) else f"{type(error).__name__}: {error}"
        return cls(told, error.errno if isinstance(error, OSError) else None, traceback.format_exc())


class FailedError(DataError):
    """A part of a task, named `part`, could not be done."""

    def __init__(self, part: str, failure: Failure) -> None:
        super().__init__(f"{part}: {failure.told}")
        self.part = part
        self.failure = failure


@dataclass
class _Worker(Generic[T]):
    process: BaseProcess
    connection: Connection
    busy_with: str = "starting"


def run_all(tasks: Iterable[T], work: Work[T], workers: int, started: Started) -> None:
    """Do every task, in this process for one worker, else spread over spawned processes.

    work: importable, with what it holds pickled once for each worker. started: hears of each part as it begins, in this
    process. On an error the other workers are stopped at once, so that a task must leave nothing half-done behind.

    Raises:
        FailedError: with the name of the part that failed, or in which its process died.
    """
    if workers == 1:
        _run_here(tasks, work, started)
    else:
        _run_spread(iter(tasks), pickle.dumps(work), workers, started)


def _run_here(tasks: Iterable[T], work: Work[T], started: Started) -> None:
    name = ""

    def begin(part: str) -> None:
        nonlocal name
        name = part
        started(part)

    for task in tasks:
        try:
            work(task, begin)
        except Exception as error:
            raise FailedError(name, Failure.of(error)) from error


def _run_spread(tasks: Iterator[T], packed: bytes, workers: int, started: Started) -> None:
    pool: dict[Connection, _Worker[T]] = {}
    try:
        for _, task in zip(range(workers), tasks, strict=False):
            worker: _Worker[T] = _start(packed)
            pool[worker.connection] = worker
            worker.connection.send(task)
        while pool:
            for worker in [pool[ready] for ready in wait(list(pool)) if isinstance(ready, Connection)]:
                message = _next_message(worker)
                if isinstance(message, str):
                    worker.busy_with = message
                    started(message)
                elif (following := next(tasks, None)) is not None:
                    worker.connection.send(following)
                else:
                    worker.connection.send(None)
                    worker.process.join()
                    del pool[worker.connection]
    finally:
        for worker in pool.values():
            worker.process.kill()
            worker.process.join()


def _start(packed: bytes) -> _Worker[T]:
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_serve, args=(theirs, packed), daemon=True)
    process.start()
    theirs.close()  # so that the end of the process is seen here
    return _Worker(process, ours)


def _next_message(worker: _Worker[T]) -> str | None:
    """Return the name of the part that was begun, None when the task is done."""
    try:
        message: str | Failure | None = worker.connection.recv()
    except (EOFError, ConnectionError):
        worker.process.join()
        code = worker.process.exitcode
        how = f"was killed by signal {-code}" if code is not None and code < 0 else f"ended with status {code}"
        raise FailedError(worker.busy_with, Failure(f"its process {how}; is there enough memory?")) from None
    if isinstance(message, Failure):
        raise FailedError(worker.busy_with, message) from RuntimeError(message.trace)
    return message


def _serve(connection: Connection, packed: bytes) -> None:
    """The life of a worker: it ends when told so, or when nobody listens any more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches all processes; the first one decides
    with suppress(EOFError, ConnectionError):
        try:
            work = pickle.loads(packed)  # noqa: S301 - from the process that started this one
            while (task := connection.recv()) is not None:
                work(task, connection.send)
                connection.send(None)
        except (EOFError, ConnectionError):
            raise
        except Exception as error:  # noqa: BLE001 - told where it can be acted on
            connection.send(Failure.of(error))
