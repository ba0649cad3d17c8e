"""Which questions of G-RSVQA a tile can answer: whether there is one, how many, more, fewer or as many as of another.

An answer must follow from the annotation, and all instances that it rests on must be annotated: the benchmark scores
boxes too. So every class that is asked about is one whose instances are known to be complete, or known to be absent.
"""

from collections import Counter
from dataclasses import dataclass
from enum import StrEnum
from itertools import combinations

from georefusal_build.asking import Bar, Court, Limits
from georefusal_build.classes import ClassTable
from georefusal_build.scenes import ALL_CLASSES, Instance, Tile
from georefusal_build.streams import Stream, derive_key
from georefusal_task.benchmarks.grounding_records import QuestionType
from georefusal_task.grounding_rows import right_answer

COMPARISONS = tuple(type_ for type_ in QuestionType if type_.compares)

_EDGE = 0.5
"""Pixels from the frame within which an outline counts as ending there."""
_LINE = 1.0
"""Pixels below which the shorter side of an outline is none."""


class Bound(StrEnum):
    """Why a class is not counted, or two are not compared, beside the bars of asking.py."""

    DIVISIBLE = "divisible"
    REPEATED = "repeated"
    ABOVE_MAXIMUM = "above_maximum"
    SHARED_OBJECTS = "shared_objects"
    NEITHER_PRESENT = "neither_present"
    NEAR_TIE = "near_tie"
    NOT_ASKED = "not_asked"


Reason = Bar | Bound
Found = tuple[Instance, ...]


@dataclass(frozen=True)
class Rules:
    """What may be asked. maximum: largest count. min_side_px: shorter side from which an object can be recognised.

    margin: two unequal counts are compared only when they differ by more than this share of the larger one, so that a
    single object that the annotators overlooked among many cannot turn the answer.
    only: the classes asked about, None for all of the table; never: classes that are left out.
    """

    maximum: int = 20
    min_side_px: float = 8.0
    margin: float = 0.1
    only: frozenset[str] | None = None
    never: frozenset[str] = frozenset()

    def comparable(self, a: int, b: int) -> bool:
        """True when two counts are equal, or clearly not.

        >>> [Rules(margin=0.1).comparable(10, b) for b in (8, 9, 10, 11, 12)]
        [True, False, True, False, True]
        """
        return a == b or abs(a - b) > self.margin * max(a, b)


@dataclass(frozen=True, slots=True)
class Candidate:
    """A question that could be asked: no words yet.

    instances: all of each class in the tile, in the order of `classes`.
    """

    tile: Tile
    type: QuestionType
    classes: tuple[str, ...]
    instances: tuple[tuple[Instance, ...], ...]

    @property
    def counts(self) -> tuple[int, ...]:
        """How many instances there are, by class."""
        return tuple(map(len, self.instances))

    @property
    def id(self) -> str:
        """Unique in a build; says nothing of the answer, so that no draw can depend on it."""
        return f"{self.tile.id}|{self.type}|{'|'.join(self.classes)}"

    @property
    def answer(self) -> str:
        """The answer that follows: yes or no, or the number in digits."""
        return right_answer(self.type, self.counts)


@dataclass(frozen=True)
class Offer:
    """What a tile offers, and how often each reason kept a question of a type out."""

    candidates: tuple[Candidate, ...]
    rejects: Counter[tuple[QuestionType, Reason]]


