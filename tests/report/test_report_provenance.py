"""Provenance: which items hang together, what was measured, and what a stranger's columns may look like."""

import json
from pathlib import Path

import pytest

from georefusal_task import data as loader
from georefusal_task.core.errors import DataError
from georefusal_task.core.records import Label
from georefusal_task.report.provenance import Provenance, clusters, is_measured, load_provenance, severities

MINI = Path(loader.__file__).parent / "assets" / "mini"


def write(path: Path, *rows: object) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def joined(*rows: dict[str, object]) -> list[set[str]]:
    found = clusters([str(row["id"]) for row in rows], {str(row["id"]): Provenance.model_validate(row) for row in rows})
    return sorted(({item for item in found if found[item] == name} for name in set(found.values())), key=min)


def test_items_hang_together_through_others() -> None:
    """a and c share nothing, but both hang on b."""
    assert joined(
        {"id": "a", "base_id": "1", "base_image": "x"},
        {"id": "b", "base_id": "2", "base_image": "x"},
        {"id": "c", "base_id": "2", "base_image": "y"},
        {"id": "d", "base_id": "3", "base_image": "z"},
    ) == [{"a", "b", "c"}, {"d"}]


def test_the_same_wording_about_other_images_is_another_base() -> None:
    """ "Is there a ship?" is asked of hundreds of images; they must not end as one cluster."""
    same = {"base_question": "Is there a ship?"}
    assert joined({"id": "a", "base_image": "x", **same}, {"id": "b", "base_image": "y", **same}) == [{"a"}, {"b"}]
    assert joined({"id": "a", **same}, {"id": "b", **same}) == [{"a", "b"}]


def test_a_cluster_set_by_hand_stands_above_the_rest() -> None:
    rows = {"id": "a", "cluster": 1, "base_image": "x"}, {"id": "b", "cluster": 2, "base_image": "x"}
    assert joined(*rows) == [{"a"}, {"b"}]


def test_items_without_provenance_stand_alone() -> None:
    assert len(set(clusters(["a", "b"], {}).values())) == 2


def test_cluster_names_carry_nothing_of_the_provenance() -> None:
    known = {"a": Provenance.model_validate({"id": "a", "base_image": "secret"})}
    assert clusters(["a"], known) == {"a": "a"}


def test_unknown_columns_other_names_and_numbers_are_taken(tmp_path: Path) -> None:
    row = {"item_id": "a", "base_query": "q", "base": 7, "sensor": "sar", "new": {"x": 1}, "measurements": {"m": 2}}
    found = load_provenance(write(tmp_path / "p.jsonl", row))["a"]
    assert (found.base_question, found.base_id, found.modality, found.measures) == ("q", "7", "sar", {"m": 2.0})


def test_folders_and_files(tmp_path: Path) -> None:
    write(tmp_path / "provenance" / "A.jsonl", {"id": "a"})
    write(tmp_path / "provenance" / "B.jsonl", {"id": "b"})
    whole = load_provenance(tmp_path)
    assert set(whole) == {"a", "b"}
    assert load_provenance(tmp_path / "provenance") == whole


def test_faults_are_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"p\.jsonl line 2.*id"):
        load_provenance(write(tmp_path / "p.jsonl", {"id": "a"}, {"base_id": "x"}))
    with pytest.raises(DataError, match="twice"):
        load_provenance(write(tmp_path / "p.jsonl", {"id": "a", "pair_id": "1"}, {"id": "a", "pair_id": "2"}))
    with pytest.raises(DataError, match="not there"):
        load_provenance(tmp_path / "none")


def test_nothing_is_shown_when_a_record_is_printed() -> None:
    assert "secret" not in repr(Provenance.model_validate({"id": "a", "base_question": "secret", "source": "secret"}))


def test_numbers_of_nested_measurements() -> None:
    record = Provenance.model_validate({"id": "a", "measurement": {"a": {"b": 1, "c": True}, "d": [1], "e": 0.5}})
    assert record.measures == {"a.b": 1.0, "e": 0.5}
    assert Provenance.model_validate({"id": "a", "measurement": 3}).measures == {"measurement": 3.0}


def label(item: str, accept: str, lever: str = "cloud_low", anchor: str | None = None) -> Label:
    return Label(id=item, set="A", gold=accept, accept=[accept], lever=lever, anchor=anchor)


def test_measured_and_consensus_labels() -> None:
    assert is_measured(label("A-0", "ANSWER", anchor="pixel"), None) is True
    assert is_measured(label("A-0", "ANSWER", anchor="structural"), None) is False
    assert is_measured(label("A-0", "ANSWER"), None) is None
    assert is_measured(label("A-0", "ANSWER"), Provenance(id="A-0", anchor="Geometry")) is True


def test_severity_is_the_measure_that_parts_the_labels() -> None:
    """`noise` says little; less `visible` means more to refuse."""
    labels = [label(f"A-{i}", "ANSWER" if i < 3 else "REFUSE_NONFACTUAL_QUERY") for i in range(6)]
    known = {
        f"A-{i}": Provenance.model_validate({"id": f"A-{i}", "measurement": {"visible": 1 - i / 6, "noise": i * 7 % 4}})
        for i in range(6)
    }
    found = severities(labels, known)["cloud"]
    assert (found.measure, found.rising) == ("visible", False)
    assert found.values["A-3"] == 0.5
    assert severities(labels[:3], known) == {}
    assert severities(labels, {}) == {}


def test_a_measure_called_severity_goes_first() -> None:
    labels = [label("A-0", "ANSWER"), label("A-1", "ANSWER"), label("A-2", "REFUSE_NONFACTUAL_QUERY")]
    values = [(0, 1, 2), (0, 9, 5)]
    known = {
        f"A-{i}": Provenance.model_validate({"id": f"A-{i}", "measurement": {"better": a, "severity": b}})
        for i, (a, b) in enumerate(zip(*values, strict=True))
    }
    assert severities(labels, known)["cloud"].measure == "severity"


def test_the_mini_set_reads_as_it_is() -> None:
    benchmark, known = loader.load_mini(), load_provenance(MINI)
    assert set(known) == set(benchmark.by_id)
    assert {record.modality for record in known.values()} == {"optical", "sar"}
    # its scenes are few, and items of one scene are dependent
    assert len(set(clusters(benchmark.by_id, known).values())) == len({r.base_image for r in known.values()})


def test_a_measure_that_is_no_number_is_left_out(tmp_path: Path) -> None:
    (tmp_path / "p.jsonl").write_text('{"id": "a", "measurement": {"severity": NaN, "fraction": 0.5}}\n')
    assert load_provenance(tmp_path / "p.jsonl")["a"].measures == {"fraction": 0.5}
