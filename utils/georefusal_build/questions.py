"""Base questions: yes/no questions with a known answer, which the levers then change or change the image under.

`propose` lists what one tile offers, `select` picks a balanced set (selection.py), `phrase` puts it into words.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from georefusal_build.asking import QUARTERS, Answer, Bar, Court, Limits, Scope
from georefusal_build.census import Census
from georefusal_build.classes import ClassTable
from georefusal_build.scenes import Tile
from georefusal_build.streams import Stream, derive_key
from georefusal_build.templates import Bank, render


class Kind(StrEnum):
    """How an absent class was chosen. Source: POPE (arXiv 2305.10355)."""

    RANDOM = "random"
    POPULAR = "popular"
    ADVERSARIAL = "adversarial"


@dataclass(frozen=True, slots=True)
class Candidate:
    """A question that could be asked: no words yet.

    window: (x, y, width, height) of the tile in its scene. kinds: the ways in which a negative qualifies, () for "yes".
    """

    scene_id: str
    source: str
    window: tuple[int, int, int, int]
    class_name: str
    scope: Scope
    answer: Answer
    kinds: tuple[Kind, ...] = ()

    @property
    def id(self) -> str:
        """Unique in a build; says nothing of the answer, so that no draw can depend on it."""
        x, y, width, height = self.window
        return f"{self.scene_id}@{x},{y},{width}x{height}|{self.class_name}|{self.scope}"


@dataclass(frozen=True)
class Base:
    """A base question. kind: how a negative was chosen, None for "yes"; noun and template: what was drawn."""

    candidate: Candidate
    kind: Kind | None
    question: str
    noun: str
    template: str


Gate = Callable[[Tile, Candidate], bool]
"""Passes a candidate whose answer can be got from the clean image: contrast of the target, votes of verifiers."""


@dataclass(frozen=True)
class Offer:
    """What a tile offers: candidates, and how often each bar kept a whole-tile question out."""

    candidates: tuple[Candidate, ...]
    bars: Counter[Bar]


def propose(
    tile: Tile,
    table: ClassTable,
    census: Census,
    master: int,
    *,
    per_kind: int = 2,
    limits: Limits | None = None,
    gates: Sequence[Gate] = (),
) -> Offer:
    """Return the candidates of a tile whose scene speaks the words of the table.

    For each class present: "yes" on the whole tile, and on one quarter each "yes" and "no" where there is such a
    quarter. For absent classes: up to `per_kind` of each kind, on the whole tile and on one quarter.
    """
    court = Court(tile, table, limits)
    stream = Stream(derive_key(master, tile.id, "base"))
    rulings = {name: court.rule(name) for name in sorted(court.present | court.known)}
    bars = Counter(ruling.bar for ruling in rulings.values() if ruling.bar)
    found = [_candidate(tile, name, "whole", "yes") for name, ruling in rulings.items() if ruling.answer == "yes"]
    for name in sorted(court.present):
        quarters = stream.shuffled(QUARTERS)
        for answer in ("yes", "no"):
            where = next((quarter for quarter in quarters if court.rule(name, quarter).answer == answer), None)
            if where:  # a "no" beside the same class in another quarter is adversarial by nature
                found.append(_candidate(tile, name, where, answer, (Kind.ADVERSARIAL,)))
    legal = stream.shuffled([name for name, ruling in rulings.items() if ruling.answer == "no"])
    for name, kinds in _negatives(legal, court, census, per_kind).items():
        quarter = stream.choice(QUARTERS)
        found += (_candidate(tile, name, scope, "no", kinds) for scope in ("whole", quarter))
    passed = [one for one in found if all(gate(tile, one) for gate in gates)]
    if len(passed) < len(found):
        bars[Bar.GATE] += len(found) - len(passed)
    return Offer(tuple(passed), bars)


def phrase(
    pick: tuple[Candidate, Kind | None],
    table: ClassTable,
    bank: Bank,
    master: int,
    *,
    edge: str = "",
    image_directed: bool = False,
) -> Base:
    """Return the picked candidate in words: noun and template drawn by the seed and the id alone.

    edge: the one that is asked about ("left", "right", "upper", "lower"), "" for all that the candidate's scope holds.
    image_directed: the legacy wording "in this image"; never with levers that hide or coarsen, since "no" would then
    be a right answer about the image.
    """
    candidate, kind = pick
    stream = Stream(derive_key(master, candidate.id, "wording"))
    noun = stream.choice(table.by_name[candidate.class_name].nouns)
    local = candidate.scope != "whole"
    template = stream.choice(bank["edge" if edge else "local" if local else "image" if image_directed else "global"])
    question = render(template, noun.slots("C") | {"Q": candidate.scope, "E": edge})
    return Base(candidate, kind, question, noun.singular, template)


def _candidate(tile: Tile, name: str, scope: Scope, answer: Answer, kinds: tuple[Kind, ...] = ()) -> Candidate:
    window = (tile.x, tile.y, tile.width, tile.height)
    return Candidate(tile.scene.id, tile.scene.source, window, name, scope, answer, kinds if answer == "no" else ())


def _negatives(legal: list[str], court: Court, census: Census, per_kind: int) -> dict[str, tuple[Kind, ...]]:
    """Pick absent classes; each comes with every kind that it qualifies for, random being open to all."""
    source = court.tile.scene.source

    def best(score: Callable[[str], int]) -> list[str]:
        return sorted((name for name in legal if score(name) > 0), key=score, reverse=True)[:per_kind]

    popular = best(lambda name: census.popularity(source, name))
    adversarial = best(lambda name: census.company(source, name, court.present))
    picked = {*popular, *adversarial, *legal[:per_kind]}
    members = {Kind.RANDOM: picked, Kind.POPULAR: popular, Kind.ADVERSARIAL: adversarial}
    return {n: tuple(kind for kind, names in members.items() if n in names) for n in legal if n in picked}
