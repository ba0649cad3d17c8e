"""Whether a class may be asked about in a tile, and what the answer is."""

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import Literal

import shapely

from georefusal_build.classes import ClassTable
from georefusal_build.polygons import clip_polygon
from georefusal_build.scenes import ALL_CLASSES, IgnoreRegion, Instance, Tile

Answer = Literal["yes", "no"]
Scope = Literal["whole", "upper-left", "upper-right", "lower-left", "lower-right"]

Box = tuple[float, float, float, float]
"""x0, y0, x1, y1 in tile pixels, half-open."""

QUARTERS: tuple[Scope, ...] = ("upper-left", "upper-right", "lower-left", "lower-right")


class Bar(StrEnum):
    """Why a question is not asked; each refused one has exactly one reason."""

    NOT_IN_TABLE = "not_in_table"
    CUT = "cut"
    DIFFICULT = "difficult"
    TRUNCATED = "truncated"
    TOO_SMALL = "too_small"
    STRADDLES = "straddles"
    UNDECIDABLE = "undecidable"
    IGNORED = "ignored"
    INCOMPLETE = "incomplete"
    RIVAL = "rival"
    GATE = "gate"


@dataclass(frozen=True)
class Ruling:
    """The answer, or the reason why there is none."""

    answer: Answer | None = None
    bar: Bar | None = None


@dataclass(frozen=True)
class Limits:
    """min_minor_px: shorter side from which an object settles a "yes".

    margin: share of the frame that an object must keep from an asked quarter to count as outside it.

    Raises: ValueError for a length below 0 or a share outside [0, 0.5).
    """

    min_minor_px: float = 16.0
    margin: float = 0.02

    def __post_init__(self) -> None:
        if not 0 <= self.min_minor_px < math.inf:
            raise ValueError("min_minor_px is a number of pixels, at least 0")
        if not 0 <= self.margin < 0.5:
            raise ValueError("margin is a share of the frame, at least 0 and below 0.5")


def region(tile: Tile, scope: Scope) -> Box:
    """Return the asked part of the tile as a box, tile pixels."""
    x, y = tile.width / 2, tile.height / 2
    boxes: Mapping[Scope, Box] = {
        "whole": (0, 0, tile.width, tile.height),
        "upper-left": (0, 0, x, y),
        "upper-right": (x, 0, tile.width, y),
        "lower-left": (0, y, x, tile.height),
        "lower-right": (x, y, tile.width, tile.height),
    }
    return boxes[scope]


