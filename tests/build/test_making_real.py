"""The line from annotated images to candidates on real scenes: the example of the documentation, as it stands there."""

import re
from collections import Counter
from pathlib import Path

import pytest
from typer.testing import CliRunner

from georefusal_build.commands import APP
from georefusal_build.judging import rederive
from georefusal_build.layout import SetItem, read_set

DOCS = Path(__file__).parents[2] / "docs"
EXAMPLE, PAGE = DOCS / "examples" / "build.yaml", DOCS / "build.md"

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """The finished set, and what its run printed."""
    out = tmp_path_factory.mktemp("example") / "candidates"
    done = CliRunner().invoke(APP, ["run", str(EXAMPLE), "-o", str(out)])
    assert done.exit_code == 0, done.stderr
    warnings = [line for line in done.stderr.splitlines() if line.startswith("warning")]
    assert len(warnings) == 1, warnings
    assert "not in the class table" in warnings[0]  # two remarks of ours on outlines that are no class
    return out, done.stdout


@pytest.fixture(scope="module")
def candidates(built: tuple[Path, str]) -> list[SetItem]:
    return read_set(built[0])


def test_the_page_on_building_shows_what_is_printed(built: tuple[Path, str]) -> None:
    """Of the plan and of the run, every line but the dots; some are cut short."""
    planned = CliRunner().invoke(APP, ["plan", str(EXAMPLE), "--dry-run"]).stdout
    printed = {line.rstrip() for line in (planned + built[1]).splitlines()}
    blocks = re.findall(r"```\n(lever .*?)```", PAGE.read_text("utf-8"), re.S)
    quoted = {line.rstrip() for block in blocks for line in block.splitlines()}
    assert len(blocks) == 2
    short = {line for line in quoted if line.endswith("…") and any(one.startswith(line[:-1]) for one in printed)}
    assert quoted - printed - short == {"..."}


def test_every_category_on_both_sensors(candidates: list[SetItem]) -> None:
    """Where a rule costs more yield than these scenes have, it shows here."""
    assert len(candidates) == 200
    seen = Counter((item.label.category, item.provenance["modality"]) for item in candidates)
    assert len(seen) == 10, seen
    families = {item.label.lever.rpartition("_")[0] for item in candidates}
    assert len([name for name in families if name.startswith("im_")]) >= 3, families


def test_half_is_answered_and_no_reason_is_rare(candidates: list[SetItem]) -> None:
    counts = Counter(item.label.gold for item in candidates)
    assert counts.pop("ANSWER") == 100
    assert all(15 <= count <= 25 for count in counts.values()), counts  # 20 each, where no category runs out


def test_labels_follow_from_provenance_alone(candidates: list[SetItem]) -> None:
    assert {item.id: rederive(item.provenance) for item in candidates} == {
        item.id: item.label.gold for item in candidates
    }
