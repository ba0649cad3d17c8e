"""Votes of reviewers: one line of JSON each, appended and never changed, chained so that a line cannot be moved.

Each line is bound to what its reviewer saw (`content`, a digest of image and question) and sealed together with the
reviewer's line before it. A seal proves that a file was written by the page's server; it is no secret from whoever
holds the bundle.
"""

import hashlib
import hmac
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, StrictInt, ValidationError, model_validator

from georefusal_task.core.errors import DataError
from georefusal_task.core.verdicts import REFUSALS, VERDICTS, Verdict
from georefusal_task.data_columns import quoted

SCHEMA = "review/1"
REMOVE = "REMOVE"
"""What a third person may say instead of a verdict: neither of the two votes can stand."""
REVIEWER = r"^[A-Za-z0-9][A-Za-z0-9_-]{0,31}$"
LONGEST_NOTE = 2_000
_LONGEST_LINE = 64 * 1024


class Flag(StrEnum):
    """What else a reviewer may report of an item."""

    UNNATURAL = "unnatural_image"
    BOX = "box_shaped_artefact"
    WORDING = "wording"
    CLASS = "class_name_unclear"
    DUPLICATE = "duplicate"
    OTHER = "other"


FLAG_TEXTS: dict[Flag, str] = {
    Flag.UNNATURAL: "Unnatural image",
    Flag.BOX: "Box-shaped artefact (such as a square cloud; a plainly blocked-out square is none)",
    Flag.WORDING: "Wording that cannot be understood",
    Flag.CLASS: "Class name unclear",
    Flag.DUPLICATE: "Duplicate (the very same image and question as another item)",
    Flag.OTHER: "Other",
}


class Judgement(BaseModel):
    """What a reviewer says of one item."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    verdict: Verdict | Literal["REMOVE"]
    answer: Literal["yes", "no", ""]
    """Of ANSWER: the answer; else empty."""
    alt: Verdict | None
    """A second verdict that would be acceptable too."""
    confidence: StrictInt = Field(ge=1, le=3)
    flags: tuple[Flag, ...]
    note: str = Field(max_length=LONGEST_NOTE)

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        if (self.verdict == Verdict.ANSWER) != bool(self.answer):
            raise ValueError("an answer of yes or no goes with ANSWER, and with ANSWER alone")
        if self.alt is not None and (self.verdict not in REFUSALS or self.alt in (Verdict.ANSWER, self.verdict)):
            raise ValueError("a second verdict is another refusal beside a refusal; ANSWER never stands beside one")
        if len(set(self.flags)) != len(self.flags):
            raise ValueError("a flag stands twice")
        return self

    @property
    def said(self) -> str:
        """Verdict and, of ANSWER, the answer: what two reviewers agree on or do not."""
        return f"{self.verdict} {self.answer}".strip()


class Vote(Judgement):
    """One line of a vote file."""

    schema_: Literal["review/1"] = Field(alias="schema")
    bundle: str
    item_id: str
    """The opaque key under which the bundle shows the item."""
    content: str
    """Digest of what was shown, see `content_digest`."""
    reviewer: str
    ms: StrictInt = Field(ge=0)
    """Milliseconds that the item was in view before the vote."""
    order: StrictInt
    """Place of the item in the reviewer's order, from 1."""
    seq: StrictInt
    """Number of the vote among this reviewer's, from 1; of two votes on one item the later counts."""
    seal: str


