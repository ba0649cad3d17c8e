"""What occurs in a source and what occurs together: the ground for popular and adversarial choices."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field


@dataclass
class Census:
    """Counts over tiles, by source. Adding tiles in another order, or adding up parts, gives the same census.

    tiles: by source. present: by (source, class). alone: the same, where the class has a single instance.
    together: by (source, class, other class). kinds: over all sources, by what kind of picture a tile is.
    """

    tiles: Counter[str] = field(default_factory=Counter)
    present: Counter[tuple[str, str]] = field(default_factory=Counter)
    alone: Counter[tuple[str, str]] = field(default_factory=Counter)
    together: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    kinds: Counter[str] = field(default_factory=Counter)

    def add(self, source: str, classes: Iterable[str], kind: str = "") -> None:
        """Count one tile with the classes in it, each named once for every instance.

        kind: "colour", "grey" or "radar", "" when it is not known.
        """
        found = Counter(classes)
        names = sorted(found)
        self.tiles[source] += 1
        self.present.update((source, name) for name in names)
        self.alone.update((source, name) for name in names if found[name] == 1)
        self.together.update((source, a, b) for a in names for b in names if a != b)
        if kind:
            self.kinds[kind] += 1

    def merge(self, other: "Census") -> None:
        """Add the counts of another part."""
        self.tiles.update(other.tiles)
        self.present.update(other.present)
        self.alone.update(other.alone)
        self.together.update(other.together)
        self.kinds.update(other.kinds)

    def popularity(self, source: str, name: str) -> int:
        """Return in how many tiles of the source the class occurs."""
        return self.present[source, name]

    def singles(self, source: str, name: str) -> int:
        """Return in how many tiles of the source the class has a single instance."""
        return self.alone[source, name]

    def company(self, source: str, name: str, present: Iterable[str]) -> int:
        """Return how often the class occurs together with those present, summed over them."""
        return sum(self.together[source, other, name] for other in present)
