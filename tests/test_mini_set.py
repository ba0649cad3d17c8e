"""The mini set: a product of the workshop whose rows can be made again, small, balanced, and telling nothing away."""

import hashlib
import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from georefusal_build.judging import rederive
from georefusal_build.layout import read_provenance
from georefusal_task import data
from georefusal_task.core.records import Intensity, lever_family
from georefusal_task.core.verdicts import VERDICTS, Verdict, primary
from mini_set.build import build, review
from mini_set.scenes import read_split

ROOT = Path(__file__).parents[1]
MINI = ROOT / "georefusal_task" / "assets" / "mini"

Row = dict[str, Any]


def rows(kind: str, folder: Path = MINI) -> Iterator[Row]:
    for path in sorted((folder / kind).glob("*.jsonl")):
        yield from map(json.loads, path.read_text("utf-8").splitlines())


def joined(folder: Path = MINI) -> dict[str, Row]:
    found: dict[str, Row] = {row["id"]: dict(row) for row in rows("cases", folder)}
    for kind in ("labels", "provenance"):
        for row in rows(kind, folder):
            found[row["id"]] |= row
    return found


@pytest.fixture(scope="module")
def items() -> dict[str, Row]:
    return joined()


def pixels(item: Row) -> "np.ndarray[Any, Any]":
    with Image.open(MINI / item["image"]) as image:
        return np.asarray(image)


def test_the_loader_takes_it_without_a_warning(items: dict[str, Row]) -> None:
    benchmark = data.load(MINI)
    assert not benchmark.warnings
    assert {item.case.id for item in benchmark.items} == set(items)


def test_columns_are_the_canonical_ones() -> None:
    assert {tuple(row) for row in rows("cases")} == {("id", "set", "image", "question")}
    labels = ("id", "set", "gold", "accept", "answer", "category", "intensity", "lever", "anchor", "score_answer")
    assert {tuple(row) for row in rows("labels")} == {labels}
    for kind in ("cases", "labels", "provenance"):
        assert {path.name for path in (MINI / kind).iterdir()} == {"A.jsonl", "B.jsonl", "C.jsonl"}


def test_what_a_model_sees_does_not_name_lever_scene_or_label() -> None:
    for row in rows("cases"):
        assert re.fullmatch(r"[ABC]-[0-9a-f]{10}", row["id"])
        assert row["image"] == f"images/{row['set']}/{row['id']}.png"


def test_size_balance_and_variety(items: dict[str, Row]) -> None:
    assert len(items) >= 60
    assert {item["gold"] for item in items.values()} == set(VERDICTS)
    answerable = [item for item in items.values() if Verdict.ANSWER in item["accept"]]
    assert 0.4 <= len(answerable) / len(items) <= 0.6
    answers = Counter(item["answer"] for item in answerable)
    assert set(answers) == {"yes", "no"}
    assert 0.33 <= answers["yes"] / len(answerable) <= 0.67
    cells = {(item["category"], item["modality"]) for item in items.values() if item["gold"] != Verdict.ANSWER}
    assert cells == {(category, modality) for category in VERDICTS[1:] for modality in ("optical", "sar")}
    families = {lever_family(item["lever"]) for item in items.values()}
    assert len([name for name in families if name and name.startswith("im_")]) >= 3
    assert {item["intensity"] for item in items.values()} == set(Intensity)


def test_labels_agree_with_precedence_and_rest_on_what_was_measured(items: dict[str, Row]) -> None:
    measured = 0
    for item in items.values():
        gold, accept = Verdict(item["gold"]), [Verdict(verdict) for verdict in item["accept"]]
        assert (item["answer"] in ("yes", "no")) is (gold is Verdict.ANSWER)
        assert Verdict.ANSWER not in accept or accept == [Verdict.ANSWER]
        if item["anchor"] in ("pixel", "geometry"):
            measured += 1
            assert gold == rederive(item), item["id"]
        if not item["verdict_changed"] and len(accept) == 1:
            assert gold is primary(accept)
    assert measured >= len(items) / 2


def test_a_second_verdict_comes_from_the_recorded_votes(items: dict[str, Row]) -> None:
    for item in items.values():
        blind = [vote for vote in item["review_votes"] if vote["kind"] == "blind" and vote["role"] == "item"]
        assert len({vote["reviewer"] for vote in blind}) == 2, item["id"]
        for second in set(item["accept"]) - {item["gold"]}:
            assert all(second in (vote["verdict"], vote["alt"]) for vote in blind), item["id"]


