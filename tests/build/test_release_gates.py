"""Gates of a release: each lets a sound set through and is shut by the fault that it is there for."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import georefusal_task
from georefusal_build.layout import SetItem, read_set
from georefusal_build.release.gates import Gate, Limits, audit_gate, content_gates
from georefusal_task.core.verdicts import Verdict

MINI = Path(georefusal_task.__file__).parent / "assets" / "mini"


def changed(item: SetItem, *, provenance: dict[str, Any] | None = None, **label: Any) -> SetItem:
    return replace(item, label=item.label.model_copy(update=label), provenance=item.provenance | (provenance or {}))


@pytest.fixture(scope="module")
def sound() -> list[SetItem]:
    """As many "yes" as "no", half of the items answerable, all reviewed."""
    items = [changed(one, provenance={"status": "reviewed"}) for one in read_set(MINI)]
    answerable = [one for one in items if one.label.gold is Verdict.ANSWER]
    refused = [one for one in items if one.label.gold is not Verdict.ANSWER]
    evened = [changed(one, answer=("yes", "no")[n % 2], accept=(Verdict.ANSWER,)) for n, one in enumerate(answerable)]
    return [*evened, *(changed(one, accept=(one.label.gold,)) for one in refused)]


def shut(items: Sequence[SetItem], **more: Any) -> list[Gate]:
    return [gate for gate in content_gates(items, **more) if not gate.passed]


def test_a_sound_set_passes(sound: list[SetItem]) -> None:
    assert shut(sound) == []


def test_one_image_with_one_question_twice(sound: list[SetItem]) -> None:
    twin = changed(sound[1], provenance={"fingerprint": sound[0].provenance["fingerprint"]})
    (gate,) = shut([sound[0], twin, *sound[2:]])
    assert gate.name == "fingerprints"
    assert sound[0].id in gate.detail
    assert twin.id in gate.detail


@pytest.mark.parametrize(
    "label",
    [
        {"accept": (Verdict.ANSWER, Verdict.AMBIGUOUS)},
        {"answer": ""},
        {"answer": None},
    ],
)
def test_an_answer_is_accepted_alone_and_is_known(sound: list[SetItem], label: dict[str, Any]) -> None:
    assert [gate.name for gate in shut([changed(sound[0], **label), *sound[1:]])] == ["accept sets"]


def test_too_many_items_with_several_verdicts(sound: list[SetItem]) -> None:
    wide = [
        changed(one, accept=(one.label.gold, Verdict.NONFACTUAL))
        if one.label.gold not in (Verdict.ANSWER, Verdict.NONFACTUAL)
        else one
        for one in sound
    ]
    assert [gate.name for gate in shut(wide)] == ["several verdicts"]


def test_a_category_without_items(sound: list[SetItem]) -> None:
    left = [one for one in sound if one.label.gold is not Verdict.AMBIGUOUS]
    names = {gate.name: gate.detail for gate in shut(left, limits=Limits(0.2, 0.2))}
    assert names == {"categories": "no item is REFUSE_AMBIGUOUS_QUERY; build more, or other levers"}


def test_balance(sound: list[SetItem]) -> None:
    only_yes = [changed(one, answer="yes") if one.label.answer else one for one in sound]
    assert [gate.name for gate in shut(only_yes)] == ['balance: "yes" among answerable items']
    refusing = [one for one in sound if one.label.gold is not Verdict.ANSWER] + sound[:4]
    assert "balance: answerable items" in [gate.name for gate in shut(refusing)]
    assert shut(only_yes, limits=Limits(0.1, 0.5)) == []


def test_review(sound: list[SetItem]) -> None:
    waiting = [changed(sound[0], provenance={"status": "verified"}), *sound[1:]]
    assert [gate.name for gate in shut(waiting)] == ["review"]
    assert shut(waiting, unreviewed=True) == []
    contested = [changed(sound[0], provenance={"status": "contested"}), *sound[1:]]
    assert [gate.name for gate in shut(contested, unreviewed=True)] == ["review"]


def test_the_audit() -> None:
    leak = SimpleNamespace(tier="T1", target=SimpleNamespace(name="answer or refuse"))
    found = SimpleNamespace(verdict="leaks", leaks=(leak, leak))
    gate = audit_gate(found)
    assert not gate.passed
    assert "T1 answer or refuse" in gate.detail
    few = SimpleNamespace(verdict="too few items", undecided=("T3",))
    assert not audit_gate(few).passed
    assert audit_gate(few, too_few=True).passed
    clean = audit_gate(SimpleNamespace(verdict="nothing found"))
    assert clean == Gate("audit", passed=True, detail="these probes found nothing")
