"""Bundles: they come back as they were, and nothing in them can be changed unnoticed."""

import io
import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.runs import HOST_ERROR, oracle, skilled, texts, write_host, write_provenance, write_replies
from support.twin import make_twin, twin_rows

from georefusal_task import data as loader
from georefusal_task.core.errors import DataError
from georefusal_task.data import Benchmark
from georefusal_task.report import bundles
from georefusal_task.report.bundles import pack, verify
from georefusal_task.report.runs import Run, load_run

N = 60
MAIN, SHUFFLED = "georefusalbench", "georefusalbench_shuffled"


@pytest.fixture(scope="module")
def twin(tmp_path_factory: pytest.TempPathFactory) -> Benchmark:
    return loader.load(make_twin(tmp_path_factory.mktemp("twin") / "data", n=N))


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory, twin: Benchmark) -> Run:
    recorded = {
        "data_digest": twin.digest,
        "prompt": "default/v1",
        "reader": "1",
        "versions": {"torch": "2.13.0"},
        "image_encoding": "PNG",
    }
    said = texts(skilled(0.6), N)
    said |= dict.fromkeys(list(said)[:2], HOST_ERROR) | {list(said)[3]: "\ud800 broken <b>\u2028"}
    folder = tmp_path_factory.mktemp("run")
    return load_run(write_host(folder, {MAIN: said, SHUFFLED: texts(skilled(0.2), N)}, metadata=recorded), data=twin)


@pytest.fixture
def file(tmp_path: Path, run: Run) -> Path:
    path = tmp_path / "b.zip"
    path.write_bytes(pack(run))
    return path


def rewritten(file: Path, change: Callable[[dict[str, bytes]], None]) -> Path:
    """Change parts, then make the manifest's digests fit again, as a forger would."""
    with zipfile.ZipFile(file) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    change(parts)
    manifest = json.loads(parts["manifest.json"])
    for task, one in manifest["runs"].items():
        for kind, name in (("replies", f"replies/{task}.jsonl"), ("scores", f"scores/{task}.json")):
            if name in parts:
                one[f"{kind}_sha256"] = bundles._sha256(parts[name])
    parts["manifest.json"] = json.dumps(manifest).encode()
    return zipped(file.with_name("changed.zip"), parts)


