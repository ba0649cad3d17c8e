"""Whether the bytes of a PNG or JPEG file are whole, found without decoding pixels into memory first.

A harness may make Pillow accept truncated files for the whole process; half a PNG then decodes as black rows without an
error, in a benchmark whose subject is missing evidence. So the containers are checked here, from their specifications.
"""

import io
import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO

MAX_PIXELS = 64_000_000
"""Images with more pixels are refused from their header, before any memory is taken for them."""

_PNG = b"\x89PNG\r\n\x1a\n"
_JPEG = b"\xff\xd8\xff"
_LFS = b"version https://git-lfs"
_PLAIN_CHUNKS = {b"IHDR", b"IDAT", b"IEND", b"pHYs", b"sRGB", b"gAMA", b"cHRM", b"sBIT"}
_CHANNELS = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}
_ADAM7 = ((0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2))
"""Of each interlace pass: first column, first row, column step, row step."""


@dataclass(frozen=True)
class Header:
    """What a file says of its image; `depth` is in bits per channel."""

    width: int
    height: int
    depth: int
    plain: bool
    """True for an 8-bit grey or RGB PNG of nothing but pixels: no text, profile, orientation or transparency."""


def glance(file: Path) -> tuple[int, int]:
    """Return width and height of an image file with a sound signature, size and end.

    Of a PNG it reads a few bytes, so that a set takes no time.

    Raises:
        ValueError: it is no PNG or JPEG, too large, or cut off.
    """
    with file.open("rb", buffering=0) as stream:
        start = stream.read(33)
        if start.startswith(_PNG):
            width, height, *_ = _png_header(start)
            for _ in _chunks(stream, file.stat().st_size):
                pass
            return width, height
        header = examine(file.read_bytes() if start.startswith(_JPEG) else start)
        return header.width, header.height


def examine(data: bytes) -> Header:
    """Return the header of a whole image file.

    Raises:
        ValueError: it is no PNG or JPEG, too large, animated, cut off or damaged.
    """
    if data.startswith(_PNG):
        return _examine_png(data)
    if data.startswith(_JPEG):
        return _examine_jpeg(data)
    if not data:
        raise ValueError("it is empty; copy it again")
    if data.startswith(_LFS):
        raise ValueError("it is the pointer that Git LFS leaves for a file not fetched yet; run: git lfs pull")
    raise ValueError(f"it begins with {data[:8]!r}, so it is neither PNG nor JPEG; convert it to PNG")


def _check_size(width: int, height: int) -> None:
    if not width or not height:
        raise ValueError(f"its header says {width} x {height} pixels")
    if width * height > MAX_PIXELS:
        raise ValueError(f"its header says {width} x {height} pixels, more than the limit of {MAX_PIXELS:,}")


def _png_header(data: bytes) -> tuple[int, int, int, int, int]:
    """Return width, height, bit depth, colour type and interlace method."""
    if data[12:16] != b"IHDR" or len(data) < 33:
        raise ValueError("it is cut off, or damaged, within its header")
    width, height, depth, colour, _, _, interlace = struct.unpack(">IIBBBBB", data[16:29])
    _check_size(width, height)
    if colour not in _CHANNELS or depth not in (1, 2, 4, 8, 16) or interlace > 1:
        raise ValueError(f"its header is damaged: colour type {colour}, bit depth {depth}, interlace {interlace}")
    return width, height, depth, colour, interlace


def _chunks(stream: IO[bytes], size: int) -> Iterator[tuple[bytes, int, int]]:
    """Yield type, offset and length of the data of each chunk up to IEND; stream: a PNG file of `size` bytes."""
    position = len(_PNG)
    kind = b""
    while kind != b"IEND":
        stream.seek(position)
        head = stream.read(8)
        length, kind = struct.unpack(">I4s", head) if len(head) == 8 else (size, b"")
        if position + 12 + length > size:
            raise ValueError(f"it is cut off: {size} bytes without an end (IEND chunk)")
        yield kind, position + 8, length
        position += 12 + length


def _examine_png(data: bytes) -> Header:
    width, height, depth, colour, interlace = _png_header(data)
    kinds, pixels, end = set(), [], 0
    for kind, offset, length in _chunks(io.BytesIO(data), len(data)):
        end = offset + length + 4
        if zlib.crc32(data[offset - 4 : end - 4]) != int.from_bytes(data[end - 4 : end], "big"):
            raise ValueError(f"its {kind.decode('latin-1')} chunk at byte {offset - 8} is damaged (wrong checksum)")
        kinds.add(kind)
        if kind == b"IDAT":
            pixels.append(data[offset : offset + length])
    if b"acTL" in kinds:
        raise ValueError("it is animated")
    if colour == 3 and b"PLTE" not in kinds:
        raise ValueError("it has no palette, though its header says so")
    _check_pixels(b"".join(pixels), width, height, depth * _CHANNELS[colour], interlaced=bool(interlace))
    plain = kinds <= _PLAIN_CHUNKS and depth == 8 and colour in (0, 2) and end == len(data)
    return Header(width, height, depth, plain)


def _check_pixels(packed: bytes, width: int, height: int, bits: int, *, interlaced: bool) -> None:
    """Check that the zlib stream of a PNG is whole and holds every row; bits: per pixel."""
    passes = _ADAM7 if interlaced else ((0, 0, 1, 1),)
    sizes = [((width - x + dx - 1) // dx, (height - y + dy - 1) // dy) for x, y, dx, dy in passes]
    strides = [(1 + (columns * bits + 7) // 8, rows) for columns, rows in sizes if columns > 0 and rows > 0]
    expected = sum(stride * rows for stride, rows in strides)
    inflater = zlib.decompressobj()
    try:
        rows_data = inflater.decompress(packed, expected + 1)
    except zlib.error as error:
        raise ValueError(f"its pixel data are damaged ({error})") from None
    if len(rows_data) != expected or not inflater.eof:
        raise ValueError(f"its pixel data are cut off or damaged: {len(rows_data):,} bytes, {expected:,} expected")
    start = 0
    for stride, rows in strides:
        if max(rows_data[start : start + stride * rows : stride]) > 4:
            raise ValueError("its pixel data are damaged (unknown row filter)")
        start += stride * rows


def _examine_jpeg(data: bytes) -> Header:
    width = height = 0
    position = 2
    while True:
        # entropy-coded data lie between the markers; in them FF is followed by 00 or a restart marker
        position = data.find(b"\xff", position)
        if position < 0 or position + 1 >= len(data):
            raise ValueError(f"it is cut off: {len(data)} bytes without an end (EOI marker)")
        marker = data[position + 1]
        if marker in (0x00, 0x01, 0xFF) or 0xD0 <= marker <= 0xD8:
            position += 1 if marker == 0xFF else 2
            continue
        if marker == 0xD9:
            break
        if 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC) and position + 9 <= len(data):
            height, width = struct.unpack(">HH", data[position + 5 : position + 9])
            _check_size(width, height)
        position += 2 + max(2, int.from_bytes(data[position + 2 : position + 4], "big"))
    if not width:
        raise ValueError("it holds no image (no SOF marker)")
    return Header(width, height, depth=8, plain=False)
