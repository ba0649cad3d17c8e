"""`georefusal build consensus`: which candidates the verifiers agree on."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from georefusal_build.commands._common import build_command


@build_command
def consensus(
    data: Annotated[Path, typer.Argument(metavar="DIR", help="The candidates that were voted on.")],
    *,
    image: Annotated[
        list[str],
        typer.Option(
            "--image",
            metavar="[NAME=]LOG",
            help="Sample log (or folder of results) of georefusal_verify_image, one per verifier; repeat.",
        ),
    ],
    informed: Annotated[
        list[str] | None,
        typer.Option("--informed", metavar="[NAME=]LOG", help="The same for georefusal_verify_informed."),
    ] = None,
    out: Annotated[Path, typer.Option("--out", "-o", metavar="DIR", help="New folder: what stays, and the report.")],
    minimum: Annotated[int, typer.Option("--minimum", min=1, help="Verifiers that an item needs.")] = 3,
    minimum_nonfactual: Annotated[
        int, typer.Option("--minimum-nonfactual", min=1, help="The same for questions that no image can settle.")
    ] = 5,
) -> None:
    """Apply the rules of unanimity to verifiers' logs, and report how far the verifiers can be relied on.

    A measured label stands whatever they say: where none (of an answerable one: not all) sees it, the item is contested
    and goes to people. A label that rests on consensus needs every verifier, blind and informed. Nothing is decided by
    a majority; a reply that cannot be read agrees with nothing.
    """
    from georefusal_build.consensus.rules import Needed, Outcome, decide_all
    from georefusal_build.consensus.votes import read_verifiers, same_replies
    from georefusal_build.consensus.written import write_consensus
    from georefusal_build.layout import read_set
    from georefusal_task.core.errors import ConfigError

    if out.exists():
        raise ConfigError(f"{out} exists; delete it or name a new folder")
    items = read_set(data)
    verifiers = read_verifiers(image, informed or [], {item.id for item in items})
    for one, other in same_replies(verifiers):
        _note(f"{one} and {other} said the same word for word: is that one verifier under two names?")
    needed = Needed(minimum, minimum_nonfactual)
    decisions = decide_all(items, verifiers, needed)
    write_consensus(data, out, decisions, verifiers, needed)
    for outcome in Outcome:
        print(f"{outcome}: {sum(one.outcome is outcome for one in decisions)} of {len(decisions)}")
    if few := sum(len(one.votes) < needed.of(one.item.label) for one in decisions):
        _note(
            f"{few} items were judged by fewer verifiers than they need: {minimum}, or {minimum_nonfactual} where no "
            "image can settle the question (--minimum, --minimum-nonfactual)"
        )
    print(f"report: {out / 'CONSENSUS.md'}")


def _note(text: str) -> None:
    print(f"note: {text}", file=sys.stderr)
