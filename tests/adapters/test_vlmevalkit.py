"""The data set class and the wrapper for VLMEvalKit, against a stand-in of what they use of it."""

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from support.twin import make_twin, twin_rows

from georefusal_task import data
from georefusal_task.adapters import vlmevalkit
from georefusal_task.replies import ItemReplies, score_replies
from georefusal_task.tasks_table import TASKS, summed_up

RUN_PY = """
import json, pathlib, sys
from vlmeval.dataset import SUPPORTED_DATASETS, build_dataset
arguments = dict(zip(sys.argv[1::2], sys.argv[2::2]))
dataset = build_dataset(arguments["--data"])
frame = dataset.data.assign(prediction=[dataset.build_prompt(n)[-1]["value"] for n in range(len(dataset.data))])
out = pathlib.Path(arguments["--work-dir"], "predictions.json")
out.write_text(frame.to_json(orient="records"))
pathlib.Path(arguments["--work-dir"], "figures.json").write_text(json.dumps(dataset.evaluate(str(out), nproc=4)))
"""


class ImageBaseDataset:
    """The part of VLMEvalKit's class of this name that fills in what subclasses leave out."""

    def __init__(self, dataset: str = "MMBench", skip_noimg: bool = True) -> None:
        self.dataset_name = dataset
        self.img_root = str(Path(IMAGES[0]) / "images" / dataset)
        self.data = self.load_data(dataset)  # type: ignore[attr-defined]
        assert list(self.data["index"]) == list(range(len(self.data))), "the host wants whole numbers"
        self.meta_only = True


IMAGES: list[str] = []


