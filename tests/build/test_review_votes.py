"""Votes are appended, sealed and bound to what was seen; whatever is done to a line afterwards is found and named."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.review import bundle_of, fields, knows, says, vote_all

from georefusal_build.review import vote_file
from georefusal_build.review.bundle import Bundle, Key
from georefusal_build.review.joined import join, read_all, read_joined
from georefusal_build.review.vote_file import VoteFile
from georefusal_build.review.votes import read_votes
from georefusal_task.core.errors import ConfigError, DataError
from georefusal_task.data import load_mini

Lines = list[str]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Bundle, Key]:
    _, bundle, key = bundle_of(tmp_path_factory.mktemp("made"))
    return bundle, key


@pytest.fixture
def bundle(made: tuple[Bundle, Key]) -> Bundle:
    return made[0]


@pytest.fixture
def file(tmp_path: Path, bundle: Bundle) -> Path:
    """Six votes: four of a, two of b, in turns."""
    path = tmp_path / "votes.jsonl"
    votes = VoteFile(path, bundle.ballot)
    for reviewer, order in (("a", 1), ("b", 1), ("a", 2), ("a", 3), ("b", 2), ("a", 4)):
        votes.append(fields(bundle, reviewer, order))
    votes.close()
    return path


def test_what_is_written_is_read(file: Path, bundle: Bundle) -> None:
    found = read_votes(file, bundle.ballot)
    assert [(number, vote.reviewer, vote.seq) for number, vote in found.votes] == [
        (1, "a", 1), (2, "b", 1), (3, "a", 2), (4, "a", 3), (5, "b", 2), (6, "a", 4),
    ]  # fmt: skip
    assert found.torn == 0
    first = json.loads(file.read_text().splitlines()[0])
    assert {"schema", "item_id", "reviewer", "verdict", "answer", "alt", "confidence", "flags", "ms", "order"} < set(
        first
    )
    assert first["schema"] == "review/1"


def moved(lines: Lines) -> None:
    one, two = json.loads(lines[0]), json.loads(lines[2])
    lines[0] = json.dumps(one | {"item_id": two["item_id"], "order": two["order"]})


def moved_with_its_digest(lines: Lines) -> None:
    one, two = json.loads(lines[0]), json.loads(lines[2])
    lines[0] = json.dumps(one | {name: two[name] for name in ("item_id", "order", "content")})


def said(number: int, **change: Any) -> Callable[[Lines], None]:
    def harm(lines: Lines) -> None:
        lines[number - 1] = json.dumps(json.loads(lines[number - 1]) | change)

    return harm


FORGERIES: dict[str, tuple[Callable[[Lines], object], int, str]] = {
    "another verdict": (said(3, verdict="REFUSE_NONFACTUAL_QUERY"), 3, "the seal of this vote of a is wrong"),
    "another confidence": (said(6, confidence=1), 6, "was changed"),
    "moved to another image": (moved, 1, "was given for another image or question; it cannot be moved"),
    "moved with its digest": (moved_with_its_digest, 1, "the seal of this vote"),
    "another reviewer": (said(1, reviewer="b"), 1, "is not number 1 in the order of b|seal"),
    "a reviewer nobody knows": (said(1, reviewer="z"), 1, "'z' is no reviewer of this bundle; they are a, b"),
    "an item nobody knows": (said(1, item_id="0" * 12), 1, "the item '000000000000' is not in this bundle"),
    "another bundle": (said(2, bundle="f" * 16), 2, "the vote is for the bundle 'ffffffffffffffff'"),
    "doubled": (lambda lines: lines.insert(3, lines[2]), 4, "this vote stands already in line 3"),
    "a line removed": (lambda lines: lines.pop(2), 3, "vote 3 of a follows vote 1: a line was removed"),
    "two lines swapped": (lambda lines: lines.insert(2, lines.pop(3)), 3, "vote 3 of a follows vote 1"),
    "a verdict that is none": (said(1, verdict="PERHAPS"), 1, "verdict"),
    "ANSWER without an answer": (said(1, verdict="ANSWER"), 1, "an answer of yes or no goes with ANSWER"),
    "an answer on a refusal": (said(1, answer="yes"), 1, "an answer of yes or no goes with ANSWER"),
    "ANSWER beside a refusal": (said(1, alt="ANSWER"), 1, "ANSWER never stands beside one"),
    "the same verdict twice": (said(1, alt="REFUSE_AMBIGUOUS_QUERY"), 1, "another refusal beside a refusal"),
    "a flag that is none": (said(1, flags=["ugly"]), 1, "flags"),
    "a truth value": (said(1, confidence=True), 1, "confidence"),
    "a field too many": (said(1, gold="ANSWER"), 1, "gold"),
    "a schema of tomorrow": (said(1, schema="review/2"), 1, "schema"),
    "a torn line in the middle": (lambda lines: lines.insert(2, lines[2][:40]), 3, "not JSON"),
    "no object": (lambda lines: lines.insert(0, "[1]"), 1, "is not a JSON object"),
    "removal by a blind reviewer": (said(1, verdict="REMOVE"), 1, "REMOVE is no choice|seal"),
}


@pytest.mark.parametrize("name", FORGERIES)
def test_a_forged_line_is_refused_by_its_number(file: Path, bundle: Bundle, name: str) -> None:
    harm, line, message = FORGERIES[name]
    lines = file.read_text().splitlines()
    harm(lines)
    file.write_text("".join(f"{one}\n" for one in lines))
    with pytest.raises(DataError, match=rf"votes\.jsonl:{line}: .*({message})"):
        read_votes(file, bundle.ballot)
    with pytest.raises(DataError, match=f"votes.jsonl:{line}: "):
        VoteFile(file, bundle.ballot)  # nor does the server go on writing to such a file


@pytest.mark.parametrize("kept", range(1, 60, 7))
def test_a_torn_last_line_is_cut_off_with_a_note(file: Path, bundle: Bundle, kept: int) -> None:
    """A crash while the last vote was written must cost that vote alone, which nobody was told is saved."""
    whole = file.read_bytes()
    start = whole.rstrip(b"\n").rfind(b"\n") + 1
    file.write_bytes(whole[: start + kept])
    found = read_votes(file, bundle.ballot)
    assert (len(found.votes), found.torn) == (5, kept)
    votes = VoteFile(file, bundle.ballot)
    assert f"cut off after {kept} bytes" in votes.note
    assert file.read_bytes() == whole[:start]
    votes.append(fields(bundle, "a", 4))
    votes.close()
    assert file.read_bytes() == whole


def test_a_last_line_that_only_lacks_its_newline_is_kept(file: Path, bundle: Bundle) -> None:
    whole = file.read_bytes()
    file.write_bytes(whole[:-1])
    votes = VoteFile(file, bundle.ballot)
    assert votes.note == ""
    assert file.read_bytes() == whole
    votes.append(fields(bundle, "b", 3))
    votes.close()
    assert len(read_votes(file, bundle.ballot).votes) == 7


def test_a_vote_is_on_the_disk_before_it_is_confirmed(
    tmp_path: Path, bundle: Bundle, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[bytes] = []
    path = tmp_path / "votes.jsonl"
    votes = VoteFile(path, bundle.ballot)
    monkeypatch.setattr(vote_file.os, "fsync", lambda _: synced.append(path.read_bytes()))
    vote = votes.append(fields(bundle, "a", 1))
    votes.close()
    assert len(synced) == 1
    assert vote.seal.encode() in synced[0]


def test_a_full_disk_leaves_no_half_a_vote(file: Path, bundle: Bundle, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = file.read_bytes()
    votes = VoteFile(file, bundle.ballot)
    really = os.pwrite

    def full(handle: int, data: bytes, at: int) -> int:
        if at > len(whole):
            raise OSError(28, "No space left on device")
        return really(handle, data[:20], at)

    with monkeypatch.context() as patched:
        patched.setattr(vote_file.os, "pwrite", full)
        with pytest.raises(OSError, match="No space left"):
            votes.append(fields(bundle, "a", 5))
    assert file.read_bytes() == whole
    votes.append(fields(bundle, "a", 5))  # once there is room again
    votes.close()
    assert len(read_votes(file, bundle.ballot).votes) == 7


def test_two_servers_cannot_write_to_one_file(file: Path, bundle: Bundle) -> None:
    votes = VoteFile(file, bundle.ballot)
    with pytest.raises(ConfigError, match="another server writes to"):
        VoteFile(file, bundle.ballot)
    votes.close()
    VoteFile(file, bundle.ballot).close()


def test_a_link_is_no_vote_file(tmp_path: Path, bundle: Bundle) -> None:
    (tmp_path / "link.jsonl").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(OSError, match="symbolic links"):
        VoteFile(tmp_path / "link.jsonl", bundle.ballot)


# joined to the items


def test_of_several_votes_the_last_counts_and_all_are_kept(tmp_path: Path, made: tuple[Bundle, Key]) -> None:
    bundle, key = made
    votes = VoteFile(tmp_path / "votes.jsonl", bundle.ballot)
    votes.append(fields(bundle, "a", 1, verdict="REFUSE_NONFACTUAL_QUERY"))
    votes.append(fields(bundle, "a", 2))
    votes.append(fields(bundle, "a", 1, **says("ANSWER", "no")))
    votes.close()
    joined = join(read_all([votes.path], key), key, load_mini())
    assert [(one.order, one.said, one.votes) for one in joined] == [
        (1, "ANSWER no", 2),
        (2, "REFUSE_AMBIGUOUS_QUERY", 1),
    ]
    assert len(votes.path.read_text().splitlines()) == 3


def test_files_of_two_machines_come_together(tmp_path: Path, made: tuple[Bundle, Key]) -> None:
    bundle, key = made
    mini = load_mini()
    one = vote_all(tmp_path / "a.jsonl", bundle, key, {"a": knows(mini)})
    two = vote_all(tmp_path / "b.jsonl", bundle, key, {"b": knows(mini)})
    together = vote_all(tmp_path / "both.jsonl", bundle, key, {"a": knows(mini), "b": knows(mini)})
    assert join(read_all([one, two], key), key, mini) == join(read_all([together], key), key, mini)
    (tmp_path / "glued.jsonl").write_bytes(one.read_bytes() + two.read_bytes())
    assert len(join(read_all([tmp_path / "glued.jsonl"], key), key, mini)) == 2 * len(key.items)


def test_the_same_votes_do_not_count_twice(tmp_path: Path, made: tuple[Bundle, Key]) -> None:
    bundle, key = made
    first = vote_all(tmp_path / "a.jsonl", bundle, key, {"a": knows(load_mini())})
    copy = tmp_path / "copy.jsonl"
    copy.write_bytes(first.read_bytes())
    with pytest.raises(DataError, match=r"copy.jsonl:1: this vote stands already in .*a.jsonl:1"):
        join(read_all([first, copy], key), key, load_mini())
    other = vote_all(tmp_path / "other.jsonl", bundle, key, {"a": lambda _: says("ANSWER", "yes")})
    with pytest.raises(DataError, match=r"other.jsonl:1: a has voted on .* nothing says which vote came later"):
        join(read_all([first, other], key), key, load_mini())


def test_votes_cannot_be_moved_to_another_set(tmp_path: Path, made: tuple[Bundle, Key]) -> None:
    """An image changed after review must not inherit the votes on what it was."""
    import shutil

    from georefusal_task.data import load

    bundle, key = made
    mini = load_mini()
    path = vote_all(tmp_path / "a.jsonl", bundle, key, {"a": knows(mini)})
    joined = join(read_all([path], key), key, mini)
    review = tmp_path / "review.jsonl"
    review.write_text("".join(one.model_dump_json(by_alias=True) + "\n" for one in joined))
    assert read_joined([review], mini) == joined
    assert mini.folder
    copy = tmp_path / "copy"
    shutil.copytree(mini.folder, copy)
    (copy / "SHA256SUMS").unlink()
    one, two = sorted((copy / "images" / "A").iterdir())[:2]
    one.write_bytes(two.read_bytes())
    with pytest.raises(DataError, match=f"{one.stem} has another image or question"):
        join(read_all([path], key), key, load(copy))
    with pytest.raises(DataError, match=rf"review.jsonl:\d+: {one.stem} has another image or question now"):
        read_joined([review], load(copy))
