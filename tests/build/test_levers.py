"""Contracts of every lever in the registry, on reference bases and on any image."""

import dataclasses
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.lever_checks import CHECKS, every_case, every_family, pulled
from support.levers import MASTER, bases, optical, radar

from georefusal_build.anchors import Measurement
from georefusal_build.apply import apply
from georefusal_build.bands import decide
from georefusal_build.levers import FAMILIES, Family, Variant, find
from georefusal_build.levers.registry import Subject
from georefusal_build.outcomes import NotApplicable, Outcome, Reason
from georefusal_build.streams import Stream
from georefusal_build.targets import Target
from georefusal_task.core.errors import ConfigError, DataError
from georefusal_task.core.records import Intensity

LOW, MEDIUM, HIGH = Intensity.LOW, Intensity.MEDIUM, Intensity.HIGH


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__.removeprefix("check_"))
@every_case
def test_contract(
    check: Callable[[Family, Variant, str], None], family: Family, variant: Variant, modality: str
) -> None:
    check(family, variant, modality)


@every_case
def test_paired_variants_give_one_image_for_both_labels(family: Family, variant: Variant, modality: str) -> None:
    """Two questions about one base: with the settings fixed, the images are equal byte for byte whatever the target."""
    if not variant.paired or family.name == "im_channel":
        return
    base = bases(variant.name, modality)[LOW]
    first = base.pull(f"{family.name}_low", variant.name)
    name = {"gm_decimate": "step", "im_bury": "level", "im_saturate": "gain"}[family.name]
    other = dataclasses.replace(base, targets=(Target.box(200, 20, 222, 44),)) if family.name != "im_bury" else base
    for lever_id in family.lever_ids:
        second = other.pull(lever_id, variant.name, settings={name: first.params[name]})
        assert isinstance(second, Outcome)
        assert (second.pixels == first.pixels).all()


@every_case
def test_same_key_same_item_and_another_base_another_image(family: Family, variant: Variant, modality: str) -> None:
    for intensity, lever_id in zip(Intensity, family.lever_ids, strict=True):
        base = bases(variant.name, modality)[intensity]
        one, again, *others = (base.pull(lever_id, variant.name, base_id=name) for name in "aabcd")
        assert type(one) is type(again)
        if isinstance(one, Outcome):
            assert (one.pixels == again.pixels).all()
            assert (one.params, one.measurement, one.verdict) == (again.params, again.measurement, again.verdict)
            different = [(one.pixels != other.pixels).any() for other in others if isinstance(other, Outcome)]
            assert (
                any(different) or family.name == "im_channel" or variant.name in ("gain_clip", "crush")
            )  # nothing drawn


