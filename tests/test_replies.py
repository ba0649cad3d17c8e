"""Reply files as they come: ours, the host's logs, and broken ones."""

import json
from pathlib import Path
from typing import Any

import pytest

from georefusal_task.core.errors import ConfigError, DataError
from georefusal_task.replies import find_replies, read_clusters, read_replies

KNOWN = ("A-0", "A-1", "B-2")


def written(path: Path, *rows: Any) -> Path:
    path.write_text(
        "".join((row if isinstance(row, str) else json.dumps(row)) + "\n" for row in rows), encoding="utf-8"
    )
    return path


def log_row(item: str, replies: Any, **more: Any) -> dict[str, Any]:
    """A line as lmms-eval 0.7.3 writes it."""
    return {"doc_id": 0, "target": f"{item} ANSWER", "filtered_resps": replies, "doc_hash": "x", "input": "...", **more}


# ours


def test_ids_with_texts(tmp_path: Path) -> None:
    file = written(tmp_path / "r.jsonl", {"id": "A-0", "text": "yes", "other": 1}, "", {"id": "B-2", "text": None})
    found = read_replies(file, KNOWN)
    assert {item: said.texts for item, said in found.items()} == {"A-0": ("yes",), "B-2": ("",)}


def test_confidence_and_model_are_kept(tmp_path: Path) -> None:
    row = {"id": "A-0", "text": "x", "confidence": 1, "model": "m"}
    said = read_replies(written(tmp_path / "r.jsonl", row), KNOWN)["A-0"]
    assert (said.confidence, said.model) == (1, "m")


def test_a_line_separator_inside_a_reply_does_not_end_the_line(tmp_path: Path) -> None:
    text = "one\u2028two\x85three\x0bfour"
    row = json.dumps({"id": "A-0", "text": text}, ensure_ascii=False)
    assert read_replies(written(tmp_path / "r.jsonl", row), KNOWN)["A-0"].texts == (text,)


def test_a_byte_order_mark_and_windows_line_ends(tmp_path: Path) -> None:
    file = tmp_path / "r.jsonl"
    file.write_bytes(b'\xef\xbb\xbf{"id": "A-0", "text": "x"}\r\n{"id": "A-1", "text": "y"}')
    assert list(read_replies(file, KNOWN)) == ["A-0", "A-1"]


def test_equal_duplicates_collapse(tmp_path: Path) -> None:
    row = {"id": "A-0", "text": "x"}
    assert len(read_replies(written(tmp_path / "r.jsonl", row, {"id": "A-1", "text": "x"}, row), KNOWN)) == 2


def test_different_duplicates_name_both_lines(tmp_path: Path) -> None:
    rows = [{"id": "A-0", "text": "x"}, {"id": "A-1", "text": "x"}, {"id": "A-0", "text": "y"}]
    with pytest.raises(DataError, match=r"r\.jsonl:3: A-0 .* line 1"):
        read_replies(written(tmp_path / "r.jsonl", *rows), KNOWN)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('{"id": "A-0", "text": "x"', "not JSON"),
        ("[1, 2]", "not a JSON object"),
        ('"A-0"', "not a JSON object"),
        ("[" * 100_000, "not JSON"),
        ('{"id": "A-0", "text": 1' + "0" * 5_000 + "}", "not JSON"),
        ('{"id": "A-0", "reply": "x"}', "the keys are: id, reply"),
        ("{}", "the keys are: none"),
        ('{"id": 7, "text": "x"}', "the id 7 is not a string"),
        ('{"id": "A-0", "text": 7}', "not text"),
        ('{"id": "A-0", "text": ["x"]}', "not text"),
        ('{"id": "C-9", "text": "x"}', "the id 'C-9' is not among the 3 items"),
        ('{"id": "A-0", "text": "x", "confidence": 70}', "the confidence of A-0 is 70"),
        ('{"id": "A-0", "text": "x", "confidence": NaN}', "the confidence of A-0 is nan"),
        ('{"id": "A-0", "text": "x", "confidence": true}', "the confidence of A-0 is True"),
        ('{"id": "A-0", "text": "x", "confidence": "high"}', "the confidence of A-0 is 'high'"),
        ('{"id": "\\ud800", "text": "x"}', r"\\ud800"),
    ],
)
def test_a_broken_line_is_named_with_its_number(tmp_path: Path, line: str, said: str) -> None:
    file = written(tmp_path / "r.jsonl", {"id": "A-1", "text": "x"}, "", line)
    with pytest.raises(DataError) as error:
        read_replies(file, KNOWN)
    message = str(error.value)
    assert "r.jsonl:3" in message
    assert said.replace("\\\\", "\\") in message
    assert len(message) < 400
    message.encode("ascii")


