"""Leaderboards: ranks against a slow computation, references in their place, runs that must be marked or withheld."""

import random
import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
import yaml
from scipy.stats import binomtest
from statsmodels.stats.multitest import multipletests
from support.runs import HOST_ERROR, always_answer, oracle, skilled, texts, write_provenance, write_replies
from support.twin import make_twin

from georefusal_task import data as loader
from georefusal_task.core.errors import ConfigError, DataError
from georefusal_task.data import Benchmark
from georefusal_task.report.ranking import ALWAYS_ANSWER, Leaderboard, rank
from georefusal_task.report.ranking_table import model_card, table
from georefusal_task.report.runs import Run, load_run

N = 120


@pytest.fixture(scope="module")
def twin(tmp_path_factory: pytest.TempPathFactory) -> Benchmark:
    return loader.load(make_twin(tmp_path_factory.mktemp("twin") / "data", n=N))


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory, twin: Benchmark) -> list[Run]:
    folder = tmp_path_factory.mktemp("runs")
    return [made(folder, twin, f"m{i}", skilled(0.3 + i / 12, seed=i)) for i in range(6)]


def made(folder: Path, twin: Benchmark, name: str, say: Any, **more: Any) -> Run:
    return load_run(write_replies(folder / f"{name}.jsonl", texts(say, N)), data=twin, name=name, **more)


def some(run: Run, ids: Sequence[str]) -> Run:
    return replace(run, rows=tuple(row for row in run.rows if row.id in set(ids)))


def ranks(board: Leaderboard) -> dict[str, tuple[int | None, int | None]]:
    return {entry.name: (entry.rank, entry.worst_rank) for entry in board.entries if entry.kind == "model"}


def test_ranks_are_those_of_a_slow_computation(runs: list[Run]) -> None:
    tested = []
    for a, b in combinations(runs, 2):
        up = sum(x.right > y.right for x, y in zip(a.rows, b.rows, strict=True))
        down = sum(x.right < y.right for x, y in zip(a.rows, b.rows, strict=True))
        tested.append((a.name, b.name, up - down, binomtest(up, up + down).pvalue))
    told = multipletests([p for *_, p in tested], method="holm")[0]
    beaten = [(a, b) if gap > 0 else (b, a) for (a, b, gap, _), apart in zip(tested, told, strict=True) if apart]
    board = rank(runs)
    assert len(beaten) >= 3
    for run in runs:
        better = sum(loser == run.name for _, loser in beaten)
        worse = sum(winner == run.name for winner, _ in beaten)
        assert ranks(board)[run.name] == (1 + better, len(runs) - worse)


def test_order_of_the_runs_changes_nothing(runs: list[Run]) -> None:
    shuffled = random.Random(1).sample(runs, len(runs))
    one, other = rank(runs), rank(shuffled)
    assert ranks(one) == ranks(other)
    assert [entry.name for entry in one.entries] == [entry.name for entry in other.entries]


def test_one_run_and_two_equal_ones(runs: list[Run]) -> None:
    assert ranks(rank(runs[:1])) == {"m0": (1, 1)}
    twins = [replace(runs[0], name="a"), replace(runs[0], name="b")]
    assert ranks(rank(twins)) == {"a": (1, 2), "b": (1, 2)}


def test_figures_are_those_of_score(runs: list[Run]) -> None:
    for entry in rank(runs).entries:
        if entry.kind == "model":
            summary = next(run for run in runs if run.name == entry.name).summary
            assert entry.figures == {name: summary.metrics[name] for name in entry.figures}


def test_references_stand_in_their_place(runs: list[Run], twin: Benchmark, tmp_path: Path) -> None:
    floor = made(tmp_path, twin, "floor", skilled(0.6, seed=9))
    board = rank([*runs, made(tmp_path, twin, "perfect", oracle)], floor=floor)
    values = [entry.figures["accept_acc"].value for entry in board.entries]
    assert values == sorted(values, reverse=True)
    named = {entry.name: entry for entry in board.entries}
    always = named[ALWAYS_ANSWER]
    answerable = sum("ANSWER" in item.label.accept for item in twin.items) / N
    assert always.figures["accept_acc"].value == answerable
    assert always.figures["accept_acc"].low is None
    assert always.rank is None
    guess = sum(len(item.label.accept) for item in twin.items) / N / 6
    assert named["random verdict"].figures["accept_acc"].value == pytest.approx(guess)
    assert named["floor"].kind == "reference"
    assert set(named["m5"].against) == {ALWAYS_ANSWER, "floor"}
    assert named["perfect"].against == {ALWAYS_ANSWER: "better", "floor": "better"}
    assert named["m0"].against[ALWAYS_ANSWER] == "worse"


