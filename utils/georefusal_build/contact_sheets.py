"""The contact sheets of the docs: every image lever on real scenes that may be shipped.

`python -m georefusal_build.contact_sheets SCENES` reads the PNG scenes of a folder and writes docs/levers/*.jpg.
"""

import argparse
from pathlib import Path
from typing import NamedTuple

import numpy as np
from PIL import Image

from georefusal_build.levers import FAMILIES
from georefusal_build.preview import sheet, strip
from georefusal_build.scenes import Modality
from georefusal_build.targets import Target

DOCS = Path(__file__).parents[2] / "docs" / "levers"
SIDE = 160

Boxes = tuple[tuple[float, float, float, float], ...]


class Shot(NamedTuple):
    """A scene, the part of it that is used (x0, y0, x1, y1) and outlines in it; families: what is shown on it."""

    scene: str
    window: tuple[int, int, int, int]
    boxes: Boxes
    families: tuple[str, ...]
    variants: tuple[str, ...] = ()


class Page(NamedTuple):
    """A sheet. title: its source line."""

    name: str
    title: str
    modality: Modality
    shots: tuple[Shot, ...]


_COAST, _CROWNS = "sentinel2_coast_rgb.png", "neon_2019_YELL_2_541000_4977000_image_crop.png"
_CITY, _CANALS = "airsar_sanfrancisco_sar.png", "sentinel1_shanghai_sar.png"

PAGES = (
    Page(
        "optical",
        "Contains modified Copernicus Sentinel-2 data (20 m) and NEON airborne RGB (0.1 m). Red: the targets.",
        "optical",
        (
            Shot(_COAST, (0, 174, 800, 974), ((142, 832, 188, 884), (378, 877, 400, 928)), ("im_occlude", "im_redact")),
            Shot(_COAST, (0, 174, 800, 974), ((142, 832, 188, 884),), ("im_truncate", "gm_decimate"), ("swath_wedge",)),
            Shot(_COAST, (1, 10, 601, 610), ((287, 71, 311, 95),), ("im_truncate",), ("tile_cut",)),
            Shot(_COAST, (200, 200, 900, 900), ((597, 340, 613, 359),), ("im_truncate",), ("line_drop",)),
            Shot(_CROWNS, (400, 0, 1200, 800), ((912, 361, 951, 396), (700, 500, 740, 560)), ("im_saturate",)),
            Shot(_CROWNS, (400, 0, 1200, 800), ((428, 756, 456, 784),), ("im_bury",)),
            Shot(_CROWNS, (400, 0, 1200, 800), ((660, 400, 725, 460),), ("gm_decimate",)),
        ),
    ),
    Page(
        "sar",
        "NASA/JPL AIRSAR (L band) and modified Copernicus Sentinel-1 data (C band). Red: the targets.",
        "sar",
        (
            Shot(
                _CITY,
                (0, 0, 256, 256),
                ((95, 0, 118.5, 28),),
                ("im_occlude", "im_redact", "im_saturate", "gm_decimate"),
                ("radar_shadow", "black", "grey", "mosaic", "receiver_sat", "bicubic", "nearest", "box"),
            ),
            Shot(
                _CANALS,
                (0, 0, 256, 256),
                ((93, 98, 126, 114.5),),
                ("im_truncate",),
                ("swath_wedge", "line_drop", "burst_gap"),
            ),
            Shot(_CITY, (0, 0, 256, 256), ((8, 8, 52, 52),), ("im_occlude",), ("layover",)),
            Shot(_CANALS, (0, 0, 256, 256), ((84, 84, 112, 112),), ("im_bury",)),
        ),
    ),
)


def write(page: Page, scenes: Path, out: Path) -> Path:
    """Write one sheet as JPEG and return its path."""
    rows = []
    for shot in page.shots:
        with Image.open(scenes / shot.scene) as image:
            pixels = np.asarray(image.convert("L" if image.mode == "L" else "RGB"))
        x0, y0, x1, y1 = shot.window
        window = np.ascontiguousarray(pixels[y0:y1, x0:x1])
        targets = [Target.box(a - x0, b - y0, c - x0, d - y0) for a, b, c, d in shot.boxes]
        rows += [
            strip(family, variant, window, targets, modality=page.modality, side=SIDE)
            for family in map(FAMILIES.__getitem__, shot.families)
            for variant in family.variants
            if page.modality in variant.modalities and (not shot.variants or variant.name in shot.variants)
        ]
    half = -(-len(rows) // 2)
    columns = [sheet(rows[:half]), sheet(rows[half:])]
    wide = Image.new("RGB", (sum(c.width for c in columns) + 8, max(c.height for c in columns)), "white")
    wide.paste(columns[0], (0, 0))
    wide.paste(columns[1], (columns[0].width + 8, 0))
    path = out / f"{page.name}.jpg"
    sheet([wide], page.title).save(path, quality=72, optimize=True)
    return path


def main() -> None:
    """Write all sheets."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("scenes", type=Path, help="folder with the PNG scenes")
    parser.add_argument("--out", type=Path, default=DOCS)
    chosen = parser.parse_args()
    chosen.out.mkdir(parents=True, exist_ok=True)
    for page in PAGES:
        path = write(page, chosen.scenes, chosen.out)
        print(f"{path}: {path.stat().st_size // 1000} kB")


if __name__ == "__main__":
    main()
