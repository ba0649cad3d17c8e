"""Clouds: where they lie must not tell whether they hide what is asked about."""

import numpy as np
import pytest
from support.image_gate import SHAPE, scene
from support.levers import Base

from georefusal_build.outcomes import Outcome
from georefusal_build.targets import Target

SKIES = ("cloud", "smoke", "haze_bank")


def pairs(base: Base, refusal: str, variant: str, **known: object) -> list[Outcome]:
    """Return LOW and a refusal of one base, [] where one of them is not to be had."""
    found = [base.pull(f"im_occlude_{level}", variant, **known) for level in ("low", refusal)]
    return found if all(isinstance(one, Outcome) and one.verdict for one in found) else []


def test_what_an_answer_rests_on_lies_in_clear_air() -> None:
    """Thin cloud over a target leaves more than half of the light: it counts as visible, and a reader doubts it."""
    lows = [found[0] for n in range(12) if (found := pairs(scene(n), "medium", SKIES[n % 3]))]
    assert len(lows) >= 5
    assert min(min(one.measurement.per_instance["signal_left"]) for one in lows) >= 0.95


@pytest.mark.parametrize("refusal", ["medium", "high"])
def test_a_quarter_that_is_hidden_and_one_that_is_seen_leave_alike_images(refusal: str) -> None:
    """Cloud that only keeps off an asked quarter keeps off the middle of the image too, and tells the answer."""
    height, width = (length // 2 for length in SHAPE)
    shares = []
    for n in range(12):
        x, y = (n % 2) * width, (n // 2 % 2) * height
        quarter = Base(f"quarter/{n}", scene(n).pixels, (Target.box(x, y, x + width, y + height),))
        found = pairs(quarter, refusal, SKIES[n % 3], answer="no", nominal_px=(12.0, 20.0))
        middle = slice(height // 2, -(height // 2)), slice(width // 2, -(width // 2))
        shares += [[float(np.mean(one.mask[middle])) for one in found]] if found else []
    low, refused = np.mean(shares, axis=0)
    assert len(shares) >= 8
    assert low == pytest.approx(refused, abs=0.08)


def test_a_known_shadow_is_hidden_too() -> None:
    """A search that measures only the targets stops before the shadow is covered, and the item is lost."""
    found = [scene(n).pull("im_occlude_high", "cloud", shadow_px=(14.0, 9.0)) for n in range(8)]
    made = [one for one in found if isinstance(one, Outcome)]
    assert len(made) >= 3
    assert all(one.verdict for one in made)
    assert all(max(one.measurement.per_instance["evidence_visible"]) <= 0.15 for one in made)
