"""A balanced choice among candidates: as many "yes" as "no", three kinds of negatives, caps per image and class."""

import hashlib
import math
from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Literal

from georefusal_build.asking import Answer
from georefusal_build.questions import Candidate, Kind
from georefusal_task.core.errors import ConfigError

Balance = Literal["class", "source", "all", "off"]
Pick = tuple[Candidate, Kind | None]

_Queue = dict[tuple[Kind, ...], deque[Candidate]]
"""The candidates of one class and answer, by the kinds they qualify for."""

_OTHER: dict[Answer, Answer] = {"yes": "no", "no": "yes"}


@dataclass(frozen=True)
class Caps:
    """Limits of a selection; the defaults suit large sources.

    balance: within what "yes" and "no" must balance; a source with few classes, or one that knows no absence, cannot
    balance each class. tolerance: how far the share of "yes" may be from one half. per_image: questions per source
    image. class_share: largest share of all questions that one class may have, 1 for no limit.
    """

    balance: Balance = "class"
    tolerance: float = 0.10
    per_image: int = 3
    class_share: float = 0.12

    def __post_init__(self) -> None:
        if not (0 <= self.tolerance <= 0.5 and self.per_image >= 1 and 0 < self.class_share <= 1):
            raise ConfigError(
                f"{self} makes no sense: tolerance lies in [0, 0.5], per_image is at least 1, class_share in (0, 1]"
            )

    def group(self, one: Candidate) -> tuple[str, ...]:
        """Within what the candidate is balanced."""
        return {"class": (one.source, one.class_name), "source": (one.source,)}.get(self.balance, ())


@dataclass(frozen=True)
class Selection:
    """The picks in order of their id, and how many candidates each rule left out."""

    picks: tuple[Pick, ...]
    left_out: Counter[str] = field(default_factory=Counter)


def select(candidates: Iterable[Candidate], caps: Caps, master: int) -> Selection:
    """Return a selection that depends on the candidates and the seed, not on the order in which they come.

    Raises: ConfigError when so few classes are at hand that no selection can obey `class_share`.
    """
    order = sorted(candidates, key=lambda one: (_rank(master, one.id), one.id))
    picker = _Picker(order, caps)
    picks = picker.run()
    capped = _cap_classes(picks, caps)
    left_out = Counter(picker.left_out)
    left_out["class_share"] += len(picks) - len(capped)
    left_out["balance"] += len(order) - len(picks) - picker.left_out["per_image"]
    return Selection(tuple(sorted(capped, key=lambda pick: pick[0].id)), +left_out)


