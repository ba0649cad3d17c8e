"""Nearly the same images, found among many by their perceptual hashes."""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

NEAR = 6
"""Hashes of which at most so many of the 64 bits differ belong to nearly the same image.

Source: section 10 of the design (near duplicates).
"""

Words = NDArray[np.uint64]
Pairs = NDArray[np.intp]

_PARTS = 4
"""Words of 16 bits in a hash. 6 differing bits leave at least one word of four with at most one."""
_CHUNK = 2_000_000


def near_pairs(left: Sequence[int], right: Sequence[int], within: int = NEAR) -> Pairs:
    """Return int (n, 3): each place in `left`, each in `right` whose hash is near it, and their distance, sorted.

    A hash of 64 bits is four words of 16; where at most 7 bits differ, one word differs in at most one. So every hash
    is looked up by its words and their 16 neighbours each, and only what is found there is compared.

    Raises:
        ValueError: within is greater than 7, for which that does not hold.
    """
    if within > 2 * _PARTS - 1:
        raise ValueError(f"hashes are searched within at most {2 * _PARTS - 1} bits, not {within}")
    ours, our_place = np.unique(np.array(left, dtype=np.uint64), return_inverse=True)
    theirs, their_place = np.unique(np.array(right, dtype=np.uint64), return_inverse=True)
    found = [_compared(ours, theirs, chunk, within) for chunk in _candidates(ours, theirs)]
    hits = np.unique(np.concatenate([np.empty((0, 3), np.intp), *found]), axis=0)
    ours_at, theirs_at = _members(our_place, len(ours)), _members(their_place, len(theirs))
    spread = [(i, j, apart) for a, b, apart in hits.tolist() for i in ours_at[a] for j in theirs_at[b]]
    return np.array(sorted(spread), dtype=np.intp).reshape(-1, 3)


def _members(place: NDArray[np.intp], count: int) -> list[list[int]]:
    order = np.argsort(place, kind="stable")
    return [part.tolist() for part in np.split(order, np.cumsum(np.bincount(place, minlength=count))[:-1])]


def _candidates(ours: Words, theirs: Words) -> Iterator[Pairs]:
    """Yield int (m, 2): pairs that agree in a word but for one bit; a pair may come up more than once."""
    neighbours = np.concatenate([[0], 1 << np.arange(16)]).astype(np.uint64)
    for part in range(_PARTS):
        shift = np.uint64(16 * part)
        wanted = (ours >> shift) & np.uint64(0xFFFF)
        words = (theirs >> shift) & np.uint64(0xFFFF)
        order = np.argsort(words, kind="stable")
        ranked = words[order]
        for flip in neighbours:
            start = np.searchsorted(ranked, wanted ^ flip, "left")
            count = np.searchsorted(ranked, wanted ^ flip, "right") - start
            for first, last in _chunks(count):
                many = count[first:last]
                mine = np.repeat(np.arange(first, last), many)
                offset = np.arange(many.sum()) - np.repeat(np.cumsum(many) - many, many)
                yield np.stack([mine, order[np.repeat(start[first:last], many) + offset]], axis=1)


def _chunks(count: NDArray[np.intp]) -> Iterator[tuple[int, int]]:
    """Yield ranges of places whose candidates fit into memory together."""
    reached = np.cumsum(count)
    first = 0
    while first < len(count):
        before = reached[first - 1] if first else 0
        last = max(first + 1, int(np.searchsorted(reached, before + _CHUNK, "right")))
        yield first, last
        first = last


def _compared(ours: Words, theirs: Words, pairs: Pairs, within: int) -> Pairs:
    """Return int (k, 3) of those candidates that are near, with their distance."""
    differing = (ours[pairs[:, 0]] ^ theirs[pairs[:, 1]]).view(np.uint8).reshape(-1, 8)
    apart = _BITS[differing].sum(axis=1, dtype=np.intp)
    near = apart <= within
    return np.column_stack([pairs[near], apart[near]])


_BITS = np.array([value.bit_count() for value in range(256)], dtype=np.uint8)