@pytest.fixture(autouse=True)
def host(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[ModuleType]:
    names = ("vlmeval", "vlmeval.dataset", "vlmeval.dataset.image_base", "vlmeval.smp")
    modules = {name: ModuleType(name) for name in names}
    dataset: Any = modules["vlmeval.dataset"]
    dataset.IMAGE_DATASET, dataset.SUPPORTED_DATASETS = [ImageBaseDataset], ["MMBench"]
    dataset.DATASET_CLASSES = list(dataset.IMAGE_DATASET)

    def build_dataset(name: str) -> Any:
        for cls in dataset.DATASET_CLASSES[1:]:
            if name in cls.supported_datasets():
                return cls(dataset=name)
        raise AssertionError(f"{name} is not known")

    dataset.build_dataset = build_dataset
    modules["vlmeval.dataset.image_base"].ImageBaseDataset = ImageBaseDataset  # type: ignore[attr-defined]
    modules["vlmeval.smp"].load = lambda file: json.loads(Path(file).read_text())  # type: ignore[attr-defined]
    for name, module in modules.items():
        monkeypatch.setitem(sys.modules, name, module)
    monkeypatch.delitem(sys.modules, "georefusal_task.adapters.vlmevalkit_dataset", raising=False)
    monkeypatch.setenv("GEOREFUSAL_DATA", str(make_twin(tmp_path / "twin", n=40)))
    monkeypatch.setenv("PRED_FORMAT", "tsv")  # the wrapper sets it; put back afterwards
    IMAGES[:] = [str(tmp_path)]
    yield dataset
    sys.modules.pop("georefusal_task.adapters.vlmevalkit_dataset", None)


@pytest.fixture
def build(host: ModuleType) -> Any:
    vlmevalkit.register()
    return host.build_dataset


def test_registering_twice_adds_the_data_set_once(host: ModuleType) -> None:
    vlmevalkit.register()
    vlmevalkit.register()
    assert [cls.__name__ for cls in host.DATASET_CLASSES].count("GeoRefusalBench") == 1
    assert host.IMAGE_DATASET[-1] is host.GeoRefusalBench
    names = [name for name in host.SUPPORTED_DATASETS if name.startswith("GeoRefusalBench")]
    assert [name.replace("GeoRefusalBench", "georefusalbench") for name in names] == list(TASKS)


def test_a_model_sees_instruction_image_and_question_and_the_image_is_the_files_own_bytes(build: Any) -> None:
    dataset = build("GeoRefusalBench")
    items = data.load().items
    assert len(dataset.data) == len(items) == 40
    for n, item in enumerate(items):
        instruction, image, question = dataset.build_prompt(n if n % 2 else dataset.data.iloc[n])
        assert [part["type"] for part in (instruction, image, question)] == ["text", "image", "text"]
        assert f"{instruction['value']}\n\n{question['value']}" == dataset.spec.asks.text(item.case)
        assert Path(image["value"]).read_bytes() == item.case.image.read_bytes()


def test_nothing_of_the_label_is_in_the_table_that_models_may_read(build: Any) -> None:
    dataset = build("GeoRefusalBench")
    assert set(dataset.data.columns) == {"index", "item_id", "set", "question", "image_path"}


def test_variants_and_prompts_are_data_sets_of_their_own(build: Any) -> None:
    (only,) = build("GeoRefusalBench_noimage").build_prompt(0)
    assert only["type"] == "text"
    grey = build("GeoRefusalBench_grey")
    original = data.load().items[0].case.image.read_bytes()
    assert Path(grey.build_prompt(0)[1]["value"]).read_bytes() != original
    assert "letter" in build("GeoRefusalBench_mcq").build_prompt(0)[0]["value"]


def test_models_are_kept_from_putting_a_prompt_of_their_own_in_its_place(build: Any) -> None:
    dataset = build("GeoRefusalBench")
    assert dataset.force_use_dataset_prompt
    assert dataset.TYPE not in {"VQA", "MCQ", "Y/N", "Caption", "MT"}  # types that models have prompts for


def test_the_figures_are_those_of_score(build: Any, tmp_path: Path) -> None:
    dataset = build("GeoRefusalBench")
    labels = twin_rows(40)[1]
    texts = [
        json.dumps({"verdict": label["gold"], "answer": "yes"}) if n % 3 else "hm" for n, label in enumerate(labels)
    ]
    said = {label["id"]: text for label, text in zip(labels, texts, strict=True)}
    frame = dataset.data.assign(prediction=[said[item] for item in dataset.data["item_id"]])
    file = tmp_path / "predictions.json"
    file.write_text(frame.to_json(orient="records"))

    items = data.load().by_id
    rows = score_replies(items, {item: ItemReplies((text,)) for item, text in said.items()})
    expected = {name: estimate.value for name, estimate in summed_up(dataset.spec, rows).metrics.items()}
    assert dataset.evaluate(str(file), model="a judge", nproc=4) == expected
    assert dataset.report_primary_metric(expected) == {"accept_acc": expected["accept_acc"]}


def test_a_failed_request_is_no_reply_of_the_model_and_an_empty_cell_is_an_empty_reply(
    build: Any, tmp_path: Path
) -> None:
    dataset = build("GeoRefusalBench")
    predictions = ["Failed to obtain answer via API.", None, *(["x"] * 38)]
    file = tmp_path / "predictions.json"
    file.write_text(dataset.data.assign(prediction=predictions).to_json(orient="records"))
    figures = dataset.evaluate(str(file))
    assert (figures["host_error_rate"], figures["unparsed_rate"]) == (1 / 40, 1.0)


def test_the_wrapper_hands_over_to_run_py_with_all_other_arguments(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "kit").mkdir()
    script = tmp_path / "kit" / "run.py"
    script.write_text(RUN_PY)
    monkeypatch.setattr(sys, "argv", ["python"])
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.delenv("PRED_FORMAT")
    vlmevalkit.main([str(script), "--data", "GeoRefusalBench_noimage", "--work-dir", str(tmp_path)])
    assert json.loads((tmp_path / "figures.json").read_text())["unparsed_rate"] > 0
    assert sys.path[0] == str(script.parent), "a checkout must win over an installed package"
    # a spreadsheet drops control characters and cuts long replies
    assert os.environ["PRED_FORMAT"] == "json"
