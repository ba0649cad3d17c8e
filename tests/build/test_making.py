"""Making items: each by itself, its label from its numbers, and one reason where there is none."""

import json
import pickle
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support import small_build as small
from threadpoolctl import threadpool_limits

from georefusal_build import making, pulling, rows
from georefusal_build.anchors import Measurement
from georefusal_build.ask import Asked, ask
from georefusal_build.build_config import load_config
from georefusal_build.context import open_context
from georefusal_build.ids import fingerprint, item_id, phash, row_key
from georefusal_build.jobs import Job
from georefusal_build.judging import image_verdict, rederive
from georefusal_build.levers import FAMILIES
from georefusal_build.made import Made, Reject
from georefusal_build.making import BAD_IMAGE, UNSOLVABLE, make
from georefusal_build.outcomes import Reason
from georefusal_build.plan import make_plan
from georefusal_build.streams import derive_key
from georefusal_task.core.errors import DataError
from georefusal_task.core.records import Intensity
from georefusal_task.core.verdicts import Verdict

SEAM = {
    *("set", "base_question", "base_answer", "base_id", "base_image", "base_sha256", "source", "subsource", "modality"),
    *("operator", "variant", "template_id", "params", "seed", "attempt", "measurement", "tags", "asks", "gsd_m"),
    *("gsd_effective_m", "boxes", "mask", "remedy", "to_confirm", "may_accept", "pair_id", "verifier_votes"),
    *("review_votes", "verdict_changed", "pixel_sha256", "fingerprint", "phash", "license", "attribution", "version"),
    "status",
}
"""What other steps read of an item, but for its id and the digest of its file."""


def content(one: Made | Reject) -> Any:
    """Return everything of a result in a form that can be compared."""
    return (
        one if isinstance(one, Reject) else (one.key, one.set, one.case, one.label, one.provenance, one.pixels.tolist())
    )


def jobs_by_key() -> dict[str, Job]:
    return {job.key: job for job in small.plan().jobs}


def sample(step: int = 9) -> list[Job]:
    """Return some jobs of every family."""
    return [job for i, job in enumerate(small.plan().jobs) if i % step == 0]


def test_an_item_alone_equals_the_item_of_the_run() -> None:
    """Another process has opened the build anew and makes nothing else: same bytes."""
    alone = open_context(small.config())
    for job in sample():
        assert content(make(Job.from_json(json.loads(json.dumps(job.to_json()))), alone)) == content(
            small.results()[job.key]
        )


def test_a_context_survives_the_way_to_another_process_and_any_order() -> None:
    """What a cache remembers of earlier jobs must not show."""
    sent = pickle.loads(pickle.dumps(small.context()))
    for job in reversed(sample(13)):
        assert content(make(job, sent)) == content(small.results()[job.key])


def test_threads_of_other_libraries_change_no_digit() -> None:
    """Workers may get fewer threads than a single process: a sum that is split otherwise ends in another digit."""
    jobs = [
        job for job in small.plan().jobs if job.family in FAMILIES and job.key in done() and job.base.answer == "no"
    ]
    assert jobs
    for job in jobs:
        with threadpool_limits(1):
            one = content(make(job, small.context()))
        assert one == content(small.results()[job.key])


def test_labels_follow_from_the_row_alone() -> None:
    assert len(small.made()) > 40
    for one in small.made():
        row = json.loads(json.dumps(one.provenance))
        assert rederive(row) == one.label["gold"]
        low = one.label["intensity"] == "LOW"
        assert (one.label["gold"] == "ANSWER") == low == (one.label["answer"] in ("yes", "no"))


def test_a_label_follows_the_numbers_and_nothing_else() -> None:
    """A row whose numbers are changed must not keep its label."""
    row = next(one.provenance for one in small.made() if one.label["lever"] == "im_redact_high")
    seen = {**row, "measurement": json.loads(json.dumps(row["measurement"]))}
    seen["measurement"]["per_instance"]["visible_fraction"] = [0.5 for _ in row["boxes"] or [0]]
    assert rederive(row) == Verdict.INFO_MISSING
    assert rederive(seen) is Reason.DEAD_ZONE
    with pytest.raises(DataError, match="x-1"):
        rederive({"id": "x-1", "operator": row["operator"]})


def test_rows_hold_all_that_other_steps_read() -> None:
    for one in small.made():
        assert set(one.provenance) >= SEAM
        assert one.provenance["status"] == "unreviewed"
        assert json.loads(json.dumps(one.provenance)) == one.provenance
        assert one.label["accept"] == [one.label["gold"]]
        assert one.pixels.shape == (small.SIDE, small.SIDE, 3)
        assert one.pixels.dtype == np.uint8
        key = derive_key(11, one.provenance["base_id"], one.label["lever"].rpartition("_")[0], 0)
        assert len(one.provenance["seed"]) == len(f"{key:032x}")
        assert one.provenance["license"] == "ours"
        assert (one.provenance["remedy"] is None) == (one.label["intensity"] == "LOW")
        assert one.case["question"].endswith("?")


