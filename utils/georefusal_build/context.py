"""Everything that making an item needs beside its job, opened once from the configuration."""

import hashlib
import pickle
import zlib
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Generic, TypeVar

from PIL import Image

from georefusal_build.ask import question_bank
from georefusal_build.asking import Court
from georefusal_build.build_config import BuildConfig, SourceConfig, TilingConfig
from georefusal_build.census import Census
from georefusal_build.classes import ClassTable
from georefusal_build.pixels import Pixels, scene_pixels
from georefusal_build.question_tables import load_tables
from georefusal_build.scenes import Modality, Scene, Tile, Window, cut_tile, cut_tiles
from georefusal_build.sources import ReadReport, get_source
from georefusal_build.sources.base import EVERY_CLASS
from georefusal_build.sources.files import read_json
from georefusal_build.templates import BASE_FILE, Bank, load_bank, split
from georefusal_task.core.errors import ConfigError, DataError

_K = TypeVar("_K")
_V = TypeVar("_V")

REMEMBERED = 2
"""Scenes and tiles that a process keeps at hand; jobs come scene by scene."""


@dataclass(frozen=True)
class PackedScene:
    """A scene as it is kept between jobs: small, for builds from tens of thousands of scenes.

    kind: "colour", "grey" or "radar".
    """

    set_name: str
    tiling: TilingConfig
    modality: Modality
    kind: str
    packed: bytes

    @classmethod
    def pack(cls, scene: Scene, set_name: str, tiling: TilingConfig) -> "PackedScene":
        """Return the scene packed."""
        return cls(set_name, tiling, scene.modality, _kind(scene), zlib.compress(pickle.dumps(scene, protocol=5), 1))

    def unpack(self) -> Scene:
        """Return the scene."""
        scene: Scene = pickle.loads(zlib.decompress(self.packed))  # noqa: S301 - packed by this very process or its parent
        return scene


class Recent(Generic[_K, _V]):
    """The last few values that were made; in another process it starts empty."""

    def __init__(self, most: int = REMEMBERED) -> None:
        self._most = most
        self._values: OrderedDict[_K, _V] = OrderedDict()

    def get(self, key: _K, make: Callable[[], _V]) -> _V:
        """Return the value of a key, made if it is not among the last ones."""
        if key not in self._values:
            self._values[key] = make()
            if len(self._values) > self._most:
                self._values.popitem(last=False)
        self._values.move_to_end(key)
        return self._values[key]

    def __reduce__(self) -> tuple[type["Recent[_K, _V]"], tuple[int]]:
        return type(self), (self._most,)


@dataclass(frozen=True)
class Context:
    """Configuration, class table, templates, census and scenes of a build; can be sent to another process."""

    config: BuildConfig
    table: ClassTable
    base_bank: Bank
    question_bank: Bank
    census: Census
    scenes: dict[str, PackedScene]
    report: ReadReport
    remarks: tuple[str, ...] = ()
    """What the user may have meant otherwise."""
    _scene: Recent[str, Scene] = field(default_factory=Recent, repr=False, compare=False)
    _pixels: Recent[str, Pixels] = field(default_factory=Recent, repr=False, compare=False)
    _digest: Recent[str, str] = field(default_factory=Recent, repr=False, compare=False)
    solvable: Recent[str, str] = field(default_factory=lambda: Recent(64), repr=False, compare=False)
    """By base id, what `evidence.stands_out` found: the jobs of a base follow each other."""
    _court: Recent[tuple[str, Window], Court] = field(default_factory=Recent, repr=False, compare=False)

    def scene(self, scene_id: str) -> Scene:
        """Return a scene in the words of the class table; raises DataError when the build has none of this id."""
        if scene_id not in self.scenes:
            raise DataError(f"scene '{scene_id}' of the plan is not among the sources of this build; plan again")
        return self._scene.get(scene_id, self.scenes[scene_id].unpack)

    def pixels(self, scene_id: str) -> Pixels:
        """Return a scene's pixels; raises SourceError when its file is damaged or has changed."""
        return self._pixels.get(scene_id, lambda: scene_pixels(self.scene(scene_id)))

    def source_sha256(self, scene_id: str) -> str:
        """Return the digest of a scene's image file."""
        return self._digest.get(scene_id, lambda: hashlib.sha256(self.scene(scene_id).image.read_bytes()).hexdigest())

    def court(self, scene_id: str, window: Window) -> Court:
        """Return the court over one tile of a scene."""

        def convene() -> Court:
            tiling = self.scenes[scene_id].tiling.tiling
            return self.court_of(cut_tile(self.scene(scene_id), tiling, window, self.table.divisible))

        return self._court.get((scene_id, window), convene)

    def court_of(self, tile: Tile) -> Court:
        """Return the court over a tile that is at hand."""
        return Court(tile, self.table, self.config.limits)

    def tiles(self) -> Iterator[Tile]:
        """Yield every tile of every scene, by scene id."""
        for packed in (self.scenes[name] for name in sorted(self.scenes)):
            yield from cut_tiles(packed.unpack(), packed.tiling.tiling, self.table.divisible)


