"""A review from the command line: export, votes, import, score, adjudicate, and what is said when all is not well."""

import json
import random
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from support.review import Choice, knows, says, vote_all
from support.twin import make_twin
from typer.testing import CliRunner

from georefusal_build.commands import APP
from georefusal_build.layout import read_set, write_set
from georefusal_build.review.bundle import key_path, read_bundle, read_key
from georefusal_task.cli import app
from georefusal_task.data import load, load_mini

MINI = load_mini().folder or Path()
COUNT = len(load_mini().items)
UNCLEAR, FALSE = "REFUSE_AMBIGUOUS_QUERY", "REFUSE_FALSE_PREMISE_IN_QUERY"


def build(*arguments: object, status: int = 0) -> tuple[str, str]:
    """Return stdout and stderr of `georefusal build review` with these arguments."""
    done = CliRunner().invoke(APP, ["review", *map(str, arguments)])
    assert done.exit_code == status, done.output
    return done.stdout, done.stderr


def voted(bundle: Path, data: Path, **but: dict[str, Choice]) -> Path:
    """Write the votes of each reviewer: the label, except where `but` (reviewer: item id -> choice) says otherwise."""
    path = bundle.with_name(f"{bundle.name}.votes.jsonl")
    voters = {name: knows(load(data), change) for name, change in but.items()}
    return vote_all(path, read_bundle(bundle), read_key(key_path(bundle)), voters)


def reviewed(folder: Path, data: Path = MINI, **but: dict[str, Choice]) -> Path:
    """Export, vote and import; return the joined votes."""
    build("export", data, "-o", folder / "bundle", "--seed", 5)
    votes = voted(folder / "bundle", data, **but)
    build("import", votes, "--key", folder / "bundle.key.json", "--data", data, "-o", folder / "review.jsonl")
    return folder / "review.jsonl"


def items(anchor: tuple[str, ...], gold: bool | None = None) -> list[str]:
    """Return ids of the mini set by anchor, none of them unclear; `gold`: those that can (or cannot) be answered."""
    found = [i for i in load_mini().items if i.label.anchor in anchor and i.label.gold != UNCLEAR]
    return [i.case.id for i in found if gold is None or (i.label.gold == "ANSWER") is gold]


def test_a_whole_review(tmp_path: Path) -> None:
    lever = {i.case.id: i.label.lever for i in load_mini().items}
    size = Counter(lever.values())
    consensus, measured = (
        sorted(items(anchor, gold=False), key=lambda item: size[lever[item]])
        for anchor in (("consensus",), ("pixel", "geometry"))
    )
    both = {consensus[0]: says(FALSE), measured[0]: says(UNCLEAR)}
    one = {consensus[1]: says("ANSWER", "yes"), measured[1]: says(UNCLEAR), consensus[2]: says("ANSWER", "no")}
    box = {consensus[3]: {**says(str(load_mini().by_id[consensus[3]].label.gold)), "flags": ["box_shaped_artefact"]}}
    review = reviewed(tmp_path, a={**both, **one, **box}, b=both)
    out = tmp_path / "out"
    command = ("--data", MINI, "-o", out)

    _, said = build("adjudicate", review, *command, "--seed", 1, status=3)
    assert "items for a third person: 3; next: georefusal build review serve" in said
    assert "measurements to repeat (see --remeasured): 1, listed in" in said
    assert not out.exists()
    todo = [json.loads(line) for line in (tmp_path / "out.remeasure.jsonl").read_text().splitlines()]
    assert [row["id"] for row in todo] == measured[:1]

    queue = tmp_path / "out.third"
    shown = read_bundle(queue)
    assert shown.kind == "adjudication"
    assert not [one for one in load_mini().by_id if one in (queue / "bundle.json").read_text()]
    assert {len(item.votes) for item in shown.items.values()} == {2}
    third = voted(queue, MINI, c={consensus[2]: says("REMOVE")})
    build("import", third, "--key", tmp_path / "out.third.key.json", "--data", MINI, "-o", tmp_path / "third.jsonl")
    _, said = build("adjudicate", review, tmp_path / "third.jsonl", *command, status=3)
    assert "third person" not in said
    printed, alarms = build("adjudicate", review, tmp_path / "third.jsonl", *command, "--measurements-stand")

    report = json.loads((out / "review.json").read_text())
    gone = {row["id"]: row["reason"] for row in report["removed"]}
    assert gone[consensus[2]] == "third_person_removed"
    assert gone[consensus[3]] == "box_shaped_artefact"
    # each of these levers has so few items that one change is more than a third
    off = {lever[consensus[0]], lever[measured[0]]}
    assert {row["lever"] for row in report["levers_switched_off"]} == off
    assert gone[measured[0]] == "measurement_stands"
    assert gone[consensus[0]] == "lever_switched_off"
    assert {item for item in lever if lever[item] in off} <= gone.keys()
    counts = report["counts"]
    assert counts["kept"] + counts["removed"] == counts["items"] == COUNT
    assert counts["removed"] == len(gone)
    assert Counter(gone.values()) == report["reasons"]
    assert f"{counts['kept']} items, 0 with another verdict; {counts['removed']} removed" in printed
    assert 0 < report["agreement"]["krippendorff_alpha (all, six verdicts)"]["value"] < 1
    assert report["verdicts"] == {"settled": COUNT - 2, "changed": 2}  # more than 2 %: no alarm

    kept = load(out)
    assert sorted(kept.by_id) == sorted(set(load_mini().by_id) - gone.keys())
    rows = {item.id: item.provenance for item in read_set(out)}
    assert {row["status"] for row in rows.values()} == {"reviewed"}
    votes = [vote["reviewer"] for vote in rows[consensus[1]]["review_votes"] if vote["role"] == "item"]
    assert votes[-3:] == ["a", "b", "c"]  # after those that the mini set was reviewed with
    assert not [row for row in rows.values() if any("note" in vote for vote in row["review_votes"])]
    assert (out / "README.md").read_text() == (MINI / "README.md").read_text()
    assert alarms == ""


