"""How a question lever is declared, what it knows, and what it puts forward.

A question lever leaves the image as it is and asks something else of it. It yields drafts in a fixed order; `ask` takes
the first whose measurement lies in the band of the lever.
"""

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

from georefusal_build.anchors import Measurement, Value
from georefusal_build.arrays import U8
from georefusal_build.asking import Court
from georefusal_build.bands import decide
from georefusal_build.census import Census
from georefusal_build.classes import ClassTable, Noun, ObjectClass
from georefusal_build.geometry import Finding, Frame
from georefusal_build.levers.premises import Claimed, claims
from georefusal_build.levers.registry import Anchor, Touches, Variant
from georefusal_build.outcomes import Json
from georefusal_build.question_tables import Claim, Tables, load_tables
from georefusal_build.questions import Candidate
from georefusal_build.scenes import Instance, Modality, Tile
from georefusal_build.streams import Stream, derive_key
from georefusal_build.templates import Bank
from georefusal_task.core.errors import ConfigError
from georefusal_task.core.records import Intensity, lever_family
from georefusal_task.core.verdicts import Verdict

Trait = Literal["any", "mobile", "owned"]

BOTH: tuple[Modality, ...] = ("optical", "sar")
"""Modalities of a variant that has no need of either in particular."""

SELDOM = 0.01
"""Share of the bases on which a family may say what tells its label, so that no variant is lost altogether."""


@dataclass(frozen=True)
class Situation:
    """What a question lever knows: the base question, the court over its tile, the source's census, and the words.

    pixels: the clean tile, uint8 (H, W) or (H, W, 3); None where it was not read, and what needs it is not asked.
    even: take for granted only what could have been said with the other label, so that words alone do not tell it;
    without, whatever fits this tile.
    """

    base: Candidate
    court: Court
    census: Census
    bank: Bank
    tables: Tables = field(default_factory=load_tables)
    pixels: U8 | None = None
    even: bool = True
    _counts: dict[str, tuple[Instance, ...] | None] = field(default_factory=dict, init=False, repr=False, compare=False)

    @property
    def tile(self) -> Tile:
        """The tile that the question is about."""
        return self.court.tile

    @property
    def table(self) -> ClassTable:
        """The class table."""
        return self.court.table

    @property
    def asked(self) -> ObjectClass:
        """The class that the base question asks about."""
        return self.table.by_name[self.base.class_name]

    @property
    def frame(self) -> Frame:
        """Width and height of the tile, pixels."""
        return float(self.tile.width), float(self.tile.height)

    @cached_property
    def claims(self) -> dict[Claim, Claimed]:
        """What the tile's modality and pixels say of the kinds of picture that it could be called."""
        return claims(self.pixels, self.tile.scene.modality)

    @property
    def truth(self) -> Finding:
        """The base's answer."""
        return Finding(self.base.answer == "yes")

    def counted(self, name: str) -> tuple[Instance, ...] | None:
        """Return all instances of a class, None when it is not certain that these are all, or what one of them is.

        Nothing divisible can be counted.
        """
        if name not in self._counts:
            self._counts[name] = self._count(name)
        return self._counts[name]

    def _count(self, name: str) -> tuple[Instance, ...] | None:
        court, tile = self.court, self.tile
        if name in self.table.divisible or court.rule(name).answer is None:
            return None
        found = court.evidence(name)
        if not found:
            return ()
        pieces = (tile.cut | tile.slivers) & (self.table.members(name) | self.table.rivals[name])
        least = court.limits.min_minor_px
        contestable = any(one.difficult or one.truncated or one.sides[0] < least for one in found)
        return found if court.outlined(name) and not pieces and not contestable else None

    def ruled(self, name: str) -> tuple[Instance, ...] | None:
        """Return instances that show a class to be there, () when it is known to be absent, None when neither.

        They need not be all, nor whole: enough for what asks whether there is any.
        """
        answer = self.court.rule(name).answer
        return self.court.evidence(name) if answer else None

    def partners(self, *others: str, counted: bool = True) -> list[str]:
        """Return the classes that have nothing in common with the others and can be counted (or ruled on), by name."""
        known = self.counted if counted else self.ruled
        related = frozenset[str]().union(*(self.table.members(n) | self.table.rivals[n] for n in others))
        names = sorted((self.court.present | self.court.known) - related)
        apart = (name for name in names if not self.table.members(name) & related)
        return [name for name in apart if known(name) is not None]

    def lot(self, purpose: str) -> Stream:
        """Return draws that depend on the base alone: what they bar stays barred whatever the attempt and the label."""
        return Stream(derive_key(0, self.base.id, purpose))

    def loose(self, family: str) -> bool:
        """Return whether a family may say here what tells its label."""
        return not self.even or self.lot(f"{family}|seldom").uniform() < SELDOM

    def noun(self, name: str, stream: Stream) -> Noun:
        """Return one of the names of a class, drawn by the stream."""
        return stream.choice(self.table.by_name[name].nouns)


