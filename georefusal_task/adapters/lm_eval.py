"""The hooks that lm-evaluation-harness calls. lmms-eval grew out of it, so most of them are those of `adapters.lmms`.

Other than there, a function makes the data set, and the place of the image is a mark in the text.
"""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from georefusal_task.adapters.lmms import doc_to_target, doc_to_visual, process_results
from georefusal_task.adapters.lmms_metrics import metric_list
from georefusal_task.adapters.lmms_task import Doc, HostTask
from georefusal_task.benchmarks.prompts import get_prompt
from georefusal_task.core.records import Case
from georefusal_task.tasks_table import TASKS

if TYPE_CHECKING:
    from datasets import Dataset

__all__ = ["METRIC_LIST", "doc_to_image", "doc_to_target", "doc_to_text", "process_results", "tasks_dir"]

IMAGE = "<image>"
"""Local models get the image here; a server gets it before the text, and the mark as it stands."""

METRIC_LIST = metric_list()
doc_to_image = doc_to_visual


def tasks_dir() -> Path:
    """Return the folder of the task files, for `--include_path`."""
    return Path(__file__).parent / "lm_eval_tasks"


def doc_to_text(doc: Doc) -> str:
    """Return instruction and question, with a mark between them where the task shows an image."""
    prompt, case = get_prompt(doc["prompt"]), Case.model_validate_json(doc["case"])
    parts = [prompt.instruction, *([] if doc["variant"] == "noimage" else [IMAGE]), prompt.ask(case)]
    return "\n\n".join(parts)


def __getattr__(name: str) -> Any:
    task, _, part = name.rpartition("_")
    if task not in TASKS or part not in ("dataset", "metadata"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    host_task = HostTask(TASKS[task])
    return host_task.metadata if part == "metadata" else _dataset(host_task)


def _dataset(task: HostTask) -> Callable[..., "dict[str, Dataset]"]:
    def dataset(**_metadata: object) -> "dict[str, Dataset]":
        from datasets import Dataset

        return {"test": task.docs(Dataset.from_dict({}))}

    return dataset
