"""Runs as they lie on disk after an evaluation: reply files and the host's folders, without any model."""

import json
import random
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from support.twin import twin_rows

VERDICTS = (
    "ANSWER",
    "REFUSE_INFO_MISSING_IN_CONTEXT",
    "REFUSE_GRANULARITY_MISMATCH",
    "REFUSE_AMBIGUOUS_QUERY",
    "REFUSE_FALSE_PREMISE_IN_QUERY",
    "REFUSE_NONFACTUAL_QUERY",
)
HOST_ERROR = "[LMMS_EVAL_REQUEST_FAILED after 5 retries] timeout"

Say = Callable[[dict[str, Any]], str]
"""Label row -> the text of the reply."""


def verdict(name: str, answer: str = "", **more: Any) -> str:
    return json.dumps({"verdict": name, "answer": answer, "justification": "because", **more})


def oracle(label: dict[str, Any]) -> str:
    return verdict(label["gold"], label["answer"])


def always_answer(label: dict[str, Any]) -> str:
    return verdict("ANSWER", "yes")


def skilled(skill: float, seed: int = 0) -> Say:
    """Right on a share of the items, any of the other verdicts on the rest; decided by the id alone."""

    def say(label: dict[str, Any]) -> str:
        draw = random.Random(f"{seed} {label['id']}")
        if draw.random() < skill:
            return oracle(label)
        return verdict(draw.choice([name for name in VERDICTS if name not in label["accept"]]), "no")

    return say


def texts(say: Say, n: int = 587) -> dict[str, str]:
    """Id -> reply for every item of the twin with n items."""
    return {label["id"]: say(label) for label in twin_rows(n)[1]}


def write_replies(path: Path, said: Mapping[str, str], **more: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    rows = [{"id": item, "text": text, **more} for item, text in said.items()]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def write_host(
    folder: Path,
    said: Mapping[str, Mapping[str, str]],
    *,
    model: str = "lab/model-7b",
    date: str = "20260101_120000",
    metadata: Mapping[str, Any] | None = None,
    results: bool = True,
) -> Path:
    """Write what the host leaves after running the tasks of `said` (task -> id -> reply); return the model's folder."""
    place = folder / model.replace("/", "__")
    place.mkdir(parents=True, exist_ok=True)
    for task, replies in said.items():
        rows = [
            {"doc_id": number, "target": f"{item} ANSWER", "filtered_resps": [text], "token_counts": [None]}
            for number, (item, text) in enumerate(replies.items())
        ]
        log = place / f"{date}_samples_{task}.jsonl"
        log.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    if results:
        content = {
            "results": {task: {"accept_acc,none": 0.5} for task in said},
            "configs": {
                task: {"metadata": dict(metadata or {}), "generation_kwargs": {"max_new_tokens": 1024}} for task in said
            },
            "config": {
                "model": "qwen2_5_vl",
                "model_args": f"pretrained={model},revision=abc123,dtype=bfloat16,api_key=sk-1234",
                "model_backend": "lmms_eval.models.chat.qwen2_5_vl.Qwen2_5_VL (chat)",
                "random_seed": 0,
            },
            "lmms_eval_version": "0.7.3",
            "model_source": "qwen2_5_vl",
            "model_name": model,
        }
        (place / f"{date}_results.json").write_text(json.dumps(content), encoding="utf-8")
    return place


def write_provenance(folder: Path, n: int = 587, *, items_per_base: int = 4) -> Path:
    """Write provenance of the twin with n items, neighbours sharing a base; return the folder to be named."""
    labels = twin_rows(n)[1]
    (folder / "provenance").mkdir(parents=True, exist_ok=True)
    rows = [
        {
            "id": label["id"],
            "base_question": "Is there a ship?",
            "base_image": f"scene{number // items_per_base}.png",
            "pair_id": f"pair{number // 2}",
            "modality": ("optical", "sar")[number % 2],
            "measurement": {"severity": number % 10 / 10},
            "something_new": [1, 2],
        }
        for number, label in enumerate(labels)
    ]
    (folder / "provenance" / "all.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return folder
