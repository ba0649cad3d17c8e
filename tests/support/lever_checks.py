"""The checks that every lever has to pass on its reference base, and that a broken lever must fail."""

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
import pytest
from scipy import ndimage
from support.levers import bases

from georefusal_build.levers import FAMILIES, Family, Variant
from georefusal_build.outcomes import Outcome
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
