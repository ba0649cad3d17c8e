"""Bundles of the mini set and votes on them, made as the page makes them."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread
from typing import Any

from georefusal_build.review.bundle import Bundle, Key, Known
from georefusal_build.review.export import Mix, blind_views, write_bundle
from georefusal_build.review.server import ReviewServer
from georefusal_build.review.vote_file import VoteFile
from georefusal_task.data import Benchmark, load_mini

Choice = dict[str, Any]
Voter = Callable[[Known], Choice]
SURE: Choice = {"answer": "", "alt": None, "confidence": 3, "flags": [], "note": ""}


def bundle_of(folder: Path, benchmark: Benchmark | None = None, **mix: Any) -> tuple[Path, Bundle, Key]:
    """Return the folder, the bundle and its key, for reviewers a and b."""
    benchmark = benchmark or load_mini()
    settings = Mix(**{"seed": 7, **mix})
    views = blind_views(benchmark, settings)
    bundle, key = write_bundle(folder / "bundle", views, ["a", "b"], settings, benchmark.digest)
    return folder / "bundle", bundle, key


def fields(bundle: Bundle, reviewer: str, order: int, **choice: Any) -> dict[str, Any]:
    """Return what the page sends when a reviewer judges item number `order` of theirs."""
    item = bundle.ballot.orders[reviewer][order - 1]
    seen = {"item_id": item, "content": bundle.items[item].content, "reviewer": reviewer, "ms": 20_000, "order": order}
    return {**SURE, "verdict": "REFUSE_AMBIGUOUS_QUERY", **choice, **seen}


def vote_all(path: Path, bundle: Bundle, key: Key, voters: dict[str, Voter]) -> Path:
    """Write the votes of each reviewer on everything they are shown, and return the file."""
    file = VoteFile(path, bundle.ballot)
    for reviewer, voter in voters.items():
        for order, item in enumerate(bundle.ballot.orders[reviewer], 1):
            file.append(fields(bundle, reviewer, order, **voter(key.items[item])))
    file.close()
    return path


def says(verdict: str, answer: str = "", **more: Any) -> Choice:
    """Return a choice."""
    return {"verdict": verdict, "answer": answer, **more}


def knows(benchmark: Benchmark, but: dict[str, Choice] | None = None) -> Voter:
    """Return a reviewer who gives the gold label of every item, except where `but` says something else by item id."""

    def vote(known: Known) -> Choice:
        label = benchmark.by_id[known.item].label
        if known.role == "catch":
            return says("ANSWER", known.answer or "yes")
        if but and known.item in but:
            return but[known.item]
        return says(label.gold, (label.answer or "yes") if label.gold == "ANSWER" else "")

    return vote


@contextmanager
def serving(
    folder: Path, bundle: Bundle, votes: Path, reviewers: Iterable[str] = (), port: int = 0
) -> Iterator[ReviewServer]:
    """Serve a bundle in a thread."""
    server = ReviewServer(folder, bundle, VoteFile(votes, bundle.ballot), port=port, reviewers=tuple(reviewers))
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
