"""`georefusal power`: what this benchmark can show, before a model is run."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from georefusal_task.commands import _report
from georefusal_task.commands._common import reports_errors
from georefusal_task.core.errors import ConfigError

if TYPE_CHECKING:
    from georefusal_task.report.planning import Design
    from georefusal_task.report.tables import Table


@reports_errors
def power(
    *,
    effect: Annotated[
        float, typer.Option("--effect", help="Difference of accept_acc to be found, such as 0.05.")
    ] = 0.05,
    n: Annotated[
        int | None, typer.Option("--n", min=2, help="Items; else those of --data, else the released 587.")
    ] = None,
    discordance: Annotated[
        list[float] | None,
        typer.Option(
            "--discordance", help="Share of items on which the two differ; can be repeated. compare prints it."
        ),
    ] = None,
    clusters: Annotated[
        int | None,
        typer.Option("--clusters", min=2, help="Number of base questions or images that the items come from."),
    ] = None,
    correlation: Annotated[
        float | None,
        typer.Option("--correlation", min=0, max=1, help="Of paired differences inside a cluster; 0.3 unless told."),
    ] = None,
    data: _report.Data = None,
) -> None:
    """Show the power of the paired test, the smallest detectable difference and the items needed, also by class.

    Two models that meet the same items are compared on those where they differ: how many that are (the discordance)
    decides what can be shown. It is 0.1 for variants of one model, 0.25 for two good ones, 0.4 for unlike ones.
    """
    from georefusal_task.report.planning import DISCORDANCES, RELEASED_ANSWERABLE, RELEASED_N, SAME_BASE, Design

    shares = discordance or list(DISCORDANCES)
    for share in shares:
        if not 0 < effect <= share <= 1:
            raise ConfigError(
                f"--effect {effect} must lie above 0 and not above --discordance {share}, which is at most 1"
            )
    if data:
        counts = _counts(data)
        total = counts["all items"]
    else:
        counts = {"answerable": RELEASED_ANSWERABLE, "must be refused": RELEASED_N - RELEASED_ANSWERABLE}
        total = RELEASED_N
    scaled = {name: max(1, round(count * (n or total) / total)) for name, count in counts.items()}
    design = Design(n or total, clusters, SAME_BASE if correlation is None else correlation)
    print(_whole(effect, shares, design).plain())
    print(_classes(scaled, shares, design).plain(), end="")


def _counts(data: Path) -> dict[str, int]:
    from georefusal_task import data as loader
    from georefusal_task.core.verdicts import VERDICTS

    items = loader.load(data).items
    gold = {str(verdict): sum(item.label.gold == verdict for item in items) for verdict in VERDICTS}
    answerable = sum("ANSWER" in item.label.accept for item in items)
    return {
        "all items": len(items),
        "answerable": answerable,
        "must be refused": len(items) - answerable,
        **{f"gold {name}": count for name, count in gold.items() if count},
    }


def _whole(effect: float, shares: list[float], design: "Design") -> "Table":
    from georefusal_task.report.planning import detectable, items_needed
    from georefusal_task.report.planning import power as chance
    from georefusal_task.report.tables import Table

    about = (
        "independent items, exact McNemar"
        if design.clusters is None
        else f"{design.clusters} clusters, variance times {design.inflation:.2f}"
    )
    return Table(
        caption=f"Two models on the same {design.n} items ({about}); two-sided test at 5 %",
        columns=("Discordance", f"Power at {100 * effect:g} points", "Found in 80 % of cases", "Items needed for 80 %"),
        rows=tuple(
            (
                f"{share:.2f}",
                f"{chance(effect, share, design):.2f}",
                _points(detectable(share, design)),
                str(items_needed(effect, share, design)),
            )
            for share in shares
        ),
    )


def _classes(counts: dict[str, int], shares: list[float], design: "Design") -> "Table":
    from georefusal_task.report.planning import ALPHA, Design, detectable
    from georefusal_task.report.tables import Table

    rows = []
    for name, count in counts.items():
        clusters = design.clusters and max(1, round(design.clusters * count / design.n))
        part = Design(count, clusters, design.correlation)
        level = ALPHA / 6 if name.startswith("gold") else ALPHA
        rows.append((name, str(count), *(_points(detectable(share, part, level)) for share in shares)))
    notes = ("by gold verdict: at 5 % / 6, for six tests",) if any(name.startswith("gold") for name in counts) else ()
    return Table(
        caption="Smallest difference found in 80 % of cases, by class",
        columns=("Class", "n", *(f"discordance {share:.2f}" for share in shares)),
        rows=tuple(rows),
        notes=notes,
    )


def _points(difference: float | None) -> str:
    return "none" if difference is None else f"{100 * difference:.1f} points"
