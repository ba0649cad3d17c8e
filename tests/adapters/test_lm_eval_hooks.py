"""The hooks and task files for lm-evaluation-harness, without the harness."""

from pathlib import Path
from typing import Any

import pytest
import typer
import yaml
from support.grounding import make_set
from support.twin import make_twin
from typer.testing import CliRunner

from georefusal_task.adapters import lm_eval, lm_eval_grsvqa, lmms, lmms_grsvqa, lmms_register
from georefusal_task.commands.tasks_path import tasks_path
from georefusal_task.grounding_tasks import GROUNDING_TASKS
from georefusal_task.tasks_table import TASKS


class Loader(yaml.SafeLoader):
    """Reads `!function` as the name that follows it."""


Loader.add_constructor("!function", lambda loader, node: loader.construct_scalar(node))


def task_file(name: str) -> dict[str, Any]:
    """The file with what it includes, as the harness merges them."""
    own = yaml.load((lm_eval.tasks_dir() / f"{name}.yaml").read_text(), Loader)
    return yaml.load((lm_eval.tasks_dir() / own.pop("include")).read_text(), Loader) | own


def functions(config: dict[str, Any]) -> dict[str, str]:
    return {key: value for key, value in config.items() if str(value).startswith("georefusal_task.")}


@pytest.fixture
def twin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = make_twin(tmp_path / "twin", n=20)
    monkeypatch.setenv("GEOREFUSAL_DATA", str(folder))
    return folder


def test_every_task_has_its_file_and_no_file_is_without_a_task() -> None:
    assert {file.stem for file in lm_eval.tasks_dir().glob("*.yaml")} == TASKS.keys() | GROUNDING_TASKS.keys()
    assert all(task_file(name)["task"] == name for name in (*TASKS, *GROUNDING_TASKS))


def test_tasks_path_prints_the_folder_of_the_harness_that_is_asked_for() -> None:
    app = typer.Typer()
    app.command()(tasks_path)
    asked = CliRunner().invoke(app, ["--host", "lm-eval"])
    assert (asked.exit_code, asked.output) == (0, f"{lm_eval.tasks_dir()}\n")


def test_the_two_harnesses_that_read_yaml_do_not_come_upon_each_others_files() -> None:
    ours, theirs = lm_eval.tasks_dir(), lmms_register.tasks_dir()
    assert not ours.is_relative_to(theirs)
    assert not theirs.is_relative_to(ours)


@pytest.mark.parametrize("name", TASKS)
def test_every_function_that_a_file_names_is_there_and_is_the_tasks_own(name: str, twin: Path) -> None:
    config = functions(task_file(name))
    assert config["custom_dataset"].endswith(f".{name}_dataset")
    assert config["metadata"].endswith(f".{name}_metadata")
    for path in config.values():
        getattr(lm_eval, path.removeprefix("georefusal_task.adapters.lm_eval."))
    with pytest.raises(AttributeError):
        _ = lm_eval.georefusalbench_mini_nonsense


@pytest.mark.parametrize("name", ["georefusalbench", "georefusalbench_mcq", "georefusalbench_noimage"])
def test_what_is_asked_generated_and_summed_up_is_what_lmms_eval_does(name: str, twin: Path) -> None:
    config, theirs = task_file(name), yaml.load((lmms_register.tasks_dir() / f"{name}.yaml").read_text(), Loader)
    generation, same = config["generation_kwargs"], theirs["generation_kwargs"]
    assert generation.pop("max_gen_toks") == same.pop("max_new_tokens")
    assert generation == same
    assert config.get("tag") == theirs.get("tag")
    assert [m["metric"] for m in lm_eval.METRIC_LIST] == [m["metric"] for m in lmms.METRIC_LIST]
    assert getattr(lm_eval, f"{name}_metadata") == getattr(lmms, f"{name}_metadata")


def test_the_harness_hands_its_metadata_to_the_data_set_and_gets_the_items(twin: Path) -> None:
    docs = lm_eval.georefusalbench_shuffled_dataset(version="v1", config_source="x")["test"]
    assert len(docs) == 20
    assert list(docs[0]) == list(lmms.Doc.__annotations__)


def test_the_mark_of_the_image_stands_between_instruction_and_question_once(twin: Path) -> None:
    doc = lm_eval.georefusalbench_dataset()["test"][0]
    before, after = lm_eval.doc_to_text(doc).split("<image>")
    assert f"{before.strip()}\n\n{after.strip()}" == lmms.doc_to_text(doc)
    assert after.startswith("\n\nQuestion: ")


def test_without_image_the_task_needs_no_model_with_eyes(twin: Path) -> None:
    assert task_file("georefusalbench_noimage")["doc_to_image"] is None
    doc = lm_eval.georefusalbench_noimage_dataset()["test"][0]
    assert lm_eval.doc_to_text(doc) == lmms.doc_to_text(doc)


@pytest.mark.parametrize("name", GROUNDING_TASKS)
def test_a_grounding_task_asks_generates_and_sums_up_as_in_lmms_eval(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GRSVQA_DATA", str(make_set(tmp_path / "set", n=10)))
    monkeypatch.setenv("GEOREFUSAL_FRAME", "internvl")
    config, theirs = task_file(name), yaml.load((lmms_register.tasks_dir() / f"{name}.yaml").read_text(), Loader)
    named = {path.removeprefix("georefusal_task.adapters.lm_eval_grsvqa.") for path in functions(config).values()}
    assert all(hasattr(lm_eval_grsvqa, one) for one in named)
    assert {f"{name}_dataset", f"{name}_metadata"} <= named
    generation, same = config["generation_kwargs"], theirs["generation_kwargs"]
    assert generation.pop("max_gen_toks") == same.pop("max_new_tokens")
    assert generation == same
    assert lm_eval_grsvqa.METRIC_LIST is lmms_grsvqa.METRIC_LIST
    assert getattr(lm_eval_grsvqa, f"{name}_metadata") == getattr(lmms_grsvqa, f"{name}_metadata")
    docs, others = getattr(lm_eval_grsvqa, f"{name}_dataset")()["test"], getattr(lmms_grsvqa, f"{name}_docs")(None)
    assert docs.to_list() == others.to_list()
    shown = GROUNDING_TASKS[name].image
    assert (config["doc_to_image"] is not None) == shown
    mark = f"\n\n{lm_eval.IMAGE}\n\n"
    for doc in docs:
        assert (mark in lm_eval_grsvqa.doc_to_text(doc)) == shown
        assert lm_eval_grsvqa.doc_to_text(doc).replace(mark, "\n\n") == lmms_grsvqa.doc_to_text(doc)


def test_a_grounding_task_of_another_name_is_not_there() -> None:
    for name in ("nonsense", "grsvqa_mini_nonsense", "nonsense_dataset", "nonsense_metadata"):
        with pytest.raises(AttributeError):
            getattr(lm_eval_grsvqa, name)