def test_people_are_shown_where_there_are_votes(runs: list[Run], twin: Benchmark) -> None:
    from georefusal_task.report.provenance import Provenance

    first, second, third = twin.items[:3]
    known = {
        first.label.id: Provenance(id=first.label.id, review_votes=[{"reviewer": "r1", "verdict": first.label.gold}]),
        second.label.id: Provenance(id=second.label.id, review_votes=[second.label.gold, "nonfactual", "nonfactual"]),
        third.label.id: Provenance(id=third.label.id, review_votes=[]),
    }
    voted = [replace(runs[0], provenance=known), *runs[1:]]
    entry = next(entry for entry in rank(voted).entries if entry.name.startswith("people"))
    expected = (1 + (1 if second.label.gold == "REFUSE_NONFACTUAL_QUERY" else 1 / 3)) / 2
    assert entry.figures["accept_acc"].value == pytest.approx(expected)
    assert entry.n == 2
    assert not any(entry.name.startswith("people") for entry in rank(runs).entries)
    broken = {first.label.id: Provenance(id=first.label.id, review_votes=["maybe"])}
    with pytest.raises(DataError, match="maybe"):
        rank([replace(runs[0], provenance=broken)])


def test_runs_with_many_failures_are_withheld(runs: list[Run], twin: Benchmark, tmp_path: Path) -> None:
    said = texts(oracle, N)
    bad = dict.fromkeys(list(said)[:36], HOST_ERROR)
    few = dict.fromkeys(list(said)[:1], HOST_ERROR)
    failed = load_run(write_replies(tmp_path / "f.jsonl", said | bad), data=twin, name="failed")
    nearly = load_run(write_replies(tmp_path / "n.jsonl", said | few), data=twin, name="nearly")
    board = rank([*runs, failed, nearly])
    entries = {entry.name: entry for entry in board.entries}
    assert board.entries[-1].name == "failed"
    assert (entries["failed"].rank, entries["failed"].figures) == (None, {})
    assert "30.0%" in entries["failed"].marks[0]
    assert not any("failed" in (pair.first, pair.second) for pair in board.pairs)
    assert entries["nearly"].rank == 1
    assert entries["nearly"].marks == ("0.8% of requests failed",)


def test_partial_runs_are_marked_and_tested_on_common_items(runs: list[Run]) -> None:
    part = replace(some(runs[5], list(runs[5].by_id)[:50]), name="part")
    board = rank([runs[0], part])
    assert board.pairs[0].n == 50
    entry = next(entry for entry in board.entries if entry.name == "part")
    assert entry.marks == (f"partial: 50 of {N} items",)
    assert any("Partial" in note for note in board.notes)
    apart = [replace(some(runs[1], list(runs[1].by_id)[50:]), name="rest"), part]
    board = rank(apart)
    assert board.pairs == ()
    assert set(ranks(board).values()) == {(1, 2)}  # either may be the better one


def test_ways_of_feeding_a_model_are_told_apart(runs: list[Run]) -> None:
    styled = [
        replace(run, meta=replace(run.meta, style=style)) for run, style in zip(runs, ("chat", "simple"), strict=False)
    ]
    assert any("not comparable" in note for note in rank(styled).notes)
    assert not any("not comparable" in note for note in rank(styled[:1]).notes)


def test_other_data_and_prompts_are_refused(runs: list[Run], twin: Benchmark, tmp_path: Path) -> None:
    other = made(tmp_path, twin, "other", oracle, task="georefusalbench_minimal")
    with pytest.raises(ConfigError, match="other: the prompt differs"):
        rank([*runs, other])
    board = rank([*runs, other], force=True)
    assert any("prompt differs" in mark for entry in board.entries for mark in entry.marks)
    assert any("Forced" in note for note in board.notes)