class Court:
    """Rules on questions about one tile, whose scene speaks the words of the table."""

    def __init__(self, tile: Tile, table: ClassTable, limits: Limits | None = None) -> None:
        self.tile, self.table, self.limits = tile, table, limits or Limits()
        self._rulings: dict[tuple[str, Scope], Ruling] = {}
        self._by_class: defaultdict[str, list[Instance]] = defaultdict(list)
        for one in tile.instances:
            self._by_class[one.class_name].append(one)

    @cached_property
    def present(self) -> frozenset[str]:
        """Classes of the table with an instance in the tile, including those that include one."""
        return frozenset(n for n in self.table.by_name if any(m in self._by_class for m in self.table.members(n)))

    @cached_property
    def known(self) -> frozenset[str]:
        """Classes of the table whose absence would be known."""
        scene = self.tile.scene
        return (scene.complete | scene.verified_absent) & self.table.by_name.keys()

    def evidence(self, name: str, scope: Scope = "whole") -> tuple[Instance, ...]:
        """Return every instance that bears on the question: of the class or what it includes, touching the region."""
        found = self._instances(self.table.members(name))
        return tuple(found) if scope == "whole" else tuple(_touching(found, region(self.tile, scope)))

    def outlined(self, name: str) -> bool:
        """Return whether every instance in the scene has an outline, and nothing in the tile might pass for one.

        What the border of the tile leaves of some is another matter: see `Tile.cut` and `Tile.slivers`.
        """
        tile, alike = self.tile, self.table.members(name) | self.table.rivals[name]
        unclear = {one.class_name for one in tile.ignore_regions} & (
            alike | {ALL_CLASSES}
        ) | tile.scene.undecidable & alike
        rivals = any(one.class_name in self.table.rivals[name] for one in tile.instances)
        return name in tile.scene.complete and not unclear and not rivals

    def rule(self, name: str, scope: Scope = "whole") -> Ruling:
        """Return the answer to "is there a <name> in this part of the tile", or why it is not asked."""
        if (name, scope) not in self._rulings:
            self._rulings[name, scope] = self._decide(name, scope)
        return self._rulings[name, scope]

    def _decide(self, name: str, scope: Scope) -> Ruling:
        entry = self.table.by_name.get(name)
        if entry is None or not entry.ask:
            return Ruling(bar=Bar.NOT_IN_TABLE)
        bars: list[Bar] = []
        for one in self.evidence(name, scope):
            bar = self.unfit(one, scope)
            if bar is None:
                return Ruling("yes")  # one that nobody can dispute settles it, whatever else the border cuts
            bars.append(bar)
        if self.table.members(name) & self.tile.cut:
            return Ruling(bar=Bar.CUT)
        doubt = min(bars, key=list(Bar).index) if bars else self._unsure(name, scope)
        return Ruling(bar=doubt) if doubt else Ruling("no")

    def unfit(self, one: Instance, scope: Scope) -> Bar | None:
        """Return why this instance alone does not settle a yes; None when it does."""
        divisible = one.class_name in self.table.divisible
        checks: tuple[tuple[Bar, Callable[[], bool]], ...] = (
            (Bar.DIFFICULT, lambda: one.difficult),
            (Bar.TRUNCATED, lambda: one.truncated and not divisible),
            (Bar.TOO_SMALL, lambda: one.sides[0] < self.limits.min_minor_px),
            (Bar.STRADDLES, lambda: scope != "whole" and self._straddles(one, scope, divisible)),
        )
        return next((bar for bar, holds in checks if holds()), None)

    def _straddles(self, one: Instance, scope: Scope, divisible: bool) -> bool:
        """True when the quarter does not hold all of it, or a large enough piece of what may be divided."""
        piece = clip_polygon(one.polygon, *region(self.tile, scope))[0]
        if piece == one.polygon:
            return False
        return not divisible or Instance(one.class_name, piece).sides[0] < self.limits.min_minor_px

    def _unsure(self, name: str, scope: Scope) -> Bar | None:
        """Why the lack of an instance does not settle a no."""
        tile, members, rivals = self.tile, self.table.members(name), self.table.rivals[name]
        margin = self.limits.margin * max(tile.width, tile.height)
        x0, y0, x1, y1 = region(tile, scope)
        around = (x0 - margin, y0 - margin, x1 + margin, y1 + margin)
        checks: tuple[tuple[Bar, Callable[[], object]], ...] = (
            (Bar.UNDECIDABLE, lambda: tile.scene.undecidable & (members | rivals)),
            (Bar.INCOMPLETE, lambda: name not in self.known),
            (Bar.CUT, lambda: members & tile.slivers),
            (Bar.IGNORED, lambda: _regions(tile, members | {ALL_CLASSES}, around)),
            (Bar.STRADDLES, lambda: _touching(self._instances(members), around)),
            (Bar.RIVAL, lambda: _touching(self._instances(rivals), around)),
        )
        return next((bar for bar, holds in checks if holds()), None)

    def _instances(self, names: Iterable[str]) -> list[Instance]:
        return [one for name in sorted(names) for one in self._by_class.get(name, ())]


def _regions(tile: Tile, names: frozenset[str], box: Box) -> list[IgnoreRegion]:
    area = shapely.box(*box)
    return [one for one in tile.ignore_regions if one.class_name in names and one.shape.intersects(area)]


def _touching(instances: Sequence[Instance], box: Box) -> list[Instance]:
    """The instances that share area with a box."""
    return [one for one in instances if _overlap(one.bounds, box) and clip_polygon(one.polygon, *box)]


def _overlap(a: Box, b: Box) -> bool:
    return a[0] < b[2] and a[2] > b[0] and a[1] < b[3] and a[3] > b[1]
