"""Broken levers must turn the checks red: a check that passes them would let the real thing break."""

import dataclasses
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
from support.lever_checks import CHECKS, check_budget, check_outline_is_no_box, every_family

from georefusal_build.levers import FAMILIES, Family, Variant
from georefusal_build.levers.registry import Effect, Subject
from georefusal_build.streams import Stream
from georefusal_build.targets import Target, union
from georefusal_task.core.records import Intensity

LOW, MEDIUM, HIGH = Intensity.LOW, Intensity.MEDIUM, Intensity.HIGH


def broken(name: str, monkeypatch: pytest.MonkeyPatch, pull: Callable[..., Effect]) -> tuple[Family, Variant]:
    family = dataclasses.replace(FAMILIES[name], pull=pull)
    monkeypatch.setitem(FAMILIES, name, family)
    return family, family.variants[0]


def any_check_fails(family: Family, variant: Variant) -> bool:
    for check in CHECKS:
        try:
            check(family, variant, variant.modalities[0])
        except AssertionError:
            return True
    return False


@every_family
def test_the_checks_pass_without_a_mutation(family: Family) -> None:
    assert not any_check_fails(family, family.variants[0])


@every_family
def test_a_lever_that_does_nothing_is_caught(family: Family, monkeypatch: pytest.MonkeyPatch) -> None:
    def nothing(subject: Subject, *_: object) -> Effect:
        return Effect(subject.pixels.copy())

    assert any_check_fails(*broken(family.name, monkeypatch, nothing))


EXPERIMENTAL = [(f.name, v) for f in FAMILIES.values() for v in f.variants if v.experimental]


@pytest.mark.parametrize(("name", "variant"), EXPERIMENTAL, ids=lambda one: getattr(one, "name", one))
def test_an_experimental_variant_that_does_nothing_is_caught(
    name: str, variant: Variant, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert not any_check_fails(FAMILIES[name], variant)
    family, _ = broken(name, monkeypatch, lambda subject, *_: Effect(subject.pixels.copy()))
    assert any_check_fails(family, variant)


@pytest.mark.parametrize("name", ["im_occlude", "im_redact", "im_truncate"])
def test_a_lever_that_only_claims_to_hide_is_caught(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    real = FAMILIES[name].pull

    def claims(subject: Subject, *rest: Any) -> Effect:
        return dataclasses.replace(real(subject, *rest), pixels=subject.pixels.copy())

    assert any_check_fails(*broken(name, monkeypatch, claims))


@every_family
def test_swapped_low_and_high_are_caught(family: Family, monkeypatch: pytest.MonkeyPatch) -> None:
    real = family.pull
    swapped = {LOW: HIGH, MEDIUM: MEDIUM, HIGH: LOW}

    def swap(subject: Subject, stream: Stream, intensity: Intensity, variant: str) -> Effect:
        return real(subject, stream, swapped[intensity], variant)

    assert any_check_fails(*broken(family.name, monkeypatch, swap))


def test_a_box_shaped_cloud_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """The cover is right, the labels are right: only the outline repeats the boxes."""
    from georefusal_build.levers import sky

    def boxes(shape: tuple[int, int], bumps: Any, wobble: np.ndarray) -> np.ndarray:
        grown = [
            Target.box(b.x - b.half_width, b.y - b.half_height, b.x + b.half_width, b.y + b.half_height) for b in bumps
        ]
        return 9 * union(grown, shape).astype(np.float32)

    monkeypatch.setattr(sky, "bumps_field", boxes)
    real = FAMILIES["im_occlude"].pull
    mutated = broken("im_occlude", monkeypatch, partial(real))
    with pytest.raises(AssertionError):
        check_outline_is_no_box(*mutated, "optical")


def test_a_budget_that_follows_the_intensity_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    real = FAMILIES["im_redact"].pull

    def bigger(subject: Subject, stream: Stream, intensity: Intensity, variant: str) -> Effect:
        effect = real(subject, stream, intensity, variant)
        if intensity is not HIGH or effect.visible is None:
            return effect
        visible, pixels = effect.visible.copy(), effect.pixels.copy()
        visible[-20:], pixels[-20:] = 0, 0
        return dataclasses.replace(effect, visible=visible, pixels=pixels)

    with pytest.raises(AssertionError):
        check_budget(*broken("im_redact", monkeypatch, bigger), "optical")
