"""Reading a set from disk, contamination, and what is written down."""

import hashlib
import json
import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from support.audit_sets import QUICK, made_up

from georefusal_build.audit import pictures
from georefusal_build.audit.blind import blind_runs, blind_targets, said
from georefusal_build.audit.contamination import contamination, overlap_markdown
from georefusal_build.audit.gates import Outcome
from georefusal_build.audit.pictures import look
from georefusal_build.audit.plan import make_plan
from georefusal_build.audit.progress import Progress
from georefusal_build.audit.report import audit_json, audit_markdown
from georefusal_build.audit.run import Audit, probe_all, read
from georefusal_task.core.errors import DataError

TINY = replace(QUICK, trees=3, rounds=2, refits=8, tree_refits=4, null_trees=3)


def write_set(
    folder: Path, *, scenes: int = 12, leak: float = 0.0, provenance: bool = True, repeat: bool = False
) -> Path:
    """Write four items per scene of 64 px, LOW brighter by `leak`; repeat: the first two show one image."""
    tables: dict[str, list[dict[str, object]]] = {"cases": [], "labels": [], "provenance": []}
    random = np.random.default_rng(5)
    (folder / "images" / "A").mkdir(parents=True)
    for number in range(4 * scenes):
        low, family = number % 2 == 0, ("im_occlude", "im_redact")[number // 2 % 2]
        item = f"A-{int(random.integers(16**9, 16**10)):010x}"
        if not (repeat and number == 1):
            coarse = random.integers(40, 200, (8, 8, 3)).astype(np.float64) + leak * low
            pixels = np.kron(coarse, np.ones((8, 8, 1)))
        Image.fromarray(np.clip(pixels + random.normal(0, 3, pixels.shape), 0, 255).astype(np.uint8)).save(
            file := folder / "images" / "A" / f"{item}.png"
        )
        os.utime(file, (0, 0))
        gold = "ANSWER" if low else "REFUSE_INFO_MISSING_IN_CONTEXT"
        question = "Is there a ship in this area?" if repeat and number < 2 else f"Is there a ship in cell {number}?"
        tables["cases"].append({"id": item, "set": "A", "image": f"images/A/{item}.png", "question": question})
        tables["labels"].append(
            {
                "id": item, "set": "A", "gold": gold, "accept": [gold], "answer": "yes" if low else "",
                "category": "REFUSE_INFO_MISSING_IN_CONTEXT", "intensity": "LOW" if low else "HIGH",
                "lever": f"{family}_{'low' if low else 'high'}",
            }
        )  # fmt: skip
        tables["provenance"].append({"Item ID": item, "Base Image": f"scene {number // 4}", "base_answer": "yes"})
    for name, rows in tables.items():
        if name != "provenance" or provenance:
            (folder / name).mkdir()
            ordered = sorted(rows, key=lambda row: str(row.get("id") or row.get("Item ID")))
            (folder / name / "A.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ordered))
    return folder


def audited(leak: str) -> Audit:
    subjects = made_up(3, leak)
    probes = [
        p for p in make_plan(subjects).probes if p.target.name == "inside all families" and p.tier in ("T1", "T4")
    ]
    return Audit(subjects, TINY, probe_all(probes, subjects, TINY, Progress()), (("T5", "no run was given"),), ())


def test_a_leak_is_worded_with_its_figure_and_its_cure() -> None:
    page = audit_markdown(found := audited("bytes"))
    assert found.verdict == "leaks"
    assert "**Leaks.**" in page
    assert "file bytes" in page
    assert "To mend: pair items by image" in page
    assert "Not run: no run was given" in page


def test_a_pass_claims_no_more_than_it_found() -> None:
    found = replace(audited(""), findings=())
    assert found.verdict == "too few items"  # nothing tried is nothing passed
    page = audit_markdown(audited(""))
    assert "clean" not in page.lower()
    assert "no leak" not in page.lower().replace("sets without any leak", "")


def test_json_is_strict_and_says_nothing_of_the_machine() -> None:
    rows = audit_json(audited("bytes"))
    text = json.dumps(rows, allow_nan=False)
    assert "jobs" not in rows["settings"]
    assert str(Path(__file__).parent) not in text
    (finding,) = rows["findings"]
    assert finding["outcome"] == "leak"
    assert {score["model"] for score in finding["scores"]} == {"logistic", "forest", "boosting"}
    assert finding["majority_accuracy"] == 0.5


def test_a_released_set_is_read_with_and_without_provenance(tmp_path: Path) -> None:
    """Columns of the released set may be spelled otherwise."""
    known = read(write_set(tmp_path / "known", scenes=3), TINY, Progress())
    assert known.sources_known
    assert len(np.unique(known.groups)) == 3
    bare = read(write_set(tmp_path / "bare", scenes=3, provenance=False), TINY, Progress())
    assert not bare.sources_known
    assert len(np.unique(bare.groups)) == 12
    assert sorted(bare.positions.tolist()) == list(range(12))
    assert any(tier == "T6" for tier, _ in make_plan(bare).left_out)


def test_one_source_image_is_no_set(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="one source image"):
        read(write_set(tmp_path / "set", scenes=1), TINY, Progress())


def test_excluded_images_are_found_in_any_encoding(tmp_path: Path) -> None:
    """Equal pixels under another name, and the same image again as JPEG; others are left alone."""
    subjects = read(write_set(tmp_path / "set", scenes=3), TINY, Progress())
    training = tmp_path / "training"
    (training / "deep").mkdir(parents=True)
    first, second = (Image.open(item.case.image) for item in subjects.items[:2])
    first.save(training / "deep" / "renamed.png", compress_level=1)
    second.save(training / "again.jpg", quality=80)
    Image.fromarray(np.random.default_rng(9).integers(0, 255, (64, 64, 3)).astype(np.uint8)).save(
        training / "other.png"
    )
    (training / "broken.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    found = contamination(subjects, [training], 1)
    assert [(m.item, Path(m.file).name, m.how) for m in found.excluded] == sorted(
        [
            (subjects.items[0].case.id, "renamed.png", "pixels"),
            (subjects.items[1].case.id, "again.jpg", "near"),
        ]
    )
    assert found.compared == 3
    assert [Path(file).name for file in found.unreadable] == ["broken.png"]
    assert "renamed.png" in overlap_markdown(found)


def test_the_file_that_an_item_was_made_from_is_found(tmp_path: Path) -> None:
    """A lever or a crop changes pixels and hash; provenance still tells which file it was."""
    subjects = read(write_set(tmp_path / "set", scenes=3), TINY, Progress())
    scene = tmp_path / "training" / "scene.png"
    scene.parent.mkdir()
    Image.fromarray(np.random.default_rng(8).integers(0, 255, (90, 90, 3)).astype(np.uint8)).save(scene)
    made = subjects.items[5].case.id
    digest = hashlib.sha256(scene.read_bytes()).hexdigest()
    rows = {**subjects.rows, made: {**subjects.rows[made], "base_sha256": digest}}
    (match,) = contamination(replace(subjects, rows=rows), [tmp_path / "training"], 1).excluded
    assert (match.item, match.file, match.how) == (made, str(scene), "source")
    assert not contamination(subjects, [tmp_path / "training"], 1).excluded


def test_an_excluded_image_is_opened_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Training folders are large: decoding to see whether an image is sound, and again to look at it, took double."""
    opened: list[str] = []
    plain = pictures.open_image
    monkeypatch.setattr(pictures, "open_image", lambda file: (opened.append(file.name), plain(file))[1])
    subjects = read(write_set(tmp_path / "set", scenes=3), TINY, Progress())
    opened.clear()
    (tmp_path / "training").mkdir()
    for number in range(3):
        pixels = np.random.default_rng([number, 77]).integers(0, 255, (40, 40, 3)).astype(np.uint8)
        Image.fromarray(pixels).save(tmp_path / "training" / f"{number}.png")
    contamination(subjects, [tmp_path / "training"], 1)
    assert sorted(opened) == ["0.png", "1.png", "2.png"]


def test_a_set_in_our_layout_can_be_excluded(tmp_path: Path) -> None:
    subjects = read(write_set(tmp_path / "set", scenes=3), TINY, Progress())
    found = contamination(subjects, [tmp_path / "set"], 1)
    assert {one.item for one in found.excluded if one.how == "pixels"} == {item.case.id for item in subjects.items}


def test_near_items_with_one_question_are_listed_for_review(tmp_path: Path) -> None:
    found = contamination(read(write_set(tmp_path / "set", scenes=3, repeat=True), TINY, Progress()), [], 1)
    (pair,) = found.twins
    assert pair.same_source
    assert pair.question == "Is there a ship in this area?"
    with pytest.raises(DataError, match="no such folder"):
        contamination(made_up(1), [tmp_path / "nowhere"], 1)


def test_figures_of_an_image(tmp_path: Path) -> None:
    pixels = np.full((64, 80, 3), 100, np.uint8)
    pixels[:16, :20] = 0
    pixels[40:50, 40:50] = 255
    pixels[20:30, 60:70] = 255
    Image.fromarray(pixels).save(tmp_path / "a.png")
    picture = look(tmp_path / "a.png")
    assert picture.pixels["black share"] == pytest.approx(320 / 5120)
    assert picture.pixels["saturated share"] == picture.pixels["bright share"] == pytest.approx(200 / 5120)
    assert (picture.pixels["black areas"], picture.pixels["white areas"]) == (1, 2)
    assert (picture.file["height"], picture.file["width"]) == (64, 80)
    assert picture.file["file bytes"] == (tmp_path / "a.png").stat().st_size
    assert picture.pixels["bits per pixel"] == pytest.approx(8 * picture.file["file bytes"] / 5120)
    noisy = np.clip(pixels + np.random.default_rng(1).normal(0, 8, pixels.shape), 0, 255).astype(np.uint8)
    Image.fromarray(noisy).save(tmp_path / "b.png")
    assert look(tmp_path / "b.png").pixels["noise sd"] > picture.pixels["noise sd"] + 2
    assert look(tmp_path / "b.png").pixels["high to middle frequencies"] > picture.pixels["high to middle frequencies"]


def test_metadata_of_one_class_shows_in_the_file_tier(tmp_path: Path) -> None:
    from PIL.PngImagePlugin import PngInfo

    image = Image.new("RGB", (16, 16))
    told = PngInfo()
    told.add_text("label", "LOW")
    image.save(tmp_path / "plain.png")
    image.save(tmp_path / "told.png", pnginfo=told)
    assert "chunk tEXt" in look(tmp_path / "told.png").file
    assert "chunk tEXt" not in look(tmp_path / "plain.png").file


def test_a_blind_run_is_scored_and_a_sighted_one_refused(tmp_path: Path) -> None:
    subjects = read(write_set(tmp_path / "set", scenes=3), TINY, Progress())
    replies = tmp_path / "noimage.jsonl"
    rows = [
        {"id": item.case.id, "text": json.dumps({"verdict": item.label.gold, "answer": "yes", "justification": ""})}
        for item in subjects.items
    ]
    replies.write_text("".join(json.dumps(row) + "\n" for row in rows))
    runs = blind_runs({"text only": replies}, subjects)
    for target in blind_targets(subjects):
        vote = said(runs["text only"], subjects, target)
        assert (vote * target.weights)[np.arange(len(target.y)), target.y].sum() == pytest.approx(1.0)
    replies.write_text("".join(json.dumps(row) + "\n" for row in rows[1:]))
    with pytest.raises(DataError, match="missing"):
        blind_runs({"text only": replies}, subjects)


@pytest.mark.slow
def test_the_command_fails_a_leaking_set(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import typer
    from typer.testing import CliRunner

    from georefusal_build.audit import settings
    from georefusal_build.commands.audit import audit

    monkeypatch.setattr(settings, "Settings", lambda: TINY)
    monkeypatch.chdir(tmp_path)
    app = typer.Typer()
    app.command()(audit)
    data = write_set(tmp_path / "set", leak=120)
    before = sorted(data.rglob("*"))
    result = CliRunner().invoke(app, [str(data), "--exclude", str(data / "images")])
    assert result.exit_code == 1
    assert "can be guessed without looking" in result.stdout
    assert sorted(data.rglob("*")) == before  # nothing is written into the data
    rows = json.loads((tmp_path / "audit.json").read_text())
    leaking = {row["tier"] for row in rows["findings"] if row["outcome"] == "leak"}
    assert leaking  # with models as small as these, in the file or in the pixels
    assert leaking <= {"T1", "T3"}
    assert len(rows["contamination"]["excluded"]) >= 48
    assert CliRunner().invoke(app, [str(data), "--run", "nonsense"]).exit_code == 1


def test_outcomes_are_told_apart_in_tables() -> None:
    assert len({str(outcome) for outcome in Outcome}) == len(Outcome)
