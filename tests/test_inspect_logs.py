"""Logs of inspect_ai as they come: archives in both packings, one JSON file, half runs, and what is no log at all."""

import json
import struct
import sys
import zipfile
import zlib
from pathlib import Path
from typing import Any

import pytest
import zstandard

from georefusal_task import inspect_logs
from georefusal_task.core.errors import ConfigError, DataError
from georefusal_task.core.records import Reason
from georefusal_task.core.reply import read_reply
from georefusal_task.replies import find_replies, read_replies
from georefusal_task.report.logs import find_logs

KNOWN = ("A-0", "A-1", "B-2")
RUN = {
    "task": "georefusal_task/georefusalbench_mcq",
    "model": "openai/own",
    "model_args": {"api_key": "secret", "region": "north"},
    "packages": {"inspect_ai": "0.3.285"},
    "created": "2026-01-01T00:00:00+00:00",
    "metadata": {"prompt": "mcq/v1", "data_digest": "d" * 64},
}
HEADER = {"version": 2, "status": "success", "eval": RUN, "plan": {"config": {"temperature": 0.0, "seed": 3}}}


def sample(item: str, text: str | None, epoch: int = 1) -> dict[str, Any]:
    """A sample as inspect_ai 0.3.285 writes it; text None: the request failed."""
    choices = [] if text is None else [{"message": {"role": "assistant", "content": text}, "stop_reason": "stop"}]
    return {"id": item, "epoch": epoch, "output": {"model": "own", "choices": choices, "completion": text or ""}}


def archive(path: Path, *samples: dict[str, Any], header: str = "header.json", packed: str = "zstandard") -> Path:
    files = {f"samples/{row['id']}_epoch_{row['epoch']}.json": row for row in samples}
    with zipfile.ZipFile(path, "w") as out:
        for name, content in {"_journal/summaries/1.json": [], **files, header: HEADER}.items():
            data = json.dumps(content).encode()
            if packed == "deflate":
                out.writestr(name, data, zipfile.ZIP_DEFLATED)
            else:
                # two frames: inspect_ai parts large files so
                frames = [zstandard.compress(part) for part in (data[:5], data[5:])]
                out.writestr(name, b"".join(frames))
                entry = out.getinfo(name)
                entry.CRC, entry.file_size, entry.compress_type = zlib.crc32(data), len(data), 93
                file: Any = out.fp
                end = file.tell()
                for place, form, value in ((8, "<H", 93), (14, "<L", entry.CRC), (22, "<L", len(data))):
                    file.seek(entry.header_offset + place)
                    file.write(struct.pack(form, value))
                file.seek(end)
    return path


@pytest.mark.parametrize("packed", ["zstandard", "deflate"])
def test_replies_of_an_archive_in_either_packing(tmp_path: Path, packed: str) -> None:
    file = archive(tmp_path / "x.eval", sample("A-0", "yes\u2028no"), sample("B-2", ""), packed=packed)
    found = read_replies(file, KNOWN)
    assert {item: (said.texts, said.model) for item, said in found.items()} == {
        "A-0": (("yes\u2028no",), "openai/own"),
        "B-2": (("",), "openai/own"),
    }


def test_epochs_are_repeats_in_their_order_whenever_they_finished(tmp_path: Path) -> None:
    rows = [sample("A-0", "third", 3), sample("A-0", "first", 1), sample("A-1", "only"), sample("A-0", "second", 2)]
    found = read_replies(archive(tmp_path / "x.eval", *rows), KNOWN)
    assert {item: said.texts for item, said in found.items()} == {
        "A-0": ("first", "second", "third"),
        "A-1": ("only",),
    }


def test_a_request_that_failed_counts_where_inspect_ai_counts_it(tmp_path: Path) -> None:
    scored = {**sample("B-2", None), "error": {"message": "429"}, "scores": {"accept_set": {"value": "N"}}}
    file = archive(tmp_path / "x.eval", sample("A-0", "yes"), sample("A-1", None), scored)
    found = read_replies(file, KNOWN)
    assert list(found) == ["A-0", "B-2"]
    assert read_reply(found["B-2"].texts[0]).reason == Reason.HOST_ERROR


def test_an_interrupted_run_has_its_header_elsewhere(tmp_path: Path) -> None:
    file = archive(tmp_path / "x.eval", sample("A-0", "yes"), header="_journal/start.json")
    assert find_replies(file) == (file, "georefusalbench_mcq")
    assert len(read_replies(file, KNOWN)) == 1