def zipped(path: Path, parts: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return path


def test_a_bundle_comes_back_as_the_run(file: Path, run: Run, twin: Benchmark) -> None:
    again = load_run(file, data=twin)
    assert (again.name, again.task, again.rows, again.texts) == (run.name, run.task, run.rows, run.texts)
    assert again.summary.to_json() == run.summary.to_json()
    assert set(again.variants) == {SHUFFLED}
    assert again.variants[SHUFFLED].rows == run.variants[SHUFFLED].rows
    assert again.meta.generation == {"max_new_tokens": 1024}
    assert again.meta.versions == {"torch": "2.13.0"}
    assert pack(again) == file.read_bytes()


def test_a_fresh_bundle_holds(file: Path, twin: Benchmark) -> None:
    assert verify(file, twin) == []


def test_the_manifest_says_how_it_was_made(file: Path, twin: Benchmark) -> None:
    with zipfile.ZipFile(file) as archive:
        manifest = json.loads(archive.read("manifest.json"))
        everything = b"".join(archive.read(name) for name in archive.namelist())
    assert manifest["data_digest"] == twin.digest
    assert (manifest["model_revision"], manifest["dtype"], manifest["image_encoding"]) == ("abc123", "bfloat16", "PNG")
    assert manifest["runs"][SHUFFLED]["variant"] == "shuffled"
    assert b"sk-1234" not in everything
    assert b"Is there a" not in everything  # no questions


def test_provenance_is_never_packed(tmp_path: Path, twin: Benchmark) -> None:
    said = write_replies(tmp_path / "r.jsonl", texts(oracle, N))
    folder = write_provenance(tmp_path / "p", N)
    joined = load_run(said, data=twin, provenance=folder)
    assert pack(joined) == pack(load_run(said, data=twin))


def test_extras_and_several_replies_come_back(tmp_path: Path, twin: Benchmark) -> None:
    log = tmp_path / "1_samples_georefusalbench.jsonl"
    rows = [
        {"target": label["id"], "filtered_resps": [oracle(label), "x"], "logprobs": [-0.5], "input_size": [9 + i, 7]}
        for i, label in enumerate(twin_rows(N)[1])
    ]
    log.write_text("".join(json.dumps(row) + "\n" for row in rows))
    run = load_run(log, data=twin)
    file = tmp_path / "b.zip"
    file.write_bytes(pack(run))
    again = load_run(file, data=twin)
    assert again.rows == run.rows
    assert again.replies == run.replies
    with zipfile.ZipFile(file) as archive:
        sizes = json.loads(archive.read("manifest.json"))["runs"][MAIN]["input_sizes"]
    assert sizes == [[9, 7], [9 + N - 1, 7]]
    assert verify(file, twin) == []


def test_a_changed_part_is_found(file: Path, twin: Benchmark) -> None:
    with zipfile.ZipFile(file) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    parts[f"scores/{MAIN}.json"] = parts[f"scores/{MAIN}.json"].replace(b"0.", b"1.", 1)
    with pytest.raises(DataError, match=f"scores/{MAIN}.json is not the file"):
        verify(zipped(file.with_name("c.zip"), parts), twin)


def test_forged_scores_are_found(file: Path, twin: Benchmark) -> None:
    def forge(parts: dict[str, bytes]) -> None:
        scores = json.loads(parts[f"scores/{MAIN}.json"])
        scores["metrics"]["accept_acc"]["value"] = 0.99
        parts[f"scores/{MAIN}.json"] = json.dumps(scores).encode()

    (found,) = verify(rewritten(file, forge), twin)
    assert "metrics.accept_acc.value: 0.99 then" in found


def test_forged_replies_are_found(file: Path, twin: Benchmark) -> None:
    label = twin_rows(N)[1][0]

    def forge(parts: dict[str, bytes]) -> None:
        lines = [json.loads(line) for line in parts[f"replies/{MAIN}.jsonl"].splitlines()]
        for line in lines:
            if line["id"] == label["id"]:
                line["text"] = oracle(label)
        parts[f"replies/{MAIN}.jsonl"] = "".join(json.dumps(line) + "\n" for line in lines).encode()

    assert any("accept_acc" in difference for difference in verify(rewritten(file, forge), twin))


@pytest.mark.parametrize(("field", "value"), [("reader", "0"), ("data_digest", "e" * 64)])
def test_another_reader_or_other_data_are_named(file: Path, twin: Benchmark, field: str, value: str) -> None:
    def change(parts: dict[str, bytes]) -> None:
        parts["manifest.json"] = json.dumps(json.loads(parts["manifest.json"]) | {field: value}).encode()

    found = verify(rewritten(file, change), twin)
    assert len(found) == 1
    assert value in found[0]


def manifest_with(**values: Any) -> Callable[[dict[str, bytes]], None]:
    def change(parts: dict[str, bytes]) -> None:
        parts["manifest.json"] = json.dumps(json.loads(parts["manifest.json"]) | values).encode()

    return change


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda parts: parts.pop("manifest.json"), "KeyError|manifest"),
        (lambda parts: parts.pop(f"replies/{MAIN}.jsonl"), "not a whole bundle"),
        (manifest_with(format="georefusal bundle 9"), "bundle 9"),
        (manifest_with(main="other"), "'other'"),
        (manifest_with(name=7), "not a manifest"),
        (manifest_with(surprise=1), "surprise"),
        (lambda parts: parts.update({f"scores/{MAIN}.json": b"["}), "is not JSON"),
        (lambda parts: parts.update({f"scores/{MAIN}.json": b"[" * 100_000}), "is not JSON"),
        (lambda parts: parts.update({f"replies/{MAIN}.jsonl": b"["}), "not JSON"),
    ],
)
def test_what_is_no_bundle_is_refused(file: Path, twin: Benchmark, change: Any, why: str) -> None:
    try:
        changed = rewritten(file, change)
    except KeyError:
        changed = zipped(file.with_name("changed.zip"), {"x": b""})
    with pytest.raises(DataError, match=why):
        verify(changed, twin)


def test_bombs_and_parts_twice_are_refused(
    file: Path, twin: Benchmark, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(bundles, "MAX_BYTES", 1_000)
    with pytest.raises(DataError, match="no bundle of ours"):
        verify(file, twin)
    monkeypatch.undo()
    twice = tmp_path / "twice.zip"
    twice.write_bytes(file.read_bytes())
    with pytest.warns(UserWarning, match="Duplicate"), zipfile.ZipFile(twice, "a") as archive:
        archive.writestr("manifest.json", b"{}")
    with pytest.raises(DataError, match="twice"):
        verify(twice, twin)


def test_a_file_that_is_no_zip_is_refused(tmp_path: Path, twin: Benchmark) -> None:
    path = tmp_path / "x.zip"
    path.write_bytes(b"no zip")
    with pytest.raises(DataError, match="not a whole bundle"):
        verify(path, twin)
    out = io.BytesIO(pack(load_run(write_replies(tmp_path / "r.jsonl", texts(oracle, N)), data=twin)))
    path.write_bytes(out.getvalue()[:-200])
    with pytest.raises(DataError, match="not a whole bundle"):
        verify(path, twin)
