"""What single lever families promise beyond the contract of all."""

import dataclasses
from typing import Any

import numpy as np
import pytest
from scipy import ndimage
from support.levers import MASTER, Base, bases, optical, radar, with_boxes

from georefusal_build.anchors import Measurement
from georefusal_build.apply import apply
from georefusal_build.bands import decide
from georefusal_build.levers import FAMILIES
from georefusal_build.levers.framing import EDGES
from georefusal_build.outcomes import NotApplicable, Outcome, Reason
from georefusal_build.targets import Target, as_targets, union
from georefusal_task.core.records import Intensity
from georefusal_task.core.verdicts import Verdict

LOW, MEDIUM, HIGH = Intensity.LOW, Intensity.MEDIUM, Intensity.HIGH


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
    lost = base.pull("im_channel_low", variant, settings={"reduced": 1})
    assert lost.rejection is Reason.DEAD_ZONE if variant == "pan" else lost.reason is Reason.NO_MATCH


@pytest.mark.parametrize(("colour", "band"), [("red", "R"), ("brown", "R"), ("green", "G"), ("blue", "B")])
def test_no_answer_rests_on_a_colour_whose_own_band_is_lost(colour: str, band: str) -> None:
    """Two blind readers refused such items, though the other bands told the colour."""
    base = bases("drop_B", "optical")[LOW]
    for lost in "RGB":
        outcome = base.pull("im_channel_low", f"drop_{lost}", answer="no", colour=colour, settings={"reduced": 1})
        assert (getattr(outcome, "reason", None) is Reason.NO_MATCH) is (lost == band)


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


def test_what_noise_cannot_leave_in_view_is_not_answered() -> None:
    """Every noise of the ladder was tried for it, in vain."""
    dull = [(60, 60, 84, 76)]
    found = apply("im_bury_low", with_boxes(radar(), dull, 42, 6), dull, "x", MASTER, modality="sar")
    assert isinstance(found, NotApplicable)
    assert found.reason is Reason.TARGET_TOO_FAINT


def test_a_noise_of_its_own_is_only_drawn_where_it_may_be() -> None:
    """In a set the noise must not tell the label; by itself a lever finds the level that buries a strong target."""
    strong = bases("speckle_floor", "sar")[LOW]
    alone = strong.pull("im_bury_medium", "speckle_floor")
    assert (alone.verdict, alone.params["matched"]) == (Verdict.INFO_MISSING, False)
    usual = strong.pull("im_bury_medium", "speckle_floor", settings={"usual": 1.0})
    assert (usual.rejection, usual.params["matched"]) == (Reason.DEAD_ZONE, True)


def test_a_cut_moves_and_clips_the_outlines_with_the_frame() -> None:
    """The released piece must be the parent's own pixels, and its outlines must map back into the parent's."""
    base = bases("tile_cut", "optical")[LOW]
    sizes = set()
    for intensity in Intensity:
        found = base.pull(f"im_truncate_{intensity.lower()}", "tile_cut")
        x, y, width, height = found.params["window"]
        sizes.add(found.pixels.shape)
        assert (found.pixels == base.pixels[y : y + height, x : x + width]).all()
        back = [Target(tuple((px + x, py + y) for px, py in target.polygon)).bounds for target in found.targets]
        (x0, y0, x1, y1) = base.targets[0].bounds
        if intensity is HIGH:
            assert back == []
        else:
            assert back == [(max(x0, x), max(y0, y), min(x1, x + width), min(y1, y + height))]
            assert (back[0] == base.targets[0].bounds) is (intensity is LOW)
    assert sizes == {(185, 246, 3)}  # 240 and 320 over 1.3


@pytest.mark.parametrize("attempt", range(4))
@pytest.mark.parametrize(
    "box", [(24, 60, 48, 84), (270, 100, 300, 124), (150, 20, 180, 44), (100, 190, 130, 216)], ids=EDGES
)
def test_what_is_asked_lies_at_the_edge_that_is_named(box: tuple[int, ...], attempt: int) -> None:
    """By a count of pixels: in LOW all of it, close to that edge; in MEDIUM a sliver of it touches that edge alone."""
    pixels = np.zeros((240, 320), np.uint8)
    pixels[box[1] : box[3], box[0] : box[2]] = 200
    for intensity in (LOW, MEDIUM):
        lever_id = f"im_truncate_{intensity.lower()}"
        cut = apply(lever_id, pixels, [box], "x", MASTER, variant="tile_cut", asks="edge", attempt=attempt)
        assert isinstance(cut, Outcome)
        rows, columns = np.nonzero(cut.pixels)
        height, width = cut.pixels.shape
        gaps = dict(
            zip(EDGES, (columns.min(), width - 1 - columns.max(), rows.min(), height - 1 - rows.max()), strict=True)
        )
        asked, side = str(cut.params["edge"]), width if cut.params["edge"] in EDGES[:2] else height
        if intensity is LOW:
            assert cut.verdict is Verdict.ANSWER
            assert rows.size == (pixels > 0).sum()
            assert 0 < gaps[asked] <= min(0.5 * min(np.ptp(rows) + 1, np.ptp(columns) + 1), 0.04 * side)
            assert cut.measurement.per_instance["edge_gap_frame"] == [pytest.approx(gaps[asked] / side)]
        else:
            assert cut.verdict is Verdict.INFO_MISSING
            assert [name for name, gap in gaps.items() if gap == 0] == [asked]
            assert 0 < rows.size <= 0.15 * (pixels > 0).sum()
            deep = 1 + (np.ptp(columns) if asked in EDGES[:2] else np.ptp(rows))
            assert 3 <= deep <= 8
            assert cut.measurement.per_instance["edge_depth"] == [pytest.approx(deep)]


