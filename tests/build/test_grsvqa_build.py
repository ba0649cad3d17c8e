"""Questions made from boxes: every answer is counted again from the annotation files, and the selection is balanced."""

import json
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image
from support.native import corners, flat, write
from typer.testing import CliRunner

from georefusal_build.asking import Bar
from georefusal_build.classes import ClassTable
from georefusal_build.commands import APP
from georefusal_build.grsvqa import build_grsvqa
from georefusal_build.grsvqa_asking import Bound, Candidate, Register, Rules, offer
from georefusal_build.grsvqa_config import GrsvqaConfig, load_grsvqa_config, parse_grsvqa_config
from georefusal_build.grsvqa_selection import Quotas, select
from georefusal_build.grsvqa_words import load_templates
from georefusal_build.scenes import IgnoreRegion, Instance, Scene, Tile
from georefusal_build.streams import Stream
from georefusal_build.templates import render
from georefusal_task import grounding_data
from georefusal_task.benchmarks.grounding_records import QuestionType
from georefusal_task.core.errors import ConfigError, DataError

Box = tuple[int, int, int, int]
Placed = list[tuple[str, Box]]

DOCS = Path(__file__).parents[2] / "docs"
TABLE = ClassTable.load()
SIDE = 160
NAMES = ("ship", "plane", "storage-tank", "tennis-court")
MEANS = {"ship": "ship", "plane": "plane", "storage-tank": "storage tank", "tennis-court": "tennis court"}


def placed(seed: int, most: int = 9, side: int = SIDE) -> Placed:
    """Boxes of 12 to 24 pixels on a grid of 32: none overlap, and some reach over the middle of the image."""
    stream = Stream(seed)
    cells = stream.shuffled([(x, y) for x in range(2, side - 30, 32) for y in range(2, side - 30, 32)])
    found: Placed = []
    for x, y in cells[: int(stream.between(0, most + 1))]:
        width, height = int(stream.between(12, 25)), int(stream.between(12, 25))
        found.append((stream.choice(NAMES), (x, y, x + width, y + height)))
    return found


def picture(path: Path, side: int = SIDE) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.linear_gradient("L").resize((side, side)).save(path)


def coco(root: Path, images: Sequence[Placed], complete: Sequence[str] = NAMES) -> Path:
    names = [name for name in NAMES if name in complete or any(name == n for one in images for n, _ in one)]
    for i in range(len(images)):
        picture(root / f"{i}.png")
    content = {
        "info": {"complete": list(complete), "licence": "CC BY 4.0", "notice": "somebody"},
        "images": [{"id": i, "file_name": f"{i}.png", "width": SIDE, "height": SIDE} for i in range(len(images))],
        "categories": [{"id": i, "name": name} for i, name in enumerate(names)],
        "annotations": [
            {"id": 1, "image_id": i, "category_id": names.index(name), "bbox": [x0, y0, x1 - x0, y1 - y0]}
            for i, boxes in enumerate(images)
            for name, (x0, y0, x1, y1) in boxes
        ],
    }
    write(root / "all.json", json.dumps(content))
    return root


def dota(root: Path, images: Sequence[Placed]) -> Path:
    for i, boxes in enumerate(images):
        picture(root / "images" / f"{i}.png")
        lines = "".join(f"{flat(corners(box))} {name} 0\n" for name, box in boxes)
        write(root / "labelTxt" / f"{i}.txt", f"imagesource:GoogleEarth\ngsd:0.25\n{lines}")
    return root


def config(format_: str, root: Path, **more: Any) -> GrsvqaConfig:
    return parse_grsvqa_config({"sources": [{"format": format_, "root": root}], **more}, "test")


def rows(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "questions.jsonl").read_text("utf-8").split("\n") if line]


def expected(type_: str, counts: Sequence[int]) -> str:
    """The answer, worked out without the code under test."""
    if type_ == "counting":
        return f"{counts[0]}"
    a, b = counts[0], counts[-1]
    return ["no", "yes"][{"existence": a >= 1, "more": a - b >= 1, "fewer": b - a >= 1, "equal": a - b == 0}[type_]]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[Placed], Path]:
    folder = tmp_path_factory.mktemp("whole")
    images = [placed(seed) for seed in range(40)]
    build_grsvqa(config("coco", coco(folder / "coco", images), maximum=4, per_image=4), folder / "set")
    return images, folder / "set"


