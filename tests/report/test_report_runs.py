"""Every form in which a finished run lies about is read, and gives the figures of `score`."""

import json
from pathlib import Path
from typing import Any

import pytest
from support.runs import (
    HOST_ERROR,
    always_answer,
    oracle,
    skilled,
    texts,
    verdict,
    write_host,
    write_provenance,
    write_replies,
)
from support.twin import make_twin, twin_rows

from georefusal_task import data as loader
from georefusal_task.benchmarks.refusal import summarise
from georefusal_task.core.errors import ConfigError, DataError
from georefusal_task.data import Benchmark
from georefusal_task.replies import read_replies, score_replies
from georefusal_task.report.page_headline import warnings
from georefusal_task.report.runs import load_run, load_runs

N = 60
MAIN, SHUFFLED, NOIMAGE = "georefusalbench", "georefusalbench_shuffled", "georefusalbench_noimage"


@pytest.fixture(scope="module")
def twin(tmp_path_factory: pytest.TempPathFactory) -> Benchmark:
    return loader.load(make_twin(tmp_path_factory.mktemp("twin") / "data", n=N))


def test_all_forms_of_one_run_are_read_alike(tmp_path: Path, twin: Benchmark) -> None:
    """Folder, results file, log without one, reply file: the same rows, the figures of `score`."""
    said = texts(skilled(0.7), N)
    folder = write_host(tmp_path / "a", {MAIN: said})
    bare = write_host(tmp_path / "b", {MAIN: said}, results=False)
    plain = write_replies(tmp_path / "plain.jsonl", said)
    places = [tmp_path / "a", folder, next(folder.glob("*_results.json")), next(folder.glob("*.jsonl")), bare, plain]
    runs = [load_run(place, data=twin) for place in places]
    assert all(run.rows == runs[0].rows for run in runs)
    assert all(run.task == MAIN and run.n == run.n_total == N and not run.missing for run in runs)
    scored = summarise(score_replies(twin.by_id, read_replies(plain, twin.by_id)))
    assert all(run.summary.to_json() == scored.to_json() for run in runs)
    assert runs[0].texts == {item: (text,) for item, text in said.items()}


def test_what_the_host_recorded_is_kept_and_secrets_are_not(tmp_path: Path, twin: Benchmark) -> None:
    recorded = {"data_digest": twin.digest, "prompt": "default/v1", "prompt_sha256": "0" * 64, "reader": "1"}
    run = load_run(write_host(tmp_path, {MAIN: texts(oracle, N)}, metadata=recorded), data=twin)
    assert run.name == run.meta.model == "lab/model-7b"
    assert (run.meta.harness, run.meta.style, run.meta.backend) == ("lmms-eval", "chat", "qwen2_5_vl")
    assert (run.meta.revision, run.meta.dtype, run.meta.seed) == ("abc123", "bfloat16", 0)
    assert run.meta.generation == {"max_new_tokens": 1024}
    assert run.data_digest == twin.digest
    assert run.prompt_sha256 == "0" * 64
    assert any("another wording" in warning for warning in run.warnings)
    assert "sk-1234" not in repr(run.meta)


def test_the_commit_of_a_repository_around_the_host_is_not_its_version(tmp_path: Path, twin: Benchmark) -> None:
    place = write_host(tmp_path, {MAIN: texts(oracle, N)}, metadata={"versions": {"torch": "2.13.0", "other": 1}})
    results = next(place.glob("*_results.json"))
    results.write_text(results.read_text().replace('"0.7.3"', '"main@1234567"'))
    meta = load_run(place, data=twin).meta
    assert meta.harness_version is None
    assert meta.versions == {"torch": "2.13.0"}
    recorded = write_host(tmp_path / "b", {MAIN: texts(oracle, N)}, metadata={"versions": {"lmms-eval": "0.7.4"}})
    assert load_run(recorded, data=twin).meta.harness_version == "0.7.4"


def test_a_model_on_disk_is_named_without_the_machine(tmp_path: Path, twin: Benchmark) -> None:
    run = load_run(write_host(tmp_path, {MAIN: texts(oracle, N)}, model="/home/ann/models/lab/big-7b"), data=twin)
    assert run.name == "lab/big-7b"
    assert "ann" not in repr(run.meta)


def test_variants_stand_beside_the_main_run(tmp_path: Path, twin: Benchmark) -> None:
    """Two calls of the host, the second with the variants: one run."""
    write_host(tmp_path, {MAIN: texts(oracle, N)})
    write_host(tmp_path, {SHUFFLED: texts(skilled(0.3), N), NOIMAGE: texts(always_answer, N)}, date="20260102_120000")
    run = load_run(tmp_path, data=twin)
    assert run.task == MAIN
    assert set(run.variants) == {SHUFFLED, NOIMAGE}
    assert run.variants[NOIMAGE].spec.variant == "noimage"
    assert not run.variants[NOIMAGE].variants
    chosen = load_run(tmp_path, data=twin, task=SHUFFLED)
    assert chosen.task == SHUFFLED
    assert MAIN in chosen.variants


