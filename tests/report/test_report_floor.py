"""The question-only floor: it finds what the wording gives away, and nothing through leaks between folds."""

import builtins
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import typer
from support.twin import make_twin
from typer.testing import CliRunner

from georefusal_task.commands.floor import floor as floor_command
from georefusal_task.core.errors import ConfigError, DataError
from georefusal_task.core.records import Case, Label
from georefusal_task.core.verdicts import REFUSALS
from georefusal_task.data import Benchmark, Item, load_mini
from georefusal_task.report.floor import question_only_floor
from georefusal_task.report.provenance import Provenance
from georefusal_task.report.runs import load_run

_app = typer.Typer()
_app.command()(floor_command)


def benchmark(n: int, question: Callable[[int], str], *, images: Callable[[int], str] = str) -> Benchmark:
    """Every other item is answerable, yes and no in turn."""
    items = []
    for i in range(n):
        gold = REFUSALS[i // 2 % 5] if i % 2 else "ANSWER"
        answer = ("yes", "no")[i // 2 % 2] if gold == "ANSWER" else ""
        item = f"A-{i:04x}"
        case = Case(id=item, set="A", image="x.png", question=question(i))
        label = Label(id=item, set="A", gold=gold, accept=[gold], answer=answer, score_answer=True)
        items.append(Item(case, label, images(i)))
    return Benchmark(tuple(items), "d" * 64, "made up")


def words(i: int) -> str:
    """A question that gives everything away, and one word that no other item has."""
    if i % 2:
        return f"{('Owner of', 'Yesterday', 'Which of', 'Behind', 'Beneath')[i // 2 % 5]} ship number{i}?"
    return f"Is there a {('red', 'blue')[i // 2 % 2]} roof number{i}?"


def test_what_the_wording_gives_away_is_found() -> None:
    run = question_only_floor(benchmark(100, words))
    assert run.n == run.n_total == 100
    assert run.summary.metrics["accept_acc"].value == 1.0
    assert run.summary.metrics["yesno_acc"].value == 1.0
    assert run.summary.metrics["unparsed_rate"].value == 0.0


def test_wording_without_meaning_gives_no_more_than_chance() -> None:
    run = question_only_floor(benchmark(100, lambda i: f"Is there a ship at point{i * 7919 % 100}?"))
    assert run.summary.metrics["accept_acc"].value < 0.6


@pytest.mark.parametrize("tie", ["image", "wording", "base"])
def test_nothing_leaks_through_items_that_belong_together(tie: str) -> None:
    """Ten copies of each item under different ids: with one in training the others would be known by heart."""
    kinds = 20

    def question(i: int) -> str:
        # pairs of equal verdict have no word in common with other pairs
        extra = "" if tie == "wording" else f" copy{i}"
        return f"about thing{i % kinds}?{extra}"

    def image(i: int) -> str:
        return f"image{i % kinds}" if tie == "image" else f"image{i}"

    known = {}
    if tie == "base":
        known = {f"A-{i:04x}": Provenance(id=f"A-{i:04x}", base_id=str(i % kinds)) for i in range(200)}
    found = question_only_floor(benchmark(200, question, images=image), known)
    assert found.summary.metrics["accept_acc"].value <= 0.5


def test_the_same_data_give_the_same_replies() -> None:
    one, other = (question_only_floor(benchmark(60, words)) for _ in range(2))
    assert one.rows == other.rows


def test_labels_of_one_kind_and_few_items() -> None:
    everything = benchmark(20, words)
    answerable = Benchmark(everything.items[::2], "d" * 64, "made up")
    assert question_only_floor(answerable).summary.metrics["accept_acc"].value == 1.0
    assert question_only_floor(Benchmark(everything.items[:2], "d" * 64, "made up")).n == 2
    with pytest.raises(DataError, match="two groups"):
        question_only_floor(Benchmark(everything.items[:1], "d" * 64, "made up"))
    with pytest.raises(DataError, match="two groups"):
        question_only_floor(Benchmark((), "d" * 64, "made up"))


def test_yes_and_no_are_learnt_from_known_answers_alone() -> None:
    """Two thirds of the red roofs have no answer; that is no third answer to be learnt."""
    whole = benchmark(120, lambda i: words(i).partition(" number")[0])
    unknown = [
        i.label.model_copy(update={"answer": None if n % 4 == 0 and n % 12 else i.label.answer})
        for n, i in enumerate(whole.items)
    ]
    items = tuple(Item(i.case, label, i.image_sha256) for i, label in zip(whole.items, unknown, strict=True))
    known = {i.case.id: Provenance(id=i.case.id, base_id=i.case.id) for i in items}
    run = question_only_floor(Benchmark(items, "d" * 64, "made up"), known)
    assert {row.answer for row in run.rows if row.answerable} == {"yes", "no"}


def test_without_gold_answers_no_yes_or_no_is_made_up() -> None:
    bare = benchmark(40, words)
    items = tuple(Item(i.case, i.label.model_copy(update={"answer": None}), i.image_sha256) for i in bare.items)
    run = question_only_floor(Benchmark(items, "d" * 64, "made up"))
    assert {row.answer for row in run.rows} == {""}
    assert run.summary.metrics["yesno_acc"].value is None


def test_the_missing_library_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def refuse(name: str, *arguments: Any, **more: Any) -> Any:
        if name.startswith("sklearn"):
            raise ImportError(name)
        return real(name, *arguments, **more)

    monkeypatch.setattr(builtins, "__import__", refuse)
    with pytest.raises(ConfigError, match=r"georefusal\[report\]"):
        question_only_floor(benchmark(20, words))


def test_the_command_writes_a_run_that_can_be_read_again(tmp_path: Path) -> None:
    folder = make_twin(tmp_path / "data", n=40)
    out, figures = tmp_path / "floor.jsonl", tmp_path / "floor.json"
    found = CliRunner().invoke(_app, ["--data", str(folder), "-o", str(out), "--json", str(figures)])
    assert found.exit_code == 0, found.output
    assert "accept_acc" in found.stdout
    again = load_run(out, data=folder)
    assert again.name == "question-only floor"
    content = json.loads(figures.read_text())
    assert content["metrics"] == again.summary.to_json()["metrics"]
    assert content["meta"]["models"] == ["question-only floor"]
    assert all(row.confidence is not None for row in again.rows)


def test_the_mini_set_has_a_floor() -> None:
    found = CliRunner().invoke(_app, ["--task", "georefusalbench_mini"])
    assert found.exit_code == 0, found.output
    assert f"georefusalbench_mini: all {len(load_mini().items)} items" in found.stdout