def test_every_job_that_gives_nothing_has_one_reason() -> None:
    codes = {*(reason.value for reason in Reason), BAD_IMAGE, UNSOLVABLE}
    rejected = [one for one in small.results().values() if isinstance(one, Reject)]
    assert rejected
    for one in rejected:
        assert one.reason in codes
        assert one.detail
    assert small.results().keys() == jobs_by_key().keys()


def test_noise_has_one_strength_for_all_labels_and_no_job_searches_for_another() -> None:
    config = small.config(levers={"only": ["im_bury"]}, items=None)
    opened = open_context(config)
    results = [make(job, opened) for job in make_plan(config, opened).jobs]
    levels = {one.provenance["params"]["level"] for one in results if isinstance(one, Made)}
    assert levels
    assert levels <= {14.0, 15.0, 16.0, 40.0, 60.0, 90.0, 0.10, 0.15, 0.20, 0.06}
    faint = [one for one in results if isinstance(one, Reject) and one.reason == Reason.TARGET_TOO_FAINT]
    assert faint
    assert all(one.detail.endswith("(1 attempts)") for one in faint)


def test_pairs_share_their_image_and_differ_in_their_label() -> None:
    """One image, two questions: neither pixels nor anything made from them can tell the label."""
    pairs = 0
    for job in small.plan().jobs:
        one = small.results()[job.key]
        if job.partner and job.intensity is Intensity.LOW:
            other = small.results()[f"{job.partner.base.id}|{job.partner.lever_id}"]
            assert isinstance(one, Made) == isinstance(other, Made)
            if isinstance(one, Made) and isinstance(other, Made):
                assert one.provenance["pixel_sha256"] == other.provenance["pixel_sha256"]
                assert one.provenance["pair_id"] == other.provenance["pair_id"]
                assert (one.label["gold"] == "ANSWER") != (other.label["gold"] == "ANSWER")
                assert one.case["question"] != other.case["question"]
                pairs += 1
    assert pairs


def test_a_pair_fails_together(monkeypatch: pytest.MonkeyPatch) -> None:
    """An item whose other half fails would be the only one with its image, which then tells the label."""
    job = next(job for job in small.plan().jobs if job.partner and job.intensity is Intensity.LOW)
    assert job.partner is not None
    broken = replace(job, partner=replace(job.partner, lever_id=job.lever_id))  # a small class cannot be answered
    got = make(broken, small.context())
    assert isinstance(got, Reject)
    assert "the other question about this image" in got.detail


def test_question_items_leave_the_image_as_it_is() -> None:
    for one in small.made():
        if one.label["lever"].rpartition("_")[0] not in FAMILIES:
            scene = small.context().pixels(one.provenance["scene"])
            assert np.array_equal(one.pixels, rows.as_rgb(scene))


def test_a_crossed_question_brings_its_own_image(monkeypatch: pytest.MonkeyPatch) -> None:
    job = next(job for job in small.plan().jobs if job.family == "gm_part")
    coarse = np.full((small.SIDE, small.SIDE, 3), 7, np.uint8)

    def crossed(*arguments: Any, **named: Any) -> Any:
        asked = ask(*arguments, **named)
        return (
            replace(asked, pixels=coarse, params={**asked.params, "step": 4.0}) if isinstance(asked, Asked) else asked
        )

    monkeypatch.setattr(pulling, "ask", crossed)
    got = make(job, small.context())
    assert isinstance(got, Made)
    assert np.array_equal(got.pixels, coarse)
    assert got.provenance["gsd_effective_m"] == 4 * got.provenance["gsd_m"]


def test_a_damaged_image_is_a_reject_that_names_its_file(tmp_path: Path) -> None:
    small.write_scenes(tmp_path / "one", {"port": small.OPTICAL["port"]}, sar=False)
    config = load_config(small.write_config(tmp_path, sources=[{"format": "coco", "root": "one"}]))
    context = open_context(config)
    jobs = make_plan(config, context).jobs
    image = tmp_path / "one" / "port.png"
    image.write_bytes(image.read_bytes()[:500])
    got = make(jobs[0], context)
    assert isinstance(got, Reject)
    assert got.reason == BAD_IMAGE
    assert "port.png" in got.detail


def test_what_the_clean_image_does_not_show_is_not_asked() -> None:
    """A label from annotation alone, on an object that nobody could find, would punish a careful model."""
    strict = open_context(small.config(gate={"min_z": 1e6, "min_cnr": 1e6}))
    items = [job for job in small.plan().jobs if job.key in done()]
    faint = make(next(job for job in items if job.base.class_name in ("car", "vehicle")), strict)
    assert isinstance(faint, Reject)
    assert faint.reason == UNSOLVABLE
    assert "scan_z" in faint.detail
    absent = next(job for job in items if job.base.answer == "no")
    assert content(make(absent, strict)) == content(small.results()[absent.key])


