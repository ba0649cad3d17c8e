"""The catalogue: which levers there are, and that the documentation says so."""

import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from georefusal_build.bands import BANDS
from georefusal_build.catalogue import DOCS_FILE, families, levers, page
from georefusal_task.core.records import Intensity
from georefusal_task.core.verdicts import REFUSALS, Verdict

ROOT = Path(__file__).parents[2]

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


def test_piped_it_prints_full_ids_one_per_line() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "georefusal_build.catalogue"],
        env={**os.environ, "PYTHONPATH": str(ROOT / "utils"), "COLUMNS": "20"},
        capture_output=True, text=True, check=True, cwd=ROOT,
    )  # fmt: skip
    assert done.stdout.splitlines() == [one.id for one in levers()]


def test_the_documentation_lists_the_levers_that_exist() -> None:
    assert DOCS_FILE.read_text() == page(), f"write {DOCS_FILE} again: python -m georefusal_build.catalogue --docs"
