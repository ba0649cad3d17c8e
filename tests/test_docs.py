"""The docs say what the code does."""

from pathlib import Path

import docs_tables
import pytest

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
