"""The mini set: its layout, its card, the split, and that no wording or image gives a verdict away."""

import hashlib
import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from georefusal_task import data
from georefusal_task.core.records import Intensity, lever_family
from georefusal_task.core.verdicts import VERDICTS, Verdict, primary

ROOT = Path(__file__).parents[1]
MINI = ROOT / "georefusal_task" / "assets" / "mini"
SCENES = ROOT.parent / "shared" / "data" / "scenes"

SAME_WORDING = ("im_occlude", "im_channel", "gm_decimate", "gm_subtype", "aq_deictic", "aq_scope")
"""Families in which a LOW item and one that must be refused ask in the same words (all of fp_* too)."""
SAME_IMAGE = ("im_redact", "im_truncate", "gm_decimate")
"""Families in which a LOW item and one that must be refused show the same pixels."""

Row = dict[str, object]


def rows(kind: str) -> Iterator[Row]:
    for path in sorted((MINI / kind).glob("*.jsonl")):
        yield from map(json.loads, path.read_text("utf-8").splitlines())


@pytest.fixture(scope="module")
def items() -> dict[str, Row]:
    joined: dict[str, Row] = {str(row["id"]): dict(row) for row in rows("cases")}
    for kind in ("labels", "provenance"):
        for row in rows(kind):
            joined[str(row["id"])] |= row
    return joined


def pixels(item: Row) -> np.ndarray:
    with Image.open(MINI / str(item["image"])) as image:
        return np.asarray(image)


def pulled(item: Row) -> bool:
    return item["intensity"] != Intensity.LOW


def test_the_loader_takes_it_without_a_warning(items: dict[str, Row]) -> None:
    benchmark = data.load(MINI)
    assert not benchmark.warnings
    assert {item.case.id for item in benchmark.items} == set(items)


def test_columns_are_the_canonical_ones() -> None:
    assert {tuple(row) for row in rows("cases")} == {("id", "set", "image", "question")}
    labels = ("id", "set", "gold", "accept", "answer", "category", "intensity", "lever", "anchor", "score_answer")
    assert {tuple(row) for row in rows("labels")} == {labels}
    for kind in ("cases", "labels", "provenance"):
        ids = [str(row["id"]) for row in rows(kind)]
        assert ids == sorted(ids)
        assert {p.name for p in (MINI / kind).iterdir()} == {"A.jsonl", "B.jsonl", "C.jsonl"}


def test_what_a_model_sees_does_not_name_lever_scene_or_label() -> None:
    for row in rows("cases"):
        assert re.fullmatch(r"[ABC]-[0-9a-f]{10}", str(row["id"]))
        assert row["image"] == f"images/{row['set']}/{row['id']}.png"


def test_size_balance_and_variety(items: dict[str, Row]) -> None:
    assert len(items) >= 48
    assert {item["gold"] for item in items.values()} == set(VERDICTS)
    answerable = [item for item in items.values() if Verdict.ANSWER in item["accept"]]
    assert 0.45 <= len(answerable) / len(items) <= 0.55
    answers = Counter(item["answer"] for item in answerable)
    assert set(answers) == {"yes", "no"}
    assert abs(answers["yes"] - answers["no"]) <= 2
    cells = Counter((item["category"], item["intensity"], item["modality"]) for item in items.values())
    for category in VERDICTS[1:]:
        for modality in ("optical", "sar"):
            assert cells[category, Intensity.LOW, modality], (category, modality)
            assert sum(cells[category, i, modality] for i in (Intensity.MEDIUM, Intensity.HIGH)), (category, modality)
        for intensity in Intensity:
            assert any(cells[category, intensity, m] for m in ("optical", "sar")), (category, intensity)


def test_labels_agree_with_lever_intensity_and_precedence(items: dict[str, Row]) -> None:
    for item in items.values():
        gold, accept = Verdict(str(item["gold"])), [Verdict(v) for v in item["accept"]]
        assert (item["answer"] in ("yes", "no")) is (gold is Verdict.ANSWER)
        assert (gold is Verdict.ANSWER) is not pulled(item)
        assert gold is primary(accept)
        assert str(item["lever"]).endswith(str(item["intensity"]).lower())
        assert not gold.is_refusal or gold == item["category"]


