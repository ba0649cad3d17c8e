"""Selective prediction by hand, by brute force, and where there is nothing to draw."""

import itertools
import json
import math
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.runs import VERDICTS, always_answer, oracle, skilled, texts, verdict, write_provenance
from support.twin import make_twin, twin_rows

from georefusal_task import data as loader
from georefusal_task.data import Benchmark
from georefusal_task.report.runs import Run, load_run
from georefusal_task.report.selective import augrc, aurc, effective_reliability, selective

N = 60


@pytest.fixture(scope="module")
def twin(tmp_path_factory: pytest.TempPathFactory) -> Benchmark:
    return loader.load(make_twin(tmp_path_factory.mktemp("twin") / "data", n=N, score_answer=True))


def made(folder: Path, twin: Benchmark, lines: list[dict[str, Any]], **more: Any) -> Run:
    file = folder / "r.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return load_run(file, data=twin, **more)


def counts(*levels: tuple[int, int]) -> np.ndarray:
    """(right, wrong) per level of confidence, the highest first."""
    return np.array([number for level in levels for number in level], dtype=float)


def test_by_hand() -> None:
    """Right, wrong, right, wrong: risks 0, 1/2, 1/3, 1/2; errors 0, 1, 1, 2."""
    found = counts((1, 0), (0, 1), (1, 0), (0, 1))
    assert float(aurc(found)) == pytest.approx((0 + 1 / 2 + 1 / 3 + 1 / 2) / 4)
    assert float(augrc(found)) == pytest.approx((0 + 0.5 + 1 + 1.5) / 16)


@pytest.mark.parametrize(
    ("levels", "area", "generalised"),
    [
        ([(4, 0)], 0, 0),  # nothing wrong
        ([(0, 4)], 1, 0.5),  # nothing right
        ([(2, 2)], 0.5, 0.25),  # one confidence for all: the share of errors, half of it
        ([(2, 0), (0, 2)], (0 + 0 + 1 / 3 + 1 / 2) / 4, (0 + 0 + 0.5 + 1.5) / 16),  # best order
        ([(0, 2), (2, 0)], (1 + 1 + 2 / 3 + 1 / 2) / 4, (0.5 + 1.5 + 2 + 2) / 16),  # worst order
    ],
)
def test_ends_of_the_scale(levels: list[tuple[int, int]], area: float, generalised: float) -> None:
    assert float(aurc(counts(*levels))) == pytest.approx(area)
    assert float(augrc(counts(*levels))) == pytest.approx(generalised)


@given(st.lists(st.tuples(st.integers(0, 2), st.booleans()), min_size=1, max_size=6))
@settings(deadline=None, max_examples=40)
def test_ties_are_the_mean_over_all_orders(items: list[tuple[int, bool]]) -> None:
    areas = []
    for order in itertools.permutations(items):
        if [level for level, _ in order] == sorted(level for level, _ in order):
            wrong = np.cumsum([w for _, w in order])
            areas.append((wrong / np.arange(1, len(order) + 1)).mean())
    levels = [(sum(x == (k, False) for x in items), sum(x == (k, True) for x in items)) for k in range(3)]
    assert float(aurc(counts(*levels))) == pytest.approx(np.mean(areas))


def test_many_resamples_at_once() -> None:
    both = np.stack([counts((1, 0), (0, 1)), counts((0, 1), (1, 0)), counts((0, 0), (1, 1))])
    assert aurc(both) == pytest.approx([float(aurc(row)) for row in both])
    assert augrc(both) == pytest.approx([float(augrc(row)) for row in both])


def test_a_run_without_confidence_has_no_curve(tmp_path: Path, twin: Benchmark) -> None:
    lines = [{"id": item, "text": text} for item, text in texts(oracle, N).items()]
    assert selective(made(tmp_path, twin, lines)) == []


