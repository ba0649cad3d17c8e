"""Images of a set that stand elsewhere too, and items of a set that nearly repeat each other."""

import unicodedata
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from georefusal_build.audit.nearness import NEAR, near_pairs
from georefusal_build.audit.pictures import Picture, pictures_of
from georefusal_build.audit.progress import Progress
from georefusal_build.audit.subjects import Subjects
from georefusal_task.core.errors import DataError
from georefusal_task.data import load
from georefusal_task.report.texts import markdown

SUFFIXES = (".png", ".jpg", ".jpeg")
_SHOWN = 50
How = Literal["source", "pixels", "near"]


@dataclass(frozen=True)
class Match:
    """An item that shows an excluded image.

    how: "source" where it was made from that very file, "pixels" where its image has the same, "near" where `bits` of
    the perceptual hashes differ.
    """

    item: str
    file: str
    how: How
    bits: int = 0


@dataclass(frozen=True)
class Twins:
    """Two items with one question and nearly one image, to be looked at; same_source: by what provenance tells."""

    first: str
    second: str
    question: str
    bits: int
    same_source: bool


@dataclass(frozen=True)
class Overlap:
    """What was found. compared: number of excluded images; unreadable: files among them that are no sound image."""

    compared: int
    excluded: tuple[Match, ...]
    twins: tuple[Twins, ...]
    unreadable: tuple[str, ...] = ()

    @property
    def sentence(self) -> str:
        """The result in a sentence or two."""
        items = len({match.item for match in self.excluded})
        found = f"{items} items show, or were made from, excluded images ({self.compared})." if self.compared else ""
        twins = f"{len(self.twins)} pairs of items with one question look alike: review them." if self.twins else ""
        return " ".join(part for part in (found, twins) if part)

    def to_json(self) -> dict[str, Any]:
        """Return the part of audit.json."""
        return {"within_bits": NEAR, **asdict(self)}


def contamination(subjects: Subjects, exclude: Sequence[Path], jobs: int, progress: Progress | None = None) -> Overlap:
    """Return which items show an excluded image, and which pairs of items nearly repeat each other.

    exclude: folders of PNG and JPEG files, at any depth, or sets in our layout. The file that an item was made from is
    found by its digest in provenance (base_sha256), equal pixels by theirs, in whatever encoding; nearly equal ones by
    perceptual hash. Another copy of a scene that was cropped, turned or changed by a heavy lever is not.

    Raises:
        DataError: a place to exclude is not there or holds no image.
    """
    files = [file for place in exclude for file in _images(place)]
    seen, unreadable = pictures_of(files, jobs, progress or Progress())
    return Overlap(len(seen), _matches(subjects, seen), _twins(subjects), unreadable)


def overlap_markdown(overlap: Overlap) -> str:
    """Return the section of AUDIT.md."""
    lines = ["## Images that stand elsewhere, items that repeat each other", ""]
    if overlap.compared:
        lines.append(f"- Compared with {overlap.compared} excluded images: {len(overlap.excluded)} matches.")
    else:
        lines.append("- No images to exclude were given (`--exclude`).")
    lines += [
        f"  - `{markdown(match.item)}`: {markdown(match.file, 200)}, {_HOW[match.how].format(match.bits)}"
        for match in overlap.excluded[:_SHOWN]
    ]
    lines += [f"- Not readable, so not compared: {markdown(file, 200)}" for file in overlap.unreadable[:_SHOWN]]
    lines.append(
        f"- {len(overlap.twins)} pairs of items ask one question of nearly one image (at most {NEAR} of 64 bits)."
    )
    lines += [
        f"  - `{markdown(pair.first)}`, `{markdown(pair.second)}`: {pair.bits} bits, "
        f"{'one source image' if pair.same_source else 'different source images'}"
        for pair in overlap.twins[:_SHOWN]
    ]
    if max(len(overlap.excluded), len(overlap.twins)) > _SHOWN:
        lines.append(f"- Lists are cut at {_SHOWN}; audit.json has all.")
    return "\n".join(lines) + "\n"


_HOW = {"source": "it was made from this file", "pixels": "equal pixels", "near": "{} of 64 bits differ"}


def _images(place: Path) -> list[Path]:
    if (place / "cases").is_dir():
        return sorted({item.case.image for item in load(place).items})
    if not place.is_dir():
        raise DataError(f"--exclude {place}: there is no such folder")
    files = sorted(file for file in place.rglob("*") if file.suffix.lower() in SUFFIXES and file.is_file())
    if not files:
        raise DataError(f"--exclude {place}: holds no PNG or JPEG file; convert other formats first")
    return files


def _matches(subjects: Subjects, seen: Mapping[str, tuple[str, Picture]]) -> tuple[Match, ...]:
    """Return the matches by item and file, the surest of each."""
    names = list(seen)
    by_file, by_pixels = defaultdict(list), defaultdict(list)
    for name, (sha256, other) in seen.items():
        by_file[sha256].append(name)
        by_pixels[other.digest].append(name)
    found: dict[tuple[str, str], Match] = {}
    hashes = [other.phash for _, other in seen.values()]
    for ours, theirs, bits in near_pairs([one.phash for one in subjects.pictures], hashes).tolist():
        item = subjects.items[ours].case.id
        found[item, names[theirs]] = Match(item, names[theirs], "near", bits)
    for item, picture, row in zip(subjects.items, subjects.pictures, subjects.provenance, strict=True):
        same: list[tuple[How, list[str]]] = [
            ("pixels", by_pixels[picture.digest]),
            ("source", by_file[str(row.get("base_sha256"))]),
        ]
        for how, files in same:
            found |= {(item.case.id, file): Match(item.case.id, file, how) for file in files}
    return tuple(found[key] for key in sorted(found))


def _twins(subjects: Subjects) -> tuple[Twins, ...]:
    asked: dict[str, list[int]] = {}
    for place, item in enumerate(subjects.items):
        asked.setdefault(" ".join(unicodedata.normalize("NFC", item.case.question).casefold().split()), []).append(
            place
        )
    found = []
    for places in asked.values():
        hashes = [subjects.pictures[place].phash for place in places]
        for i, j, bits in near_pairs(hashes, hashes).tolist() if len(places) > 1 else ():
            first, second = places[i], places[j]
            if first < second:
                one, other = subjects.items[first].case, subjects.items[second].case
                same = bool(subjects.groups[first] == subjects.groups[second]) and subjects.sources_known
                found.append(Twins(one.id, other.id, one.question, bits, same))
    return tuple(sorted(found, key=lambda pair: (pair.first, pair.second)))
