"""Contracts of every lever in the registry, and mutations that must break them."""

import dataclasses
import json
import os
import subprocess
import sys
from collections.abc import Callable
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import ndimage
from support.levers import MASTER, Base, bases, optical, radar

from georefusal_build.anchors import Measurement
from georefusal_build.apply import apply
from georefusal_build.bands import decide
from georefusal_build.levers import FAMILIES, Family, Variant, find
from georefusal_build.levers.registry import Effect, Subject
from georefusal_build.outcomes import NotApplicable, Outcome, Reason
from georefusal_build.streams import Stream
from georefusal_build.targets import Target, union
from georefusal_task.core.errors import ConfigError, DataError
from georefusal_task.core.records import Intensity
from georefusal_task.core.verdicts import Verdict

LOW, MEDIUM, HIGH = Intensity.LOW, Intensity.MEDIUM, Intensity.HIGH

CASES = [
    pytest.param(family, variant, modality, id=f"{family.name}-{variant.name}-{modality}")
    for family in FAMILIES.values()
    for variant in family.variants
    for modality in variant.modalities
]
every_case = pytest.mark.parametrize(("family", "variant", "modality"), CASES)
every_family = pytest.mark.parametrize("family", FAMILIES.values(), ids=lambda family: family.name)

RARE = {"sensor_noise", "haze", "slc_gap", "drop_R", "drop_G", "drop_B"}
SELDOM = {(name, HIGH) for name in RARE} | {("drop_R", MEDIUM), ("drop_G", MEDIUM)}
"""What is rarely or never reached: feasibility is reported, not forced."""


@lru_cache(maxsize=48)
def pulled(family: Family, variant: Variant, modality: str, intensity: Intensity) -> list[Any]:
    """Return what a lever makes of its reference base at each attempt."""
    base = bases(variant.name, modality)[intensity]
    lever_id = f"{family.name}_{intensity.lower()}"
    return [base.pull(lever_id, variant.name, attempt=attempt) for attempt in range(5)]


def labelled(family: Family, variant: Variant, modality: str, intensity: Intensity) -> Outcome | None:
    """Return the first outcome with a verdict."""
    for outcome in pulled(family, variant, modality, intensity):
        if isinstance(outcome, Outcome) and outcome.verdict is not None:
            return outcome
    return None


# what every lever must do


def check_labels(family: Family, variant: Variant, modality: str) -> None:
    """On its reference base a lever gives LOW an answer and MEDIUM and HIGH a refusal of its category."""
    for intensity in Intensity:
        outcome = labelled(family, variant, modality, intensity)
        if outcome is None and (variant.name, intensity) in SELDOM:
            continue
        assert outcome is not None, f"{intensity} never reaches its band"
        assert outcome.verdict is (Verdict.ANSWER if intensity is LOW else family.category)


def check_refusals_hide_the_target(family: Family, variant: Variant, modality: str) -> None:
    """Where a refusal says that the target is gone its pixels have changed; where LOW shows it they have not."""
    if variant.paired:
        return
    for intensity in Intensity:
        outcome = labelled(family, variant, modality, intensity)
        if outcome is None:
            continue
        psnr = outcome.measurement.per_instance["psnr_db"]
        assert max(psnr) > 22 if intensity is LOW else max(psnr) < 22, (intensity, psnr)


def severity(outcome: Outcome) -> float:
    per_instance = outcome.measurement.per_instance
    seen = max(v for v in per_instance["visible_fraction"] if v is not None)
    return 1 - seen + 0.01 * (1 - max(v for v in per_instance["ring_visible"] if v is not None))


def check_severity_rises(family: Family, variant: Variant, modality: str) -> None:
    """Measured on one base and attempt: LOW < MEDIUM <= HIGH."""
    if variant.paired:
        return
    for low, medium, high in zip(*(pulled(family, variant, modality, i) for i in Intensity), strict=True):
        found = [o for o in (low, medium, high) if isinstance(o, Outcome) and o.verdict is not None]
        if len(found) == 3:
            assert severity(low) < severity(medium) <= severity(high) + 0.02
            return
    assert variant.name in RARE, "no attempt gives all three intensities"


def check_budget(family: Family, variant: Variant, modality: str) -> None:
    """The artefact itself is as large at every intensity: otherwise its size tells the label."""
    if variant.paired:
        return
    assert family.budget is not None
    compared = 0
    for outcomes in zip(*(pulled(family, variant, modality, i) for i in Intensity), strict=True):
        sizes = [o.measurement.image[family.budget] for o in outcomes if isinstance(o, Outcome) and o.verdict]
        if len(sizes) > 1:
            compared += 1
            assert max(sizes) <= 1.02 * min(sizes), sizes
    assert compared, "no attempt gives two intensities to compare"


def straight_share(mask: np.ndarray, run: int = 8) -> float:
    """Return the share of a mask's outline that lies on straight, axis-parallel runs of at least `run` pixels."""
    total = straight = 0
    for field in (mask, mask.T):
        step = field[1:] != field[:-1]
        for line in step:
            pieces, count = ndimage.label(line)
            lengths = np.bincount(pieces.ravel())[1:] if count else np.zeros(0, int)
            total += int(lengths.sum())
            straight += int(lengths[lengths >= run].sum())
    return straight / max(total, 1)


def check_outline_is_no_box(family: Family, variant: Variant, modality: str) -> None:
    """A cloud or glint with straight sides gives itself, and the box that it was aimed at, away."""
    if family.name not in ("im_occlude", "im_saturate") or variant.paired:
        return
    for intensity in Intensity:
        for outcome in pulled(family, variant, modality, intensity)[:2]:
            if isinstance(outcome, Outcome) and outcome.mask is not None:
                assert straight_share(outcome.mask) < 0.25, intensity