def test_both_sources_are_kept_apart(tmp_path: Path, twin: Benchmark) -> None:
    lines = []
    for number, label in enumerate(twin_rows(N)[1]):
        right = number % 3 > 0
        name = label["gold"] if right else next(v for v in VERDICTS if v not in label["accept"])
        stated = verdict(name, confidence=0.9 if right else 0.2)
        lines.append({"id": label["id"], "text": stated, "logprobs": [-0.1 * (number + 1), -0.1]})
    found = {one.source: one for one in selective(made(tmp_path, twin, lines))}
    assert set(found) == {"confidence", "token_probability"}
    stated = found["confidence"]
    assert stated.coverage == pytest.approx((2 / 3, 1))
    assert stated.risk == pytest.approx((0, 1 / 3))
    assert stated.aurc.value == pytest.approx(stated.aurc_best)
    assert stated.aurc.low <= stated.aurc.value <= stated.aurc.high
    assert stated.aurc_random == pytest.approx(1 / 3)
    tokens = found["token_probability"]
    assert len(tokens.coverage) == N
    errors = np.cumsum([number % 3 == 0 for number in range(N)])
    assert tokens.aurc.value == pytest.approx((errors / np.arange(1, N + 1)).mean())
    json.dumps([one.to_json() for one in found.values()], allow_nan=False)


def test_items_without_a_confidence_come_last(tmp_path: Path, twin: Benchmark) -> None:
    """Dropping unreadable replies would leave a perfect curve."""
    labels = twin_rows(N)[1]
    lines = [{"id": label["id"], "text": verdict(label["gold"], confidence=0.5)} for label in labels[:40]]
    lines += [{"id": label["id"], "text": "%"} for label in labels[40:]]
    (one,) = selective(made(tmp_path, twin, lines))
    assert (one.n, one.n_known) == (N, 40)
    assert one.risk == pytest.approx((0, 1 / 3))


def test_order_changes_nothing_and_clusters_change_the_interval_alone(tmp_path: Path, twin: Benchmark) -> None:
    lines = [
        {"id": item, "text": text, "confidence": random.Random(item).random()}
        for item, text in texts(skilled(0.5), N).items()
    ]
    (one,) = selective(made(tmp_path, twin, lines))
    random.Random(0).shuffle(lines)
    assert selective(made(tmp_path, twin, lines)) == [one]
    folder = write_provenance(tmp_path / "p", N)
    (clustered,) = selective(made(tmp_path, twin, lines, provenance=folder))
    assert clustered.aurc.value == one.aurc.value
    assert "clusters" in clustered.aurc.method


def test_effective_reliability_by_hand(tmp_path: Path, twin: Benchmark) -> None:
    labels = twin_rows(N)[1]
    counted = [label for label in labels if label["score_answer"] or "ANSWER" not in label["accept"]]
    must = sum("ANSWER" not in label["accept"] for label in counted)
    right = len(counted) - must

    def reliability(say: Any, cost: float) -> float | None:
        lines = [{"id": item, "text": text} for item, text in texts(say, N).items()]
        return effective_reliability(made(tmp_path, twin, lines), cost).value

    assert reliability(oracle, 10) == pytest.approx(right / len(counted))
    yes = sum(label["answer"] == "yes" for label in counted)
    assert reliability(always_answer, 2) == pytest.approx((yes - 2 * (len(counted) - yes)) / len(counted))
    assert reliability(lambda _: verdict("REFUSE_NONFACTUAL_QUERY"), 10) == 0
    assert reliability(lambda _: "garbage", 1) == -1


def test_effective_reliability_needs_gold_answers(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    bare = loader.load(make_twin(tmp_path_factory.mktemp("bare") / "data", n=N, drop=["answer"]))
    lines = [{"id": item, "text": text} for item, text in texts(oracle, N).items()]
    assert effective_reliability(made(tmp_path, bare, lines)).value is None


def test_token_probability_does_not_grow_with_length(tmp_path: Path, twin: Benchmark) -> None:
    """The plain product would call every long reply unsure."""
    items = list(texts(oracle, N))[:2]
    lines = [
        {"id": items[0], "text": "%", "logprobs": [math.log(0.9)] * 50},
        {"id": items[1], "text": texts(oracle, N)[items[1]], "logprobs": [math.log(0.8)] * 2},
    ]
    (one,) = selective(made(tmp_path, twin, lines))
    assert one.risk == pytest.approx((1, 0.5))
