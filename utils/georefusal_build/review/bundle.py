"""A bundle: what reviewers may see and nothing else; and its private key: which opaque item is which.

`BUNDLE/` (bundle.json, images/<key>.png) may be handed to a reviewer; `BUNDLE.key.json` beside it stays with whoever
runs the review and is never served.
"""

import os
import stat
from functools import cached_property
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from georefusal_build.review.votes import REMOVE, Ballot, Judgement, content_digest
from georefusal_task.benchmarks.prompts import PRECEDENCE_TEXT
from georefusal_task.core.errors import DataError
from georefusal_task.core.verdicts import MEANINGS, VERDICTS, Verdict

FILE, IMAGES = "bundle.json", "images"
Kind = Literal["blind", "adjudication"]
Role = Literal["item", "repeat", "catch"]


class _Record(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Shown(_Record):
    """One view of an item."""

    question: str
    content: str
    """See `votes.content_digest`."""
    votes: tuple[Judgement, ...] = ()
    """For a third person: what the reviewers said, in no order that tells who."""


class Texts(_Record):
    """What reviewers are told, in the words of the prompt."""

    verdicts: dict[Verdict, str] = {verdict: MEANINGS[verdict] for verdict in VERDICTS}
    precedence: str = PRECEDENCE_TEXT


class Bundle(_Record):
    """The content of `bundle.json`."""

    schema_: Literal["review-bundle/1"] = Field("review-bundle/1", alias="schema")
    id: str
    kind: Kind
    seal: str
    texts: Texts = Texts()
    reviewers: dict[str, tuple[tuple[str, ...], ...]]
    """Reviewer -> sessions of item keys."""
    items: dict[str, Shown]

    @cached_property
    def ballot(self) -> Ballot:
        """What votes on this bundle must agree with."""
        allowed = {key: choices(shown.votes) for key, shown in self.items.items()}
        return Ballot(
            self.id,
            self.seal,
            {key: shown.content for key, shown in self.items.items()},
            {name: [key for session in sessions for key in session] for name, sessions in self.reviewers.items()},
            allowed if self.kind == "adjudication" else {},
        )


class Known(_Record):
    """What an opaque key stands for."""

    item: str
    role: Role
    content: str
    source_sha256: str
    """Of the image file that it was made from."""
    question: str
    expects_answer: bool = False
    """The image is untouched: anything but ANSWER is a reviewer's slip."""
    answer: str | None = None
    """Of a catch item: the right yes or no, where it is known."""
    allowed: tuple[str, ...] = ()
    """Of a third person: the choices; else every verdict."""


class Key(_Record):
    """The content of `BUNDLE.key.json`."""

    schema_: Literal["review-key/1"] = Field("review-key/1", alias="schema")
    bundle: str
    kind: Kind
    seal: str
    seed: int
    data: str
    """Digest of the set that the bundle was made from."""
    reviewers: dict[str, tuple[tuple[str, ...], ...]]
    items: dict[str, Known]

    @cached_property
    def ballot(self) -> Ballot:
        """What votes on the bundle must agree with."""
        return Ballot(
            self.bundle,
            self.seal,
            {key: known.content for key, known in self.items.items()},
            {name: [key for session in sessions for key in session] for name, sessions in self.reviewers.items()},
            {key: known.allowed for key, known in self.items.items()},
        )


def choices(votes: tuple[Judgement, ...]) -> tuple[str, ...]:
    """Return what a third person may say: what one of the reviewers said, or that the item goes."""
    return (*dict.fromkeys(vote.said for vote in votes), REMOVE)


def key_path(bundle: Path) -> Path:
    """Return where the private key of a bundle lies: beside it."""
    return bundle.with_name(f"{bundle.name}.key.json")


def read_key(path: Path) -> Key:
    """Return a private key.

    Raises:
        DataError: the file is none.
    """
    try:
        return Key.model_validate_json(path.read_bytes())
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise DataError(
            f"{path} is not the key of a review bundle ({where}: {first['msg']}); "
            "`build review export` writes it as BUNDLE.key.json"
        ) from None


def read_bundle(folder: Path) -> Bundle:
    """Return a bundle after checking that each of its images is the one that its votes will be bound to.

    Raises:
        DataError: the folder is no bundle, or an image is missing, a link, or was changed.
    """
    file = folder / FILE
    if not file.is_file():
        raise DataError(f"{folder} is not a review bundle: it has no {FILE}; `build review export` makes one")
    try:
        bundle = Bundle.model_validate_json(file.read_bytes())
    except ValidationError as error:
        first = error.errors()[0]
        raise DataError(f"{file} is not a review bundle ({'.'.join(map(str, first['loc']))}: {first['msg']})") from None
    for key in bundle.items:
        image_bytes(folder, bundle, key)
    return bundle


def image_bytes(folder: Path, bundle: Bundle, key: str) -> bytes:
    """Return the image file of an item, which must be what the bundle was made with.

    Raises:
        DataError: it is missing, no plain file of this bundle, or was changed.
    """
    path = folder / IMAGES / f"{key}.png"
    try:
        if (folder / IMAGES).is_symlink():
            raise DataError(f"{folder / IMAGES} is a link; a bundle holds its images itself")
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
    except OSError as error:
        raise DataError(f"{path} cannot be read ({error.strerror}); export the bundle anew") from None
    with os.fdopen(handle, "rb") as stream:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise DataError(f"{path} is no plain file; export the bundle anew")
        data = stream.read()
    shown = bundle.items[key]
    if content_digest(key, data, shown.question) != shown.content:
        raise DataError(f"{path} or its question was changed since the bundle was made; export the bundle anew")
    return data
