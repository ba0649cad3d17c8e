"""Releases without images: how to make each image again from one's own copy of the sources, and doing so."""

import shutil
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from georefusal_build.build_config import BuildConfig, load_config
from georefusal_build.context import Context, open_context
from georefusal_build.jobs import Job
from georefusal_build.layout import Row, SetItem, json_line, write_bytes, write_sums, write_text
from georefusal_build.made import Made, Reject
from georefusal_build.making import make
from georefusal_build.plan import make_plan
from georefusal_build.store import png
from georefusal_task.core.errors import ConfigError, DataError
from georefusal_task.data_files import table_files, table_rows

FOLDER = "recipe"
JOBS, CONFIG = f"{FOLDER}/items.jsonl", f"{FOLDER}/build.yaml"
HERE = "PUT THE FOLDER OF THIS SOURCE HERE"

Track = Callable[[Iterable[Any], int], Iterable[Any]]
"""Passes items on and shows how far it got."""


@dataclass(frozen=True)
class Recipes:
    """The build that a set came from."""

    config: Path

    def files(self, items: Sequence[SetItem]) -> dict[str, str]:
        """Return the files of the recipes: the jobs of the items, the configuration, and the files that it names.

        Neither folders nor the salt are in them.

        Raises:
            ConfigError: an item was not made by this configuration, or it names templates that are private.
        """
        config = load_config(self.config)
        files = _public(self.config, config)
        jobs = {job.key: job for job in make_plan(config).jobs}
        lines = []
        for item in items:
            key = f"{item.provenance['base_id']}|{item.label.lever}"
            if key not in jobs:
                raise ConfigError(f"{self.config} does not plan {item.id} ({key}); give the build's own configuration")
            facts = {name: item.provenance[name] for name in ("base_image", "base_sha256", "pixel_sha256")}
            lines.append(json_line({"id": item.id, "set": item.case.set, **facts, "job": jobs[key].to_json()}))
        return files | {JOBS: "".join(lines)}


def rebuild(release: Path, config: Path, out: Path, track: Track = lambda items, _: items) -> int:
    """Write a copy of a release with its images made again, and return their number.

    `config` is the release's own recipe/build.yaml with the folders of the sources put in. Every image has to have the
    pixels that were released.

    Raises:
        ConfigError: `out` exists, or the configuration is another build's.
        DataError: an item has no recipe, a source image is missing or differs, or pixels came out otherwise; all of
            them are named.
    """
    if out.exists():
        raise ConfigError(f"{out} exists; delete it or name a new folder")
    wanted = load_config(config)
    _same_build(wanted, release / CONFIG)
    recipes = _recipes(release)
    part = out.with_name(f"{out.name}.part")
    shutil.rmtree(part, ignore_errors=True)
    shutil.copytree(release, part)
    write_text(part / CONFIG, _without_folders(_content(release / CONFIG)))
    context = open_context(wanted)
    wrong = []
    for row, job in track(recipes, len(recipes)):
        found = _made(row, job, context)
        if isinstance(found, str):
            wrong.append(f"{row['id']}: {row['base_image']} {found}")
        else:
            write_bytes(part / "images" / row["set"] / f"{row['id']}.png", png(found.pixels))
    if wrong:
        shutil.rmtree(part)
        raise DataError(f"{len(wrong)} of {len(recipes)} images could not be made again:\n  " + "\n  ".join(wrong[:20]))
    write_sums(part)
    part.replace(out)
    return len(recipes)


def _made(row: Row, job: Job, context: Context) -> Made | str:
    """Return the item of a recipe, or what is wrong with it."""
    if job.base.scene_id not in context.scenes:
        return "is not among the sources"
    found = make(job, context)
    if isinstance(found, Reject):
        if context.source_sha256(job.base.scene_id) != row["base_sha256"]:
            return _OTHER_FILE
        return f"gives no item here: {found.reason}: {found.detail}"
    if found.provenance["pixel_sha256"] == row["pixel_sha256"]:
        return found
    changed = found.provenance["base_sha256"] != row["base_sha256"]
    return _OTHER_FILE if changed else "gives other pixels on this machine"


_OTHER_FILE = "is another file than the one released from"


def _recipes(release: Path) -> list[tuple[Row, Job]]:
    """Return the recipes of a release, one for each of its items."""
    if not (release / JOBS).is_file():
        raise ConfigError(f"{release / JOBS} is missing; only a release that was made with --no-images has recipes")
    found = []
    for where, row in table_rows(release / JOBS, str(release / JOBS)):
        try:
            found.append(({name: row[name] for name in _COLUMNS}, Job.from_json(row["job"])))
        except (KeyError, TypeError, ValueError) as error:
            raise DataError(f"{where}: is no recipe ({error!r}); take the release anew") from error
    cases = Counter(row["id"] for file in table_files(release, "cases") for _, row in table_rows(file, str(file)))
    if cases != (recipes := Counter(row["id"] for row, _ in found)):
        named = ", ".join(sorted((cases - recipes) | (recipes - cases))[:20])
        raise DataError(
            f"{release / JOBS}: not one recipe for each item of the release: {named}; take the release anew"
        )
    return found


_COLUMNS = ("id", "set", "base_image", "base_sha256", "pixel_sha256")


def _public(path: Path, config: BuildConfig) -> dict[str, str]:
    """Return relative path -> text of the configuration as it is published, and of the files that it names."""
    if config.templates.private is not None:
        raise ConfigError(
            f"{path}: templates.private: {config.templates.private} would be published with the recipes; release the "
            "images instead, without --no-images"
        )
    content = _content(path)
    content["salt"] = "not needed: ids stand in the recipes"
    files = {}

    def take(holder: dict[str, Any], key: str, name: str, file: Path | None) -> None:
        if file is not None:
            holder[key] = f"{name}{file.suffix}"
            files[f"{FOLDER}/{holder[key]}"] = file.read_text(encoding="utf-8")

    take(content, "classes", "classes", config.classes)
    take(content.get("sets", {}), "file", "sets", config.sets.file)
    for number, (there, source) in enumerate(zip(content["sources"], config.sources, strict=True), 1):
        take(there.get("options", {}), "subsources", f"subsources-{number}", source.options.subsources)
    return files | {CONFIG: _without_folders(content)}


def _content(path: Path) -> dict[str, Any]:
    content: dict[str, Any] = yaml.safe_load(path.read_text(encoding="utf-8"))
    return content


def _without_folders(content: dict[str, Any]) -> str:
    sources = [source | {"root": HERE} for source in content["sources"]]
    return yaml.safe_dump(content | {"sources": sources}, sort_keys=False, allow_unicode=True)


def _same_build(config: BuildConfig, released: Path) -> None:
    if not released.exists():
        raise ConfigError(f"{released} is missing; only a release that was made with --no-images has recipes")
    if load_config(released).digest != config.digest:
        raise ConfigError(f"the configuration is not that of {released}; change nothing but the folders (root)")
