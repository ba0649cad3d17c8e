"""A set in the released layout loads in every form of its files, and whatever is wrong with it is named."""

import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from support.twin import POISON, make_twin

from georefusal_task import data_source
from georefusal_task.core.errors import DataError
from georefusal_task.core.verdicts import Verdict
from georefusal_task.data import Benchmark, load


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """A sound set of twelve items."""
    return make_twin(tmp_path / "small", n=12)


def rows(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text().splitlines()]


def rewrite(file: Path, change: Callable[[list[dict[str, Any]]], object]) -> None:
    """Change the rows of a JSONL file in place."""
    found = rows(file)
    change(found)
    file.write_text("".join(json.dumps(row) + "\n" for row in found))


def refused(folder: Path) -> str:
    """Return the message with which the loader refuses a folder."""
    with pytest.raises(DataError) as caught:
        load(folder)
    return str(caught.value)


# --- what loads


def test_the_twin_has_the_counts_of_the_card(tmp_path: Path) -> None:
    benchmark = load(make_twin(tmp_path))
    labels = [item.label for item in benchmark.items]
    assert len(labels) == len(benchmark.by_id) == 587
    assert sum(Verdict.ANSWER in label.accept for label in labels) == 295  # always-answer: 295/587 = 50.26 %
    assert sum(len(label.accept) > 1 for label in labels) == 15
    assert len({(item.image_sha256, item.case.question) for item in benchmark.items}) == 586
    assert len({label.lever for label in labels}) == 83
    assert Counter(label.anchor == "consensus" for label in labels) == {True: 394, False: 193}
    assert [label.score_answer for label in labels].count(False) == 3
    assert benchmark.items == tuple(sorted(benchmark.items, key=lambda item: (item.case.set, item.case.id)))


@pytest.mark.parametrize(
    "form",
    [
        {"spelling": "other", "bare": True, "accept": "bar", "shuffle": True},
        {"spelling": "verdict", "format": "parquet", "accept": "json", "sums": True},
        {"spelling": "shouting", "format": "json", "accept": "comma"},
        {"format": "hub-parquet", "embed": True},
        {"format": "one-file", "drop": ["set"], "accept": "semicolon"},
        {"drop": ["gold"]},
        {"provenance": "none"},
    ],
    ids=str,
)
def test_the_digest_knows_content_not_form(tmp_path: Path, form: dict[str, Any]) -> None:
    """Two people with the same data in other files must see the same digest, or nobody compares it."""
    assert load(make_twin(tmp_path / "form", n=60, **form)).digest == load(make_twin(tmp_path / "plain", n=60)).digest


@pytest.mark.parametrize("image", ["{name}", "{set}/{name}", "images/{set}/{name}", "./images/{set}/{name}"])
def test_images_are_found_from_any_start(small: Path, image: str) -> None:
    """Rows that name the bare file did not match images/<set>/ in another loader."""

    def respell(cases: list[dict[str, Any]]) -> None:
        for row in cases:
            row["image"] = image.format(set=row["set"], name=Path(row["image"]).name)

    before = load(small)
    for file in (small / "cases").iterdir():
        rewrite(file, respell)
    after = load(small)
    assert after.digest == before.digest
    assert all(item.case.image.is_absolute() and item.case.image.is_file() for item in after.items)


def test_embedded_images_are_unpacked_byte_for_byte(tmp_path: Path) -> None:
    plain = load(make_twin(tmp_path / "plain", n=6))
    embedded = load(make_twin(tmp_path / "embedded", n=6, format="parquet", embed=True))
    again = load(tmp_path / "embedded")
    for one, two in zip(plain.items, embedded.items, strict=True):
        assert one.case.image.read_bytes() == two.case.image.read_bytes()
    assert [item.case.image for item in again.items] == [item.case.image for item in embedded.items]
    damaged = embedded.items[0].case.image
    damaged.write_bytes(damaged.read_bytes()[:100])
    assert load(tmp_path / "embedded") == embedded, "a damaged unpacked copy is written again"


def test_an_absolute_path_into_the_folder_is_one_inside_it(small: Path) -> None:
    """`datasets` writes an Image feature like this unless it is told to embed the bytes."""
    before = load(small).digest
    rewrite(
        small / "cases/A.jsonl",
        lambda cases: [row.update(image={"bytes": None, "path": str(small / row["image"])}) for row in cases],
    )
    assert load(small).digest == before
    rewrite(small / "cases/A.jsonl", lambda cases: cases[0].update(image=f"{small}/images/../../small.png"))
    assert "leads out of the folder" in refused(small)


