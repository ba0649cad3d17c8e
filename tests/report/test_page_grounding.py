"""The report on runs that draw boxes: its numbers, how runs are found, and text that wants to be code."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.grounding import box, make_set
from typer.testing import CliRunner, Result

from georefusal_task import grounding_data
from georefusal_task.benchmarks.grounding import Gold, Question
from georefusal_task.benchmarks.grounding_baselines import BASELINES, reply_text
from georefusal_task.cli import app
from georefusal_task.core.errors import ConfigError
from georefusal_task.core.frames import get_frame
from georefusal_task.report import gallery_boxes
from georefusal_task.report.gallery_boxes import gallery, lead
from georefusal_task.report.grounding_references import SHOWN, gaming
from georefusal_task.report.grounding_runs import GroundingRun, load_grounding_runs
from georefusal_task.report.page_grounding import render
from georefusal_task.report.page_grounding_scores import HIDES, NAMES, headline, replies, warnings
from georefusal_task.report.page_parts import Note, Table, of

N = 60
EVIL = "<script>window.pwned=1</script></style><img src=x onerror='window.pwned=1'>\u202e\ud800"
Say = Callable[[Question, Gold], str]


@pytest.fixture(scope="module")
def questions(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_set(tmp_path_factory.mktemp("set") / "data", n=N)


def exact(frame: str = "internvl", *, share: float = 1.0) -> Say:
    """Right answers beside the annotated boxes themselves, for the first share of the ids."""

    def say(question: Question, gold: Gold) -> str:
        if int(question.id.removeprefix("q-"), 16) >= share * N:
            return "Answer: perhaps\nBoxes: [[10, 20"
        right, lower = get_frame(frame).extents(question.width, question.height)
        sides = (right / question.width, lower / question.height) * 2
        boxes = [
            [round(number * side, 6) for number, side in zip((*points[0], *points[2]), sides, strict=True)]
            for instances in gold.instances.values()
            for points in instances
        ]
        return f"Answer: {gold.answer}\nBoxes: {json.dumps(boxes)}"

    return say


def write(file: Path, folder: Path, say: Say, frame: str = "internvl", **more: Any) -> Path:
    found = grounding_data.load(folder).by_id
    rows = [{"id": item, "text": say(*asked), "frame": frame, **more} for item, asked in found.items()]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return file


def made(file: Path, folder: Path, say: Say, frame: str = "internvl", **more: Any) -> GroundingRun:
    (run,) = load_grounding_runs([write(file, folder, say, frame, **more)], data=folder, task="grsvqa")
    return run


def command(*arguments: object) -> Result:
    return CliRunner().invoke(app, [*map(str, arguments)])


def table(run: GroundingRun) -> dict[str, dict[str, str]]:
    """Row -> column -> cell of the table beside the headline."""
    (figure,) = [part for part in headline([run]).parts if not isinstance(part, Note)]
    data = figure.data  # type: ignore[union-attr]
    return {row[0]: dict(zip(data.columns, row, strict=True)) for row in data.rows}


def test_the_figures_are_those_of_score(questions: Path, tmp_path: Path) -> None:
    file = write(tmp_path / "a.jsonl", questions, exact(share=0.6))
    done = command("score", file, "--task", "grsvqa", "--data", questions, "--json", tmp_path / "s.json")
    assert done.exit_code == 0, done.output
    scored = json.loads((tmp_path / "s.json").read_text())
    (run,) = load_grounding_runs([file], data=questions, task="grsvqa")
    assert run.summary.to_json() == {**scored, "meta": {"n": N}}
    rows = table(run)
    for name in HIDES:
        figure = scored["metrics"][name]
        shown = " ".join(f"{100 * figure[key]:.1f}" for key in ("value", "low", "high"))
        assert rows[NAMES[name]]["a"].translate(str.maketrans("", "", "[],")) == shown, name
        assert rows[NAMES[name]]["What it hides"] == HIDES[name]


def test_the_references_are_the_exact_values_of_those_who_game_the_scores(questions: Path) -> None:
    found = gaming(grounding_data.load(questions))
    nothing, whole = (found[label] for label in SHOWN.values())
    assert nothing["ES_overall"].value == nothing["ES_correct"].value == 1.0
    assert nothing["ES_tight"].value == nothing["covered_area_share"].value == 0.0
    assert nothing["JS"].value == nothing["accuracy_E"].value != 1.0
    assert whole["ES_correct"].value == 1.0
    assert whole["JS"].value == whole["accuracy_E"].value == 1.0
    assert whole["covered_area_share"].value == pytest.approx(1.0)
    assert {figure.low for figures in found.values() for figure in figures.values()} == {None}


@pytest.mark.parametrize("baseline", SHOWN)
def test_a_reference_equals_the_run_of_its_baseline(questions: Path, tmp_path: Path, baseline: str) -> None:
    """A reference computed another way than runs are would be a wrong yardstick."""
    frame = get_frame("internvl")

    def say(question: Question, gold: Gold) -> str:
        return reply_text(BASELINES[baseline](question, gold), question, "one", frame)

    run = made(tmp_path / "a.jsonl", questions, say)
    constants = gaming(run.questions)[SHOWN[baseline]]
    for name in HIDES:
        assert constants[name].value == pytest.approx(of(run, name).value), name


def test_frames_and_flags_stand_beside_each_run(questions: Path, tmp_path: Path) -> None:
    runs = [
        made(tmp_path / "a.jsonl", questions, exact()),
        made(tmp_path / "b.jsonl", questions, exact("unit", share=0.5), "unit"),
    ]
    parts = [part for part in replies(runs).parts if isinstance(part, Table)]
    reading, flags = ([dict(zip(part.columns, row, strict=True)) for row in part.rows] for part in parts)
    assert [row["Frame"] for row in reading] == ["internvl", "unit"]
    assert reading[0]["Invalid answers"].startswith("0.0 ")
    assert reading[1]["Invalid answers"].startswith("50.0 ")
    assert [(row["Flag"], row["a"], row["b"]) for row in flags] == [("truncated", "0", str(N // 2))]
    assert not [text for text in warnings(runs) if "differs" in text], "a frame of its own is no other prompt"


def test_half_a_pair_is_counted_and_said(questions: Path, tmp_path: Path) -> None:
    file = tmp_path / "two.jsonl"
    found = grounding_data.load(questions).by_id
    rows = [
        {"id": f"{item}.{turn}", "text": text, "frame": "internvl"}
        for item, (question, gold) in found.items()
        for turn, text in (("answer", gold.answer), ("grounding", exact()(question, gold).partition("Boxes: ")[2]))
    ]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows[:-5]))
    (run,) = load_grounding_runs([file], data=questions, task="grsvqa_two_turn")
    assert (run.n, run.incomplete) == (N - 3, 1)
    assert any("1 of 58 questions have a reply to one of their two turns" in text for text in warnings([run]))
    assert any("2 of 60 questions have no reply" in text for text in warnings([run]))
    card = json.loads(gallery([run]))["replies"][0][0]
    assert set(card["texts"]) == {"answer", "grounding"}
    assert card["outcome"] == 0


def test_nothing_scored_and_one_question_are_said_in_words(questions: Path, tmp_path: Path) -> None:
    file = tmp_path / "half.jsonl"
    file.write_text('{"id": "q-0000.answer", "text": "yes", "frame": "unit"}\n')
    runs = load_grounding_runs([file], data=questions, task="grsvqa_two_turn")
    assert "half: nothing was scored (0 of 60 questions)." in render(runs)
    file.write_text('{"id": "q-0001", "text": "Answer: 1", "frame": "unit"}\n')
    runs = load_grounding_runs([file], data=questions, task="grsvqa")
    page = render(runs)
    assert "over 1 of 60 questions (a partial run)" in page
    assert "about 1 place only" in page


def test_the_gallery_holds_what_was_scored(questions: Path, tmp_path: Path) -> None:
    run = made(tmp_path / "a.jsonl", questions, exact(share=0.6))
    content = json.loads(gallery([run]))
    assert [item["id"] for item in content["items"]] == [row.id for row in run.rows]
    for row, item, instances, reply in zip(
        run.rows, content["items"], content["instances"], content["replies"][0], strict=True
    ):
        question, gold = run.questions.by_id[row.id]
        assert item["size"] == [question.width, question.height]
        assert [len(some) for some in instances] == list(row.annotated)
        assert instances[0] == [[number for corner in points for number in corner] for points in gold.instances["ship"]]
        assert reply["covered"] == list(row.covered)
        assert len(reply["dots"]) == 2 * sum(row.covered)
        assert len(reply["regions"]) == row.predicted
        assert content["outcomes"][reply["outcome"]] == ("right" if row.right else "invalid")
        assert content["support"][reply["support"]].startswith("borne out") == row.support
        assert reply["scored"] == row.in_support_set
        assert content["texts"][reply["texts"]["one"]][0].startswith("Answer: ")


def test_a_large_set_is_thinned_and_many_boxes_are_counted(
    questions: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """15,027 questions with pictures would make a page that no browser opens."""
    monkeypatch.setattr(gallery_boxes, "MOST_ITEMS", 7)
    many = json.dumps([[number, 0, number + 5, 9] for number in range(300)])
    run = made(tmp_path / "a.jsonl", questions, lambda question, gold: f"Answer: {gold.answer}\nBoxes: {many}")
    content = json.loads(gallery([run]))
    assert len(content["items"]) == len({item["id"] for item in content["items"]}) == 7
    assert "7 of 60 questions" in lead([run])
    (first, *_) = content["replies"][0]
    assert first["predicted"] == 300 > len(first["regions"])


def test_no_markup_of_others_survives(questions: Path, tmp_path: Path) -> None:
    file = write(tmp_path / "a.jsonl", questions, lambda question, gold: f"Answer: {EVIL}", model=EVIL)
    page = render(load_grounding_runs([file], data=questions, task="grsvqa"))
    page.encode("utf-8")
    assert "<script>window.pwned" not in page
    assert "<img src=x" not in page
    assert page.count("<script") == 2


def test_a_folder_of_a_host_gives_every_task_a_column(questions: Path, tmp_path: Path) -> None:
    found = grounding_data.load(questions).by_id
    place = tmp_path / "lab__model"
    place.mkdir()
    for task, say in (("grsvqa", exact()), ("grsvqa_noimage", exact(share=0.3))):
        rows = [
            {"target": f"{item} {gold.answer} internvl", "filtered_resps": [say(question, gold)]}
            for item, (question, gold) in found.items()
        ]
        log = place / f"20260101_120000_samples_{task}.jsonl"
        log.write_text("".join(json.dumps(row) + "\n" for row in rows))
    done = command("report", place, "--data", questions, "-o", tmp_path / "r.html")
    assert done.exit_code == 0, done.output
    assert "2 runs" in done.stderr
    assert "The task differs between runs (grsvqa, grsvqa_noimage)" in done.stderr
    runs = load_grounding_runs([place], data=questions)
    assert [(run.name.rpartition(", ")[2], run.frame.label) for run in runs] == [
        ("grsvqa", "internvl"),
        ("grsvqa_noimage", "internvl"),
    ]
    assert of(runs[0], "JS").value == 1.0
    (one,) = load_grounding_runs([place], data=questions, task="grsvqa_noimage")
    assert one.rows == runs[1].rows


@pytest.mark.parametrize("name", ["compare", "leaderboard", "bundle"])
def test_other_commands_say_which_ones_know_boxes(questions: Path, tmp_path: Path, name: str) -> None:
    file = write(tmp_path / "a.jsonl", questions, exact())
    runs = [file, file] if name == "compare" else [file]
    done = command(name, *runs, "--task", "grsvqa", "--data", questions, "-o", tmp_path / "out.json")
    assert done.exit_code == 1
    assert "`georefusal score` and `georefusal report`" in " ".join(done.stderr.split())


def test_what_does_not_fit_is_refused(questions: Path, tmp_path: Path) -> None:
    a = write(tmp_path / "a.jsonl", questions, exact())
    other = make_set(tmp_path / "other", n=20, seed=1)
    runs = [made(tmp_path / "a.jsonl", questions, exact()), made(tmp_path / "b.jsonl", other, exact())]
    with pytest.raises(ConfigError, match="different questions"):
        render(runs)
    verdicts = tmp_path / "20260101_120000_samples_georefusalbench.jsonl"
    verdicts.write_text('{"id": "x", "text": ""}\n')
    host = tmp_path / "20260101_120000_samples_grsvqa.jsonl"
    host.write_text(a.read_text())
    done = command("report", verdicts, host, "-o", tmp_path / "r.html")
    assert done.exit_code == 1
    assert "choose one with --task" in done.stderr
    for options in (["--provenance", tmp_path], ["--floor", a]):
        done = command("report", a, "--task", "grsvqa", "--data", questions, *options, "-o", tmp_path / "r.html")
        assert done.exit_code == 1
        assert "clustered by image already" in done.stderr
    bare = tmp_path / "bare.jsonl"
    bare.write_text("".join(json.dumps({"id": item, "text": "Answer: no"}) + "\n" for item in runs[0].by_id))
    done = command("report", bare, "--task", "grsvqa", "--data", questions, "-o", tmp_path / "r.html")
    assert done.exit_code == 1
    assert "coordinate frame" in done.stderr
    done = command(
        "report", bare, "--task", "grsvqa", "--data", questions, "--frame", "unit", "-o", tmp_path / "r.html"
    )
    assert done.exit_code == 0, done.output


def test_a_box_of_another_shape_is_drawn_with_all_its_corners() -> None:
    triangle = ((0.0, 1.0), (2.04, 3.0), (4.0, 5.0))
    assert gallery_boxes._drawn([triangle, box(1, 2, 3, 4)], 1) == [[0.0, 1.0, 2.0, 3.0, 4.0, 5.0]]
