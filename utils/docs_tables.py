"""Writes the generated parts of the docs; run by `make docs`, checked by tests.

A generated part stands between `<!-- generated: NAME -->` and `<!-- end -->`; everything else is written by hand.
"""

import re
from pathlib import Path

from georefusal_task.benchmarks.prompts import PROMPTS
from georefusal_task.benchmarks.refusal_metrics import FORCED_METRICS, METRICS, Metric
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


PARTS = {
    "metrics": lambda: _metric_table(METRICS),
    "forced_metrics": lambda: _metric_table(FORCED_METRICS),
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