@pytest.mark.parametrize(
    "write",
    [
        lambda text: "\ufeff" + text,
        lambda text: text.replace("\n", "\r\n"),
        lambda text: text.replace("\n", "\n\n  \n"),
        lambda text: text.rstrip("\n"),
        lambda text: "[" + ",".join(text.strip().split("\n")) + "]",
    ],
    ids=["byte-order mark", "CRLF", "blank lines", "no last newline", "array in .jsonl"],
)
def test_harmless_differences_between_json_writers(small: Path, write: Callable[[str], str]) -> None:
    before = load(small).digest
    file = small / "cases/A.jsonl"
    file.write_text(write(file.read_text()), newline="")
    assert load(small).digest == before


def test_a_line_separator_inside_a_question_does_not_end_the_line(small: Path) -> None:
    """str.splitlines cuts at U+2028, which JSON does not escape."""
    file = small / "cases/A.jsonl"
    text = file.read_text().replace("Is there", "Is\u2028there", 1)
    file.write_text(text)
    assert sum("\u2028" in item.case.question for item in load(small).items) == 1


def test_hidden_and_foreign_files_are_no_tables(small: Path) -> None:
    before = load(small).digest
    (small / "cases/._A.jsonl").write_bytes(b"\x00\x05\x16")
    (small / "labels/README.md").write_text("labels")
    (small / "labels/.ipynb_checkpoints").mkdir()
    (small / "labels/.ipynb_checkpoints/A.jsonl").write_text("{")
    assert load(small).digest == before


def test_parts_of_a_set_may_be_links(small: Path, tmp_path: Path) -> None:
    """A snapshot in the Hub's cache consists of links to files with other names."""
    linked = tmp_path / "linked"
    linked.mkdir()
    (linked / "cases").symlink_to(small / "cases")
    (linked / "images").symlink_to(small / "images")
    (linked / "labels").mkdir()
    for number, file in enumerate((small / "labels").iterdir()):
        (linked / "labels" / f"{number}.jsonl").symlink_to(file)
    assert load(linked).digest == load(small).digest


def test_a_folder_name_that_is_not_utf_8(small: Path) -> None:
    other = small.rename(os.fsdecode(os.fsencode(small) + b"\xff"))
    assert len(load(other).items) == 12


# --- the digest


@pytest.mark.parametrize(
    "change",
    [
        lambda folder: rewrite(folder / "cases/A.jsonl", lambda cases: cases[0].update(question="Is it?")),
        lambda folder: rewrite(folder / "labels/A.jsonl", lambda labels: labels[0].update(lever="another")),
        lambda folder: min((folder / "images/A").iterdir()).write_bytes(
            min((folder / "images/B").iterdir()).read_bytes()
        ),
    ],
    ids=["question", "label", "image"],
)
def test_other_content_has_another_digest(small: Path, change: Callable[[Path], object]) -> None:
    """The host's reply cache compares neither images nor labels: this digest is what keeps stale replies out."""
    before = load(small)
    change(small)
    assert load(small).digest != before.digest


def test_a_changed_image_is_noticed_although_size_and_time_are_the_same(small: Path) -> None:
    """A remembered digest that trusts the modification time serves the old one after `cp -p`."""
    before = load(small)
    image = before.items[0].case.image
    old = image.stat()
    content = bytearray(image.read_bytes())
    content[-20] ^= 1
    image.write_bytes(content)
    os.utime(image, ns=(old.st_atime_ns, old.st_mtime_ns))
    assert image.stat().st_mtime_ns == old.st_mtime_ns
    assert load(small).digest != before.digest


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"x": 1}', b"\xff"])
def test_a_damaged_digest_cache_is_made_again(small: Path, content: bytes) -> None:
    before = load(small).digest
    (stored,) = (Path(os.environ["XDG_CACHE_HOME"]) / "georefusal/digests").iterdir()
    stored.write_bytes(content)
    assert load(small).digest == before
    assert len(json.loads(stored.read_bytes())) >= 11  # eleven image files: one pair of items shares its pixels


def test_a_cache_that_cannot_be_written_is_no_obstacle(small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = load(small).digest
    monkeypatch.setenv("XDG_CACHE_HOME", str(small / "cases/A.jsonl"))
    assert load(small).digest == before


def test_a_user_without_a_home_can_load(small: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def no_home() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setattr(Path, "home", no_home)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    assert len(load(small).items) == 12


def test_embedded_images_need_a_cache_and_say_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = make_twin(tmp_path, n=6, format="parquet", embed=True)
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder / "cases/A.parquet"))
    assert "set XDG_CACHE_HOME" in refused(folder)


