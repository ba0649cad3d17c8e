"""What a task shows as the image: the original, another item's, a grey field, a JPEG round trip, or nothing."""

import hashlib
from collections import defaultdict
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

from georefusal_task.core.errors import DataError
from georefusal_task.core.records import Case
from georefusal_task.tasks_table import Variant

if TYPE_CHECKING:
    from PIL.Image import Image


def shown_cases(cases: Sequence[Case], variant: Variant) -> list[Case]:
    """Return the cases, each with the image file that the variant shows; only `shuffled` shows another file.

    Raises:
        DataError: `shuffled` finds no two images that differ.
    """
    return _shuffled(cases) if variant == "shuffled" else list(cases)


def show(case: Case, variant: Variant) -> "Image | None":
    """Return the image for a model, decoded strictly, or None where the variant shows none.

    Under `main` and `shuffled` it is the untouched file: saved as PNG again, it gives the file's own bytes.

    Raises:
        DataError: the file is missing, damaged or of a kind that is refused.
    """
    from georefusal_task import images

    if variant == "noimage":
        return None
    if variant == "grey":
        return images.grey_like(images.open_image(case.image))
    return images.jpeg_q95(case.image) if variant == "jpeg_q95" else images.as_sent(case.image)


def _shuffled(cases: Sequence[Case]) -> list[Case]:
    """Give every case the image of another whose pixels differ; the same in every run, whatever subset is evaluated.

    Sorted by pixels, equal images form blocks. Stepping ahead by the longest block leaves every block, and is a
    permutation as long as no block is longer than half; beyond that some images are shown twice.
    """
    with ThreadPoolExecutor() as pool:
        pixels = dict(zip((c.id for c in cases), pool.map(_pixel_digest, (c.image for c in cases)), strict=True))
    blocks: defaultdict[str, list[Case]] = defaultdict(list)
    for case in sorted(cases, key=lambda c: (pixels[c.id], c.id)):
        blocks[pixels[case.id]].append(case)
    if len(blocks) < 2:
        raise DataError("nothing can be shuffled: all images of the set show the same pixels")
    ring = [case for block in blocks.values() for case in block]
    step = max(map(len, blocks.values()))
    donors = {}
    for place, case in enumerate(ring):
        ahead = (ring[(place + step + k) % len(ring)] for k in range(len(ring)))
        donors[case.id] = next(donor for donor in ahead if pixels[donor.id] != pixels[case.id])
    return [case.model_copy(update={"image": donors[case.id].image}) for case in cases]


def _pixel_digest(path: Path) -> str:
    """Return a digest of size and RGB pixels, which two PNG encoders agree on."""
    from georefusal_task import images

    image = images.open_image(path)
    return hashlib.sha256(repr(image.size).encode() + image.tobytes()).hexdigest()