@pytest.fixture(scope="module")
def tiled(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[Placed], Path]:
    folder = tmp_path_factory.mktemp("tiled")
    images = [placed(seed, most=14) for seed in range(100, 130)]
    build_grsvqa(config("dota", dota(folder / "dota", images), tiles={"size": 80}, total=120), folder / "set")
    return images, folder / "set"


def test_every_answer_is_what_the_coco_file_says(whole: tuple[list[Placed], Path]) -> None:
    images, folder = whole
    found = rows(folder)
    assert len(found) > 60
    for row in found:
        there = Counter(MEANS[name] for name, _ in images[int(row["image_id"].split("/")[1])])
        assert row["answer"] == expected(row["type"], [there[name] for name in row["classes"]]), row
        boxes = {tuple(box) for name in row["classes"] for box in row["instances"][name]}
        number = int(row["image_id"].split("/")[1])
        assert boxes == {box for name, box in images[number] if MEANS[name] in row["classes"]}


def test_every_answer_is_what_the_window_of_the_dota_image_holds(tiled: tuple[list[Placed], Path]) -> None:
    """Objects that the window cuts may not be counted; those beside it do not count."""
    images, folder = tiled
    found = rows(folder)
    assert len(found) > 50
    for row in found:
        match = re.fullmatch(r"dota/images/(\d+)@(\d+),(\d+),80x80", row["source"])
        assert match, row["source"]
        number, x, y = map(int, match.groups())
        there: Counter[str] = Counter()
        outlines = {tuple(map(tuple, one)) for name in row["classes"] for one in row["instances"][name]}
        for name, (x0, y0, x1, y1) in images[number]:
            if x0 < x + 80 and x1 > x and y0 < y + 80 and y1 > y:
                there[MEANS[name]] += 1
                whole = x0 >= x and x1 <= x + 80 and y0 >= y and y1 <= y + 80
                inside = (min(x1, x + 80) - max(x0, x)) * (min(y1, y + 80) - max(y0, y)) / ((x1 - x0) * (y1 - y0))
                if MEANS[name] in row["classes"]:
                    assert whole or (row["type"] == "existence" and inside > 0.9), row
                    assert not whole or corners((x0 - x, y0 - y, x1 - x, y1 - y)) in outlines
        assert row["answer"] == expected(row["type"], [there[name] for name in row["classes"]]), row


@pytest.mark.parametrize("which", ["whole", "tiled"])
def test_answers_are_balanced_and_counts_spread(which: str, request: pytest.FixtureRequest) -> None:
    found = rows(request.getfixturevalue(which)[1])
    cells = Counter((row["type"], row["answer"]) for row in found)
    for type_ in ("existence", "more", "fewer", "equal"):
        assert cells[type_, "yes"] == cells[type_, "no"] > 0, type_
    numbers = {int(answer): n for (type_, answer), n in cells.items() if type_ == "counting"}
    assert len(numbers) >= 3
    assert max(numbers.values()) <= 0.3 * sum(numbers.values()) + 1
    assert max(numbers) <= 4 or which == "tiled"
    assert max(Counter(row["image"] for row in found).values()) <= (4 if which == "whole" else 6)


def test_types_keep_their_shares_when_no_total_is_given(whole: tuple[list[Placed], Path]) -> None:
    found = Counter(row["type"] for row in rows(whole[1]))
    for type_, share in {"existence": 0.36, "counting": 0.25, "more": 0.13, "fewer": 0.13, "equal": 0.13}.items():
        assert found[type_] == pytest.approx(share * found.total(), abs=2.5)


