"""Reading files that others wrote: text in any encoding, XML, JSON of any size, image headers."""

import codecs
import re
from collections import defaultdict
from collections.abc import Iterator
from json import JSONDecodeError
from json import loads as load_json
from pathlib import Path, PurePosixPath
from typing import Any
from xml.etree import ElementTree

import ijson  # type: ignore[import-untyped]
from PIL import Image, ImageFile, UnidentifiedImageError
from PIL.TiffImagePlugin import STRIPBYTECOUNTS, STRIPOFFSETS, TILEBYTECOUNTS, TILEOFFSETS, TiffImageFile

from georefusal_build.sources.base import SourceError

IMAGE_SUFFIXES = frozenset({".png", ".jpg", ".jpeg", ".tif", ".tiff", ".bmp", ".jp2", ".webp"})

_EIGHT_BIT_MODES = frozenset({"1", "L", "LA", "P", "RGB", "RGBA", "CMYK", "YCbCr"})
_TAIL = 1 << 16
_END_MARKS = {"PNG": b"IEND", "JPEG": b"\xff\xd9"}
_BOMS = (codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)

Image.MAX_IMAGE_PIXELS = None  # survey images exceed Pillow's guard against hostile uploads


def find_files(root: Path, suffixes: frozenset[str]) -> list[Path]:
    """Return the files below `root` (or `root` itself) with one of the suffixes, sorted by path.

    Hidden files, and the statistics that GDAL writes beside an image (`.aux.xml`), are not looked at.
    """
    if root.is_file():
        return [root] if root.suffix.lower() in suffixes else []
    found = (path for path in root.rglob("*") if path.suffix.lower() in suffixes and not path.name.startswith("."))
    return sorted(path for path in found if path.is_file() and not path.name.lower().endswith(".aux.xml"))


def read_text(path: Path) -> str:
    """Return a text file as a string, whatever encoding and line ends it has.

    A byte order mark decides; without one UTF-8, then Latin-1 (annotation text is ASCII, only names may suffer).
    """
    data = _read_bytes(path)
    if data.startswith(_BOMS):
        encoding = "utf-8-sig" if data.startswith(codecs.BOM_UTF8) else "utf-16"
        return _decode(path, data, encoding)
    if b"\x00" in data:
        raise SourceError(path, "is not a text file (it contains zero bytes)")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return data.decode("latin-1")


def read_xml(path: Path) -> ElementTree.Element:
    """Return the root element of an XML file in any encoding that Python knows.

    Raises: SourceError when the file is not well formed, or declares entities (which no annotation needs).
    """
    data = _read_bytes(path)
    declared = re.match(rb"<\?xml[^>]*?encoding=[\"']([A-Za-z0-9._-]+)[\"']", data)
    if declared and not data.startswith(_BOMS):
        text = _decode(path, data, declared.group(1).decode())
    else:
        text = read_text(path)
    text = re.sub(r"^\s*<\?xml[^>]*\?>", "", text, count=1)
    if re.search(r"<!(DOCTYPE|ENTITY)", text):
        raise SourceError(path, "declares a document type or entities; remove the <!DOCTYPE ...> part")
    try:
        return ElementTree.fromstring(text)  # noqa: S314  # entities were refused above
    except ElementTree.ParseError as error:
        line, column = error.position
        raise SourceError(path, f"is not well-formed XML ({error.msg})", f"line {line}, column {column}") from error


def stream_json(path: Path, prefix: str) -> Iterator[Any]:
    """Yield the elements of one array of a JSON file without holding the file in memory; `prefix` as in ijson.

    Raises: SourceError when the file is not valid JSON, with the line.
    """
    try:
        with path.open("rb") as handle:
            yield from ijson.items(handle, prefix, use_float=True)
    except (ijson.JSONError, UnicodeDecodeError, OSError) as error:
        raise _json_error(path, error) from error


def read_json(path: Path) -> Any:
    """Return the content of a small JSON file; raises SourceError with the line when it is not valid."""
    try:
        return load_json(read_text(path))
    except (JSONDecodeError, RecursionError) as error:
        raise _json_error(path, error) from error


def image_size(path: Path) -> tuple[int, int]:
    """Return (width, height) from the header of an image that this project can use.

    Raises: SourceError when the file is no image, stops before its end mark, or has more than 8 bits per band.
    """
    try:
        with path.open("rb") as handle, Image.open(handle) as image:
            size, mode, kind = image.size, image.mode, image.format
            length = handle.seek(0, 2)
            handle.seek(max(0, length - _TAIL))
            whole = _END_MARKS[kind] in handle.read() if kind in _END_MARKS else _data_end(image) <= length
    except FileNotFoundError as error:
        raise SourceError(path, "image file is missing") from error
    except UnidentifiedImageError as error:
        raise SourceError(path, "is not a readable image (of no known format)") from error
    except (OSError, ValueError, SyntaxError) as error:
        raise SourceError(path, f"is not a readable image ({_brief(error)})") from error
    if mode not in _EIGHT_BIT_MODES:
        raise SourceError(path, f"has pixels of mode '{mode}'; convert it to 8 bits per band first")
    if not whole:
        raise SourceError(path, f"the {kind} file is cut off before its end")
    if min(size) < 1:
        raise SourceError(path, f"has no pixels (size {size[0]}x{size[1]})")
    return size


