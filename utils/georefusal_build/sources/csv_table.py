"""Boxes in a table, one row per object, as DeepForest and the NEON tree benchmark write them.

Source: published files of both: with the columns in either order, with more columns, and without a header row.
"""

import csv
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from io import StringIO
from pathlib import Path

from georefusal_build.scenes import Scene
from georefusal_build.sources.base import ReadOptions, ReadReport, Source, SourceError
from georefusal_build.sources.draft import SceneDraft, box_points, number
from georefusal_build.sources.files import ImageIndex, find_files, image_size, read_text

COLUMNS = ("image_path", "xmin", "ymin", "xmax", "ymax", "label")
"""The columns that are read, in the order of a file without a header row."""

_SIDES = COLUMNS[1:5]


@dataclass(frozen=True)
class _Row:
    line: int
    sides: tuple[str, ...]
    label: str

    @property
    def empty(self) -> bool:
        """True when nothing or zeros stand for the box: the image was looked at, and holds no object."""
        return not any(side.strip("0.") for side in self.sides)


@dataclass
class _Table:
    """A file's rows by image path."""

    path: Path
    rows: dict[str, list[_Row]] = field(default_factory=lambda: defaultdict(list))

    @classmethod
    def load(cls, path: Path, report: ReadReport) -> "_Table":
        """Return a file's rows; raises SourceError when it is no such table."""
        table, reader = cls(path), csv.reader(StringIO(read_text(path), newline=""))
        try:
            first = next(reader, [])
            places = _places(first, path)
            if not _is_header(first):
                table.add(places, first, reader.line_num, report)
            for fields in reader:
                table.add(places, fields, reader.line_num, report)
        except csv.Error as error:
            raise SourceError(path, f"is not comma-separated text ({error})", f"line {reader.line_num}") from error
        return table

    def add(self, places: Sequence[int], fields: Sequence[str], line: int, report: ReadReport) -> None:
        """Add one row; an empty one means nothing, and one without an image is reported."""
        if not any(text.strip() for text in fields):
            return
        image, *sides, label = (fields[i].strip() if i < len(fields) else "" for i in places)
        if image:
            self.rows[image].append(_Row(line, tuple(sides), label))
        else:
            report.add("annotation", SourceError(self.path, "image_path is empty", f"line {line}"))


def read(root: Path, options: ReadOptions, report: ReadReport) -> Iterator[Scene]:
    """Yield one scene per image that a table names; a row without a box, or with zeros, is an image without objects."""
    images, tables = ImageIndex(root), []
    for path in find_files(root, frozenset({".csv"})):
        try:
            tables.append(_Table.load(path, report))
        except SourceError as error:
            report.add("file", error)
    named = frozenset(row.label for table in tables for rows in table.rows.values() for row in rows if not row.empty)
    for found in _by_image(tables, images, report):
        try:
            draft = _draft(found, report, options.first_pixel or 0)
        except SourceError as error:
            report.add("image", error)
            continue
        yield draft.scene(
            images.id(draft.image),
            "csv",
            options,
            modality=options.modality or "optical",
            complete=options.vouched(named - {""}),
            verified_absent=options.verified_absent or frozenset(),
        )


@dataclass
class _Found:
    """An image, and the rows about it by table."""

    image: Path
    rows: dict[Path, list[_Row]] = field(default_factory=lambda: defaultdict(list))


def _by_image(tables: Sequence[_Table], images: ImageIndex, report: ReadReport) -> list[_Found]:
    """The images that tables name, each once, however they spell its path."""
    found: dict[Path, _Found] = {}
    for table in tables:
        for name in sorted(table.rows):
            try:
                image = images.named(name, table.path, f"line {table.rows[name][0].line}")
            except SourceError as error:
                report.add("image", error)
                continue
            found.setdefault(image.resolve(), _Found(image)).rows[table.path] += table.rows[name]
    return [*found.values()]


def _draft(found: _Found, report: ReadReport, first_pixel: int) -> SceneDraft:
    """The objects of the first table; with rows in another one, nobody can say which objects are the same."""
    (path, rows), *others = found.rows.items()
    draft = SceneDraft(path, found.image, image_size(found.image), report)
    for other, more in others:
        name, line = found.image.name, more[0].line
        draft.lose(f"line {rows[0].line}", f"'{name}' stands in {other}, line {line}, too; put its rows into one file")
    for row in rows:
        if row.empty:
            continue
        place = f"line {row.line}"
        try:
            x0, y0, x1, y1 = (number(text, side) for text, side in zip(row.sides, _SIDES, strict=True))
            points = box_points(x0 - first_pixel, y0 - first_pixel, x1, y1)
        except ValueError as error:
            draft.lose(place, str(error), row.label or None)
            continue
        if row.label:
            draft.add(row.label, points, place, oriented=False)
        else:
            draft.lose(place, "label is empty")
    return draft


def _places(first: Sequence[str], path: Path) -> list[int]:
    """Where each column stands, given the first row."""
    if _is_header(first):
        names = _names(first)
        return [names.index(name) for name in COLUMNS]
    if len(first) == len(COLUMNS) and not any(text.strip(" 0123456789.-") for text in first[1:5]):
        return list(range(len(COLUMNS)))
    missing = [name for name in COLUMNS if name not in _names(first)]
    raise SourceError(
        path,
        f"has no column {', '.join(missing)}; the first row must name {', '.join(COLUMNS)}, in any order, "
        f"but it is '{','.join(first)[:80]}'",
        "line 1",
    )


def _is_header(first: Sequence[str]) -> bool:
    return set(COLUMNS) <= set(_names(first))


def _names(first: Sequence[str]) -> list[str]:
    return [text.strip().lower() for text in first]


SOURCE = Source(
    name="csv",
    title="CSV of boxes (DeepForest, NEON trees)",
    reader=read,
    layout="*.csv with the columns image_path, xmin, ymin, xmax, ymax, label, and the images",
    outline="axis-aligned boxes",
    completeness="only the classes that the user vouches for (`complete`)",
    licence="as given by the user",
    checked="against published samples in five forms: with the columns in two orders, with more columns, without a "
    "header row, and without a box",
    options=frozenset({"modality", "gsd_m", "sun", "complete", "verified_absent", "first_pixel"}),
)
