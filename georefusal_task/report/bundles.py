"""One file that holds a run for good: replies, scores and how it was made; and whether it still says the same.

A bundle is a zip of `manifest.json` and, for each task, `replies/<task>.jsonl` and `scores/<task>.json`. Equal runs
give equal bytes. Provenance is never in it, so that its intervals are those of independent items.
"""

import hashlib
import io
import json
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from georefusal_task import __version__
from georefusal_task.core.errors import DataError
from georefusal_task.core.reply import READER
from georefusal_task.replies import ItemReplies, read_replies
from georefusal_task.report.logs import Log, Meta
from georefusal_task.report.runs import Data, Run, load_run

FORMAT = "georefusal bundle 1"
MAX_BYTES = 1 << 29
"""Unpacked; more is taken for an attack."""


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", protected_namespaces=())


class BundledRun(_Part):
    """One task of a bundle."""

    prompt: str
    prompt_sha256: str | None = Field(description="of the prompt that the model was given; null where not recorded")
    variant: str
    n: int
    n_total: int
    input_sizes: tuple[tuple[int, int], tuple[int, int]] | None = Field(
        description="smallest and largest image as the model's encoder got it, [width, height]; null where not recorded"
    )
    replies_sha256: str
    scores_sha256: str


class Manifest(_Part):
    """How the runs of a bundle were made; null where it was not recorded."""

    format: str
    name: str
    georefusal: str
    reader: str
    data_digest: str
    data_revision: str | None
    model: str | None
    model_revision: str | None
    model_args: dict[str, str]
    harness: str | None
    harness_version: str | None
    backend: str | None
    style: str | None = Field(description="chat or simple")
    generation: dict[str, Any]
    dtype: str | None
    seed: int | None
    image_encoding: str | None
    versions: dict[str, str]
    runs: dict[str, BundledRun]
    main: str


def pack(run: Run) -> bytes:
    """Return the bundle of a run and its variants."""
    parts: dict[str, bytes] = {}
    runs = {}
    for task, one in {run.task: run, **run.variants}.items():
        replies, scores = _reply_lines(one), _scores(one)
        parts |= {f"replies/{task}.jsonl": replies, f"scores/{task}.json": scores}
        sizes = sorted(
            (s for s in (said.input_size for said in one.replies.values()) if s), key=lambda s: (s[0] * s[1], s)
        )
        runs[task] = BundledRun(
            prompt=one.spec.asks.id,
            prompt_sha256=one.meta.prompt_sha256,
            variant=one.spec.variant,
            n=one.n,
            n_total=one.n_total,
            input_sizes=(sizes[0], sizes[-1]) if sizes else None,
            replies_sha256=_sha256(replies),
            scores_sha256=_sha256(scores),
        )
    parts["manifest.json"] = _dumped(_manifest(run, runs).model_dump(mode="json"))
    return _zipped(parts)