@pytest.mark.parametrize("content", [b'{"id": "A-0", "text": "caf\xe9"}\n', '{"id": "A-0"}\n'.encode("utf-16")])
def test_a_file_that_is_not_utf8(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "r.jsonl"
    file.write_bytes(content)
    with pytest.raises(DataError, match=r"r\.jsonl:1: not UTF-8"):
        read_replies(file, KNOWN)


@pytest.mark.parametrize("content", ["", "\n\n  \n"])
def test_a_file_without_replies_is_no_result(tmp_path: Path, content: str) -> None:
    file = tmp_path / "r.jsonl"
    file.write_text(content)
    with pytest.raises(DataError, match="holds no reply"):
        read_replies(file, KNOWN)


# the host's


@pytest.mark.parametrize(
    ("replies", "texts"),
    [
        ("one", ("one",)),  # the host's own take_first
        (["one"], ("one",)),  # our filter that keeps all
        (["one", "two", "one"], ("one", "two", "one")),  # -n 3
        ([None], ("",)),
    ],
)
def test_host_logs(tmp_path: Path, replies: Any, texts: tuple[str, ...]) -> None:
    file = written(tmp_path / "t_samples_georefusalbench.jsonl", log_row("B-2", replies, accept_acc={"score": 1.0}))
    assert read_replies(file, KNOWN)["B-2"].texts == texts


def test_what_the_host_scored_counts_not_what_it_stripped(tmp_path: Path) -> None:
    file = written(tmp_path / "log.jsonl", log_row("A-0", ["after"], resps=["<think>x</think>after"]))
    assert read_replies(file, KNOWN)["A-0"].texts == ("after",)


def test_a_log_of_predict_only(tmp_path: Path) -> None:
    file = written(tmp_path / "log.jsonl", log_row("A-0", ["x"], bypass=999))
    assert read_replies(file, KNOWN)["A-0"].texts == ("x",)


def test_a_log_of_another_benchmark_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"'B' is not among"):
        read_replies(written(tmp_path / "log.jsonl", {"doc_id": 0, "target": "B", "filtered_resps": "B"}), KNOWN)


@pytest.mark.parametrize("replies", [[], [["x"], ["y"]], 7])
def test_a_log_line_without_text_is_named(tmp_path: Path, replies: Any) -> None:
    with pytest.raises(DataError, match=r"log\.jsonl:1: the reply to A-0"):
        read_replies(written(tmp_path / "log.jsonl", log_row("A-0", replies)), KNOWN)


# finding them


def logs(folder: Path, *names: str) -> Path:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).touch()
    return folder


def test_a_file_is_itself_and_a_log_names_its_task(tmp_path: Path) -> None:
    logs(tmp_path, "r.jsonl", "20260101_120000_samples_georefusalbench_mcq.jsonl")
    with pytest.raises(DataError, match=r"none.jsonl is not there"):
        find_replies(tmp_path / "none.jsonl")
    assert find_replies(tmp_path / "r.jsonl") == (tmp_path / "r.jsonl", None)
    assert find_replies(tmp_path / "r.jsonl", "x") == (tmp_path / "r.jsonl", "x")
    log = tmp_path / "20260101_120000_samples_georefusalbench_mcq.jsonl"
    assert find_replies(log) == (log, "georefusalbench_mcq")
    with pytest.raises(ConfigError, match="georefusalbench_mcq, not georefusalbench"):
        find_replies(log, "georefusalbench")


def test_a_folder_with_one_log(tmp_path: Path) -> None:
    logs(tmp_path, "m/1_samples_georefusalbench.jsonl", "m/1_results.json")
    assert find_replies(tmp_path) == (tmp_path / "m/1_samples_georefusalbench.jsonl", "georefusalbench")


def test_a_folder_with_several_logs_needs_the_task(tmp_path: Path) -> None:
    logs(tmp_path, "m/1_samples_georefusalbench.jsonl", "m/1_samples_georefusalbench_grey.jsonl")
    with pytest.raises(ConfigError, match=r"2 host logs(.|\n)*georefusalbench_grey"):
        find_replies(tmp_path)
    # not every log whose name begins alike
    assert find_replies(tmp_path, "georefusalbench")[0].name == "1_samples_georefusalbench.jsonl"


def test_a_folder_with_several_runs_of_a_task_lists_them(tmp_path: Path) -> None:
    logs(tmp_path, "m/1_samples_georefusalbench.jsonl", "m/2_samples_georefusalbench.jsonl")
    with pytest.raises(ConfigError, match=r"name one file(.|\n)*2_samples_georefusalbench\.jsonl"):
        find_replies(tmp_path, "georefusalbench")


def test_a_folder_without_the_log(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no host log"):
        find_replies(tmp_path)
    logs(tmp_path, "1_samples_mmmu.jsonl")
    with pytest.raises(ConfigError, match="tasks with a log there: mmmu"):
        find_replies(tmp_path, "georefusalbench")


# clusters


def test_clusters(tmp_path: Path) -> None:
    rows = [{"id": "A-0", "cluster": "x"}, {"id": "A-1", "cluster": 7}, {"id": "A-0", "cluster": "x"}]
    assert read_clusters(written(tmp_path / "c.jsonl", *rows)) == {"A-0": "x", "A-1": "7"}


def test_an_item_in_two_clusters(tmp_path: Path) -> None:
    rows = [{"id": "A-0", "cluster": "x"}, {"id": "A-0", "cluster": "y"}]
    with pytest.raises(DataError, match=r"c\.jsonl:2: A-0 is in the clusters x and y"):
        read_clusters(written(tmp_path / "c.jsonl", *rows))


def test_a_file_that_is_no_cluster_file(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r'c\.jsonl:1: expected \{"id", "cluster"\}; the keys are: id, base'):
        read_clusters(written(tmp_path / "c.jsonl", {"id": "A-0", "base": "x"}))