@dataclass(frozen=True)
class Ballot:
    """What votes on one bundle must agree with; known to the bundle and to its private key."""

    bundle: str
    seal: str
    """Key of the seals."""
    contents: Mapping[str, str]
    """Opaque item key -> digest of what is shown."""
    orders: Mapping[str, Sequence[str]]
    """Reviewer -> item keys in the order in which they are shown."""
    allowed: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Item key -> `Judgement.said` to choose from; every verdict where nothing is named."""

    def problem(self, vote: Vote) -> str | None:
        """Return what keeps a vote from counting here, or None."""
        order = self.orders.get(vote.reviewer, ())
        allowed = self.allowed.get(vote.item_id, ())
        checks = (
            (vote.bundle == self.bundle, f"the vote is for the bundle {quoted(vote.bundle)}, not {self.bundle}"),
            (order, f"{quoted(vote.reviewer)} is no reviewer of this bundle; they are {', '.join(self.orders)}"),
            (vote.item_id in self.contents, f"the item {quoted(vote.item_id)} is not in this bundle"),
            (
                vote.content == self.contents.get(vote.item_id),
                f"the vote on {vote.item_id} was given for another image or question; it cannot be moved",
            ),
            (
                1 <= vote.order <= len(order) and order[vote.order - 1] == vote.item_id,
                f"{vote.item_id} is not number {vote.order} in the order of {vote.reviewer}",
            ),
            (
                vote.said in allowed if allowed else vote.verdict != REMOVE,
                f"{vote.said} is no choice for {vote.item_id}; the choices are {', '.join(allowed or VERDICTS)}",
            ),
        )
        return next((problem for sound, problem in checks if not sound), None)

    def sealed(self, fields: Mapping[str, Any], before: str) -> str:
        """Return the seal of a vote's fields, chained to the seal before it ("" for a reviewer's first)."""
        text = json.dumps({key: value for key, value in fields.items() if key != "seal"}, sort_keys=True)
        return hmac.new(bytes.fromhex(self.seal), f"{before}\n{text}".encode(), hashlib.sha256).hexdigest()


def content_digest(key: str, image: bytes, question: str) -> str:
    """Return SHA-256 over the opaque key, the bytes of the image file as shown, and the question; 64 hex digits."""
    parts = (SCHEMA.encode(), key.encode(), hashlib.sha256(image).digest(), question.encode())
    return hashlib.sha256(b"\0".join(parts)).hexdigest()


@dataclass(frozen=True)
class VoteLines:
    """A vote file as read."""

    votes: tuple[tuple[int, Vote], ...]
    """(line number from 1, vote), as they stand."""
    whole: int
    """Bytes of the file up to the end of its last whole line."""
    torn: int
    """Bytes after that: a last line that was cut off in the middle of writing. It was never confirmed to anybody."""
    chain: "Chain"
    """Takes the vote that follows."""


def read_votes(path: Path, ballot: Ballot) -> VoteLines:
    """Return the votes of a file after checking each against the ballot and against the votes before it.

    Raises:
        DataError: a line is no vote, is forged, changed, moved, doubled or unknown; the message has file and line. A
            torn last line is no error.
    """
    chain = Chain(ballot)
    votes: list[tuple[int, Vote]] = []
    whole = 0
    for number, line, ended in _lines(path):
        if not ended and not _is_json(line):
            return VoteLines(tuple(votes), whole, len(line), chain)
        try:
            votes.append((number, chain.add(_row(line), number)))
        except ValueError as error:
            raise DataError(f"{path}:{number}: {error}") from None
        whole += len(line) + ended
    return VoteLines(tuple(votes), whole, 0, chain)


class Chain:
    """The votes of a file so far, as far as the next one depends on them."""

    def __init__(self, ballot: Ballot) -> None:
        self._ballot = ballot
        self._last: dict[str, tuple[int, str]] = {}
        self._places: dict[str, int] = {}

    def add(self, row: Mapping[str, Any], number: int) -> Vote:
        """Return a row as a vote once it is known to be the next one of its reviewer.

        Raises:
            ValueError: it is not; the message says why.
        """
        try:
            vote = Vote.model_validate(row)
        except ValidationError as error:
            wrong = "; ".join(f"{'.'.join(map(str, e['loc'])) or 'vote'}: {e['msg']}" for e in error.errors())
            raise ValueError(f"not a vote of the schema {SCHEMA} ({wrong})") from None
        if problem := self._ballot.problem(vote):
            raise ValueError(problem)
        if vote.seal in self._places:
            raise ValueError(f"this vote stands already in line {self._places[vote.seal]}")
        seq, seal = self._last.get(vote.reviewer, (0, ""))
        if vote.seq != seq + 1:
            raise ValueError(
                f"vote {vote.seq} of {vote.reviewer} follows vote {seq}: a line was removed, moved or doubled"
            )
        if not hmac.compare_digest(self._ballot.sealed(row, seal).encode(), vote.seal.encode()):
            raise ValueError(f"the seal of this vote of {vote.reviewer} is wrong: it, or a vote before it, was changed")
        self._last[vote.reviewer] = (vote.seq, vote.seal)
        self._places[vote.seal] = number
        return vote

    def next(self, fields: Mapping[str, Any]) -> dict[str, Any]:
        """Return the row of a reviewer's next vote, numbered and sealed."""
        seq, seal = self._last.get(str(fields.get("reviewer")), (0, ""))
        row = {"schema": SCHEMA, "bundle": self._ballot.bundle, **fields, "seq": seq + 1}
        return row | {"seal": self._ballot.sealed(row, seal)}


def _lines(path: Path) -> Iterator[tuple[int, bytes, bool]]:
    """Yield line number, line without its newline, and whether it had one."""
    with path.open("rb") as stream:
        for number, line in enumerate(stream, 1):
            yield number, line.removesuffix(b"\n"), line.endswith(b"\n")


def _is_json(line: bytes) -> bool:
    """Return whether a line is whole: no beginning of a JSON object is JSON itself."""
    try:
        json.loads(line)
    except (ValueError, RecursionError):
        return False
    return True


def _row(line: bytes) -> dict[str, Any]:
    if len(line) > _LONGEST_LINE:
        raise ValueError(f"{len(line):,} bytes are too long for a vote")
    try:
        row = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"not JSON: {error}") from None
    if not isinstance(row, dict):
        raise ValueError(f"{quoted(row)} is not a JSON object")
    return row