def test_images_are_of_one_size_and_carry_no_metadata(items: dict[str, Row]) -> None:
    assert {path.stem for path in MINI.glob("images/*/*")} == set(items)
    sizes = set()
    for path in MINI.glob("images/*/*.png"):
        raw = path.read_bytes()
        chunks, at = [], 8
        while at < len(raw):
            chunks.append(raw[at + 4 : at + 8])
            at += 12 + int.from_bytes(raw[at : at + 4], "big")
        assert set(chunks) == {b"IHDR", b"IDAT", b"IEND"}, path
        with Image.open(path) as image:
            assert image.mode == "RGB"
            sizes.add(image.size)
    assert sizes == {(192, 192)}


def test_it_is_small_and_its_checksums_are_right() -> None:
    files = {path.relative_to(MINI).as_posix(): path.read_bytes() for path in MINI.rglob("*") if path.is_file()}
    assert sum(map(len, files.values())) < 6_500_000  # of which tables are packed to a tenth in the wheel
    sums = files.pop("SHA256SUMS").decode()
    assert sums == "".join(f"{hashlib.sha256(raw).hexdigest()}  {name}\n" for name, raw in sorted(files.items()))


def test_no_question_is_asked_twice_about_one_image(items: dict[str, Row]) -> None:
    assert len({(pixels(item).tobytes(), item["question"]) for item in items.values()}) == len(items)


def test_only_scenes_of_the_mini_side_of_the_split_are_used(items: dict[str, Row]) -> None:
    split = read_split()
    assert {item["scene"].rpartition("/")[2] for item in items.values()} == set(split["mini"])
    assert not set(split["mini"]) & set(split["train"])
    for side in split.values():
        assert len({"sar" in name for name in side}) == 2, "radar and optical on both sides"


def test_the_card_counts_what_is_there_and_says_how_it_was_made(items: dict[str, Row]) -> None:
    card = (MINI / "README.md").read_text("utf-8")
    assert f"{len(items)} items from 5 source images" in card
    for verdict, count in Counter(item["gold"] for item in items.values()).items():
        assert re.search(rf"^\| {verdict} \|.* \| {count} \|$", card, re.M)
    for said in ("not a benchmark", "no people were asked", "caps per scene and class are relaxed"):
        assert said in " ".join(card.split())
    for item in items.values():
        for field in ("source", "license", "attribution"):
            assert str(item[field]) in card, (item["scene"], field)
    assert "Contains modified Copernicus Sentinel data" in card
    assert "NASA/JPL AIRSAR" in card


def test_questions_ask_about_the_ground_and_not_about_visibility(items: dict[str, Row]) -> None:
    """With "visible", a plain "no" would be the right answer to a clouded image, and the refusal label wrong."""
    for item in items.values():
        assert item["question"].endswith("?")
        assert not re.search(r"\b(visible|seen?|shown?|appears?|made out|identif\w+)\b", item["question"], re.I)


def test_the_same_premises_are_true_and_false(items: dict[str, Row]) -> None:
    """A guess from the wording alone must not tell what is taken for granted falsely."""
    words: defaultdict[bool, Counter[str]] = defaultdict(Counter)
    for item in items.values():
        if item["lever"].startswith("fp_entity"):
            words[item["intensity"] == Intensity.LOW].update([str(item["params"].get("premise"))])
    assert words[True]
    assert words[True] & words[False]


@pytest.mark.slow
def test_the_workshop_makes_the_committed_set_again(tmp_path: Path, items: dict[str, Row]) -> None:
    """From committed scenes, settings and votes: the same rows, and pixels equal up to rounding between processors."""
    made = joined(review(build(tmp_path), tmp_path / "reviewed"))
    assert made.keys() == items.keys()
    released = {"version", "image_sha256", "pixel_sha256", "fingerprint", "phash", "pair_id", "measurement"}
    for item_id, row in made.items():
        assert {k: v for k, v in row.items() if k not in released} == {
            k: v for k, v in items[item_id].items() if k not in released
        }
        with Image.open(tmp_path / "reviewed" / row["image"]) as image:
            difference = np.abs(np.asarray(image, dtype=int) - pixels(items[item_id]).astype(int))
        assert difference.max() <= 1, item_id
        assert (difference > 0).mean() <= 1e-3, item_id


def test_every_label_of_the_workshop_can_be_derived_again() -> None:
    """For every item, from its provenance alone; where reviewers changed a verdict, provenance says so."""
    golds = {row["id"]: row["gold"] for row in rows("labels")}
    for item_id, row in read_provenance(MINI).items():
        assert row["verdict_changed"] or rederive(row) == golds[item_id]
