"""The hooks of the grounding tasks for lmms-eval, each a few lines. A document of the host is one request to the model.

As in `lmms`, task files name everything by its absolute path; `<task>_docs` and `<task>_metadata` are made on demand.
"""

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypedDict

from georefusal_task.adapters.lmms_frame import run_frame
from georefusal_task.adapters.lmms_grsvqa_metrics import carried, metric_list
from georefusal_task.adapters.lmms_register import is_hosts_command
from georefusal_task.benchmarks.grounding import Gold, Question, Turn
from georefusal_task.benchmarks.grounding_prompts import PROMPTS
from georefusal_task.core.errors import GeoRefusalError
from georefusal_task.core.frames import get_frame
from georefusal_task.grounding_replies import described, outcome
from georefusal_task.grounding_tasks import GROUNDING_TASKS, GroundingTask, Request, load_set, requests

if TYPE_CHECKING:
    from datasets import Dataset
    from PIL.Image import Image

METRIC_LIST = metric_list()


class Doc(TypedDict):
    """All that the host knows of a request; `question` and `gold` are our records as JSON."""

    id: str
    turn: Turn
    frame: str
    image: bool
    question: str
    gold: str


def __getattr__(name: str) -> Any:
    task, _, part = name.rpartition("_")
    if task not in GROUNDING_TASKS or part not in ("docs", "metadata"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return _metadata(GROUNDING_TASKS[task]) if part == "metadata" else lambda _: _docs(GROUNDING_TASKS[task])


def _metadata(task: GroundingTask) -> dict[str, Any]:
    """Return what the host stores with the results and mixes into the keys of its reply cache."""
    try:
        return described(task, load_set(task), run_frame())
    except GeoRefusalError as error:
        if not is_hosts_command():
            raise
        # its own command would bury the message under a traceback and exit with 0
        sys.exit(f"error: {error}")


def _docs(task: GroundingTask) -> "Dataset":
    from datasets import Dataset

    frame = run_frame().label
    return Dataset.from_list([dict(_doc(request, task, frame)) for request in requests(task, load_set(task))])


def _doc(request: Request, task: GroundingTask, frame: str) -> Doc:
    return {
        "id": request.id,
        "turn": request.turn,
        "frame": frame,
        "image": task.image,
        "question": request.question.model_dump_json(),
        "gold": request.gold.model_dump_json(),
    }


def request_of(doc: Doc) -> Request:
    """Return the request that a document stands for."""
    question, gold = Question.model_validate_json(doc["question"]), Gold.model_validate_json(doc["gold"])
    return Request(question, gold, doc["turn"])


def doc_to_visual(doc: Doc) -> "list[Image]":
    """Return the image, or no image."""
    from georefusal_task import images

    return [images.as_sent(request_of(doc).question.image)] if doc["image"] else []


def doc_to_text(doc: Doc) -> str:
    """Return instruction and question, for backends that take one text and one image."""
    return PROMPTS[doc["turn"]].text(request_of(doc).question, get_frame(doc["frame"]))


def doc_to_messages(doc: Doc) -> list[dict[str, Any]]:
    """Return one user turn: instruction, image, question, so that servers can share the cached start of all prompts."""
    prompt = PROMPTS[doc["turn"]]
    instruction, question = prompt.instruction(get_frame(doc["frame"])), prompt.ask(request_of(doc).question)
    images = [{"type": "image", "url": image} for image in doc_to_visual(doc)]
    texts = [instruction, question] if images else [doc_to_text(doc)]
    first, *rest = ({"type": "text", "text": text} for text in texts)
    return [{"role": "user", "content": [first, *images, *rest]}]


def doc_to_target(doc: Doc) -> str:
    """Return `<id> <answer> <frame>`, so that a log without scores can still be scored by id, in its frame."""
    return f"{doc['id']} {request_of(doc).gold.answer} {doc['frame']}"


def process_results(doc: Doc, results: Sequence[str]) -> dict[str, Any]:
    """Return the request's part of every metric; of several replies under the host's `-n` the first counts."""
    return carried(outcome(request_of(doc), results[0], get_frame(doc["frame"])))
