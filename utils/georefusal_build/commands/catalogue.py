"""`georefusal build catalogue`: which levers there are."""

import json
from pathlib import Path
from typing import Annotated

import typer

from georefusal_build.commands._common import build_command
from georefusal_task.commands._common import write_result


@build_command
def catalogue(
    docs: Annotated[
        Path | None,
        typer.Option(help="Write catalogue.md (the table) and bands.json (what each label needs) to this folder."),
    ] = None,
) -> None:
    """Print the ids of all levers, one per line, family by family: LOW stays answerable, MEDIUM and HIGH do not.

    Every other command takes these ids, or a family's name (the id without its intensity).
    """
    from georefusal_build.bands import to_json
    from georefusal_build.catalogue import levers, page

    if docs is None:
        print("\n".join(one.id for one in levers()))
        return
    docs.mkdir(parents=True, exist_ok=True)
    write_result(docs / "catalogue.md", page())
    write_result(docs / "bands.json", json.dumps(to_json(), indent=1) + "\n")
