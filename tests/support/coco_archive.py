"""A small archive in COCO form that a whole build can be made from: soft ground with bright plain objects."""

import json
from pathlib import Path

import numpy as np
from PIL import Image
from support.levers import optical, radar, with_boxes

CLASSES = {"storage tank": 22, "ship": 30, "swimming pool": 26}
"""Name -> side of an object, pixels."""


def write_archive(
    root: Path, scenes: int = 3, side: int = 160, *, sar: bool = False, large: int = 0, large_side: int = 800
) -> Path:
    """Write the archive and return its folder. Every scene holds two of the classes; all three are complete.

    large: how many of the scenes, the first ones, have `large_side` instead of `side`.
    """
    root.mkdir(parents=True)
    names = sorted(CLASSES)
    images, annotations, small = [], [], side
    for number in range(scenes):
        side = large_side if number < large else small
        scale = side / 160
        boxes = []
        for place, index in enumerate({number % 3, (number + 1) % 3}):
            size = round(CLASSES[names[index]] * scale)
            x, y = round((18 + 72 * place) * scale), round((20 + 11 * (number % 7) + 14 * place) * scale)
            boxes.append((x, y, x + size, y + round(size * 0.8)))
            box = [x, y, size, round(size * 0.8)]
            annotations.append(
                {"id": len(annotations) + 1, "image_id": number + 1, "category_id": index + 1, "bbox": box}
            )
        ground = np.roll(radar((side, side)) if sar else optical((side, side)), (37 * number, 11 * number), (0, 1))
        Image.fromarray(with_boxes(ground, boxes, 176, 20)).save(root / f"tile{number:05d}.png", compress_level=1)
        file = {"file_name": f"tile{number:05d}.png", "width": side, "height": side}
        images.append({"id": number + 1, **file})
    info = {"complete": names, "gsd_m": 0.5, "licence": "CC0", "source": "painted"}
    categories = [{"id": index + 1, "name": name} for index, name in enumerate(names)]
    content = {"info": info, "images": images, "categories": categories, "annotations": annotations}
    (root / "painted.coco.json").write_text(json.dumps(content))
    return root


def write_config(folder: Path, scenes: int = 3, side: int = 160, more: str = "") -> Path:
    """Write an archive and the configuration of a build from it, and return the configuration's path."""
    write_archive(folder / "archive", scenes, side)
    path = folder / "build.yaml"
    path.write_text(
        f"name: painted\nseed: 7\nsalt: salt-of-the-tests\ntiling: {{size: {side}}}\n"
        f"sources:\n  - {{format: coco, root: archive, options: {{modality: optical}}}}\n{more}"
    )
    return path