def test_a_log_that_is_one_json_file(tmp_path: Path) -> None:
    file = tmp_path / "x.json"
    file.write_text(json.dumps({**HEADER, "samples": [sample("A-0", "yes")]}, indent=2))
    assert find_replies(file) == (file, "georefusalbench_mcq")
    assert read_replies(file, KNOWN)["A-0"].texts == ("yes",)
    (log,) = find_logs(file)
    assert log.meta.harness == "inspect_ai"


def test_another_json_file_is_not_taken_for_a_log(tmp_path: Path) -> None:
    file = tmp_path / "x.json"
    file.write_text(json.dumps({"metrics": {}, "meta": {"evaluation": "eval"}}))
    assert not inspect_logs.is_log(file)
    assert not inspect_logs.is_log(file.with_name("missing.json"))


def test_in_a_folder_the_log_of_the_task_is_found(tmp_path: Path) -> None:
    file = archive(tmp_path / "2026_georefusalbench-mcq_x.eval", sample("A-0", "yes"))
    (tmp_path / "other_samples_georefusalbench.jsonl").write_text('{"id": "A-0", "text": "x"}\n')
    assert find_replies(tmp_path, "georefusalbench_mcq") == (file, "georefusalbench_mcq")
    with pytest.raises(ConfigError, match="holds 2 host logs"):
        find_replies(tmp_path)


def test_reports_learn_how_the_run_was_made_but_no_secret(tmp_path: Path) -> None:
    archive(tmp_path / "x.eval", sample("A-0", "yes"))
    (log,) = find_logs(tmp_path)
    meta = log.meta
    assert (log.task, meta.model, meta.harness_version) == ("georefusalbench_mcq", "openai/own", "0.3.285")
    assert (meta.generation["temperature"], meta.seed, meta.style) == (0.0, 3, "chat")
    assert (meta.prompt, meta.data_digest) == ("mcq/v1", "d" * 64)
    assert meta.model_args == {"region": "north"}


@pytest.mark.parametrize(
    "content", [b"", b"PK", b"no archive", b"PK\x05\x06" + bytes(18)], ids=["empty", "cut", "text", "without-files"]
)
def test_what_is_no_log_is_named(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "x.eval"
    file.write_bytes(content)
    for read in (inspect_logs.read_header, find_replies, find_logs):
        with pytest.raises(DataError, match=r"x\.eval is not a log of inspect_ai, or damaged"):
            read(file)


@pytest.mark.parametrize("packed", ["zstandard", "deflate"])
def test_damage_is_found(tmp_path: Path, packed: str) -> None:
    file = archive(tmp_path / "x.eval", *(sample(item, "a long reply " * 9) for item in KNOWN), packed=packed)
    good, found = file.read_bytes(), 0
    for place in range(40, len(good), 7):
        file.write_bytes(good[:place] + bytes([good[place] ^ 0x55]) + good[place + 1 :])
        try:
            assert read_replies(file, KNOWN)
        except DataError:
            found += 1
    assert found > 20


def test_without_the_package_for_the_packing_the_way_round_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = archive(tmp_path / "x.eval", sample("A-0", "yes"))
    monkeypatch.setitem(sys.modules, "zstandard", None)
    with pytest.raises(ConfigError, match="pip install zstandard"):
        read_replies(file, KNOWN)


def test_logs_of_lm_evaluation_harness(tmp_path: Path) -> None:
    stamp = "2026-11-30T15-53-00.380457"
    file = tmp_path / f"samples_georefusalbench_mini_{stamp}.jsonl"
    row = {"doc_id": 0, "target": "A-0 ANSWER", "resps": [["raw"]], "filtered_resps": ["yes"], "filter": "none"}
    file.write_text(json.dumps(row) + "\n")
    results = {
        "lm_eval_version": "0.4.13",
        "model_source": "local-chat-completions",
        "model_name": "own",
        "config": {"model_args": {"model": "own", "base_url": "http://127.0.0.1/v1"}, "random_seed": 0},
        "configs": {"georefusalbench_mini": {"metadata": RUN["metadata"]}},
    }
    (tmp_path / f"results_{stamp}.json").write_text(json.dumps(results))
    assert find_replies(tmp_path) == (file, "georefusalbench_mini")
    assert read_replies(file, KNOWN)["A-0"].texts == ("yes",)
    for place in (tmp_path, file, tmp_path / f"results_{stamp}.json"):
        (log,) = find_logs(place)
        assert (log.path, log.task) == (file, "georefusalbench_mini")
        assert (log.meta.harness, log.meta.harness_version, log.meta.model) == ("lm-eval", "0.4.13", "own")
        assert (log.meta.model_args, log.meta.prompt) == ({"model": "own"}, "mcq/v1")