CHECKS: list[Callable[[Family, Variant, str], None]] = [
    check_labels,
    check_refusals_hide_the_target,
    check_severity_rises,
    check_budget,
    check_outline_is_no_box,
]


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
        assert found.pixels.shape == pixels.shape
        assert not np.shares_memory(found.pixels, pixels)
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


# families of their own


def test_a_cloudy_or_saturated_base_is_not_used() -> None:
    bright = optical().copy()
    bright[:30] = 252
    found = apply("im_saturate_high", bright, [(60, 60, 84, 80)], "x", MASTER)
    assert isinstance(found, NotApplicable)
    assert found.reason is Reason.BASE_NOT_CLEAN
    clouded = apply("im_occlude_low", bright, [(60, 60, 84, 80)], "x", MASTER)
    assert isinstance(clouded, NotApplicable)
    assert clouded.reason is Reason.BASE_NOT_CLEAN


def test_glint_never_darkens() -> None:
    base = bases("glint_bloom", "optical")[HIGH]
    assert (base.pull("im_saturate_high", "glint_bloom").pixels >= base.pixels).all()


@pytest.mark.parametrize("modality", ["optical", "sar"])
def test_blocks_are_as_many_and_as_large_at_every_intensity(modality: str) -> None:
    base = bases("black", modality)[LOW]
    sizes = [
        sorted(block[2:] for block in base.pull(f"im_redact_{i}", "black").params["blocks"])
        for i in ("low", "medium", "high")
    ]
    assert sizes[0] == sizes[1] == sizes[2]
    parts = [ndimage.label(base.pull(f"im_redact_{i}", "black").mask)[1] for i in ("low", "medium", "high")]
    assert parts[0] == parts[1] == parts[2] == len(sizes[0])


@pytest.mark.parametrize("family", ["im_occlude", "im_redact", "im_truncate"])
def test_a_no_is_refused_only_when_its_region_is_hidden(family: str) -> None:
    """The asked region is the target of such a base: the lower right quarter, or a strip at the border."""
    box = Target.box(230, 0, 320, 240) if family == "im_truncate" else Target.box(160, 120, 320, 240)
    region = Base("no", optical(), (box,), {"answer": "no", "nominal_px": (10.0, 20.0)})
    for intensity, verdict in ((LOW, Verdict.ANSWER), (MEDIUM, Verdict.INFO_MISSING), (HIGH, Verdict.INFO_MISSING)):
        found = [
            region.pull(f"{family}_{intensity.lower()}", FAMILIES[family].variants[0].name, attempt=a) for a in range(5)
        ]
        verdicts = [o.verdict for o in found if isinstance(o, Outcome)]
        assert verdict in verdicts, (
            intensity,
            [getattr(o, "rejection", None) or getattr(o, "reason", "") for o in found],
        )
        hidden = [
            o.measurement.per_instance["visible_fraction"][0] for o in found if isinstance(o, Outcome) and o.verdict
        ]
        assert all(v >= 0.99 if intensity is LOW else v <= 0.15 for v in hidden)


def test_a_no_is_too_coarse_by_the_size_that_the_class_usually_has() -> None:
    region = Base("no", optical(), (Target.box(160, 120, 320, 240),), {"answer": "no", "nominal_px": (24.0, 60.0)})
    fine = dataclasses.replace(region, known={"answer": "no", "nominal_px": (96.0, 99.0)})
    assert fine.pull("gm_decimate_low", "bicubic").verdict is Verdict.ANSWER
    assert region.pull("gm_decimate_medium", "bicubic").verdict is Verdict.GRANULARITY
    assert region.pull("gm_decimate_high", "bicubic").verdict is Verdict.GRANULARITY


@pytest.mark.parametrize("variant", ["pan", "drop_B"])
def test_colour_word_and_grey_image_each_occur_with_both_labels(variant: str) -> None:
    """The crossing: a colour question about the full image and a plain one about the reduced image are answerable."""
    base = bases(variant, "optical")[LOW]
    plain = {"asks": "plain", "colour": ""}
    full = base.pull("im_channel_low", variant)
    reduced = base.pull("im_channel_medium", variant)
    answerable = base.pull("im_channel_low", variant, **plain)
    assert [o.verdict for o in (full, reduced, answerable)] == [Verdict.ANSWER, Verdict.INFO_MISSING, Verdict.ANSWER]
    assert (full.pixels == base.pixels).all()
    assert (answerable.pixels == reduced.pixels).all()
    assert base.pull("im_channel_medium", variant, **plain).rejection is Reason.WRONG_BASE
    assert base.pull("im_channel_low", variant, settings={"reduced": 1}).rejection is Reason.DEAD_ZONE


def test_a_colour_that_is_not_there_can_be_lost_too() -> None:
    base = bases("pan", "optical")[LOW]
    no = {"answer": "no", "colour": "green"}
    assert base.pull("im_channel_low", "pan", **no).verdict is Verdict.ANSWER
    assert base.pull("im_channel_high", "pan", **no).verdict is Verdict.INFO_MISSING
    assert base.pull("im_channel_low", "pan", answer="no", colour="blue").rejection is Reason.DEAD_ZONE
    assert base.pull("im_channel_high", "pan", colour="mauve").reason is Reason.WRONG_BASE


def test_a_faint_target_cannot_be_buried() -> None:
    """Its absence afterwards would say nothing: nobody could see it before."""
    found = apply("im_bury_medium", radar(), [(60, 60, 90, 84)], "x", MASTER, modality="sar")
    assert isinstance(found, NotApplicable)
    assert found.reason is Reason.TARGET_TOO_FAINT


# mutations: a broken lever must turn the checks red


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
