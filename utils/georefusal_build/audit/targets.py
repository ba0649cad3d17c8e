"""What is guessed: the verdict, whether to refuse, and above all answer or refuse inside a lever family."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from georefusal_build.audit.settings import FEWEST_GROUPS, FEWEST_ITEMS, FEWEST_OF_A_CLASS
from georefusal_build.audit.subjects import Ints, Subjects
from georefusal_task.core.records import Intensity
from georefusal_task.core.verdicts import VERDICTS, Verdict

Scope = Literal["set", "family", "category", "pool"]
F64 = NDArray[np.float64]

SHARED_WORDING = ("aq_deictic", "aq_region", "aq_comparand", "aq_scope")
"""Families whose LOW and MEDIUM items share their strings."""


@dataclass(frozen=True)
class Target:
    """What is guessed of some of the items.

    places: index of each item in the set. classes: names of the codes in y. strata: code of each item's lever family;
    a leak is looked for inside each of them, so that all weigh as much for each class as they have items.
    """

    name: str
    scope: Scope
    places: Ints
    y: Ints
    classes: tuple[str, ...]
    strata: Ints

    @property
    def chance(self) -> float:
        """Balanced accuracy of a guess."""
        return 1 / len(self.classes)

    @property
    def weights(self) -> F64:
        """float64 (n, classes): what an item adds to balanced accuracy if its class is that one and guessed rightly.

        The weights of the true classes sum to 1. A shuffle of labels inside the strata leaves them as they are.
        """
        table = np.zeros((self.strata.max() + 1, len(self.classes)))
        np.add.at(table, (self.strata, self.y), 1.0)
        share = table.sum(axis=1, keepdims=True) / len(self.y)
        per_item = np.divide(share / len(self.classes), table, out=np.zeros_like(table), where=table > 0)
        return np.asarray(per_item[self.strata], dtype=np.float64)

    def too_few(self, groups: Ints) -> str:
        """Return why no gate is decided on so few items, or ""; groups: source image of each item of the set."""
        counts = np.bincount(self.y, minlength=len(self.classes))
        sources = len(np.unique(groups[self.places]))
        if len(self.y) < FEWEST_ITEMS:
            return f"{len(self.y)} items, {FEWEST_ITEMS} needed"
        if len(self.classes) == 2 and counts.min() < FEWEST_OF_A_CLASS:
            return f"{counts.min()} of one class, {FEWEST_OF_A_CLASS} needed"
        if sources < FEWEST_GROUPS:
            return f"{sources} source images, {FEWEST_GROUPS} needed"
        return ""


def whole_set(subjects: Subjects) -> list[Target]:
    """Return the targets over all items: the verdict where it is more than that, and answer or refuse."""
    everything = np.arange(len(subjects.items))
    gold = [item.label.gold for item in subjects.items]
    present = [verdict for verdict in VERDICTS if verdict in gold]
    one = np.zeros(len(gold), dtype=np.int64)
    found = []
    if len(present) > 2 or (len(present) == 2 and Verdict.ANSWER not in present):
        y = np.array([present.index(verdict) for verdict in gold])
        found.append(Target("verdict", "set", everything, y, tuple(map(str, present)), one))
    if 0 < subjects.refuse.sum() < len(gold):
        found.append(Target("answer or refuse", "set", everything, _codes(subjects.refuse), _CLASSES, one))
    return found


def category(subjects: Subjects) -> list[Target]:
    """Return the category of the lever over all items, for the tier of provenance; [] where it is not known."""
    names = [item.label.category for item in subjects.items]
    places = np.array([place for place, name in enumerate(names) if name], dtype=np.int64)
    present = sorted({str(name) for name in names if name})
    if len(present) < 2:
        return []
    y = np.array([present.index(str(names[place])) for place in places])
    return [Target("category", "set", places, y, tuple(present), np.zeros(len(y), np.int64))]


def inside_families(subjects: Subjects, chosen: Sequence[bool] | None = None, name: str = "") -> list[Target]:
    """Return answer or refuse inside each family, inside the families of each category, and inside all of them.

    chosen: which items to take, all if None. A family without both classes cannot leak and is left out.
    """
    taken = np.ones(len(subjects.items), dtype=np.bool_) if chosen is None else np.asarray(chosen)
    families = np.array(subjects.families)
    parted: dict[str, Ints] = {}
    for family in sorted(set(families[taken].tolist())):
        places = np.flatnonzero(taken & (families == family))
        if 0 < subjects.refuse[places].sum() < len(places):
            parted[family] = places
    suffix = f" ({name})" if name else ""
    by_category: dict[str, list[str]] = {}
    for family, places in parted.items():
        by_category.setdefault(_category(subjects, places), []).append(family)
    single = [
        _inside(subjects, f"inside {family or 'items without a lever'}{suffix}", "family", {family: places})
        for family, places in parted.items()
    ]
    pooled = [
        _inside(subjects, f"inside {short(kind)} families{suffix}", "category", {f: parted[f] for f in members})
        for kind, members in sorted(by_category.items())
        if len(members) > 1 and len(by_category) > 1
    ]
    everything = [_inside(subjects, f"inside all families{suffix}", "pool", parted)] if len(parted) > 1 else []
    return everything + pooled + single


def one_sided(subjects: Subjects) -> tuple[str, ...]:
    """Return the families all of whose items are answerable, or none."""
    families = np.array(subjects.families)
    return tuple(
        family
        for family in sorted(set(subjects.families))
        if len(set(subjects.refuse[families == family].tolist())) == 1
    )


def shared_wording(subjects: Subjects) -> list[Target]:
    """Return LOW or MEDIUM inside the families whose LOW and MEDIUM strings are meant to be the same."""
    chosen = [
        family in SHARED_WORDING and item.label.intensity in (Intensity.LOW, Intensity.MEDIUM)
        for family, item in zip(subjects.families, subjects.items, strict=True)
    ]
    return inside_families(subjects, chosen, "LOW or MEDIUM, shared wording")


def same_wording(subjects: Subjects) -> list[Target]:
    """Return answer or refuse inside the families that use every string at every intensity."""
    chosen = [
        item.label.category == Verdict.FALSE_PREMISE
        or family == "im_channel"
        or (family == "gm_subtype" and "fine_label" in str(row.get("variant")))
        for family, item, row in zip(subjects.families, subjects.items, subjects.provenance, strict=True)
    ]
    return inside_families(subjects, chosen, "one wording")


def short(name: str) -> str:
    """Return a category without its REFUSE_."""
    return name.removeprefix("REFUSE_")


_CLASSES = ("answer", "refuse")


def _codes(refuse: NDArray[np.bool_]) -> Ints:
    return refuse.astype(np.int64)


def _category(subjects: Subjects, places: Ints) -> str:
    return str(subjects.items[int(places[0])].label.category or "unnamed")


def _inside(subjects: Subjects, title: str, scope: Scope, parted: dict[str, Ints]) -> Target:
    places = np.concatenate(list(parted.values()))
    strata = np.concatenate([np.full(len(members), code) for code, members in enumerate(parted.values())])
    return Target(title, scope, places, _codes(subjects.refuse[places]), _CLASSES, strata)