# --- provenance


def test_provenance_is_never_opened(tmp_path: Path) -> None:
    """Its metadata alone give the verdicts away, so nothing of it may be on any path to a prompt."""
    folder = make_twin(tmp_path / "set", n=20, sums=True)
    (folder / "provenance/images").mkdir()
    watch = (
        "import sys; opened = []\n"
        "sys.addaudithook(lambda event, args: opened.append(event) if 'set/provenance' in str(args) else None)\n"
        "from georefusal_task.data import load\n"
        "benchmark = load(sys.argv[1])\n"
        "print(opened, repr(benchmark))"
    )
    seen = subprocess.run(
        [sys.executable, "-c", watch, str(folder)], capture_output=True, text=True, check=True, env=dict(os.environ)
    ).stdout
    assert seen.startswith("[] Benchmark(")
    assert POISON not in seen


def test_an_image_cannot_be_a_provenance_file(small: Path) -> None:
    rewrite(small / "cases/A.jsonl", lambda cases: cases[0].update(image="./provenance/A.jsonl"))
    assert "provenance, which is never opened" in refused(small)


# --- what is refused, and how it is told


def test_the_same_id_twice_is_refused_naming_both_places(small: Path) -> None:
    first, *_ = rows(small / "cases/A.jsonl")
    rewrite(small / "cases/A.jsonl", lambda cases: cases.append(first))
    message = refused(small)
    assert f"cases/A.jsonl line {len(rows(small / 'cases/A.jsonl'))}" in message
    assert f"'{first['id']}' stands already in cases/A.jsonl line 1" in message


def test_the_same_id_in_two_files_is_refused(small: Path) -> None:
    (small / "labels/again.json").write_text(json.dumps(rows(small / "labels/B.jsonl")[:1]))
    assert "labels/again.json row 1" in refused(small)


@pytest.mark.parametrize(("table", "says"), [("cases", "label has no case"), ("labels", "case has no label")])
def test_cases_and_labels_must_match(small: Path, table: str, says: str) -> None:
    gone = rows(small / table / "C.jsonl")[0]["id"]
    rewrite(small / table / "C.jsonl", lambda found: found.pop(0))
    assert f"{gone}: the {says}" in refused(small)


def test_all_labels_missing(small: Path) -> None:
    for file in (small / "labels").iterdir():
        file.unlink()
    message = refused(small)
    assert "has no labels" in message
    assert "the folder holds cases, images, labels, provenance" in message


def test_a_set_without_rows_is_refused(small: Path) -> None:
    for file in [*(small / "cases").iterdir(), *(small / "labels").iterdir()]:
        file.write_text("")
    assert "its tables have no rows" in refused(small)


def test_a_wrong_value_is_named_with_file_line_id_and_value(small: Path) -> None:
    rewrite(small / "labels/B.jsonl", lambda labels: labels[1].update(gold="REFUSE_GRANULARITY_MISSMATCH"))
    item_id = rows(small / "labels/B.jsonl")[1]["id"]
    assert f"labels/B.jsonl line 2 ('{item_id}'): column 'gold': 'REFUSE_GRANULARITY_MISSMATCH'" in refused(small)


def test_a_missing_column_is_told_once_per_file(small: Path) -> None:
    for name in "AB":
        rewrite(small / f"cases/{name}.jsonl", lambda cases: [row.update(text=row.pop("question")) for row in cases])
    message = refused(small)
    assert message.count("no column means question: found 'id', 'set', 'image', 'text'") == 2


def test_many_problems_are_shown_together_and_counted(tmp_path: Path) -> None:
    folder = make_twin(tmp_path, n=47)
    for file in (folder / "labels").iterdir():
        rewrite(file, lambda labels: [row.update(intensity="EXTREME") for row in labels])
    message = refused(folder)
    assert message.count("'EXTREME' is not an intensity") == 10
    assert message.endswith("... and 37 more")


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b'{"id": "A-1", ', "cases/A.jsonl line 1 is not JSON"),
        (b"[3]", "cases/A.jsonl row 1: 3 is not a JSON object"),
        (b"[" * 100_000, "is not JSON"),
        (b"null\n", "line 1: None is not a JSON object"),
        (b'{"id": "A-1", "id": "A-2"}', "the key 'id' stands twice, with 'A-1' and 'A-2'"),
        (b'\xff\xfe{"id"', "is not UTF-8"),
    ],
    ids=["cut off", "not an object", "deep nesting", "null", "double key", "UTF-16"],
)
def test_a_broken_table_is_named(small: Path, content: bytes, says: str) -> None:
    (small / "cases/A.jsonl").write_bytes(content)
    assert says in refused(small)


