"""The real scenes: pixels, outlines, what is known to be there or not to be there, and the split."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt
from PIL import Image, ImageDraw

TILE = 192
"""Side of every tile in pixels."""

Pixels = npt.NDArray[np.uint8]
Mask = npt.NDArray[np.bool_]

_HALF = TILE // 2
REGIONS: dict[str, tuple[slice, slice]] = {
    "": (slice(None), slice(None)),
    **{f"{side} half": (slice(None), cols) for side, cols in (("left", slice(_HALF)), ("right", slice(_HALF, None)))},
    **{f"{side} half": (rows, slice(None)) for side, rows in (("upper", slice(_HALF)), ("lower", slice(_HALF, None)))},
    **{
        f"{v}-{h} quarter": (rows, cols)
        for v, rows in (("upper", slice(_HALF)), ("lower", slice(_HALF, None)))
        for h, cols in (("left", slice(_HALF)), ("right", slice(_HALF, None)))
    },
}
"""Parts of a tile by the name that questions use; "" is the whole tile."""

_MIN_AREA = 20
"""A class counts as present in a part of a tile from this many outline pixels on."""


class ClaimError(ValueError):
    """An item says something about the ground that the scene's annotation does not support."""


class Window(NamedTuple):
    """A square of a scene, in scene pixels; resampled to `TILE` when its size differs."""

    x: int
    y: int
    size: int

    @property
    def scale(self) -> float:
        """Tile pixels per scene pixel."""
        return TILE / self.size

    def to_tile(self, points: Iterable[float]) -> list[float]:
        """Return x, y, x, y, ... of the scene as coordinates of the tile."""
        origin = (self.x, self.y)
        return [(v - origin[i % 2]) * self.scale for i, v in enumerate(points)]


@dataclass(frozen=True)
class Scene:
    """One annotated scene of the shared folder."""

    manifest: dict[str, Any]
    annotation: dict[str, Any]
    path: Path

    @property
    def name(self) -> str:
        """File name without its suffix."""
        return self.path.stem

    @property
    def modality(self) -> Literal["optical", "sar"]:
        """Whether light or radar was recorded."""
        return "sar" if "SAR" in self.manifest["sensor"] else "optical"

    @cached_property
    def image(self) -> Image.Image:
        """The whole scene, RGB or L."""
        with Image.open(self.path) as image:
            image.load()
        return image

    def crop(self, window: Window, band: int | None = None) -> Pixels:
        """Return the window as a tile, (TILE, TILE, 3) or, for one band, (TILE, TILE)."""
        x, y, size = window
        if x < 0 or y < 0 or x + size > self.image.width or y + size > self.image.height:
            raise ValueError(f"{self.name}: window {tuple(window)} leaves the scene")
        tile = self.image.crop((x, y, x + size, y + size))
        if size != TILE:
            tile = tile.resize((TILE, TILE), Image.Resampling.BOX if size > TILE else Image.Resampling.BICUBIC)
        pixels = np.asarray(tile)
        return pixels if band is None else pixels[..., band]

    def instances(self, name: str, window: Window) -> list[Mask]:
        """Return one tile-sized mask per annotated instance of a class that reaches into the window."""
        ids = {c["name"]: c["id"] for c in self.annotation["categories"]}
        if name not in ids:
            return []
        masks = []
        for annotation in self.annotation["annotations"]:
            if annotation["category_id"] == ids[name]:
                canvas = Image.new("1", (TILE, TILE))
                for ring in annotation["segmentation"]:
                    ImageDraw.Draw(canvas).polygon(window.to_tile(ring), fill=1)
                mask = np.asarray(canvas, dtype=bool)
                if mask.any():
                    masks.append(mask)
        return masks

    def mask(self, name: str, window: Window) -> Mask:
        """Return the union of `instances` (all False where there are none)."""
        union: Mask = np.any([np.zeros((TILE, TILE), dtype=bool), *self.instances(name, window)], axis=0)
        return union

    def check(self, claim: str, window: Window) -> dict[str, Any]:
        """Return what the annotation says about a claim, as a record for provenance.

        Claims read `present CLASS` and `absent CLASS`, both with an optional ` @ REGION`, `count CLASS = N` or
        `modality NAME`.

        Raises:
            ClaimError: the annotation does not support it; a "no" or a count needs a class that is annotated
                completely (or, for a "no", one that was looked for in the whole scene and not found).

        """
        kind, _, rest = claim.partition(" ")
        info = self.annotation["info"]
        rest, _, number = rest.partition(" = ")
        name, _, region = rest.partition(" @ ")
        areas = [int(m[REGIONS[region]].sum()) for m in self.instances(name, window)]
        found = sum(area >= _MIN_AREA for area in areas)
        complete = name in info["complete"] and not self._ignored(name, window, region)
        supported = {
            "present": found > 0,
            "absent": name in info["verified_absent"] or (complete and sum(areas) == 0),
            "count": complete and str(found) == number,
            "modality": name == self.modality,
        }
        if not supported[kind]:
            raise ClaimError(f"{self.name} {tuple(window)}: {claim!r} is not supported (instance areas {areas} px)")
        return {"claim": claim, "areas_px": areas}

    def _ignored(self, name: str, window: Window, region: str) -> bool:
        canvas = Image.new("1", (TILE, TILE))
        for ignore in self.annotation["info"].get("ignore_regions", []):
            if ignore["class"] in (name, "all"):
                x, y, w, h = ignore["bbox"]
                left, top, right, bottom = window.to_tile((x, y, x + w, y + h))
                if right > 0 and bottom > 0 and left < TILE and top < TILE:
                    ImageDraw.Draw(canvas).rectangle((left, top, right - 1, bottom - 1), fill=1)
        return bool(np.asarray(canvas, dtype=bool)[REGIONS[region]].any())


def read_split() -> dict[str, list[str]]:
    """Return the committed split: names of the scenes for the mini set (`mini`) and for training (`train`)."""
    split: dict[str, list[str]] = json.loads((Path(__file__).parent / "scenes_split.json").read_text("utf-8"))["split"]
    return split


def read_scenes(folder: Path) -> dict[str, Scene]:
    """Return the scenes of the mini side of the split, by name; refuses one that may not be shipped."""
    manifest = {Path(row["file"]).stem: row for row in json.loads((folder / "manifest.json").read_text("utf-8"))}
    scenes = {}
    for name in read_split()["mini"]:
        row = manifest[name]
        if not row["may_ship"]:
            raise ValueError(f"{name}: manifest.json says that this scene may not be shipped")
        annotation = json.loads((folder / row["annotations"]).read_text("utf-8"))
        scenes[name] = Scene(row, annotation, folder / row["file"])
    return scenes
