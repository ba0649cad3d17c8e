"""Annotated images of many origins, read into one kind of scene."""

import re

from georefusal_build.sources import coco, csv_table, dior, dota, fair1m, fmow, m4sar, sardet, voc, xview, yolo
from georefusal_build.sources.base import EVERY_CLASS, ReadOptions, ReadReport, Source, SourceError
from georefusal_task.core.errors import ConfigError

__all__ = ["EVERY_CLASS", "SOURCES", "ReadOptions", "ReadReport", "Source", "SourceError", "get_source", "table"]

SOURCES: dict[str, Source] = {
    module.SOURCE.name: module.SOURCE
    for module in (coco, voc, yolo, csv_table, dota, dior, fair1m, xview, fmow, sardet, m4sar)
}
"""Every format that can be read, by name."""


def get_source(name: str) -> Source:
    """Return a source by name; raises ConfigError with the known names."""
    if name not in SOURCES:
        raise ConfigError(f"there is no source '{name}'; choose one of {', '.join(SOURCES)}")
    return SOURCES[name]


def table() -> str:
    """Return the Markdown table of docs/sources.md."""
    head = ("name", "format", "looked for", "outlines", "counts as complete", "terms", "checked")
    rows = [
        (one.name, one.title, one.layout, one.outline, one.completeness, one.licence, one.checked)
        for one in SOURCES.values()
    ]
    body = [tuple(re.sub(r"([<*_])", r"\\\1", cell) for cell in row) for row in rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in [head, ("---",) * len(head), *body])
