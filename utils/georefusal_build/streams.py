"""Seeded random streams that stay the same across numpy versions and machines.

Only raw 64-bit words are taken from the generator: bit streams are stable across numpy versions, Generator methods are
not.
"""

import hashlib
import math
from collections.abc import Sequence
from typing import TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from georefusal_build.arrays import F32, F64

SCHEMA = "georefuse/1"

_T = TypeVar("_T")


def derive_key(master: int, base_id: str, family: str, attempt: int = 0) -> int:
    """Return the 128-bit key of a lever family's stream on one base.

    Keyed by family, not by lever: LOW, MEDIUM and HIGH of a base share clouds, noise and geometry.

    >>> hex(derive_key(20261130, "scene-1", "im_occlude"))
    '0x57648830449d243816499c240d904b4e'
    """
    digest = hashlib.sha256(f"{SCHEMA}|{master}|{base_id}|{family}|{attempt}".encode()).digest()
    return int.from_bytes(digest[:16], "big")


class Stream:
    """A counter-based stream (Philox) of variates, each made from raw words."""

    def __init__(self, key: int) -> None:
        self._bits = np.random.Philox(key=key)

    def words(self, count: int) -> NDArray[np.uint64]:
        """Return `count` raw 64-bit words."""
        return np.asarray(self._bits.random_raw(count), dtype=np.uint64)

    @overload
    def uniform(self) -> float: ...
    @overload
    def uniform(self, shape: tuple[int, ...]) -> F64: ...
    def uniform(self, shape: tuple[int, ...] | None = None) -> float | F64:
        """Return values in [0, 1) with 53 random bits: one float, or an array of `shape`."""
        words = self.words(1 if shape is None else math.prod(shape))
        values: F64 = (words >> np.uint64(11)).astype(np.float64) * 2.0**-53
        return float(values[0]) if shape is None else values.reshape(shape)

    def between(self, low: float, high: float) -> float:
        """Return a float in [low, high)."""
        return low + (high - low) * self.uniform()

    def choice(self, options: Sequence[_T]) -> _T:
        """Return one of `options`, each equally likely."""
        return options[int(self.uniform() * len(options))]

    def shuffled(self, options: Sequence[_T]) -> list[_T]:
        """Return `options` in a random order."""
        return [options[i] for i in np.argsort(self.words(len(options)), kind="stable")]

    def normal(self, shape: tuple[int, ...]) -> F32:
        """Return standard normal values (Box-Muller), float32."""
        count = math.prod(shape)
        half = (count + 1) // 2
        radius = np.sqrt(-2.0 * np.log(self._positive((half,)))).astype(np.float32)
        angle = (2.0 * np.pi * self.uniform((half,))).astype(np.float32)
        return np.concatenate([radius * np.cos(angle), radius * np.sin(angle)])[:count].reshape(shape)

    def gamma(self, looks: int, shape: tuple[int, ...]) -> F64:
        """Return Gamma(looks, 1/looks) values (mean 1, variance 1/looks): the intensity of `looks`-look speckle."""
        total = np.zeros(shape)
        for _ in range(looks):
            total -= np.log(self._positive(shape))
        return total / looks

    def _positive(self, shape: tuple[int, ...]) -> F64:
        return np.maximum(self.uniform(shape), 2.0**-53)
