"""Provenance, joined to a finished run by id: which items belong together, what was measured, where they come from.

This record exists for reports alone. No loader, prompt, task or log knows it, and its content is not shown when it is
printed.
"""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from sys import float_info
from typing import Any

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, ValidationError

from georefusal_task.core.errors import DataError
from georefusal_task.core.records import Label
from georefusal_task.data_columns import quoted
from georefusal_task.data_files import table_files, table_rows

MEASURED = ("pixel", "geometry")
"""Anchors that are a measurement; the labels of all other items rest on rules or on the consensus of verifiers."""


def _known_as(*names: str) -> Any:
    return Field(default=None, validation_alias=AliasChoices(*names), repr=False)


class Provenance(BaseModel):
    """How one item was made. The released spelling of the columns is not known: aliases are tried, the rest is left."""

    model_config = ConfigDict(frozen=True, extra="ignore", coerce_numbers_to_str=True)

    id: str = Field(validation_alias=AliasChoices("id", "item_id", "case_id"))
    cluster: str | None = _known_as("cluster", "cluster_id")
    """Set by hand: items of one cluster are dependent, whatever the other columns say."""
    base_id: str | None = _known_as("base_id", "base_question_id", "base_item", "base")
    base_question: str | None = _known_as("base_question", "base_query", "original_question")
    base_image: str | None = _known_as("base_image", "base_image_id", "base_sha256", "source_image", "original_image")
    pair_id: str | None = _known_as("pair_id", "pair")
    source: str | None = _known_as("source", "source_dataset", "dataset")
    modality: str | None = _known_as("modality", "sensor")
    operator: str | None = _known_as("operator", "operation")
    anchor: str | None = _known_as("anchor", "anchor_type")
    measurement: Any = _known_as("measurement", "measurements", "measured")
    review_votes: Any = _known_as("review_votes", "human_votes", "votes")

    @cached_property
    def measures(self) -> dict[str, float]:
        """The plain, finite numbers of the measurement by name; nested ones are joined by a dot."""
        return dict(_numbers(self.measurement, ""))

    @property
    def base(self) -> str | None:
        """What makes two items variants of one base question: its id, else image and wording, else the wording."""
        if self.base_id is not None or self.base_question is None:
            return self.base_id
        return f"{self.base_image or ''}\0{self.base_question}"


def _numbers(value: Any, name: str) -> list[tuple[str, float]]:
    if isinstance(value, bool) or value is None:
        return []
    if isinstance(value, int | float):
        return [(name or "measurement", float(value))] if abs(value) <= float_info.max else []
    if isinstance(value, Mapping):
        inner = [_numbers(part, f"{name}.{key}" if name else str(key)) for key, part in value.items()]
        return [pair for pairs in inner for pair in pairs]
    return []


def load_provenance(path: Path) -> dict[str, Provenance]:
    """Return id -> provenance.

    Args:
        path: a folder with `provenance/`, that folder itself, or a JSONL file; lines `{"id", "cluster"}` suffice.

    Raises:
        DataError: nothing there, a row without an id, or one id with different rows.
    """
    if path.is_dir():
        files = table_files(path.parent, path.name) if path.name == "provenance" else table_files(path, "provenance")
    elif path.is_file():
        files = [path]
    else:
        raise DataError(f"{path} is not there; --provenance takes the folder that holds provenance/, or a JSONL file")
    found: dict[str, Provenance] = {}
    for file in files:
        for where, row in table_rows(file, str(file)):
            try:
                record = Provenance.model_validate(
                    {key: value for key, value in row.items() if value not in (None, "")}
                )
            except ValidationError as error:
                wrong = "; ".join(f"{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in error.errors())
                raise DataError(f"{where}: not a row of provenance ({wrong})") from None
            if found.setdefault(record.id, record) != record:
                raise DataError(f"{where}: {quoted(record.id)} stands there twice with different content")
    return found


def clusters(ids: Collection[str], provenance: Mapping[str, Provenance]) -> dict[str, str]:
    """Return id -> cluster: items that share a base question or a base image, directly or through others.

    A `cluster` set by hand stands above both. The wording of a base question alone ties items together only where no
    base id or image is known, since many images may be asked the same. An item without provenance is its own cluster.
    """
    return linked({item: ties(provenance.get(item)) for item in ids})


def linked(ties: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """Return id -> group: items that share a tie, directly or through others; groups are named after a member."""
    parent: dict[str, str] = {}

    def root(node: str) -> str:
        while (above := parent.setdefault(node, node)) != node:
            parent[node] = node = parent[above]
        return node

    for item, shared in ties.items():
        for tie in shared:
            parent[root(f"item {item}")] = root(f"tie {tie}")
    named: dict[str, str] = {}
    return {item: named.setdefault(root(f"item {item}"), item) for item in sorted(ties)}


def ties(record: Provenance | None) -> list[str]:
    """Return what an item has in common with those that depend on it; empty where nothing is known."""
    if record is None:
        return []
    if record.cluster is not None:
        return [f"cluster {record.cluster}"]
    image = [f"image {record.base_image}"] if record.base_image else []
    return image + ([f"base {record.base}"] if record.base else [])


def is_measured(label: Label, record: Provenance | None) -> bool | None:
    """Return whether a label rests on a measurement of pixels or geometry; None where no anchor is known."""
    anchor = label.anchor or (record.anchor if record else None)
    return None if anchor is None else anchor.strip().lower() in MEASURED


@dataclass(frozen=True)
class Severity:
    """How hard the lever of one family was pulled, by one of its measures."""

    measure: str
    rising: bool
    """More of it means more to refuse."""
    values: dict[str, float] = field(repr=False)
    """Item id -> value."""


def severities(labels: Collection[Label], provenance: Mapping[str, Provenance]) -> dict[str, Severity]:
    """Return lever family -> the measure that parts its answerable items from those to be refused, where there is one.

    A measure called `severity` is taken before any other. Else the labels decide, never a model's replies: the measure
    whose order agrees best with them (area under the curve), the one known for more items among equals.
    """
    families: dict[str, list[Label]] = {}
    for label in labels:
        if label.lever_family and label.id in provenance:
            families.setdefault(label.lever_family, []).append(label)
    found = {family: _severity(members, provenance) for family, members in sorted(families.items())}
    return {family: severity for family, severity in found.items() if severity}


def _severity(labels: list[Label], provenance: Mapping[str, Provenance]) -> Severity | None:
    measures = {label.id: provenance[label.id].measures for label in labels}
    known = Counter(name for values in measures.values() for name in values)
    ranked: list[tuple[bool, float, int, str, bool]] = []
    for name, count in known.items():
        split: tuple[list[float], list[float]] = ([], [])
        for label in labels:
            if name in measures[label.id]:
                split["ANSWER" not in label.accept].append(measures[label.id][name])
        if all(split) and len({*split[0], *split[1]}) > 2:
            wins = [(high > low) + (high == low) / 2 for low in split[0] for high in split[1]]
            area = sum(wins) / len(wins)
            ranked.append((name.endswith("severity"), max(area, 1 - area), count, name, area >= 0.5))
    if not ranked:
        return None
    *_, name, rising = max(ranked)
    return Severity(name, rising, {item: values[name] for item, values in measures.items() if name in values})
