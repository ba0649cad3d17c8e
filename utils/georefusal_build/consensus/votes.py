"""Votes: what each verifier said of each candidate, read from the host's sample logs."""

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import combinations
from pathlib import Path

from georefusal_build.consensus.checks import Checks, read_checks
from georefusal_build.consensus.tasks import IMAGE, INFORMED
from georefusal_task.core.errors import ConfigError
from georefusal_task.core.records import Label, Reply
from georefusal_task.core.reply import read_reply
from georefusal_task.core.verdicts import Verdict
from georefusal_task.replies import find_replies, read_replies


@dataclass(frozen=True)
class Vote:
    """What a verifier who saw image and question alone said. `verdict` is None where the reply could not be read."""

    verdict: Verdict | None
    answer: str = ""

    @classmethod
    def of(cls, reply: Reply) -> "Vote":
        """Return what a reply says."""
        return cls(reply.verdict, reply.answer)

    def agrees(self, label: Label) -> bool:
        """Tell whether the vote is in the accept set and, where the gold answer is known, gives it."""
        if self.verdict not in label.accept:
            return False
        return self.verdict is not Verdict.ANSWER or not label.answer or self.answer == label.answer


@dataclass(frozen=True)
class Verifier:
    """One model: its votes by item id. `informed` holds None for a reply whose checks could not be read."""

    name: str
    image: dict[str, Vote]
    informed: dict[str, Checks | None]
    retried: int = 0
    """Items whose first reply could not be read and whose second was taken."""
    said: str = ""
    """Digest of all blind replies, word for word."""


def read_verifiers(images: Sequence[str], informed: Sequence[str], ids: Collection[str]) -> list[Verifier]:
    """Return one verifier per name among `NAME=PATH` or `PATH` (a log, or the folder of a run, which names it).

    Raises:
        ConfigError: a name or a log stands twice in one pass, or a name has informed checks and no blind votes.
        DataError: a log is not sound, or speaks of other items.
    """
    blind, checks = _named(images), _named(informed)
    if stray := sorted(checks.keys() - blind.keys()):
        raise ConfigError(f"{stray[0]} has checked informed and not voted blind; give its log with --image too")
    found = []
    for name, path in blind.items():
        replies = read_replies(find_replies(path, IMAGE)[0], ids)
        votes, retried = {}, 0
        for item, said in replies.items():
            readable = (reply for reply in map(read_reply, said.texts[:2]) if reply.verdict)
            reply = next(readable, None) or read_reply(said.texts[0])
            retried += reply.verdict is not None and read_reply(said.texts[0]).verdict is None
            votes[item] = Vote.of(reply)
        told = read_replies(find_replies(checks[name], INFORMED)[0], ids) if name in checks else {}
        confirmed = {item: _first(map(read_checks, said.texts[:2])) for item, said in told.items()}
        digest = sha256(json.dumps({item: said.texts for item, said in replies.items()}, sort_keys=True).encode())
        found.append(Verifier(name, votes, confirmed, retried, digest.hexdigest()))
    return found


def same_replies(verifiers: Sequence[Verifier]) -> list[tuple[str, str]]:
    """Return the pairs of verifiers that said the same word for word, as one verifier under two names does."""
    return [(one.name, other.name) for one, other in combinations(verifiers, 2) if one.said and one.said == other.said]


def _first(found: "map[Checks | None]") -> Checks | None:
    return next((checks for checks in found if checks is not None), None)


def _named(given: Sequence[str]) -> Mapping[str, Path]:
    named: dict[str, Path] = {}
    for one in given:
        name, equals, path = one.partition("=")
        where = Path(path if equals else one)
        name = name if equals else (where.name if where.is_dir() else where.parent.name or where.stem)
        for other, there in named.items():
            if there.resolve() == where.resolve() and other != name:
                raise ConfigError(f"{where} stands for two verifiers, {other!r} and {name!r}; a verifier votes once")
        if name in named:
            raise ConfigError(f"two logs are named {name!r}: {named[name]} and {where}; name them, as NAME=PATH")
        named[name] = where
    return named
