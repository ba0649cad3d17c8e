"""A balanced choice among questions: types in given shares, as many "yes" as "no", counts spread over the numbers."""

import hashlib
from collections import Counter, deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from georefusal_build.grsvqa_asking import Candidate
from georefusal_task.benchmarks.grounding_records import QuestionType

SHARES: Mapping[QuestionType, float] = {
    QuestionType.EXISTENCE: 0.36,
    QuestionType.COUNTING: 0.25,
    QuestionType.MORE: 0.13,
    QuestionType.FEWER: 0.13,
    QuestionType.EQUAL: 0.13,
}
"""Default shares; those of the published set are not known."""


@dataclass(frozen=True)
class Quotas:
    """What a selection keeps to.

    shares: weight of each type, one of them at least positive. total: how many questions, None for as many as keep to
    the shares. per_image: questions about one image. number_share: largest share that one number has among the counts
    (as far as there are enough different numbers).
    """

    shares: Mapping[QuestionType, float] = field(default_factory=lambda: dict(SHARES))
    total: int | None = None
    per_image: int = 6
    number_share: float = 0.3


@dataclass(frozen=True)
class Selection:
    """The picks in order of their id, and how many candidates of each type were left out."""

    picks: tuple[Candidate, ...]
    left_out: Counter[QuestionType]


def select(candidates: Iterable[Candidate], quotas: Quotas, master: int) -> Selection:
    """Return a selection that depends on the candidates and the seed, not on the order in which they come.

    Without a total, the type furthest behind its share takes the next question (or pair of one "yes" and one "no"), and
    the selection ends when that type has nothing more to give. With a total, each type takes its own number, the one
    with the fewest candidates first; what one cannot give is not made up for by others.
    """
    every = sorted(candidates, key=lambda one: (_draw(master, one.id), one.id))
    picker = _Picker(every, quotas)
    shares = {type_: quotas.shares[type_] for type_ in QuestionType if quotas.shares.get(type_, 0) > 0}
    if quotas.total is None:
        while picker.take(min(shares, key=lambda type_: picker.made[type_] / shares[type_])):
            pass
    else:
        for type_ in sorted(shares, key=picker.at_hand):
            quota = round(quotas.total * shares[type_] / sum(shares.values()))
            while picker.made[type_] < quota and picker.take(type_):
                pass
    picks = sorted(picker.picks, key=lambda one: one.id)
    left_out = Counter(one.type for one in every)
    left_out.subtract(one.type for one in picks)
    return Selection(tuple(picks), +left_out)


_Key = tuple[bool, tuple[str, ...]]
"""Whether one of two compared classes is missing; the classes in order of their names, and optical or sar."""


class _Picker:
    """Takes questions type by type; the answer and the classes (by modality) used least so far come first."""

    def __init__(self, order: list[Candidate], quotas: Quotas) -> None:
        self.quotas = quotas
        self.picks: list[Candidate] = []
        self.made: Counter[QuestionType] = Counter()
        self.images: Counter[str] = Counter()
        self.answers: Counter[tuple[QuestionType, str]] = Counter()
        self.used: Counter[tuple[QuestionType, str, tuple[str, ...]]] = Counter()
        self.queues: dict[QuestionType, dict[str, dict[_Key, deque[Candidate]]]] = {type_: {} for type_ in QuestionType}
        self.rank = {one.id: number for number, one in enumerate(order)}
        for one in order:
            self.queues[one.type].setdefault(one.answer, {}).setdefault(_key(one), deque()).append(one)
        self.room = self._room()

    def at_hand(self, type_: QuestionType) -> int:
        """Return how many questions of a type could be balanced: its answers times the candidates of the rarest."""
        sizes = [sum(map(len, queues.values())) for queues in self.queues[type_].values()]
        return len(sizes) * min(sizes, default=0)

    def take(self, type_: QuestionType) -> bool:
        """Take the next question or pair of a type; False when there is none left that fits."""
        if type_ is QuestionType.COUNTING:
            return self._take_number()
        yes = self._take(type_, "yes")
        if yes is None:
            return False
        if self._take(type_, "no") is None:
            self._book(yes, -1)
            self.picks.remove(yes)
            return False
        return True

    def _take_number(self) -> bool:
        """Take a count: of the number used least, the larger one first, since zeros are always at hand."""
        uses = {n: self.answers[QuestionType.COUNTING, n] for n in self.queues[QuestionType.COUNTING]}
        by_use = sorted((n for n in uses if uses[n] < self.room), key=lambda n: (uses[n], -int(n)))
        return any(self._take(QuestionType.COUNTING, number) for number in by_use)

    def _take(self, type_: QuestionType, answer: str) -> Candidate | None:
        """Take a candidate whose classes had this answer least often; of two classes, those both there first."""
        queues = self.queues[type_].get(answer, {})
        while queues:
            key = min(queues, key=lambda key: self._order(type_, answer, key))
            one = queues[key].popleft()
            if not queues[key]:
                del queues[key]
            if self.images[one.tile.id] < self.quotas.per_image:
                self._book(one, 1)
                self.picks.append(one)
                return one
        return None

    def _order(self, type_: QuestionType, answer: str, key: _Key) -> tuple[bool, int, int, int]:
        missing, classes = key
        mine = self.used[type_, answer, classes]
        total = sum(self.used[type_, other, classes] for other in self.queues[type_])
        return missing, mine, 2 * mine - total, self.rank[self.queues[type_][answer][key][0].id]

    def _room(self) -> int:
        """How often one number may be used so that none has more than its share of all that can be made."""
        sizes = [sum(map(len, queues.values())) for queues in self.queues[QuestionType.COUNTING].values()]
        share = self.quotas.number_share
        fits = (n for n in range(max(sizes, default=1), 1, -1) if n <= share * sum(min(size, n) for size in sizes))
        return next(fits, 1)

    def _book(self, one: Candidate, step: int) -> None:
        self.made[one.type] += step
        self.images[one.tile.id] += step
        self.answers[one.type, one.answer] += step
        self.used[one.type, one.answer, _key(one)[1]] += step


def _key(one: Candidate) -> _Key:
    return one.type.compares and 0 in one.counts, (*sorted(one.classes), one.tile.scene.modality)


def _draw(master: int, name: str) -> bytes:
    return hashlib.sha256(f"grsvqa|{master}|{name}".encode()).digest()