def cut_off(level: str, *outlines: Any, bright: bool = True, **known: Any) -> Outcome | NotApplicable:
    """Return what `tile_cut` makes of bright things, or of things that nobody could tell from the ground."""
    targets = as_targets(outlines)
    pixels = np.where(union(targets, (240, 320)) & bright, 200, 20).astype(np.uint8)
    known = {"asks": "edge"} | known
    return apply(f"im_truncate_{level}", pixels, targets, "x", MASTER, variant="tile_cut", **known)


def test_a_corner_of_a_box_that_may_be_empty_is_no_sliver() -> None:
    """A plane does not fill the corner of its box; were only that left, no plane would lie at the edge at all."""
    tilted = ((40.0, 60.0), (70.0, 90.0), (40.0, 120.0), (10.0, 90.0))
    assert isinstance(cut_off("medium", tilted), NotApplicable)
    exact = cut_off("medium", (*tilted[:2], (55.0, 105.0), *tilted[2:]))
    assert isinstance(exact, Outcome)
    assert exact.verdict is Verdict.INFO_MISSING


def test_a_cut_needs_an_edge_nearby_that_the_question_names_and_an_instance_that_stands_out() -> None:
    near, middle = (24, 60, 48, 84), (150, 110, 170, 130)
    assert isinstance(cut_off("medium", near), Outcome)
    faint = cut_off("medium", near, bright=False)
    for found in (cut_off("medium", middle), cut_off("low", (24, 60, 38, 84)), faint):
        assert isinstance(found, NotApplicable)
        assert found.reason is (Reason.TARGET_TOO_FAINT if found is faint else Reason.NO_ROOM)
    for wrong in (cut_off("medium", (0, 0, 60, 240), answer="no"), cut_off("medium", near, asks="")):
        assert isinstance(wrong, NotApplicable)
        assert wrong.reason is Reason.WRONG_BASE


def test_one_at_the_edge_and_one_elsewhere() -> None:
    """In MEDIUM no other one is left to settle the question; in LOW only one near the edge counts."""
    near = (24, 60, 48, 84)
    assert isinstance(cut_off("medium", near, (60, 120, 84, 144)), NotApplicable)  # left whole by every window
    for other in ((22, 120, 46, 144), (292, 60, 316, 84)):  # cut off as well, or out of the frame beyond
        low, medium = (cut_off(level, near, other) for level in ("low", "medium"))
        assert isinstance(low, Outcome)
        assert isinstance(medium, Outcome)
        assert (low.verdict, medium.verdict) == (Verdict.ANSWER, Verdict.INFO_MISSING)
        assert low.params["edge"] == medium.params["edge"]
        assert max(v or 0 for v in medium.measurement.per_instance["visible_fraction"]) <= 0.15
    tags = frozenset({"yes", "optical", "edge"})
    away = {
        "visible_fraction": [1.0, 1.0],
        "n_eff": [20.0, 20.0],
        "edge_gap": [0.6, 4.0],
        "edge_gap_frame": [0.03, 0.5],
    }
    assert decide("im_truncate_low", Measurement({**away}), tags) is Reason.DEAD_ZONE
    assert decide("im_truncate_low", Measurement(away | {"edge_gap": [0.5, 4.0]}), tags) is Verdict.ANSWER
    assert decide("im_truncate_low", Measurement({**away}), tags - {"edge"}) is Verdict.ANSWER


def test_ghosts_outside_the_image_are_not_used() -> None:
    """At 1 m the first ambiguity lies 5,300 rows away, at 100 m 53."""
    base = bases("az_ambiguity", "sar")[LOW]
    far = base.pull("im_bury_low", "az_ambiguity", gsd_m=1.0)
    assert isinstance(far, NotApplicable)
    assert far.reason is Reason.NO_ROOM
    assert base.pull("im_bury_low", "az_ambiguity", gsd_m=100.0).verdict is Verdict.ANSWER


def test_a_layover_brings_no_target_back_beside_itself() -> None:
    """What folds over is the ground around: a second image of a hidden ship would answer the question."""
    base = bases("layover", "sar")[HIGH]
    empty = dataclasses.replace(base, pixels=radar())
    with_ship, without = (
        [one.pull("im_occlude_high", "layover", attempt=a) for a in range(3)] for one in (base, empty)
    )
    seen = 0
    for one, other in zip(with_ship, without, strict=True):
        if one.params["level_dn"] != other.params["level_dn"]:
            continue
        seen += 1
        away = ~union([target.grown(1.4, 2) for target in base.targets], radar().shape)
        assert np.abs(one.pixels[..., away].astype(int) - other.pixels[..., away]).mean() < 1.5
    assert seen or with_ship[0].params["level_dn"] > without[0].params["level_dn"]


def test_a_shadow_in_full_view_bars_a_refusal() -> None:
    """A black-out over a tower whose long shadow stays in view hides nothing that the question needs."""
    base = bases("black", "optical")[MEDIUM]
    unknown, short, long = (
        base.pull("im_redact_medium", "black", shadow_px=shadow) for shadow in (None, (2.0, 1.0), (60.0, 0.0))
    )
    assert [one.verdict for one in (unknown, long)] == [Verdict.INFO_MISSING, None]
    assert short.verdict is Verdict.INFO_MISSING or short.rejection is Reason.DEAD_ZONE
    assert (unknown.params["evidence"], long.params["evidence"]) == ("grown", "grown and shadow")
    assert long.measurement.per_instance["evidence_visible"] > unknown.measurement.per_instance["evidence_visible"]
