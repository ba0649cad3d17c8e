"""What occurs in a source and what occurs together: the ground for popular and adversarial choices."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field


@dataclass
class Census:
    """Counts over tiles, by source. Adding tiles in another order, or adding up parts, gives the same census.

    tiles: by source. present: by (source, class). together: by (source, class, other class).
    """

    tiles: Counter[str] = field(default_factory=Counter)
    present: Counter[tuple[str, str]] = field(default_factory=Counter)
    together: Counter[tuple[str, str, str]] = field(default_factory=Counter)

    def add(self, source: str, classes: Iterable[str]) -> None:
        """Count one tile with the classes present in it."""
        names = sorted(set(classes))
        self.tiles[source] += 1
        self.present.update((source, name) for name in names)
        self.together.update((source, a, b) for a in names for b in names if a != b)

    def merge(self, other: "Census") -> None:
        """Add the counts of another part."""
        self.tiles.update(other.tiles)
        self.present.update(other.present)
        self.together.update(other.together)

    def popularity(self, source: str, name: str) -> int:
        """Return in how many tiles of the source the class occurs."""
        return self.present[source, name]

    def company(self, source: str, name: str, present: Iterable[str]) -> int:
        """Return how often the class occurs together with those present, summed over them."""
        return sum(self.together[source, other, name] for other in present)