@pytest.fixture
def one_lever(tmp_path: Path) -> Path:
    """The mini set as if one lever had made all of its items, so that single changes switch nothing off.

    Nor does a row say what may be accepted beside its label.
    """
    folder = tmp_path / "one-lever"
    made = read_set(MINI)
    for item in made:
        item.provenance.pop("may_accept")
        object.__setattr__(
            item, "label", item.label.model_copy(update={"lever": "aq_scope_high", "anchor": "consensus"})
        )
    write_set(folder, made)
    return folder


def test_changed_verdicts_are_written_and_logged(tmp_path: Path, one_lever: Path) -> None:
    mini = load_mini()
    refusals = [i.case.id for i in mini.items if i.label.gold not in ("ANSWER", FALSE)]
    answers = [i.case.id for i in mini.items if i.label.gold == "ANSWER"]
    grown = {**says(str(mini.by_id[refusals[2]].label.gold)), "alt": FALSE}
    both = {refusals[0]: says("ANSWER", "no"), answers[0]: says(FALSE), refusals[2]: grown}
    review = reviewed(tmp_path, one_lever, a=both, b=both)
    build("adjudicate", review, "--data", one_lever, "-o", tmp_path / "out")
    after = {item.id: item for item in read_set(tmp_path / "out")}
    assert len(after) == COUNT
    first = after[refusals[0]].label
    assert (first.gold, first.accept, first.answer) == ("ANSWER", ("ANSWER",), "no")
    second = after[answers[0]].label
    assert (second.gold, second.accept, second.answer) == (FALSE, (FALSE,), "")
    assert set(after[refusals[2]].label.accept) == {mini.by_id[refusals[2]].label.gold, FALSE}
    changed = {one.id for one in after.values() if one.provenance["verdict_changed"]}
    assert changed == {refusals[0], answers[0]}
    report = json.loads((tmp_path / "out" / "review.json").read_text())
    assert {row["id"] for row in report["changed"]} == {refusals[0], answers[0], refusals[2]}
    assert report["counts"]["changed"] == 2


def test_a_lever_is_withdrawn_and_an_alarm_is_raised(tmp_path: Path) -> None:
    gold = {item.case.id: item.label.gold for item in load_mini().items}
    every = {i: says(FALSE) for i, verdict in gold.items() if verdict == "REFUSE_NONFACTUAL_QUERY"}
    rest = {i: says(FALSE) for i in items(("pixel", "geometry")) if gold[i] not in (FALSE, "ANSWER")}
    review = reviewed(tmp_path, a=every | rest, b=every | rest)
    _, alarms = build("adjudicate", review, "--data", MINI, "-o", tmp_path / "out", "--measurements-stand")
    assert "over 20%: something in the build is broken" in alarms
    assert not any(item.label.gold == "REFUSE_NONFACTUAL_QUERY" for item in load(tmp_path / "out").items)