class _Picker:
    """Takes pairs of one "yes" and one "no", group by group in turn; a group's rarest class comes first."""

    def __init__(self, order: list[Candidate], caps: Caps) -> None:
        self.caps = caps
        self.left_out: Counter[str] = Counter()
        self.images: Counter[str] = Counter()
        self.kinds: Counter[Kind] = Counter()
        self.taken: Counter[tuple[tuple[str, ...], str]] = Counter()
        self.queues: dict[tuple[str, ...], dict[Answer, dict[str, _Queue]]] = {}
        for one in order:
            group = self.queues.setdefault(caps.group(one), {"yes": {}, "no": {}})
            group[one.answer].setdefault(one.class_name, {}).setdefault(one.kinds, deque()).append(one)

    def run(self) -> list[Pick]:
        """Return all picks in the order taken."""
        if self.caps.balance == "off":
            return [pick for group in sorted(self.queues) for pick in self._rest(group)]
        picks: list[Pick] = []
        counts: dict[tuple[str, ...], Counter[Answer]] = defaultdict(Counter)
        active = sorted(self.queues)
        while active:
            active = [group for group in active if self._pair(group, picks, counts[group])]
        for group in sorted(self.queues):
            self._surplus(group, picks, counts[group])
        return picks

    def _pair(self, group: tuple[str, ...], picks: list[Pick], counts: Counter[Answer]) -> bool:
        """Take one of each answer, or none."""
        first = self._take(group, "yes")
        if first is None:
            return False
        second = self._take(group, "no")
        if second is None:
            self._give_back(group, first)
            return False
        picks += (self._with_kind(first), self._with_kind(second))
        counts.update(("yes", "no"))
        return True

    def _surplus(self, group: tuple[str, ...], picks: list[Pick], counts: Counter[Answer]) -> None:
        """Take more of the answer that is left while the share of "yes" stays within the tolerance."""
        for answer in ("yes", "no"):
            while counts.total():
                share = (counts[answer] + 1) / (counts.total() + 1)
                one = self._take(group, answer) if share - 0.5 <= self.caps.tolerance else None
                if one is None:
                    break
                picks.append(self._with_kind(one))
                counts[answer] += 1

    def _rest(self, group: tuple[str, ...]) -> Iterator[Pick]:
        for answer in ("yes", "no"):
            while (one := self._take(group, answer)) is not None:
                yield self._with_kind(one)

    def _take(self, group: tuple[str, ...], answer: Answer) -> Candidate | None:
        queues = self.queues[group][answer]
        while queues:
            name = min(queues, key=lambda n: (self.taken[group, n], n))
            kinds = self._scarcest(queues[name])
            one = queues[name][kinds].popleft()
            if not queues[name][kinds]:
                del queues[name][kinds]
            if not queues[name]:
                del queues[name]
            if self.images[one.scene_id] < self.caps.per_image:
                self.images[one.scene_id] += 1
                self.taken[group, name] += 1
                return one
            self.left_out["per_image"] += 1
        return None

    def _give_back(self, group: tuple[str, ...], one: Candidate) -> None:
        self.images[one.scene_id] -= 1
        self.taken[group, one.class_name] -= 1
        by_class = self.queues[group][one.answer]
        by_class.setdefault(one.class_name, {}).setdefault(one.kinds, deque()).appendleft(one)

    def _scarcest(self, queue: _Queue) -> tuple[Kind, ...]:
        """The entry that can serve the kind used least so far, and few other kinds."""

        def order(kinds: tuple[Kind, ...]) -> tuple[int, int, tuple[Kind, ...]]:
            return min((self.kinds[kind] for kind in kinds), default=0), len(kinds), kinds

        return min(queue, key=order)

    def _with_kind(self, one: Candidate) -> Pick:
        if one.answer == "yes":
            return one, None
        kind = min(one.kinds, key=lambda k: (self.kinds[k], k))
        self.kinds[kind] += 1
        return one, kind


def _cap_classes(picks: list[Pick], caps: Caps) -> list[Pick]:
    """Drop what exceeds the class share or, after that, unbalances a group; the earliest picks stay."""
    counts = Counter(one.class_name for one, _ in picks)
    if picks and caps.class_share < 1 and len(counts) * caps.class_share < 1:
        needed = math.ceil(1 / caps.class_share)
        raise ConfigError(
            f"class_share {caps.class_share:g} needs at least {needed} classes, but the sources offer {len(counts)} "
            f"({', '.join(sorted(counts))}): raise class_share, or add sources"
        )
    while True:
        limit = math.floor(caps.class_share * len(picks) + 1e-9)
        kept = _rebalanced(_first_per_class(picks, limit), caps) if caps.class_share < 1 else picks
        if len(kept) == len(picks):
            return kept
        picks = kept


def _first_per_class(picks: list[Pick], limit: int) -> list[Pick]:
    seen: Counter[str] = Counter()
    kept = []
    for pick in picks:
        seen[pick[0].class_name] += 1
        if seen[pick[0].class_name] <= limit:
            kept.append(pick)
    return kept


def _rebalanced(picks: list[Pick], caps: Caps) -> list[Pick]:
    """Drop the latest picks of the more frequent answer of each group until its share is within the tolerance."""
    if caps.balance == "off":
        return picks
    counts: dict[tuple[str, ...], Counter[Answer]] = defaultdict(Counter)
    for one, _ in picks:
        counts[caps.group(one)][one.answer] += 1
    kept = []
    for pick in reversed(picks):
        here, answer = counts[caps.group(pick[0])], pick[0].answer
        if here[answer] > here[_OTHER[answer]] and here[answer] / here.total() - 0.5 > caps.tolerance + 1e-9:
            here[answer] -= 1
        else:
            kept.append(pick)
    return kept[::-1]


def _rank(master: int, name: str) -> bytes:
    return hashlib.sha256(f"select|{master}|{name}".encode()).digest()
