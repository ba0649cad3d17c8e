"""Levers of AMBIGUOUS_QUERY: what is asked has several readings that do not agree on this image.

Where the words have a single referent, or all readings agree, the very same string is answerable: that is LOW. Families
that can refuse only where the asked class is there are asked on such bases at LOW too, where both answers occur.
"""

from collections.abc import Iterator
from itertools import product

from georefusal_build import geometry as geo
from georefusal_build.asking import QUARTERS, Bar
from georefusal_build.geometry import Finding, Frame, Items
from georefusal_build.levers.asked import BOTH, Draft, Situation, question_lever, wordings
from georefusal_build.levers.registry import Variant
from georefusal_build.levers.scope import BRACKETED, SHARED, TANGLED, Form
from georefusal_build.question_tables import Sense, Word
from georefusal_build.scenes import Instance
from georefusal_build.streams import Stream
from georefusal_task.core.records import Intensity
from georefusal_task.core.verdicts import Verdict

LOW, MEDIUM, HIGH = Intensity
_MOST = 6
"""Classes present, and classes absent, that are tried beside the asked one."""
_SHORTEST_PX = 8
"""Least number of pixels that a question names as a length."""


def _near_each(items: Items, _: Frame) -> tuple[Finding, ...]:
    """One reading for each A: is a C within one of its lengths?"""
    return tuple(geo.within(a, items["C"]) for a in items["A"])


def _longer_than_each(items: Items, _: Frame) -> tuple[Finding, ...]:
    """One reading for each A: is a C longer?"""
    return tuple(geo.longer(a, items["C"]) for a in items["A"])


def _in_each_quarter(items: Items, frame: Frame) -> tuple[Finding, ...]:
    """One reading for each quarter with an A (for every quarter where no A is named): is a C in it?"""
    places = [geo.quarter(one, frame) for one in items["C"]]
    anchors = [geo.quarter(one, frame) for one in items.get("A", ())]
    clear = min((margin for _, margin in anchors), default=geo.SURE)
    held = [q for q in QUARTERS if "A" not in items or q in {name for name, _ in anchors}]
    inside = (geo.some(Finding(name == q, margin) for name, margin in places) for q in held)
    return tuple(Finding(one.truth, min(one.margin, clear)) for one in inside)


def _ruled(situation: Situation) -> tuple[Finding, ...]:
    """One reading for each quarter, by the rulings of the court: for what cannot be counted, such as a lake."""
    answers = [situation.court.rule(situation.asked.name, quarter).answer for quarter in QUARTERS]
    return tuple(Finding(answer == "yes", geo.SURE if answer else 0.0) for answer in answers)


def _pairs(situation: Situation, stream: Stream, least: int) -> Iterator[tuple[str, Items]]:
    """Yield classes of which there are so many, in a drawn order, with all instances of A and of the asked class C."""
    asked = situation.counted(situation.asked.name)
    names = stream.shuffled([one.name for one in situation.table.classes])
    partners = set(situation.partners(situation.asked.name))
    for name in names if asked is not None else ():
        found = situation.counted(name) if name in partners else None
        if found and len(found) >= least:
            yield name, {"C": asked or (), "A": found}


def _others(situation: Situation) -> tuple[Instance, ...]:
    """Every object that a bare pronoun could mean: all that is not of the asked class, nor divisible."""
    members = situation.table.members(situation.asked.name)
    barred = members | situation.table.divisible
    return tuple(one for one in situation.tile.instances if one.class_name not in barred)


def _bare(
    situation: Situation, variant: str, template: str, slots: dict[str, str], clause: geo.Clause
) -> Iterator[Draft]:
    """Yield a question that names nothing for its reference to rest on: every other object may be meant."""
    asked, others = situation.counted(situation.asked.name), _others(situation)
    if asked:
        items = {"C": asked, "A": others}
        figures = {"antecedents": 0.0, "n_classes": float(len({one.class_name for one in others}))}
        yield Draft(template, slots, clause(items, situation.frame), figures, variant=variant)


@question_lever(
    "aq_deictic",
    Verdict.AMBIGUOUS,
    Variant("relation", BOTH, "within one length of 'the A', of which there are several"),
    Variant("pronoun", BOTH, "it, that one, the other: nothing named before"),
    anchor="geometry",
    yes_only=True,
)
def deictic(situation: Situation, stream: Stream, intensity: Intensity) -> Iterator[Draft]:
    """Refers to one object where several could be meant."""
    template = stream.choice(wordings(situation.bank, "aq_deictic", intensity))
    slots = situation.noun(situation.asked.name, stream).slots("C")
    if intensity is HIGH:
        yield from _bare(situation, "pronoun", template, slots, _near_each)
        return
    for name, items in _pairs(situation, stream, 1):
        noun = situation.table.by_name[name].nouns[0]
        readings = geo.geometry(items, situation.frame, _near_each).readings
        yield Draft(template, slots | noun.slots("A"), readings, variant="relation", params={"anchor": name})


