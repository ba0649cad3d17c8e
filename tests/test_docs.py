"""The docs say what the code does."""

from pathlib import Path

import pytest

import docs_tables
from georefusal_task.benchmarks.prompts import PROMPTS

ROOT = Path(__file__).parents[1]
PAGES = sorted((ROOT / "docs").rglob("*.md"))


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_generated_parts_are_in_step_with_the_code(path: Path) -> None:
    page = path.read_text(encoding="utf-8")
    assert docs_tables.rendered(page) == page, "run `make docs`"


def test_there_are_generated_parts_to_check() -> None:
    together = "".join(path.read_text(encoding="utf-8") for path in PAGES)
    assert all(f"<!-- generated: {name} -->" in together for name in docs_tables.PARTS)


def test_token_counts_belong_to_the_prompts_as_they_are() -> None:
    assert {name: prompt.sha256[:12] for name, prompt in PROMPTS.items()} == docs_tables.COUNTED


@pytest.mark.parametrize("path", [*PAGES, ROOT / "README.md", ROOT / "CONTRIBUTING.md"], ids=lambda path: path.name)
def test_links_between_pages_lead_somewhere(path: Path) -> None:
    import re

    targets = re.findall(r"\]\((?!https?:|#)([^)#]+)", path.read_text(encoding="utf-8"))
    assert [target for target in targets if not (path.parent / target).exists()] == []


README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_readme_ruler_is_what_the_statistics_say() -> None:
    from georefusal_task.core.stats import minimal_detectable

    shown = [f"{100 * minimal_detectable(share, 587):.1f} points" for share in (0.10, 0.25, 0.40)]
    assert f"| smallest difference that 587 items can show (80 % power) | {' | '.join(shown)} |" in README
    assert f"**{295 / 587:.3f}** (295 of 587)" in README
    # 15 of the 587 items accept two verdicts
    assert f"about {(572 + 15 * 2) / 6 / 587:.2f}" in README


def test_readme_describes_the_set_and_the_prompt_that_ship() -> None:
    from georefusal_task.data import load_mini

    assert f"| {len(load_mini().items)} items on real optical and radar tiles" in README
    assert f"{docs_tables.QWEN_TOKENS['default']} tokens of instruction" in README


def test_readme_names_every_task_and_command() -> None:
    from georefusal_task.cli import app
    from georefusal_task.tasks_table import TASKS

    assert [
        name
        for name in TASKS
        if f"`{name}`" not in README and f"`{name.removeprefix('georefusalbench')}`" not in README
    ] == []
    assert [command.name for command in app.registered_commands if f"`georefusal {command.name}" not in README] == []
