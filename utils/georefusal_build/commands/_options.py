"""Arguments that several commands share."""

import os
from pathlib import Path
from typing import Annotated

import typer

Config = Annotated[Path, typer.Argument(metavar="CONFIG", help="The YAML file of the build; see docs/build.md.")]
Out = Annotated[
    Path,
    typer.Option(
        "--output", "-o", metavar="DIR", help="Folder of the finished set; DIR.part holds the work until then."
    ),
]
Plan = Annotated[
    Path | None, typer.Option("--plan", metavar="FILE", help="A plan of `build plan -o`. Default: planned anew.")
]
Workers = Annotated[
    int, typer.Option(min=1, show_default="one per CPU", help="Processes. The result does not depend on it.")
]
ShardSize = Annotated[
    int,
    typer.Option(min=1, help="Jobs stored together: what a stopped run has to make again. No result depends on it."),
]
CPUS = os.cpu_count() or 1
SHARD_SIZE = 32