def test_no_set_order_or_hash_reaches_a_pixel() -> None:
    """Python salts its hashes anew in every process; two workers must still build the same image."""
    program = (
        "import hashlib; from georefusal_build.levers import FAMILIES; from support.levers import bases\n"
        "for f in FAMILIES.values():\n"
        "    v = f.variants[0]; base = bases(v.name, v.modalities[0]); high = list(base)[2]\n"
        "    print(f.name, hashlib.sha256(base[high].pull(f.lever_ids[2], v.name).pixels.tobytes()).hexdigest())"
    )
    root = Path(__file__).parents[2]
    paths = os.pathsep.join(str(root / name) for name in ("tests", "utils", "."))
    runs = [
        subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": paths},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    ]
    assert runs[0] == runs[1]
    assert len(runs[0].splitlines()) == len(FAMILIES)


@every_case
def test_the_label_can_be_derived_from_provenance_alone(family: Family, variant: Variant, modality: str) -> None:
    for intensity, lever_id in zip(Intensity, family.lever_ids, strict=True):
        for outcome in pulled(family, variant, modality, intensity)[:2]:
            if isinstance(outcome, Outcome):
                row = json.loads(json.dumps({"measurement": outcome.measurement.to_json(), "params": outcome.params}))
                assert row["params"] == outcome.params
                tags = frozenset({"yes", modality, bases(variant.name, modality)[intensity].known.get("asks", "plain")})
                decision = decide(lever_id, Measurement.from_json(row["measurement"]), tags)
                assert decision == (outcome.verdict or outcome.rejection)


@every_family
def test_intensities_share_the_stream(family: Family) -> None:
    """What is drawn must not depend on the intensity, or noise and geometry would tell it."""

    class Counting(Stream):
        def words(self, count: int) -> Any:
            drawn.append(count)
            return super().words(count)

    variant, counts = family.variants[0], []
    for intensity in Intensity:
        drawn: list[int] = []
        base = bases(variant.name, variant.modalities[0])[intensity]
        known = {name: base.known[name] for name in ("asks", "colour") if name in base.known}
        subject = Subject(base.pixels, base.targets, variant.modalities[0], **known)
        family.pull(subject, Counting(1), intensity, variant.name)
        counts.append(drawn)
    assert counts[0] == counts[1] == counts[2]


# any image, any boxes

images = st.one_of(
    st.sampled_from([np.zeros((1, 1), np.uint8), np.full((40, 56, 3), 255, np.uint8), np.full((33, 47), 90, np.uint8)]),
    st.sampled_from([optical((72, 96)), radar((72, 96)), np.repeat(radar((48, 64))[..., None], 3, axis=2)]),
    st.integers(0, 2**32).map(lambda seed: np.floor(Stream(seed).uniform((24, 31, 3)) * 256).astype(np.uint8)),
)
corners = st.tuples(st.floats(-30, 100), st.floats(-30, 80), st.floats(0, 50), st.floats(0, 50))
boxes = corners.map(lambda b: (b[0], b[1], b[0] + b[2], b[1] + b[3]))
rotated = st.just(((20.0, 10.0), (40.0, 25.0), (34.0, 33.0), (14.0, 18.0)))


@every_case
@settings(max_examples=12)
@given(
    pixels=images, targets=st.lists(st.one_of(boxes, rotated), max_size=3), answer=st.sampled_from(["yes", "yes", "no"])
)
def test_any_image_and_any_boxes(
    family: Family, variant: Variant, modality: str, pixels: np.ndarray, targets: list[Any], answer: str
) -> None:
    """Never an exception, a write to the input, another shape or a label that its own measurement does not give."""
    before, given_targets = pixels.copy(), list(targets)
    for lever_id in family.lever_ids:
        known: dict[str, Any] = {
            "variant": variant.name,
            "modality": modality,
            "answer": answer,
            "nominal_px": (9.0, 12.0),
        }
        found = apply(lever_id, pixels, targets, "any", MASTER, **known)
        assert (pixels == before).all()
        assert targets == given_targets
        if isinstance(found, NotApplicable):
            assert found.reason in Reason
            assert found.detail
            continue
        assert targets, "no targets is not applicable"
        assert found.pixels.dtype == np.uint8
        assert found.pixels.shape[2:] == pixels.shape[2:]
        assert not np.shares_memory(found.pixels, pixels)
        if variant.parent == 1:
            assert found.pixels.shape == pixels.shape
            assert [t.polygon for t in found.targets] == [
                t if len(t) == 4 and isinstance(t[0], tuple) else Target.box(*t).polygon for t in targets
            ]
        assert (found.verdict is None) != (found.rejection is None)
        json.dumps([found.params, found.measurement.to_json()], allow_nan=False)
        tags = frozenset({answer, modality})
        assert decide(lever_id, found.measurement, tags) == (found.verdict or found.rejection)
        assert found.levers_applied == (lever_id,)


@pytest.mark.parametrize("family", [f for f in FAMILIES.values() if f.name != "im_channel"], ids=lambda f: f.name)
def test_grey_images_of_three_bands_stay_grey_and_equal_the_one_band_result(family: Family) -> None:
    variant = next(v for v in family.variants if "sar" in v.modalities or v.name == "cloud")
    modality = variant.modalities[-1]
    targets = bases(variant.name, modality)[HIGH].targets
    one = bases(variant.name, modality)[HIGH].pixels
    one = one if one.ndim == 2 else one[..., 0].copy()
    for lever_id in family.lever_ids[1:]:
        single, triple = (
            apply(lever_id, p, targets, "g", MASTER, variant=variant.name, modality=modality)
            for p in (one, np.repeat(one[..., None], 3, axis=2))
        )
        assert isinstance(single, Outcome)
        assert isinstance(triple, Outcome)
        assert (triple.pixels == single.pixels[..., None]).all()
        assert triple.measurement == single.measurement


# refusals to work


@every_family
def test_an_image_that_a_lever_has_changed_is_refused(family: Family) -> None:
    variant = family.variants[0]
    base = bases(variant.name, variant.modalities[0])[LOW]
    done = base.pull(family.lever_ids[0], variant.name)
    again = base.pull(family.lever_ids[0], variant.name, levers_applied=done.levers_applied)
    assert isinstance(again, NotApplicable)
    assert again.reason is Reason.ALREADY_PULLED


@every_family
def test_no_target_and_a_target_outside_are_not_applicable(family: Family) -> None:
    modality = family.variants[0].modalities[0]
    for targets in ([], [(900, 900, 950, 950)]):
        found = apply(family.lever_ids[2], optical(), targets, "x", MASTER, modality=modality)
        assert isinstance(found, NotApplicable)
        assert found.reason is Reason.NO_TARGET


def test_a_variant_of_the_other_modality_is_not_applicable() -> None:
    found = apply("im_occlude_high", radar(), [(20, 20, 50, 50)], "x", MASTER, variant="cloud", modality="sar")
    assert isinstance(found, NotApplicable)
    assert found.reason is Reason.WRONG_BASE


@pytest.mark.parametrize("name", ["im_occlude", "im_occlude_LOW", "im_nothing_low", "low", ""])
def test_unknown_levers_are_named(name: str) -> None:
    with pytest.raises(ConfigError, match="no lever is called"):
        find(name)


def test_unknown_variants_are_named() -> None:
    with pytest.raises(ConfigError, match=r"'fog'.*cloud, smoke"):
        apply("im_occlude_low", optical(), [(20, 20, 50, 50)], "x", MASTER, variant="fog")


@pytest.mark.parametrize(
    "pixels", [np.zeros((9, 9), np.float32), np.zeros((9, 9, 4), np.uint8), np.zeros((0, 9), np.uint8)]
)
def test_pixels_that_are_no_image_are_an_error(pixels: np.ndarray) -> None:
    with pytest.raises(DataError, match="base 'x'"):
        apply("im_redact_low", pixels, [(1, 1, 5, 5)], "x", MASTER)
