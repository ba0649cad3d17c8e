"""Levers of FALSE_PREMISE_IN_QUERY: a question about one class that takes something else for granted.

LOW, MEDIUM and HIGH share every wording; what is taken for granted is true at LOW and false at MEDIUM and HIGH. At LOW
it must be strictly true: any false presupposition, however small, outranks every other verdict.
"""

import math
from collections.abc import Iterator, Mapping
from itertools import product

from georefusal_build import geometry as geo
from georefusal_build.asking import QUARTERS
from georefusal_build.levers.asked import BOTH, Draft, Situation, capitalised, question_lever, wordings
from georefusal_build.levers.premises import ATTRIBUTES, RELATIONS, Claimed, Look
from georefusal_build.levers.registry import Variant
from georefusal_build.outcomes import Json
from georefusal_build.streams import Stream
from georefusal_task.core.records import Intensity
from georefusal_task.core.verdicts import Verdict

NUMBERS = ("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
"""Number words from 2 on."""

COUNTED = {Intensity.LOW: range(2, 13), Intensity.MEDIUM: range(2, 7), Intensity.HIGH: range(2, 7)}
"""How many objects there are where a number is taken for granted; up to twelve where it is the right one, or large
numbers would be wrong ones only."""

BOTH_WAYS = frozenset({"colour", "grey", "radar"})
"""Claims about a picture that are true of some sources and false of others; the others depend on no image."""

LOW, MEDIUM, HIGH = Intensity


class _Asking:
    """The part that all families share: a wording, and the base class as the one that is asked about."""

    def __init__(self, family: str, situation: Situation, stream: Stream, intensity: Intensity) -> None:
        self.situation = situation
        self.template = stream.choice(wordings(situation.bank, family, intensity))
        self.slots = situation.noun(situation.asked.name, stream).slots("B")

    def draft(
        self,
        variant: str,
        slots: Mapping[str, str],
        figures: Mapping[str, float],
        *,
        true: bool,
        premise: str,
        tags: frozenset[str] = frozenset(),
        to_confirm: tuple[str, ...] = (),
        **params: Json,
    ) -> Draft:
        """Return a draft that takes something for granted. premise: the class or phrase that it is about."""
        return Draft(
            self.template,
            {**self.slots, **slots},
            (self.situation.truth,),
            {"premise_true": float(true), **figures},
            variant=variant,
            tags=tags,
            params={"premise": premise, **params},
            to_confirm=to_confirm,
        )

    def classes(self, stream: Stream, count: int) -> list[str]:
        """Return classes that occur so often here, in a drawn order that favours those common in the source."""
        situation = self.situation
        names = situation.partners(situation.asked.name)
        found = [name for name in names if len(situation.counted(name) or ()) == count]
        return favoured(found, situation, stream)


def favoured(names: list[str], situation: Situation, stream: Stream) -> list[str]:
    """Return the names in an order drawn by how often each occurs in the source.

    A class that is there and one that is not are then named equally often over a source.
    Source: weighted order by exponential keys (Efraimidis and Spirakis 2006).
    """
    source, drawn = situation.tile.scene.source, stream.uniform((len(situation.table.classes),))
    place = {one.name: i for i, one in enumerate(situation.table.classes)}

    def key(name: str) -> float:
        return -math.log(1 - drawn[place[name]]) / max(situation.census.popularity(source, name), 0.5)

    return sorted(names, key=lambda name: (key(name), name))


@question_lever(
    "fp_entity",
    Verdict.FALSE_PREMISE,
    Variant("definite", BOTH, "the one object of a class is taken to be there"),
    Variant(
        "existing", BOTH, "something of a class is taken to be there, on tiles where none is known to be the only one"
    ),
    anchor="geometry",
)
def entity(situation: Situation, stream: Stream, intensity: Intensity) -> Iterator[Draft]:
    """Takes an object for granted that is not there."""
    definite = _Asking("fp_entity", situation, stream, intensity)
    existing = _Asking("fp_entity/existing", situation, stream, intensity)
    single = definite.classes(stream, 1)  # decides on the wording for LOW, MEDIUM and HIGH alike
    asking, variant = (definite, "definite") if single else (existing, "existing")
    ruled = favoured(situation.partners(situation.asked.name, counted=False), situation, stream)
    there = single or [name for name in ruled if situation.ruled(name)]
    source = situation.tile.scene.source
    absent = [n for n in ruled if not situation.ruled(n) and situation.census.popularity(source, n)]
    for name in there if intensity is LOW else absent:
        noun = situation.table.by_name[name].nouns[0]
        company = situation.census.company(source, name, situation.court.present)
        n_ref = len(situation.ruled(name) or ())
        figures = {"n_ref": float(n_ref), "company": float(company)}
        yield asking.draft(variant, noun.slots("A"), figures, true=n_ref > 0, premise=name, tags=frozenset({variant}))


@question_lever(
    "fp_count",
    Verdict.FALSE_PREMISE,
    Variant("exact", BOTH, "a number of objects is taken for granted"),
    anchor="geometry",
)
def count(situation: Situation, stream: Stream, intensity: Intensity) -> Iterator[Draft]:
    """Takes a wrong number of objects for granted."""
    asking = _Asking("fp_count", situation, stream, intensity)
    there = {name: situation.counted(name) or () for name in situation.partners(situation.asked.name)}
    order = _numbers({len(found) for found in there.values()}, stream)
    for name in favoured([n for n, found in there.items() if len(found) in COUNTED[intensity]], situation, stream):
        found, noun = there[name], situation.table.by_name[name].nouns[0]
        for number in order:
            figures = {
                "n_ref": float(len(found)),
                "count_error": float(abs(number - len(found))),
                "count_factor": max(number / len(found), len(found) / number),
                "min_gap_px": geo.distinct_gap(found),
            }
            slots = noun.slots("A") | {"N": NUMBERS[number - 2]}
            yield asking.draft("exact", slots, figures, true=number == len(found), premise=name, number=number)


def _numbers(here: set[int], stream: Stream) -> list[int]:
    """Return the numbers that can be named, in a drawn order: those of other classes here first, then small ones.

    A number that is right for one class and wrong for another does not tell which it is.
    """
    drawn = stream.uniform((len(NUMBERS),))
    keys = {n: -math.log(1 - drawn[n - 2]) * n * n for n in range(2, 2 + len(NUMBERS))}
    return sorted(keys, key=lambda n: (n not in here, keys[n]))


@question_lever(
    "fp_place",
    Verdict.FALSE_PREMISE,
    Variant("quarter", BOTH, "an object is taken to lie in a quarter of the frame"),
    anchor="geometry",
)
def place(situation: Situation, stream: Stream, intensity: Intensity) -> Iterator[Draft]:
    """Takes an object to lie in another part of the frame than it does."""
    asking = _Asking("fp_place", situation, stream, intensity)
    order = stream.shuffled(QUARTERS)
    for name in asking.classes(stream, 1):
        found = situation.counted(name) or ()
        noun = situation.table.by_name[name].nouns[0]
        there, margin = geo.quarter(found[0], situation.frame)
        for quarter in order:
            off = sum(a != b for a, b in zip(there.split("-"), quarter.split("-"), strict=True))
            figures = {"n_ref": 1.0, "quarters_off": float(off), "premise_margin": margin}
            slots = noun.slots("A") | {"Q": quarter}
            yield asking.draft("quarter", slots, figures, true=off == 0, premise=name, place=quarter)


@question_lever(
    "fp_attribute",
    Verdict.FALSE_PREMISE,
    Variant("larger", BOTH, "which of two objects is the larger"),
    Variant("smallest", BOTH, "which object of a class is the smallest"),
    Variant("circular", BOTH, "a round outline"),
    Variant("elongated", BOTH, "a long outline"),
    Variant("aligned", BOTH, "direction of the longer side"),
    Variant("bright", BOTH, "brightness against the ground around"),
    anchor="geometry",
)
def attribute(situation: Situation, stream: Stream, intensity: Intensity) -> Iterator[Draft]:
    """Takes a wrong size, shape, direction or brightness for granted."""
    asking = _Asking("fp_attribute", situation, stream, intensity)
    drawn = stream.uniform()
    clauses = stream.shuffled(sorted(ATTRIBUTES))
    sides = stream.shuffled(("left", "right", "upper", "lower"))
    names = favoured(situation.partners(situation.asked.name), situation, stream)
    looks = {name: Look(situation.frame, situation.pixels, name in situation.tables.round) for name in names}
    drafts = []
    for clause, name in product(clauses, names):
        for side in sides if clause in ("larger", "smallest") else ("",):
            claimed = ATTRIBUTES[clause](situation.counted(name) or (), looks[name], side)
            if claimed is not None:
                slots = situation.table.by_name[name].nouns[0].slots("A") | {"side": side}
                drafts.append(_stated(asking, "fp_attribute", clause, slots, claimed, drawn, name))
    yield from _both_ways(drafts)


@question_lever(
    "fp_relation",
    Verdict.FALSE_PREMISE,
    Variant("touches", BOTH, "two objects in contact"),
    Variant("inside", BOTH, "one object inside another"),
    Variant("near", BOTH, "two objects within a length"),
    Variant("between", BOTH, "an object between two others"),
    Variant("above", BOTH, "one object above another in the frame"),
    Variant("opposite", BOTH, "two objects on opposite sides of the frame"),
    anchor="geometry",
)
def relation(situation: Situation, stream: Stream, intensity: Intensity) -> Iterator[Draft]:
    """Takes a wrong relation between two objects for granted."""
    asking = _Asking("fp_relation", situation, stream, intensity)
    drawn = stream.uniform()
    clauses = stream.shuffled(sorted(RELATIONS))
    names = favoured(situation.partners(situation.asked.name), situation, stream)
    there = {name: found for name in names if (found := situation.counted(name))}
    pairs = [(a, d) for a in there for d in there if d in situation.partners(situation.asked.name, a)]
    drafts = []
    for clause, (name, other) in product(clauses, pairs):
        claimed = RELATIONS[clause](there[name], there[other], situation.frame)
        if claimed is not None:
            slots = situation.table.by_name[name].nouns[0].slots("A")
            slots |= situation.table.by_name[other].nouns[0].slots("D")
            drafts.append(_stated(asking, "fp_relation", clause, slots, claimed, drawn, name, other))
    yield from _both_ways(drafts)


@question_lever(
    "fp_capture",
    Verdict.FALSE_PREMISE,
    Variant("modality", BOTH, "colour, grey-scale, radar or thermal"),
    Variant("condition", BOTH, "night, cloud or snow"),
    Variant("viewpoint", BOTH, "from the street, or a map"),
    anchor="pixel",
)
def capture(situation: Situation, stream: Stream, intensity: Intensity) -> Iterator[Draft]:
    """Takes a wrong sensor, time or kind of picture for granted."""
    asking = _Asking("fp_capture", situation, stream, intensity)
    rarely = stream.uniform() < 0.2
    pictures = stream.shuffled(situation.tables.pictures)
    for picture in sorted(pictures, key=lambda one: not rarely and one.claim not in BOTH_WAYS):
        claimed = situation.claims.get(picture.claim)
        if claimed is not None:
            slots = {"M": picture.name, "a_M": picture.a}
            yield asking.draft(
                claimed.variant,
                slots,
                claimed.figures,
                true=claimed.true,
                premise=picture.name,
                to_confirm=claimed.to_confirm,
            )


def _both_ways(drafts: list[Draft]) -> list[Draft]:
    """Return the drafts with those first whose clause holds of something here and not of something else.

    The kind of clause then says little about whether it is true.
    """
    held = {true: {one.variant for one in drafts if one.figures["premise_true"] == true} for true in (0.0, 1.0)}
    return sorted(drafts, key=lambda one: one.variant not in held[0.0] & held[1.0])


def _stated(
    asking: _Asking, family: str, clause: str, slots: dict[str, str], claimed: Claimed, drawn: float, *names: str
) -> Draft:
    """Return the draft whose clause is put into words."""
    forms = asking.situation.tables.clauses[family][clause]
    said = forms[int(drawn * len(forms))]
    for slot, value in slots.items():
        said = said.replace("{" + slot + "}", value)
    return asking.draft(
        clause,
        slots | {"S": said, "S_cap": capitalised(said)},
        claimed.figures,
        true=claimed.true,
        premise=said,
        tags=claimed.tags,
        classes=[*names],
    )