def read_bundle(path: Path) -> tuple[Manifest, zipfile.ZipFile]:
    """Return manifest and archive of a bundle.

    Raises:
        DataError: it is not there, or no bundle, or a part of it is missing, too large or not what the manifest says.
    """
    if not path.is_file():
        raise DataError(f"{path} is not a file, so no bundle" if path.exists() else f"{path} is not there")
    try:
        archive = zipfile.ZipFile(path)
        names = archive.namelist()
        if len(names) != len(set(names)) or sum(info.file_size for info in archive.infolist()) > MAX_BYTES:
            raise DataError(f"{path} holds a part twice, or more than {MAX_BYTES >> 20} MiB: it is no bundle of ours")
        manifest = Manifest.model_validate_json(archive.read("manifest.json"))
        for task, one in manifest.runs.items():
            for part, digest in _digests(task, one).items():
                if _sha256(archive.read(part)) != digest:
                    raise DataError(f"{path}: {part} is not the file that the manifest speaks of: it was changed")
    except (zipfile.BadZipFile, KeyError, RuntimeError, NotImplementedError, EOFError, OSError) as error:
        raise DataError(f"{path} is not a whole bundle: {error}") from None
    except ValidationError as error:
        wrong = "; ".join(f"{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in error.errors()[:5])
        raise DataError(f"{path}: manifest.json is not a manifest ({wrong})") from None
    if manifest.format != FORMAT:
        raise DataError(f"{path} says it is a {manifest.format!r}; this version reads {FORMAT!r}")
    if manifest.main not in manifest.runs:
        raise DataError(
            f"{path}: manifest.json names {manifest.main!r} as the run, but holds {', '.join(manifest.runs)}"
        )
    return manifest, archive


def bundle_logs(path: Path) -> list[Log] | None:
    """Return the logs in a bundle; None where the path is no zip file. A reader of `report.logs`."""
    if path.is_dir() or not zipfile.is_zipfile(path):
        return None
    manifest, archive = read_bundle(path)
    return [
        Log(
            path,
            task,
            _meta(manifest, one),
            partial(read_replies, zipfile.Path(archive, f"replies/{task}.jsonl")),
            name=manifest.name,
        )
        for task, one in manifest.runs.items()
    ]


def verify(path: Path, data: Data = None) -> list[str]:
    """Return every way in which a bundle differs from what its replies give today; empty when it holds.

    The replies are read and scored again with this version and this data, and every figure is compared.

    Raises:
        DataError: it is no bundle, was changed after it was made, or its items are not those of the data.
    """
    manifest, archive = read_bundle(path)
    run = load_run(path, data=data, task=manifest.main)
    found = [f"reader: {manifest.reader} then, {READER} now"] if manifest.reader != READER else []
    if manifest.data_digest != run.benchmark.digest:
        found.append(f"data: {manifest.data_digest} then, {run.benchmark.digest} now")
    for task, one in {run.task: run, **run.variants}.items():
        told = manifest.runs[task]
        now: dict[str, object] = {
            "prompt": one.spec.asks.id,
            "variant": one.spec.variant,
            "n": one.n,
            "n_total": one.n_total,
        }
        now |= {"prompt_sha256": one.spec.asks.sha256} if told.prompt_sha256 else {}
        found += [
            f"{task}: {name}: {getattr(told, name)} then, {value} now"
            for name, value in now.items()
            if getattr(told, name) != value
        ]
        try:
            stored = json.loads(archive.read(f"scores/{task}.json"))
        except (ValueError, RecursionError) as error:
            raise DataError(f"{path}: scores/{task}.json is not JSON: {error}") from None
        found += [f"{task}: {difference}" for difference in _differences(stored, json.loads(_scores(one)), "")]
    missing = manifest.runs.keys() - {run.task, *run.variants}
    return found + [f"{task}: no task of that name here" for task in sorted(missing)]


def _differences(then: Any, now: Any, where: str) -> Iterator[str]:
    """Yield each place at which two JSON values differ; floats may differ by rounding."""
    if isinstance(then, dict) and isinstance(now, dict):
        for key in sorted(then.keys() | now.keys()):
            yield from _differences(then.get(key), now.get(key), f"{where}.{key}" if where else key)
    elif isinstance(then, float) and isinstance(now, float):
        if abs(then - now) > 1e-9:
            yield f"{where}: {then} then, {now} now"
    elif then != now:
        yield f"{where}: {then} then, {now} now"


def _scores(run: Run) -> bytes:
    return _dumped(replace(run, provenance={}).summary.to_json({"n_total": run.n_total}))


def _reply_lines(run: Run) -> bytes:
    lines = (json.dumps(_reply_line(item, run.replies[item])) + "\n" for item in sorted(run.replies))
    return "".join(lines).encode()


def _reply_line(item: str, said: ItemReplies) -> dict[str, Any]:
    """Return a line that `read_replies` gives back as it was; several replies stand as in the host's logs."""
    many = len(said.texts) > 1
    line: dict[str, Any] = (
        {"target": item, "filtered_resps": said.texts} if many else {"id": item, "text": said.texts[0]}
    )
    extras = {name: getattr(said, name) for name in ("confidence", "model", "logprobs", "input_size")}
    return line | {name: value for name, value in extras.items() if value is not None}


def _manifest(run: Run, runs: Mapping[str, BundledRun]) -> Manifest:
    meta = run.meta
    return Manifest(
        format=FORMAT,
        name=run.name,
        georefusal=__version__,
        reader=READER,
        data_digest=run.data_digest,
        data_revision=meta.data_revision or run.benchmark.revision,
        model=meta.model,
        model_revision=meta.revision,
        model_args=dict(meta.model_args),
        harness=meta.harness,
        harness_version=meta.harness_version,
        backend=meta.backend,
        style=meta.style,
        generation=dict(meta.generation),
        dtype=meta.dtype,
        seed=meta.seed,
        image_encoding=meta.image_encoding,
        versions=dict(meta.versions),
        runs=dict(runs),
        main=run.task,
    )


def _meta(manifest: Manifest, one: BundledRun) -> Meta:
    return Meta(
        model=manifest.model,
        revision=manifest.model_revision,
        model_args=manifest.model_args,
        prompt=one.prompt,
        prompt_sha256=one.prompt_sha256,
        **{
            name: getattr(manifest, name)
            for name in (
                *("harness", "harness_version", "backend", "style", "generation", "seed", "dtype", "image_encoding"),
                *("data_digest", "data_revision", "reader", "versions"),
            )
        },
    )


def _digests(task: str, one: BundledRun) -> dict[str, str]:
    return {f"replies/{task}.jsonl": one.replies_sha256, f"scores/{task}.json": one.scores_sha256}


def _dumped(content: Any) -> bytes:
    return (json.dumps(content, indent=1, sort_keys=True, allow_nan=False) + "\n").encode()


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _zipped(parts: Mapping[str, bytes]) -> bytes:
    """Return a zip of the parts, without dates, so that equal content gives equal bytes."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in sorted(parts):
            archive.writestr(zipfile.ZipInfo(name), parts[name], zipfile.ZIP_DEFLATED)
    return out.getvalue()
