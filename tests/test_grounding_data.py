"""The loader of answer-grounding questions refuses every row that its own boxes contradict, and says which."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import typer
from PIL import Image
from support.native import image
from typer.testing import CliRunner

from georefusal_task import grounding_data
from georefusal_task.benchmarks.grounding_records import QuestionType
from georefusal_task.commands.check_data import check_data
from georefusal_task.core.errors import ConfigError, DataError
from georefusal_task.grounding_rows import right_answer

Row = dict[str, Any]

BOX, OTHER = [10, 20, 50, 40], [[60, 60], [90, 65], [85, 90], [55, 80]]


def row(**changes: Any) -> Row:
    return {
        "id": "q-1",
        "type": "counting",
        "classes": ["ship"],
        "question": "How many ships are there?",
        "answer": "2",
        "image": "images/a.png",
        "width": 200,
        "height": 100,
        "image_id": "a",
        "instances": {"ship": [BOX, OTHER]},
    } | changes


def two(type_: str, ships: int, planes: int, answer: str) -> Row:
    outlines = {"ship": [BOX] * ships, "plane": [OTHER] * planes}
    return row(type=type_, classes=["ship", "plane"], instances=outlines, answer=answer)


def make(folder: Path, *rows: Row) -> Path:
    (folder / "images").mkdir(parents=True)
    Image.new("RGB", (200, 100), "teal").save(folder / "images" / "a.png")
    (folder / "questions.jsonl").write_text("".join(json.dumps(one) + "\n" for one in rows), "utf-8")
    return folder


def test_boxes_and_polygons_come_back_as_corners(tmp_path: Path) -> None:
    """Boxes are x0, y0, x1, y1, never x, y, width, height."""
    found = grounding_data.load(make(tmp_path, row()))
    (question,), (gold,) = found.questions, found.golds
    assert repr(gold.instances["ship"][0]) == "((10.0, 20.0), (50.0, 20.0), (50.0, 40.0), (10.0, 40.0))"
    assert gold.instances["ship"][1] == ((60, 60), (90, 65), (85, 90), (55, 80))
    assert question.image == tmp_path / "images" / "a.png"
    assert found.by_id["q-1"] == (question, gold)
    assert not found.warnings


@pytest.mark.parametrize(("given", "read"), [("Yes", "yes"), (" no ", "no"), ("007", "7"), (7, "7"), (0, "0")], ids=str)
def test_spellings_of_answers(tmp_path: Path, given: object, read: str) -> None:
    boxes = {"ship": [BOX] * (int(read) if read.isdigit() else read == "yes")}
    type_ = "counting" if read.isdigit() else "existence"
    found = grounding_data.load(make(tmp_path, row(answer=given, type=type_, instances=boxes)))
    assert found.golds[0].answer == read


def test_one_class_may_stand_as_a_name(tmp_path: Path) -> None:
    one = row()
    one["class"] = one.pop("classes")[0]
    assert grounding_data.load(make(tmp_path, one)).questions[0].classes == ("ship",)


@pytest.mark.parametrize(
    ("type_", "counts", "answer"),
    [
        ("existence", [0], "no"),
        ("existence", [3], "yes"),
        ("counting", [0], "0"),
        ("counting", [12], "12"),
        ("more", [2, 1], "yes"),
        ("more", [1, 1], "no"),
        ("more", [1, 2], "no"),
        ("fewer", [1, 2], "yes"),
        ("fewer", [1, 1], "no"),
        ("fewer", [2, 1], "no"),
        ("equal", [1, 1], "yes"),
        ("equal", [0, 1], "no"),
    ],
)
def test_the_answer_that_follows(type_: str, counts: list[int], answer: str) -> None:
    assert right_answer(QuestionType(type_), counts) == answer


@pytest.mark.parametrize(
    ("spoilt", "says"),
    [
        (row(type="area"), r"type 'area' is unknown; there are existence, counting, more, fewer, equal"),
        (row(answer="3"), r"'3', but its instances \(2 of ship\) make it '2'"),
        (row(answer="no", type="existence"), r"'no', but its instances \(2 of ship\) make it 'yes'"),
        (two("more", 1, 1, "yes"), r"\(1 of ship and 1 of plane\) make it 'no'"),
        (two("fewer", 2, 1, "yes"), "make it 'no'"),
        (two("equal", 2, 1, "yes"), "make it 'no'"),
        (row(answer="2.0"), "'2.0' is neither yes nor no nor a whole number"),
        (row(answer=True), "True is neither"),
        (row(answer=-1), "-1 is neither"),
        (row(width=0), "width 0: "),
        (row(question=None), "question None: "),
        (row(image_id=5), "image_id 5: "),
        (row(classes=[]), "neither a name nor a list"),
        (row(classes=["ship", "ship"]), "one and the same"),
        (row(classes=["ship", "plane"]), "counting is about one class, not"),
        (row(classes=["plane"]), "instances are given of 'ship', but asked about is plane"),
        (row(type="more", answer="yes"), "of type more compares two classes"),
        (row(instances={"ship": [BOX], "plane": []}), "instances are given of 'ship', 'plane'"),
        (row(instances={"ship": [[10, 20, 201, 40], OTHER]}), "instance 1 of ship.*outside the image of 200 x 100"),
        (row(instances={"ship": [[-1, 20, 50, 40], OTHER]}), "outside the image"),
        (row(instances={"ship": [[10, 20, 50, 101], OTHER]}), "outside the image"),
        (row(instances={"ship": [BOX, [10, 40, 50, 20]]}), "neither a box"),
        (
            row(instances={"ship": [BOX, [50, 40, 10, 20]]}),
            r"instance 2 of ship is \[50, 40, 10, 20\], neither a box .* with x0 < x1",
        ),
        (row(instances={"ship": [BOX, [1, 2, 3]]}), "neither a box"),
        (row(instances={"ship": [BOX, [1, 2, 10**400, 4]]}), "neither a box"),
        (row(instances={"ship": [BOX, [1, 2, float("nan"), 4]]}), "neither a box"),
        (row(instances={"ship": [BOX, [[1, 1], [2, 2], [3, 3]]]}), "encloses no area"),
        (row(instances={"ship": 2}), "are no list but 2"),
        (row(width=100), r"a.png is 200 x 100 pixels, but the row says 100 x 100"),
        (row(image="images/b.png"), "no file 'images/b.png'"),
        (row(image="/etc/passwd"), "leads out of the folder"),
        (row(image="../a.png"), "leads out of the folder"),
        (row(image=3), "the image 3 is no path"),
        (row(id="a/b"), "'a/b'"),
        (row(question=""), "''"),
    ],
)
def test_a_wrong_value_is_quoted_with_file_line_and_id(tmp_path: Path, spoilt: Row, says: str) -> None:
    sound = row(id="q-0")
    with pytest.raises(DataError, match=says) as caught:
        grounding_data.load(make(tmp_path, sound, spoilt))
    assert f"questions.jsonl line 2 ({spoilt['id']!r})" in str(caught.value)


def test_all_wrong_rows_are_told_at_once(tmp_path: Path) -> None:
    with pytest.raises(DataError) as caught:
        grounding_data.load(make(tmp_path, row(answer="9"), row(id="q-2"), row(id="q-3", type="x")))
    assert "line 1" in str(caught.value)
    assert "line 3" in str(caught.value)
    assert "line 2" not in str(caught.value)


def test_a_missing_column_names_those_found_and_expected(tmp_path: Path) -> None:
    wrong = row()
    wrong["label"] = wrong.pop("answer")
    with pytest.raises(DataError, match=r"no column answer: found 'id', 'type'.*'label'; expected id, type, classes"):
        grounding_data.load(make(tmp_path, wrong))


def test_an_id_stands_once(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"line 2 \('q-1'\): the id 'q-1' stands already in questions.jsonl line 1"):
        grounding_data.load(make(tmp_path, row(), row(question="Again?")))


def test_a_truncated_image_is_refused(tmp_path: Path) -> None:
    """Half a PNG decodes as black rows where a harness lets it: a box on black would score."""
    folder = make(tmp_path, row())
    image(folder / "images" / "a.png", cut=True)
    with pytest.raises(DataError, match=r"a\.png: it is cut off"):
        grounding_data.load(folder)


def test_json_that_is_none(tmp_path: Path) -> None:
    folder = make(tmp_path, row())
    with (folder / "questions.jsonl").open("a") as file:
        file.write("{oops\n")
    with pytest.raises(DataError, match=r"questions\.jsonl line 2 is not JSON"):
        grounding_data.load(folder)


def test_a_changed_byte_shows_in_the_sums(tmp_path: Path) -> None:
    folder = make(tmp_path, row())
    (folder / "SHA256SUMS").write_text(f"{'0' * 64}  questions.jsonl\n")
    with pytest.raises(DataError, match="SHA256SUMS says 000"):
        grounding_data.load(folder)


def test_the_folder_comes_from_the_path_or_the_variable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GRSVQA_DATA", raising=False)
    with pytest.raises(ConfigError, match=r"set GRSVQA_DATA.*georefusal build grsvqa.*grsvqa_mini"):
        grounding_data.load()
    monkeypatch.setenv("GRSVQA_DATA", str(make(tmp_path / "set", row())))
    assert "GRSVQA_DATA" in grounding_data.load().source
    with pytest.raises(DataError, match=r"has no questions\.jsonl"):
        grounding_data.load(tmp_path)
    with pytest.raises(DataError, match="is not there"):
        grounding_data.load(tmp_path / "nothing")
    (tmp_path / "set" / "questions.jsonl").write_text("\n")
    with pytest.raises(DataError, match="has no rows"):
        grounding_data.load()


def test_the_digest_is_of_the_content_not_of_the_order(tmp_path: Path) -> None:
    rows = [row(), row(id="q-2", question="What is the number of ships?")]
    first = grounding_data.load(make(tmp_path / "a", *rows))
    again = grounding_data.load(make(tmp_path / "b", *rows[::-1]))
    other = grounding_data.load(make(tmp_path / "c", rows[0], row(id="q-2", instances={"ship": [OTHER, BOX]})))
    assert first.digest == again.digest != other.digest
    assert [one.id for one in again.questions] == ["q-1", "q-2"]


def test_a_repeated_question_is_a_warning(tmp_path: Path) -> None:
    assert "q-1, q-2" in grounding_data.load(make(tmp_path, row(), row(id="q-2"))).warnings[0]


def run(*arguments: object) -> Any:
    app = typer.Typer()
    app.command()(check_data)
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def test_check_data_counts_types_and_answers(tmp_path: Path) -> None:
    folder = make(tmp_path, row(), row(id="q-2", type="existence", answer="no", instances={"ship": []}))
    result = run("--data", folder)
    assert result.exit_code == 0, result.stderr
    assert grounding_data.load(folder).digest in result.stdout
    lines = {line.split()[0]: line.split()[1:] for line in result.stdout.splitlines() if line}
    assert lines["existence"] == ["1", "0", "1"]
    assert lines["counts"] == ["2:", "1"]
    assert "scored for support: 1 " in result.stdout


@pytest.mark.parametrize(
    ("spoil", "says"),
    [
        (lambda folder: flip(folder / "images" / "a.png"), "1 of 1 images cannot be used"),
        (lambda folder: (folder / "questions.jsonl").write_text("[]x"), "questions.jsonl is not JSON"),
    ],
)
def test_check_data_fails_on_what_is_not_sound(tmp_path: Path, spoil: Callable[[Path], object], says: str) -> None:
    folder = make(tmp_path, row())
    spoil(folder)
    result = run("--data", folder)
    assert result.exit_code == 1
    assert says in result.stderr


def flip(file: Path) -> None:
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)


def test_the_card_of_the_other_benchmark_does_not_apply(tmp_path: Path) -> None:
    result = run("--data", make(tmp_path, row()), "--released")
    assert result.exit_code == 1
    assert "answer-grounding" in result.stderr
