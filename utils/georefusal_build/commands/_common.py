"""What the commands of the workshop share."""

import functools
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from georefusal_task.commands._common import reports_errors
from georefusal_task.core.errors import ConfigError

if TYPE_CHECKING:
    from georefusal_build.line import Build
    from georefusal_build.sources import ReadReport

_F = TypeVar("_F", bound=Callable[..., Any])
_EXTRA = {"cv2", "ijson", "shapely", "sklearn", "threadpoolctl", "yaml"}
"""Modules that come with the extra `build`."""
_SHOWN = 10


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


def print_skipped(report: "ReadReport", remarks: Sequence[str] = ()) -> None:
    """Say on stderr what the readers left out, and what may have been meant otherwise."""
    skipped = [report.summary()] if report.counts else []
    for told in (*report.problems[:_SHOWN], *skipped, *remarks):
        print(f"warning: {told}", file=sys.stderr)


def make_with_progress(build: "Build", workers: int, shard_size: int) -> None:
    """Make what is left, with a bar on stderr where somebody is looking."""
    from tqdm import tqdm

    with tqdm(total=len(build.jobs), unit="job", disable=None) as bar:
        build.make(workers, shard_size, bar.update)


def print_summary(summary: Mapping[str, Any], out: Path) -> None:
    """Print the yield: what was made, by lever, and why the rest was not."""
    print(f"{'lever':24}{'items':>7}{'rejects':>9}  because")
    for lever, row in summary["levers"].items():
        because = ", ".join(f"{count} {reason}" for reason, count in row["rejects"].items())
        print(f"{lever:24}{row['items']:7}{sum(row['rejects'].values()):9}  {because}")
    print(f"\n{summary['items']} items, {summary['rejects']} rejects (rejects.jsonl says why, one by one)")
    for name in ("sets", "verdicts", "reasons"):
        print(f"{name:10}" + ", ".join(f"{key} {count}" for key, count in summary[name].items()))
    print(f"{out}: every row unreviewed; evaluate with GEOREFUSAL_DATA={out} lmms-eval --tasks georefusalbench ...")
