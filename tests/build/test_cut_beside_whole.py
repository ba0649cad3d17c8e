"""Tiles with one whole object beside larger ones that their border cuts: answers have to rest on the whole one."""

import numpy as np
import pytest
import yaml
from PIL import Image
from support.levers import optical

from georefusal_build.anchors import Measurement
from georefusal_build.build_config import load_config
from georefusal_build.context import Context, open_context
from georefusal_build.jobs import Job
from georefusal_build.judging import rederive
from georefusal_build.made import Made, Reject
from georefusal_build.making import make
from georefusal_build.outcomes import Reason
from georefusal_build.plan import Plan, make_plan
from georefusal_task.core.records import Intensity

SIDE = 160
WHITE, RED, YELLOW = (230, 230, 230), (200, 60, 40), (240, 230, 60)
OBJECTS = (
    ("ship", 20, 20, 18, 30, WHITE, 0),
    ("ship", 100, 80, 130, 54, RED, 0),  # half of it in either tile
    ("plane", 40, 90, 20, 22, YELLOW, 0),
    ("plane", 90, 20, 46, 46, RED, 2),
)
WHOLE = ("ship", "plane")
"""Classes with a whole object of less than 32 px that nobody doubts, beside a larger one."""


@pytest.fixture(scope="module")
def build(tmp_path_factory: pytest.TempPathFactory) -> tuple[Context, Plan]:
    folder = tmp_path_factory.mktemp("cut")
    (folder / "labelTxt").mkdir()
    for number in range(4):
        pixels = np.resize(optical((SIDE, SIDE)), (SIDE, 2 * SIDE, 3)) // 4 + 60
        lines = ["imagesource:GoogleEarth", "gsd:0.5"]
        for name, x, y, w, h, colour, difficult in OBJECTS:
            pixels[y + number : y + number + h, x : x + w] = colour
            y0, y1 = y + number, y + number + h
            lines.append(f"{x} {y0} {x + w} {y0} {x + w} {y1} {x} {y1} {name} {difficult}")
        Image.fromarray(pixels).save(folder / f"P{number}.png")
        (folder / "labelTxt" / f"P{number}.txt").write_text("\n".join(lines))
    config = {
        "name": "cut",
        "seed": 4,
        "salt": "salt of the cuts",
        "sources": [{"format": "dota", "root": "."}],
        "tiling": {"size": SIDE, "overlap": 0},
        "bases": {"balance": "off"},
        "levers": {"only": ["gm_decimate", "im_channel", "im_redact", "im_occlude"]},
    }
    (folder / "build.yaml").write_text(yaml.safe_dump(config))
    opened = open_context(load_config(folder / "build.yaml"))
    return opened, make_plan(opened.config, opened)


def lows(plan: Plan, family: str) -> list[Job]:
    """Return the jobs of a family that ask about what is there and are to be answered."""
    found = [job for job in plan.jobs if job.family == family and job.intensity is Intensity.LOW]
    return [job for job in found if job.base.answer == "yes"]


def test_a_class_is_not_answered_at_a_sampling_that_only_a_piece_survives(build: tuple[Context, Plan]) -> None:
    """Half a ship of 54 px kept the question answerable where the whole one of 18 px had 9 px left."""
    context, plan = build
    assert lows(plan, "gm_decimate") == []
    coarsened = [job for job in lows(plan, "im_redact") if job.base.class_name in WHOLE]
    assert coarsened
    for job in coarsened:
        one = make(Job(job.base, "gm_decimate_low", job.kind, ("bicubic",), step=2.0), context)
        assert isinstance(one, Reject)
        assert one.reason == Reason.DEAD_ZONE


def test_a_colour_is_not_affirmed_by_what_is_cut_or_doubtful(build: tuple[Context, Plan]) -> None:
    """The ship that is red lies half outside; whether the plane that is red is one nobody knows."""
    context, plan = build
    colours = set()
    for one in (make(job, context) for job in lows(plan, "im_channel")):
        if isinstance(one, Made) and one.label["answer"] == "yes" and "colour" in one.provenance["params"]:
            colours.add((one.provenance["asks"]["class"], one.provenance["params"]["colour"]))
    assert not {("ship", "red"), ("plane", "red")} & colours


def test_what_hides_a_class_hides_its_pieces_too(build: tuple[Context, Plan]) -> None:
    context, plan = build
    refusals = 0
    for job in plan.jobs:
        if (
            job.family in ("im_redact", "im_occlude")
            and job.base.answer == "yes"
            and job.intensity is not Intensity.LOW
        ):
            one = make(job, context)
            if isinstance(one, Made):
                row = one.provenance
                here = [box for box in row["boxes"] if box["class"] == job.base.class_name]
                seen = Measurement.from_json(row["measurement"]).per_instance["visible_fraction"]
                assert len(seen) == len(here) or row["asks"]["scope"] != "whole"
                assert max(value or 0.0 for value in seen) <= 0.15
                assert rederive(row) == one.label["gold"]
                refusals += any(box["truncated"] for box in here)
    assert refusals
