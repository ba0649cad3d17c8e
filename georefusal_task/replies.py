"""Reply files: what a model said, by item id. Ours and the logs of every harness are read alike.

Ours are JSONL, `{"id", "text"}` and where known `confidence`, `logprobs`, `model` and `input_size`. lmms-eval's
(`--log_samples`, `--predict_only`) and lm-evaluation-harness's carry the id as the first word of `target`, and under
`-n k` k texts per item. inspect_ai's logs are archives.
"""

import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from zipfile import Path as ZipPath

from georefusal_task import __version__, inspect_logs
from georefusal_task.benchmarks.refusal import score_one
from georefusal_task.core.errors import ConfigError, DataError
from georefusal_task.core.records import ReplyKind, Row
from georefusal_task.core.reply import READER, read_reply
from georefusal_task.data import Benchmark, Item
from georefusal_task.data_columns import quoted
from georefusal_task.tasks_table import TaskSpec

_LOG_NAMES = (
    re.compile(r"samples_(?P<task>.+)_\d{4}-\d\d-\d\dT[-.\d]+\.jsonl"),  # lm-evaluation-harness
    re.compile(r".*_samples_(?P<task>.+)\.jsonl"),  # lmms-eval
)


@dataclass(frozen=True, slots=True)
class ItemReplies:
    """What a model said about one item."""

    texts: tuple[str, ...]
    """One or more replies; the first is the one that counts."""
    confidence: float | None = None
    """The model's own confidence in [0, 1], where the file gives one."""
    model: str | None = None
    logprobs: tuple[float, ...] | None = None
    """Natural logarithms of the probabilities of the first reply's tokens, in order."""
    input_size: tuple[int, int] | None = None
    """(width, height) in pixels of the image as the model's encoder received it."""
    frame: str | None = None
    """The coordinate frame that boxes were asked for in, of the tasks that ask for boxes."""
    line: int = field(default=0, compare=False)
    """Where it stands in the file, from 1."""


def find_replies(path: Path, task: str | None = None) -> tuple[Path, str | None]:
    """Return the reply file that `path` means, and the task that a host log is named after (else `task` itself).

    `path` is a file, or a folder of host results, in which the log of `task` is looked for at any depth.

    Raises:
        DataError: there is nothing at this path.
        ConfigError: the folder holds no log, or several to choose from; or the log's name speaks of another task.
    """
    if not path.exists():
        raise DataError(f"{path} is not there")
    if not path.is_dir():
        named = _task_of(path)
        if task and named and task != named:
            raise ConfigError(
                f"{path} is named as a log of the task {named}, not {task}; leave --task out or rename it"
            )
        return path, task or named
    logs = {log: named for log in sorted(path.rglob("*")) if (named := _task_of(log))}
    found = [log for log, named in logs.items() if task in (None, named)]
    if len(found) == 1:
        return found[0], logs[found[0]]
    if not found:
        there = ", ".join(sorted({str(named) for named in logs.values()})) or "none"
        raise ConfigError(f"{path} holds no host log of the task {task or '(any)'}; tasks with a log there: {there}")
    listed = "\n  ".join(f"{log} (--task {logs[log]})" for log in found)
    raise ConfigError(f"{path} holds {len(found)} host logs; name one file, or its task if that is enough:\n  {listed}")


def _task_of(path: Path) -> str | None:
    if inspect_logs.is_log(path):
        return inspect_logs.task_of(path)
    matches = (pattern.fullmatch(path.name) for pattern in _LOG_NAMES)
    return next((match["task"] for match in matches if match), None)


def read_replies(path: Path | ZipPath, known: Collection[str]) -> dict[str, ItemReplies]:
    """Return id -> replies of a reply file or host log; items that have none are left out.

    Args:
        path: the file, which may lie in a zip file.
        known: the ids of the data set.

    Raises:
        DataError: a line is not what it should be, an id is not known, one id has different replies, or there is no
            reply at all; the message names file, line and id.
    """
    found: dict[str, ItemReplies] = {}
    for where, item, replies in _entries(path):
        if item not in known:
            raise DataError(
                f"{where}: the id {quoted(item)} is not among the {len(known)} items of this data set; "
                "check --task and --data"
            )
        first = found.setdefault(item, replies)
        if first != replies:
            raise DataError(f"{where}: {item} has another reply already in line {first.line}; keep one of the two")
    if not found:
        raise DataError(f"{path} holds no reply")
    return found


def _entries(path: Path | ZipPath) -> Iterator[tuple[str, str, ItemReplies]]:
    """Yield (where it stands, id, replies) for each entry of a file."""
    if isinstance(path, Path) and inspect_logs.is_log(path):
        run = inspect_logs.read_header(path)["eval"]
        frame = (run.get("metadata") or {}).get("frame")
        for item, texts in inspect_logs.read_texts(path).items():
            yield str(path), item, ItemReplies(texts, model=str(run.get("model")), frame=frame)
        return
    for line, row in json_lines(path):
        where = f"{path}:{line}"
        yield where, *_read_line(row, line, where)


