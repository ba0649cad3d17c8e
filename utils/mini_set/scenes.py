"""The real scenes behind what ships: pixels, outlines, source and licence, and the split."""

import json
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from PIL import Image

HERE = Path(__file__).parent
FOLDER = HERE / "scenes"
"""The committed scenes with their manifest."""


@dataclass(frozen=True)
class Scene:
    """One annotated scene: its row of the manifest, its COCO file, and where the image lies."""

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


def read_split() -> dict[str, list[str]]:
    """Return the committed split: names of the scenes for the mini sets (`mini`) and for training (`train`)."""
    split: dict[str, list[str]] = json.loads((HERE / "scenes_split.json").read_text("utf-8"))["split"]
    return split


def read_scenes(folder: Path = FOLDER) -> dict[str, Scene]:
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
