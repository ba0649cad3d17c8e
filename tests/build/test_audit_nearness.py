"""Near duplicates by perceptual hash: the search finds exactly what comparing all pairs finds."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from georefusal_build.audit.nearness import near_pairs
from georefusal_build.ids import phash

Hashes = st.lists(st.integers(0, 2**64 - 1), max_size=12)


def all_pairs(left: list[int], right: list[int], within: int) -> list[tuple[int, int, int]]:
    apart = [(i, j, bin(a ^ b).count("1")) for i, a in enumerate(left) for j, b in enumerate(right)]
    return sorted(pair for pair in apart if pair[2] <= within)


@given(left=Hashes, flips=st.lists(st.lists(st.integers(0, 63), max_size=9), max_size=12), within=st.integers(0, 7))
def test_the_search_misses_nothing(left: list[int], flips: list[list[int]], within: int) -> None:
    """A block scheme with too few blocks would lose pairs whose bits differ in every block."""
    right = [value ^ sum(1 << bit for bit in set(bits)) for value, bits in zip(left, flips, strict=False)]
    assert list(map(tuple, near_pairs(left, right, within).tolist())) == all_pairs(left, right, within)


def test_six_bits_spread_over_all_words_are_found() -> None:
    """Two in each of two words, one in each of the others: the case that equal words alone would miss."""
    spread = sum(1 << bit for bit in (0, 5, 17, 30, 40, 60))
    assert near_pairs([0xABCDEF], [0xABCDEF ^ spread]).tolist() == [[0, 0, 6]]
    assert near_pairs([0xABCDEF], [0xABCDEF ^ spread ^ (1 << 63)]).tolist() == []


def test_equal_hashes_come_up_once_each() -> None:
    assert near_pairs([7, 7], [7]).tolist() == [[0, 0, 0], [1, 0, 0]]


def test_more_bits_than_the_words_allow_are_refused() -> None:
    with pytest.raises(ValueError, match="at most 7 bits"):
        near_pairs([1], [1], 8)


def test_the_search_compares_few_of_many(monkeypatch: pytest.MonkeyPatch) -> None:
    """With 20,000 random hashes a side, all pairs would be 400 million comparisons."""
    from georefusal_build.audit import nearness

    compared = 0
    real = nearness._compared

    def counting(*args: object) -> object:
        nonlocal compared
        compared += len(args[2])  # type: ignore[arg-type]
        return real(*args)  # type: ignore[arg-type]

    monkeypatch.setattr(nearness, "_compared", counting)
    random = np.random.default_rng(1)
    left = [int(value) for value in random.integers(0, 2**63, 20_000)]
    assert len(near_pairs(left, [value ^ 1 for value in left])) >= 20_000
    assert compared < 20_000_000


def oracle_phash(pixels: np.ndarray) -> int:
    """Area means by hand and the cosine transform from its definition, without OpenCV."""
    grey = pixels.astype(np.float64) @ np.array([0.299, 0.587, 0.114])
    side = grey.shape[0] // 32
    small = grey.reshape(32, side, 32, side).mean(axis=(1, 3))
    steps = np.arange(32)
    basis = np.cos(np.pi * (2 * steps[None, :] + 1) * steps[:, None] / 64) * np.sqrt(2 / 32)
    basis[0] /= np.sqrt(2)
    low = (basis @ small @ basis.T)[:8, :8].ravel()
    middle = np.median(low[1:])
    return sum(int(value > middle) << (63 - place) for place, value in enumerate(low))


def test_the_hash_is_the_cosine_hash() -> None:
    """At most two bits may differ: those whose frequency lies at the median, and rounding of grey."""
    random = np.random.default_rng(3)
    for _ in range(8):
        coarse = random.integers(0, 256, (16, 16, 3)).astype(np.uint8)
        pixels = np.kron(coarse, np.ones((8, 8, 1), dtype=np.uint8))
        assert (oracle_phash(pixels) ^ int(phash(pixels), 16)).bit_count() <= 2
