"""What every command shares: the error line on stderr, the exit status, and how results are written."""

import functools
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn, TypeVar

import typer

from georefusal_task.core.errors import DataError, GeoRefusalError

_F = TypeVar("_F", bound=Callable[..., Any])

_SHOWN = 10

debug = False
"""Set by `georefusal --debug`: show tracebacks instead of one-line errors."""


def reports_errors(command: _F) -> _F:
    """Turn an expected error into one line on stderr and exit status 1; `--debug` lets the traceback through."""

    @functools.wraps(command)
    def run(*args: Any, **kwargs: Any) -> Any:
        try:
            return command(*args, **kwargs)
        except BrokenPipeError:
            # the reader of our output has had enough (`| head`): no error, but what is left must not be flushed
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise typer.Exit(0) from None
        except (GeoRefusalError, OSError) as error:
            if debug:
                raise
            print(f"error: {error}", file=sys.stderr)
            raise typer.Exit(1) from None

    return run  # type: ignore[return-value]


def fail_with(what: str, problems: list[str]) -> NoReturn:
    """Raise the DataError that says what is wrong and lists the first problems."""
    more = len(problems) - _SHOWN
    raise DataError("\n  ".join([what, *problems[:_SHOWN], *([f"... and {more} more"] if more > 0 else [])]))


def write_result(file: Path, content: str | bytes) -> None:
    """Write a result so that an earlier one under this name stays whole when the disk is full.

    Raises:
        OSError: it cannot be written; unlike Python's own it names the file in every case.
    """
    data = content.encode() if isinstance(content, str) else content
    special = file.exists() and not file.is_file()  # such as /dev/stdout
    target = file if special else file.resolve()  # a link stays one
    part = target if special else target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        part.write_bytes(data)
        if not special:
            part.replace(target)
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(file)) from error
    finally:
        if not special:
            part.unlink(missing_ok=True)