def test_the_set_loads_and_names_licence_and_notice(whole: tuple[list[Placed], Path]) -> None:
    found = grounding_data.load(whole[1])
    summary = json.loads((whole[1] / "summary.json").read_text("utf-8"))
    assert (
        len(found.questions) == summary["questions"] == sum(n for row in summary["made"].values() for n in row.values())
    )
    assert {(row["licence"], row["notice"]) for row in rows(whole[1])} == {("CC BY 4.0", "somebody")}
    assert "CC BY 4.0" in (whole[1] / "README.md").read_text("utf-8")


def test_no_class_is_asked_about_unless_it_is_complete(tmp_path: Path) -> None:
    root = coco(tmp_path / "coco", [placed(seed) for seed in range(20)], complete=["ship"])
    build_grsvqa(config("coco", root, shares={"existence": 1, "counting": 1}), tmp_path / "set")
    found = rows(tmp_path / "set")
    assert {name for row in found for name in row["classes"]} == {"ship"}
    rejected = json.loads((tmp_path / "set" / "summary.json").read_text("utf-8"))["rejected"]
    assert rejected["existence"]["incomplete"] > 0


def test_nothing_complete_is_an_error_that_says_why(tmp_path: Path) -> None:
    root = coco(tmp_path / "coco", [placed(3)], complete=[])
    with pytest.raises(ConfigError, match=r"no question can be asked.*incomplete.*'complete'"):
        build_grsvqa(config("coco", root), tmp_path / "set")
    assert not (tmp_path / "set").exists()


def test_the_same_bytes_on_every_run_and_other_questions_with_another_seed(tmp_path: Path) -> None:
    root = coco(tmp_path / "coco", [placed(seed) for seed in range(12)])
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        build_grsvqa(config("coco", root, seed=seed), tmp_path / name)
    a, b, c = ((tmp_path / name / "SHA256SUMS").read_text() for name in "abc")
    assert a == b != c


def test_a_foreign_folder_is_refused_and_an_earlier_build_replaced(tmp_path: Path) -> None:
    root = coco(tmp_path / "coco", [placed(seed) for seed in range(12)])
    write(tmp_path / "foreign" / "thesis.tex", "years of work")
    with pytest.raises(ConfigError, match="holds files of something else"):
        build_grsvqa(config("coco", root), tmp_path / "foreign")
    assert [path.name for path in (tmp_path / "foreign").iterdir()] == ["thesis.tex"]
    write(tmp_path / ".set.part" / "images" / "torn.png", "what a killed run left")
    for seed in (1, 2):
        build_grsvqa(config("coco", root, seed=seed), tmp_path / "set")
    assert json.loads((tmp_path / "set" / "summary.json").read_text())["seed"] == 2
    assert sorted(path.name for path in tmp_path.iterdir()) == ["coco", "foreign", "set"]
    write(root / "all.json", "{")
    with pytest.raises(DataError):
        build_grsvqa(config("coco", root), tmp_path / "set")
    grounding_data.load(tmp_path / "set")


def test_two_folders_of_one_format_may_hold_images_of_one_name(tmp_path: Path) -> None:
    sources = [
        {"format": "coco", "root": coco(tmp_path / str(i), [placed(10 * i + seed) for seed in range(8)])}
        for i in (0, 1)
    ]
    build_grsvqa(parse_grsvqa_config({"sources": sources}, "test"), tmp_path / "set")
    places = {row["image_id"] for row in rows(tmp_path / "set")}
    assert {"coco/1", "2/coco/1"} <= places


def test_parts_of_a_scene_in_one_folder_are_one_place(tmp_path: Path) -> None:
    for i in (0, 1):
        coco(tmp_path / "data" / f"scene{i}", [placed(10 * i + seed) for seed in range(6)])
    build_grsvqa(config("coco", tmp_path / "data", place="folder"), tmp_path / "set")
    assert {row["image_id"] for row in rows(tmp_path / "set")} == {"coco/scene0", "coco/scene1"}


def box(x0: float, y0: float, x1: float, y1: float, name: str = "ship", **more: Any) -> Instance:
    return Instance(name, corners((x0, y0, x1, y1)), oriented=False, **more)