@question_lever(
    "aq_region",
    Verdict.AMBIGUOUS,
    Variant("by_class", BOTH, "the quarter that has A's, which lie in several"),
    Variant("deictic", BOTH, "there, that part: no place named before"),
    anchor="geometry",
    yes_only=True,
)
def region(situation: Situation, stream: Stream, intensity: Intensity) -> Iterator[Draft]:
    """Asks about a part of the area where several could be meant."""
    template = stream.choice(wordings(situation.bank, "aq_region", intensity))
    slots = situation.noun(situation.asked.name, stream).slots("B")
    if intensity is HIGH:
        asked = situation.counted(situation.asked.name)
        readings = (
            geo.geometry({"C": asked}, situation.frame, _in_each_quarter).readings if asked else _ruled(situation)
        )
        yield Draft(template, slots, readings, {"antecedents": 0.0}, variant="deictic")
        return
    for name, items in _pairs(situation, stream, 2):
        noun = situation.table.by_name[name].nouns[0]
        readings = geo.geometry(items, situation.frame, _in_each_quarter).readings
        figures = {"n_anchors": float(len(items["A"]))}
        yield Draft(template, slots | noun.slots("A"), readings, figures, variant="by_class", params={"anchor": name})


@question_lever(
    "aq_comparand",
    Verdict.AMBIGUOUS,
    Variant("definite", BOTH, "longer than 'the A', of which there are several"),
    Variant("elided", BOTH, "longer, with nothing to compare named before"),
    anchor="geometry",
    yes_only=True,
)
def comparand(situation: Situation, stream: Stream, intensity: Intensity) -> Iterator[Draft]:
    """Compares with one object where several could be meant."""
    template = stream.choice(wordings(situation.bank, "aq_comparand", intensity))
    slots = situation.noun(situation.asked.name, stream).slots("C")
    if intensity is HIGH:
        yield from _bare(situation, "elided", template, slots, _longer_than_each)
        return
    for name, items in _pairs(situation, stream, 1):
        noun = situation.table.by_name[name].nouns[0]
        readings = geo.geometry(items, situation.frame, _longer_than_each).readings
        yield Draft(template, slots | noun.slots("A"), readings, variant="definite", params={"anchor": name})


@question_lever(
    "aq_criterion",
    Verdict.AMBIGUOUS,
    Variant("length", BOTH, "large, long, big: no limit given"),
    Variant("stacked", BOTH, "two criteria without a limit"),
    anchor="geometry",
    yes_only=True,
    may_accept={MEDIUM: Verdict.NONFACTUAL, HIGH: Verdict.NONFACTUAL},
)
def criterion(situation: Situation, stream: Stream, intensity: Intensity) -> Iterator[Draft]:
    """Asks by a criterion without a limit, such as large or suitable; LOW gives the limit."""
    template = stream.choice(wordings(situation.bank, "aq_criterion", intensity))
    slots = situation.noun(situation.asked.name, stream).slots("C")
    found = situation.counted(situation.asked.name)
    lengths = sorted(one.sides[1] for one in found or ())
    factors = stream.shuffled((0.4, 0.5, 0.6, 1.6, 2.0, 2.5)) if intensity is LOW else (0.45,)
    for factor in factors if found and lengths else ():
        limit = int((lengths[-1] if factor > 1 else lengths[0]) * factor)
        limits = [limit] if intensity is LOW else [lengths[0] / 2, (lengths[0] * lengths[-1]) ** 0.5, 2 * lengths[-1]]
        figures = {
            "undefined": {LOW: 0.0, MEDIUM: 1.0, HIGH: 2.0}[intensity],
            "spread": lengths[-1] / lengths[0],
            "limit_share": limit / lengths[0],
        }
        readings = tuple(geo.span(found or (), pixels) for pixels in limits)
        variant = "stacked" if intensity is HIGH else "length"
        if limit >= _SHORTEST_PX:
            yield Draft(template, slots | {"K": str(limit)}, readings, figures, variant=variant)


@question_lever(
    "aq_sense",
    Verdict.AMBIGUOUS,
    Variant("table", BOTH, "words with two senses in overhead imagery"),
    anchor="geometry",
)
def sense(situation: Situation, stream: Stream, intensity: Intensity) -> Iterator[Draft]:
    """Uses a word that has two senses, of which only one is met here."""
    template = stream.choice(wordings(situation.bank, "aq_sense", intensity))
    name = situation.asked.name
    words = stream.shuffled(situation.tables.senses)
    meant = [word for word in words if any(name in one.classes for one in word.senses)]
    if intensity is LOW:
        noun = situation.noun(name, stream)
        slots = {"W": noun.singular, "a_W": noun.with_article}
        if meant:
            yield Draft(template, slots, (situation.truth,), {"n_senses": 1.0}, variant="table")
    elif intensity is MEDIUM:
        for word in meant:
            truths = [_holds(situation, one) for one in word.senses]
            if None not in truths:
                readings = tuple(one for one in truths if one)
                yield _senses(situation, template, word.slots, readings, (word,), len(readings))
    else:
        for first, second in product(meant, words):
            if first is not second:
                slots = first.slots | {"W2": second.word}
                readings = _joined(situation, first, second)
                yield _senses(situation, template, slots, readings, (first, second), len(readings))


