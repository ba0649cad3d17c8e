"""The task files: one per task of the table, alike but for what names the task."""

import importlib
from typing import Any

import pytest
import yaml

from georefusal_task.adapters import lmms, lmms_grsvqa
from georefusal_task.adapters.lmms_doctor import TASK_NAMES
from georefusal_task.adapters.lmms_register import tasks_dir
from georefusal_task.benchmarks import grounding
from georefusal_task.benchmarks.refusal_metrics import FORCED_METRICS, METRICS
from georefusal_task.grounding_tasks import GROUNDING_TASKS
from georefusal_task.tasks_table import TASKS

PER_TASK = {"task", "tag", "metadata", "process_docs"}


class Function(str):
    """A reference that the host would resolve."""


class Loader(yaml.SafeLoader):
    pass


Loader.add_constructor("!function", lambda loader, node: Function(loader.construct_scalar(node)))


def config(task: str) -> dict[str, Any]:
    text = (tasks_dir() / f"{task}.yaml").read_text(encoding="utf-8")
    return dict(yaml.load(text, Loader))


def functions(value: Any) -> list[Function]:
    if isinstance(value, Function):
        return [value]
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [found for part in parts for found in functions(part)]


def test_there_is_one_file_for_each_task_of_the_tables_and_no_other() -> None:
    assert sorted(file.stem for file in tasks_dir().glob("*.yaml")) == sorted(TASK_NAMES)


@pytest.mark.parametrize("task", TASKS)
def test_a_file_differs_from_the_main_one_only_in_what_names_the_task(task: str) -> None:
    here, main = config(task), config("georefusalbench")
    assert {key: here[key] for key in here.keys() - PER_TASK} == {key: main[key] for key in main.keys() - PER_TASK}
    assert here["task"] == task
    assert here["metadata"] == f"georefusal_task.adapters.lmms.{task}_metadata"
    assert here["process_docs"] == f"georefusal_task.adapters.lmms.{task}_docs"
    # the host looks for an included file in the user's folder first, so a stranger's could be taken for ours
    assert "include" not in here


def test_the_suite_is_the_benchmark_with_its_two_blind_baselines() -> None:
    tagged = {task for task in TASKS if config(task).get("tag") == "georefusal_suite"}
    assert tagged == {"georefusalbench", "georefusalbench_noimage", "georefusalbench_shuffled"}


def test_the_grounding_tasks_differ_from_each_other_only_in_what_names_the_task() -> None:
    main = config("grsvqa")
    for task in GROUNDING_TASKS:
        here = config(task)
        assert {key: here[key] for key in here.keys() - PER_TASK} == {key: main[key] for key in main.keys() - PER_TASK}
        assert here["task"] == task
        assert here["metadata"] == f"georefusal_task.adapters.lmms_grsvqa.{task}_metadata"
        assert here["process_docs"] == f"georefusal_task.adapters.lmms_grsvqa.{task}_docs"
        assert "include" not in here


@pytest.mark.parametrize("task", TASK_NAMES)
def test_every_reference_leads_somewhere(task: str) -> None:
    for reference in functions(config(task)):
        module, _, name = reference.rpartition(".")
        assert module in ("georefusal_task.adapters.lmms", "georefusal_task.adapters.lmms_grsvqa")
        if not name.endswith("_metadata"):  # that one loads data
            assert getattr(importlib.import_module(module), name) is not None


def test_an_unknown_task_is_no_attribute() -> None:
    for name in ("georefusalbench_nosuch_docs", "georefusalbench_main", "docs", "__path__"):
        with pytest.raises(AttributeError, match=name):
            getattr(lmms, name)


def test_decoding_is_greedy_and_nothing_stops_a_reply_early() -> None:
    found = config("georefusalbench")
    assert found["generation_kwargs"] == {"do_sample": False, "temperature": 0, "max_new_tokens": 1024, "until": []}
    assert found["num_fewshot"] == 0


def test_the_host_is_told_of_every_metric_of_any_task_once() -> None:
    names = [metric["metric"] for metric in lmms.METRIC_LIST]
    assert len(names) == len(set(names))
    assert set(names) == {*METRICS, *FORCED_METRICS, "score"}
    assert all(isinstance(metric["higher_is_better"], bool) for metric in lmms.METRIC_LIST)


def test_the_host_is_told_of_every_figure_of_grounding() -> None:
    names = [metric["metric"] for metric in lmms_grsvqa.METRIC_LIST]
    assert names == [*grounding.METRICS, "score"]