@dataclass(frozen=True)
class Draft:
    """A question with its declared structure, from which its measurement follows.

    readings: truth of each way to understand it; for one reading, the answer. figures: numbers about the question as a
    whole. columns: numbers by instance. tags: what `decide` has to know beside the numbers. to_confirm: what the
    annotation leaves open and verifiers have to agree on. step: decimation of the image, for crossed levers.
    """

    template: str
    slots: Mapping[str, str]
    readings: tuple[Finding, ...] = ()
    figures: Mapping[str, float] = field(default_factory=dict)
    columns: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    variant: str = ""
    tags: frozenset[str] = frozenset()
    params: Mapping[str, Json] = field(default_factory=dict)
    to_confirm: tuple[str, ...] = ()
    step: float | None = None


def measure_question(draft: Draft) -> Measurement:
    """Return the measurement of a draft: its readings and figures as numbers."""
    truths = [float(one.truth) for one in draft.readings]
    columns: dict[str, list[Value]] = {
        "reading": [*truths],
        "reading_margin": [one.margin for one in draft.readings],
        **{name: [*values] for name, values in draft.columns.items()},
    }
    figures: dict[str, Value] = {"n_readings": float(len(truths)), "differ": float(len({*truths}) > 1)}
    return Measurement(columns, {**figures, **draft.figures})


def fits(lever_id: str, draft: Draft, situation: Situation) -> bool:
    """Return whether a draft lies in the band of a lever."""
    tags = draft.tags | {situation.base.answer, situation.tile.scene.modality}
    return isinstance(decide(lever_id, measure_question(draft), tags), Verdict)


Pose = Callable[[Situation, Stream, Intensity], Iterator[Draft]]


@dataclass(frozen=True)
class QuestionFamily:
    """A family of question levers.

    yes_only: its refusals exist on bases with the answer "yes" only, so its LOW does too. trait: what the asked class
    must be. may_accept: second verdicts that join the accept set when both reviewers name them.
    """

    name: str
    category: Verdict
    text: str
    pose: Pose
    anchor: Anchor
    variants: tuple[Variant, ...]
    touches: Touches = "question"
    yes_only: bool = False
    trait: Trait = "any"
    may_accept: Mapping[Intensity, Verdict] = field(default_factory=dict)

    @property
    def lever_ids(self) -> tuple[str, ...]:
        """`<family>_low`, `_medium`, `_high`."""
        return tuple(f"{self.name}_{intensity.lower()}" for intensity in Intensity)


QUESTION_FAMILIES: dict[str, QuestionFamily] = {}
"""All declared question families, by name."""


def question_lever(
    name: str,
    category: Verdict,
    *variants: Variant,
    anchor: Anchor,
    touches: Touches = "question",
    yes_only: bool = False,
    trait: Trait = "any",
    may_accept: Mapping[Intensity, Verdict] | None = None,
) -> Callable[[Pose], Pose]:
    """Return a decorator that declares a question family; the first line of the docstring is the catalogue text."""

    def declare(pose: Pose) -> Pose:
        text = (inspect.getdoc(pose) or "").partition("\n")[0]
        QUESTION_FAMILIES[name] = QuestionFamily(
            name, category, text, pose, anchor, variants, touches, yes_only, trait, may_accept or {}
        )
        return pose

    return declare


def find_question(lever_id: str) -> tuple[QuestionFamily, Intensity]:
    """Return the family and the intensity of a question lever; raises ConfigError when there is none of that id."""
    family = QUESTION_FAMILIES.get(lever_family(lever_id) or "")
    if family is None or lever_id not in family.lever_ids:
        raise ConfigError(f"no question lever is called {lever_id!r}")
    return family, Intensity(lever_id.rpartition("_")[2].upper())


def wordings(bank: Bank, family: str, intensity: Intensity) -> Sequence[str]:
    """Return the templates of a lever: its own list, or the one that the family's intensities share.

    Raises: ConfigError when the bank has neither.
    """
    for name in (f"{family}_{intensity.lower()}", family):
        if name in bank:
            return bank[name]
    raise ConfigError(f"the question bank has no list for {family} at {intensity}")


def capitalised(text: str) -> str:
    """Return the text with its first letter as a capital."""
    return text[:1].upper() + text[1:]