def test_a_broken_parquet_file_is_named(tmp_path: Path) -> None:
    folder = make_twin(tmp_path, n=12, format="parquet")
    file = folder / "labels/A.parquet"
    file.write_bytes(file.read_bytes()[:-20])
    assert "labels/A.parquet is not a whole parquet file" in refused(folder)


@pytest.mark.parametrize(
    ("image", "says"),
    [
        ("images/A/none.png", "no file 'images/A/none.png'"),
        ("../outside.png", "leads out of the folder"),
        ("images/../../outside.png", "leads out of the folder"),
        ("/etc/hostname", "leads out of the folder"),
        ("images/A", "no file"),
        (".", "no file"),
        ("a\0b", "leads out of the folder"),
        ("x" * 5000, "no file"),
        (" ", "neither a path nor"),
        (7, "neither a path nor"),
        ({"bytes": None, "path": None}, "neither a path nor"),
        ({"path": "/etc/hostname"}, "leads out of the folder"),
    ],
)
def test_an_image_that_is_not_in_the_folder_is_refused(small: Path, image: object, says: str) -> None:
    (small.parent / "outside.png").write_bytes(next((small / "images/A").iterdir()).read_bytes())
    rewrite(small / "cases/A.jsonl", lambda cases: cases[0].update(image=image))
    message = refused(small)
    assert says in message
    assert "cases/A.jsonl line 1" in message


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (lambda whole: b"", "it is empty"),
        (lambda whole: whole[: len(whole) // 2], "cut off"),
        (lambda whole: whole[:-1], "cut off"),
        (lambda whole: b"version https://git-lfs.github.com/spec/v1\n", "git lfs pull"),
    ],
    ids=["empty", "half", "last byte missing", "LFS pointer"],
)
def test_a_broken_image_stops_the_load_not_the_run(small: Path, content: Callable[[bytes], bytes], says: str) -> None:
    image = min((small / "images/B").iterdir())
    image.write_bytes(content(image.read_bytes()))
    message = refused(small)
    assert f"{image.stem}: image {image.name}" in message
    assert says in message


