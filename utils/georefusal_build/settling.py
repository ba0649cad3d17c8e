"""Which of the made items are kept: as many refusals as answers in every family, alike in all that could tell them.

Every refusal comes with a matched answer of its family: of the same image where they are a pair, else of one that was
changed as much as a whole, and with the same words, class, sensor and variant as far as there is one.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Literal

from georefusal_build.build_config import BuildConfig
from georefusal_build.made import Row
from georefusal_build.trimming import rank
from georefusal_task.core.records import Intensity, lever_family

DUPLICATE = "duplicate"
"""The same image and question as another item."""
SAME_BASE = "same_base"
"""Another item of the family has this base question."""
CAPPED = "capped"
"""Its scene, or its class, has as many items as the configuration allows."""
NO_COUNTERPART = "no_counterpart"
"""Nothing of the other side (answer, refusal) is left in its family to be set against it."""
SURPLUS = "surplus"
"""Enough items of its category are kept."""

_Side = Literal["answer", "refuse"]
_OTHER: dict[_Side, _Side] = {"answer": "refuse", "refuse": "answer"}
_SAID = ("premise", "number", "place", "anchor", "edge")
"""Parameters of what a question takes for granted, or refers to."""
_SHARED = ("asks", "image", "step", "gain", "level", "reduced")
"""Parameters of an image that is the same for several questions, or crossed with them."""
_STRENGTH = ("step", "gain", "level")
"""Parameters of how much a whole image is changed: two strengths look so different that they would tell the label."""
_MANY = 4
"""Number of objects from which more make no difference."""


@dataclass(frozen=True)
class _Item:
    """What the choice looks at.

    answer: the item's own, of a refusal that of its base question. words: what is taken for granted. at_edge: the
    question names an edge of the image, and is set only against one that does. change: how the whole image was changed,
    which is the same on both sides. traits: all that must not tell the label.
    """

    row: Row
    key: str
    place: bytes
    base_id: str
    scene: str
    class_name: str
    modality: str
    answer: str
    intensity: Intensity
    pair_id: str | None
    words: frozenset[str]
    at_edge: bool
    change: frozenset[str]
    traits: frozenset[str]

    @property
    def side(self) -> _Side:
        """Whether it is to be answered or refused, by the lever."""
        return "answer" if self.intensity is Intensity.LOW else "refuse"


def settle(rows: Sequence[Row], config: BuildConfig) -> tuple[list[Row], list[Row]]:
    """Return the rows that are kept and, with key, reason and detail, those that are not.

    rows: with key, case, label and provenance. A function of their content and the configuration, not of their order.
    Rows that are kept stay as they are, but for the `pair_id` of one whose other half is not kept.
    """
    dropped: dict[str, str] = {}
    items = list(_unique(sorted((_item(row, config.seed) for row in rows), key=lambda one: one.place), dropped))
    categories: defaultdict[str, defaultdict[str, list[_Item]]] = defaultdict(lambda: defaultdict(list))
    for one in items:
        categories[one.row["label"]["category"]][lever_family(one.row["label"]["lever"]) or ""].append(one)
    used, kept = _Used(config.items or len(items)), list[_Item]()
    for left, name in zip(range(len(categories), 0, -1), sorted(categories), strict=True):
        shared = Counter[str]()
        families = [_Family(members, config, used, shared) for _, members in sorted(categories[name].items())]
        kept += _taken(families, None if config.items is None else (config.items - len(kept)) // left)
        for family in families:
            dropped |= family.left_over()
    return _paired(sorted(kept, key=lambda one: one.key)), _rejects(dropped)


def _taken(families: list["_Family"], most: int | None) -> list[_Item]:
    """Blocks of the families in turn, until no more may be taken or none is left."""
    taken: list[_Item] = []
    active = list(families)
    while active and (most is None or len(taken) + active[0].block_size <= most):
        family = min(active, key=lambda one: len(one.taken))
        block = family.take_block()
        if not block:
            active.remove(family)
        taken += block
    for family in active:
        family.enough = True
    return taken


@dataclass
class _Used:
    """What is kept so far, over all families. most: how many items are kept in all, at most."""

    most: int
    scenes: Counter[str] = field(default_factory=Counter)
    classes: Counter[str] = field(default_factory=Counter)

    def add(self, one: _Item, count: int) -> None:
        """Count an item, or take it back."""
        self.scenes[one.scene] += count
        self.classes[one.class_name] += count


class _Family:
    """The items of one family, from which matched blocks of answers and refusals are taken.

    shared: intensities, and sensors of refusals and answers, of all families of the category.
    """

    def __init__(self, items: list[_Item], config: BuildConfig, used: _Used, shared: Counter[str]) -> None:
        self.items, self.config, self.used, self.shared = items, config, used, shared
        self.taken: list[_Item] = []
        self.enough = False
        self.counts: dict[_Side, Counter[str]] = {"answer": Counter(), "refuse": Counter()}
        self._bases: Counter[str] = Counter()
        ratio = Fraction(config.weights.LOW, config.weights.MEDIUM + config.weights.HIGH)
        self._block: list[_Side] = ["refuse"] * ratio.denominator
        self._block += ["answer"] * ratio.numerator

    @property
    def block_size(self) -> int:
        """Items in a block, the same for all families."""
        return len(self._block)

    def take_block(self) -> list[_Item]:
        """Return the next refusals with the answers that are set against them; [] when there are no more."""
        block: list[_Item] = []
        for side in self._block:
            one = self._next(side, block)
            if one is None:
                for other in block:
                    self._count(other, -1)
                return []
            block.append(one)
            self._count(one, 1)
        self.taken += block
        return block

    def left_over(self) -> dict[str, str]:
        """Return key -> reason of every item that was not taken."""
        kept = {one.key for one in self.taken}
        rest = SURPLUS if self.enough else NO_COUNTERPART
        return {one.key: self._why_not(one) or rest for one in self.items if one.key not in kept}

    def _next(self, side: _Side, block: list[_Item]) -> _Item | None:
        free = [one for one in self.items if one.side == side and self._why_not(one) is None]
        facing = block if side == "answer" else self._free_answers()
        if side == "refuse":
            free = [one for one in free if self._has_answer(one, facing)]
        else:
            free = [one for one in free if any(self._faces(one, other) for other in block)]
        due = self._due() if side == "refuse" else Intensity.LOW
        return min(free, key=_Cost(self, facing, due), default=None)

    def _has_answer(self, refusal: _Item, answers: Sequence[_Item]) -> bool:
        """Whether taking the refusal leaves an answer to set against it."""
        return any(self._faces(one, refusal) and one.base_id != refusal.base_id for one in answers)

    def _faces(self, answer: _Item, refusal: _Item) -> bool:
        strict = self.config.levers.same_words == "strict"
        alike = answer.words == refusal.words if strict else answer.at_edge is refusal.at_edge
        return refusal.side == "refuse" and alike and answer.change == refusal.change

    def _free_answers(self) -> list[_Item]:
        return [one for one in self.items if one.side == "answer" and self._why_not(one) is None]

    def _due(self) -> Intensity:
        """Which of MEDIUM and HIGH is furthest behind its weight, in the category and then in the family."""
        own, weights = Counter(one.intensity for one in self.taken), self.config.weights
        refusals = [i for i in (Intensity.MEDIUM, Intensity.HIGH) if weights[i]]
        return min(refusals, key=lambda i: (self.shared[i] / weights[i], own[i] / weights[i], i is Intensity.HIGH))

    def _count(self, one: _Item, by: int) -> None:
        self.used.add(one, by)
        self.counts[one.side].update(dict.fromkeys(one.traits, by))
        self.shared.update({one.intensity: by, f"{one.side} {one.modality}": by})
        self._bases[one.base_id] += by

    def _why_not(self, one: _Item) -> str | None:
        """Why an item cannot be taken now; None when it can."""
        caps = self.config.caps
        if self._bases[one.base_id]:
            return SAME_BASE
        if caps.per_scene is not None and self.used.scenes[one.scene] >= caps.per_scene:
            return CAPPED
        if self.used.classes[one.class_name] >= caps.per_class * self.used.most:
            return CAPPED
        return None


class _Cost:
    """Which of the free items of one side comes next: the less the better.

    facing: items of the other side that it will be set against, or, for a refusal, could be. due: the intensity that is
    furthest behind.
    """

    def __init__(self, family: _Family, facing: Sequence[_Item], due: Intensity) -> None:
        self.counts, self.used, self.shared = family.counts, family.used, family.shared
        self.due = due
        self.images = {one.pair_id for one in facing if one.pair_id}
        self.words = {one.words for one in facing}
        self.modalities = {one.modality for one in facing}

    def __call__(self, one: _Item) -> tuple[object, ...]:
        """First what shares image, sensor and words with the other side, then what keeps balance, then what is rare."""
        mine, theirs = self.counts[one.side], self.counts[_OTHER[one.side]]
        return (
            one.pair_id not in self.images,
            one.intensity is not self.due,
            one.modality not in self.modalities,
            one.words not in self.words,
            self.shared[f"{one.side} {one.modality}"],
            mine[f"answer={one.answer}"] - min(mine["answer=yes"], mine["answer=no"]),
            sum(mine[trait] - theirs[trait] for trait in one.traits),
            self.used.scenes[one.scene],
            self.used.classes[one.class_name],
            one.place,
        )


def _paired(kept: Sequence[_Item]) -> list[Row]:
    """The rows, those that share their image with no other one without a pair."""
    shared = Counter(one.pair_id for one in kept)
    return [one.row if one.pair_id is None or shared[one.pair_id] > 1 else _alone(one.row) for one in kept]


def _alone(row: Row) -> Row:
    return {**row, "provenance": {**row["provenance"], "pair_id": None}}


def _unique(items: list[_Item], dropped: dict[str, str]) -> Iterator[_Item]:
    seen: set[str] = set()
    for one in items:
        fingerprint = one.row["provenance"]["fingerprint"]
        if fingerprint in seen:
            dropped[one.key] = DUPLICATE
        else:
            seen.add(fingerprint)
            yield one


def _item(row: Row, seed: int) -> _Item:
    label, provenance = row["label"], row["provenance"]
    asks, params = provenance["asks"], provenance["params"]
    answer = label["answer"] or provenance["base_answer"]
    words = frozenset(f"{name}={params[name]}" for name in _SAID if name in params)
    traits = {
        f"class={asks['class']}",
        f"local={asks['scope'] != 'whole'}",
        f"sensor={provenance['modality']}",
        f"answer={answer}",
        f"variant={provenance['variant']}",
        f"image={provenance['scene']}@{provenance['window']}",
        f"objects={min(len(provenance['boxes']), _MANY)}",
        f"cell={asks['cell']}",
        *(f"{name}={params[name]}" for name in _SHARED if name in params),
    }
    return _Item(
        row=row,
        key=str(row["key"]),
        place=rank(seed, str(row["key"])),
        base_id=provenance["base_id"],
        scene=provenance["scene"],
        class_name=asks["class"],
        modality=provenance["modality"],
        answer=answer,
        intensity=Intensity(label["intensity"]),
        pair_id=provenance["pair_id"],
        words=words,
        at_edge="edge" in params,
        change=_change(provenance["variant"], params),
        traits=words | traits,
    )


def _change(variant: str, params: Mapping[str, object]) -> frozenset[str]:
    """How the whole image was changed, and how much; nothing of those that a question is crossed with."""
    strength = {f"{name}={params[name]}" for name in _STRENGTH if name in params and "asks" not in params}
    return frozenset(strength | {f"variant={variant}"}) if strength else frozenset()


_DETAILS = {
    DUPLICATE: "another item has this image and this question",
    SAME_BASE: "another item of the family has this base question",
    CAPPED: "its scene or its class has as many items as `caps` allows",
    NO_COUNTERPART: "no item of the other side is left in its family to be set against it",
    SURPLUS: "enough items of its category are kept",
}


def _rejects(dropped: Mapping[str, str]) -> list[Row]:
    return [{"key": key, "reason": dropped[key], "detail": _DETAILS[dropped[key]]} for key in sorted(dropped)]
