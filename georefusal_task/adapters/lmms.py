"""The hooks that lmms-eval calls, each a few lines. A document of the host is one item and how its task asks it.

Task files name everything here by its absolute path, which the host resolves by a plain `getattr`. So `<task>_docs` and
`<task>_metadata` of every task in the table are made on demand, and nothing is loaded while the host lists its tasks.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from georefusal_task.adapters.lmms_metrics import carried, metric_list
from georefusal_task.adapters.lmms_register import tasks_dir
from georefusal_task.adapters.lmms_task import Doc, HostTask
from georefusal_task.benchmarks.prompts import get_prompt
from georefusal_task.benchmarks.refusal import score_one
from georefusal_task.core.records import Case, Label
from georefusal_task.core.reply import read_reply
from georefusal_task.tasks_table import TASKS, TaskSpec
from georefusal_task.variants import show

if TYPE_CHECKING:
    from PIL.Image import Image


def __getattr__(name: str) -> Any:
    task, _, part = name.rpartition("_")
    if task not in TASKS or part not in ("docs", "metadata"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(HostTask(TASKS[task]), part)


def doc_to_visual(doc: Doc) -> "list[Image]":
    """Return the image that the task shows, or no image."""
    image = show(Case.model_validate_json(doc["case"]), doc["variant"])
    return [] if image is None else [image]


def doc_to_text(doc: Doc) -> str:
    """Return instruction and question, for backends that take one text and one image."""
    return get_prompt(doc["prompt"]).text(Case.model_validate_json(doc["case"]))


def doc_to_messages(doc: Doc) -> list[dict[str, Any]]:
    """Return one user turn: instruction, image, question, so that servers can share the cached start of all prompts."""
    prompt, case = get_prompt(doc["prompt"]), Case.model_validate_json(doc["case"])
    images = [{"type": "image", "url": image} for image in doc_to_visual(doc)]
    if not images:
        return [{"role": "user", "content": [{"type": "text", "text": prompt.text(case)}]}]
    instruction, question = ({"type": "text", "text": text} for text in (prompt.instruction, prompt.ask(case)))
    return [{"role": "user", "content": [instruction, *images, question]}]


def doc_to_target(doc: Doc) -> str:
    """Return `<id> <accepted verdicts joined by |>`, so that a log without scores can still be scored by id."""
    label = Label.model_validate_json(doc["label"])
    return f"{label.id} {'|'.join(label.accept)}"


def process_results(doc: Doc, results: Sequence[str]) -> dict[str, Any]:
    """Return the item's part of every metric; `results` are its replies, more than one under the host's `-n`."""
    spec = TaskSpec(name="", prompt=doc["prompt"], variant=doc["variant"])
    case, label = Case.model_validate_json(doc["case"]), Label.model_validate_json(doc["label"])
    replies = [read_reply(text, spec.asks.reply) for text in results]
    return carried(score_one(case, label, replies, spec.asks.reply), spec)


METRIC_LIST = metric_list()
PLACEHOLDER = {"data_files": {"test": str(tasks_dir() / "placeholder.jsonl")}}
"""One row for the host's loader, which must load something before `docs` is called."""


class KeepAll:
    """A filter that hands on every reply to an item; the host's default drops all but the first."""

    def apply(self, resps: Sequence[Sequence[str | None]], docs: object) -> list[list[str]]:  # noqa: ARG002
        """Return the replies as they are, "" for one that is missing."""
        return [[str(text or "") for text in replies] or [""] for replies in resps]