def _read_line(row: Mapping[str, Any], line: int, where: str) -> tuple[str, ItemReplies]:
    """Return id and replies of one line, of whichever form it is."""
    frame = row.get("frame")
    if "id" in row and "text" in row:
        item, texts = row["id"], [row["text"]]
    elif "target" in row and ("filtered_resps" in row or "resps" in row):
        item, _, rest = str(row["target"]).partition(" ")
        frame = frame or rest.partition(" ")[2] or None
        texts = row.get("filtered_resps", row.get("resps"))
        texts = texts if isinstance(texts, list) else [texts]
    else:
        keys = ", ".join(row) or "none"
        raise DataError(f'{where}: expected {{"id", "text"}} or a line of a host\'s sample log; the keys are: {keys}')
    if not isinstance(item, str):
        raise DataError(f"{where}: the id {quoted(item)} is not a string")
    texts = ["" if text is None else text for text in texts]
    if not texts or not all(isinstance(text, str) for text in texts):
        raise DataError(f"{where}: the reply to {item} is {quoted(texts)}, not text")
    confidence, model = row.get("confidence"), row.get("model")
    if confidence is not None and not (type(confidence) in (int, float) and 0 <= confidence <= 1):
        raise DataError(f"{where}: the confidence of {item} is {quoted(confidence)}, not a number from 0 to 1")
    return item, ItemReplies(
        texts=tuple(texts),
        confidence=confidence,
        model=None if model is None else str(model),
        logprobs=_logprobs(row, where),
        input_size=_input_size(row, where),
        frame=None if frame is None else str(frame),
        line=line,
    )


def _logprobs(row: Mapping[str, Any], where: str) -> tuple[float, ...] | None:
    """Return the token log-probabilities: a list of numbers, or the object that OpenAI-compatible servers send."""
    given = row.get("logprobs")
    tokens = given.get("content") if isinstance(given, dict) else given
    if tokens is None:
        return None
    values = [_logprob(token) for token in tokens] if isinstance(tokens, list) else [None]
    if None in values:
        raise DataError(
            f"{where}: logprobs is {quoted(given)}, not a list of logarithms of probabilities (none above 0)"
        )
    return tuple(value for value in values if value is not None) or None


def _logprob(token: Any) -> float | None:
    value: object = token.get("logprob") if isinstance(token, dict) else token
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) and value <= 0 else None


def _input_size(row: Mapping[str, Any], where: str) -> tuple[int, int] | None:
    size = row.get("input_size")
    if size is None:
        return None
    if not isinstance(size, list) or len(size) != 2 or not all(type(side) is int and side > 0 for side in size):
        raise DataError(f"{where}: input_size is {quoted(size)}, not [width, height] in pixels")
    return size[0], size[1]


def json_lines(path: Path | ZipPath) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield (line number from 1, object) for each line of a JSONL file that is not blank.

    Raises:
        DataError: a line is not UTF-8, not JSON or not an object.
    """
    with path.open("rb") as lines:  # bytes: only a newline ends a line, not U+2028 inside a reply
        for number, line in enumerate(lines, 1):
            if not line.strip():
                continue
            try:
                row = json.loads(line.decode("utf-8-sig" if number == 1 else "utf-8"))
            except UnicodeDecodeError as error:
                at = f"{error.reason} at byte {error.start} of the line"
                raise DataError(f"{path}:{number}: not UTF-8 ({at}); save the file as UTF-8") from None
            except (ValueError, RecursionError) as error:
                raise DataError(f"{path}:{number}: not JSON: {error}") from None
            if not isinstance(row, dict):
                raise DataError(f"{path}:{number}: {quoted(row)} is not a JSON object")
            yield number, row


def read_clusters(path: Path) -> dict[str, str]:
    """Return item id -> cluster from JSONL lines `{"id", "cluster"}`.

    Raises:
        DataError: a line lacks one of them, or one id is in two clusters.
    """
    clusters: dict[str, str] = {}
    for line, row in json_lines(path):
        if row.get("id") is None or row.get("cluster") is None:
            raise DataError(f'{path}:{line}: expected {{"id", "cluster"}}; the keys are: {", ".join(row) or "none"}')
        item, cluster = str(row["id"]), str(row["cluster"])
        if clusters.setdefault(item, cluster) != cluster:
            raise DataError(f"{path}:{line}: {item} is in the clusters {clusters[item]} and {cluster}")
    return clusters


def score_replies(
    items: Mapping[str, Item],
    replies: Mapping[str, ItemReplies],
    kind: ReplyKind = "verdict",
    *,
    track: Callable[[Iterable[str]], Iterable[str]] = iter,
) -> list[Row]:
    """Return a scored row for each item that has a reply; a confidence in the file stands above one in the text.

    `track` passes the ids on and shows how far it got, such as a progress bar.
    """
    rows = []
    for item_id in track(replies):
        item, said = items[item_id], replies[item_id]
        read = [read_reply(text, kind) for text in said.texts]
        if said.confidence is not None:
            read[0] = replace(read[0], confidence=said.confidence)
        rows.append(score_one(item.case, item.label, read, kind))
    return rows


def made_from(spec: TaskSpec, benchmark: Benchmark) -> dict[str, Any]:
    """Return what figures were made from, for the `meta` of `score --json`."""
    return {
        "task": spec.name,
        "variant": spec.variant,
        "n_total": len(benchmark.items),
        "data": {"digest": benchmark.digest, "source": benchmark.source, "revision": benchmark.revision},
        "prompt": {"id": spec.asks.id, "sha256": spec.asks.sha256},
        "reader": READER,
        "georefusal": __version__,
    }