def tile(*instances: Instance, **more: Any) -> Tile:
    facts: dict[str, Any] = {"complete": frozenset({"ship", "plane", "pivot field"}), **more}
    kept = {key: facts.pop(key) for key in ("cut", "slivers", "ignore_regions") if key in facts}
    scene = Scene("s", Path("s.png"), 100, 100, "optical", "coco", instances=instances, **facts)
    return Tile(scene, 0, 0, 100, 100, instances, **kept)


GOOD = box(10, 10, 40, 30)
CORNER = corners((0, 0, 5, 5))


@pytest.mark.parametrize(
    ("there", "why"),
    [
        (tile(GOOD, box(50, 50, 70, 60, difficult=True)), Bar.DIFFICULT),
        (tile(GOOD, box(50, 50, 70, 60, truncated=True)), Bar.TRUNCATED),
        (tile(GOOD, box(80, 50, 100, 60)), Bar.TRUNCATED),
        (tile(GOOD, box(50, 50, 70, 57)), Bar.TOO_SMALL),
        (tile(GOOD, box(11, 10, 41, 31)), Bound.REPEATED),
        (tile(*(box(x, y, x + 10, y + 10) for x in (10, 30, 50) for y in (10, 30))), Bound.ABOVE_MAXIMUM),
        (tile(GOOD, cut=frozenset({"ship"})), Bar.CUT),
        (tile(GOOD, slivers=frozenset({"ship"})), Bar.CUT),
        (tile(GOOD, complete=frozenset()), Bar.INCOMPLETE),
        (tile(GOOD, ignore_regions=(IgnoreRegion("ship", CORNER),)), Bar.IGNORED),
        (tile(GOOD, ignore_regions=(IgnoreRegion("all", CORNER),)), Bar.IGNORED),
        (tile(undecidable=frozenset({"ship"})), Bar.UNDECIDABLE),
    ],
    ids=lambda value: str(value) if isinstance(value, str) else "",
)
def test_what_keeps_a_class_from_being_counted(there: Tile, why: str) -> None:
    assert Register(there, TABLE, Rules(maximum=5)).count("ship") == why
    assert len(Register(tile(GOOD), TABLE, Rules()).count("ship")) == 1


def test_a_difficult_object_beside_a_clear_one_still_settles_a_yes_and_is_listed() -> None:
    found = Register(tile(GOOD, box(50, 50, 70, 60, difficult=True)), TABLE, Rules()).exists("ship")
    assert isinstance(found, tuple)
    assert len(found) == 2


def test_shreds_of_the_sea_are_not_listed_and_a_ship_is_no_line() -> None:
    """Rounded to hundredths of a pixel they enclose nothing, and the whole set would not load."""
    sea = [box(0, 0, 60, 60, "sea"), box(0, 99.999, 60, 100, "sea")]
    found = Register(tile(*sea, complete=frozenset({"sea"})), TABLE, Rules()).exists("sea")
    assert found == (sea[0],)
    ships = tile(GOOD, box(50, 50, 70, 50.001))
    assert Register(ships, TABLE, Rules()).exists("ship") == Bar.TOO_SMALL


def test_a_yes_needs_all_instances() -> None:
    """Localisation is scored against them: one that is not listed would make a right box a wrong one."""
    for there in (tile(GOOD, complete=frozenset()), tile(GOOD, slivers=frozenset({"ship"}))):
        assert Register(there, TABLE, Rules()).exists("ship") in (Bar.INCOMPLETE, Bar.CUT)


def test_what_might_pass_for_one_keeps_from_counting() -> None:
    fields = [box(10, 10, 40, 40, "pivot field"), box(50, 50, 80, 80, "farm field")]
    assert Register(tile(*fields), TABLE, Rules()).count("pivot field") == Bar.RIVAL


def test_any_piece_of_a_road_is_a_road_so_roads_are_not_counted() -> None:
    there = tile(box(10, 10, 40, 40, "paved road"), complete=frozenset({"paved road"}))
    assert Register(there, TABLE, Rules()).count("paved road") == Bound.DIVISIBLE
    assert isinstance(Register(there, TABLE, Rules()).exists("paved road"), tuple)