def load_image(path: Path) -> Image.Image:
    """Return the fully decoded image; a file that is damaged anywhere raises SourceError instead of turning black."""
    lenient = ImageFile.LOAD_TRUNCATED_IMAGES
    ImageFile.LOAD_TRUNCATED_IMAGES = False
    try:
        with Image.open(path) as image:
            image.load()
            return image.copy()
    except (OSError, ValueError, SyntaxError) as error:
        raise SourceError(path, f"is not a readable image ({_brief(error)})") from error
    finally:
        ImageFile.LOAD_TRUNCATED_IMAGES = lenient


class ImageIndex:
    """The images below a root by file name, found in one walk."""

    def __init__(self, root: Path) -> None:
        self.root = root if root.is_dir() else root.parent
        self.paths = find_files(self.root, IMAGE_SUFFIXES)
        self._by_key: defaultdict[str, list[Path]] = defaultdict(list)
        for path in self.paths:
            self._by_key[path.stem].append(path)
            self._by_key[path.name].append(path)

    def id(self, path: Path) -> str:
        """The path below the root, without suffix."""
        return path.relative_to(self.root).with_suffix("").as_posix()

    def named(self, file_name: str, annotation: Path, place: str = "") -> Path:
        """Return the image of a path that an annotation file states: relative to it or the root, else by name alone.

        Raises: SourceError as `find` does.
        """
        relative, root = file_name.replace("\\", "/"), self.root.resolve()
        for base in (annotation.parent, self.root):
            path = base / relative
            if path.is_file() and path.resolve().is_relative_to(root):
                return path
        return self.find(PurePosixPath(relative).name, annotation, place)

    def find(self, name: str, annotation: Path, place: str = "") -> Path:
        """Return the image called `name` (with or without suffix) that lies closest to its annotation file.

        Of those equally close, the one in a folder that the annotation file or its folders are named after: train/ for
        train.json and for Annotations/train/1.xml.

        Raises: SourceError when there is none, or when two lie equally close.
        """
        found = self._by_key.get(name, [])
        if not found:
            raise SourceError(annotation, f"there is no image '{name}' below {self.root}", place)
        shared = [_common_parts(path, annotation) for path in found]
        nearest = [path for path, count in zip(found, shared, strict=True) if count == max(shared)]
        if len(nearest) > 1:
            words = {*re.split(r"[^A-Za-z0-9]+", annotation.stem), *annotation.parts[max(shared) : -1]}
            own = [path for path in nearest if words.intersection(path.parts[max(shared) : -1])]
            nearest = own if len(own) == 1 else nearest
        if len(nearest) > 1:
            told = " and ".join(str(path) for path in nearest[:2])
            raise SourceError(annotation, f"image '{name}' is not unique: {told}; read one folder at a time", place)
        return nearest[0]


def _data_end(image: Image.Image) -> int:
    """Where the last strip or tile of a TIFF ends; 0 for other formats."""
    tags = image.tag_v2 if isinstance(image, TiffImageFile) else {}
    return max(
        (
            start + count
            for offsets, counts in ((STRIPOFFSETS, STRIPBYTECOUNTS), (TILEOFFSETS, TILEBYTECOUNTS))
            for start, count in zip(tags.get(offsets, ()), tags.get(counts, ()), strict=False)
        ),
        default=0,
    )


def _common_parts(one: Path, other: Path) -> int:
    count = 0
    for a, b in zip(one.parts, other.parts, strict=False):
        if a != b:
            break
        count += 1
    return count


def _read_bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise SourceError(path, f"cannot be read ({error.strerror or error})") from error


def _decode(path: Path, data: bytes, encoding: str) -> str:
    try:
        return data.decode(encoding)
    except (UnicodeDecodeError, LookupError) as error:
        raise SourceError(path, f"does not decode as '{encoding}' ({error})") from error


def _json_error(path: Path, error: Exception) -> SourceError:
    try:
        load_json(read_text(path))
    except JSONDecodeError as exact:
        return SourceError(path, f"is not valid JSON ({exact.msg})", f"line {exact.lineno}, column {exact.colno}")
    except (SourceError, RecursionError):
        pass
    return SourceError(path, f"is not valid JSON ({_brief(error)})")


def _brief(error: Exception) -> str:
    return str(error).splitlines()[0] if str(error) else type(error).__name__