def test_attempts_are_made_and_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    job = next(job for job in small.plan().jobs if job.family == "nf_value" and job.key in done())
    tried: list[int] = []

    def late(job: Job, court: Any, pixels: Any, context: Any, attempt: int) -> Any:
        tried.append(attempt)
        if attempt < 2:
            return pulling.Failed(Reason.DEAD_ZONE, "not yet")
        return pulling.finish_question(job, court, pixels, context, attempt)

    monkeypatch.setattr(making, "finish_question", late)
    got = make(job, small.context())
    assert isinstance(got, Made)
    assert got.provenance["attempt"] == 2
    monkeypatch.setattr(making, "finish_question", lambda *_: pulling.Failed(Reason.DEAD_ZONE, "never"))
    got = make(job, small.context())
    assert isinstance(got, Reject)
    assert (got.reason, tried) == ("dead_zone", [0, 1, 2])
    assert "5 attempts" in got.detail
    monkeypatch.setattr(making, "finish_question", lambda *_: pulling.Failed(Reason.BASE_NOT_CLEAN, "for good"))
    got = make(job, small.context())
    assert isinstance(got, Reject)
    assert "1 attempt" in got.detail


def done() -> set[str]:
    return {one.key for one in small.made()}


@pytest.mark.parametrize(
    ("lever_id", "tags", "numbers", "also"),
    [
        ("im_redact_low", "yes", {"visible_fraction": [1.0], "n_eff": [20.0]}, {"sat_fraction": [1.0]}),
        ("im_redact_medium", "yes", {"visible_fraction": [0.1], "n_eff": [20.0]}, {"n_eff": [2.0]}),
        ("gm_decimate_low", "yes", {"n_eff": [20.0]}, {"scan_z": [1.0]}),
        ("im_saturate_low", "yes", {"sat_fraction": [0.0], "n_eff": [20.0], "peak_dn": [90.0]}, {"scan_z": [2.0]}),
    ],
)
def test_any_other_reason_makes_an_item_collateral(
    lever_id: str, tags: str, numbers: dict[str, list[float]], also: dict[str, list[float]]
) -> None:
    """Exactly one lever must mean exactly one reason: hidden, and too coarse to be told at all, is GRANULARITY."""
    given = frozenset({tags, "optical"})
    assert isinstance(image_verdict(lever_id, Measurement({**numbers}), given), Verdict)
    assert image_verdict(lever_id, Measurement({**numbers, **also}), given) is Reason.COLLATERAL


def test_a_mask_can_be_painted_again_from_its_runs() -> None:
    mask = np.random.default_rng(3).random((17, 23)) < 0.4
    runs = rows.run_lengths(mask)
    counts = runs["counts"]
    assert isinstance(counts, list)
    values = np.repeat(np.arange(len(counts)) % 2 == 1, np.array(counts, dtype=int))
    assert np.array_equal(values.reshape(23, 17).T, mask)
    assert rows.run_lengths(np.zeros((2, 2), bool)) == {"size": [2, 2], "counts": [4]}
    assert rows.run_lengths(np.ones((2, 2), bool)) == {"size": [2, 2], "counts": [0, 4]}


def test_masks_cover_what_was_painted() -> None:
    for one in small.made():
        if one.provenance["variant"] == "black" and one.provenance["mask"]:
            counts = one.provenance["mask"]["counts"]
            hidden = np.repeat(np.arange(len(counts)) % 2 == 1, counts).reshape(small.SIDE, small.SIDE).T
            assert (one.pixels[hidden] == 0).all()


def test_ids_do_not_hang_on_pixels_and_cannot_be_guessed_without_the_salt() -> None:
    key = row_key("base", "im_redact_low", 1)
    assert item_id("A", key, "salt-one") != item_id("A", key, "salt-two")
    assert item_id("A", key, "salt-one", 12).startswith(item_id("A", key, "salt-one"))
    keys = [row_key(one.provenance["base_id"], one.provenance["operator"], 0) for one in small.made()]
    assert len({item_id("A", key, "salt-one") for key in keys}) == len(keys)


def test_fingerprints_tell_image_question_and_shape_apart() -> None:
    image = np.arange(48, dtype=np.uint8).reshape(4, 4, 3)
    prints = {
        fingerprint(image, "a?"),
        fingerprint(image, "b?"),
        fingerprint(image.reshape(2, 8, 3), "a?"),
        fingerprint(image + 1, "a?"),
    }
    assert len(prints) == 4
    assert fingerprint(image, "caf\u00e9?") == fingerprint(image, "cafe\u0301?")
    assert Counter(one.provenance["fingerprint"] for one in small.made()).most_common(1)[0][1] == 1


def test_perceptual_hashes_see_what_people_see() -> None:
    def distance(a: np.ndarray, b: np.ndarray) -> int:
        return (int(phash(a), 16) ^ int(phash(b), 16)).bit_count()

    port, park = (small.context().pixels(f"coco/{name}") for name in ("port", "park"))
    noisy = np.clip(port + np.random.default_rng(0).normal(0, 4, port.shape), 0, 255).astype(np.uint8)
    assert distance(port, port) == 0
    assert distance(port, noisy) <= 6
    assert distance(port, park) > 12