def test_a_results_folder_of_many_models_gives_many_runs(tmp_path: Path, twin: Benchmark) -> None:
    for model in ("lab/a", "lab/b"):
        write_host(tmp_path, {MAIN: texts(oracle, N)}, model=model)
    assert [run.name for run in load_runs([tmp_path], data=twin)] == ["lab/a", "lab/b"]
    with pytest.raises(ConfigError, match=r"2 models.*\n.*lab/a.*\n.*lab/b"):
        load_run(tmp_path, data=twin)


def test_two_models_of_one_name_can_be_told_apart(tmp_path: Path, twin: Benchmark) -> None:
    places = [write_host(tmp_path / name, {MAIN: texts(oracle, N)}) for name in "ab"]
    assert [run.name for run in load_runs(places, data=twin)] == ["lab/model-7b", "lab/model-7b (2)"]


def test_one_task_run_twice_is_not_guessed_at(tmp_path: Path, twin: Benchmark) -> None:
    for date in ("20260101_120000", "20260102_120000"):
        write_host(tmp_path, {MAIN: texts(oracle, N)}, date=date)
    with pytest.raises(ConfigError, match="2 logs"):
        load_run(tmp_path, data=twin)
    assert load_run(next(tmp_path.rglob("20260102*.jsonl")), data=twin).n == N


def test_a_variant_run_twice_is_not_guessed_at(tmp_path: Path, twin: Benchmark) -> None:
    write_host(tmp_path, {MAIN: texts(oracle, N)})
    for date in ("20260102_120000", "20260103_120000"):
        write_host(tmp_path, {SHUFFLED: texts(oracle, N)}, date=date)
    with pytest.raises(ConfigError, match="more than one log of a task"):
        load_run(tmp_path, data=twin)


def test_tasks_of_others_in_the_folder_are_left_alone(tmp_path: Path, twin: Benchmark) -> None:
    write_host(tmp_path, {MAIN: texts(oracle, N), "mmmu_val": {"x": "y"}})
    assert load_run(tmp_path, data=twin).variants == {}


def test_a_set_of_ones_own(tmp_path: Path, twin: Benchmark) -> None:
    run = load_run(write_host(tmp_path, {"my_set": texts(oracle, N)}), data=twin)
    assert (run.task, run.spec.prompt) == ("my_set", "default")


def test_partial_runs_know_what_is_missing(tmp_path: Path, twin: Benchmark) -> None:
    said = dict(list(texts(oracle, N).items())[:7])
    run = load_run(write_replies(tmp_path / "r.jsonl", said), data=twin)
    assert (run.n, run.n_total, len(run.missing)) == (7, N, N - 7)
    assert not set(run.missing) & set(said)


