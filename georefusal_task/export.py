"""Writes what a task asks and shows into a folder, for a model that no harness supports.

The folder holds what a model may see and nothing else: no label, no lever, no provenance; files are named by opaque id.
"""

import json
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from importlib import resources
from pathlib import Path
from typing import Any

from georefusal_task import __version__
from georefusal_task.benchmarks.prompts import Prompt
from georefusal_task.core.errors import DataError
from georefusal_task.core.records import Case
from georefusal_task.data import Benchmark
from georefusal_task.tasks_table import TaskSpec
from georefusal_task.variants import show, shown_cases

PROMPTS, IMAGES, EXAMPLE, README, META = "prompts.jsonl", "images", "example.py", "README.md", "export.json"
_UNFINISHED = ".unfinished"
_OURS = {PROMPTS, IMAGES, EXAMPLE, README, META, _UNFINISHED}

Track = Callable[[Iterable[Case]], Iterable[Case]]
"""Passes cases on and shows how far it got, such as a progress bar."""


def export(directory: Path, task: TaskSpec, benchmark: Benchmark, *, force: bool = False, track: Track = iter) -> None:
    """Write prompts, images, an example loop and a README into `directory`; `prompts.jsonl` comes last of all.

    `force` replaces an earlier export. An `example.py` that was edited is kept, and files that are not an export's own
    are never touched.

    Raises:
        DataError: it is a file, or holds an earlier export (without `force`) or something that export did not write.
    """

    def lines(images: Path) -> Iterator[dict[str, Any]]:
        for case in track(shown_cases([item.case for item in benchmark.items], task.variant)):
            image = _write_image(images, case, task)
            yield prompt_line(task.asks, case, image and f"{IMAGES}/{image}")

    write_folder(directory, lines, _meta(task, benchmark), readme(task.name), force=force)


def write_folder(
    directory: Path,
    lines: Callable[[Path], Iterable[dict[str, Any]]],
    meta: Mapping[str, Any],
    about: str,
    *,
    force: bool = False,
) -> None:
    """Write an export: `lines` writes images into the folder that it is given and yields the lines of `prompts.jsonl`.

    Raises: as `export`.
    """
    if directory.exists() and not directory.is_dir():
        raise DataError(f"{directory} is a file; name a folder")
    directory.mkdir(parents=True, exist_ok=True)
    _check_room(directory, force=force)
    unfinished = directory / _UNFINISHED
    shutil.rmtree(unfinished, ignore_errors=True)
    (unfinished / IMAGES).mkdir(parents=True)
    with (unfinished / PROMPTS).open("w", encoding="utf-8") as out:
        for line in lines(unfinished / IMAGES):
            out.write(json.dumps(line) + "\n")
    (unfinished / META).write_text(json.dumps(meta, indent=2) + "\n", encoding="utf-8")
    (unfinished / README).write_text(about, encoding="utf-8")
    (unfinished / EXAMPLE).write_text(example_loop(), encoding="utf-8")
    _move_in(unfinished, directory)


def prompt_line(prompt: Prompt, case: Case, image: str | None) -> dict[str, Any]:
    """Return one line of `prompts.jsonl`: the text for models that take one text, and the same as chat messages."""
    return message_line(case.id, prompt.instruction, image, prompt.ask(case))


def message_line(item: str, instruction: str, image: str | None, question: str) -> dict[str, Any]:
    """Return the line of one request: instruction, image (None shows none) and question."""
    text = f"{instruction}\n\n{question}"
    if image is None:
        content = [{"type": "text", "text": text}]
    else:
        before, after = ({"type": "text", "text": part} for part in (instruction, question))
        content = [before, {"type": "image", "image": image}, after]
    return {"id": item, "image": image, "prompt": text, "messages": [{"role": "user", "content": content}]}


def example_loop() -> str:
    """Return the source of `example.py`."""
    return resources.files("georefusal_task.assets").joinpath("example_loop.py").read_text(encoding="utf-8")


def _write_image(folder: Path, case: Case, task: TaskSpec) -> str | None:
    """Write what the task shows for the case and return the file's name; None where it shows nothing."""
    image = show(case, task.variant)
    if image is None:
        return None
    name = f"{case.id}.png"
    image.save(folder / name, format="PNG")  # an image that is shown as it is hands over the bytes of its file
    return name


def _check_room(directory: Path, *, force: bool) -> None:
    found = {path.name for path in directory.iterdir()}
    if foreign := sorted(found - _OURS):
        raise DataError(f"{directory} holds {foreign[0]!r}, which export did not write; choose an empty folder")
    if PROMPTS in found and not force:
        raise DataError(f"{directory} holds an export already; choose an empty folder, or replace it with --force")


def _move_in(unfinished: Path, directory: Path) -> None:
    """Replace an earlier export by the finished one; without `prompts.jsonl` a folder does not count as an export."""
    (directory / PROMPTS).unlink(missing_ok=True)
    shutil.rmtree(directory / IMAGES, ignore_errors=True)
    if (directory / EXAMPLE).exists():  # it may hold the user's own model by now
        (unfinished / EXAMPLE).unlink()
    for name in (IMAGES, EXAMPLE, README, META, PROMPTS):
        if (unfinished / name).exists():
            (unfinished / name).replace(directory / name)
    unfinished.rmdir()


def _meta(task: TaskSpec, benchmark: Benchmark) -> dict[str, Any]:
    """Return what a reader of the replies must know to say what was asked, on which data."""
    prompt = task.asks
    return {
        "task": task.name,
        "variant": task.variant,
        "prompt": prompt.id,
        "prompt_sha256": prompt.sha256,
        "data_digest": benchmark.digest,
        "data_revision": benchmark.revision,
        "items": len(benchmark.items),
        "georefusal": __version__,
    }


def readme(task: str, notes: str = "") -> str:
    """Return what an export says of itself; `notes` are further entries of its list of files."""
    return f"""\
# {task}: prompts for a model of your own

- `{PROMPTS}`: one line per item. `prompt` is the whole text; `image` the file that goes with it (null: the task shows
  none); `messages` the same as chat messages, with the instruction before the image and the question after it.
- `{IMAGES}/`: named by item id. Hand the file to your model's own image processor; do not re-encode or resize it first.
- `{EXAMPLE}`: the loop. `load` suits a checkpoint that transformers knows; put your model there and run it. It writes
  `replies.jsonl`: one line {{"id", "text"}} per reply.
- `{META}`: which prompt and which data this is, by digest.
{notes}
Decode greedily, leave room for 1024 new tokens, and write each reply down as it came: the reader takes care of code
fences, thoughts and broken JSON. Ids that are missing make a partial run. Then, with --data if the export had it:

    georefusal score replies.jsonl --task {task}
"""
