"""What an image file and its pixels look like to somebody who does not know what is asked: tiers T1 and T3.

Worked out once per file and kept in the user's cache under the digest of its bytes.
"""

import hashlib
import io
import json
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeVar, cast

import cv2
import numpy as np

from georefusal_build.arrays import F32, U8, Mask
from georefusal_build.audit.progress import Progress
from georefusal_build.ids import phash, pixel_sha256
from georefusal_build.layout import write_text
from georefusal_task.core.errors import DataError
from georefusal_task.data import Item
from georefusal_task.data_files import cache_dir
from georefusal_task.images import open_image

T = TypeVar("T")

VERSION = 1
"""Of the figures below; another one leaves what is cached alone."""

_FEW = 50
"""So many images take less time than a second process does to start."""

BLACK, BRIGHT, CLIPPED = 5, 230, 250
"""DN: at most this is black, at least this bright; all bands at least this, clipped."""

_PNG = b"\x89PNG\r\n\x1a\n"
_LAPLACE = np.array([[1, -2, 1], [-2, 4, -2], [1, -2, 1]], dtype=np.float32)


@dataclass(frozen=True)
class Picture:
    """One image: figures of its file (T1) and of its pixels (T3) by name, and its fingerprints."""

    file: dict[str, float]
    pixels: dict[str, float]
    digest: str
    phash: int


def pictures(items: Sequence[Item], jobs: int, progress: Progress) -> tuple[Picture, ...]:
    """Return the picture of each item.

    Raises:
        DataError: an image is not sound.
    """
    work = partial(_remembered, store=_store())
    return tuple(_all(work, [(item.case.image, item.image_sha256) for item in items], jobs, progress))


def pictures_of(
    files: Sequence[Path], jobs: int, progress: Progress
) -> tuple[dict[str, tuple[str, Picture]], tuple[str, ...]]:
    """Return path -> (SHA-256 of the file, picture), and the paths of files that are no sound image."""
    looked = _all(partial(_if_sound, store=_store()), [(file,) for file in files], jobs, progress)
    found = dict(zip(map(str, files), looked, strict=True))
    return {file: seen for file, seen in found.items() if seen}, tuple(file for file, seen in found.items() if not seen)


def _store() -> Path:
    return cache_dir() / "audit" / f"pictures-{VERSION}"


def _all(work: Callable[..., T], files: Sequence[tuple[Any, ...]], jobs: int, progress: Progress) -> Iterator[T]:
    from sklearn.utils.parallel import Parallel, delayed

    progress.start("images", len(files))
    jobs = jobs if len(files) > _FEW else 1
    for result in Parallel(n_jobs=jobs, return_as="generator")(delayed(work)(*file) for file in files):
        progress.step()
        yield result


def _if_sound(file: Path, store: Path) -> tuple[str, Picture] | None:
    try:
        with file.open("rb") as opened:
            sha256 = hashlib.file_digest(opened, "sha256").hexdigest()
        return sha256, _remembered(file, sha256, store)
    except (DataError, OSError):
        return None


def _remembered(file: Path, sha256: str, store: Path) -> Picture:
    kept = store / sha256[:2] / f"{sha256}.json"
    try:
        return Picture(**json.loads(kept.read_bytes()))
    except (OSError, ValueError, TypeError):
        picture = look(file)
    with suppress(OSError):  # a cache that cannot be written only costs the next audit a minute
        write_text(kept, json.dumps(asdict(picture)))
    return picture


def look(file: Path) -> Picture:
    """Return the picture of an image file."""
    data = file.read_bytes()
    image = open_image(file)
    pixels = np.asarray(image)
    jpeg = io.BytesIO()
    image.save(jpeg, "JPEG", quality=95)
    height, width = pixels.shape[:2]
    about_file = {
        "file bytes": float(len(data)),
        "bits per pixel": 8 * len(data) / (height * width),
        "height": float(height),
        "width": float(width),
        "JPEG q95 bytes": float(jpeg.tell()),
        **_container(data),
    }
    return Picture(about_file, _about_pixels(pixels, len(data)), pixel_sha256(pixels), int(phash(pixels), 16))


def _container(data: bytes) -> dict[str, float]:
    """Return the colour mode and how often each kind of chunk stands in a PNG; of a JPEG only that it is one."""
    if not data.startswith(_PNG):
        return {"mode JPEG": 1.0}
    kinds: Counter[str] = Counter()
    place = len(_PNG)
    while place + 8 <= len(data):
        kind = data[place + 4 : place + 8].decode("latin-1")
        kinds["IDAT" if kind == "IDAT" else kind] += 1
        place += 12 + int.from_bytes(data[place : place + 4], "big")
    chunks = {f"chunk {kind}": float(count) for kind, count in sorted(kinds.items())}
    # the order of chunks tells which program wrote a file
    order = zlib.crc32(" ".join(kinds).encode()) % 997
    return {f"mode {data[24]} bit, type {data[25]}": 1.0, **chunks, "bytes after the end": float(len(data) - place)} | (
        {f"chunk order {order}": 1.0}
    )


def _about_pixels(pixels: U8, size: int) -> dict[str, float]:
    grey = cv2.cvtColor(pixels, cv2.COLOR_RGB2GRAY).astype(np.float32)
    black, bright = np.asarray((pixels <= BLACK).all(axis=2)), np.asarray(grey >= BRIGHT)
    laplacian = cv2.Laplacian(grey, cv2.CV_32F)
    return {
        "bits per pixel": 8 * size / grey.size,
        "mean": float(grey.mean()),
        "sd": float(grey.std()),
        "bright share": float(bright.mean()),
        "black share": float(black.mean()),
        "saturated share": float((pixels >= CLIPPED).all(axis=2).mean()),
        "sharpness (log Laplacian variance)": float(np.log(laplacian.var() + 1e-3)),
        "high to middle frequencies": _high_to_middle(grey),
        "noise sd": _noise(grey),
        "black areas": _areas(black),
        "white areas": _areas(bright),
    }


def _high_to_middle(grey: F32) -> float:
    """Return the log ratio of the power above half of the Nyquist frequency to that between an eighth and half."""
    side = min(512, *(length & ~1 for length in grey.shape))
    if side < 8:
        return 0.0
    top, left = (grey.shape[0] - side) // 2, (grey.shape[1] - side) // 2
    window = np.hanning(side).astype(np.float32)
    part = grey[top : top + side, left : left + side]
    power = np.abs(np.fft.rfft2((part - part.mean()) * np.outer(window, window))) ** 2
    radius = np.hypot(np.fft.fftfreq(side)[:, None], np.fft.rfftfreq(side)[None]) / 0.5
    high, middle = power[(radius > 0.5) & (radius <= 1)].mean(), power[(radius > 0.125) & (radius <= 0.5)].mean()
    return float(np.log10((high + 1e-6) / (middle + 1e-6)))


def _noise(grey: F32) -> float:
    """Return the sd of the noise, DN. Source: Immerkaer 1996."""
    if min(grey.shape) < 3:
        return 0.0
    response = np.abs(cv2.filter2D(grey, -1, _LAPLACE)[1:-1, 1:-1])
    return float(np.sqrt(np.pi / 2) / 6 * response.mean())


def _areas(mask: Mask, smallest: int = 16) -> float:
    """Return the number of connected areas of at least `smallest` pixels."""
    _, _, figures, _ = cv2.connectedComponentsWithStats(cast("U8", mask.astype(np.uint8)), connectivity=8)
    return float((figures[1:, cv2.CC_STAT_AREA] >= smallest).sum())