def test_failed_requests_are_counted(tmp_path: Path, twin: Benchmark) -> None:
    said = texts(oracle, N)
    said |= dict.fromkeys(list(said)[: N * 3 // 10], HOST_ERROR)
    assert load_run(write_replies(tmp_path / "r.jsonl", said), data=twin).host_error_share == 0.3


def test_confidence_logprobs_and_input_size(tmp_path: Path, twin: Benchmark) -> None:
    item, other = list(texts(oracle, N))[:2]
    lines = [
        {"id": item, "text": verdict("ANSWER", confidence=0.5), "logprobs": [-0.5, -1], "input_size": [336, 224]},
        {"id": other, "text": "x", "logprobs": {"content": [{"token": "x", "logprob": -2.0}]}},
    ]
    file = tmp_path / "r.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    run = load_run(file, data=twin)
    assert run.by_id[item].confidence == 0.5
    assert run.replies[item].logprobs == (-0.5, -1.0)
    assert run.replies[item].input_size == (336, 224)
    assert run.replies[other].logprobs == (-2.0,)


@pytest.mark.parametrize(
    "wrong",
    [{"logprobs": [0.5]}, {"logprobs": "x"}, {"logprobs": [True]}, {"input_size": [0, 3]}, {"input_size": "336x336"}],
)
def test_wrong_extras_are_refused_with_the_line(tmp_path: Path, twin: Benchmark, wrong: dict[str, Any]) -> None:
    file = write_replies(tmp_path / "r.jsonl", texts(oracle, N), **wrong)
    with pytest.raises(DataError, match=r"r\.jsonl:1.*" + next(iter(wrong))):
        load_run(file, data=twin)


def test_a_name_and_a_task_can_be_given(tmp_path: Path, twin: Benchmark) -> None:
    said = texts(lambda label: "yes", N)
    run = load_run(write_replies(tmp_path / "r.jsonl", said), data=twin, task="georefusalbench_forced", name="mine")
    assert run.name == "mine"
    assert run.is_forced
    assert run.summary.metrics["forced_yes_share"].value == 1.0


def test_other_data_than_recorded_is_said(tmp_path: Path, twin: Benchmark) -> None:
    place = write_host(tmp_path, {MAIN: texts(oracle, N)}, metadata={"data_digest": "f" * 64})
    run = load_run(place, data=twin)
    assert run.data_digest == "f" * 64
    assert any("ffffffffffff" in warning for warning in run.warnings)


@pytest.mark.parametrize("content", ["", "\n\n"])
def test_an_empty_run_is_named(tmp_path: Path, twin: Benchmark, content: str) -> None:
    file = tmp_path / "empty.jsonl"
    file.write_text(content)
    with pytest.raises(DataError, match=r"empty\.jsonl holds no reply"):
        load_run(file, data=twin)


def test_one_item(tmp_path: Path, twin: Benchmark) -> None:
    item, text = next(iter(texts(oracle, N).items()))
    run = load_run(write_replies(tmp_path / "r.jsonl", {item: text}), data=twin)
    assert run.n == 1
    assert run.summary.metrics["accept_acc"].value == 1.0


def test_places_that_are_no_run(tmp_path: Path, twin: Benchmark) -> None:
    with pytest.raises(DataError, match="not there"):
        load_run(tmp_path / "none", data=twin)
    (tmp_path / "empty").mkdir()
    with pytest.raises(ConfigError, match="--log_samples"):
        load_run(tmp_path / "empty", data=twin)
    (tmp_path / "x.json").write_text("{}")
    with pytest.raises(ConfigError, match="is no run"):
        load_run(tmp_path / "x.json", data=twin)


def test_other_data_are_named_where_an_id_is_unknown(tmp_path: Path, twin: Benchmark) -> None:
    place = write_host(tmp_path, {MAIN: {"A-00": "x"}}, metadata={"data_digest": "f" * 64})
    with pytest.raises(DataError, match=r"'A-00' is not among.*saw the data ffffffffffff"):
        load_run(place, data=twin)


def test_a_damaged_results_file_is_named(tmp_path: Path, twin: Benchmark) -> None:
    place = write_host(tmp_path, {MAIN: texts(oracle, N)})
    next(place.glob("*_results.json")).write_text('{"results": ')
    with pytest.raises(DataError, match=r"_results\.json is not JSON"):
        load_run(place, data=twin)


@pytest.mark.parametrize("content", [{}, {"config": 3, "configs": [], "model_name": 7}, {"configs": {MAIN: None}}])
def test_a_results_file_of_another_shape_records_nothing(tmp_path: Path, twin: Benchmark, content: Any) -> None:
    place = write_host(tmp_path, {MAIN: texts(oracle, N)})
    next(place.glob("*_results.json")).write_text(json.dumps(content))
    run = load_run(place, data=twin)
    assert run.n == N
    assert run.meta.prompt is None


def test_provenance_is_joined_by_id_and_gives_clusters(tmp_path: Path, twin: Benchmark) -> None:
    folder = write_provenance(tmp_path, N, items_per_base=4)
    file = write_replies(tmp_path / "r.jsonl", texts(skilled(0.6), N))
    run = load_run(file, data=twin, provenance=folder)
    assert run.clusters is not None
    assert len(set(run.clusters.values())) == N / 4
    assert "clusters" in run.summary.metrics["accept_acc"].method
    assert run.summary.metrics["accept_acc"].value == load_run(file, data=twin).summary.metrics["accept_acc"].value
    assert load_run(file, data=twin).clusters is None
    first = twin_rows(N)[1][0]["id"]
    assert run.provenance[first].pair_id == "pair0"
    assert "scene0" not in repr(run)


def test_provenance_that_ties_nothing_gives_no_clusters(tmp_path: Path, twin: Benchmark) -> None:
    """587 clusters of one item each would read as if dependence had been looked after."""
    said = texts(oracle, N)
    file = write_replies(tmp_path / "r.jsonl", said)
    loose, partly = tmp_path / "loose.jsonl", tmp_path / "partly.jsonl"
    loose.write_text("".join(json.dumps({"id": item, "modality": "sar"}) + "\n" for item in said))
    partly.write_text("".join(json.dumps({"id": item, "cluster": 1}) + "\n" for item in list(said)[:50]))
    run = load_run(file, data=twin, provenance=loose)
    assert run.clusters is None
    assert "names no base" in run.untied
    run = load_run(file, data=twin, provenance=partly)
    assert len(set(run.clusters.values())) == 11
    assert "ties 10 of 60" in run.untied
    assert load_run(file, data=twin).untied is None


@pytest.mark.parametrize(("items_per_base", "told"), [(N, "1 cluster only"), (4, f"{N // 4} clusters only"), (1, None)])
def test_few_clusters_are_a_caution(tmp_path: Path, twin: Benchmark, items_per_base: int, told: str | None) -> None:
    provenance = write_provenance(tmp_path, N, items_per_base=items_per_base)
    run = load_run(write_replies(tmp_path / "a.jsonl", texts(oracle, N)), data=twin, provenance=provenance)
    assert told in run.few_clusters if told else run.few_clusters is None
    assert [text for text in warnings([run]) if "cluster" in text] == (
        [run.few_clusters.capitalize() + "."] if told else []
    )
