"""Builds the released layout from the item list: images, cases, labels, provenance, card and checksums."""

import hashlib
import json
import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from georefusal_task.core.records import Intensity
from georefusal_task.core.verdicts import Verdict
from mini_set.card import write_card
from mini_set.items import Item, View, read_items
from mini_set.levers import OPERATORS, Altered, measure
from mini_set.scenes import REGIONS, TILE, Mask, Pixels, Scene, read_scenes

BATCHES = "ABC"

_GSD = {"airsar_sanfrancisco_sar": 20.0}
"""Metres per pixel where the annotation file gives it only in its notes."""

_REMEDY = {
    Verdict.ANSWER: "",
    Verdict.INFO_MISSING: "an image of the place in which the target is recorded",
    Verdict.GRANULARITY: "finer spatial sampling",
    Verdict.AMBIGUOUS: "which referent, or which criterion",
    Verdict.FALSE_PREMISE: "a corrected premise",
    Verdict.NONFACTUAL: "nothing in an image can",
}

Band = Callable[[dict[str, Any]], bool]
_BANDS: dict[str, dict[Intensity, Band]] = {
    "visible_fraction": {
        Intensity.LOW: lambda m: m["visible_fraction"] >= 0.90,
        Intensity.MEDIUM: lambda m: m["visible_fraction"] <= 0.15,
        Intensity.HIGH: lambda m: m["visible_fraction"] <= 0.02,
    },
    "sat_fraction": {
        Intensity.LOW: lambda m: m["sat_fraction"] <= 0.05,
        Intensity.MEDIUM: lambda m: 0.85 <= m["sat_fraction"] <= 0.97,
        Intensity.HIGH: lambda m: m["sat_fraction"] >= 0.98,
    },
    "gm_decimate": {
        Intensity.LOW: lambda m: m["n_px"] >= 8,
        Intensity.MEDIUM: lambda m: 1.5 < m["n_px"] <= 3,
        Intensity.HIGH: lambda m: m["n_px"] <= 1.5,
    },
    "gm_part": {
        Intensity.LOW: lambda m: m.get("n_px", 8) >= 8,
        Intensity.MEDIUM: lambda m: 0.3 <= m["n_px"] <= 1.5,
        Intensity.HIGH: lambda m: m["n_px"] <= 0.3,
    },
    "gm_subtype": {
        Intensity.LOW: lambda m: m["n_px"] >= 26,
        Intensity.MEDIUM: lambda m: 2.5 < m["n_px"] <= 5,
        Intensity.HIGH: lambda m: m["n_px"] <= 2.5,
    },
}
"""Between the bands lies a dead zone: an item whose measurement falls there must not exist."""


@dataclass(frozen=True)
class Built:
    """An item with everything that was made for it."""

    item: Item
    id: str
    batch: str
    scene: Scene
    pixels: Pixels
    measurement: dict[str, Any]


def render(view: View, scene: Scene) -> tuple[Pixels, Altered]:
    """Return a view's tile as cropped and after its lever."""
    tile = scene.crop(view.window, view.band)
    parameters = {k: v for k, v in view.op.items() if k != "name"}
    return tile, OPERATORS[view.op["name"]](tile, **parameters)


def build_items(scenes_dir: Path) -> list[Built]:
    """Return all items, built, measured and checked against the annotation, sorted by id.

    Raises:
        ClaimError: the annotation does not support what an item rests on.
        ValueError: a measurement lies outside the band of its lever.

    """
    scenes = read_scenes(scenes_dir)
    built = []
    for index, item in enumerate(read_items()):
        scene = scenes[item.view.scene]
        tile, altered = render(item.view, scene)
        batch = BATCHES[index % len(BATCHES)]
        built.append(Built(item, item.id(batch), batch, scene, altered.pixels, _measured(item, scene, tile, altered)))
    return sorted(built, key=lambda b: b.id)


