"""`georefusal audit`: can the labels of a set be guessed without looking?"""

from pathlib import Path
from typing import Annotated

import typer

from georefusal_build.commands._common import build_command
from georefusal_task.commands._common import write_result
from georefusal_task.core.errors import ConfigError


@build_command
def audit(
    data: Annotated[
        Path,
        typer.Argument(metavar="DIR", help="Candidates, a release, or GeoRefusalBench; with or without provenance/."),
    ],
    *,
    run: Annotated[
        list[str] | None,
        typer.Option(
            "--run",
            metavar="LABEL=RESULTS",
            help="A model's run without the image or with another item's (georefusalbench_noimage, _shuffled): its "
            "results folder, sample log or reply file. May be repeated.",
        ),
    ] = None,
    exclude: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="DIR",
            help="Images that must not be in the set (training or other evaluation data): a folder of images, or a set "
            "in our layout. May be repeated.",
        ),
    ] = None,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="DIR", help="Where AUDIT.md and audit.json go.")
    ] = Path(),
    full: Annotated[
        bool, typer.Option("--full", help="300 trees, 20 repeats, 1,000 refits: several times as long.")
    ] = False,
    jobs: Annotated[int, typer.Option(min=1, help="Processes; no figure depends on it.")] = 2,
) -> None:
    """Look for what gives the labels of a set away, and fail it where something does.

    Classifiers guess labels from ids, files, wording, whole-image figures and base answers, never from a source image
    that they learnt from. Exit status 1 when a gate fails, when the set is too small for one, or when it shows an
    excluded image. A pass means that these probes found nothing.
    """
    import json
    from dataclasses import replace

    from georefusal_build.audit.contamination import contamination, overlap_markdown
    from georefusal_build.audit.report import VERDICTS, audit_json, audit_markdown
    from georefusal_build.audit.run import audit as run_audit
    from georefusal_build.audit.settings import Settings
    from georefusal_build.commands._progress import bars

    output.mkdir(parents=True, exist_ok=True)
    settings = Settings.full() if full else Settings()
    with bars() as progress:
        found = run_audit(data, replace(settings, jobs=jobs), progress, runs=_runs(run or []))
        overlap = contamination(found.subjects, exclude or [], jobs, progress)
    write_result(output / "AUDIT.md", f"{audit_markdown(found)}\n{overlap_markdown(overlap)}")
    whole = {**audit_json(found), "contamination": overlap.to_json()}
    write_result(output / "audit.json", json.dumps(whole, indent=1, allow_nan=False) + "\n")
    print(f"{VERDICTS[found.verdict].replace('*', '')} {overlap.sentence} See {output / 'AUDIT.md'}")
    if found.verdict != "nothing found" or overlap.excluded:
        raise typer.Exit(1)


def _runs(options: list[str]) -> dict[str, Path]:
    """Return label -> results of the options --run."""
    named: dict[str, Path] = {}
    for option in options:
        label, equals, path = option.partition("=")
        if not (label and equals and path):
            raise ConfigError(f"--run {option!r} is not LABEL=RESULTS, such as --run text-only=results/noimage")
        if label in named:
            raise ConfigError(f"--run names {label!r} twice; give each run a label of its own")
        named[label] = Path(path)
    return named
