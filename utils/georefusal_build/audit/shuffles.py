"""Label permutations that keep what is dependent together, and the bootstrap over source images."""

import hashlib
from functools import lru_cache

import numpy as np

from georefusal_build.audit.subjects import Ints
from georefusal_build.audit.targets import F64, Target
from georefusal_build.streams import Stream

_PART = 2_000_000
"""Random words drawn at a time."""


def shuffled(target: Target, groups: Ints, count: int, seed: int) -> Ints:
    """Return int (count, n): places in `target.y`, so that `target.y[result]` holds `count` shuffles of its labels.

    Labels stay inside their stratum. They are shuffled among the items of one source image, and between source images
    with as many items in the stratum, image by image: how labels hang together within an image survives.
    groups: source image of each item of the set.
    """
    result = np.tile(np.arange(len(target.y)), (count, 1))
    for stratum in np.unique(target.strata):
        at = np.flatnonzero(target.strata == stratum)
        result[:, at] = at[_blocks(target.places[at].tobytes(), groups[target.places[at]].tobytes(), count, seed)]
    return result


@lru_cache(maxsize=256)
def _blocks(places: bytes, owners: bytes, count: int, seed: int) -> Ints:
    """Return int (count, n) shuffles of items; the same items are shuffled alike, whatever is guessed of them."""
    groups = np.frombuffer(owners, dtype=np.int64)
    stream = _stream(seed, "shuffle", places)
    order = np.argsort(groups, kind="stable")
    blocks = np.split(order, np.flatnonzero(np.diff(groups[order])) + 1)
    result = np.empty((count, len(groups)), dtype=np.int64)
    for size in sorted({len(block) for block in blocks}):
        members = np.array([block for block in blocks if len(block) == size])
        for first in range(0, count, step := max(1, _PART // members.size)):
            some = min(step, count - first)
            rows = np.argsort(stream.uniform((some, len(members))), axis=1)
            within = np.argsort(stream.uniform((some, *members.shape)), axis=2)
            moved = np.take_along_axis(members[rows], within, axis=2)
            result[first : first + some, members.ravel()] = moved.reshape(some, -1)
    result.flags.writeable = False
    return result


def interval(hits: F64, weights: F64, target: Target, groups: Ints, draws: int, seed: int) -> tuple[float, float]:
    """Return the 95 % percentile interval of balanced accuracy, source images being drawn with replacement.

    hits: (n,) share of repeats in which an item was guessed rightly. weights: (n,), of its true class.
    """
    places = np.unique(groups[target.places], return_inverse=True)[1]
    cells = target.y
    count, classes = places.max() + 1, len(target.classes)
    rights, totals = np.zeros((count, classes)), np.zeros((count, classes))
    np.add.at(rights, (places, cells), hits * weights)
    np.add.at(totals, (places, cells), weights)
    times = _times(int(count), draws, seed)
    drawn, mass = times @ rights, times @ totals
    rates = np.divide(drawn, mass, out=np.full_like(drawn, np.nan), where=mass > 0)
    low, high = np.quantile(np.nanmean(rates, axis=1), (0.025, 0.975))
    return float(low), float(high)


@lru_cache(maxsize=64)
def _times(units: int, draws: int, seed: int) -> F64:
    """Return (draws, units): how often each unit comes up in each resample."""
    stream = _stream(seed, "bootstrap", str(units).encode())
    picked = (stream.uniform((draws, units)) * units).astype(np.int64) + units * np.arange(draws)[:, None]
    return np.bincount(picked.ravel(), minlength=draws * units).reshape(draws, units).astype(np.float64)


def _stream(seed: int, purpose: str, what: bytes) -> Stream:
    digest = hashlib.sha256(f"audit|{seed}|{purpose}|".encode() + what).digest()
    return Stream(int.from_bytes(digest[:16], "big"))
