"""What the commands of the workshop share."""

import functools
from collections.abc import Callable
from typing import Any, TypeVar

from georefusal_task.commands._common import reports_errors
from georefusal_task.core.errors import ConfigError

_F = TypeVar("_F", bound=Callable[..., Any])
_EXTRA = {"cv2", "ijson", "shapely", "yaml"}
"""Modules that come with the extra `build`."""


def build_command(command: _F) -> _F:
    """Report expected errors as all commands do, and name the extra when its packages are not installed."""

    @functools.wraps(command)
    def run(*args: Any, **kwargs: Any) -> Any:
        try:
            return command(*args, **kwargs)
        except ModuleNotFoundError as error:
            if error.name not in _EXTRA:
                raise
            raise ConfigError("the workshop needs the extra `build`: pip install 'georefusal[build]'") from error

    return reports_errors(run)  # type: ignore[return-value]
