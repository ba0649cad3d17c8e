"""`export`: a folder that shows a model exactly what the host would show, and tells it nothing else."""

import json
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from PIL.PngImagePlugin import PngInfo
from support.twin import POISON, make_twin
from typer.testing import CliRunner

from georefusal_task import data
from georefusal_task.benchmarks.prompts import PROMPTS
from georefusal_task.core.errors import DataError
from georefusal_task.export import example_loop, export
from georefusal_task.tasks_table import TASKS, get_task
from georefusal_task.variants import show, shown_cases

ITEMS = 30


@pytest.fixture(scope="module")
def benchmark(tmp_path_factory: pytest.TempPathFactory) -> data.Benchmark:
    return data.load(make_twin(tmp_path_factory.mktemp("data") / "twin", n=ITEMS))


@pytest.fixture
def exported(tmp_path: Path, benchmark: data.Benchmark) -> Callable[[str], Path]:
    def write(task: str) -> Path:
        export(tmp_path / task, get_task(task), benchmark)
        return tmp_path / task

    return write


def lines(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "prompts.jsonl").read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize("task", [name for name, spec in TASKS.items() if not spec.mini])
def test_a_line_says_what_the_host_says(
    exported: Callable[[str], Path], benchmark: data.Benchmark, monkeypatch: pytest.MonkeyPatch, task: str
) -> None:
    from georefusal_task.adapters import lmms
    from georefusal_task.adapters.lmms_task import HostTask

    monkeypatch.setenv("GEOREFUSAL_DATA", benchmark.source)
    folder, spec = exported(task), get_task(task)
    docs = HostTask(spec, benchmark.folder).docs(None)
    for line, doc in zip(lines(folder), docs, strict=True):
        assert list(line) == ["id", "image", "prompt", "messages"]
        assert line["prompt"] == lmms.doc_to_text(doc)
        host = lmms.doc_to_messages(doc)
        for turn, host_turn in zip(line["messages"], host, strict=True):
            assert turn["role"] == host_turn["role"]
            assert [part["type"] for part in turn["content"]] == [part["type"] for part in host_turn["content"]]
            assert [p["text"] for p in turn["content"] if p["type"] == "text"] == [
                p["text"] for p in host_turn["content"] if p["type"] == "text"
            ]
            assert [p["image"] for p in turn["content"] if p["type"] == "image"] == [line["image"]] * bool(
                line["image"]
            )


@pytest.mark.parametrize("variant", ["", "_jpeg_q95", "_shuffled", "_grey"])
def test_an_image_has_the_pixels_that_the_host_shows(
    exported: Callable[[str], Path], benchmark: data.Benchmark, variant: str
) -> None:
    spec = get_task(f"georefusalbench{variant}")
    folder = exported(spec.name)
    cases = shown_cases([item.case for item in benchmark.items], spec.variant)
    for line, case in zip(lines(folder), cases, strict=True):
        file = folder / line["image"]
        assert file.stem == case.id == line["id"]
        host = show(case, spec.variant)
        assert host is not None
        with Image.open(file) as written:
            assert written.format == "PNG", "JPEG decoders differ in the last bit, so decoded pixels are written"
            assert written.convert("RGB").tobytes() == host.convert("RGB").tobytes()
        if spec.variant in ("main", "shuffled"):
            assert file.read_bytes() == case.image.read_bytes(), "re-encoding would show in a digest"


def test_a_text_only_task_has_no_image(exported: Callable[[str], Path]) -> None:
    folder = exported("georefusalbench_noimage")
    assert {line["image"] for line in lines(folder)} == {None}
    assert not list((folder / "images").iterdir())


def test_no_label_and_no_provenance_gets_out(exported: Callable[[str], Path], benchmark: data.Benchmark) -> None:
    folder = exported("georefusalbench")
    files = [path for path in folder.rglob("*") if path.is_file()]
    assert not [path for path in files if POISON.encode() in path.read_bytes()]
    everything = (folder / "prompts.jsonl").read_text() + (folder / "export.json").read_text()
    for item in benchmark.items:
        assert item.label.lever is not None
        assert item.label.lever not in everything
    for key in ("gold", "accept", "lever", "category", "intensity", "anchor"):
        assert not re.search(rf'"{key}"\s*:', everything)
    assert {path.stem for path in files if path.parent.name == "images"} == set(benchmark.by_id)


def test_what_a_png_carries_besides_pixels_stays_behind(tmp_path: Path) -> None:
    twin = make_twin(tmp_path / "twin", n=3)
    file = next((twin / "images").rglob("*.png"))
    notes = PngInfo()
    notes.add_text("Comment", "operator: " + POISON)
    with Image.open(file) as image:
        image.load()
        image.save(file, pnginfo=notes)
    export(tmp_path / "out", get_task("georefusalbench"), data.load(twin))
    exported = (tmp_path / "out" / "images" / file.name).read_bytes()
    assert POISON.encode() in file.read_bytes()
    assert POISON.encode() not in exported


