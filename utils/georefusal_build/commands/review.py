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


@REVIEW.command("import")
@build_command
def import_(
    votes: Annotated[list[Path], typer.Argument(metavar="VOTES...", help="Vote files of one bundle.")],
    *,
    key: Annotated[Path, typer.Option(metavar="FILE", help="The key of the bundle: BUNDLE.key.json.")],
    data: DataOption,
    output: Annotated[Path, typer.Option("--output", "-o", metavar="REVIEW", help="File for the joined votes.")],
) -> None:
    """Check every vote, and join the votes to the items that they are about.

    A line that was forged, changed, moved, doubled or belongs to another bundle is refused with its number. A last line
    that was cut off in writing was never confirmed to anybody: it is left out, and said.
    """
    from georefusal_build.layout import json_line
    from georefusal_build.review.bundle import read_key
    from georefusal_build.review.joined import join, missing, read_all
    from georefusal_task.commands._common import write_result
    from georefusal_task.data import load

    known = read_key(key)
    files = read_all(votes, known)
    for path, lines in files:
        if lines.torn:
            print(f"note: {path}: the last line is cut off and left out; it was never confirmed", file=sys.stderr)
    joined = join(files, known, load(data))
    write_result(output, "".join(json_line(one.model_dump(mode="json", by_alias=True)) for one in joined))
    for name, count in missing(joined, known).items():
        shown = len(known.ballot.orders[name])
        print(f"{name}: {shown - count} of {shown} views have a vote")


@REVIEW.command()
@build_command
def score(
    review: ReviewArgument,
    *,
    data: DataOption,
    json: Annotated[Path | None, typer.Option("--json", metavar="OUT", help="Also write all figures here.")] = None,
    replies: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Also write REVIEWER.jsonl per reviewer, as replies for `georefusal score`."),
    ] = None,
) -> None:
    """Print how far the reviewers agree with each other, with themselves, with untouched images and with the labels.

    Intervals are resampled over base images. With --replies each reviewer becomes a file of replies, which is scored
    like a model's: the human row.
    """
    from json import dumps

    from georefusal_build.layout import json_line, read_set
    from georefusal_build.review.joined import by_reviewer, read_joined
    from georefusal_build.review.lines import text
    from georefusal_build.review.summary import summary
    from georefusal_task.commands._common import write_result
    from georefusal_task.data import load

    votes = read_joined(review, load(data))
    report = summary(read_set(data, needs_provenance=False), votes)
    print(text(report))
    if json:
        json.parent.mkdir(parents=True, exist_ok=True)
        write_result(json, dumps(report, indent=1) + "\n")
    if replies:
        replies.mkdir(parents=True, exist_ok=True)
        for name, own in by_reviewer(votes).items():
            said = [
                {
                    "id": item,
                    "text": dumps({"verdict": vote.verdict, "answer": vote.answer, "justification": vote.note}),
                    "model": f"reviewer {name}",
                }
                for item, vote in own.items()
            ]
            write_result(replies / f"{name}.jsonl", "".join(map(json_line, said)))


@REVIEW.command()
@build_command
def adjudicate(
    review: ReviewArgument,
    *,
    data: DataOption,
    output: Annotated[Path, typer.Option("--output", "-o", metavar="OUT", help="New folder for the reviewed set.")],
    third: Annotated[str, typer.Option(metavar="C", help="Code of the third person.")] = "c",
    remeasured: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help='JSONL {"id", "verdict"}: what a repeated measurement gives.'),
    ] = None,
    measurements_stand: Annotated[
        bool,
        typer.Option(
            "--measurements-stand", help="All other contradicted measurements were repeated and gave the same."
        ),
    ] = False,
    seed: Annotated[int | None, typer.Option(min=0, help="For the same queue again; see export.")] = None,
) -> None:
    """Write the reviewed set, or what has to be decided before it can be written (exit status 3).

    Where the two differ, OUT.third is a bundle for a third person: serve and import it like the first, and name both
    imports here. Where both contradict a measurement, OUT.remeasure.jsonl lists the items: repeat the measurement; if
    it stands, the item goes, never the measurement. Removed items are listed with reasons in OUT/review.json.
    """
    import secrets

    from georefusal_build.layout import json_line, read_set
    from georefusal_build.review.adjudicate import measured_now, read_measured, rule, write_queue, write_reviewed
    from georefusal_build.review.export import Mix
    from georefusal_build.review.joined import read_joined
    from georefusal_build.review.merge import Fate
    from georefusal_task.commands._common import write_result
    from georefusal_task.data import load

    if output.exists():
        raise ConfigError(f"{output} exists; delete it or name a new folder")
    benchmark = load(data)
    again = read_measured(remeasured) if remeasured else {}
    items = read_set(data, needs_provenance=False)
    ruling = rule(items, read_joined(review, benchmark), measured_now(again, stand=measurements_stand))
    if not ruling.open:
        report = write_reviewed(output, ruling, data)
        counts = report["counts"]
        reasons = ", ".join(f"{reason} {count}" for reason, count in report["reasons"].items())
        removed = f"{counts['removed']} removed" + (f" ({reasons})" if reasons else "")
        print(f"{output}: {counts['kept']} items, {counts['changed']} with another verdict; {removed}")
        for warning in report["alarms"]:
            print(f"ALARM: {warning}", file=sys.stderr)
        return
    waiting, differ, measured = (ruling.of(fate) for fate in (Fate.WAIT, Fate.THIRD, Fate.REMEASURE))
    if waiting:
        print(f"items with fewer than two votes: {len(waiting)}, the first being {waiting[0].id}", file=sys.stderr)
    if differ:
        queue = output.with_name(f"{output.name}.third")
        if not queue.exists():
            mix = Mix(secrets.randbits(63) if seed is None else seed, repeats=0, catch=0)
            write_queue(queue, ruling, _reviewers(third)[0], benchmark.digest, mix)
        print(f"items for a third person: {len(differ)}; next: georefusal build review serve {queue}", file=sys.stderr)
    if measured:
        todo = output.with_name(f"{output.name}.remeasure.jsonl")
        rows = [
            {"id": item.id, "gold": item.label.gold, "reviewers": ruling.decisions[item.id].verdict}
            for item in measured
        ]
        write_result(todo, "".join(map(json_line, rows)))
        print(f"measurements to repeat (see --remeasured): {len(measured)}, listed in {todo}", file=sys.stderr)
    raise typer.Exit(3)
