"""`georefusal build grsvqa`: answer-grounding questions from annotated images."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from georefusal_build.commands._common import build_command, print_skipped
from georefusal_task.core.errors import ConfigError

if TYPE_CHECKING:
    from georefusal_build.grsvqa_config import GrsvqaConfig


@build_command
def grsvqa(
    out: Annotated[
        Path, typer.Option("--output", "-o", metavar="DIR", help="Where the set goes; new, or an earlier build.")
    ],
    config: Annotated[
        Path | None, typer.Argument(metavar="[CONFIG]", help="YAML file with sources, shares and limits.")
    ] = None,
    *,
    source: Annotated[
        tuple[str, Path] | None,
        typer.Option(metavar="FORMAT ROOT", help="Instead of CONFIG: a format of docs/sources.md and a folder."),
    ] = None,
    complete: Annotated[
        list[str] | None,
        typer.Option(metavar="CLASS", help="With --source: a class annotated exhaustively; '*' for all. Repeatable."),
    ] = None,
    tile: Annotated[int | None, typer.Option(help="Cut images into tiles of this side, pixels.")] = None,
    total: Annotated[int | None, typer.Option(help="How many; default: as many as keep to the shares.")] = None,
    maximum: Annotated[int | None, typer.Option(help="Largest count that is asked for.")] = None,
    seed: Annotated[int | None, typer.Option(help="Seed of every draw.")] = None,
) -> None:
    """Make questions whose answers follow from boxes: is there one, how many, more, fewer or as many as of another.

    Classes are asked about only where every instance is annotated, "no" only where absence is known; answers are
    balanced. The same sources and seed give the same bytes. Evaluate with GRSVQA_DATA=DIR and the task grsvqa.
    """
    from georefusal_build.grsvqa import build_grsvqa
    from georefusal_build.sources import ReadReport

    if (config is None) == (source is None):
        raise ConfigError("give either a CONFIG file or --source FORMAT ROOT")
    if complete and source is None:
        raise ConfigError("--complete goes with --source; in a CONFIG file it stands under the source")
    changes = {"total": total, "maximum": maximum, "seed": seed, "tiles": None if tile is None else {"size": tile}}
    report = ReadReport()
    summary = build_grsvqa(_settings(config, source, complete, changes), out, _progress, report)
    print_skipped(report)
    _print(summary)


def _settings(
    config: Path | None, source: tuple[str, Path] | None, complete: list[str] | None, changes: dict[str, Any]
) -> "GrsvqaConfig":
    from georefusal_build.grsvqa_config import load_grsvqa_config, parse_grsvqa_config

    given = {name: value for name, value in changes.items() if value is not None}
    if config is not None:
        return load_grsvqa_config(config, given)
    format_, root = source or ("", Path())
    return parse_grsvqa_config(
        {"sources": [{"format": format_, "root": root, "complete": complete}], **given}, "--source"
    )


def _progress(line: str) -> None:
    typer.echo(line, err=True)


def _print(summary: dict[str, Any]) -> None:
    print(f"{'type':12}{'possible':>10}{'made':>7}  answers")
    for type_, answers in summary["made"].items():
        possible = sum(summary["possible"][type_].values())
        told = ", ".join(f"{answer}: {n}" for answer, n in answers.items())
        print(f"{type_:12}{possible:>10}{sum(answers.values()):>7}  {told}")
    for type_, missing in summary["short_of_total"].items():
        print(f"short     {type_:12}{missing:>7}")
    for type_, reasons in summary["rejected"].items():
        for reason, n in reasons.items():
            print(f"rejected  {type_:12}{reason:18}{n:>9}")
    print(f"\n{summary['questions']} questions, {summary['images']} images")
