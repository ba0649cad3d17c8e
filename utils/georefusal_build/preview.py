"""Before and after: strips and contact sheets of levers, to look at them by eye."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import cv2
import numpy as np

from georefusal_build.apply import apply
from georefusal_build.arrays import U8
from georefusal_build.levers import FAMILIES, QUESTION_FAMILIES, Family, find
from georefusal_build.levers.registry import Variant
from georefusal_build.outcomes import NotApplicable, Outcome
from georefusal_build.scenes import Modality
from georefusal_build.targets import Target
from georefusal_task.core.errors import ConfigError
from georefusal_task.core.records import lever_family

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
    lever_ids: Sequence[str] = (),
    **known: Any,
) -> "Image":
    """Return the untouched image and what the levers make of it in a row, each with its label or why there is none.

    side: longer side of one picture, pixels. lever_ids: of the family, by default LOW, MEDIUM and HIGH. known: further
    arguments of `apply`.
    """
    known = {"asks": variant.asks} | known
    found = [
        apply(lever_id, pixels, targets, "preview", MASTER, variant=variant.name, modality=modality, **known)
        for lever_id in lever_ids or family.lever_ids
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


def strips(
    lever: str, pixels: U8, targets: Sequence[Target], modality: Modality, side: int, **known: Any
) -> Iterable["Image"]:
    """Yield a strip for every variant that this modality has of a lever, of all levers of a family, or of "all".

    Raises:
        ConfigError: no image lever or family is called like that.
    """
    if lever in QUESTION_FAMILIES or lever_family(lever) in QUESTION_FAMILIES:
        raise ConfigError(f"{lever} changes the question, not the image: there is nothing to see")
    lever_ids = [lever] if lever not in ("all", *FAMILIES) else []
    wanted = find(lever)[0].name if lever_ids else lever
    for family in FAMILIES.values():
        for variant in family.variants:
            if wanted in ("all", family.name) and modality in variant.modalities:
                yield strip(
                    family, variant, pixels, targets, modality=modality, side=side, lever_ids=lever_ids, **known
                )


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
