"""Makes a set of answer-grounding questions (docs/grsvqa.md) from annotated images, whole or cut into tiles.

sources -> ClassTable.canonical -> cut_tiles -> offer -> select -> phrase -> rows, images, card. The same bytes on every
run: nothing depends on time, order of files or machine.
"""

import hashlib
import json
import shutil
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from typing import Any

from georefusal_build.classes import ClassTable
from georefusal_build.grsvqa_asking import Candidate, offer
from georefusal_build.grsvqa_card import card
from georefusal_build.grsvqa_config import GrsvqaConfig
from georefusal_build.grsvqa_selection import select
from georefusal_build.grsvqa_words import load_templates, phrase
from georefusal_build.pixels import scene_pixels, tile_pixels
from georefusal_build.polygons import Points
from georefusal_build.scenes import Instance, Scene, Tile, cut_tiles
from georefusal_build.sources import ReadReport, get_source
from georefusal_task.core.errors import ConfigError
from georefusal_task.grounding_data import QUESTIONS, load

Row = dict[str, Any]
Progress = Callable[[str], None]

MADE_BY = "georefusal build grsvqa"
SUMMARY = "summary.json"


@dataclass
class Offers:
    """What all tiles offer. rejects: by type and reason; report: what the readers left out."""

    candidates: list[Candidate] = field(default_factory=list)
    rejects: Counter[tuple[str, str]] = field(default_factory=Counter)
    scenes: int = 0
    tiles: int = 0
    report: ReadReport = field(default_factory=ReadReport)


def collect(config: GrsvqaConfig, table: ClassTable, progress: Progress, report: ReadReport | None = None) -> Offers:
    """Return every question that the sources can answer; `report` takes what the readers leave out.

    Raises:
        ConfigError: a source or option that does not exist, or a class that the table does not know.
        DataError: a source holds nothing that can be read.
    """
    if unknown := sorted(((config.only or frozenset()) | config.never) - table.by_name.keys()):
        raise ConfigError(f"'only' and 'never' name classes that the table does not know: {', '.join(unknown)}")
    offers = Offers(report=report if report is not None else ReadReport())
    for scene in _scenes(config, offers.report, progress):
        offers.scenes += 1
        for tile in cut_tiles(table.canonical(scene), config.tiling, table.divisible):
            found = offer(tile, table, config.rules, config.seed)
            offers.candidates += found.candidates
            offers.rejects.update({(str(t), str(reason)): n for (t, reason), n in found.rejects.items()})
            offers.tiles += 1
    return offers


def _scenes(config: GrsvqaConfig, report: ReadReport, progress: Progress) -> Iterator[Scene]:
    """Yield all scenes; those of a second source of one format get ids of their own."""
    formats: Counter[str] = Counter()
    for source in config.sources:
        formats[source.format] += 1
        prefix = f"{formats[source.format]}/" if formats[source.format] > 1 else ""
        progress(f"reading {source.format} {source.root}")
        for scene in get_source(source.format).read(source.root, source.options(), report):
            yield replace(scene, id=prefix + scene.id)


def build_grsvqa(
    config: GrsvqaConfig, out: Path, progress: Progress = lambda _: None, report: ReadReport | None = None
) -> dict[str, Any]:
    """Write the set into `out` and return its summary; `out` appears only when it is complete and loads.

    Raises:
        ConfigError: `out` holds something that this command did not make, or the sources offer no question.
        DataError: a source cannot be read.
    """
    out = out.absolute()
    _refuse_foreign(out)
    table, bank = ClassTable.load(config.classes), load_templates()
    offers = collect(config, table, progress, report)
    selection = select(offers.candidates, config.quotas, config.seed)
    if not selection.picks:
        told = ", ".join(f"{n} {reason}" for (_, reason), n in offers.rejects.most_common(5)) or "no annotated class"
        raise ConfigError(
            f"no question can be asked about {offers.tiles} images ({told}). A class needs complete annotation: name "
            "the complete ones under 'complete' of the source. Without a total, "
            "every type that has a share must be possible"
        )
    made = [_row(one, phrase(one, table, bank, config.seed), config.place) for one in selection.picks]
    rows = sorted(made, key=lambda row: str(row["id"]))
    summary = _summary(config, offers, selection.picks)
    part = out.with_name(f".{out.name}.part")
    shutil.rmtree(part, ignore_errors=True)
    try:
        _write_images(selection.picks, part / "images")
        (part / QUESTIONS).write_text("".join(_json_line(row) for row in rows), "utf-8")
        (part / SUMMARY).write_text(json.dumps(summary, indent=1, ensure_ascii=False) + "\n", "utf-8")
        (part / "README.md").write_text(card(config, rows, summary), "utf-8")
        (part / "SHA256SUMS").write_text(_sums(part), "utf-8")
        load(part)
        _move(part, out)
    finally:
        shutil.rmtree(part, ignore_errors=True)
    progress(f"{len(rows):,} questions about {summary['images']:,} images in {out}")
    return summary


