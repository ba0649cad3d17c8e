"""Levers of FALSE_PREMISE_IN_QUERY: a question about one class that takes something else for granted.

LOW, MEDIUM and HIGH share every wording; what is taken for granted is true at LOW and false at MEDIUM and HIGH. At LOW
it must be strictly true: any false presupposition, however small, outranks every other verdict.
What is said is drawn so that the words do not tell which of the two it is: see `twins`.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import permutations, product
from typing import TypeVar

from georefusal_build import geometry as geo
from georefusal_build.asking import QUARTERS
from georefusal_build.geometry import Frame
from georefusal_build.levers.asked import BOTH, Draft, Situation, capitalised, question_lever, wordings
from georefusal_build.levers.premises import ATTRIBUTES, RELATIONS, Claimed, Look
from georefusal_build.levers.registry import Variant
from georefusal_build.levers.twins import MOST, aimed, both_ways, every_way, grossness, mistaken, swapped, thought_of
from georefusal_build.outcomes import Json
from georefusal_build.scenes import Instance
from georefusal_build.streams import Stream
from georefusal_task.core.records import Intensity
from georefusal_task.core.verdicts import Verdict

NUMBERS = ("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
"""Number words from 2 on."""

LOW = Intensity.LOW

_Place = TypeVar("_Place", bound=str)


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
        """Return classes that occur so often here, in a drawn order."""
        situation = self.situation
        names = situation.partners(situation.asked.name)
        return stream.shuffled([name for name in names if len(situation.counted(name) or ()) == count])


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
    ruled = stream.shuffled(situation.partners(situation.asked.name, counted=False))
    source = situation.tile.scene.source
    there = single or [name for name in ruled if situation.ruled(name)]
    there = [name for name in there if situation.census.popularity(source, name)]  # names that may be said falsely too
    absent = thought_of(ruled, situation, stream, single=bool(single))
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
    aim = aimed("fp_count", situation, intensity)
    counted = {name: situation.counted(name) or () for name in situation.partners(situation.asked.name)}
    there = {name: found for name, found in counted.items() if len(found) > 1}
    pairs = stream.shuffled([*permutations(there, 2)])  # a number that is right for one class and wrong for the other
    pairs = [(a, b) for a, b in pairs if mistaken(len(there[a]), len(there[b]), aim)]
    said = [(a, len(there[a if intensity is LOW else b])) for a, b in pairs]
    if situation.loose("fp_count"):
        said += product(there, stream.shuffled(range(2, MOST + 1)))
    for name, number in said:
        found, noun = there[name], situation.table.by_name[name].nouns[0]
        figures = {
            "n_ref": float(len(found)),
            "count_error": float(abs(number - len(found))),
            "count_factor": max(number / len(found), len(found) / number),
            "min_gap_px": geo.distinct_gap(found),
        }
        slots = noun.slots("A") | {"N": NUMBERS[number - 2]}
        yield asking.draft("exact", slots, figures, true=number == len(found), premise=name, number=number)


@question_lever(
    "fp_place",
    Verdict.FALSE_PREMISE,
    Variant("quarter", BOTH, "an object is taken to lie in a quarter of the frame"),
    Variant("side", BOTH, "an object is taken to lie in the outer third of the frame at a side"),
    anchor="geometry",
)
def place(situation: Situation, stream: Stream, intensity: Intensity) -> Iterator[Draft]:
    """Takes an object to lie in another part of the frame than it does."""
    asking = _Asking("fp_place", situation, stream, intensity)
    quarters = _placed(asking, "quarter", QUARTERS, "quarters_off", geo.quarters_off, stream)
    asking = _Asking("fp_place/side", situation, stream, intensity)
    sides = _placed(asking, "side", geo.SIDES, "thirds_off", geo.thirds_off, stream)
    fair = (every_way("fp_place", drafts, situation) for drafts in (sides, quarters))  # the rarer first, at any label
    yield from next(filter(None, fair), [])


def _placed(
    asking: _Asking,
    variant: str,
    places: Sequence[_Place],
    figure: str,
    off: Callable[[Instance, _Place, Frame], tuple[int, float]],
    stream: Stream,
) -> list[Draft]:
    """Return a draft for each place that a class with one object can be said to have. off: how far it is from there."""
    situation, order, drafts = asking.situation, stream.shuffled(places), []
    for name, place in product(asking.classes(stream, 1), order):
        (there,) = situation.counted(name) or ()
        away, margin = off(there, place, situation.frame)
        figures = {"n_ref": 1.0, figure: float(away), "premise_margin": margin}
        slots = situation.table.by_name[name].nouns[0].slots("A") | {"Q": place}
        tags = frozenset({variant})
        drafts.append(asking.draft(variant, slots, figures, true=away == 0, premise=name, tags=tags, place=place))
    return drafts


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
    aim, drawn = aimed("fp_attribute", situation, intensity), stream.uniform()
    clauses = stream.shuffled(sorted(ATTRIBUTES))
    sides = stream.shuffled(geo.SIDES)
    names = stream.shuffled(situation.partners(situation.asked.name))
    looks = {name: Look(situation.frame, situation.pixels, name in situation.tables.round) for name in names}
    drafts = []
    for clause, name in product(clauses, names):
        for side in sides if clause in ("larger", "smallest") else ("",):
            claimed = ATTRIBUTES[clause](situation.counted(name) or (), looks[name], side)
            if claimed is not None:
                slots = situation.table.by_name[name].nouns[0].slots("A") | {"side": side}
                drafts.append(_stated(asking, "fp_attribute", clause, slots, claimed, drawn, name))
    yield from both_ways("fp_attribute", drafts, situation, intensity, aim)


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
    aim, drawn = aimed("fp_relation", situation, intensity), stream.uniform()
    clauses = stream.shuffled(sorted(RELATIONS))
    names = stream.shuffled(situation.partners(situation.asked.name))
    there = {name: found for name in names if (found := situation.counted(name))}
    pairs = [(a, d) for a in there for d in there if d in situation.partners(situation.asked.name, a)]
    drafts = []
    for clause, (name, other) in product(clauses, pairs):
        claimed = RELATIONS[clause](there[name], there[other], situation.frame)
        if claimed is not None:
            slots = situation.table.by_name[name].nouns[0].slots("A")
            slots |= situation.table.by_name[other].nouns[0].slots("D")
            drafts.append(_stated(asking, "fp_relation", clause, slots, claimed, drawn, name, other))
    yield from both_ways("fp_relation", drafts, situation, intensity, aim)


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
    aim = aimed("fp_capture", situation, intensity)
    loose = situation.loose("fp_capture")
    twin = swapped(situation)
    for picture in stream.shuffled(situation.tables.pictures):
        claimed = situation.claims.get(picture.claim)
        if claimed is None or not (loose or (twin and grossness(situation, twin) is aim and picture.claim in twin)):
            continue
        yield asking.draft(
            claimed.variant,
            {"M": picture.name, "a_M": picture.a},
            claimed.figures,
            true=claimed.true,
            premise=picture.name,
            to_confirm=claimed.to_confirm,
        )


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