def test_half_a_jpeg_stops_the_load_too(small: Path) -> None:
    row = rows(small / "cases/A.jsonl")[0]
    with Image.open(small / row["image"]) as image:
        image.save(small / "images/A/photo.jpg")
    rewrite(small / "cases/A.jsonl", lambda cases: cases[0].update(image="images/A/photo.jpg"))
    load(small)
    content = (small / "images/A/photo.jpg").read_bytes()
    (small / "images/A/photo.jpg").write_bytes(content[: len(content) // 2])
    assert f"{row['id']}: image photo.jpg: it is cut off" in refused(small)


@pytest.mark.parametrize("where", ["images/A", "labels"])
def test_sums_are_checked(tmp_path: Path, where: str) -> None:
    folder = make_twin(tmp_path, n=12, sums=True)
    load(folder)
    file = min((folder / where).iterdir())
    content = bytearray(file.read_bytes())
    content[-14] ^= 1
    file.write_bytes(content)
    assert f"{file.relative_to(folder)}: SHA256SUMS says" in refused(folder)


def test_sums_may_be_written_as_other_tools_do(tmp_path: Path) -> None:
    folder = make_twin(tmp_path, n=12, sums=True)
    sums = folder / "SHA256SUMS"
    lines = [line.split("  ") for line in sums.read_text().splitlines()]
    sums.write_text("\r\n".join(f"{digest.upper()} *./{name}" for digest, name in lines), newline="")
    load(folder)
    image = min((folder / "images/A").iterdir())
    image.write_bytes(max((folder / "images/B").iterdir()).read_bytes())
    assert f"images/A/{image.name}: SHA256SUMS says" in refused(folder)


def test_a_malformed_sums_file_is_refused(tmp_path: Path) -> None:
    folder = make_twin(tmp_path, n=6)
    (folder / "SHA256SUMS").write_text("MD5 (cases/A.jsonl) = 0\n")
    assert "SHA256SUMS line 1" in refused(folder)
    (folder / "SHA256SUMS").write_bytes(b"\xff\xfe")
    assert "SHA256SUMS line 1" in refused(folder)


# --- answer-level exclusions


def test_a_column_decides_over_the_wording(tmp_path: Path) -> None:
    folder = make_twin(tmp_path, score_answer=True)
    rewrite(folder / "labels/B.jsonl", lambda labels: [row.update(score_answer=True) for row in labels])
    rewrite(folder / "labels/A.jsonl", lambda labels: labels[0].update(score_answer=False))
    excluded = [item.case.id for item in load(folder).items if not item.label.score_answer]
    assert excluded == [rows(folder / "labels/A.jsonl")[0]["id"]]


def test_the_wording_names_the_three_in_the_released_set(tmp_path: Path) -> None:
    benchmark = load(make_twin(tmp_path))
    excluded = [item for item in benchmark.items if not item.label.score_answer]
    assert [(item.label.set, item.label.intensity) for item in excluded] == [("B", "LOW")] * 3
    (warning,) = benchmark.warnings
    assert all(item.case.id in warning for item in excluded)


def test_another_number_than_three_leaves_them_unknown(tmp_path: Path) -> None:
    """Guessing which items the card means would make yesno_acc another number than the paper's."""
    folder = make_twin(tmp_path)
    asked = next(item for item in load(folder).items if not item.label.score_answer)
    rewrite(
        folder / "cases/B.jsonl",
        lambda cases: [row.update(question="Is there a roof?") for row in cases if row["id"] == asked.case.id],
    )
    benchmark = load(folder)
    assert {item.label.score_answer for item in benchmark.items} == {None}
    assert "the card speaks of 3" in benchmark.warnings[0]


def test_other_sets_leave_nothing_out(tmp_path: Path) -> None:
    benchmark = load(make_twin(tmp_path, n=586))
    assert {item.label.score_answer for item in benchmark.items} == {True}
    assert benchmark.warnings == ()


@pytest.mark.parametrize(
    ("question", "conditional"),
    [
        ("Is there a ship? If so, is it moored?", True),
        ("Is there a ship? If yes, is it moored?", True),
        ("Is there a ship? If any, how many?", True),
        ("Is there a ship, and if so, is it moored?", True),
        ("Is there a ship, if so is it moored?", True),
        ("Is there a ship; if there is, is it moored?", True),
        ("Is there a ship? And if not, is there a plane?", True),
        ("Is there a ship? In that case, is it moored?", True),
        ("Is there a ship in the image?", False),
        ("If the pier is visible, is a ship moored at it?", False),
        ("Can one tell if the ship is moored?", False),
        ("Are the ships, if any, moored?", False),
        ("Is there a ship and a plane?", False),
        ("Is the lift in that casement visible?", False),
    ],
)
def test_conditional_second_clauses(question: str, conditional: bool) -> None:
    from georefusal_task.data import _SECOND_CLAUSE

    assert bool(_SECOND_CLAUSE.search(question)) is conditional


# --- where the data come from


def test_an_explicit_folder_wins_over_the_variable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    named, given = make_twin(tmp_path / "named", n=6), make_twin(tmp_path / "given", n=9)
    monkeypatch.setenv("GEOREFUSAL_DATA", str(named))
    assert len(load().items) == 6
    assert "GEOREFUSAL_DATA" in load().source
    assert len(load(given).items) == 9


def test_the_variable_wins_over_the_hub(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("GEOREFUSAL_DATA", str(tmp_path / "gone"))
    with pytest.raises(DataError, match=r"gone \(GEOREFUSAL_DATA\) is not there"):
        load()


def test_an_empty_variable_is_as_good_as_unset(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GEOREFUSAL_DATA", "")
    monkeypatch.setattr(data_source, "_snapshot", lambda: (_ for _ in ()).throw(DataError("asked the Hub")))
    with pytest.raises(DataError, match="asked the Hub"):
        load()


def test_a_file_is_not_a_folder(small: Path) -> None:
    assert "is not a folder" in refused(small / "cases/A.jsonl")


def test_importing_the_loader_is_light() -> None:
    heavy = ("PIL", "pyarrow", "huggingface_hub", "datasets", "torch", "scipy", "lmms_eval")
    code = f"import sys, georefusal_task.data; print([name for name in {heavy} if name in sys.modules])"
    seen = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert seen.stdout.strip() == "[]"


def test_a_benchmark_is_a_value(small: Path) -> None:
    assert load(small) == load(small)
    assert isinstance(load(small), Benchmark)
