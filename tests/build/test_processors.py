"""Two processors: their vector units round differently, and a build on either must be the same set."""

import json
import os
import subprocess
import sys
from pathlib import Path

import cv2
import numpy as np
import pytest
from numpy._core import _multiarray_umath as numpy_core
from PIL import Image
from support import small_build as small

from georefusal_build.layout import read_set

LEVERS = [
    "im_occlude",
    "im_redact",
    "im_saturate",
    "im_truncate",
    "im_channel",
    "im_bury",
    "gm_decimate",
    "fp_attribute",
]
CAPABLE = [name.strip("*") for name in cv2.getCPUFeaturesLine().split() if name.startswith("*")]
PLAIN = {
    "NPY_DISABLE_CPU_FEATURES": " ".join(
        name for name in numpy_core.__cpu_dispatch__ if numpy_core.__cpu_features__.get(name)
    ),
    "OPENCV_CPU_DISABLE": ",".join(CAPABLE),
}
"""What makes both libraries use the instructions that every processor of the kind has."""

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not all(PLAIN.values()), reason="this processor has nothing beyond what every one of its kind has"
    ),
]


def run(program: str, *arguments: object, plain: bool) -> str:
    """Return what a Python of its own prints, on this processor or on a plain one."""
    command = [sys.executable, "-c", program, *map(str, arguments)]
    done = subprocess.run(
        command, env=os.environ | (PLAIN if plain else {}), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def builds(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """One configuration, built on this processor and on a plain one."""
    config = small.write_config(small.folder(), levers={"only": LEVERS}, items=60)
    root = tmp_path_factory.mktemp("processors")
    for name, plain in (("this", False), ("plain", True)):
        program = "import sys; from georefusal_task.cli import main; sys.exit(main())"
        run(program, "build", "run", config, "-o", root / name, "--workers", 1, plain=plain)
    return root / "this", root / "plain"


def test_the_plain_processor_lacks_what_this_one_has() -> None:
    program = (
        "import cv2, json, numpy._core._multiarray_umath as core;"
        "print(json.dumps([core.__cpu_features__, cv2.getCPUFeaturesLine().split()]))"
    )
    numpy_has, opencv_has = json.loads(run(program, plain=True))
    assert not any(numpy_has[name] for name in PLAIN["NPY_DISABLE_CPU_FEATURES"].split())
    assert not {*CAPABLE} & {name.strip("*") for name in opencv_has if not name.endswith("?")}


def test_rows_are_the_same_and_pixels_differ_by_one_level_at_most(builds: tuple[Path, Path]) -> None:
    """Rows by base, lever and attempt; pixels within 1 DN, in 1 of 10,000 at most."""
    pairs = [*zip(*map(read_set, builds), strict=True)]
    assert {one.provenance["operator"].rpartition("_")[0] for one, _ in pairs} >= {*LEVERS} - {
        "im_bury",
        "fp_attribute",
    }
    for one, other in pairs:
        assert (one.case.id, one.case.question, one.label) == (other.case.id, other.case.question, other.label)
        for key in ("base_id", "operator", "attempt", "variant", "tags"):
            assert one.provenance[key] == other.provenance[key]
        here, there = (np.asarray(Image.open(case.image), dtype=np.int16) for case in (one.case, other.case))
        off = np.abs(here - there)
        assert off.max() <= 1, one.label.lever
        assert (off > 0).any(axis=-1).mean() <= 1e-4, one.label.lever
