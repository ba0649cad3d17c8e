"""`georefusal verify`: whether a bundle's scores are those of its replies."""

from pathlib import Path
from typing import Annotated

import typer

from georefusal_task.commands import _report
from georefusal_task.commands._common import reports_errors


@reports_errors
def verify(
    bundle: Annotated[Path, typer.Argument(metavar="BUNDLE", help="A file that `georefusal bundle` wrote.")],
    *,
    data: _report.Data = None,
) -> None:
    """Read and score the replies of a bundle again and compare every figure; exit status 1 on any difference."""
    from georefusal_task.report.bundles import verify as differences_of
    from georefusal_task.report.texts import visible

    found = differences_of(bundle, data)
    if not found:
        print(f"{bundle}: every figure is that of its replies")
        return
    print(f"{bundle}: {len(found)} differences")
    for difference in found:
        print(f"  {visible(difference, 300)}")
    raise typer.Exit(1)
