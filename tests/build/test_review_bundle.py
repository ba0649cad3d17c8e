"""A bundle shows images and questions and nothing else, in an order that gives nothing away."""

import hashlib
import json
from itertools import combinations
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image
from PIL.PngImagePlugin import PngInfo
from support.review import bundle_of
from support.twin import make_twin

from georefusal_build.layout import read_provenance, read_set, write_set
from georefusal_build.review.bundle import key_path, read_bundle, read_key
from georefusal_build.review.export import plain_png
from georefusal_build.review.schedule import schedule
from georefusal_build.streams import Stream
from georefusal_task.benchmarks.prompts import PRECEDENCE_TEXT, PROMPTS
from georefusal_task.core.errors import ConfigError, DataError
from georefusal_task.core.verdicts import MEANINGS
from georefusal_task.data import load, load_mini


@given(
    st.dictionaries(st.text("abcdef", min_size=1), st.frozensets(st.integers(0, 5).map(str), max_size=2), max_size=40),
    st.integers(1, 12),
    st.integers(0, 3),
)
def test_sessions_hold_each_key_once_and_no_two_that_are_tied(
    ties: dict[str, frozenset[str]], limit: int, seed: int
) -> None:
    """Two questions on one image in a session would let a reviewer infer the label of the second."""
    sessions = schedule(ties, limit, Stream(seed))
    assert sorted(key for session in sessions for key in session) == sorted(ties)
    for session in sessions:
        assert 1 <= len(session) <= limit
        assert all(not ties[a] & ties[b] for a, b in combinations(session, 2))


def test_sessions_are_as_few_and_as_even_as_they_can_be() -> None:
    ties = {f"{n:03}": frozenset({f"image {n // 2}"}) for n in range(120)}
    sessions = schedule(ties, 50, Stream(1))
    assert len(sessions) == 3
    assert {len(session) for session in sessions} <= {39, 40, 41}
    assert sessions != schedule(ties, 50, Stream(2))


def test_the_bundle_holds_nothing_but_what_a_reviewer_may_know(tmp_path: Path) -> None:
    """A label, a lever or an id in the bundle would end the blindness, whatever the page shows."""
    folder, bundle, key = bundle_of(tmp_path)
    files = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
    assert files == ["bundle.json", *(f"images/{one}.png" for one in sorted(bundle.items))]
    text = (folder / "bundle.json").read_text()
    rows = read_provenance(load_mini().folder or tmp_path)
    for item in load_mini().items:
        row = rows[item.case.id]
        secrets = [item.case.id, item.label.lever, row["base_id"], row["base_image"], row["source"], item.image_sha256]
        assert [secret for secret in secrets if secret in text] == []
    assert str(key.seed) not in [*bundle.items, bundle.id, bundle.seal]
    content = json.loads(text)
    assert set(content) == {"schema", "id", "kind", "seal", "texts", "reviewers", "items"}
    assert {name for shown in content["items"].values() for name in shown} == {"question", "content", "votes"}
    assert {path.stat().st_mtime for path in (folder / "images").iterdir()} == {0.0}


def test_the_words_are_those_of_the_prompt(tmp_path: Path) -> None:
    """People and models must be told the same, or their agreement means nothing."""
    _, bundle, _ = bundle_of(tmp_path)
    assert bundle.texts.verdicts == MEANINGS
    assert bundle.texts.precedence == PRECEDENCE_TEXT
    assert bundle.texts.precedence in PROMPTS["default"].instruction


def test_every_item_comes_once_and_some_come_twice(tmp_path: Path) -> None:
    mini = load_mini()
    _, bundle, key = bundle_of(tmp_path, repeats=0.2, catch=0.1)
    by_role = {role: [k.item for k in key.items.values() if k.role == role] for role in ("item", "repeat", "catch")}
    assert sorted(by_role["item"]) == sorted(mini.by_id)
    assert len(set(by_role["repeat"])) == len(by_role["repeat"]) == round(0.2 * len(mini.items))
    assert by_role["catch"] == []  # the mini set names base images that are not in its folder ...
    watched = [k.item for k in key.items.values() if k.expects_answer]
    assert len(watched) == round(0.1 * len(mini.items))  # ... so answerable items are watched
    assert {(mini.by_id[item].label.gold, mini.by_id[item].label.intensity) for item in watched} == {("ANSWER", "LOW")}
    for order in bundle.ballot.orders.values():
        assert sorted(order) == sorted(key.items)
    assert bundle.ballot.orders["a"] != bundle.ballot.orders["b"]


def test_one_image_never_comes_twice_in_a_session(tmp_path: Path) -> None:
    """Neither as a pair, nor as a repeat, nor as the base of a perturbed item."""
    paired = read_set(load_mini().folder or tmp_path)
    for number, item in enumerate(paired):  # every two of different images; the third of three is in no pair
        item.provenance["pair_id"] = None if number % 3 == 2 else f"pair-{number // 3}"
    write_set(tmp_path / "paired", paired)
    _, bundle, key = bundle_of(tmp_path, load(tmp_path / "paired"), repeats=0.3, session=25)
    rows = read_provenance(tmp_path / "paired")
    for sessions in bundle.reviewers.values():
        assert max(map(len, sessions)) <= 25
        for session in sessions:
            shown = [key.items[one] for one in session]
            images = [one.source_sha256 for one in shown]
            pairs = [pair for one in shown if (pair := rows[one.item]["pair_id"])]
            assert len(set(images)) == len(images)
            assert len(set(pairs)) == len(pairs)


