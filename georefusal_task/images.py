"""Images as models see them: decoded strictly, always 8-bit RGB, and sent on as the file's own bytes where possible.

The only module of the runtime that knows Pillow. It changes no global setting of Pillow and depends on none.
"""

import hashlib
import io
import struct
from pathlib import Path
from typing import Any, Self

import numpy as np
from PIL import Image, ImageOps

from georefusal_task.core.errors import DataError
from georefusal_task.image_files import Header, examine

JPEG_QUALITY, JPEG_SUBSAMPLING = 95, "4:2:0"
"""The benchmark's paper names the quality; its encoder and subsampling are not known, this is Pillow's default."""


class PassthroughPng(Image.Image):
    """An RGB image that knows the PNG file it came from: saved as PNG while unmodified, it writes that file's bytes.

    A harness that sends images to a server encodes them again for every request; for large images that takes longer
    than everything else it does. Copies, `convert("RGB")` and pickling keep the file; anything that makes another
    image, or changes a pixel in place, loses it.
    """

    def __init__(self) -> None:
        super().__init__()
        self._file = b""
        self._seal = b""

    @classmethod
    def of(cls, image: Image.Image, file: bytes) -> Self:
        """Return an RGB image together with the bytes of the PNG file that decodes to it."""
        sealed = cls._with_pixels(image, file)
        sealed._seal = sealed._fingerprint()
        return sealed

    @classmethod
    def _with_pixels(cls, image: Image.Image, file: bytes) -> Self:
        new = cls()
        Image.Image.__setstate__(new, [{}, image.mode, image.size, None, image.tobytes()])
        new._file = file
        return new

    def _fingerprint(self) -> bytes:
        return hashlib.blake2b(f"{self.mode}{self.size}".encode() + self.tobytes(), digest_size=16).digest()

    def save(self, fp: Any, format: str | None = None, **params: Any) -> None:  # noqa: A002 -- Pillow's name
        """Write the image; as PNG without further parameters and unmodified, the bytes of its file."""
        wanted = format or (Path(fp).suffix[1:] if isinstance(fp, str | Path) else "")
        if wanted.upper() != "PNG" or params or self._fingerprint() != self._seal:
            super().save(fp, format, **params)
        elif isinstance(fp, str | Path):
            Path(fp).write_bytes(self._file)
        else:
            fp.write(self._file)

    def copy(self) -> Self:
        """Return a copy that keeps the file."""
        new = self._with_pixels(self, self._file)
        new._seal = self._seal
        return new

    __copy__ = copy

    def convert(self, mode: str | None = None, *args: Any, **kwargs: Any) -> Image.Image:
        """Return the image in another mode; in its own mode, a copy that keeps the file."""
        if mode == self.mode and not args and not kwargs:
            return self.copy()
        return super().convert(mode, *args, **kwargs)

    def __getstate__(self) -> list[Any]:
        return [*super().__getstate__(), self._file, self._seal]

    def __setstate__(self, state: list[Any]) -> None:
        super().__setstate__(state[:5])
        self._file, self._seal = state[5:]


def open_image(path: Path) -> Image.Image:
    """Return an image file as an 8-bit RGB image, upright, without its metadata.

    Grey and palette images become RGB; 16 bits per channel become 8 by linear scaling (0..65535 to 0..255); an opaque
    alpha channel is dropped; an EXIF orientation is applied.

    Raises:
        DataError: the file is not a whole PNG or JPEG, or has no one right RGB form (transparent, CMYK, animated).
        OSError: it cannot be read.
    """
    return _decode(path)[0]


def as_sent(path: Path) -> Image.Image:
    """Return `open_image(path)`, as a PassthroughPng where the file is an 8-bit grey or RGB PNG of nothing but pixels.

    Raises: as `open_image`.
    """
    image, header, data = _decode(path)
    return PassthroughPng.of(image, data) if header.plain else image


def jpeg_q95(path: Path) -> Image.Image:
    """Return the image after a round trip through JPEG at quality 95 with 4:2:0 chroma subsampling.

    Raises: as `open_image`.
    """
    encoded = io.BytesIO()
    open_image(path).save(encoded, "JPEG", quality=JPEG_QUALITY, subsampling=JPEG_SUBSAMPLING)
    return Image.open(encoded, formats=("JPEG",)).convert("RGB")


def grey_like(image: Image.Image) -> Image.Image:
    """Return a mid-grey RGB image (128, 128, 128) of the same size."""
    return Image.new("RGB", image.size, (128, 128, 128))


def _decode(path: Path) -> tuple[Image.Image, Header, bytes]:
    """Return the RGB image, what its header said, and the bytes of the file."""
    data = path.read_bytes()
    try:
        header = examine(data)
        with Image.open(io.BytesIO(data), formats=("PNG", "JPEG")) as opened:
            if opened.size != (header.width, header.height):
                raise ValueError(f"its header says {header.width} x {header.height} pixels, decoded are {opened.size}")
            if getattr(opened, "n_frames", 1) > 1:
                raise ValueError("it holds several images")
            image = _rgb(ImageOps.exif_transpose(opened), header)
    except (ValueError, OSError, SyntaxError, EOFError, struct.error, Image.DecompressionBombError) as error:
        raise DataError(f"image {path} cannot be used: {error}") from error
    image.info = {}  # text chunks, profiles: nothing that a later save could carry along
    return image, header, data


def _rgb(image: Image.Image, header: Header) -> Image.Image:
    if header.depth == 16 and "transparency" in image.info:
        raise ValueError("it has a transparent colour in 16 bits, which Pillow compares with 8-bit pixels")
    if image.mode.startswith("I"):
        # Pillow would clip at 255; this is what it does itself for 16-bit RGB
        return Image.fromarray((np.asarray(image).astype(np.uint16) >> 8).astype(np.uint8)).convert("RGB")
    if image.has_transparency_data:
        image = image.convert("RGBA")
        if image.getchannel("A").getextrema() != (255, 255):
            raise ValueError("parts of it are transparent, so what a model would see is undefined; flatten it first")
    if image.mode not in ("1", "L", "P", "RGB", "RGBA"):
        raise ValueError(f"its mode is {image.mode}, which has no one right RGB form; convert it to an RGB PNG first")
    return image.convert("RGB")
