"""Inside a family the image as a whole must not tell LOW from the refusals: only what is asked about may."""

from pathlib import Path

import pytest
from support.image_gate import LOWER, POINT, figures, told_by_figures

FAMILIES = [
    ("im_occlude", "cloud"),
    ("im_redact", "black"),
    ("im_truncate", "swath_wedge"),
    ("im_saturate", "glint_bloom"),
]
SCENES = 140


@pytest.mark.slow
@pytest.mark.parametrize(("family", "variant"), FAMILIES)
def test_whole_images_do_not_tell_the_label(family: str, variant: str, tmp_path: Path) -> None:
    """More cloud, other blocks or a brighter glint in refusals would let a model refuse without looking."""
    rows, refused, groups = figures(family, variant, SCENES, tmp_path)
    assert len(rows) >= 100
    point, lower = told_by_figures(rows, refused, groups)
    assert point <= POINT
    assert lower <= LOWER


@pytest.mark.slow
@pytest.mark.parametrize(("family", "variant"), FAMILIES)
def test_an_artefact_that_follows_the_severity_is_caught(family: str, variant: str, tmp_path: Path) -> None:
    point, lower = told_by_figures(*figures(family, variant, 60, tmp_path, naive=True))
    assert point > POINT
    assert lower > LOWER