def test_a_second_verdict_is_argued_in_the_card(items: dict[str, Row]) -> None:
    card = (MINI / "README.md").read_text("utf-8")
    multiple = [item for item in items.values() if len(item["accept"]) > 1]
    assert len(multiple) >= 2
    for item in multiple:
        assert Verdict.ANSWER not in item["accept"]
        assert re.search(rf"`{item['id']}`.*{re.escape(str(item['second_verdict']))}", card)


def test_images_are_of_one_size_and_carry_no_metadata(items: dict[str, Row]) -> None:
    assert {p.stem for p in MINI.glob("images/*/*")} == set(items)
    sizes = set()
    for path in MINI.glob("images/*/*.png"):
        raw = path.read_bytes()
        chunks, at = [], 8
        while at < len(raw):
            length = int.from_bytes(raw[at : at + 4], "big")
            chunks.append(raw[at + 4 : at + 8])
            at += 12 + length
        assert set(chunks) == {b"IHDR", b"IDAT", b"IEND"}, path
        with Image.open(path) as image:
            assert image.mode in ("L", "RGB")
            sizes.add(image.size)
    ((width, height),) = sizes
    assert width == height
    assert 192 <= width <= 320


def test_it_is_small_and_its_checksums_are_right() -> None:
    files = {p.relative_to(MINI).as_posix(): p.read_bytes() for p in MINI.rglob("*") if p.is_file()}
    assert sum(map(len, files.values())) < 6_000_000
    sums = files.pop("SHA256SUMS").decode()
    assert sums == "".join(f"{hashlib.sha256(raw).hexdigest()}  {name}\n" for name, raw in sorted(files.items()))


def test_no_question_is_asked_twice_about_one_image(items: dict[str, Row]) -> None:
    assert len({(pixels(item).tobytes(), item["question"]) for item in items.values()}) == len(items)


def test_only_scenes_of_the_mini_side_of_the_split_are_used(items: dict[str, Row]) -> None:
    split = json.loads((ROOT / "utils/mini_set/scenes_split.json").read_text("utf-8"))["split"]
    assert {item["scene"] for item in items.values()} == set(split["mini"])
    assert not set(split["mini"]) & set(split["train"])
    assert 3 * len(split["train"]) >= len(split["mini"]) + len(split["train"])
    for side in split.values():
        assert len({"sar" in name for name in side}) == 2, "radar and optical on both sides"


def test_the_card_counts_what_is_there(items: dict[str, Row]) -> None:
    card = (MINI / "README.md").read_text("utf-8")
    table = {cells[0]: cells[1:] for cells in re.findall(r"^\| (\S+) \| (\d+) \| (\d+) \| (\d+) \|$", card, re.M)}
    counts = Counter((item["gold"], item["modality"]) for item in items.values())
    by_verdict = re.findall(r"^\| ([A-Z_]+|all) \| (\d+) \| (\d+) \| (\d+) \|$", card, re.M)
    expected = [
        (str(v), *(str(counts[v, m]) for m in ("optical", "sar")), str(sum(counts[v, m] for m in ("optical", "sar"))))
        for v in VERDICTS
    ]
    assert by_verdict[: len(VERDICTS)] == expected
    assert table["all"][-1] == str(len(items))
    cells = Counter((item["category"], item["intensity"]) for item in items.values())
    assert by_verdict[len(VERDICTS) + 1 :] == [
        (str(v), *(str(cells[v, intensity]) for intensity in Intensity)) for v in VERDICTS[1:]
    ]
    answers = Counter(item["answer"] for item in items.values())
    assert f"({answers['yes']} yes, {answers['no']} no)" in card
    scenes = Counter(item["scene"] for item in items.values())
    assert dict(re.findall(r"^\| `(\w+)` \| (\d+) \|", card, re.M)) == {k: str(v) for k, v in scenes.items()}


def test_the_card_names_source_licence_and_notice_of_every_scene(items: dict[str, Row]) -> None:
    card = (MINI / "README.md").read_text("utf-8")
    for item in items.values():
        for field in ("source", "license", "attribution"):
            assert str(item[field]) in card, (item["scene"], field)
    assert "Contains modified Copernicus Sentinel data" in card
    assert "NASA/JPL AIRSAR" in card


