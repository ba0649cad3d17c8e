"""The hooks of the grounding tasks for lm-evaluation-harness; most of them are those of `adapters.lmms_grsvqa`.

The coordinate frame is what GEOREFUSAL_FRAME says: the command line of this harness is not read for it.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from georefusal_task.adapters import lmms_grsvqa
from georefusal_task.adapters.lm_eval import IMAGE
from georefusal_task.adapters.lmms_grsvqa import METRIC_LIST, Doc, doc_to_target, process_results, request_of
from georefusal_task.adapters.lmms_grsvqa import doc_to_visual as doc_to_image
from georefusal_task.benchmarks.grounding_prompts import PROMPTS
from georefusal_task.core.frames import get_frame

if TYPE_CHECKING:
    from datasets import Dataset

__all__ = ["METRIC_LIST", "doc_to_image", "doc_to_target", "doc_to_text", "process_results"]


def doc_to_text(doc: Doc) -> str:
    """Return instruction and question, with a mark between them where the task shows an image."""
    prompt = PROMPTS[doc["turn"]]
    mark = [IMAGE] if doc["image"] else []
    return "\n\n".join([prompt.instruction(get_frame(doc["frame"])), *mark, prompt.ask(request_of(doc).question)])


def __getattr__(name: str) -> Any:
    task, _, part = name.rpartition("_")
    if part == "dataset":
        return _dataset(getattr(lmms_grsvqa, f"{task}_docs"))
    if part == "metadata":
        return getattr(lmms_grsvqa, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def _dataset(docs: "Callable[[None], Dataset]") -> "Callable[..., dict[str, Dataset]]":
    def dataset(**_metadata: object) -> "dict[str, Dataset]":
        return {"test": docs(None)}

    return dataset