def test_ships_cannot_be_more_or_fewer_than_themselves() -> None:
    """Planes are aircraft: "more aircraft than planes" would count the same objects twice."""
    there = tile(box(10, 10, 40, 40, "plane"), complete=frozenset({"plane", "aircraft", "ship"}))
    found = offer(there, TABLE, Rules(), 1)
    assert not [c for c in found.candidates if {"plane", "aircraft"} <= set(c.classes)]
    assert found.rejects[QuestionType.MORE, Bound.SHARED_OBJECTS] == 1


def test_near_ties_and_two_absent_classes_are_not_compared() -> None:
    ships = [box(x, 10, x + 10, 20) for x in range(1, 80, 14)]
    planes = [box(x, 50, x + 10, 60, "plane") for x in range(1, 70, 14)]
    rejects = offer(tile(*ships, *planes), TABLE, Rules(margin=0.2), 1).rejects
    assert (len(ships), len(planes)) == (6, 5)
    assert rejects[QuestionType.EQUAL, Bound.NEAR_TIE] == 1
    assert offer(tile(), TABLE, Rules(), 1).rejects[QuestionType.EQUAL, Bound.NEITHER_PRESENT] == 3


def test_only_and_never_choose_the_classes() -> None:
    there = tile(GOOD, box(50, 50, 80, 80, "plane"))
    for rules in (Rules(only=frozenset({"ship"})), Rules(never=frozenset({"plane", "pivot field"}))):
        assert {name for one in offer(there, TABLE, rules, 1).candidates for name in one.classes} == {"ship"}


def candidates(seeds: Iterable[int]) -> list[Candidate]:
    found: list[Candidate] = []
    for seed in seeds:
        boxes = [box(*b, MEANS[name]) for name, b in placed(seed, side=100)]
        scene = Scene(f"s{seed}", Path("s.png"), 100, 100, "optical", "coco", complete=frozenset(MEANS.values()))
        found += offer(Tile(scene, 0, 0, 100, 100, tuple(boxes)), TABLE, Rules(), 7).candidates
    return found


POOL = candidates(range(15))


@given(st.randoms(use_true_random=False), st.sampled_from([None, 10, 40]), st.integers(1, 5))
def test_a_selection_depends_on_the_candidates_not_on_their_order(
    random: Any, total: int | None, per_image: int
) -> None:
    quotas = Quotas(total=total, per_image=per_image)
    shuffled = list(POOL)
    random.shuffle(shuffled)
    picks = select(shuffled, quotas, 5).picks
    assert picks == select(POOL, quotas, 5).picks
    assert max(Counter(one.tile.id for one in picks).values()) <= per_image
    cells = Counter((one.type, one.answer) for one in picks)
    assert all(cells[t, "yes"] == cells[t, "no"] for t in QuestionType if t is not QuestionType.COUNTING)
    assert len({one.id for one in picks}) == len(picks)
    assert total is None or len(picks) <= total + 2


def test_pairs_of_classes_that_are_both_there_come_first() -> None:
    """Zero against some is a question of existence in disguise."""
    picks = select(POOL, Quotas(shares={QuestionType.MORE: 1}, total=10), 5).picks
    assert all(0 not in one.counts for one in picks)


def test_each_template_makes_a_sentence_of_every_class() -> None:
    for type_, templates in load_templates().items():
        for template in templates:
            for entry in TABLE.classes:
                slots: dict[str, str] = {}
                for letter in "AB" if type_.compares else "C":
                    for noun in entry.nouns:
                        slots |= noun.slots(letter)
                text = render(template, slots)
                assert not re.search(r"[{}]|  | \?|\b(a|an|the) (a|an|the)\b", text), text
                assert text[0].isupper()
                assert text.endswith("?")
                if type_ is not QuestionType.EXISTENCE:
                    assert entry.nouns[-1].plural in text


