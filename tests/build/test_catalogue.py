"""The catalogue: which levers there are."""

from collections import Counter

import pytest

from georefusal_build.bands import BANDS
from georefusal_build.catalogue import families, levers
from georefusal_task.core.records import Intensity
from georefusal_task.core.verdicts import REFUSALS, Verdict

PLANNED = {
    Verdict.INFO_MISSING: {"im_occlude", "im_redact", "im_saturate", "im_truncate", "im_channel", "im_bury"},
    Verdict.GRANULARITY: {"gm_decimate", "gm_part", "gm_subtype", "gm_change", "gm_motion", "gm_schedule"},
    Verdict.AMBIGUOUS: {"aq_deictic", "aq_region", "aq_criterion", "aq_sense", "aq_comparand", "aq_scope"},
    Verdict.FALSE_PREMISE: {"fp_entity", "fp_count", "fp_place", "fp_attribute", "fp_relation", "fp_capture"},
    Verdict.NONFACTUAL: {
        "nf_intent", "nf_forecast", "nf_value", "nf_normative", "nf_counterfactual", "nf_nonvisual",
    },
}  # fmt: skip


@pytest.mark.parametrize("category", REFUSALS)
def test_each_category_has_its_families(category: Verdict) -> None:
    assert {one.name for one in families() if one.category is category} == PLANNED[category]


def test_each_family_has_a_lever_at_each_intensity() -> None:
    found = levers()
    assert len(found) == len({one.id for one in found}) == 90
    counts = Counter((one.family.category, one.intensity) for one in found)
    assert counts == {(c, i): 6 for c in REFUSALS for i in Intensity}


def test_every_lever_has_a_band_and_a_text() -> None:
    for one in levers():
        assert BANDS[one.id].verdict is one.verdict
        assert one.family.text.endswith(".")
        assert one.family.variants
