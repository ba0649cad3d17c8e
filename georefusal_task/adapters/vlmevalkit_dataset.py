"""GeoRefusalBench as a data set class of VLMEvalKit, in the form that its `vlmeval/dataset/` would take it."""

from pathlib import Path
from typing import Any

import pandas as pd
from vlmeval.dataset.image_base import ImageBaseDataset
from vlmeval.smp import load

from georefusal_task.adapters.common import load as load_items
from georefusal_task.benchmarks.refusal import score_one
from georefusal_task.core.reply import FAILED_REQUEST, read_reply
from georefusal_task.tasks_table import DEFAULT_TASK, TASKS, summed_up
from georefusal_task.variants import show, shown_cases

FAILED = "Failed to obtain answer"
"""What VLMEvalKit stores in place of a reply when a request failed."""

_TASK_OF = {name.replace(DEFAULT_TASK, "GeoRefusalBench"): spec for name, spec in TASKS.items()}


class GeoRefusalBench(ImageBaseDataset):  # type: ignore[misc] # the host has no types
    """One question about one overhead image: answer it, or refuse for the right one of five reasons."""

    TYPE = "Refusal"  # of its own, or models would put a prompt of theirs for VQA in its place
    MODALITY = "IMAGE"
    force_use_dataset_prompt = True

    @classmethod
    def supported_datasets(cls) -> list[str]:
        """Return the names for `--data`: GeoRefusalBench, GeoRefusalBench_mini, GeoRefusalBench_noimage, ..."""
        return list(_TASK_OF)

    def load_data(self, dataset: str) -> pd.DataFrame:
        """Return one row per item, with what a model may see of it."""
        self.spec = _TASK_OF[dataset]
        self.items = load_items(self.spec).by_id
        cases = shown_cases([item.case for item in self.items.values()], self.spec.variant)
        self.cases = {case.id: case for case in cases}
        rows = [(n, case.id, case.set, case.question, str(case.image)) for n, case in enumerate(cases)]
        return pd.DataFrame(rows, columns=["index", "item_id", "set", "question", "image_path"])

    def build_prompt(self, line: "int | pd.Series[Any]") -> list[dict[str, str]]:
        """Return instruction, image and question; the image as a file of what the task shows."""
        case = self.cases[(self.data.iloc[line] if isinstance(line, int) else line)["item_id"]]
        image = show(case, self.spec.variant)
        if image is None:
            return [{"type": "text", "value": self.spec.asks.text(case)}]
        file = Path(self.img_root) / f"{case.id}.png"
        file.parent.mkdir(parents=True, exist_ok=True)
        image.save(file, format="PNG")
        return [
            {"type": "text", "value": self.spec.asks.instruction},
            {"type": "image", "value": str(file)},
            {"type": "text", "value": self.spec.asks.ask(case)},
        ]

    def evaluate(self, eval_file: str, **judge_kwargs: Any) -> dict[str, float | None]:  # noqa: ARG002
        """Return every figure of the predictions in the file; no judge is asked."""
        frame, kind = pd.DataFrame(load(eval_file)), self.spec.asks.reply
        rows = []
        for item_id, prediction in zip(frame["item_id"], frame["prediction"].fillna(""), strict=True):
            item, text = self.items[item_id], str(prediction)
            reply = read_reply(FAILED_REQUEST if text.startswith(FAILED) else text, kind)
            rows.append(score_one(item.case, item.label, [reply], kind))
        return {name: estimate.value for name, estimate in summed_up(self.spec, rows).metrics.items()}

    @classmethod
    def report_primary_metric(cls, metrics: dict[str, float | None] | None) -> dict[str, float]:
        """Return the headline, for the host's closing table."""
        return {name: value for name, value in list((metrics or {}).items())[:1] if value is not None}
