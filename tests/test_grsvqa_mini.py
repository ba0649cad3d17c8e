"""The mini set of answer-grounding questions: sound, small, varied, from scenes that may be shipped, reproducible."""

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from georefusal_task import grounding_data
from georefusal_task.benchmarks.grounding_records import QuestionType
from georefusal_task.image_files import examine
from mini_set.grsvqa import build, read_windows
from mini_set.scenes import read_split

ROOT = Path(__file__).parents[1]
MINI = ROOT / "georefusal_task" / "assets" / "grsvqa_mini"
SCENES = ROOT / "utils" / "mini_set" / "scenes"


def read(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "questions.jsonl").read_text("utf-8").split("\n") if line]


def pixels(file: Path) -> "np.ndarray[Any, Any]":
    with Image.open(file) as image:
        return np.asarray(image)


@pytest.fixture(scope="module")
def rows() -> list[dict[str, Any]]:
    return read(MINI)


def test_the_loader_takes_it_without_a_warning(rows: list[dict[str, Any]]) -> None:
    found = grounding_data.load_mini()
    assert not found.warnings
    assert len(found.questions) == len(rows) >= 60
    assert found.digest == grounding_data.load(MINI).digest


def test_all_types_with_both_answers_and_several_numbers(rows: list[dict[str, Any]]) -> None:
    cells = Counter((row["type"], row["answer"]) for row in rows)
    for type_ in QuestionType:
        if type_ is not QuestionType.COUNTING:
            assert cells[type_, "yes"] == cells[type_, "no"] >= 2, type_
    numbers = {answer for type_, answer in cells if type_ == QuestionType.COUNTING}
    assert numbers >= {"0", "1", "2", "3", "4"}


def test_several_scenes_optical_and_radar(rows: list[dict[str, Any]]) -> None:
    places = Counter(row["image_id"] for row in rows)
    assert len(places) >= 4
    assert sum(n for name, n in places.items() if name.endswith("_sar")) >= 5
    assert sum(n for name, n in places.items() if not name.endswith("_sar")) >= 50


def test_no_scene_of_the_training_side_is_used(rows: list[dict[str, Any]]) -> None:
    """A model trained on what this project ships must not have seen these places."""
    used = {row["image_id"].split("/")[1] for row in rows} | {window.scene for window in read_windows()}
    assert used <= set(read_split()["mini"])


def test_the_folder_is_small_and_its_images_are_plain() -> None:
    files = [path for path in MINI.rglob("*") if path.is_file()]
    assert sum(path.stat().st_size for path in files) < 2_500_000
    for path in files:
        if path.suffix == ".png":
            header = examine(path.read_bytes())
            assert header.plain, path
            assert 100 <= min(header.width, header.height) <= max(header.width, header.height) <= 320


def test_every_image_is_asked_about_and_nothing_else_lies_there(rows: list[dict[str, Any]]) -> None:
    assert {row["image"] for row in rows} == {path.relative_to(MINI).as_posix() for path in MINI.glob("images/*")}


def test_the_card_gives_licence_and_notice_of_each_scene(rows: list[dict[str, Any]]) -> None:
    card = (MINI / "README.md").read_text("utf-8")
    for row in rows:
        assert f"`{row['image_id']}`" in card
        assert row["licence"]
        assert f"| {row['licence']} | {row['notice']} |" in card
    assert re.search(r"not a benchmark", card)
    assert f"{len(rows)} questions about" in card


def test_no_class_gives_the_answer_away_on_its_own(rows: list[dict[str, Any]]) -> None:
    """Guessing by the class alone, with hindsight, must stay well below a model that looks."""
    by_class: dict[str, Counter[str]] = {}
    for row in rows:
        if row["type"] == "existence":
            by_class.setdefault(row["classes"][0], Counter())[row["answer"]] += 1
    asked = sum(answers.total() for answers in by_class.values())
    assert sum(max(answers.values()) for answers in by_class.values()) <= 0.85 * asked


def test_building_it_again_gives_equal_rows_and_pixels(tmp_path: Path, rows: list[dict[str, Any]]) -> None:
    build(SCENES, tmp_path / "mini")
    assert read(tmp_path / "mini") == rows
    for name in {row["image"] for row in rows}:
        assert (pixels(tmp_path / "mini" / name) == pixels(MINI / name)).all()
    assert (tmp_path / "mini" / "README.md").read_text() == (MINI / "README.md").read_text()


def test_every_scene_may_be_shipped() -> None:
    manifest = {Path(row["file"]).stem: row for row in json.loads((SCENES / "manifest.json").read_text("utf-8"))}
    assert all(manifest[window.scene]["may_ship"] for window in read_windows())


def test_the_docs_count_it(rows: list[dict[str, Any]]) -> None:
    page = (ROOT / "docs" / "grsvqa.md").read_text("utf-8")
    assert f"{len(rows)} questions about {len({row['image'] for row in rows})} windows of four real scenes" in page
    assert len({row["image_id"] for row in rows}) == 4
