"""The hooks that lmms-eval calls, each a few lines. A document of the host is one item and how its task asks it.

Task files name everything here by its absolute path, which the host resolves by a plain `getattr`. So `<task>_docs` and
`<task>_metadata` of every task in the table are made on demand, and nothing is loaded while the host lists its tasks.
"""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict

from georefusal_task.adapters.common import described, load
from georefusal_task.adapters.lmms_metrics import carried, metric_list
from georefusal_task.adapters.lmms_register import tasks_dir
from georefusal_task.benchmarks.prompts import get_prompt
from georefusal_task.benchmarks.refusal import score_one
from georefusal_task.core.errors import GeoRefusalError
from georefusal_task.core.records import Case, Label
from georefusal_task.core.reply import read_reply
from georefusal_task.data import Benchmark
from georefusal_task.tasks_table import TASKS, TaskSpec, Variant
from georefusal_task.variants import show, shown_cases

if TYPE_CHECKING:
    from datasets import Dataset
    from PIL.Image import Image


class Doc(TypedDict):
    """All that the host knows of an item; `case` and `label` are our records as JSON, prompt and variant are names."""

    id: str
    prompt: str
    variant: Variant
    case: str
    label: str


_loaded: dict["HostTask", Benchmark] = {}
"""What the metadata of a task was made from, kept until its documents are asked for."""


@dataclass(frozen=True)
class HostTask:
    """One task of the host: what is asked and shown, and the folder of a set of one's own where there is one."""

    spec: TaskSpec
    folder: Path | None = None

    @property
    def metadata(self) -> dict[str, Any]:
        """What the host stores with the results and mixes into the keys of its reply cache."""
        try:
            benchmark = self._load()
        except GeoRefusalError as error:
            if "lmms_eval.__main__" not in sys.modules:
                raise
            # its own command would bury the message under a traceback and exit with 0
            sys.exit(f"error: {error}")
        return described(self.spec, benchmark)

    def docs(self, placeholder: "Dataset") -> "Dataset":  # noqa: ARG002
        """Return the items as the host's documents, in place of the one placeholder row of the task file."""
        from datasets import Dataset

        items = (_loaded.get(self) or self._load()).items
        shown = shown_cases([item.case for item in items], self.spec.variant)
        return Dataset.from_list(
            [
                {
                    "id": case.id,
                    "prompt": self.spec.prompt,
                    "variant": self.spec.variant,
                    "case": case.model_dump_json(),
                    "label": item.label.model_dump_json(),
                }
                for case, item in zip(shown, items, strict=True)
            ]
        )

    def _load(self) -> Benchmark:
        """Return the items as they are now: in a long-lived process the folder may have changed since the last run."""
        _loaded[self] = load(self.spec, self.folder)
        return _loaded[self]


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
