"""Votes joined to the items that they are about: what `review import` writes and the later steps read."""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Literal

from pydantic import Field, ValidationError

from georefusal_build.review.bundle import Key, Kind, Known, Role
from georefusal_build.review.votes import REMOVE, Judgement, Vote, VoteLines, read_votes
from georefusal_task.core.errors import DataError
from georefusal_task.core.verdicts import Verdict
from georefusal_task.data import Benchmark, Item
from georefusal_task.replies import json_lines

SCHEMA = "review-joined/1"


class Judged(Judgement):
    """The vote of one reviewer on one view of one item; of several votes on it, the last."""

    schema_: Literal["review-joined/1"] = Field("review-joined/1", alias="schema")
    id: str
    item_sha256: str
    """Digest of the set's own image and question, so that the vote stays with them; see `item_digest`."""
    kind: Kind
    role: Role
    reviewer: str
    expects_answer: bool
    right_answer: str | None
    """Of a catch item: the yes or no that is known to be right."""
    ms: int
    order: int
    votes: int
    """How many votes the reviewer gave on this view."""


def item_digest(image_sha256: str, question: str) -> str:
    """Return a digest of an item's own image file and question."""
    return hashlib.sha256(f"{image_sha256}\0{question}".encode()).hexdigest()


def join(files: Sequence[tuple[Path, VoteLines]], key: Key, benchmark: Benchmark) -> list[Judged]:
    """Return the votes of vote files as judgements of items, sorted by reviewer and order.

    Raises:
        DataError: a vote stands in two files, or two files hold votes of one reviewer on one item; or the set is not
            the one that was shown.
    """
    _check_set(key, benchmark)
    seals: dict[str, str] = {}
    last: dict[tuple[str, str], tuple[Path, list[Vote]]] = {}
    for path, lines in files:
        for number, vote in lines.votes:
            where = f"{path}:{number}"
            if (earlier := seals.setdefault(vote.seal, where)) != where:
                raise DataError(f"{where}: this vote stands already in {earlier}; name each file once")
            first, given = last.setdefault((vote.reviewer, vote.item_id), (path, []))
            if first != path:
                raise DataError(
                    f"{where}: {vote.reviewer} has voted on {vote.item_id} in {first} too, and nothing says which vote "
                    "came later; keep one of the two files"
                )
            given.append(vote)
    joined = [_joined(votes, key, benchmark) for _, votes in last.values()]
    return sorted(joined, key=lambda one: (one.reviewer, one.order))


def missing(votes: Iterable[Judged], key: Key) -> dict[str, int]:
    """Return reviewer -> how many of the views shown to them have no vote."""
    given = [vote.reviewer for vote in votes]
    return {name: len(order) - given.count(name) for name, order in key.ballot.orders.items()}


def read_all(paths: Sequence[Path], key: Key) -> list[tuple[Path, VoteLines]]:
    """Return the checked lines of vote files.

    Raises: as `votes.read_votes`.
    """
    return [(path, read_votes(path, key.ballot)) for path in paths]


def read_joined(paths: Sequence[Path], benchmark: Benchmark) -> list[Judged]:
    """Return what `review import` wrote, from one file or several.

    Raises:
        DataError: a line is not of it, stands twice, or is about another item than the set has.
    """
    found: dict[tuple[str, str, str, str], Judged] = {}
    for path in paths:
        for line, row in json_lines(path):
            where = f"{path}:{line}"
            try:
                one = Judged.model_validate(row)
            except ValidationError as error:
                first = error.errors()[0]
                raise DataError(
                    f"{where}: {'.'.join(map(str, first['loc'])) or 'row'}: {first['msg']}; expected a line that "
                    "`build review import` wrote"
                ) from None
            _check_item(where, one, benchmark)
            same = (one.kind, one.reviewer, one.id, one.role)
            if same in found:
                raise DataError(f"{where}: {one.reviewer} has judged {one.id} already; name each file once")
            found[same] = one
    if not found:
        raise DataError(f"{', '.join(map(str, paths))}: no vote in there")
    return list(found.values())


def by_reviewer(votes: Iterable[Judged], role: Role = "item", kind: Kind = "blind") -> dict[str, dict[str, Judged]]:
    """Return reviewer -> item id -> judgement, for views of one role."""
    found: dict[str, dict[str, Judged]] = {}
    for vote in sorted(votes, key=lambda one: (one.reviewer, one.id)):
        if vote.role == role and vote.kind == kind:
            found.setdefault(vote.reviewer, {})[vote.id] = vote
    return found


def chosen(vote: Judged) -> Verdict | None:
    """Return the verdict of a judgement; None where a third person wants the item removed."""
    return None if vote.verdict == REMOVE else Verdict(vote.verdict)


def _joined(votes: Sequence[Vote], key: Key, benchmark: Benchmark) -> Judged:
    vote = votes[-1]
    known = key.items[vote.item_id]
    item = benchmark.by_id[known.item]
    return Judged(
        **vote.model_dump(include=set(Judgement.model_fields)),
        id=known.item,
        item_sha256=item_digest(item.image_sha256, item.case.question),
        kind=key.kind,
        role=known.role,
        reviewer=vote.reviewer,
        expects_answer=known.expects_answer,
        right_answer=known.answer,
        ms=vote.ms,
        order=vote.order,
        votes=len(votes),
    )


def _check_set(key: Key, benchmark: Benchmark) -> None:
    for known in key.items.values():
        item = benchmark.by_id.get(known.item)
        if item is None:
            raise DataError(f"{benchmark.source} has no item {known.item}, which was reviewed; check --data")
        if known.role != "catch" and not _same(known, item):
            raise DataError(
                f"{known.item} has another image or question in {benchmark.source} than the one that was reviewed; "
                "its votes cannot be moved to it"
            )


def _same(known: Known, item: Item) -> bool:
    return (known.source_sha256, known.question) == (item.image_sha256, item.case.question)


def _check_item(where: str, one: Judged, benchmark: Benchmark) -> None:
    item: Mapping[str, Item] = benchmark.by_id
    if one.id not in item:
        raise DataError(f"{where}: {benchmark.source} has no item {one.id}; check --data")
    if item_digest(item[one.id].image_sha256, item[one.id].case.question) != one.item_sha256:
        raise DataError(f"{where}: {one.id} has another image or question now than when it was reviewed")
