"""Premises that words alone cannot tell to be true: drawn first, from what is true of something and false of another.

Of another class of the tile (a number, a clause) or of another tile (a class, a kind of picture), each as often as it
is true in the source. LOW is asked only where a refusal, of a drawn intensity, could have been.
"""

import math
from collections.abc import Iterator, Mapping

from georefusal_build.levers.asked import Draft, Situation, fits
from georefusal_build.question_tables import Claim
from georefusal_build.streams import Stream
from georefusal_task.core.records import Intensity

KINDS: tuple[Claim, ...] = ("colour", "grey", "radar")
"""Claims about a picture that are true of some and false of others; the rest depend on no image."""

PROPOSALS = 3
"""Classes that are thought of before it is known whether they are there; with more, rare ones are said to be."""

MOST = 12
"""Largest number that is named."""

LOW, MEDIUM, HIGH = Intensity


def aimed(family: str, situation: Situation, intensity: Intensity) -> Intensity:
    """Return the intensity of the refusal that is asked here or, at LOW, could have been: the same at each attempt."""
    return situation.lot(f"{family}|aim").choice((MEDIUM, HIGH)) if intensity is LOW else intensity


def thought_of(names: list[str], situation: Situation, stream: Stream, *, single: bool) -> list[str]:
    """Return the absent ones among a few classes, drawn as often as they are there, or there as the only one.

    The more often a class is there the less often it is absent, which its weight makes up for.
    """
    source, census = situation.tile.scene.source, situation.census
    tiles = max(census.tiles[source], 1)
    often = census.singles if single else census.popularity
    weights = {n: often(source, n) / (1.02 - min(1.0, census.popularity(source, n) / tiles)) for n in names}
    drawn = _favoured(names, weights, situation, stream)
    drawn = [name for name in drawn if weights[name]]
    loose = situation.loose("fp_entity")
    return [name for name in (drawn if loose else drawn[:PROPOSALS]) if not situation.ruled(name)]


def _favoured(names: list[str], weights: Mapping[str, float], situation: Situation, stream: Stream) -> list[str]:
    """Return the names in an order drawn by their weights, those without weight last.

    Source: weighted order by exponential keys (Efraimidis and Spirakis 2006).
    """
    drawn = stream.uniform((len(situation.table.classes),))
    place = {one.name: i for i, one in enumerate(situation.table.classes)}

    def key(name: str) -> float:
        return -math.log(1 - drawn[place[name]]) / max(weights[name], 1e-3)

    return sorted(names, key=lambda name: (key(name), name))


def mistaken(number: int, other: int, aim: Intensity) -> bool:
    """Return whether each of two numbers is as wrong for the other as an intensity wants; only small ones are near."""
    low, high = sorted((number, other))
    if aim is MEDIUM:
        return low >= 2 and high <= 6 and 1 <= high - low <= 2
    return low >= 2 and high <= MOST and high >= 3 * low


def swapped(situation: Situation) -> tuple[Claim, Claim] | None:
    """Return what kind of picture this is and what it may be called instead; None where words would tell the label.

    The step from the true to the false kind is as frequent as the step back on pictures of the other kind, so that over
    all sources each is said as often truly as falsely; which steps are left out depends on the base alone.
    Source: the acceptance rule of Metropolis et al. 1953.
    """
    claims, kinds, lot = situation.claims, situation.census.kinds, situation.lot("fp_capture")
    own = next((kind for kind in KINDS if kind in claims and claims[kind].true), None)
    others = [kind for kind in KINDS if kind != own]
    other, taken = lot.choice(others), lot.uniform()
    if own is None or other not in claims or {own, other} == {"grey", "radar"}:  # grey pictures may pass for radar
        return None
    return (own, other) if taken * max(kinds[own], 1) < kinds[other] else None


def grossness(situation: Situation, twin: tuple[Claim, Claim]) -> Intensity:
    """Return at which intensity the false one of the two kinds is called."""
    return HIGH if situation.claims[twin[1]].figures["gross"] else MEDIUM


def both_ways(
    family: str, drafts: list[Draft], situation: Situation, intensity: Intensity, aim: Intensity
) -> Iterator[Draft]:
    """Yield the drafts whose clause holds of something here and fails, as `aim` wants, of something else."""
    if situation.loose(family):
        yield from drafts
        return
    true, false = ([one for one in drafts if fits(f"{family}_{level.lower()}", one, situation)] for level in (LOW, aim))
    matched = {one.variant for one in true} & {one.variant for one in false}
    yield from (one for one in (true if intensity is LOW else false) if one.variant in matched)


def every_way(family: str, drafts: list[Draft], situation: Situation) -> list[Draft]:
    """Return the drafts about what can be placed truly (LOW), and falsely as MEDIUM and as HIGH want, on this base."""
    at = [{one.params["premise"] for one in drafts if fits(f"{family}_{i.lower()}", one, situation)} for i in Intensity]
    return [one for one in drafts if all(one.params["premise"] in premises for premises in at)]
