"""The hooks of the informed task, in the form that lmms-eval calls them; the image task uses those of the benchmark.

This is the one place where provenance stands in a prompt. Its task checks items, it evaluates no model.
"""

import hashlib
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from georefusal_build.consensus.checks import CHECKS, INSTRUCTION, Told, read_checks
from georefusal_build.layout import read_set
from georefusal_task.core.errors import ConfigError
from georefusal_task.core.records import Case
from georefusal_task.variants import show

if TYPE_CHECKING:
    from datasets import Dataset
    from PIL.Image import Image

CANDIDATES = "GEOREFUSAL_CANDIDATES"

METRIC_LIST = [
    {"metric": name, "aggregation": "mean", "higher_is_better": name != "unreadable"}
    for name in ("all_confirmed", "unreadable", *CHECKS)
]


def candidates(written: Path | None = None) -> Path:
    """Return the folder of the candidates: what GEOREFUSAL_CANDIDATES names, else what the task was written for.

    Raises:
        ConfigError: there is neither.
    """
    named = os.environ.get(CANDIDATES)
    if named:
        return Path(named)
    if written is None:
        raise ConfigError(f"set {CANDIDATES} to the folder of the candidates, or write the tasks with --data DIR")
    return written


@dataclass(frozen=True)
class InformedTask:
    """The informed task of one folder of candidates."""

    folder: Path

    @property
    def metadata(self) -> dict[str, Any]:
        """What the host stores with the results and mixes into the keys of its reply cache."""
        return {
            "version": "v1",
            "purpose": "checks candidates; not an evaluation",
            "prompt_sha256": hashlib.sha256(INSTRUCTION.encode()).hexdigest(),
            "data_digest": hashlib.sha256("\n".join(row["told"] for row in self._rows()).encode()).hexdigest(),
        }

    def docs(self, placeholder: "Dataset") -> "Dataset":  # noqa: ARG002
        """Return the candidates as the host's documents, in place of the one placeholder row of the task file."""
        from datasets import Dataset

        return Dataset.from_list(self._rows())

    def _rows(self) -> list[dict[str, str]]:
        return [
            {"id": item.id, "case": item.case.model_dump_json(), "told": Told.of(item).text(item.case.question)}
            for item in read_set(self.folder)
        ]


def doc_to_visual(doc: dict[str, str]) -> "list[Image]":
    """Return the candidate's image."""
    image = show(Case.model_validate_json(doc["case"]), "main")
    return [] if image is None else [image]


def doc_to_text(doc: dict[str, str]) -> str:
    """Return instruction, question and what was done to the item."""
    return f"{INSTRUCTION}\n\n{doc['told']}"


def doc_to_messages(doc: dict[str, str]) -> list[dict[str, Any]]:
    """Return one user turn: instruction, image, question and what was done."""
    images = [{"type": "image", "url": image} for image in doc_to_visual(doc)]
    start, end = ({"type": "text", "text": text} for text in (INSTRUCTION, doc["told"]))
    return [{"role": "user", "content": [start, *images, end]}]


def doc_to_target(doc: dict[str, str]) -> str:
    """Return the id, by which the log is read back."""
    return doc["id"]


def process_results(doc: dict[str, str], results: Sequence[str]) -> dict[str, float]:  # noqa: ARG001
    """Return the checks of the first reply as 0 and 1; an unreadable reply confirms nothing."""
    found = read_checks(results[0])
    confirmed = found or dict.fromkeys(CHECKS, False)
    figures = {"all_confirmed": all(confirmed.values()), "unreadable": found is None, **confirmed}
    return {name: float(value) for name, value in figures.items()}
