"""What is left of a target at the model, by hand, and the section on confidence that stands only where there is one."""

import json
from pathlib import Path

import pytest
from support.runs import oracle, texts, verdict
from support.twin import make_twin

from georefusal_task import data as loader
from georefusal_task.data import Benchmark
from georefusal_task.report.effective import by_effective_pixels, effective_pixels
from georefusal_task.report.figures import Figure
from georefusal_task.report.page_selective import selection
from georefusal_task.report.provenance import Provenance
from georefusal_task.report.runs import Run, load_run

N = 60
GRANULARITY = "REFUSE_GRANULARITY_MISMATCH"


@pytest.fixture(scope="module")
def twin(tmp_path_factory: pytest.TempPathFactory) -> Benchmark:
    return loader.load(make_twin(tmp_path_factory.mktemp("twin") / "data", n=N, provenance="none"))


def made(folder: Path, twin: Benchmark, said: dict[str, str], known: dict[str, Provenance], **more: object) -> Run:
    file = folder / "r.jsonl"
    rows = [{"id": item, "text": text, **more} for item, text in said.items()]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return load_run(file, data=twin, name="m", provenance=known)


def answerable(twin: Benchmark) -> list[str]:
    return [item.case.id for item in twin.items if "ANSWER" in item.label.accept]


def test_a_target_shrinks_with_its_tile(tmp_path: Path, twin: Benchmark) -> None:
    """The tiles are 64 x 48; at 32 x 12 the narrower scale is 12 / 48."""
    first, second, third, *_ = answerable(twin)
    known = {
        first: Provenance(id=first, measurement={"n_px": 20}),
        second: Provenance(id=second, measurement={"target_px": 400}),
        third: Provenance(id=third, measurement={"hidden_fraction": 0.5}),
    }
    run = made(tmp_path, twin, texts(oracle, N), known, input_size=[32, 12])
    assert effective_pixels(run) == {first: 5.0, second: 5.0}


@pytest.mark.parametrize("width", [-1, float("inf"), float("nan"), 10**400, "wide", True])
def test_what_is_no_size_counts_as_unknown(tmp_path: Path, twin: Benchmark, width: object) -> None:
    first = answerable(twin)[0]
    known = {first: Provenance(id=first, measurement={"n_px": width})}
    run = made(tmp_path, twin, texts(oracle, N), known, input_size=[32, 24])
    assert effective_pixels(run) == {}
    assert by_effective_pixels([run]) == []


def test_over_refusal_stands_where_it_happens(tmp_path: Path, twin: Benchmark) -> None:
    """The model refuses every answerable item whose target got smaller than 4 pixels, and no other."""
    across = {item: (6.0 if number % 3 == 0 else 40.0) for number, item in enumerate(answerable(twin))}
    known = {item: Provenance(id=item, measurement={"n_px": width}) for item, width in across.items()}
    said = {
        item: verdict(GRANULARITY) if across.get(item, 0) == 6.0 else text for item, text in texts(oracle, N).items()
    }
    (part,) = by_effective_pixels([made(tmp_path, twin, said, known, input_size=[32, 24])])
    assert isinstance(part, Figure)
    small, large = sum(width == 6.0 for width in across.values()), sum(width == 40.0 for width in across.values())
    assert [row[0] for row in part.data.rows] == ["under 4 pixels", "16 to 32 pixels"]
    assert part.data.rows[0][2:] == (str(small), f"{small}/{small}", f"{small}/{small}", f"0/{small}")
    assert part.data.rows[1][2] == str(large)
    assert part.data.rows[1][3].startswith(("0/", "0.0"))


def test_without_both_sizes_nothing_is_said(tmp_path: Path, twin: Benchmark) -> None:
    first = answerable(twin)[0]
    known = {first: Provenance(id=first, measurement={"n_px": 20})}
    assert by_effective_pixels([made(tmp_path, twin, texts(oracle, N), known)]) == []
    assert by_effective_pixels([made(tmp_path, twin, texts(oracle, N), {}, input_size=[32, 24])]) == []


def test_confidence_is_drawn_where_there_is_one_and_never_invented(tmp_path: Path, twin: Benchmark) -> None:
    def figures(**more: object) -> list[str]:
        section = selection([made(tmp_path, twin, texts(oracle, N), {}, **more)])
        assert section
        return [part.id for part in section.parts if isinstance(part, Figure)]

    assert figures() == []
    assert figures(confidence=0.7) == ["risk-confidence"]
    assert figures(logprobs=[-0.1, -0.2]) == ["risk-token-probability"]