def test_a_bad_template_file_is_named(tmp_path: Path) -> None:
    bank = {str(type_): list(templates) for type_, templates in load_templates().items()}
    file = write(tmp_path / "t.json", json.dumps(bank | {"more": ["Are there more {A_pl}?"]}))
    with pytest.raises(ConfigError, match=r"t\.json: 'Are there more \{A_pl\}\?' in list 'more'"):
        load_templates(file)
    with pytest.raises(ConfigError, match="expected an object with the lists existence"):
        load_templates(write(tmp_path / "u.json", json.dumps({"more": []})))


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("sources: [", "is not YAML"),
        ("- 1", "expected keys such as sources"),
        ("seed: 1", "sources: Field required"),
        ("sources: [{format: dota, root: x}]\nsharez: {}", "sharez: Extra inputs"),
        ("sources: [{format: dota, root: x}]\nshares: {area: 1}", "shares.area"),
        ("sources: [{format: dota, root: x}]\nshares: {more: -1}", "shares.more"),
        ("sources: [{format: dota, root: x}]\nshares: {more: 0}", "give a positive weight"),
        ("sources: [{format: dota, root: x}]\ntiles: {size: 3}", "tiles.size"),
    ],
)
def test_a_wrong_configuration_names_file_and_key(tmp_path: Path, content: str, says: str) -> None:
    with pytest.raises(ConfigError, match=re.escape(says)) as caught:
        load_grsvqa_config(write(tmp_path / "c.yaml", content))
    assert "c.yaml" in str(caught.value)


def test_the_command_takes_a_file_or_a_source(tmp_path: Path) -> None:
    coco(tmp_path / "coco", [placed(seed) for seed in range(12)], complete=[])
    source = {"format": "coco", "root": "coco", "complete": ["*"]}
    file = write(tmp_path / "c.yaml", yaml.safe_dump({"sources": [source], "seed": 3}))

    def run(*arguments: object) -> Any:
        return CliRunner().invoke(APP, ["grsvqa", *map(str, arguments)])

    first = run(file, "-o", tmp_path / "a")
    assert first.exit_code == 0, first.output
    assert re.search(r"^existence +\d+ +\d+ +no: \d+, yes: \d+$", first.stdout, re.MULTILINE)
    second = run("--source", "coco", tmp_path / "coco", "--complete", "*", "--seed", 3, "-o", tmp_path / "b")
    assert second.exit_code == 0, second.output
    assert rows(tmp_path / "a") == rows(tmp_path / "b")
    for wrong, says in (
        ([], "either a CONFIG file or --source"),
        ([file, "--source", "coco", tmp_path], "either"),
        ([file, "--complete", "ship"], "goes with --source"),
        (["--source", "dora", tmp_path], "there is no source 'dora'"),
        (["--source", "dota", tmp_path / "none"], "does not exist"),
    ):
        result = run(*wrong, "-o", tmp_path / "c")
        assert result.exit_code == 1
        assert says in result.stderr
        assert not (tmp_path / "c").exists()


def test_a_class_that_no_table_knows_is_named(tmp_path: Path) -> None:
    root = coco(tmp_path / "coco", [placed(1)])
    with pytest.raises(ConfigError, match="does not know: unicorn"):
        build_grsvqa(config("coco", root, only=["ship", "unicorn"]), tmp_path / "set")


def test_the_docs_name_every_key_and_the_example_is_one() -> None:
    page = (DOCS / "grsvqa.md").read_text("utf-8")
    keys = GrsvqaConfig.model_fields.keys()
    assert [key for key in keys if f"`{key}`" not in page] == []
    example = load_grsvqa_config(DOCS / "examples" / "grsvqa.yaml")
    assert example.total == 2000
    for key in ("maximum", "min_side_px", "margin", "per_image", "number_share", "seed"):
        shown = re.search(rf"^\| `{key}` \| ([0-9.]+) \|", page, re.MULTILINE)
        assert shown, key
        assert float(shown.group(1)) == GrsvqaConfig.model_fields[key].default == getattr(example, key)
    assert dict(example.shares) == GrsvqaConfig.model_fields["shares"].get_default(call_default_factory=True)
    assert f"| `shares` | {', '.join(f'{share:g}' for share in example.shares.values())} |" in page
