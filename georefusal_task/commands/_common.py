"""What every command shares: the error line on stderr and the exit status."""

import functools
import os
import sys
from collections.abc import Callable
from typing import Any, TypeVar

import typer

from georefusal_task.core.errors import GeoRefusalError

_F = TypeVar("_F", bound=Callable[..., Any])

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