def test_agreement_without_a_fault_raises_the_alarm_of_a_rubber_stamp(tmp_path: Path) -> None:
    review = reviewed(tmp_path, a={}, b={})
    _, alarms = build("adjudicate", review, "--data", MINI, "-o", tmp_path / "out")
    assert f"0 of {COUNT} verdicts changed, under 2%" in alarms
    again = [(item.case, item.label) for item in load(tmp_path / "out").items]
    strip = [(case.id, case.question, label) for case, label in again]
    assert strip == [(i.case.id, i.case.question, i.label) for i in load_mini().items]


def test_the_score_recovers_what_the_reviewers_did(tmp_path: Path) -> None:
    """Reviewers with known error rates: every figure must be theirs."""
    random.seed(4)
    wrong = random.sample(sorted(load_mini().by_id), 12)
    review = reviewed(
        tmp_path, a={i: says("ANSWER", "yes") for i in wrong[:6]}, b={i: says(UNCLEAR) for i in wrong[6:]}
    )
    command = (
        "score",
        review,
        "--data",
        MINI,
        "--json",
        tmp_path / "new" / "s.json",
        "--replies",
        tmp_path / "replies",
    )
    printed, _ = build(*command)
    report = json.loads((tmp_path / "new" / "s.json").read_text())
    labels = {i: item.label for i, item in load_mini().by_id.items()}
    for name, verdict, own in (("a", "ANSWER", wrong[:6]), ("b", UNCLEAR, wrong[6:])):
        slips = sum(verdict != labels[i].gold or (verdict == "ANSWER" and labels[i].answer != "yes") for i in own)
        assert report["reviewers"][name]["as_the_label"]["count"] == COUNT - slips
        assert report["reviewers"][name]["repeats_the_same"]["value"] == 1
        assert report["reviewers"][name]["catch_answered"]["n"] == 3
    assert report["changes"]["changed"] == 0
    assert "ALARM: 0 of" in printed
    pair = report["agreement"]["six verdicts"]["a and b"]
    assert pair["agreement"]["n"] == COUNT
    assert pair["agreement"]["low"] < pair["agreement"]["value"] < pair["agreement"]["high"]

    score = CliRunner().invoke(app, ["score", str(tmp_path / "replies" / "a.jsonl"), "--task", "georefusalbench_mini"])
    assert score.exit_code == 0
    right = sum(labels[i].gold == "ANSWER" for i in wrong[:6]) + COUNT - 6
    assert f"accept_acc                              {right / COUNT:.3f}" in score.output


def test_a_review_in_the_middle_says_what_is_missing(tmp_path: Path) -> None:
    build("export", MINI, "-o", tmp_path / "bundle", "--seed", 5)
    votes = voted(tmp_path / "bundle", MINI, a={})
    lines = votes.read_bytes().splitlines(keepends=True)
    votes.write_bytes(b"".join(lines[:30]) + lines[30][:50])
    joined = tmp_path / "review.jsonl"
    printed, note = build("import", votes, "--key", tmp_path / "bundle.key.json", "--data", MINI, "-o", joined)
    views = len(read_bundle(tmp_path / "bundle").items)
    assert views > COUNT  # some come twice
    assert printed.splitlines() == [f"a: 30 of {views} views have a vote", f"b: 0 of {views} views have a vote"]
    assert "the last line is cut off and left out" in note
    _, said = build("adjudicate", joined, "--data", MINI, "-o", tmp_path / "out", status=3)
    assert f"items with fewer than two votes: {COUNT}, the first" in said
    assert f"0 of {COUNT} items judged by two" in build("score", joined, "--data", MINI)[0]