class Register:
    """What is known of the classes in one tile, whose scene speaks the words of the table."""

    def __init__(self, tile: Tile, table: ClassTable, rules: Rules) -> None:
        self.tile, self.table, self.rules = tile, table, rules
        self.court = Court(tile, table, Limits(min_minor_px=rules.min_side_px))

    def exists(self, name: str) -> Found | Reason:
        """Return all instances, or why "is there one?" is not asked."""
        if bar := self._unasked(name):
            return bar
        ruling = self.court.rule(name)
        if ruling.answer is None:
            return ruling.bar or Bar.INCOMPLETE
        if ruling.answer == "no":
            return ()
        return self._unlisted(name) or self._outlined(name)

    def count(self, name: str) -> Found | Reason:
        """Return all instances, or why they are not counted."""
        found = self.court.evidence(name)
        if bar := self._unasked(name):
            return bar
        if self.table.members(name) & self.table.divisible:
            return Bound.DIVISIBLE
        if not found:
            ruling = self.court.rule(name)
            return found if ruling.answer == "no" else ruling.bar or Bar.INCOMPLETE
        return self._unlisted(name) or self._uncountable(name, found) or found

    def compare(self, a: str, b: str, counts: tuple[int, int]) -> Bound | None:
        """Return why the counts of two classes are not compared, None when they are."""
        if self.table.members(a) & self.table.members(b):
            return Bound.SHARED_OBJECTS
        if counts == (0, 0):
            return Bound.NEITHER_PRESENT
        return None if self.rules.comparable(*counts) else Bound.NEAR_TIE

    def _unasked(self, name: str) -> Reason | None:
        entry = self.table.by_name.get(name)
        if entry is None or not entry.ask:
            return Bar.NOT_IN_TABLE
        left_out = name in self.rules.never or (self.rules.only is not None and name not in self.rules.only)
        return Bound.NOT_ASKED if left_out else None

    def _unlisted(self, name: str) -> Bar | None:
        """Why the instances annotated in the tile might not be all."""
        tile, members = self.tile, self.table.members(name)
        if members & (tile.cut | tile.slivers):
            return Bar.CUT
        if tile.scene.undecidable & members:
            return Bar.UNDECIDABLE
        if name not in self.court.known:
            return Bar.INCOMPLETE
        regions = any(one.class_name in members | {ALL_CLASSES} for one in tile.ignore_regions)
        return Bar.IGNORED if regions else None

    def _outlined(self, name: str) -> Found | Bar:
        """All instances, without the shreds that a border leaves of what may be divided; none can be a mere line."""
        found = self.court.evidence(name)
        kept = tuple(one for one in found if one.sides[0] >= _LINE or one.class_name not in self.table.divisible)
        return Bar.TOO_SMALL if any(one.sides[0] < _LINE for one in kept) else kept

    def _uncountable(self, name: str, found: Found) -> Reason | None:
        """Why the instances, though all are annotated, do not make a number that nobody would dispute."""
        if bar := next(filter(None, map(self._unfit, found)), None):
            return bar
        if any(one.class_name in self.table.rivals[name] for one in self.tile.instances):
            return Bar.RIVAL
        if len(found) > self.rules.maximum:
            return Bound.ABOVE_MAXIMUM
        return Bound.REPEATED if any(_same(a, b) for a, b in combinations(found, 2)) else None

    def _unfit(self, one: Instance) -> Bar | None:
        """Why this instance cannot be counted."""
        if one.difficult:
            return Bar.DIFFICULT
        if one.truncated or self._at_the_edge(one):
            return Bar.TRUNCATED
        return Bar.TOO_SMALL if one.sides[0] < self.rules.min_side_px else None

    def _at_the_edge(self, one: Instance) -> bool:
        """True when the outline ends at the frame, so that the object may go on beyond it."""
        x0, y0, x1, y1 = one.bounds
        return x0 < _EDGE or y0 < _EDGE or x1 > self.tile.width - _EDGE or y1 > self.tile.height - _EDGE


def offer(tile: Tile, table: ClassTable, rules: Rules, master: int) -> Offer:
    """Return every question that the tile can answer.

    Which of two compared classes comes first is drawn by the seed and the names alone.
    """
    register = Register(tile, table, rules)
    names = sorted(register.court.present | register.court.known)
    rejects: Counter[tuple[QuestionType, Reason]] = Counter()
    found: list[Candidate] = []
    counted: dict[str, Found] = {}
    for name in names:
        some, all_of_them = register.exists(name), register.count(name)
        for type_, value in ((QuestionType.EXISTENCE, some), (QuestionType.COUNTING, all_of_them)):
            if isinstance(value, tuple):
                found.append(Candidate(tile, type_, (name,), (value,)))
            else:
                rejects[type_, value] += 1
        if isinstance(all_of_them, tuple):
            counted[name] = all_of_them
    for a, b in combinations(counted, 2):
        bound = register.compare(a, b, (len(counted[a]), len(counted[b])))
        if bound:
            rejects.update((type_, bound) for type_ in COMPARISONS)
        else:
            stream = Stream(derive_key(master, f"{tile.id}|{a}|{b}", "order"))
            for type_ in COMPARISONS:
                x, y = stream.shuffled((a, b))
                found.append(Candidate(tile, type_, (x, y), (counted[x], counted[y])))
    return Offer(tuple(found), rejects)


def _same(a: Instance, b: Instance) -> bool:
    """True when two outlines are so alike that they may be one object annotated twice."""
    ax, ay, bx, by = *a.bounds[:2], *b.bounds[:2]
    if abs(ax - bx) > a.sides[1] or abs(ay - by) > a.sides[1]:
        return False
    common = a.shape.intersection(b.shape).area
    return bool(common >= 0.8 * (a.area + b.area - common))
