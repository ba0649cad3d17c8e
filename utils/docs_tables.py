"""Writes the generated parts of the docs; run by `make docs`, checked by tests.

A generated part stands between `<!-- generated: NAME -->` and `<!-- end -->`; everything else is written by hand.
"""

import re
from pathlib import Path

from georefusal_task.benchmarks import grounding
from georefusal_task.benchmarks.grounding_baselines import BASELINES, reply_text
from georefusal_task.benchmarks.grounding_prompts import PROMPTS as GROUNDING_PROMPTS
from georefusal_task.benchmarks.prompts import PROMPTS
from georefusal_task.benchmarks.refusal_metrics import FORCED_METRICS, METRICS, Metric
from georefusal_task.core.frames import FRAMES, get_frame
from georefusal_task.grounding_replies import outcome, summed_up
from georefusal_task.grounding_tasks import GROUNDING_TASKS, load_set, requests
from georefusal_task.tasks_table import TASKS

DOCS = Path(__file__).parents[1] / "docs"
_PART = re.compile(r"(<!-- generated: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)

QWEN_TOKENS = {"default": 287, "minimal": 132, "no_precedence": 232, "mcq": 236, "conf": 311, "forced": 36}
"""Tokens of each instruction under Qwen's vocabulary, counted once with tiktoken; COUNTED ties them to a text."""

COUNTED = {
    "default": "dae5f0bf4083",
    "minimal": "8ee1041a3cf8",
    "no_precedence": "533c24d9b188",
    "mcq": "9230df8bf135",
    "conf": "0958552bd71c",
    "forced": "dd1193f5cb06",
}


def _metric_table(metrics: dict[str, Metric]) -> str:
    arrows = {True: "more", False: "less"}
    lines = ["| metric | better | meaning, and how it can mislead |", "|---|---|---|"]
    lines += [
        f"| `{name}` | {arrows[metric.higher_is_better]} | {metric.meaning} |" for name, metric in metrics.items()
    ]
    return "\n".join(lines)


def _prompt_table() -> str:
    lines = ["| prompt | task | tokens | sha256 |", "|---|---|---|---|"]
    for name, prompt in PROMPTS.items():
        task = next(task.name for task in TASKS.values() if task.prompt == name)
        lines.append(f"| `{prompt.id}` | `{task}` | {QWEN_TOKENS[name]} | `{prompt.sha256}` |")
    return "\n".join(lines)


def _prompt_texts() -> str:
    return "\n\n".join(f"### {prompt.id}\n\n```text\n{prompt.instruction}\n```" for prompt in PROMPTS.values())


def _grounding_prompts() -> str:
    lines = ["| frame | `one/v1` | `grounding/v1` |", "|---|---|---|"]
    for name, frame in FRAMES.items():
        digests = [f"`{GROUNDING_PROMPTS[turn].sha256(frame)[:16]}`" for turn in ("one", "grounding")]
        lines.append(f"| `{name}` | {' | '.join(digests)} |")
    answer = GROUNDING_PROMPTS["answer"].sha256(get_frame("unit"))
    texts = "\n\n".join(f"### {p.id}\n\n```text\n{p.wording}\n```" for p in GROUNDING_PROMPTS.values())
    return "\n".join((*lines, "", f"`answer/v1` shows no notation: `{answer[:16]}` in every frame.", "", texts))


def _grounding_baselines() -> str:
    """Return what the baselines get on the mini set, whose figures `lmms-eval` and `georefusal score` print."""
    task, frame = GROUNDING_TASKS["grsvqa_mini"], get_frame("unit")
    asked = list(requests(task, load_set(task)))
    names = [name for name in grounding.METRICS if not name.endswith("_rate")]
    columns = {}
    for baseline, choose in BASELINES.items():
        texts = [reply_text(choose(one.question, one.gold), one.question, one.turn, frame) for one in asked]
        columns[baseline] = summed_up(outcome(*pair, frame) for pair in zip(asked, texts, strict=True)).metrics
    lines = ["| |" + "".join(f" `{name}` |" for name in columns), "|---|" + "---|" * len(columns)]
    for name in names:
        values = [metrics[name].value for metrics in columns.values()]
        lines.append(f"| `{name}` |" + "".join(" - |" if v is None else f" {v:.3f} |" for v in values))
    return "\n".join(lines)


PARTS = {
    "metrics": lambda: _metric_table(METRICS),
    "forced_metrics": lambda: _metric_table(FORCED_METRICS),
    "grounding_metrics": lambda: _metric_table(grounding.METRICS),
    "grounding_baselines": _grounding_baselines,
    "grounding_prompts": _grounding_prompts,
    "prompts": _prompt_table,
    "prompt_texts": _prompt_texts,
}


def rendered(page: str) -> str:
    """Return the page with its generated parts made anew; a part of unknown name raises KeyError."""
    return _PART.sub(lambda found: f"{found[1]}{PARTS[found[2]]()}\n{found[3]}", page)


def main() -> None:
    """Rewrite every page that has generated parts."""
    for path in sorted(DOCS.rglob("*.md")):
        page = path.read_text(encoding="utf-8")
        path.write_text(rendered(page), encoding="utf-8")


if __name__ == "__main__":
    main()