def test_a_measurement_that_was_repeated(tmp_path: Path) -> None:
    measured = items(("pixel", "geometry"), gold=False)[:2]
    review = reviewed(tmp_path, a=(said := {one: says(UNCLEAR) for one in measured}), b=said)
    again = tmp_path / "again.jsonl"
    golds = [str(load_mini().by_id[measured[0]].label.gold), UNCLEAR]
    again.write_text("".join(json.dumps({"id": i, "verdict": v}) + "\n" for i, v in zip(measured, golds, strict=True)))
    build("adjudicate", review, "--data", MINI, "-o", tmp_path / "out", "--remeasured", again)
    report = json.loads((tmp_path / "out" / "review.json").read_text())
    reasons = {row["id"]: row["reason"] for row in report["removed"]}
    assert reasons[measured[0]] == "measurement_stands"
    assert reasons.get(measured[1]) != "measurement_stands"
    again.write_text('{"id": "x"}\n')
    _, error = build("adjudicate", review, "--data", MINI, "-o", tmp_path / "new", "--remeasured", again, status=1)
    assert 'again.jsonl:1: expected {"id", "verdict"}' in error


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("export", MINI, "-o", "{new}", "--reviewers", "a,a"), "a reviewer stands twice in 'a,a'"),
        (("export", MINI, "-o", "{new}", "--reviewers", "Jo Smith"), "'Jo Smith' is no code for a reviewer"),
        (("export", "{new}", "-o", "{new}"), "is not there|no such|does not exist|not a folder"),
        (("serve", "{new}"), "is not a review bundle"),
        (("import", "{new}", "--key", "{new}", "--data", MINI, "-o", "{new}"), "No such file"),
        (("score", MINI / "cases" / "A.jsonl", "--data", MINI), "A.jsonl:1: .*`build review import` wrote"),
        (
            ("adjudicate", MINI / "cases" / "A.jsonl", "--data", MINI, "-o", MINI),
            "exists; delete it or name a new folder",
        ),
    ],
    ids=str,
)
def test_mistakes_are_named(tmp_path: Path, arguments: tuple[Any, ...], message: str) -> None:
    import re

    filled = [str(one).replace("{new}", str(tmp_path / "new")) for one in arguments]
    _, error = build(*filled, status=1)
    assert re.search(message, error, re.IGNORECASE), error
    assert error.startswith("error: ")


def test_the_page_of_the_docs_shows_what_export_prints(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = (Path(__file__).parents[2] / "docs" / "review.md").read_text()
    monkeypatch.chdir(tmp_path)
    printed, _ = build("export", MINI, "-o", "bundle", "--seed", 5)
    assert "".join(f"    {line}\n" for line in printed.splitlines()) in page


@pytest.mark.parametrize("provenance", ["none", "spelled otherwise"])
def test_a_set_of_others_gets_its_human_row(tmp_path: Path, provenance: str) -> None:
    """The released set: no provenance of our spelling, two questions on one image file, and a true duplicate."""
    data = make_twin(tmp_path / "data", n=30, provenance="none", spelling="other")
    if provenance != "none":
        (data / "provenance").mkdir()
        rows = [{"item_id": item, "base_image_id": "x", "operator": "y"} for item in load(data).by_id]
        (data / "provenance" / "all.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    review = reviewed(tmp_path, data, a={}, b={})
    printed, _ = build("score", review, "--data", data, "--replies", tmp_path / "replies")
    assert "30 of 30 items judged by two or more (29 clusters)" in printed
    score = CliRunner().invoke(app, ["score", str(tmp_path / "replies" / "b.jsonl"), "--data", str(data)])
    assert score.exit_code == 0
    assert "accept_acc                              1.000" in score.output
    build("adjudicate", review, "--data", data, "-o", tmp_path / "out")
    assert len(load(tmp_path / "out").items) == 30


def test_a_forged_vote_stops_the_import_and_nothing_is_written(tmp_path: Path) -> None:
    build("export", MINI, "-o", tmp_path / "bundle", "--seed", 5)
    votes = voted(tmp_path / "bundle", MINI, a={})
    lines = votes.read_text().splitlines(keepends=True)
    lines[2] = lines[2].replace('"confidence": 3', '"confidence": 2')
    votes.write_text("".join(lines))
    command = ("--key", tmp_path / "bundle.key.json", "--data", MINI, "-o", tmp_path / "review.jsonl")
    _, error = build("import", votes, *command, status=1)
    assert error.startswith(f"error: {votes}:3: the seal of this vote of a is wrong")
    assert not (tmp_path / "review.jsonl").exists()
