"""The tasks for inspect_ai in its own process: what is shown, how scores look to it, failures, epochs, clusters."""

import json
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
import yaml
from inspect_ai.log import EvalLog
from inspect_ai.util import registry_info
from support.server import Answer, Request
from support.twin import make_twin

from georefusal_task import data
from georefusal_task.adapters import inspect as adapter
from georefusal_task.adapters.common import spec_of
from georefusal_task.core.records import Row
from georefusal_task.core.verdicts import Verdict
from georefusal_task.replies import read_replies, score_replies
from georefusal_task.tasks_table import summed_up
from georefusal_task.variants import show, shown_cases

pytestmark = pytest.mark.host

RIGHT = json.dumps({"verdict": "ANSWER", "answer": "yes", "justification": "a ship lies there"})
WRONG = json.dumps({"verdict": "REFUSE_NONFACTUAL_QUERY", "answer": "", "justification": "no image could tell"})


@pytest.fixture(scope="module")
def twin(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_twin(tmp_path_factory.mktemp("data") / "twin", n=20)


def figures(log: EvalLog) -> dict[str, float]:
    assert log.results is not None
    (scores,) = log.results.scores
    return {name: metric.value for name, metric in scores.metrics.items()}


def scored(log: EvalLog) -> dict[Any, Any]:
    assert log.samples
    return {sample.id: (sample.scores or {})["accept_set"] for sample in log.samples}


def read_again(log: EvalLog, folder: Path) -> list[Row]:
    """The rows that `score` makes of the log's file."""
    items = data.load(folder).by_id
    return score_replies(items, read_replies(Path(log.location.removeprefix("file://")), items))


def asked(request: Request) -> str:
    return request.texts[-1].rpartition("Question: ")[2]


def file_of(image: Any) -> bytes:
    out = BytesIO()
    image.save(out, format="PNG")
    return out.getvalue()


@pytest.mark.parametrize("variant", ["main", "shuffled", "grey", "jpeg_q95", "noimage"])
def test_a_variant_shows_what_it_shows_to_every_harness(run: Any, twin: Path, variant: Any) -> None:
    log, requests = run(adapter.georefusalbench(variant, data=str(twin), limit=6), lambda request: RIGHT)
    items = data.load(twin).items
    expected = {}
    for case in shown_cases([item.case for item in items], variant):
        image = show(case, variant)
        expected[case.question] = [] if image is None else [file_of(image)]
    assert len(requests) == 6
    for request in requests:
        assert [file for _, file in request.images] == expected[asked(request)]
        assert request.kinds == (["text"] if variant == "noimage" else ["text", "image_url", "text"])
    assert log.eval.task == spec_of("default", variant).name
    assert ("grey_answer_rate" in figures(log)) == (variant == "grey")


def test_the_viewer_sees_verdict_accept_set_status_and_category(run: Any, twin: Path) -> None:
    items = data.load(twin).items[:4]
    said = dict(zip([item.case.question for item in items], (RIGHT, WRONG, "hm", ""), strict=True))
    log, _ = run(adapter.georefusalbench(data=str(twin), limit=4), lambda request: said[asked(request)])
    scores = [scored(log)[item.case.id] for item in items]
    assert [score.answer for score in scores] == ["ANSWER", "REFUSE_NONFACTUAL_QUERY", None, None]
    assert [score.metadata["status"] for score in scores] == ["json", "json", "unparsed", "unparsed"]
    assert [score.reason for score in scores] == [None, None, "invalid_response_format", "no_response"]
    for item, score in zip(items, scores, strict=True):
        assert score.metadata["accept"] == list(item.label.accept)
        assert score.metadata["category"] == item.label.category
        assert score.value == ("N" if score.answer is None else "C" if score.answer in item.label.accept else "I")
    assert scores[0].explanation == "a ship lies there"
    assert log.samples is not None
    assert {key for sample in log.samples for key in sample.metadata} == {"set", "category", "intensity", "lever"}


def test_a_failed_request_is_wrong_counted_and_no_fault_of_the_models_format(run: Any, twin: Path) -> None:
    bad = data.load(twin).items[2].case

    def fail_once(request: Request) -> Answer:
        return 400 if asked(request) == bad.question else RIGHT

    log, _ = run(adapter.georefusalbench(data=str(twin), limit=5), fail_once)
    found = figures(log)
    assert (found["host_error_rate"], found["unparsed_rate"]) == (0.2, 0.2)
    assert (scored(log)[bad.id].reason, scored(log)[bad.id].value) == ("host_error", "N")
    assert summed_up(spec_of(), read_again(log, twin)).metrics["host_error_rate"].value == 0.2


def test_of_several_epochs_the_first_counts_and_all_tell_how_steady_the_model_is(run: Any, twin: Path) -> None:
    items = data.load(twin).items[:4]
    seen: dict[str, int] = {}

    def fickle(request: Request) -> str:
        seen[asked(request)] = seen.get(asked(request), 0) + 1
        return RIGHT if seen[asked(request)] == 1 else WRONG

    # one connection, or the epochs of an item could overtake each other at the server
    log, _ = run(adapter.georefusalbench(data=str(twin), limit=4), fickle, epochs=2, max_connections=1, max_samples=1)
    found = figures(log)
    assert found["accept_acc"] == sum(Verdict.ANSWER in item.label.accept for item in items) / 4
    assert found["repeat_agreement"] == 0.0
    summary = summed_up(spec_of(), read_again(log, twin))
    assert {name: found.get(name) for name in summary.metrics} == {n: e.value for n, e in summary.metrics.items()}


def test_dependent_items_widen_the_interval_and_stay_out_of_the_log(run: Any, twin: Path, tmp_path: Path) -> None:
    of = {item.case.id: f"SECRET-{item.label.accept[0]}" for item in data.load(twin).items}
    file = tmp_path / "clusters.jsonl"
    file.write_text("".join(json.dumps({"id": item, "cluster": cluster}) + "\n" for item, cluster in of.items()))
    log, _ = run(adapter.georefusalbench(data=str(twin), clusters=str(file)), lambda request: RIGHT)
    alone, _ = run(adapter.georefusalbench(data=str(twin)), lambda request: RIGHT)
    dependent, independent = figures(log), figures(alone)
    assert dependent["accept_acc"] == independent["accept_acc"]
    expected = summed_up(spec_of(), read_again(log, twin), of).metrics["accept_acc"]
    assert (dependent["accept_acc_low"], dependent["accept_acc_high"]) == (expected.low, expected.high)
    assert dependent["accept_acc_low"] < independent["accept_acc_low"]
    assert dependent["accept_acc_high"] > independent["accept_acc_high"]
    assert "SECRET" not in log.model_dump_json()


@pytest.mark.parametrize(
    ("prompt", "reply", "metric"), [("mcq", "A", "answer_recall"), ("forced", "yes", "forced_yes_share")]
)
def test_other_prompts_are_read_in_their_own_way(run: Any, twin: Path, prompt: str, reply: str, metric: str) -> None:
    log, _ = run(adapter.georefusalbench(prompt=prompt, data=str(twin)), lambda request: reply)
    assert figures(log)[metric] == 1.0
    assert log.eval.metadata is not None
    assert log.eval.metadata["prompt"].startswith(prompt)


def test_the_mini_set_needs_no_download() -> None:
    task = adapter.georefusalbench_mini(limit=3)
    assert (task.name, len(task.dataset)) == ("georefusalbench_mini", 3)


def test_the_entry_for_the_register_of_inspect_evals_points_at_what_is_there() -> None:
    root = Path(__file__).parents[2]
    entry = yaml.safe_load((root / "docs" / "examples" / "inspect_evals" / "eval.yaml").read_text())
    ((task,),) = [entry["tasks"]]
    assert Path(adapter.__file__).samefile(root / task["task_path"])
    assert registry_info(getattr(adapter, task["name"])).type == "task"
    assert task["dataset_samples"] == data.RELEASED_ITEMS
