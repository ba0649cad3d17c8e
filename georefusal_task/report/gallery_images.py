"""Small pictures of the items: lossy, never enlarged, and worse the less room there is."""

import base64
import io
from collections.abc import Mapping, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from georefusal_task.core.errors import DataError

if TYPE_CHECKING:
    from PIL.Image import Image

STEPS = ((256, 70), (224, 60), (192, 55), (160, 50), (128, 45), (112, 40), (96, 35), (80, 30), (64, 25), (48, 20))
"""(longest side in pixels, WebP quality), tried in this order until all pictures fit."""

_HEAD = "data:image/webp;base64,"
_SAMPLE = 24


@dataclass(frozen=True)
class Images:
    """Pictures as data URIs, and which of them each item shows (-1: none)."""

    uris: list[str]
    places: list[int]


def thumbnails(files: Sequence[tuple[str, Path]], room: int) -> Images:
    """Return the pictures of (digest, file), equal digests once, in at most `room` characters; none if that cannot be.

    A picture that cannot be read is left out: a report on replies must not fail for it.
    """
    distinct = dict(files)
    with ThreadPoolExecutor() as pool:  # decoding and encoding let other threads run
        opened = dict(zip(distinct, pool.map(_opened, distinct.values()), strict=True))
        whole = {digest: image for digest, image in opened.items() if image}
        uris = _fitting(whole, room, pool)
    places = {digest: place for place, digest in enumerate(uris)}
    return Images(list(uris.values()), [places.get(digest, -1) for digest, _ in files])


def _fitting(whole: "Mapping[str, Image]", room: int, pool: Executor) -> dict[str, str]:
    images = list(whole.values())
    for side, quality in STEPS[_first_step(images, room) :]:
        uris = list(pool.map(partial(_uri, side=side, quality=quality), images))
        if sum(len(uri) + 3 for uri in uris) <= room:
            return dict(zip(whole, uris, strict=True))
    return {}


def _opened(path: Path) -> "Image | None":
    from PIL import Image

    from georefusal_task.images import open_image

    largest = (STEPS[0][0], STEPS[0][0])
    try:
        with Image.open(path, formats=("PNG", "JPEG")) as opened:
            image: Image.Image = opened
            if opened.mode not in ("L", "RGB") or "exif" in opened.info:
                image = open_image(path)  # slower, and right for every kind of file
            image.thumbnail(largest, reducing_gap=1.5)  # never enlarges
            return image.convert("RGB")
    except (DataError, OSError, ValueError, SyntaxError, Image.DecompressionBombError):
        return None


def _first_step(images: "Sequence[Image]", room: int) -> int:
    """Return the first step that fits by the look of some of the images, so that few steps are tried on all."""
    some = images[:: max(1, len(images) // _SAMPLE)]
    for step, (side, quality) in enumerate(STEPS):
        size = sum(len(_uri(image, side, quality)) + 3 for image in some)
        if size * len(images) <= 1.05 * room * len(some):
            return step
    return len(STEPS) - 1


def _uri(image: "Image", side: int, quality: int) -> str:
    small = image.copy()
    small.thumbnail((side, side))
    out = io.BytesIO()
    small.save(out, "WEBP", quality=quality, method=2)
    return _HEAD + base64.b64encode(out.getvalue()).decode()
