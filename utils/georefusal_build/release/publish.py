"""From a reviewed set to a release: public ids, one form of image, gates, card and metadata, and then no change."""

import hashlib
import json
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from georefusal_build.audit.contamination import contamination, overlap_markdown
from georefusal_build.audit.progress import Progress
from georefusal_build.audit.report import audit_json, audit_markdown
from georefusal_build.audit.run import Audit, audit
from georefusal_build.audit.settings import Settings
from georefusal_build.ids import ID_DIGITS, fingerprint, item_id, pixel_sha256, row_key
from georefusal_build.layout import (
    SUMS,
    SetItem,
    level_times,
    read_set,
    side_files,
    write_bytes,
    write_set,
    write_sums,
    write_text,
)
from georefusal_build.release.card import CardFacts, card
from georefusal_build.release.croissant import About, croissant
from georefusal_build.release.gates import Gate, Limits, audit_gate, content_gates, exclusion_gates
from georefusal_build.release.recipes import Recipes
from georefusal_build.store import png
from georefusal_task.core.errors import ConfigError, DataError, GeoRefusalError

RECORD = "release.json"
"""What a release says of itself: name, version, digests, gates."""

CONTENT = ("cases", "labels", "provenance", "images", "recipe")
"""What two releases of one version have to agree on."""


class ShutGateError(GeoRefusalError):
    """A set that must not be released as it is."""


@dataclass(frozen=True)
class Order:
    """What is asked for.

    salt: of the public ids. final: the last version, with which the salt is published. small: let a set through that is
    too small for the audit; unreviewed: let items through that nobody has reviewed. recipes: leave the images out and
    say how to make them again. exclude: folders of images, or sets, that must not be in it.
    """

    about: About
    salt: str
    final: bool = False
    unreviewed: bool = False
    small: bool = False
    limits: Limits = field(default_factory=Limits)
    recipes: Recipes | None = None
    audit: Settings = field(default_factory=Settings)
    exclude: tuple[Path, ...] = ()

    @property
    def folder(self) -> str:
        """The name of the release's folder."""
        return f"{self.about.name}-{self.about.version}"


def release(source: Path, parent: Path, order: Order, progress: Progress | None = None) -> Path:
    """Write the release of a set into `parent`/<name>-<version> and return that folder; the same again changes nothing.

    Raises:
        ConfigError: this version exists with other content.
        DataError: the set does not load, an image was changed after it was made, or a place to exclude holds no image.
        ShutGateError: a gate is shut; the audit is kept beside, as <name>-<version>.refused.
    """
    out = parent / order.folder
    work = parent / f".{order.folder}.part"
    stage, encoded = work / order.folder, work / "images"
    shutil.rmtree(work, ignore_errors=True)
    try:
        items = public_items(read_set(source), order, encoded)
        gates = content_gates(items, order.limits, unreviewed=order.unreviewed)
        closed([gate for gate in gates if not gate.passed])
        write_set(stage, items)
        found = audit(stage, order.audit, progress)
        overlap = contamination(found.subjects, order.exclude, order.audit.jobs, progress)
        gates += [audit_gate(found, too_few=order.small), *exclusion_gates(overlap)]
        told = f"{audit_markdown(found)}\n{overlap_markdown(overlap)}"
        _refuse(out, told, [gate for gate in gates if not gate.passed])
        _complete(stage, source, items, order, found, gates)
        return _settle(stage, out)
    finally:
        shutil.rmtree(work, ignore_errors=True)


def public_items(items: Sequence[SetItem], order: Order, images: Path) -> list[SetItem]:
    """Return the items under their public ids, with the digests of their images, which are encoded anew into `images`.

    Raises:
        DataError: an item lacks what its id is made of, or its pixels are not those that were made.
    """
    for digits in (ID_DIGITS, ID_DIGITS + 2):
        ids = [_public_id(item, order.salt, digits) for item in items]
        if len({*ids}) == len(items):
            return [_public(item, name, order, images) for item, name in zip(items, ids, strict=True)]
    raise DataError("two items have one key (base_id, lever, attempt); build the set again")


def closed(shut: Sequence[Gate], more: str = "") -> None:
    """Raise the error that names the shut gates, if there are any; `more`: a last line."""
    if shut:
        listed = "".join(f"\n  {gate.name}: {gate.detail}" for gate in shut)
        raise ShutGateError(f"not released; {len(shut)} gates are shut:{listed}{more}")


