"""What runs leave on disk, found and described before it is scored. A reader per kind of place, tried in order."""

import json
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from georefusal_task import inspect_logs
from georefusal_task.core.errors import ConfigError, DataError
from georefusal_task.replies import ItemReplies, read_replies

_LOG_NAME = re.compile(r"(?P<date>.*?)_?samples_(?P<task>.+)\.jsonl$")
_LM_EVAL_NAME = re.compile(r"samples_(?P<task>.+)_(?P<date>\d{4}-\d\d-\d\dT[-.\d]+)\.jsonl")
_SECRET = re.compile(r"key|token|secret|passw|auth|header|url|endpoint|proxy", re.IGNORECASE)
_NAMES_THE_MODEL = ("pretrained", "model", "model_version", "model_name", "model_id", "path", "engine", "peft", "delta")


@dataclass(frozen=True)
class Meta:
    """How a run was made, as far as it was recorded; None or empty where it was not."""

    model: str | None = None
    revision: str | None = None
    harness: str | None = None
    harness_version: str | None = None
    backend: str | None = None
    style: str | None = None
    """`chat` or `simple`: two ways of feeding a model whose scores cannot be compared."""
    model_args: Mapping[str, str] = field(default_factory=dict)
    """Without anything that looks like a secret or an address."""
    generation: Mapping[str, Any] = field(default_factory=dict)
    seed: int | None = None
    dtype: str | None = None
    image_encoding: str | None = None
    data_digest: str | None = None
    data_revision: str | None = None
    prompt: str | None = None
    prompt_sha256: str | None = None
    frame: str | None = None
    """The coordinate frame of boxes, of the tasks that ask for them."""
    reader: str | None = None
    versions: Mapping[str, str] = field(default_factory=dict)
    date: str | None = None


@dataclass(frozen=True)
class Log:
    """The replies of one model to one task, not read yet."""

    path: Path
    task: str | None
    """The task as the place names it; None where it does not."""
    meta: Meta
    read: Callable[[Collection[str]], dict[str, ItemReplies]]
    """(known ids) -> replies by id; raises DataError for what cannot be a log of these items."""
    name: str | None = None
    """What to call the run, where the place says so; else it is called after its model."""


Reader = Callable[[Path], list[Log] | None]
"""The logs at a path, or None where the path is of another kind."""


def find_logs(path: Path) -> list[Log]:
    """Return every log at `path`, sorted by path.

    Raises:
        DataError: there is nothing at this path.
        ConfigError: no reader knows what is there, or there is no log in it.
    """
    if not path.exists():
        raise DataError(f"{path} is not there")
    for reader in READERS.values():
        logs = reader(path)
        if logs is not None:
            return sorted(logs, key=lambda log: (str(log.path), log.task or ""))
    raise ConfigError(
        f"{path} is no run: expected a harness's results (made with --log_samples), one of its sample logs, "
        'an .eval file of inspect_ai, a JSONL file of {"id", "text"}, or a bundle'
    )


def _host_logs(path: Path) -> list[Log] | None:
    """Read the host's folder at any depth, one of its sample logs, or its results file."""
    if path.name.endswith("_results.json"):
        date = path.name.removesuffix("_results.json")
        files = sorted(path.parent.glob(f"{date}_samples_*.jsonl"))
    elif path.is_dir():
        files = sorted(path.rglob("*_samples_*.jsonl"))
    else:
        files = [path] if "_samples_" in path.name and path.suffix == ".jsonl" else []
        return [_host_log(file) for file in files] or None
    if not files:
        raise ConfigError(f"{path} holds no sample log of the host: run it with --log_samples or --predict_only")
    return [_host_log(file) for file in files]


def _host_log(file: Path) -> Log:
    match = _LOG_NAME.fullmatch(file.name)
    if match is None:
        raise ConfigError(f"{file} is not named as the host names its logs, <date>_samples_<task>.jsonl")
    results = file.with_name(f"{match['date']}_results.json")
    recorded = _host_meta(_json_object(results), match["task"]) if results.is_file() else Meta(harness="lmms-eval")
    meta = replace(recorded, date=match["date"] or None)
    return Log(file, match["task"], meta, partial(read_replies, file))


def _lm_eval_logs(path: Path) -> list[Log] | None:
    """Read the folder of lm-evaluation-harness at any depth, one of its sample logs, or its results file."""
    if path.is_dir():
        files = sorted(path.rglob("samples_*.jsonl"))
    elif path.name.startswith("results_") and path.suffix == ".json":
        files = sorted(path.parent.glob(f"samples_*_{path.stem.removeprefix('results_')}.jsonl"))
    else:
        files = [path]
    return [_lm_eval_log(file, match) for file in files if (match := _LM_EVAL_NAME.fullmatch(file.name))] or None


def _lm_eval_log(file: Path, match: "re.Match[str]") -> Log:
    results = file.with_name(f"results_{match['date']}.json")
    recorded = _host_meta(_json_object(results), match["task"]) if results.is_file() else Meta()
    meta = replace(recorded, harness="lm-eval", date=match["date"])
    return Log(file, match["task"], meta, partial(read_replies, file))


