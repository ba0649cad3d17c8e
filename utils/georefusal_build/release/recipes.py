"""Releases without images: how to make each image again from one's own copy of the sources, and doing so."""

import shutil
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from georefusal_build.build_config import BuildConfig, load_config
from georefusal_build.context import open_context
from georefusal_build.jobs import Job
from georefusal_build.layout import SetItem, json_line
from georefusal_build.made import Reject
from georefusal_build.making import make
from georefusal_build.plan import make_plan
from georefusal_build.store import png
from georefusal_task.core.errors import ConfigError, DataError
from georefusal_task.data_files import table_rows

JOBS, CONFIG = "recipe/items.jsonl", "recipe/build.yaml"
HERE = "PUT THE FOLDER OF THIS SOURCE HERE"

Track = Callable[[Iterable[Any], int], Iterable[Any]]
"""Passes items on and shows how far it got."""


@dataclass(frozen=True)
class Recipes:
    """The build that a set came from."""

    config: Path

    def files(self, items: Sequence[SetItem]) -> dict[str, str]:
        """Return the files of the recipes: the jobs of the items, and the configuration without folders and salt.

        Raises:
            ConfigError: an item was not made by this configuration.
        """
        jobs = {job.key: job for job in make_plan(load_config(self.config)).jobs}
        lines = []
        for item in items:
            key = f"{item.provenance['base_id']}|{item.label.lever}"
            if key not in jobs:
                raise ConfigError(f"{self.config} does not plan {item.id} ({key}); give the build's own configuration")
            facts = {name: item.provenance[name] for name in ("base_image", "base_sha256", "pixel_sha256")}
            lines.append(json_line({"id": item.id, "set": item.case.set, **facts, "job": jobs[key].to_json()}))
        return {JOBS: "".join(lines), CONFIG: _public_config(self.config)}


def rebuild(release: Path, config: Path, out: Path, track: Track = lambda items, _: items) -> int:
    """Write a copy of a release with its images made again, and return their number.

    `config` is the release's own recipe/build.yaml with the folders of the sources put in. Every image has to have the
    pixels that were released.

    Raises:
        ConfigError: `out` exists, or the configuration is another build's.
        DataError: a source image is missing or differs, or pixels came out otherwise; all of them are named.
    """
    if out.exists():
        raise ConfigError(f"{out} exists; delete it or name a new folder")
    wanted = load_config(config)
    _same_build(wanted, release / CONFIG)
    rows = [row for _, row in table_rows(release / JOBS, str(release / JOBS))]
    part = out.with_name(f"{out.name}.part")
    shutil.rmtree(part, ignore_errors=True)
    shutil.copytree(release, part)
    context = open_context(wanted)
    wrong = []
    for row in track(rows, len(rows)):
        found = make(Job.from_json(row["job"]), context)
        if isinstance(found, Reject):
            wrong.append(f"{row['id']}: {row['base_image']}: {found.reason}: {found.detail}")
        elif found.provenance["pixel_sha256"] != row["pixel_sha256"]:
            changed = found.provenance["base_sha256"] != row["base_sha256"]
            why = "is another file than the one released from" if changed else "gives other pixels on this machine"
            wrong.append(f"{row['id']}: {row['base_image']} {why}")
        else:
            image = part / "images" / row["set"] / f"{row['id']}.png"
            image.parent.mkdir(parents=True, exist_ok=True)
            image.write_bytes(png(found.pixels))
    if wrong:
        raise DataError(f"{len(wrong)} of {len(rows)} images could not be made again:\n  " + "\n  ".join(wrong[:20]))
    part.replace(out)
    return len(rows)


def _public_config(path: Path) -> str:
    content = yaml.safe_load(path.read_text(encoding="utf-8"))
    for source in content["sources"]:
        source["root"] = HERE
    content["salt"] = "not needed: ids stand in the recipes"
    return yaml.safe_dump(content, sort_keys=False, allow_unicode=True)


def _same_build(config: BuildConfig, released: Path) -> None:
    if not released.exists():
        raise ConfigError(f"{released} is missing; only a release that was made with --no-images has recipes")
    if load_config(released).digest != config.digest:
        raise ConfigError(f"the configuration is not that of {released}; change nothing but the folders (root)")