def test_the_folder_says_which_prompt_and_data_it_holds(
    exported: Callable[[str], Path], benchmark: data.Benchmark
) -> None:
    meta = json.loads((exported("georefusalbench_mcq") / "export.json").read_text())
    assert meta["task"] == "georefusalbench_mcq"
    assert meta["prompt_sha256"] == PROMPTS["mcq"].sha256
    assert meta["data_digest"] == benchmark.digest
    assert meta["items"] == ITEMS


def test_a_folder_in_use_is_left_alone(exported: Callable[[str], Path], benchmark: data.Benchmark) -> None:
    folder = exported("georefusalbench")
    before = {path: path.stat().st_mtime_ns for path in folder.rglob("*")}
    with pytest.raises(DataError, match="--force"):
        export(folder, get_task("georefusalbench_grey"), benchmark)
    (folder / "replies.jsonl").write_text('{"id": "A-0", "text": "hours of work"}\n')
    with pytest.raises(DataError, match=r"replies\.jsonl"):
        export(folder, get_task("georefusalbench_grey"), benchmark, force=True)
    assert before.items() <= {path: path.stat().st_mtime_ns for path in folder.rglob("*")}.items() | {
        (folder, before.get(folder, 0))
    }


def test_force_replaces_the_prompts_and_images_but_not_an_edited_loop(
    exported: Callable[[str], Path], benchmark: data.Benchmark
) -> None:
    folder = exported("georefusalbench_jpeg_q95")
    (folder / "example.py").write_text("my_model = 1\n")
    export(folder, get_task("georefusalbench_mcq"), benchmark, force=True)
    assert (folder / "example.py").read_text() == "my_model = 1\n"
    assert lines(folder)[0]["prompt"].startswith(PROMPTS["mcq"].instruction)
    line = lines(folder)[0]
    original = benchmark.by_id[line["id"]].case.image
    assert (folder / line["image"]).read_bytes() == original.read_bytes(), "images of the earlier task are gone"


def test_an_export_that_was_cut_off_is_no_export_and_can_be_run_again(
    tmp_path: Path, benchmark: data.Benchmark
) -> None:
    def dies_half_way(cases: Iterable[Any]) -> Iterator[Any]:
        for number, case in enumerate(cases):
            if number == ITEMS // 2:
                raise KeyboardInterrupt
            yield case

    with pytest.raises(KeyboardInterrupt):
        export(tmp_path / "x", get_task("georefusalbench"), benchmark, track=dies_half_way)
    assert not (tmp_path / "x" / "prompts.jsonl").exists()
    export(tmp_path / "x", get_task("georefusalbench"), benchmark)
    assert len(lines(tmp_path / "x")) == ITEMS
    assert {path.name for path in (tmp_path / "x").iterdir()} == {
        "prompts.jsonl", "images", "example.py", "README.md", "export.json",
    }  # fmt: skip


def test_the_example_loop_asks_once_per_item_and_goes_on_where_it_stopped(
    exported: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = exported("georefusalbench")
    module: dict[str, Any] = {"__name__": "example", "__file__": str(folder / "example.py")}
    exec(compile(example_loop(), "example.py", "exec"), module)
    asked: list[str] = []

    def load(model: str) -> Callable[[dict[str, Any]], str]:
        def ask(item: dict[str, Any]) -> str:
            if len(asked) == 10 and model == "stops after ten":
                raise KeyboardInterrupt
            asked.append(item["id"])
            assert Path(item["image"]).is_file(), "image paths hold from the export's own folder"
            return f"{item['id']} says\nso"

        return ask

    module["load"] = load
    monkeypatch.chdir(folder.parent)
    monkeypatch.setattr(sys, "argv", ["example.py", "stops after ten"])
    with pytest.raises(KeyboardInterrupt):
        module["main"]()
    monkeypatch.setattr(sys, "argv", ["example.py", "whole"])
    module["main"]()
    ids = [line["id"] for line in lines(folder)]
    assert asked == ids
    replies = [json.loads(line) for line in (folder / "replies.jsonl").read_text().splitlines()]
    assert replies == [{"id": item_id, "text": f"{item_id} says\nso"} for item_id in ids]


def test_the_command_names_the_next_two_steps(tmp_path: Path) -> None:
    from georefusal_task.cli import app

    twin = make_twin(tmp_path / "twin", n=6)
    done = CliRunner().invoke(app, ["export", str(tmp_path / "out"), "--task", "my_set", "--data", str(twin)])
    assert done.exit_code == 0, done.output
    assert f"georefusal score {tmp_path}/out/replies.jsonl --task my_set --data {twin}" in done.output
    again = CliRunner().invoke(app, ["export", str(tmp_path / "out"), "--data", str(twin)])
    assert again.exit_code == 1
    assert "--force" in again.stderr
