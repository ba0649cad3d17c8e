"""What every command shares: the error line on stderr and the exit status."""

import functools
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
        except (GeoRefusalError, OSError) as error:
            if debug:
                raise
            print(f"error: {error}", file=sys.stderr)
            raise typer.Exit(1) from None

    return run  # type: ignore[return-value]
