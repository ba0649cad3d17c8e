"""`PYTHONPATH=utils python -m mini_set.grsvqa SCENES_DIR OUT_DIR` builds the mini set of answer-grounding questions.

Windows of the real scenes are cut, enlarged and written as a COCO archive; the rest is `georefusal build grsvqa`.
"""

import argparse
import json
import tempfile
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import yaml
from PIL import Image
from pydantic import BaseModel, ConfigDict

from georefusal_build.grsvqa import build_grsvqa
from georefusal_build.grsvqa_config import GrsvqaConfig, parse_grsvqa_config
from georefusal_build.polygons import clean_polygon, clip_polygon
from mini_set.scenes import Scene, read_scenes

HERE = Path(__file__).parent


class Added(BaseModel):
    """An object that the scene's annotation leaves out; box: x0, y0, x1, y1, scene pixels."""

    model_config = ConfigDict(extra="forbid")
    class_name: str
    box: tuple[float, float, float, float]


class Window(BaseModel):
    """A part of a scene that becomes one image; the fields are explained in grsvqa_windows.toml."""

    model_config = ConfigDict(extra="forbid")
    scene: str
    box: tuple[int, int, int, int]
    enlarge: int = 1
    complete: tuple[str, ...] = ()
    add: tuple[Added, ...] = ()
    drop: frozenset[int] = frozenset()
    see: str

    @property
    def name(self) -> str:
        """Path of the image without suffix: a folder for each scene."""
        return "{}/{}_{}_{}x{}".format(self.scene, *self.box)

    def points(self, flat: Iterable[float]) -> list[float]:
        """Return x, y, x, y, ... of the scene as coordinates of the image."""
        return [(value - self.box[i % 2]) * self.enlarge for i, value in enumerate(flat)]

    def touches(self, flat: list[float]) -> bool:
        """True when an outline, in coordinates of the image, shares area with it."""
        ring = clean_polygon(list(zip(flat[::2], flat[1::2], strict=True)))
        width, height = (side * self.enlarge for side in self.box[2:])
        return bool(ring and clip_polygon(ring, 0, 0, width, height))


def read_windows() -> list[Window]:
    """Return the committed windows."""
    rows = tomllib.loads((HERE / "grsvqa_windows.toml").read_text("utf-8"))["window"]
    return [Window.model_validate(row) for row in rows]


def stage(scenes: Mapping[str, Scene], windows: Iterable[Window], folder: Path) -> None:
    """Write the windows as images with one COCO file each."""
    for window in windows:
        scene = scenes[window.scene]
        x, y, width, height = window.box
        image = scene.image.crop((x, y, x + width, y + height))
        image = image.resize((width * window.enlarge, height * window.enlarge), Image.Resampling.BICUBIC)
        (folder / window.scene).mkdir(exist_ok=True)
        image.save(folder / f"{window.name}.png")
        (folder / f"{window.name}.json").write_text(json.dumps(_coco(scene, window, image.size)), "utf-8")


def _coco(scene: Scene, window: Window, size: tuple[int, int]) -> dict[str, Any]:
    info = scene.annotation["info"]
    categories = {one["name"]: one["id"] for one in scene.annotation["categories"]}
    for name in sorted({one.class_name for one in window.add} | set(window.complete)):
        categories.setdefault(name, 1 + max(categories.values()))
    objects = [
        {**one, "image_id": 1, "segmentation": rings}
        for one in scene.annotation["annotations"]
        if one["id"] not in window.drop and (rings := _rings(one, window))
    ]
    objects += [
        {"id": 10_000 + i, "image_id": 1, "category_id": categories[one.class_name], "bbox": _xywh(one, window)}
        for i, one in enumerate(window.add)
    ]
    return {
        "info": {
            "complete": sorted({*info.get("complete", []), *window.complete}),
            "verified_absent": sorted(set(info.get("verified_absent", [])) - {one.class_name for one in window.add}),
            "undecidable": info.get("undecidable", []),
            "ignore_regions": [
                {"class": one["class"], "bbox": _moved(one["bbox"], window)} for one in info.get("ignore_regions", [])
            ],
            "sensor": "SAR" if scene.modality == "sar" else "optical",
            "licence": scene.manifest["licence"],
            "notice": "; ".join(filter(None, (scene.manifest.get("notice"), f"from {scene.manifest['source']}"))),
        },
        "images": [{"id": 1, "file_name": f"{Path(window.name).name}.png", "width": size[0], "height": size[1]}],
        "categories": [{"id": number, "name": name} for name, number in categories.items()],
        "annotations": objects,
    }


def _rings(annotation: Mapping[str, Any], window: Window) -> list[list[float]]:
    x, y, width, height = annotation["bbox"]
    rings = annotation.get("segmentation") or [[x, y, x + width, y, x + width, y + height, x, y + height]]
    return [ring for ring in (window.points(ring) for ring in rings) if window.touches(ring)]


def _xywh(one: Added, window: Window) -> list[float]:
    x0, y0, x1, y1 = window.points(one.box)
    return [x0, y0, x1 - x0, y1 - y0]


def _moved(bbox: Iterable[float], window: Window) -> list[float]:
    x, y, width, height = bbox
    return [*window.points((x, y)), width * window.enlarge, height * window.enlarge]


def config(staged: Path) -> GrsvqaConfig:
    """Return the committed configuration for windows that were written to a folder."""
    content = yaml.safe_load((HERE / "grsvqa.yaml").read_text("utf-8"))
    content |= {"sources": [{"format": "coco", "root": staged}], "classes": HERE / content["classes"]}
    return parse_grsvqa_config(content, "grsvqa.yaml")


def build(scenes_dir: Path, out: Path) -> dict[str, Any]:
    """Write the mini set into `out`, which is replaced, and return its summary."""
    with tempfile.TemporaryDirectory() as folder:
        stage(read_scenes(scenes_dir), read_windows(), Path(folder))
        return build_grsvqa(config(Path(folder)), out)


def main() -> None:
    """Build into OUT_DIR, which is replaced when it holds an earlier build."""
    parser = argparse.ArgumentParser(prog="mini_set.grsvqa", description=main.__doc__)
    parser.add_argument("scenes", type=Path, help="folder with manifest.json and the scenes")
    parser.add_argument("out", type=Path, help="folder to build, for example georefusal_task/assets/grsvqa_mini")
    arguments = parser.parse_args()
    summary = build(arguments.scenes, arguments.out)
    size = sum(path.stat().st_size for path in arguments.out.rglob("*") if path.is_file())
    print(f"{summary['questions']} questions, {summary['images']} images, {size / 1e6:.2f} MB in {arguments.out}")


if __name__ == "__main__":
    main()