def _public_id(item: SetItem, salt: str, digits: int) -> str:
    row = item.provenance
    if not row.get("base_id") or not item.label.lever:
        raise DataError(f"{item.id}: its id is made from base_id and lever, which are missing; build the set again")
    key = row_key(row["base_id"], item.label.lever, int(row.get("attempt") or 0))
    return item_id(item.case.set, key, salt, digits)


def _public(item: SetItem, name: str, order: Order, images: Path) -> SetItem:
    """Return an item as it is released: one encoder and no metadata, so that no file tells how it was made."""
    pixels = _pixels(item.case.image)
    digest, row = pixel_sha256(pixels), item.provenance
    if row.get("pixel_sha256", digest) != digest:
        raise DataError(f"{item.id}: {item.case.image} is not the image that was made; build the item again")
    file, data = images / f"{name}.png", png(pixels)
    write_bytes(file, data)
    digests = {
        "pixel_sha256": digest,
        "image_sha256": hashlib.sha256(data).hexdigest(),
        "fingerprint": fingerprint(pixels, item.case.question),
    }
    return SetItem(
        item.case.model_copy(update={"id": name, "image": file}),
        item.label.model_copy(update={"id": name}),
        row | {"id": name, "version": order.about.version} | digests,
    )


def _pixels(image: Path) -> np.ndarray[Any, np.dtype[np.uint8]]:
    with Image.open(image) as opened:
        return np.asarray(opened.convert("RGB"), dtype=np.uint8)


def _refuse(out: Path, told: str, shut: Sequence[Gate]) -> None:
    if not shut:
        return
    kept = out.with_name(f"{out.name}.refused")
    write_text(kept / "AUDIT.md", told)
    closed(shut, f"\n  the audit is in {kept / 'AUDIT.md'}")


def _complete(
    stage: Path, source: Path, items: Sequence[SetItem], order: Order, found: Audit, gates: Sequence[Gate]
) -> None:
    """Add card, metadata, audit and recipes, and the sums over everything."""
    if order.recipes is not None:
        for name, text in order.recipes.files(items).items():
            write_text(stage / name, text)
        shutil.rmtree(stage / "images")
    before = side_files(source)
    facts = CardFacts(
        order.about, items, gates, before, images=order.recipes is None, salt=order.salt if order.final else ""
    )
    write_text(stage / "README.md", card(facts))
    write_text(stage / "AUDIT.md", audit_markdown(found))
    write_text(stage / "audit.json", json.dumps(audit_json(found), indent=1) + "\n")
    write_sums(stage)
    metadata = croissant(order.about, stage, images=order.recipes is None, notes=facts.notes)
    write_text(stage / "croissant.json", json.dumps(metadata, indent=1, ensure_ascii=False) + "\n")
    record = {
        "name": order.about.name,
        "version": order.about.version,
        "final": order.final,
        "items": len(items),
        "content_sha256": content_digest(read_sums(stage)),
        "gates": {gate.name: gate.detail for gate in gates},
        **({"salt": order.salt} if order.final else {}),
    }
    write_text(stage / RECORD, json.dumps(record, indent=1, ensure_ascii=False) + "\n")
    write_sums(stage)
    level_times(stage)


def _settle(stage: Path, out: Path) -> Path:
    """Give the release its place; an equal one that is there stays as it is."""
    if not out.exists():
        stage.replace(out)
        return out
    there, here = (
        json.loads((folder / RECORD).read_text("utf-8")) if (folder / RECORD).exists() else {}
        for folder in (out, stage)
    )
    if there.get("content_sha256") != here["content_sha256"]:
        raise ConfigError(f"{out} exists with other content; a version never changes: give this one a new --version")
    return out


def read_sums(folder: Path) -> dict[str, str]:
    """Return path -> SHA-256 of a folder's SHA256SUMS."""
    lines = (folder / SUMS).read_text("utf-8").splitlines()
    return {path: digest for digest, _, path in (line.partition("  ") for line in lines)}


def content_digest(sums: Mapping[str, str]) -> str:
    """Return one digest of what makes the benchmark: tables, images and recipes, not what is said of them."""
    parts = [f"{digest}  {path}" for path, digest in sorted(sums.items()) if path.partition("/")[0] in CONTENT]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()
