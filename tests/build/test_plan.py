"""The plan: drawn by the seed, before any pixel is touched."""

import json
import shutil
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from support import small_build as small

from georefusal_build.asking import Bar
from georefusal_build.build_config import load_config
from georefusal_build.catalogue import levers
from georefusal_build.context import open_context
from georefusal_build.jobs import Job
from georefusal_build.left_out import HELP, told
from georefusal_build.levers import FAMILIES
from georefusal_build.made import Made
from georefusal_build.making import UNSOLVABLE
from georefusal_build.plan import make_plan, read_plan, wanted_levers, write_plan
from georefusal_build.pulling import variant_of
from georefusal_build.trimming import exact
from georefusal_task.core.errors import ConfigError, DataError
from georefusal_task.core.records import Intensity


def test_no_pixel_is_touched(tmp_path: Path) -> None:
    """A dry run over an archive of terabytes must not read it; and the plan may not hang on it."""
    shutil.copytree(small.folder(), tmp_path, dirs_exist_ok=True)
    config = load_config(small.write_config(tmp_path))
    context = open_context(config)
    for image in tmp_path.rglob("*.png"):
        image.write_bytes(b"gone")
    assert make_plan(config, context).jobs == small.plan().jobs


def test_the_same_configuration_gives_the_same_plan_and_another_seed_another() -> None:
    assert make_plan(small.config()).jobs == small.plan().jobs
    assert make_plan(small.config(seed=12)).jobs != small.plan().jobs


def test_jobs_are_sorted_and_unique() -> None:
    keys = [(job.base.id, job.lever_id) for job in small.plan().jobs]
    assert keys == sorted(set(keys))
    assert len({job.key for job in small.plan().jobs}) == len(keys)


def test_a_plan_survives_its_file(tmp_path: Path) -> None:
    write_plan(small.plan(), tmp_path / "plan.jsonl")
    assert read_plan(tmp_path / "plan.jsonl").jobs == small.plan().jobs
    for line in (tmp_path / "plan.jsonl").read_text().splitlines():
        assert json.loads(json.dumps(Job.from_json(json.loads(line)).to_json())) == json.loads(line)


def test_a_damaged_plan_is_named_with_its_line(tmp_path: Path) -> None:
    write_plan(replace(small.plan(), jobs=small.plan().jobs[:3]), tmp_path / "plan.jsonl")
    lines = (tmp_path / "plan.jsonl").read_text().splitlines()
    for wrong in ("{", "{}", "[1]", json.dumps(json.loads(lines[1]) | {"kind": "hearsay"})):
        (tmp_path / "plan.jsonl").write_text("\n".join([lines[0], wrong]))
        with pytest.raises(DataError, match=r"plan\.jsonl, line 2"):
            read_plan(tmp_path / "plan.jsonl")


def test_the_forecast_has_a_line_for_every_lever_and_counts_every_job() -> None:
    forecast = small.plan().expected()
    assert [one.lever for one in forecast] == [one.id for one in levers()]
    planned = Counter(job.lever_id for job in small.plan().jobs)
    assert {one.lever: one.optical + one.sar for one in forecast if one.optical + one.sar} == planned
    assert all(one.fits >= one.optical + one.sar for one in forecast)


def test_what_is_called_exact_comes_out() -> None:
    """A forecast of question levers that pixels then contradict would promise items that never come."""
    for job in small.plan().jobs:
        got = small.results()[job.key]
        if exact(job.family):
            assert isinstance(got, Made) or got.reason == UNSOLVABLE, got


def test_both_halves_of_a_pair_are_planned_with_one_setting() -> None:
    by_key = {job.key: job for job in small.plan().jobs}
    pairs = [job for job in by_key.values() if job.partner]
    assert pairs
    for job in pairs:
        assert job.partner is not None
        other = by_key[f"{job.partner.base.id}|{job.partner.lever_id}"]
        assert other.partner is not None
        assert other.partner.base == job.base
        assert (other.tile_id, other.step, other.variants) == (job.tile_id, job.step, job.variants)
        assert {job.intensity is Intensity.LOW, other.intensity is Intensity.LOW} == {True, False}


def test_a_tile_has_one_decimation() -> None:
    """Were refusals decimated more than answers, sharpness alone would tell them apart."""
    many = make_plan(small.config(items=None, levers={"only": ["gm_decimate"]})).jobs
    settings: dict[str, set[object]] = {}
    for job in many:
        settings.setdefault(job.tile_id, set()).add((job.step, job.variants))
    assert len(settings) > 2
    assert all(len(found) == 1 for found in settings.values())
    strict = make_plan(small.config(items=None, levers={"only": ["gm_decimate"], "pairing": "strict"})).jobs
    assert strict
    assert all(job.partner for job in strict)


