"""What a paper would say of a run: complete, escaped, and no better than the run."""

import re
from dataclasses import replace
from pathlib import Path

import pytest
from support.runs import HOST_ERROR, oracle, skilled, texts, write_host, write_replies
from support.twin import make_twin

from georefusal_task import data as loader
from georefusal_task.core.errors import ConfigError
from georefusal_task.data import Benchmark
from georefusal_task.report.citing import bibtex, cite, latex_row, methods
from georefusal_task.report.runs import load_run

N = 60


@pytest.fixture(scope="module")
def twin(tmp_path_factory: pytest.TempPathFactory) -> Benchmark:
    return loader.load(make_twin(tmp_path_factory.mktemp("twin") / "data", n=N))


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Benchmark:
    return loader.load(make_twin(tmp_path_factory.mktemp("whole") / "data"))


def test_the_sentence_lets_a_reader_repeat_the_run(tmp_path: Path, whole: Benchmark) -> None:
    recorded = {"prompt_sha256": "a" * 64}
    run = load_run(write_host(tmp_path, {"georefusalbench": texts(skilled(0.7))}, metadata=recorded), data=whole)
    said = methods(run)
    headline, false, missed = (
        run.summary.metrics[name] for name in ("accept_acc", "false_refusal_rate", "missed_refusal_rate")
    )
    for part in (
        "lab/model-7b (revision abc123)",
        "on GeoRefusalBench in lmms-eval 0.7.3",
        "all 587 items",
        whole.digest[:12],
        "default/v1 (SHA-256 aaaaaaaaaaaa)",
        "max_new_tokens 1024",
        f"{100 * headline.value:.1f} % of the items got an accepted verdict",
        f"It refused {false.count} of 295 answerable items and answered {missed.count} of 292 that must be refused.",
        f"{100 * headline.low:.1f} to {100 * headline.high:.1f}, n = 587",
        "Always answering gets 50.3 %",
        "assumes independent items",
    ):
        assert part in said, part
    assert "albertLee/GeoRefusalBench" in bibtex(run)


def test_what_was_not_recorded_is_said(tmp_path: Path, twin: Benchmark) -> None:
    run = load_run(write_replies(tmp_path / "r.jsonl", texts(oracle, N)), data=twin)
    assert "the run does not record it" in methods(run)
    assert "another set (60 items" in methods(run)
    assert "albertLee" not in bibtex(run)


def test_one_item_has_one_side_only(tmp_path: Path, twin: Benchmark) -> None:
    for answerable, sentence in ((True, "It refused 0 of 1 answerable items."), (False, "It answered 0 of 1 that")):
        item = next(i.case.id for i in twin.items if ("ANSWER" in i.label.accept) == answerable)
        file = write_replies(tmp_path / "one.jsonl", {item: texts(oracle, N)[item]})
        assert sentence in methods(load_run(file, data=twin))


def test_partial_runs_failures_and_garbage_are_not_hidden(tmp_path: Path, twin: Benchmark) -> None:
    said = dict(list(texts(oracle, N).items())[:40])
    said |= dict.fromkeys(list(said)[:4], HOST_ERROR) | dict.fromkeys(list(said)[4:6], "garbage")
    text = methods(load_run(write_replies(tmp_path / "r.jsonl", said), data=twin))
    assert "40 of 60 items (a partial run)" in text
    assert "6 of 40 replies held no readable verdict" in text
    assert "10.0% of the requests failed and count as wrong, too many for a result" in text


def test_variants_and_the_mini_set_are_named(tmp_path: Path, twin: Benchmark) -> None:
    file = write_replies(tmp_path / "r.jsonl", texts(oracle, N))
    assert "each with the image of another" in methods(load_run(file, data=twin, task="georefusalbench_shuffled"))
    mini = loader.load_mini()
    own = write_replies(tmp_path / "m.jsonl", {item.case.id: "x" for item in mini.items})
    assert "mini set (not a benchmark)" in methods(load_run(own, task="georefusalbench_mini"))
    with pytest.raises(ConfigError, match="yes and no only"):
        cite(load_run(file, data=twin, task="georefusalbench_forced"))


def test_names_are_escaped(tmp_path: Path, twin: Benchmark) -> None:
    run = load_run(write_replies(tmp_path / "r.jsonl", texts(oracle, N)), data=twin)
    hostile = replace(run, name="\\input{x}%\n\\end{document} & $a_b^c$ #1 ~")
    text = cite(hostile)
    assert "\\input" not in text
    assert "\\end" not in text
    assert len(re.findall(r"(?<!\\)&", latex_row(hostile))) == 7
    assert latex_row(hostile).count("\n") == 0


def test_one_item(tmp_path: Path, twin: Benchmark) -> None:
    item, text = next(iter(texts(oracle, N).items()))
    run = load_run(write_replies(tmp_path / "r.jsonl", {item: text}), data=twin)
    assert "1 of 60 items" in cite(run)
    assert "1/1" in latex_row(run)