def _senses(
    situation: Situation,
    template: str,
    slots: dict[str, str],
    readings: tuple[Finding, ...],
    words: tuple[Word, ...],
    count: int,
) -> Draft:
    return Draft(
        template,
        slots,
        readings,
        {"n_senses": float(count)},
        variant="table",
        params={"words": [word.word for word in words]},
        to_confirm=_to_confirm(situation, words),
    )


def _holds(situation: Situation, one: Sense) -> Finding | None:
    """Whether a sense is met here: False for what nobody annotates (to be confirmed), None when it cannot be told."""
    rulings = [situation.court.rule(name) for name in one.classes]
    if any(ruling.answer == "yes" for ruling in rulings):
        return Finding(True)
    absent = all(ruling.answer == "no" or ruling.bar is Bar.INCOMPLETE for ruling in rulings)
    return Finding(False) if absent else None


def _to_confirm(situation: Situation, words: tuple[Word, ...]) -> tuple[str, ...]:
    """What has to be agreed on: senses that no annotation of this tile rules out."""
    senses = (one for word in words for one in word.senses)
    known = {one for one in senses if one.classes and all(situation.court.rule(n).answer for n in one.classes)}
    there = {one for word in words for one in word.senses if (found := _holds(situation, one)) and found.truth}
    return tuple(
        f"there is not {one.meaning} here" for word in words for one in word.senses if one not in known | there
    )


def _joined(situation: Situation, first: Word, second: Word) -> tuple[Finding, ...]:
    """The readings of "a <first> by the <second>", one for each pair of senses; () when one is not known."""
    readings = []
    for one, other in product(first.senses, second.senses):
        here, there = (
            None if None in found else tuple(i for some in found for i in some or ())
            for found in ([situation.counted(name) for name in part.classes] for part in (one, other))
        )
        if here is None or there is None:
            return ()
        readings.append(geo.some(geo.within(anchor, here) for anchor in there))
    return tuple(readings)


@question_lever(
    "aq_scope",
    Verdict.AMBIGUOUS,
    Variant("shared", BOTH, "and/or, lack of one or the other, all ... not, in its upper half, every"),
    Variant("bracketed", BOTH, "LOW with a single reading by its wording"),
    Variant("tangled", BOTH, "HIGH with three readings or more"),
    anchor="geometry",
)
def scope(situation: Situation, stream: Stream, intensity: Intensity) -> Iterator[Draft]:
    """Asks in a sentence whose structure has several readings."""
    bracketed = stream.uniform() < 1 / 3 and intensity is LOW
    drawn = stream.uniform()
    variant, forms = (
        ("tangled", TANGLED) if intensity is HIGH else ("bracketed", BRACKETED) if bracketed else ("shared", SHARED)
    )
    slots = situation.noun(situation.asked.name, stream).slots("C")
    for key in stream.shuffled(sorted(forms)):
        templates = situation.bank[f"aq_scope/{key}"]
        template = templates[int(drawn * len(templates))]
        for names, items in _filled(situation, stream, forms[key]):
            more = {k: v for letter, n in names.items() for k, v in _slots(situation, n, letter).items()}
            readings = geo.geometry(items, situation.frame, forms[key].clause).readings
            params = {"form": key, "classes": [*names.values()]}
            yield Draft(template, slots | more, readings, variant=variant, params=params)  # type: ignore[arg-type]


def _slots(situation: Situation, name: str, letter: str) -> dict[str, str]:
    return situation.table.by_name[name].nouns[0].slots(letter)


def _filled(situation: Situation, stream: Stream, form: Form) -> Iterator[tuple[dict[str, str], Items]]:
    """Yield classes for the letters beside C, in a drawn order, with their instances."""
    name, known = situation.asked.name, situation.counted if form.counted else situation.ruled
    asked = known(name)
    order = stream.shuffled([one.name for one in situation.table.classes])
    if asked is None or len(asked) < form.least[0]:
        return
    partners = set(situation.partners(name, counted=form.counted))
    there = [name for name in order if name in partners and known(name)]
    absent = [name for name in order if name in partners and not known(name)]
    usable = [*there[:_MOST], *absent[:_MOST]]
    for chosen in product(usable, repeat=len(form.letters) - 1):
        apart = len(chosen) < 2 or chosen[1] in situation.partners(chosen[0], counted=form.counted)
        found = [known(name) or () for name in chosen]
        if apart and all(len(one) >= least for one, least in zip(found, form.least[1:], strict=True)):
            names = dict(zip(form.letters[1:], chosen, strict=True))
            yield names, {"C": asked} | dict(zip(form.letters[1:], found, strict=True))