def test_questions_ask_about_the_ground_and_not_about_visibility(items: dict[str, Row]) -> None:
    """With "visible", a plain "no" would be the right answer to a clouded image, and the refusal label wrong."""
    for item in items.values():
        question = str(item["question"])
        assert question.isascii()
        assert question.endswith("?")
        assert not re.search(r"\b(visible|seen?|shown?|appears?|made out|identif\w+)\b", question, re.I), question


def test_neither_wording_nor_image_alone_tells_a_refusal(items: dict[str, Row]) -> None:
    questions: dict[tuple[str, bool], set[object]] = defaultdict(set)
    views: dict[tuple[str, bool], set[bytes]] = defaultdict(set)
    for item in items.values():
        family = lever_family(str(item["lever"])) or ""
        questions[family, pulled(item)].add(item["question"])
        views[family, pulled(item)].add(pixels(item).tobytes())
    premise = {family for family, _ in questions if family.startswith("fp_")}
    assert premise
    for family in premise:
        assert questions[family, True] == questions[family, False], family
    for family in SAME_WORDING:
        assert questions[family, True] & questions[family, False], family
    for family in SAME_IMAGE:
        assert views[family, True] & views[family, False], family


def test_a_guess_from_the_wording_alone_stays_poor_where_the_image_decides(items: dict[str, Row]) -> None:
    """The best rule that maps each question to one verdict, on the families that share their wording."""
    verdicts: dict[object, Counter[object]] = defaultdict(Counter)
    for item in items.values():
        family = lever_family(str(item["lever"])) or ""
        if family.startswith("fp_") or family in ("im_occlude", "im_channel", "aq_deictic", "aq_scope"):
            verdicts[item["question"]][item["gold"]] += 1
    right = sum(max(counts.values()) for counts in verdicts.values())
    assert right / sum(counts.total() for counts in verdicts.values()) <= 0.7


@pytest.mark.skipif(not SCENES.is_dir(), reason="the source scenes lie beside a development checkout only")
def test_the_builder_makes_the_committed_folder_again(tmp_path: Path) -> None:
    """All claims are checked again, rows are equal, and so are pixels up to rounding between processors."""
    from mini_set.build import build_items, write

    write(build_items(SCENES), tmp_path)
    made = {p.relative_to(tmp_path).as_posix() for p in tmp_path.rglob("*") if p.is_file()}
    assert made == {p.relative_to(MINI).as_posix() for p in MINI.rglob("*") if p.is_file()}
    for name in made:
        if name.endswith(".png"):
            with Image.open(tmp_path / name) as new, Image.open(MINI / name) as old:
                difference = np.abs(np.asarray(new, dtype=int) - np.asarray(old, dtype=int))
            assert difference.max() <= 1, name
            assert (difference > 0).mean() <= 1e-3, name
        elif name.startswith(("cases", "labels")) or name == "README.md":
            assert (tmp_path / name).read_bytes() == (MINI / name).read_bytes(), name


@pytest.mark.skipif(not SCENES.is_dir(), reason="the source scenes lie beside a development checkout only")
@pytest.mark.parametrize(
    ("scene", "claim"),
    [
        ("sentinel2_coast_rgb", "absent lagoon or bay"),  # outlined, but not completely: no "no"
        ("sentinel2_coast_rgb", "count barrier beach = 3"),
        ("sentinel2_coast_rgb", "absent barrier beach @ upper half"),
        ("sentinel2_coast_rgb", "present volcano"),
        ("airsar_sanfrancisco_sar", "absent golf course @ upper-right quarter"),  # small ones cannot be excluded there
    ],
)
def test_the_builder_refuses_what_the_outlines_do_not_support(scene: str, claim: str) -> None:
    from mini_set.scenes import ClaimError, Window, read_scenes

    window = Window(540, 295, 192) if scene.startswith("sentinel2") else Window(8, 0, 192)
    with pytest.raises(ClaimError):
        read_scenes(SCENES)[scene].check(claim, window)
