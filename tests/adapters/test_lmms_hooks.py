"""The hooks without the host: what it is given, what it logs, what it sums up."""

import json
import pickle
import random
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.twin import POISON, make_twin

from georefusal_task import data
from georefusal_task.adapters import lmms
from georefusal_task.adapters.lmms_task import HostTask
from georefusal_task.benchmarks.prompts import PROMPTS, get_prompt
from georefusal_task.core.errors import DataError
from georefusal_task.tasks_table import TASKS, TaskSpec

RIGHT = '{"verdict": "ANSWER", "answer": "yes", "justification": "seen"}'
WRONG = '{"verdict": "REFUSE_NONFACTUAL_QUERY", "answer": "", "justification": "no"}'


@pytest.fixture(scope="module")
def twin(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_twin(tmp_path_factory.mktemp("data") / "twin", n=40)


def documents(folder: Path, **spec: Any) -> list[lmms.Doc]:
    task = HostTask(TaskSpec("own", **spec), folder)
    return list(task.docs(None))  # type: ignore[arg-type]


def aggregations() -> dict[str, Callable[..., float | None]]:
    return {metric["metric"]: metric["aggregation"] for metric in lmms.METRIC_LIST}


def test_a_document_holds_our_records_and_nothing_of_the_provenance(twin: Path) -> None:
    docs = documents(twin)
    items = data.load(twin).items
    assert [doc["id"] for doc in docs] == [item.case.id for item in items]
    assert all(doc.keys() == lmms.Doc.__annotations__.keys() for doc in docs)
    assert POISON not in json.dumps(docs)


@pytest.mark.parametrize("prompt", PROMPTS)
def test_simple_and_chat_backends_read_the_same_words(twin: Path, prompt: str) -> None:
    doc = documents(twin, prompt=prompt)[3]
    (turn,) = lmms.doc_to_messages(doc)
    parts = turn["content"]
    assert turn["role"] == "user"
    assert [part["type"] for part in parts] == ["text", "image", "text"]
    assert parts[0]["text"] == get_prompt(prompt).instruction
    assert f"{parts[0]['text']}\n\n{parts[2]['text']}" == lmms.doc_to_text(doc)
    assert data.load(twin).by_id[doc["id"]].case.question in parts[2]["text"]


def test_without_image_there_is_one_text_and_nothing_to_see(twin: Path) -> None:
    doc = documents(twin, variant="noimage")[0]
    assert lmms.doc_to_visual(doc) == []
    assert lmms.doc_to_messages(doc) == [
        {"role": "user", "content": [{"type": "text", "text": lmms.doc_to_text(doc)}]},
    ]


def test_half_an_image_is_refused_when_it_is_handed_over(tmp_path: Path) -> None:
    # the host sets LOAD_TRUNCATED_IMAGES, under which Pillow shows the missing half as black
    folder = make_twin(tmp_path / "twin", n=20)
    doc = documents(folder)[0]
    image = data.load(folder).by_id[doc["id"]].case.image
    image.write_bytes(image.read_bytes()[: image.stat().st_size // 2])
    with pytest.raises(DataError, match=image.name):
        lmms.doc_to_visual(doc)


def test_the_target_names_the_item_so_that_an_unscored_log_can_be_scored(twin: Path) -> None:
    for doc, item in zip(documents(twin), data.load(twin).items, strict=True):
        assert lmms.doc_to_target(doc) == f"{item.case.id} {'|'.join(item.label.accept)}"


def test_the_log_line_holds_the_row_once(twin: Path) -> None:
    doc = documents(twin)[0]
    logged = json.loads(json.dumps(lmms.process_results(doc, [RIGHT])))
    label = data.load(twin).by_id[doc["id"]].label
    assert logged["accept_acc"]["id"] == doc["id"]
    assert logged["accept_acc"]["verdict"] == "ANSWER"
    assert logged["accept_acc"]["gold"] == label.gold
    assert logged["score"] == logged["accept_acc"]["score"] == float("ANSWER" in label.accept)
    others = {name: value for name, value in logged.items() if name not in ("accept_acc", "score")}
    assert set(others.values()) == {""}, "a numeric value here would get a standard error that is not the metric's"


@settings(deadline=None, max_examples=60)
@given(texts=st.lists(st.text(), min_size=1, max_size=3), prompt=st.sampled_from(list(PROMPTS)))
def test_no_reply_whatever_stops_a_run(twin: Path, texts: list[str], prompt: str) -> None:
    doc = first_document(twin, prompt)
    values = lmms.process_results(doc, texts)
    figures = [aggregations()[name]([value]) for name, value in values.items()]
    assert all(figure is None or isinstance(figure, float) for figure in figures)


@cache
def first_document(folder: Path, prompt: str) -> lmms.Doc:
    return documents(folder, prompt=prompt)[0]


def scored(docs: list[lmms.Doc], seed: int = 0) -> list[dict[str, Any]]:
    chance = random.Random(seed)
    return [lmms.process_results(doc, [chance.choice([RIGHT, WRONG, "no idea"])]) for doc in docs]


def test_figures_depend_neither_on_order_nor_on_the_rank_that_scored_an_item_twice(twin: Path) -> None:
    rows = scored(documents(twin))
    again = pickle.loads(pickle.dumps(random.Random(1).sample(rows, len(rows)) + rows[:7]))  # as gathered from ranks
    for name in rows[0]:
        aggregate = aggregations()[name]
        assert aggregate([row[name] for row in rows]) == aggregate([row[name] for row in again]), name


def test_contradicting_rows_give_no_figure_instead_of_ending_a_finished_run(
    twin: Path, caplog: pytest.LogCaptureFixture
) -> None:
    doc = documents(twin)[0]
    rows = [lmms.process_results(doc, [text]) for text in (RIGHT, WRONG)]
    figures = {name: aggregations()[name]([row[name] for row in rows]) for name in rows[0]}
    assert set(figures.values()) == {None}
    assert len(caplog.records) == 1
    assert doc["id"] in caplog.text


@pytest.mark.parametrize(
    ("task", "present", "absent"),
    [
        ("georefusalbench", {"accept_acc", "score", "answer_rate"}, {"grey_answer_rate", "forced_acc"}),
        ("georefusalbench_grey", {"accept_acc", "grey_answer_rate"}, {"answer_rate"}),
        ("georefusalbench_forced", {"forced_acc", "forced_yes_share", "unparsed_rate"}, {"accept_acc", "score"}),
    ],
)
def test_a_task_reports_what_means_something_for_it(twin: Path, task: str, present: set[str], absent: set[str]) -> None:
    spec = TASKS[task]
    doc = documents(twin, prompt=spec.prompt, variant=spec.variant)[0]
    names = lmms.process_results(doc, [RIGHT]).keys()
    assert present <= names
    assert not absent & names


def test_the_filter_keeps_every_reply_as_text() -> None:
    assert lmms.KeepAll().apply([["a", "b"], [None], []], docs=None) == [["a", "b"], [""], [""]]


def test_metadata_changes_with_pixels_words_and_prompt_and_uses_no_key_of_the_host(tmp_path: Path) -> None:
    # the host's reply cache knows only the text of a request; without this it would serve replies to other images
    folder = make_twin(tmp_path / "twin", n=20)
    task = HostTask(TaskSpec("own"), folder)
    before = task.metadata
    assert not before.keys() & {"split", "task", "doc_id", "repeats"}
    assert before == task.metadata
    json.dumps(before)
    image = data.load(folder).items[0].case.image
    image.write_bytes(data.load(folder).items[1].case.image.read_bytes())
    assert task.metadata["data_digest"] != before["data_digest"]
    assert HostTask(TaskSpec("own", prompt="minimal"), folder).metadata["prompt_sha256"] != before["prompt_sha256"]


def test_documents_are_those_that_the_metadata_speaks_of(tmp_path: Path) -> None:
    folder = make_twin(tmp_path / "twin", n=20)
    task = HostTask(TaskSpec("own"), folder)
    digest = task.metadata["data_digest"]
    (folder / "labels" / "A.jsonl").write_text("", encoding="utf-8")  # changed while the host builds the task
    assert len(task.docs(None)) == 20  # type: ignore[arg-type]
    with pytest.raises(DataError):
        task.metadata  # noqa: B018
    assert digest


def test_missing_data_is_said_at_once_with_what_to_do(tmp_path: Path) -> None:
    task = HostTask(TaskSpec("own"), tmp_path / "nowhere")
    with pytest.raises(DataError, match="nowhere"):
        task.metadata  # noqa: B018
