"""One task as lmms-eval sees it: its documents, and the metadata that stands with results and in its cache keys."""

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict

from georefusal_task.adapters.common import described, load
from georefusal_task.adapters.lmms_register import is_hosts_command
from georefusal_task.core.errors import GeoRefusalError
from georefusal_task.data import Benchmark
from georefusal_task.tasks_table import TaskSpec, Variant
from georefusal_task.variants import shown_cases

if TYPE_CHECKING:
    from datasets import Dataset


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
            if not is_hosts_command():
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