def _inspect_logs(path: Path) -> list[Log] | None:
    """Read a folder of inspect_ai's logs at any depth, or one of them."""
    files = sorted(path.rglob("*.eval")) if path.is_dir() else [path] if inspect_logs.is_log(path) else []
    return [_inspect_log(file) for file in files] or None


def _inspect_log(file: Path) -> Log:
    header = inspect_logs.read_header(file)
    run, generation = header["eval"], _part(header["plan"], "config")
    seed = generation.get("seed")
    arguments = _arguments(run.get("model_args"))
    meta = Meta(
        model=_text(run.get("model")),
        harness="inspect_ai",
        harness_version=_text(_part(run, "packages").get("inspect_ai")),
        style="chat",
        model_args={key: value for key, value in arguments.items() if not _SECRET.search(key) and "://" not in value},
        generation=generation,
        seed=seed if isinstance(seed, int) else None,
        versions=_texts(_part(run, "packages")),
        date=_text(run.get("created")),
        **_ours(_part(run, "metadata")),
    )
    return Log(file, inspect_logs.task_of(file), meta, partial(read_replies, file))


def _json_object(file: Path) -> dict[str, Any]:
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise DataError(f"{file} is not JSON ({error}); delete it to go on with the sample log alone") from None
    if not isinstance(content, dict):
        raise DataError(f"{file} is not the host's results file: it holds no JSON object")
    return content


def _host_meta(results: Mapping[str, Any], task: str) -> Meta:
    """Return what the host's results file records; a part that has another shape than expected counts as unrecorded."""
    config, task_config = _part(results, "config"), _part(_part(results, "configs"), task)
    arguments = _arguments(config.get("model_args"))
    source = _text(results.get("model_source")) or _text(config.get("model"))
    backend = _text(config.get("model_backend")) or ""
    named = _text(results.get("model_name")) or next((arguments[k] for k in _NAMES_THE_MODEL if k in arguments), None)
    shown = {key: value for key, value in arguments.items() if not _SECRET.search(key) and "://" not in value}
    told_apart = ",".join(f"{key}={value}" for key, value in shown.items())
    seed = config.get("random_seed")
    return Meta(
        model=_shortened(named) if named else f"{source} ({told_apart})" if source and told_apart else source,
        revision=shown.get("revision"),
        harness="lmms-eval",
        harness_version=_version(_part(task_config, "metadata"), results),
        backend=source,
        style=next((style for style in ("chat", "simple") if backend.endswith(f"({style})")), None),
        model_args={key: _shortened(value) for key, value in shown.items()},
        generation=_part(task_config, "generation_kwargs"),
        seed=seed if isinstance(seed, int) else None,
        dtype=shown.get("dtype") or shown.get("torch_dtype"),
        versions=_texts(_part(_part(task_config, "metadata"), "versions")),
        **_ours(_part(task_config, "metadata")),
    )


def _version(ours: Mapping[str, Any], results: Mapping[str, Any]) -> str | None:
    """Return the host's version; what lmms-eval calls its own may be branch@commit of any repository around it."""
    recorded = _text(_part(ours, "versions").get("lmms-eval"))
    stated = _text(results.get("lmms_eval_version")) or _text(results.get("lm_eval_version"))
    return recorded or (None if stated and "@" in stated else stated)


def _ours(metadata: Mapping[str, Any]) -> dict[str, str | None]:
    """Return what our task left in its metadata, whatever the harness."""
    names = ("data_digest", "data_revision", "prompt", "prompt_sha256", "frame", "reader", "image_encoding")
    return {name: _text(metadata.get(name)) for name in names}


def _part(whole: Mapping[str, Any], key: str) -> dict[str, Any]:
    part = whole.get(key)
    return part if isinstance(part, dict) else {}


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None


def _texts(values: Mapping[str, Any]) -> dict[str, str]:
    return {name: value for name, value in values.items() if isinstance(value, str)}


def _arguments(given: object) -> dict[str, str]:
    """Return the host's `key=value,key=value`; a comma inside braces does not part two of them."""
    if isinstance(given, dict):
        return {str(key): str(value) for key, value in given.items()}
    parts = re.split(r",(?![^{\[]*[}\]])", given) if isinstance(given, str) else []
    return {key.strip(): value.strip() for key, equals, value in (part.partition("=") for part in parts) if equals}


def _shortened(name: str) -> str:
    """Return a model's name; of an absolute path only the last two parts, since the rest says whose machine it was."""
    return "/".join(Path(name).parts[1:][-2:]) if Path(name).is_absolute() else name


def _reply_file(path: Path) -> list[Log] | None:
    if path.is_dir() or path.suffix == ".json":
        return None
    return [Log(path, None, Meta(), partial(read_replies, path))]


def _bundle(path: Path) -> list[Log] | None:
    from georefusal_task.report.bundles import bundle_logs  # which loads runs itself

    return bundle_logs(path)


READERS: dict[str, Reader] = {
    "inspect_ai": _inspect_logs,  # before bundles, which are archives too
    "bundle": _bundle,
    "lm-eval": _lm_eval_logs,
    "lmms-eval": _host_logs,
    "replies": _reply_file,
}
"""Name -> reader, asked in this order; another harness adds its own before `lmms-eval`, which takes any folder."""
