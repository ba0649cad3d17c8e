"""`georefusal build review ...`: people judge a set without seeing its labels."""

import re
import sys
from pathlib import Path
from typing import Annotated

import typer

from georefusal_build.commands._common import build_command
from georefusal_task.core.errors import ConfigError

REVIEW = typer.Typer(
    help="Let people judge a set without seeing its labels: export, serve, import, score, adjudicate, in this order.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

DataOption = Annotated[Path, typer.Option("--data", metavar="DIR", help="The set that was reviewed.")]
ReviewArgument = Annotated[
    list[Path], typer.Argument(metavar="REVIEW...", help="What `build review import` wrote; one file or several.")
]


@REVIEW.command("export")
@build_command
def export_(
    data: Annotated[Path, typer.Argument(metavar="DIR", help="Any set in our layout: candidates, a release, others'.")],
    *,
    output: Annotated[Path, typer.Option("--output", "-o", metavar="BUNDLE", help="New folder for the bundle.")],
    reviewers: Annotated[
        str, typer.Option(metavar="A,B", help="A short code per reviewer (no names: votes are published with it).")
    ] = "a,b",
    repeats: Annotated[float, typer.Option(min=0, max=1, help="Share of items that come twice.")] = 0.1,
    catch: Annotated[float, typer.Option(min=0, max=1, help="Share of untouched images mixed in.")] = 0.05,
    session: Annotated[int, typer.Option(min=1, max=1000, help="Most items of one session.")] = 60,
    seed: Annotated[
        int | None,
        typer.Option(min=0, help="For the same bundle again. One that can be guessed lets a reader undo the keys."),
    ] = None,
) -> None:
    """Write a bundle of images and questions under opaque names, and BUNDLE.key.json beside it.

    The bundle may go to the reviewers. The key says which item is which, so keep it: nothing can be imported without
    it, and a reviewer who has it is not blind.
    """
    import secrets

    from georefusal_build.review.bundle import key_path
    from georefusal_build.review.export import Mix, blind_views, write_bundle
    from georefusal_task.data import load

    names = _reviewers(reviewers)
    benchmark = load(data)
    mix = Mix(secrets.randbits(63) if seed is None else seed, repeats, catch, session)
    views = blind_views(benchmark, mix)
    bundle, key = write_bundle(output, views, names, mix, benchmark.digest)
    roles = [known.role for known in key.items.values()]
    watched = sum(known.expects_answer for known in key.items.values())
    untouched = "untouched base images" if "catch" in roles else "answerable LOW items of the set, watched"
    sessions = ", ".join(f"{name}: {len(order)}" for name, order in bundle.reviewers.items())
    print(
        f"{output}: {roles.count('item')} items, {roles.count('repeat')} of them twice, "
        f"{watched} to catch slips ({untouched}); sessions of at most {session}: {sessions}\n"
        f"{key_path(output)}: the key, not for reviewers\n"
        f"next: georefusal build review serve {output}"
    )


@REVIEW.command()
@build_command
def serve(
    bundle: Annotated[Path, typer.Argument(metavar="BUNDLE", help="What `build review export` wrote.")],
    *,
    port: Annotated[int, typer.Option(min=0, max=65535, help="0: any that is free.")] = 8765,
    votes: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Where votes are kept. Default: BUNDLE.votes.jsonl.")
    ] = None,
    reviewer: Annotated[
        str, typer.Option(metavar="A", help="Offer the page to these reviewers alone. Default: to all.")
    ] = "",
) -> None:
    """Serve the review page on 127.0.0.1 until Ctrl-C. Nothing on the network can reach it, and it reaches nothing.

    Each vote is on the disk before the page goes on; start again with the same file to continue. To review on another
    machine, copy the bundle there (without its key) and run this there.
    """
    from georefusal_build.review.bundle import read_bundle
    from georefusal_build.review.server import ReviewServer
    from georefusal_build.review.vote_file import VoteFile

    content = read_bundle(bundle)
    file = VoteFile(votes or bundle.with_name(f"{bundle.name}.votes.jsonl"), content.ballot)
    try:
        server = ReviewServer(bundle, content, file, port=port, reviewers=_reviewers(reviewer) if reviewer else ())
    except ConfigError:
        file.close()
        raise
    if file.note:
        print(f"note: {file.note}", file=sys.stderr)
    print(f"{server.address}  (votes: {file.path}; end with Ctrl-C)", flush=True)
    try:
        server.serve_forever(poll_interval=0.2)
    except KeyboardInterrupt:
        print("ended; every vote is saved", file=sys.stderr)
    finally:
        server.server_close()


def _reviewers(text: str) -> list[str]:
    """Return the codes of a comma-separated list."""
    from georefusal_build.review.votes import REVIEWER

    names = [name.strip() for name in text.split(",")]
    for name in names:
        if not re.fullmatch(REVIEWER, name):
            raise ConfigError(f"{name!r} is no code for a reviewer: letters, digits, - and _, such as a,b")
    if len(set(names)) != len(names):
        raise ConfigError(f"a reviewer stands twice in {text!r}")
    return names