def _measured(item: Item, scene: Scene, tile: Pixels, altered: Altered) -> dict[str, Any]:
    measured: dict[str, Any] = {"claims": [scene.check(claim, item.view.window) for claim in item.claims]}
    bands = _BANDS.get(item.family, {})
    if item.target:
        measured |= measure(tile, altered, _target(item, scene))
        bands = _BANDS["sat_fraction" if item.family == "im_saturate" else "visible_fraction"]
    if item.size_m is not None:
        sample_m = gsd(scene) * max(1.0, item.view.window.size / TILE) * altered.decimation
        measured |= {"size_m": item.size_m, "sample_m": sample_m, "n_px": round(item.size_m / sample_m, 4)}
    if item.acquisitions is not None:
        measured |= {"n_acq_required": item.acquisitions, "n_acq_given": 1}
    if item.intensity in bands and not bands[item.intensity](measured):
        raise ValueError(f"{item.key}: outside the band of its lever: {measured}")
    return measured


def _target(item: Item, scene: Scene) -> Mask:
    name, _, region = item.target.partition("@ ")
    if name:
        return scene.mask(name, item.view.window)
    mask = np.zeros((TILE, TILE), dtype=bool)
    mask[REGIONS[region]] = True
    return mask


def gsd(scene: Scene) -> float:
    """Return metres per scene pixel."""
    return float(scene.annotation["info"].get("gsd_m", _GSD.get(scene.name, math.nan)))


def _rows(built: Built) -> dict[str, dict[str, Any]]:
    item, scene = built.item, built.scene
    head = {"id": built.id, "set": built.batch}
    pixel_sha = hashlib.sha256(built.pixels.tobytes()).hexdigest()
    return {
        "cases": {**head, "image": f"images/{built.batch}/{built.id}.png", "question": item.question},
        "labels": {
            **head,
            "gold": item.gold,
            "accept": list(item.accept),
            "answer": item.answer,
            "category": item.category,
            "intensity": item.intensity,
            "lever": item.lever,
            "anchor": item.anchor,
            "score_answer": True,
        },
        "provenance": {
            **head,
            "base_question": item.question,
            "base_answer": item.answer or item.truth,
            "base_id": f"{scene.name}/{item.view.window.x}_{item.view.window.y}_{item.view.window.size}",
            "base_image": scene.manifest["file"],
            "base_sha256": scene.manifest["sha256"],
            "scene": scene.name,
            "window": list(item.view.window),
            "band": item.view.band,
            "modality": scene.modality,
            "source": scene.manifest["source"],
            "license": scene.manifest["licence"],
            "attribution": scene.manifest.get("notice", ""),
            "gsd_m": gsd(scene),
            "operator": item.view.op["name"],
            "variant": item.variant,
            "params": {k: v for k, v in item.view.op.items() if k not in ("name", "seed")},
            "seed": item.view.op.get("seed"),
            "region": item.target,
            "measurement": built.measurement,
            "evidence": item.evidence,
            "second_verdict": item.second,
            "remedy": "further acquisitions" if item.acquisitions and item.answer == "" else _REMEDY[item.gold],
            "pair_id": item.view.name,
            "verifier_votes": [],
            "review_votes": [],
            "pixel_sha256": pixel_sha,
            "fingerprint": hashlib.sha256(
                built.pixels.tobytes() + str(built.pixels.shape).encode() + b"\0" + item.question.encode()
            ).hexdigest(),
        },
    }


def write(built: list[Built], out: Path) -> None:
    """Write the released layout into an empty or new folder, the same bytes on every run."""
    for kind in ("cases", "labels", "provenance"):
        (out / kind).mkdir(parents=True, exist_ok=True)
        for batch in BATCHES:
            rows = [_rows(b)[kind] for b in built if b.batch == batch]
            text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
            (out / kind / f"{batch}.jsonl").write_text(text, "utf-8")
    for b in built:
        path = out / "images" / b.batch / f"{b.id}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(b.pixels).save(path, format="PNG", compress_level=9)
    card = write_card([b.id for b in built], [b.item for b in built], [b.scene for b in built])
    (out / "README.md").write_text(card, "utf-8")
    files = sorted(p for p in out.rglob("*") if p.is_file() and p.name != "SHA256SUMS")
    sums = "".join(f"{hashlib.sha256(p.read_bytes()).hexdigest()}  {p.relative_to(out).as_posix()}\n" for p in files)
    (out / "SHA256SUMS").write_text(sums, "utf-8")