def open_context(config: BuildConfig) -> Context:
    """Return the context of a build: sources read, scenes split into sets, classes counted.

    Raises: ConfigError where the configuration does not fit the files; SourceError where a source holds nothing.
    """
    table = ClassTable.load(config.classes)
    load_tables().check(table)
    report = ReadReport()
    scenes: dict[str, PackedScene] = {}
    unnamed: Counter[str] = Counter()
    place = _places(config)
    for source in config.sources:
        for scene in _read(source, report):
            unnamed.update(table.unnamed(scene))
            set_name = place(scene.id)
            if scene.id in scenes:
                raise ConfigError(f"two sources hold a scene '{scene.id}'; give each of them a `name` of its own")
            if set_name is not None:
                packed = PackedScene.pack(table.canonical(scene), set_name, source.tiling or config.tiling)
                scenes[scene.id] = packed
    if not scenes:
        raise ConfigError(f"build '{config.name}': no scene is left; look at include, exclude and sets of its sources")
    base_bank = {name: split(name, texts, config.seed).shipped for name, texts in load_bank(BASE_FILE).items()}
    words = question_bank(config.seed, private=config.templates.private, held_back=config.templates.held_back)
    context = Context(
        config, table, base_bank, words, Census(), scenes, report, tuple(_remarks(config, table, unnamed))
    )
    for tile in context.tiles():
        court = context.court_of(tile)
        present = [name for name in court.present for _ in court.evidence(name)]
        context.census.add(tile.scene.source, present, scenes[tile.scene.id].kind)
    return context


def _remarks(config: BuildConfig, table: ClassTable, unnamed: Counter[str]) -> Iterator[str]:
    """Names that lead nowhere: of objects that nothing asks about, and of classes that a user vouches for."""
    if unnamed:
        told = ", ".join(f"{name} ({count})" for name, count in unnamed.most_common())
        yield f"not in the class table, so never asked about: {told}; `classes:` takes a table of your own"
    for source in config.sources:
        vouched = (source.options.complete or frozenset()) | (source.options.verified_absent or frozenset())
        lost = sorted(
            name for name in vouched - {EVERY_CLASS} - unnamed.keys() if not table.resolve(source.format, name)
        )
        if lost:
            yield f"{source.root}: `complete` or `verified_absent` names {', '.join(lost)}, which is no known class"


def _kind(scene: Scene) -> str:
    """What kind of picture a scene is, as far as the head of its file tells."""
    if scene.modality == "sar":
        return "radar"
    with Image.open(scene.image) as image:
        return "colour" if len(image.getbands()) >= 3 else "grey"


def _read(source: SourceConfig, report: ReadReport) -> Iterator[Scene]:
    """The scenes of a source that are included, under the source's name."""
    missing = set(source.include or ()) | set(source.exclude)
    for scene in get_source(source.format).read(source.root, source.read_options, report):
        names = {scene.id, _short(scene.id)}
        missing -= names
        if not names & set(source.exclude) and (source.include is None or names & set(source.include)):
            yield replace(scene, id=f"{source.name}/{_short(scene.id)}") if source.name else scene
    if missing:
        raise ConfigError(f"{source.root}: holds no scene {', '.join(sorted(missing))} that include or exclude names")


def _short(scene_id: str) -> str:
    """A scene's id without the name of its source."""
    return scene_id.partition("/")[2]


def _places(config: BuildConfig) -> Callable[[str], str | None]:
    """How a scene finds its set; None for one that the given split leaves out."""
    sets = config.sets
    given = _split_file(sets.file) if sets.file else sets.scenes
    if given is None:
        return lambda scene_id: sets.names[_drawn(config.seed, scene_id, len(sets.names))]
    by_scene = {scene_id: name for name, members in given.items() if name in sets.names for scene_id in members}
    return lambda scene_id: by_scene.get(scene_id, by_scene.get(_short(scene_id)))


def _drawn(seed: int, scene_id: str, count: int) -> int:
    digest = hashlib.sha256(f"set|{seed}|{scene_id}".encode()).digest()
    return int.from_bytes(digest[:8], "big") % count


def _split_file(path: Path) -> dict[str, tuple[str, ...]]:
    content: Any = read_json(path)
    content = content.get("split", content) if isinstance(content, dict) else None
    if not isinstance(content, dict) or not all(isinstance(value, list) for value in content.values()):
        raise ConfigError(f"{path}: expected an object of lists of scene ids, by set")
    return {str(name): tuple(map(str, members)) for name, members in content.items()}
