"""A small build from painted scenes in the true form of a source: objects on soft ground and on speckled sea."""

import atexit
import json
import shutil
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import yaml
from PIL import Image
from support.levers import optical, radar

from georefusal_build.build_config import BuildConfig, load_config
from georefusal_build.context import Context, open_context
from georefusal_build.made import Made, Reject
from georefusal_build.making import make
from georefusal_build.plan import Plan, make_plan

SIDE = 256
NAMES = ("ship", "storage tank", "plane", "car", "tennis court", "harbour quay", "helicopter", "stadium")

LEVERS = ["im_redact", "im_channel", "gm_decimate", "gm_part", "aq_scope", "fp_entity", "fp_place", "nf_value"]
"""Two families that act on pixels, one that pairs questions, and one of each category that asks something else."""

Box = tuple[str, int, int, int, int, tuple[int, int, int]]
"""Class, x, y, width, height, colour."""

WHITE, RED, GREEN, DARK = (225, 225, 225), (178, 62, 52), (60, 150, 70), (30, 32, 36)

OPTICAL: dict[str, list[Box]] = {
    "airfield": [("plane", 40, 40, 34, 34, WHITE), ("storage tank", 160, 170, 48, 48, WHITE),
                 ("car", 40, 200, 18, 30, RED), ("car", 90, 200, 18, 30, WHITE)],
    "port": [("ship", 30, 60, 90, 22, WHITE), ("ship", 60, 180, 60, 20, RED), ("harbour quay", 150, 30, 24, 150, DARK)],
    "park": [("tennis court", 30, 30, 60, 40, RED), ("tennis court", 150, 60, 60, 40, RED),
             ("car", 180, 180, 18, 34, WHITE)],
    "depot": [("storage tank", 20, 20, 112, 112, WHITE), ("car", 190, 40, 17, 32, WHITE),
              ("ship", 60, 190, 80, 22, GREEN)],
}  # fmt: skip
SAR: dict[str, list[Box]] = {
    "strait": [("ship", 60, 60, 70, 24, WHITE), ("harbour quay", 160, 120, 26, 110, (140, 140, 140))],
    "bay": [("storage tank", 40, 150, 40, 40, (190, 190, 190)), ("ship", 150, 40, 60, 22, WHITE)],
}


def write_scenes(folder: Path, scenes: dict[str, list[Box]], *, sar: bool) -> None:
    """Write painted scenes with one COCO file each; every class of `NAMES` is complete."""
    folder.mkdir(parents=True, exist_ok=True)
    for number, (name, boxes) in enumerate(sorted(scenes.items())):
        ground = radar((SIDE, SIDE)) if sar else np.roll(optical((SIDE, SIDE)), 37 * number, axis=1)
        pixels = (np.repeat(ground[..., None], 3, axis=2) if sar else ground).copy()
        grain = np.random.default_rng(number)
        for _, x, y, w, h, colour in boxes:
            painted = np.array(colour) + grain.normal(0, 5, (h, w, 1))
            pixels[y : y + h, x : x + w] = np.clip(painted, 0, 244)
        Image.fromarray(pixels).save(folder / f"{name}.png")
        content = {
            "info": {"complete": list(NAMES), "gsd_m": 1.0, **({"sensor": "SAR"} if sar else {}), "licence": "ours"},
            "images": [{"id": 1, "file_name": f"{name}.png", "width": SIDE, "height": SIDE}],
            "categories": [{"id": i + 1, "name": n} for i, n in enumerate(NAMES)],
            "annotations": [
                {"id": i, "image_id": 1, "category_id": NAMES.index(n) + 1, "bbox": [x, y, w, h], "area": w * h}
                for i, (n, x, y, w, h, _) in enumerate(boxes)
            ],
        }
        (folder / f"{name}.json").write_text(json.dumps(content))


def write_config(folder: Path, **changed: Any) -> Path:
    """Write the configuration of the small build; `changed` replaces whole keys."""
    content: dict[str, Any] = {
        "name": "small",
        "seed": 11,
        "salt": "salt of the small build",
        "sources": [{"format": "coco", "root": "optical"}, {"format": "coco", "root": "sar"}],
        "tiling": {"size": SIDE},
        "bases": {"balance": "off"},
        "levers": {"only": LEVERS},
        "items": 20,
        "spare": 2,
    }
    path = folder / "build.yaml"
    path.write_text(yaml.safe_dump(content | changed))
    return path


@cache
def folder() -> Path:
    """Return a folder with the painted scenes, made once for a run of the tests and removed after it."""
    root = Path(tempfile.mkdtemp(prefix="small-build-"))
    atexit.register(shutil.rmtree, root, ignore_errors=True)
    write_scenes(root / "optical", OPTICAL, sar=False)
    write_scenes(root / "sar", SAR, sar=True)
    return root


def config(**changed: Any) -> BuildConfig:
    """Return the configuration of the small build, with whole keys changed."""
    return load_config(write_config(folder(), **changed))


@cache
def context() -> Context:
    """Return the opened small build."""
    return open_context(config())


@cache
def plan() -> Plan:
    """Return the plan of the small build."""
    return make_plan(context().config, context())


@cache
def results() -> dict[str, Made | Reject]:
    """Return what every job of the plan gives, by key."""
    return {job.key: make(job, context()) for job in plan().jobs}


def made() -> list[Made]:
    """Return the items."""
    return [one for one in results().values() if isinstance(one, Made)]