def test_names_must_tell_runs_apart(runs: list[Run]) -> None:
    with pytest.raises(ConfigError, match="two runs are called 'm0'"):
        rank([runs[0], runs[0]])
    with pytest.raises(ConfigError, match="--declare names 'x'"):
        rank(runs, declared={"x": "none"})
    with pytest.raises(DataError, match="no run"):
        rank([])


def test_clusters_are_used_where_they_are_known(tmp_path: Path, twin: Benchmark, runs: list[Run]) -> None:
    folder = write_provenance(tmp_path, N)
    joined = [load_run(run.path, data=twin, name=run.name, provenance=folder) for run in runs]
    assert all("clusters" in pair.method for pair in rank(joined).pairs)
    assert all("independent" in pair.method for pair in rank(runs).pairs)


def test_garbage_never_leads(runs: list[Run], twin: Benchmark, tmp_path: Path) -> None:
    garbage = made(tmp_path, twin, "garbage", lambda _: "%")
    entry = rank([*runs, garbage]).entries[-1]
    assert entry.name == "garbage"
    assert entry.figures["unparsed_rate"].value == 1.0


HOSTILE = '<script>alert(1)</script>|`x`_*[a](javascript:b)\n\\input{/etc/passwd} \u202eevil\x1b[31m%$#&{}~^"'


def test_names_are_text_in_every_form(runs: list[Run]) -> None:
    board = rank([replace(runs[0], name=HOSTILE), *runs[1:]], declared={HOSTILE: HOSTILE})
    shown = table(board)
    html, markdown, latex = shown.html(), shown.markdown(), shown.latex()
    assert "<script>alert" not in html
    assert html.count("<script") == 1  # ours
    assert "<script" not in markdown
    assert "\\input" not in latex
    for text in (html, markdown, latex, shown.plain(), shown.tsv()):
        assert "\x1b" not in text
        assert "\u202e" not in text
    rows = [line for line in markdown.splitlines() if line.startswith("|")]
    assert len(rows) == len(board.entries) + 2
    assert len({len(re.findall(r"(?<!\\)\|", row)) for row in rows}) == 1
    assert latex.count("\\\\") == len(board.entries) + 1
    assert len({line.count("\t") for line in shown.tsv().splitlines()}) == 1


def test_the_table_shows_no_rate_that_garbage_makes_look_good(runs: list[Run]) -> None:
    columns = table(rank(runs)).columns
    assert "Unparsed" in columns
    assert not any("false" in name.lower() or "missed" in name.lower() for name in columns)


def test_small_runs_show_counts(runs: list[Run]) -> None:
    few = some(runs[0], list(runs[0].by_id)[:7])
    shown = table(rank([few]))
    row = next(row for row in shown.rows if row[0] == "m0")
    assert re.fullmatch(r"\d/7", row[shown.columns.index("Accepted")])


def test_the_model_card_is_what_the_hub_reads(runs: list[Run], tmp_path: Path) -> None:
    from huggingface_hub import ModelCard

    run = replace(runs[3], name="x: {y} <z>\n- evil: true")
    card = ModelCard(model_card(run) + "\n# A model\n")
    results = {result.metric_type: result for result in card.data.eval_results}
    assert results["accept_acc"].metric_value == pytest.approx(run.summary.metrics["accept_acc"].value, abs=1e-6)
    assert results["accept_acc"].dataset_type == "albertLee/GeoRefusalBench"
    assert results["accept_acc"].dataset_args["digest"] == run.data_digest
    assert set(yaml.safe_load(model_card(run).split("---")[1])) == {"model-index"}


def test_all_models_alike_and_always_answer(twin: Benchmark, tmp_path: Path) -> None:
    same = [made(tmp_path, twin, f"a{i}", always_answer) for i in range(3)]
    board = rank(same)
    assert set(ranks(board).values()) == {(1, 3)}
    assert all(entry.against == {ALWAYS_ANSWER: "not told apart"} for entry in board.entries if entry.kind == "model")
