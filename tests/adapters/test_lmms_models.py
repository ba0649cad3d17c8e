"""The baselines as classes: what they reply, in which form, and that a misspelt argument does not pass."""

import importlib
import json
from collections import Counter
from types import SimpleNamespace
from typing import Any

import pytest

from georefusal_task.adapters import lmms_models, lmms_plugin
from georefusal_task.adapters.lmms_baseline import Baseline
from georefusal_task.core.errors import ConfigError
from georefusal_task.core.records import Label
from georefusal_task.core.verdicts import VERDICTS

LABEL = Label(id="A-00", set="A", gold=VERDICTS[2], accept=[VERDICTS[2], VERDICTS[3]]).model_dump_json()


def replies(model: Baseline, docs: list[dict[str, str]], order: list[int] | None = None) -> list[str]:
    model.task_dict = {"task": {"test": docs}}
    asked = [SimpleNamespace(args=("text", {}, None, n, "task", "test")) for n in order or range(len(docs))]
    return model.generate_until(asked)


def document(number: int, prompt: str = "default") -> dict[str, str]:
    return {"id": f"A-{number:04x}", "prompt": prompt, "label": LABEL}


def test_a_constant_says_its_verdict_and_an_answer_only_with_answer() -> None:
    answered = json.loads(replies(lmms_models.Constant("ANSWER", "no"), [document(0)])[0])
    refused = json.loads(replies(lmms_models.Constant(VERDICTS[1]), [document(0)])[0])
    assert (answered["verdict"], answered["answer"]) == ("ANSWER", "no")
    assert (refused["verdict"], refused["answer"]) == (VERDICTS[1], "")


def test_an_oracle_says_gold() -> None:
    assert json.loads(replies(lmms_models.Oracle(), [document(0)])[0])["verdict"] == VERDICTS[2]


def test_chance_is_fair_and_the_same_for_an_item_wherever_it_stands() -> None:
    docs = [document(number) for number in range(3000)]
    texts = replies(lmms_models.Random(seed=1), docs)
    counts = Counter(json.loads(text)["verdict"] for text in texts)
    assert counts.keys() == set(VERDICTS)
    assert all(400 < count < 600 for count in counts.values())  # 500 expected, sd 20
    order = list(range(2999, -1, -7))
    assert replies(lmms_models.Random(seed=1), docs, order) == [texts[number] for number in order]
    assert replies(lmms_models.Random(seed=2), docs) != texts


def test_repeated_requests_for_an_item_are_drawn_anew() -> None:
    texts = replies(lmms_models.Random(), [document(0)], [0] * 30)
    assert len(set(texts)) > 3


@pytest.mark.parametrize(("prompt", "expected"), [("mcq", "C"), ("forced", "yes")])
def test_replies_have_the_form_that_the_prompt_asks_for(prompt: str, expected: str) -> None:
    assert replies(lmms_models.Oracle(), [document(0, prompt)]) == [expected]


@pytest.mark.parametrize(
    ("make", "named"),
    [
        (lambda: lmms_models.Constant(verdict="answer"), "answer"),
        (lambda: lmms_models.Constant(answer="maybe"), "maybe"),
        (lambda: lmms_models.Constant(verdcit="ANSWER"), "verdcit"),
        (lambda: lmms_models.Random(sede=1), "sede"),
    ],
)
def test_an_argument_that_means_nothing_is_an_error(make: Any, named: str) -> None:
    with pytest.raises(ConfigError, match=named):
        make()


def test_the_hosts_own_arguments_are_taken() -> None:
    given = lmms_models.Oracle(batch_size=1, device="cpu", max_batch_size=None)
    assert given.device == lmms_models.Oracle().device


def test_another_benchmarks_task_is_refused_by_name() -> None:
    with pytest.raises(ConfigError, match="task"):
        replies(lmms_models.Constant(), [{"question": "?"}])


@pytest.mark.parametrize(
    "name",
    [
        # importing a backend of the host takes ten seconds
        pytest.param(name, marks=() if kind == "simple" else [pytest.mark.host, pytest.mark.slow])
        for name, (kind, _) in lmms_plugin.MODELS.items()
    ],
)
def test_the_plugin_names_a_class_of_the_kind_that_it_says(name: str) -> None:
    kind, path = lmms_plugin.MODELS[name]
    module, _, class_name = path.rpartition(".")
    model = getattr(importlib.import_module(f"georefusal_task.adapters.{module}"), class_name)
    assert model.is_simple == (kind == "simple"), "the host refuses a model of the other kind"
