"""The set under audit: its items, the rows of provenance beside it, and which items come from one source image."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from georefusal_build.audit.nearness import near_pairs
from georefusal_build.audit.pictures import Picture
from georefusal_task.core.errors import DataError
from georefusal_task.core.verdicts import Verdict
from georefusal_task.data import Benchmark, Item
from georefusal_task.data_columns import COLUMNS, quoted
from georefusal_task.data_files import table_files, table_rows
from georefusal_task.report.provenance import linked

Ints = NDArray[np.int64]
Row = Mapping[str, Any]

_SOURCE_COLUMNS = ("base_image", "base_sha256", "scene", "source_image", "original_image", "base_id", "pair_id")


@dataclass(frozen=True)
class Subjects:
    """All items of a set in the loader's order, with what was computed of their images.

    rows: id -> row of provenance as it stands; empty where the set has none. positions: place of each item in the
    files of the table `cases`, from 0.
    """

    folder: Path
    benchmark: Benchmark
    rows: Mapping[str, Row]
    pictures: tuple[Picture, ...]
    positions: Ints

    @property
    def items(self) -> tuple[Item, ...]:
        """The items, as the loader sorted them."""
        return self.benchmark.items

    @cached_property
    def provenance(self) -> tuple[Row, ...]:
        """The row of each item, {} where there is none."""
        return tuple(self.rows.get(item.case.id, {}) for item in self.items)

    @cached_property
    def families(self) -> tuple[str, ...]:
        """The lever family of each item, "" where none is named."""
        return tuple(item.label.lever_family or "" for item in self.items)

    @cached_property
    def refuse(self) -> NDArray[np.bool_]:
        """Whether each item must be refused."""
        return np.array([Verdict.ANSWER not in item.label.accept for item in self.items])

    @cached_property
    def sources_known(self) -> bool:
        """Whether provenance names the source image of every item."""
        return all(any(row.get(name) for name in _SOURCE_COLUMNS) for row in self.provenance)

    @cached_property
    def groups(self) -> Ints:
        """A number per item, equal for items of one source image.

        By the columns of provenance that name it; where an item has none, by equal files and near perceptual hashes.
        """
        ties: dict[str, list[str]] = {}
        for item, row in zip(self.items, self.provenance, strict=True):
            named = [f"{name} {row[name]}" for name in _SOURCE_COLUMNS if row.get(name)]
            ties[item.case.id] = [f"file {item.image_sha256}", *named]
        if not self.sources_known:
            hashes = [picture.phash for picture in self.pictures]
            for first, second, _ in near_pairs(hashes, hashes).tolist():
                if first < second:
                    ties[self.items[first].case.id].append(f"near {first} {second}")
                    ties[self.items[second].case.id].append(f"near {first} {second}")
        named_groups = linked(ties)
        numbers: dict[str, int] = {}
        return np.array([numbers.setdefault(named_groups[item.case.id], len(numbers)) for item in self.items])

    @property
    def grouping(self) -> str:
        """How `groups` came about, in a sentence."""
        if self.sources_known:
            return "Source images are known from provenance; no image is on both sides of a split."
        lacking = "names no source image for some items" if self.rows else "is not there"
        return (
            f"Provenance {lacking}, so that the source images are not known: items of one file, or of images "
            "whose perceptual hashes differ in at most 6 bits, count as one source image. A scene that was altered "
            "more can be on both sides of a split, which makes leaks look larger and intervals too short."
        )


def provenance_rows(folder: Path) -> dict[str, Row]:
    """Return id -> row of provenance, its column names in lower case with underscores; {} where the set has none.

    Raises:
        DataError: a row without an id, or one id with two different rows.
    """
    if not (folder / "provenance").is_dir() and not any(folder.glob("provenance.*")):
        return {}
    found: dict[str, Row] = {}
    for file in table_files(folder, "provenance"):
        for where, row in table_rows(file, str(file)):
            item = item_id(row)
            if not item:
                raise DataError(f"{where}: no id among the columns {quoted(sorted(row))}; every row names its item")
            plain = {_plain(name): value for name, value in row.items()}
            if found.setdefault(item, plain) != plain:
                raise DataError(f"{where}: {item} stands there twice with different content; keep one of the two")
    return found


def positions(folder: Path) -> dict[str, int]:
    """Return id -> place in the files of the table `cases`, from 0."""
    rows = (row for file in table_files(folder, "cases") for _, row in table_rows(file, str(file)))
    return {item_id(row): place for place, row in enumerate(rows)}


def item_id(row: Row) -> str:
    """Return the id that a row of any table carries, "" where it has none."""
    return next((str(value) for name, value in row.items() if _plain(name) in COLUMNS["id"]), "")


def _plain(name: str) -> str:
    return name.strip().lower().replace(" ", "_").replace("-", "_")