def test_levers_are_switched_by_id_family_and_category() -> None:
    everything = wanted_levers(small.config(levers={}))
    assert everything == {one.id for one in levers()}
    assert len(wanted_levers(small.config(levers={"only": ["nf", "im_redact", "gm_part_low"]}))) == 18 + 3 + 1
    assert len(everything) - len(wanted_levers(small.config(levers={"without": ["im_bury", "aq"]}))) == 3 + 18
    with pytest.raises(ConfigError, match="im_burry"):
        wanted_levers(small.config(levers={"without": ["im_burry"]}))


@pytest.mark.parametrize(
    ("family", "variant", "told"),
    [
        ("im_truncate", "tilecut", r"levers\.variants\.im_truncate: there is no tilecut; choose from .*tile_cut"),
        ("im_truncate_low", "tile_cut", "'im_truncate_low' is no family whose variants can be chosen; .*im_truncate"),
        ("fp_place", "side", "'fp_place' is no family whose variants can be chosen"),
    ],
)
def test_variants_that_nobody_could_choose_are_told(family: str, variant: str, told: str) -> None:
    """They were passed over in silence, and the family gave nothing, or gave all variants."""
    with pytest.raises(ConfigError, match=told):
        wanted_levers(small.config(levers={"variants": {family: [variant]}}))


def test_experimental_variants_wait_for_a_word() -> None:
    def experimental(**levers: object) -> set[str]:
        choice = {"only": ["im_occlude", "im_truncate"], **levers}
        jobs = make_plan(small.config(levers=choice, items=None)).jobs
        return {v for job in jobs for v in job.variants if variant_of(job.lever_id, v).experimental}

    assert experimental() == set()
    assert experimental(experimental=True)
    named = make_plan(small.config(levers={"only": ["im_redact"], "variants": {"im_redact": ["grey"]}})).jobs
    assert {job.variants for job in named} == {("grey",)}


def test_items_bound_the_plan_and_leave_no_family_one_sided() -> None:
    few, many = (make_plan(small.config(items=n)).jobs for n in (10, None))
    assert len(few) < len(small.plan().jobs) < len(many)
    sides = {(job.family, job.intensity is Intensity.LOW) for job in many}
    assert {family for family, _ in sides} == {family for family, low in sides if low}
    assert all((family, False) in sides for family, _ in sides)


def test_a_no_is_asked_of_pixels_only_where_it_can_be_refused() -> None:
    """Answers on bases that no refusal can have would let the base tell the label."""
    many = make_plan(small.config(items=None, spare=1)).jobs
    refused = {job.family for job in many if job.base.answer == "no" and job.intensity is not Intensity.LOW}
    for job in many:
        if job.family in FAMILIES and job.base.answer == "no" and job.family != "im_channel":
            assert job.family in refused


def test_scenes_are_split_by_hash_or_as_told(tmp_path: Path) -> None:
    drawn = {name: one.set_name for name, one in small.context().scenes.items()}
    again = {name: one.set_name for name, one in open_context(small.config(tiling={"size": 128})).scenes.items()}
    assert drawn == again
    assert set(drawn.values()) <= {"A", "B", "C"}
    split = {"A": ["port", "coco/bay"], "B": ["park"]}
    told = open_context(small.config(sets={"scenes": split})).scenes
    assert {name: one.set_name for name, one in told.items()} == {"coco/port": "A", "coco/bay": "A", "coco/park": "B"}
    (small.folder() / "split.json").write_text(json.dumps({"rule": "by hand", "split": split}))
    assert set(open_context(small.config(sets={"file": "split.json"})).scenes) == set(told)


def test_sources_can_be_narrowed_and_told_apart() -> None:
    one = {"format": "coco", "root": "optical"}
    narrowed = open_context(small.config(sources=[{**one, "include": ["port", "coco/park"]}])).scenes
    assert set(narrowed) == {"coco/port", "coco/park"}
    with pytest.raises(ConfigError, match=r"coco/\w+.*name"):
        open_context(small.config(sources=[one, one]))
    named = open_context(small.config(sources=[one, {**one, "name": "again", "exclude": ["port"]}])).scenes
    assert "again/park" in named
    assert "again/port" not in named
    with pytest.raises(ConfigError, match="harbor"):
        open_context(small.config(sources=[{**one, "exclude": ["harbor"]}]))


def test_every_reason_for_leaving_out_says_what_helps() -> None:
    """A reader who gets no job from a source must not have to look into the code."""
    assert HELP.keys() == {str(bar) for bar in Bar} | {"balance", "per_image", "class_share", "unresolved"}
    assert [line.split()[:2] for line in told(small.plan().left_out)] == [
        [name, str(count)] for name, count in sorted(small.plan().left_out.items()) if count
    ]