def _row(one: Candidate, question: str, place: str) -> Row:
    tile, scene = one.tile, one.tile.scene
    return {
        "id": f"q-{_digest(one.id)[:12]}",
        "type": str(one.type),
        "classes": list(one.classes),
        "question": question,
        "answer": one.answer,
        "image": f"images/{_image_name(tile)}",
        "width": tile.width,
        "height": tile.height,
        "image_id": scene.id if place == "image" else str(PurePosixPath(scene.id).parent),
        "instances": {name: [*map(_outline, found)] for name, found in zip(one.classes, one.instances, strict=True)},
        "source": tile.id,
        "licence": scene.licence,
        "notice": scene.notice,
    }


def _outline(one: Instance) -> list[Any]:
    """Return an upright box as x0, y0, x1, y1 and any other outline as its corners, hundredths of a pixel."""
    if not one.oriented and _is_box(one.polygon):
        return [round(value, 2) for value in one.bounds]
    return [[round(x, 2), round(y, 2)] for x, y in one.polygon]


def _is_box(points: Points) -> bool:
    return len(points) == 4 and len({x for x, _ in points}) == len({y for _, y in points}) == 2


def _write_images(picks: Iterable[Candidate], folder: Path) -> None:
    from PIL import Image

    folder.mkdir(parents=True)
    scenes: dict[str, Scene] = {}
    tiles: defaultdict[str, dict[str, Tile]] = defaultdict(dict)
    for one in picks:
        scenes[one.tile.scene.id] = one.tile.scene
        tiles[one.tile.scene.id][one.tile.id] = one.tile
    for scene_id, scene in sorted(scenes.items()):
        pixels = scene_pixels(scene)
        for tile in tiles[scene_id].values():
            Image.fromarray(tile_pixels(pixels, tile)).save(folder / _image_name(tile), format="PNG", compress_level=9)


def _image_name(tile: Tile) -> str:
    return f"{_digest(tile.id)[:16]}.png"


def _summary(config: GrsvqaConfig, offers: Offers, picks: Iterable[Candidate]) -> dict[str, Any]:
    made = list(picks)
    sizes = Counter(str(one.type) for one in made)
    weight = sum(config.shares.values())
    wanted = {str(t): round((config.total or 0) * share / weight) for t, share in config.shares.items()}
    return {
        "made_by": MADE_BY,
        "name": config.name,
        "seed": config.seed,
        "questions": len(made),
        "images": len({one.tile.id for one in made}),
        "scenes": len({one.tile.scene.id for one in made}),
        "made": _by_answer(made),
        "short_of_total": {t: n - sizes[t] for t, n in wanted.items() if config.total and n > sizes[t]},
        "read": {"scenes": offers.scenes, "tiles": offers.tiles, **dict(sorted(offers.report.counts.items()))},
        "possible": _by_answer(offers.candidates),
        "rejected": _nested(offers.rejects),
    }


def _by_answer(candidates: Iterable[Candidate]) -> dict[str, dict[str, int]]:
    return _nested(Counter((str(one.type), one.answer) for one in candidates))


def _nested(counts: Counter[tuple[str, str]]) -> dict[str, dict[str, int]]:
    """Return counts by first and second key, numbers in numeric order."""
    found: dict[str, dict[str, int]] = {}
    for (first, second), n in sorted(counts.items(), key=lambda item: (item[0][0], item[0][1].zfill(9))):
        found.setdefault(first, {})[second] = n
    return found


def _json_line(row: Row) -> str:
    return json.dumps(row, ensure_ascii=False, allow_nan=False) + "\n"


def _sums(folder: Path) -> str:
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return "".join(
        f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.relative_to(folder).as_posix()}\n" for path in files
    )


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _refuse_foreign(out: Path) -> None:
    """Raise when `out` holds something that is not a set made by this command."""
    if not out.exists():
        return
    if not out.is_dir():
        raise ConfigError(f"{out} is a file; give a folder for the set")
    try:
        ours = json.loads((out / SUMMARY).read_text("utf-8")).get("made_by") == MADE_BY
    except (OSError, ValueError, AttributeError):
        ours = not any(out.iterdir())
    if not ours:
        raise ConfigError(f"{out} holds files of something else; give a new folder")


def _move(part: Path, out: Path) -> None:
    """Put the finished folder in its place; an earlier one of ours goes only when the new one is there."""
    old = out.with_name(f".{out.name}.old")
    shutil.rmtree(old, ignore_errors=True)
    if out.exists():
        out.rename(old)
    part.rename(out)
    shutil.rmtree(old, ignore_errors=True)
