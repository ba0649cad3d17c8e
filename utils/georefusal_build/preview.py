"""Before and after: strips and contact sheets of levers, to look at them by eye."""

import argparse
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import cv2
import numpy as np

from georefusal_build.apply import apply
from georefusal_build.arrays import U8
from georefusal_build.levers import FAMILIES, Family
from georefusal_build.levers.registry import Variant
from georefusal_build.outcomes import NotApplicable, Outcome
from georefusal_build.scenes import Modality
from georefusal_build.targets import Target

if TYPE_CHECKING:
    from PIL.Image import Image

MASTER = 20261130
_LINE = 13


def strip(
    family: Family,
    variant: Variant,
    pixels: U8,
    targets: Sequence[Target],
    *,
    modality: Modality,
    side: int,
    **known: Any,
) -> "Image":
    """Return the untouched image and LOW, MEDIUM and HIGH in a row, each with its label or the reason for having none.

    side: longer side of one picture, pixels. known: further arguments of `apply`.
    """
    found = [
        apply(lever_id, pixels, targets, "preview", MASTER, variant=variant.name, modality=modality, **known)
        for lever_id in family.lever_ids
    ]
    captions = [f"{family.name} {variant.name}", *(_caption(one) for one in found)]
    images = [_framed(pixels, targets), *(one.pixels if isinstance(one, Outcome) else None for one in found)]
    return _row(captions, images, pixels.shape[:2], side)


def sheet(rows: Iterable["Image"], title: str = "") -> "Image":
    """Return strips under each other, with a title line where one is given."""
    from PIL import Image, ImageDraw

    strips = list(rows)
    head = _LINE + 3 if title else 0
    page = Image.new("RGB", (max(s.width for s in strips), head + sum(s.height for s in strips)), "white")
    ImageDraw.Draw(page).text((2, 1), title, fill="black")
    top = head
    for one in strips:
        page.paste(one, (0, top))
        top += one.height
    return page


def all_strips(
    pixels: U8, targets: Sequence[Target], modality: Modality, side: int, names: Sequence[str] = (), **known: Any
) -> Iterable["Image"]:
    """Yield a strip for every family (or the named ones) and variant that this modality has."""
    for family in FAMILIES.values():
        for variant in family.variants:
            if modality in variant.modalities and (not names or family.name in names):
                yield strip(family, variant, pixels, targets, modality=modality, side=side, **known)


def _caption(outcome: Outcome | NotApplicable) -> str:
    if isinstance(outcome, NotApplicable):
        return f"{outcome.reason}: {outcome.detail}"
    level = outcome.lever_id.rpartition("_")[2].upper()
    return f"{level} {outcome.verdict or outcome.rejection}"


def _framed(pixels: U8, targets: Sequence[Target]) -> U8:
    """The untouched image with the targets outlined in red."""
    colour = np.repeat(pixels[..., None], 3, axis=2) if pixels.ndim == 2 else pixels.copy()
    outlines = [np.rint(target.polygon).astype(np.int32) for target in targets]
    return np.asarray(cv2.polylines(colour, outlines, True, (255, 40, 40), max(1, max(pixels.shape) // 300)), np.uint8)


def _row(captions: Sequence[str], images: Sequence[U8 | None], shape: tuple[int, ...], side: int) -> "Image":
    from PIL import Image, ImageDraw

    scale = side / max(shape)
    width, height = max(1, round(shape[1] * scale)), max(1, round(shape[0] * scale))
    page = Image.new("RGB", (len(images) * (width + 4), height + _LINE + 4), "white")
    draw = ImageDraw.Draw(page)
    for i, (caption, pixels) in enumerate(zip(captions, images, strict=True)):
        left = i * (width + 4)
        room = max(8, width // 6)
        draw.text((left + 2, 1), caption.replace("_", " ")[:room], fill="black")
        if pixels is not None:
            way = Image.Resampling.LANCZOS if scale < 1 else Image.Resampling.NEAREST
            page.paste(Image.fromarray(pixels).convert("RGB").resize((width, height), way), (left, _LINE + 2))
    return page


def main() -> None:
    """Write a contact sheet of one image: `python -m georefusal_build.preview IMAGE OUT --box X0 Y0 X1 Y1`."""
    from PIL import Image

    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("image", type=Path, help="a clean image, 8-bit grey or RGB")
    parser.add_argument("out", type=Path, help="where the sheet goes (PNG or JPEG)")
    parser.add_argument("--box", type=float, nargs=4, action="append", required=True, metavar=("X0", "Y0", "X1", "Y1"))
    parser.add_argument(
        "--window", type=int, nargs=4, metavar=("X0", "Y0", "X1", "Y1"), help="part of the image to use"
    )
    parser.add_argument("--modality", choices=("optical", "sar"), default="optical")
    parser.add_argument("--family", action="append", default=[], help="only this lever family; may be repeated")
    parser.add_argument("--side", type=int, default=260, help="longer side of one picture, pixels")
    parser.add_argument("--title", default="", help="line above the sheet, such as the image's source")
    chosen = parser.parse_args()
    with Image.open(chosen.image) as image:
        pixels = np.asarray(image.convert("L" if image.mode == "L" else "RGB"))
    x0, y0, x1, y1 = chosen.window or (0, 0, pixels.shape[1], pixels.shape[0])
    targets = [Target.box(a - x0, b - y0, c - x0, d - y0) for a, b, c, d in chosen.box]
    window = np.ascontiguousarray(pixels[y0:y1, x0:x1])
    page = sheet(all_strips(window, targets, chosen.modality, chosen.side, chosen.family), chosen.title)
    chosen.out.parent.mkdir(parents=True, exist_ok=True)
    page.save(chosen.out, optimize=True)


if __name__ == "__main__":
    main()
