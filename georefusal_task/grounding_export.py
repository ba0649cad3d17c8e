"""Writes what a grounding task asks and shows into a folder, for a model that no harness supports."""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from georefusal_task import __version__
from georefusal_task.benchmarks.grounding_prompts import PROMPTS
from georefusal_task.core.frames import Frame
from georefusal_task.export import IMAGES, message_line, readme, write_folder
from georefusal_task.grounding_data import GroundingSet
from georefusal_task.grounding_replies import described
from georefusal_task.grounding_tasks import GroundingTask, Request, requests

Track = Callable[[Iterable[Request]], Iterable[Request]]
"""Passes requests on and shows how far it got, such as a progress bar."""


_NOTES = """\
- `frame`, in each line of the prompts: the coordinates that the prompt asks for. Copy it into the line of the reply, so
  that its boxes are read in no other.
"""


def export(
    directory: Path,
    task: GroundingTask,
    questions: GroundingSet,
    frame: Frame,
    *,
    force: bool = False,
    track: Track = iter,
) -> None:
    """Write prompts, images, an example loop and a README into `directory`; each line names the coordinate frame.

    Raises: as `export.export`.
    """

    def lines(images: Path) -> Iterator[dict[str, Any]]:
        for request in track(list(requests(task, questions))):
            prompt, image = PROMPTS[request.turn], _write_image(images, request) if task.image else None
            line = message_line(request.id, prompt.instruction(frame), image, prompt.ask(request.question))
            yield line | {"frame": frame.label}

    about = {"task": task.name, **described(task, questions, frame), "items": len(questions.questions)}
    write_folder(directory, lines, {**about, "georefusal": __version__}, readme(task.name, _NOTES), force=force)


def _write_image(folder: Path, request: Request) -> str:
    """Write the image of a question as its own bytes, once for all its turns; return its path within the export."""
    from georefusal_task import images

    name = f"{request.question.id}.png"
    if not (folder / name).exists():
        images.as_sent(request.question.image).save(folder / name, format="PNG")
    return f"{IMAGES}/{name}"
