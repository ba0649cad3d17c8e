"""Make the example of the report: `python utils/report_example.py`.

The logs are those of two baselines and of a scripted model on the mini set. The scripted one sees no image: it knows
the labels and fails in ways that are worth looking at. Its figures say nothing about any real model.
"""

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from georefusal_task import data as loader
from georefusal_task.core.records import Intensity, Label
from georefusal_task.core.verdicts import REFUSALS, Verdict
from georefusal_task.report.page import render
from georefusal_task.report.runs import load_runs

FOLDER = Path(__file__).parents[1] / "docs" / "report"
LOGS, PAGE = FOLDER / "runs", FOLDER / "example.html"
TASK = "georefusalbench_mini"

_SKILL = {Intensity.LOW: 0.8, Intensity.MEDIUM: 0.5, Intensity.HIGH: 0.75}
_REASONS = {
    Verdict.ANSWER: "It can be made out in the middle of the tile.",
    Verdict.INFO_MISSING: "The place where it would be is covered.",
    Verdict.GRANULARITY: "At this sampling it would be less than a pixel across.",
    Verdict.AMBIGUOUS: "Several objects fit the description.",
    Verdict.FALSE_PREMISE: "What the question takes for granted is not there.",
    Verdict.NONFACTUAL: "No image shows what people intend.",
}


def main() -> None:
    """Write the logs, then the page."""
    LOGS.mkdir(parents=True, exist_ok=True)
    labels = [item.label for item in loader.load_mini().items]
    for name, rows in {"scripted": scripted(labels), **baselines(labels)}.items():
        text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        (LOGS / f"{name}.jsonl").write_text(text, encoding="utf-8")
    PAGE.write_text(page(), encoding="utf-8")


def page() -> str:
    """Return the example page, from the logs as they are."""
    mini = loader.load_mini()
    order = [LOGS / f"{name}.jsonl" for name in ("scripted", "constant", "random")]
    return render(load_runs(order, task=TASK, provenance=mini.folder))


def baselines(labels: list[Label]) -> dict[str, Iterator[dict[str, Any]]]:
    """Return what the host's baseline models say to each item."""
    from georefusal_task.adapters.lmms_baseline import Baseline
    from georefusal_task.adapters.lmms_models import Constant, Random, reply_text

    def said(model: Baseline, name: str) -> Iterator[dict[str, Any]]:
        for label in labels:
            choice = model.choose({"id": label.id}, 0)
            yield {"id": label.id, "text": reply_text("verdict", *choice), "model": name}

    return {
        "constant": said(Constant(), "georefusal_constant (verdict=ANSWER)"),
        "random": said(Random(), "georefusal_random (seed=0)"),
    }


def scripted(labels: list[Label]) -> Iterator[dict[str, Any]]:
    """Yield replies that are mostly sound, in all the forms that models use."""
    for number, label in enumerate(labels):
        draw = random.Random(label.id)  # noqa: S311 - a script, no secret
        verdict = label.gold
        if draw.random() > _SKILL[label.intensity or Intensity.LOW]:
            verdict = draw.choice(REFUSALS) if label.gold == Verdict.ANSWER else Verdict.ANSWER
        answer = (label.answer or "yes") if verdict == Verdict.ANSWER else ""
        said = json.dumps({"verdict": verdict, "answer": answer, "justification": _REASONS[verdict]})
        yield {
            "id": label.id,
            "text": _in_some_form(said, verdict, number),
            "confidence": round(draw.uniform(0.6, 0.99) if verdict == label.gold else draw.uniform(0.2, 0.8), 2),
            "model": "scripted model (knows the labels)",
            "input_size": [96, 96],
        }


def _in_some_form(said: str, verdict: Verdict, number: int) -> str:
    forms = {
        3: f"```json\n{said}\n```",
        7: f"<think>The question first, then the image: is the place in view at all?</think>\n{said}",
        11: said.replace('"justification": ', '"justification": \'').replace("}", "'}"),
        17: f"Verdict: {verdict}",
        23: "I am not sure what to say about this image.",
        29: said[:14],
    }
    return next((form for step, form in sorted(forms.items(), reverse=True) if number % step == step - 1), said)


if __name__ == "__main__":
    main()
