"""Every kind of image file comes out right or is refused by name, whatever the host told Pillow to tolerate."""

import copy
import io
import pickle
import struct
import subprocess
import sys
import zlib
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFile, ImageFilter

from georefusal_task.core.errors import DataError
from georefusal_task.image_files import MAX_PIXELS, examine, glance
from georefusal_task.images import PassthroughPng, as_sent, grey_like, jpeg_q95, open_image

Pixels = NDArray[np.uint8]


@pytest.fixture(autouse=True)
def _as_in_the_host(monkeypatch: pytest.MonkeyPatch) -> None:
    """The host makes Pillow accept half a file for the whole process."""
    monkeypatch.setattr(ImageFile, "LOAD_TRUNCATED_IMAGES", True)


def noise(height: int = 30, width: int = 40, *channels: int, seed: int = 0) -> Pixels:
    return np.random.default_rng(seed).integers(0, 256, (height, width, *channels), dtype=np.uint8)


def encoded(image: Image.Image | Pixels, format: str = "PNG", **options: Any) -> bytes:  # noqa: A002
    out = io.BytesIO()
    (image if isinstance(image, Image.Image) else Image.fromarray(image)).save(out, format, **options)
    return out.getvalue()


def chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png(
    width: int, height: int, depth: int, colour: int, rows: bytes, *, interlace: int = 0, extra: bytes = b""
) -> bytes:
    """Return a PNG file from unfiltered rows, each beginning with its filter byte; `extra`: chunks before IDAT."""
    header = struct.pack(">IIBBBBB", width, height, depth, colour, 0, 0, interlace)
    parts = (chunk(b"IHDR", header), extra, chunk(b"IDAT", zlib.compress(rows)), chunk(b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(parts)


def shown(tmp_path: Path, data: bytes) -> Pixels:
    """Return what a model would see of a file: uint8 (height, width, 3)."""
    file = tmp_path / "image"
    file.write_bytes(data)
    image = open_image(file)
    assert image.mode == "RGB"
    assert image.info == {}
    return np.asarray(image)


def grey(pixels: NDArray[Any]) -> Pixels:
    return np.repeat(pixels[..., None], 3, axis=2).astype(np.uint8)


def refused(tmp_path: Path, data: bytes) -> str:
    file = tmp_path / "named.png"
    file.write_bytes(data)
    with pytest.raises(DataError, match=r"named\.png") as caught:
        open_image(file)
    return str(caught.value)


# --- kinds of pixels


def test_rgb_and_grey_are_kept(tmp_path: Path) -> None:
    assert np.array_equal(shown(tmp_path, encoded(noise(30, 40, 3))), noise(30, 40, 3))
    assert np.array_equal(shown(tmp_path, encoded(noise())), grey(noise()))


def test_a_16_bit_ramp_keeps_its_256_levels(tmp_path: Path) -> None:
    """Pillow's own conversion clips at 255: two levels left, almost everything white."""
    ramp = np.arange(65536, dtype=np.uint16).reshape(256, 256)
    seen = shown(tmp_path, encoded(Image.fromarray(ramp)))
    assert np.array_equal(seen, grey(np.arange(65536).reshape(256, 256) // 256))


def test_16_bits_read_the_same_in_grey_and_colour(tmp_path: Path) -> None:
    values = np.random.default_rng(0).integers(0, 65536, (4, 5))
    flat = b"".join(b"\0" + row.astype(">u2").tobytes() for row in values)
    colour = b"".join(b"\0" + np.repeat(row, 3).astype(">u2").tobytes() for row in values)
    assert np.array_equal(shown(tmp_path, png(5, 4, 16, 0, flat)), shown(tmp_path, png(5, 4, 16, 2, colour)))


@pytest.mark.parametrize("depth", [1, 2, 4])
def test_few_bits_are_spread_over_the_whole_range(tmp_path: Path, depth: int) -> None:
    levels = np.arange(8, dtype=np.uint8) % 2**depth
    bits = "".join(f"{level:0{depth}b}" for level in levels)
    row = int(bits, 2).to_bytes(len(bits) // 8, "big")
    seen = shown(tmp_path, png(8, 1, depth, 0, b"\0" + row))
    assert np.array_equal(seen, grey((levels * (255 // (2**depth - 1)))[None]))


def test_a_palette_is_applied(tmp_path: Path) -> None:
    image = Image.fromarray(noise(30, 40, 3)).quantize(64)
    assert np.array_equal(shown(tmp_path, encoded(image)), np.asarray(image.convert("RGB")))


@pytest.mark.parametrize("mode", ["RGBA", "LA"])
def test_opaque_alpha_is_dropped(tmp_path: Path, mode: str) -> None:
    pixels = noise(30, 40, 4 if mode == "RGBA" else 2)
    pixels[..., -1] = 255
    expected = pixels[..., :3] if mode == "RGBA" else grey(pixels[..., 0])
    assert np.array_equal(shown(tmp_path, encoded(Image.fromarray(pixels, mode))), expected)


@pytest.mark.parametrize(
    "data",
    [
        encoded(Image.fromarray(noise(30, 40, 4))),
        encoded(Image.fromarray(noise(30, 40, 2), "LA")),
        encoded(Image.fromarray(noise(30, 40, 3)).quantize(8), transparency=0),
        encoded(noise(30, 40), transparency=int(noise()[0, 0])),
        encoded(noise(30, 40, 3), transparency=tuple(int(v) for v in noise(30, 40, 3)[0, 0])),
        png(1, 1, 16, 0, b"\0\1\2", extra=chunk(b"tRNS", b"\1\2")),
        png(1, 1, 16, 2, b"\0\1\2\1\2\1\2", extra=chunk(b"tRNS", b"\1\2\1\2\1\2")),
    ],
    ids=["RGBA", "LA", "palette", "grey key", "RGB key", "16-bit grey key", "16-bit RGB key"],
)
def test_transparency_is_refused(tmp_path: Path, data: bytes) -> None:
    """What stands behind a transparent pixel depends on the viewer: each backend would show another image."""
    assert "transparent" in refused(tmp_path, data)


def test_a_transparent_colour_that_no_pixel_has_is_no_obstacle(tmp_path: Path) -> None:
    pixels = noise(4, 5, 3) | 1
    assert np.array_equal(shown(tmp_path, encoded(pixels, transparency=(0, 0, 0))), pixels)


def test_cmyk_is_refused(tmp_path: Path) -> None:
    assert "CMYK" in refused(tmp_path, encoded(Image.new("CMYK", (8, 8)), "JPEG"))


@pytest.mark.parametrize("format", ["TIFF", "GIF", "BMP", "WEBP"])
def test_other_formats_are_refused(tmp_path: Path, format: str) -> None:  # noqa: A002
    assert "neither PNG nor JPEG" in refused(tmp_path, encoded(noise(8, 8, 3), format))


def test_big_endian_16_bit_tiff_is_refused_by_name(tmp_path: Path) -> None:
    """Scaling mode I;16B raised in the middle of a run elsewhere."""
    image = Image.fromarray(np.arange(64, dtype=">u2").reshape(8, 8))
    assert image.mode == "I;16B"
    assert "convert it to PNG" in refused(tmp_path, encoded(image, "TIFF"))


def test_animations_are_refused(tmp_path: Path) -> None:
    frames = [Image.fromarray(noise(8, 8, 3, seed=seed)) for seed in (0, 1)]
    assert "animated" in refused(tmp_path, encoded(frames[0], save_all=True, append_images=frames[1:]))


ORIENTED: dict[int, Callable[[Pixels], Pixels]] = {
    1: lambda a: a,
    2: np.fliplr,
    3: lambda a: np.rot90(a, 2),
    4: np.flipud,
    5: lambda a: a.swapaxes(0, 1),
    6: lambda a: np.rot90(a, -1),
    7: lambda a: np.rot90(a, 2).swapaxes(0, 1),
    8: np.rot90,
}
"""What each EXIF orientation means, after the EXIF specification: row 0 and column 0 of the stored pixels."""


@pytest.mark.parametrize("orientation", ORIENTED)
def test_exif_orientation_is_applied(tmp_path: Path, orientation: int) -> None:
    exif = Image.Exif()
    exif[0x0112] = orientation
    data = encoded(noise(30, 40, 3), exif=exif)
    assert np.array_equal(shown(tmp_path, data), ORIENTED[orientation](noise(30, 40, 3)))
    assert not isinstance(as_sent(tmp_path / "image"), PassthroughPng), "a server may not turn it"
    seen = shown(tmp_path, encoded(noise(32, 48, 3), "JPEG", exif=exif))
    assert seen.shape[:2] == ((32, 48) if orientation < 5 else (48, 32))


@pytest.mark.parametrize("size", [(1, 1), (3, 2), (5, 9), (16, 16), (1, 7), (9, 1)])
@pytest.mark.parametrize("colour", [0, 2])
def test_interlaced_files_are_read(tmp_path: Path, size: tuple[int, int], colour: int) -> None:
    width, height = size
    pixels = noise(height, width, *((3,) if colour else ()))
    rows = b""
    for x, y, dx, dy in (
        (0, 0, 8, 8),
        (4, 0, 8, 8),
        (0, 4, 4, 8),
        (2, 0, 4, 4),
        (0, 2, 2, 4),
        (1, 0, 2, 2),
        (0, 1, 1, 2),
    ):
        part = pixels[y::dy, x::dx]
        rows += b"".join(b"\0" + row.tobytes() for row in part if row.size)
    seen = shown(tmp_path, png(width, height, 8, colour, rows, interlace=1))
    assert np.array_equal(seen, pixels if colour else grey(pixels))


# --- whole files only

WHOLE = {
    "rgb": encoded(noise(30, 40, 3)),
    "grey 16": encoded(Image.fromarray(noise(30, 40).astype(np.uint16) * 257)),
    "palette": encoded(Image.fromarray(noise(30, 40, 3)).quantize(64)),
    "text": encoded(noise(30, 40), pnginfo=None, dpi=(300, 300)),
    "jpeg": encoded(noise(30, 40, 3), "JPEG", quality=90),
    "progressive": encoded(noise(30, 40, 3), "JPEG", progressive=True),
}

fast = settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)


@pytest.mark.parametrize("kind", WHOLE)
@fast
@given(st.data())
def test_a_file_cut_anywhere_is_refused(tmp_path: Path, kind: str, data: st.DataObject) -> None:
    """Half a PNG decodes as black rows without an error here, in a benchmark whose subject is blacked-out evidence."""
    length = data.draw(st.integers(0, len(WHOLE[kind]) - 1))
    refused(tmp_path, WHOLE[kind][:length])


@pytest.mark.parametrize("kind", ["rgb", "grey 16", "palette", "text"])
@fast
@given(st.data())
def test_any_changed_byte_of_a_png_is_refused(tmp_path: Path, kind: str, data: st.DataObject) -> None:
    content = bytearray(WHOLE[kind])
    content[data.draw(st.integers(0, len(content) - 1))] ^= data.draw(st.integers(1, 255))
    refused(tmp_path, bytes(content))


@pytest.mark.parametrize("kind", WHOLE)
@fast
@given(st.data())
def test_damage_never_raises_anything_else(tmp_path: Path, kind: str, data: st.DataObject) -> None:
    content = bytearray(WHOLE[kind])
    for _ in range(data.draw(st.integers(1, 8))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    file = tmp_path / "damaged"
    file.write_bytes(content)
    with suppress(DataError):
        assert open_image(file).mode == "RGB"


@given(st.binary(max_size=200), st.sampled_from([b"", b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff"]))
@fast
def test_any_bytes_are_refused_by_name(tmp_path: Path, tail: bytes, head: bytes) -> None:
    refused(tmp_path, head + tail)


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"", "it is empty"),
        (png(0, 5, 8, 0, b""), "0 x 5"),
        (png(4, 4, 8, 0, bytes(5 * 3)), "15 bytes, 20 expected"),
        (png(4, 4, 8, 0, bytes(5 * 5)), "damaged"),
        (png(4, 4, 8, 0, b"\x05\0\0\0\0" * 4), "row filter"),
        (png(4, 4, 8, 5, bytes(20)), "colour type 5"),
        (png(4, 4, 7, 0, bytes(20)), "bit depth 7"),
        (png(4, 4, 8, 3, bytes(20)), "no palette"),
        (b"\xff\xd8\xff\xd9", "no image"),
    ],
    ids=["empty", "no width", "rows missing", "rows too many", "filter", "colour", "depth", "no palette", "empty JPEG"],
)
def test_well_formed_nonsense_is_refused(tmp_path: Path, data: bytes, says: str) -> None:
    assert says in refused(tmp_path, data)


def test_a_zlib_stream_without_its_end_is_refused(tmp_path: Path) -> None:
    """All rows are there, the check value is not: Pillow reads on into nothing."""
    whole = zlib.compress(noise(30, 121).tobytes(), 0)
    header = chunk(b"IHDR", struct.pack(">IIBBBBB", 40, 30, 8, 2, 0, 0, 0))
    cut = b"\x89PNG\r\n\x1a\n" + header + chunk(b"IDAT", whole[:-4]) + chunk(b"IEND", b"")
    assert "cut off" in refused(tmp_path, cut)


def test_threads_do_not_disturb_each_other(tmp_path: Path) -> None:
    whole, half = tmp_path / "whole.png", tmp_path / "half.png"
    whole.write_bytes(WHOLE["rgb"])
    half.write_bytes(WHOLE["rgb"][: len(WHOLE["rgb"]) // 2])

    def try_both(_: int) -> bool:
        with pytest.raises(DataError):
            open_image(half)
        return np.array_equal(np.asarray(open_image(whole)), noise(30, 40, 3))

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(try_both, range(100)))


def test_nothing_global_is_changed(tmp_path: Path) -> None:
    before = (ImageFile.LOAD_TRUNCATED_IMAGES, Image.MAX_IMAGE_PIXELS)
    shown(tmp_path, WHOLE["rgb"])
    refused(tmp_path, WHOLE["rgb"][:99])
    assert (ImageFile.LOAD_TRUNCATED_IMAGES, Image.MAX_IMAGE_PIXELS) == before == (True, before[1])


def test_a_host_without_pixel_limit_is_still_protected(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", None)
    assert "more than the limit" in refused(tmp_path, png(15_000, 15_000, 8, 2, b""))


@pytest.mark.parametrize("kind", ["png header", "jpeg header", "swollen rows", "swollen text"])
def test_bombs_are_refused_in_little_memory(tmp_path: Path, kind: str) -> None:
    """The limit is set after the imports: 64 MB more address space than the process then has."""
    swollen = zlib.compress(bytes(400_000_000), 1)
    data = {
        "png header": png(15_000, 15_000, 8, 2, b"\0" * 1000),
        "jpeg header": WHOLE["jpeg"].replace(struct.pack(">HH", 30, 40), struct.pack(">HH", 15_000, 15_000), 1),
        "swollen rows": png(64, 48, 8, 0, b"").replace(chunk(b"IDAT", zlib.compress(b"")), chunk(b"IDAT", swollen)),
        "swollen text": png(2, 1, 8, 0, b"\0\1\2", extra=chunk(b"zTXt", b"k\0\0" + swollen)),
    }[kind]
    file = tmp_path / "bomb.png"
    file.write_bytes(data)
    code = (
        "import resource, sys, pathlib\n"
        "from georefusal_task.images import DataError, open_image\n"
        "from PIL import Image, ImageFile, JpegImagePlugin, PngImagePlugin\n"
        "ImageFile.LOAD_TRUNCATED_IMAGES = True\n"
        "pages = int(pathlib.Path('/proc/self/statm').read_text().split()[0])\n"
        "limit = pages * resource.getpagesize() + 64_000_000\n"
        "resource.setrlimit(resource.RLIMIT_AS, (limit, limit))\n"
        "try: print('read', open_image(pathlib.Path(sys.argv[1])).size)\n"
        "except DataError as error: print('refused', error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code, str(file)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(("read", "refused") if kind == "swollen text" else "refused"), done.stdout


def test_the_limit_allows_large_scenes() -> None:
    assert MAX_PIXELS >= 8_000 * 8_000


def test_a_glance_sees_a_cut_and_reads_little(tmp_path: Path) -> None:
    file = tmp_path / "large.png"
    file.write_bytes(encoded(noise(600, 800, 3)))
    glance(file)
    file.write_bytes(file.read_bytes()[:-1])
    with pytest.raises(ValueError, match="cut off"):
        glance(file)


# --- original bytes


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "file.png"
    path.write_bytes(encoded(noise(30, 40, 3), compress_level=1))
    return path


def saved(image: Image.Image, **options: Any) -> bytes:
    out = io.BytesIO()
    image.save(out, format="PNG", **options)
    return out.getvalue()


UNCHANGED: list[Callable[[Image.Image], Image.Image]] = [
    lambda image: image,
    lambda image: image.copy(),
    lambda image: image.convert("RGB"),
    lambda image: image.convert("RGB").copy().convert("RGB"),
    copy.copy,
    copy.deepcopy,
    lambda image: pickle.loads(pickle.dumps(image)),
    lambda image: image.load() and image,
]


@pytest.mark.parametrize("step", UNCHANGED)
def test_an_unmodified_image_is_saved_as_the_bytes_of_its_file(
    file: Path, step: Callable[[Image.Image], Image.Image]
) -> None:
    assert saved(Image.open(file)) != file.read_bytes(), "the test needs bytes that Pillow would not write"
    assert saved(step(as_sent(file))) == file.read_bytes()


def test_grey_files_are_sent_on_too(file: Path) -> None:
    file.write_bytes(encoded(noise(), compress_level=1))
    assert saved(as_sent(file).convert("RGB")) == file.read_bytes()


def test_saving_to_a_path(file: Path, tmp_path: Path) -> None:
    as_sent(file).save(tmp_path / "copy.png")
    as_sent(file).save(str(tmp_path / "other"), "png")
    as_sent(file).save(tmp_path / "copy.jpg")
    assert (tmp_path / "copy.png").read_bytes() == (tmp_path / "other").read_bytes() == file.read_bytes()
    assert Image.open(tmp_path / "copy.jpg").format == "JPEG"


def test_saving_with_options_or_in_another_format_is_ordinary(file: Path) -> None:
    assert saved(as_sent(file), optimize=True) != file.read_bytes()
    assert encoded(as_sent(file), "JPEG").startswith(b"\xff\xd8\xff")


def _in_place(change: Callable[[Image.Image], object]) -> Callable[[Image.Image], Image.Image]:
    def step(image: Image.Image) -> Image.Image:
        change(image)
        return image

    return step


CHANGED: list[Callable[[Image.Image], Image.Image]] = [
    lambda image: image.resize((20, 15)),
    lambda image: image.crop((0, 0, 20, 15)),
    lambda image: image.transpose(Image.Transpose.ROTATE_180),
    lambda image: image.filter(ImageFilter.BLUR),
    lambda image: image.point(lambda value: 255 - value),
    lambda image: image.convert("L"),
    lambda image: image.convert("RGB", matrix=(0, 1, 0, 0, 1, 0, 0, 0, 0, 0, 1, 0)),
    _in_place(lambda image: image.thumbnail((20, 20))),
    _in_place(lambda image: image.putpixel((3, 3), (0, 0, 0))),
    _in_place(lambda image: image.paste((0, 0, 0), (0, 0, 20, 30))),
    _in_place(lambda image: image.frombytes(bytes(3 * 30 * 40))),
    _in_place(lambda image: ImageDraw.Draw(image).rectangle((0, 0, 9, 9), fill="black")),
    _in_place(lambda image: image.load().__setitem__((0, 0), (1, 2, 3))),
]


@pytest.mark.parametrize("step", CHANGED)
@pytest.mark.parametrize("after", UNCHANGED)
def test_a_modified_image_is_saved_as_it_is(
    file: Path, step: Callable[[Image.Image], Image.Image], after: Callable[[Image.Image], Image.Image]
) -> None:
    """A pass-through that forgets to look would send the model another image than the task variant says."""
    expected = step(Image.open(file).copy())
    assert np.array_equal(
        np.asarray(Image.open(io.BytesIO(saved(after(step(as_sent(file))))))), np.asarray(after(expected))
    )


def test_metadata_are_not_sent_on(file: Path) -> None:
    """A text chunk may carry what must not reach a model's server."""
    from PIL.PngImagePlugin import PngInfo

    info = PngInfo()
    info.add_text("operator", "occlude")
    file.write_bytes(encoded(noise(30, 40, 3), pnginfo=info))
    assert b"occlude" in file.read_bytes()
    assert b"occlude" not in saved(as_sent(file))
    file.write_bytes(encoded(noise(30, 40, 3)) + b"occlude")
    assert b"occlude" not in saved(as_sent(file))


@pytest.mark.parametrize(
    "image", [noise(30, 40, 4) | np.array([0, 0, 0, 255], np.uint8), Image.fromarray(noise(9, 9, 3)).quantize(4)]
)
def test_files_that_are_shown_in_another_form_are_not_passed_through(file: Path, image: Any) -> None:
    file.write_bytes(encoded(image))
    assert not isinstance(as_sent(file), PassthroughPng)


def test_what_is_sent_is_what_is_opened(file: Path) -> None:
    assert np.array_equal(np.asarray(as_sent(file)), np.asarray(open_image(file)))
    assert isinstance(as_sent(file), Image.Image)


# --- variants


def test_jpeg_round_trip_equals_pillow_at_quality_95_and_420(file: Path) -> None:
    reference = encoded(noise(30, 40, 3), "JPEG", quality=95)
    assert examine(reference).plain is False
    with Image.open(io.BytesIO(reference)) as decoded:
        assert decoded.layer[0][1:3] == (2, 2), "4:2:0 is what this Pillow does at quality 95"
        assert np.array_equal(np.asarray(jpeg_q95(file)), np.asarray(decoded))
    assert not np.array_equal(np.asarray(jpeg_q95(file)), noise(30, 40, 3))


def test_grey_is_a_grey_image_of_the_same_size(file: Path) -> None:
    assert np.array_equal(np.asarray(grey_like(open_image(file))), np.full((30, 40, 3), 128))
