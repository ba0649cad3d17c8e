"""The line from annotated images to candidates on real scenes: the example of the documentation, as it stands there."""

from collections import Counter
from pathlib import Path

import pytest
from typer.testing import CliRunner

from georefusal_build.commands import APP
from georefusal_build.judging import rederive
from georefusal_build.layout import SetItem, read_set

EXAMPLE = Path(__file__).parents[2] / "docs" / "examples" / "build.yaml"

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def candidates(tmp_path_factory: pytest.TempPathFactory) -> list[SetItem]:
    """The items of the finished set."""
    out = tmp_path_factory.mktemp("example") / "candidates"
    done = CliRunner().invoke(APP, ["run", str(EXAMPLE), "-o", str(out)])
    assert done.exit_code == 0, done.stderr
    assert "warning" not in done.stderr
    return read_set(out)


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
