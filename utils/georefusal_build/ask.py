"""Pulling a question lever: base question in, another question out, with the label that its structure gives it."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from georefusal_build.anchors import Measurement
from georefusal_build.arrays import U8
from georefusal_build.asking import Answer
from georefusal_build.bands import decide
from georefusal_build.levers import find_question
from georefusal_build.levers.asked import Draft, QuestionFamily, Situation, measure_question
from georefusal_build.levers.granularity import decimate
from georefusal_build.levers.registry import Subject
from georefusal_build.outcomes import Json, NotApplicable, Reason
from georefusal_build.streams import Stream, derive_key
from georefusal_build.targets import Target
from georefusal_build.templates import Bank, load_bank, render, split
from georefusal_task.core.records import Intensity
from georefusal_task.core.verdicts import Verdict, primary

BANK_FILE = Path(__file__).with_name("question_templates.json")


@dataclass(frozen=True)
class Asked:
    """A finished question with its measurement and what follows from it.

    answer: "yes" or "no" where the verdict is ANSWER, else None. may_accept: a second verdict that reviewers may add.
    tags: what `decide` was told beside the measurement. pixels: the image where the lever changed it, None where it
    stays as it is. to_confirm: what verifiers have to agree on before the item is released.
    """

    lever_id: str
    variant: str
    question: str
    template: str
    measurement: Measurement
    verdict: Verdict | None
    rejection: Reason | None
    answer: Answer | None
    tags: frozenset[str]
    params: dict[str, Json] = field(default_factory=dict)
    to_confirm: tuple[str, ...] = ()
    may_accept: Verdict | None = None
    pixels: U8 | None = None


def question_bank(master: int, *, private: Path | None = None, held_back: bool = False) -> Bank:
    """Return the templates of the question levers: those that are published, or those held back.

    private: a user's own bank, whose templates join the lists. Raises: ConfigError as `load_bank` does.
    """
    bank = load_bank(BANK_FILE, private)
    parts = {name: split(name, templates, master) for name, templates in bank.items()}
    return {name: part.held_back if held_back else part.shipped for name, part in parts.items()}


def ask(lever_id: str, situation: Situation, master: int, *, attempt: int = 0) -> Asked | NotApplicable:
    """Return the first draft of a lever whose measurement lies in its band, or why there is none.

    master, attempt: with the base's id and the family, the key of the random stream, so that an item can be made again
    alone, and LOW, MEDIUM and HIGH of a base share their draws. Among answerable drafts one with a drawn answer goes
    first, so that "yes" and "no" are as frequent as the tiles allow. Where drafts exist but none lies in the band, the
    first one is returned with its rejection.

    Raises:
        ConfigError: no such lever, or the bank lacks its list.

    """
    family, intensity = find_question(lever_id)
    barred = _barred(family, situation)
    if barred:
        return NotApplicable(lever_id, Reason.WRONG_BASE, barred)
    base_id = situation.base.id
    stream = Stream(derive_key(master, base_id, family.name, attempt))
    wanted = Stream(derive_key(master, base_id, f"{family.name}|answer", attempt)).choice(("yes", "no"))
    kept: tuple[Asked, Draft] | None = None
    for draft in family.pose(situation, stream, intensity):
        asked = _finish(lever_id, family, intensity, situation, draft)
        if kept is None or (kept[0].verdict is None and asked.verdict is not None):
            kept = asked, draft
        if asked.verdict is not None and asked.answer in (None, wanted):
            kept = asked, draft
            break
    if kept is None:
        return NotApplicable(lever_id, Reason.NO_MATCH, f"nothing in {situation.tile.id} fits what {lever_id} says")
    return kept[0] if kept[0].verdict is None else _with_image(*kept, situation, master, attempt)


def standing(measurement: Measurement) -> frozenset[Verdict]:
    """Return every reason to refuse that holds on a measured question, whatever lever made it."""
    figures = {name: value for name, value in measurement.image.items() if value is not None}

    def at_most(name: str, value: float) -> bool:
        return name in figures and figures[name] <= value

    def above(name: str, value: float) -> bool:
        return figures.get(name, value) > value

    holds = {
        Verdict.FALSE_PREMISE: at_most("premise_true", 0),
        Verdict.AMBIGUOUS: above("differ", 0) or above("undefined", 0),
        Verdict.GRANULARITY: above("n_acq_missing", 0)
        or at_most("n_part_px", 1.5)
        or at_most("n_disc_px", 1.5)
        or at_most("fine_n_eff", 5),
        Verdict.NONFACTUAL: above("unsettleable", 0),
    }
    return frozenset(verdict for verdict, true in holds.items() if true)


def judge(lever_id: str, measurement: Measurement, tags: frozenset[str]) -> Verdict | Reason:
    """Return the label of a question lever's item from its numbers alone, or why it has none.

    A reason of higher precedence than the lever's own makes the item collateral.
    """
    decision = decide(lever_id, measurement, tags)
    if isinstance(decision, Reason):
        return decision
    return decision if primary({Verdict.ANSWER, *standing(measurement)}) is decision else Reason.COLLATERAL


def answer_of(measurement: Measurement) -> Answer:
    """Return what the readings of an answerable question agree on."""
    return "yes" if all(measurement.per_instance["reading"]) else "no"


def _barred(family: QuestionFamily, situation: Situation) -> str:
    """Why the family has no use for this base; "" when it has."""
    base, tables = situation.base, situation.tables
    traits: Mapping[str, frozenset[str] | None] = {"any": None, "mobile": tables.mobile, "owned": tables.owned}
    fit = traits[family.trait]
    if base.scope != "whole":
        return f"it asks about the {base.scope} quarter, and question levers ask about the whole tile"
    if family.yes_only and base.answer != "yes":
        return f"{family.name} can refuse on a yes only"
    return "" if fit is None or base.class_name in fit else f"'{base.class_name}' is not {family.trait}"


def _finish(lever_id: str, family: QuestionFamily, intensity: Intensity, situation: Situation, draft: Draft) -> Asked:
    measurement = measure_question(draft)
    tags = draft.tags | {situation.base.answer, situation.tile.scene.modality}
    decision = judge(lever_id, measurement, tags)
    return Asked(
        lever_id=lever_id,
        variant=draft.variant,
        question=render(draft.template, draft.slots),
        template=draft.template,
        measurement=measurement,
        verdict=decision if isinstance(decision, Verdict) else None,
        rejection=decision if isinstance(decision, Reason) else None,
        answer=answer_of(measurement) if decision is Verdict.ANSWER else None,
        tags=tags,
        params=dict(draft.params),
        to_confirm=draft.to_confirm,
        may_accept=family.may_accept.get(intensity),
    )


def _with_image(asked: Asked, draft: Draft, situation: Situation, master: int, attempt: int) -> Asked:
    """Return the question with its image, where a crossed lever coarsens it: noise and optics as drawn for the base."""
    if draft.step is None:
        return asked
    params: dict[str, Json] = {**asked.params, "step": draft.step}
    if situation.pixels is None:
        return replace(asked, params=params)
    targets = tuple(Target(one.polygon) for one in situation.court.evidence(situation.asked.name))
    subject = Subject(situation.pixels, targets, situation.tile.scene.modality, settings={"step": draft.step})
    stream = Stream(derive_key(master, situation.base.id, "gm_decimate", attempt))
    effect = decimate(subject, stream, Intensity.LOW, "bicubic")
    return replace(asked, params=params | effect.params, pixels=effect.pixels)