def test_untouched_base_images_are_mixed_in_where_there_are_any(tmp_path: Path) -> None:
    data = make_twin(tmp_path / "data", n=40, provenance="none")
    (data / "bases").mkdir()
    rows = []
    for number, item in enumerate(load(data).items):
        Image.new("RGB", (64, 48), (number, 0, 0)).save(data / "bases" / f"{number}.png")
        base = {"base_image": f"bases/{number}.png", "base_question": "Is it red?", "base_answer": "yes"}
        rows.append({"id": item.case.id, **base})
    (data / "provenance").mkdir()
    (data / "provenance" / "all.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    _, bundle, key = bundle_of(tmp_path, load(data), catch=0.1)
    catch = {name: known for name, known in key.items.items() if known.role == "catch"}
    assert len(catch) == 4
    assert {(known.question, known.answer, known.expects_answer) for known in catch.values()} == {
        ("Is it red?", "yes", True)
    }
    assert not any(known.expects_answer for known in key.items.values() if known.role != "catch")
    own = {(known.item, known.role): name for name, known in key.items.items()}
    for session in bundle.reviewers["a"]:
        assert not any(name in session and own[known.item, "item"] in session for name, known in catch.items())


def test_a_seed_makes_the_same_bundle_and_another_seed_other_keys(tmp_path: Path) -> None:
    one, two, other = (bundle_of(tmp_path / str(n), seed=seed)[1] for n, seed in enumerate((7, 7, 8)))
    assert one == two
    assert not set(one.items) & set(other.items)


def test_images_lose_their_metadata_and_plain_ones_keep_their_bytes(tmp_path: Path) -> None:
    """A text chunk may say which scene it is."""
    secret, plain, jpeg = tmp_path / "secret.png", tmp_path / "plain.png", tmp_path / "photo.jpg"
    note = PngInfo()
    note.add_text("scene", "harbour-7")
    image = Image.new("RGB", (8, 8), (1, 2, 3))
    image.save(secret, pnginfo=note)
    image.save(plain)
    image.save(jpeg)
    assert b"harbour" in secret.read_bytes()
    assert b"harbour" not in plain_png(secret)
    assert plain_png(plain) == plain.read_bytes()
    assert plain_png(jpeg).startswith(b"\x89PNG")


def test_the_key_lies_beside_the_bundle_and_is_private(tmp_path: Path) -> None:
    folder, bundle, key = bundle_of(tmp_path)
    assert key_path(folder) == tmp_path / "bundle.key.json"
    assert key_path(folder).stat().st_mode & 0o077 == 0
    assert read_key(key_path(folder)) == key
    assert read_bundle(folder) == bundle
    assert bundle.ballot.contents == key.ballot.contents
    assert bundle.ballot.orders == key.ballot.orders


def test_a_second_bundle_of_the_same_name_is_refused(tmp_path: Path) -> None:
    folder, *_ = bundle_of(tmp_path)
    before = hashlib.sha256((folder / "bundle.json").read_bytes()).digest()
    with pytest.raises(ConfigError, match="exists; delete it"):
        bundle_of(tmp_path, seed=8)
    assert hashlib.sha256((folder / "bundle.json").read_bytes()).digest() == before


@pytest.mark.parametrize("harm", ["swapped", "link", "missing", "folder link", "question"])
def test_a_bundle_that_was_changed_is_not_served(tmp_path: Path, harm: str) -> None:
    """Votes would be bound to one image while another is shown."""
    folder, bundle, _ = bundle_of(tmp_path)
    one, two = (folder / "images" / f"{name}.png" for name in sorted(bundle.items)[:2])
    if harm == "swapped":
        one.write_bytes(Image.open(two).tobytes())
    elif harm == "link":
        copy = tmp_path / "copy.png"
        one.rename(copy)
        one.symlink_to(copy)
    elif harm == "missing":
        one.unlink()
    elif harm == "folder link":
        (folder / "images").rename(tmp_path / "elsewhere")
        (folder / "images").symlink_to(tmp_path / "elsewhere")
    else:
        content = json.loads((folder / "bundle.json").read_text())
        content["items"][one.stem]["question"] += " Really?"
        (folder / "bundle.json").write_text(json.dumps(content))
    with pytest.raises(DataError, match=r"export the bundle anew|holds its images itself"):
        read_bundle(folder)


def test_files_of_another_kind_are_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"has no bundle.json; `build review export` makes one"):
        read_bundle(tmp_path)
    (tmp_path / "x.key.json").write_text('{"schema": "review-bundle/1"}')
    with pytest.raises(DataError, match="is not the key of a review bundle"):
        read_key(tmp_path / "x.key.json")
