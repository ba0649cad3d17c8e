"""A second opinion on what questions take for granted and mean: outlines painted on a grid and looked at as pixels."""

from functools import cache
from typing import Any

import cv2
import numpy as np

from georefusal_build.scenes import Instance, Tile

Mask = np.ndarray


@cache
def mask(one: Instance, size: int = 800) -> Mask:
    """Return the pixels of an object."""
    grid = np.zeros((size, size), np.uint8)
    cv2.fillPoly(grid, [np.rint(np.array(one.polygon)).astype(np.int32)], 1)
    return grid.astype(bool)


def of_class(tile: Tile, name: str) -> list[Instance]:
    return [one for one in tile.instances if one.class_name == name]


def sides(one: Instance) -> tuple[float, float]:
    """Return shorter and longer side, from the pixels."""
    points = np.argwhere(mask(one)).astype(np.float32)
    width, height = cv2.minAreaRect(points)[1]
    return min(width, height) + 1, max(width, height) + 1


def gap(a: Instance, b: Instance) -> float:
    """Return the distance from one object to the nearest pixel of the other."""
    far = cv2.distanceTransform((~mask(a)).astype(np.uint8), cv2.DIST_L2, cv2.DIST_MASK_PRECISE)
    return max(0.0, float(far[mask(b)].min()) - 1)


def centre(one: Instance) -> tuple[float, float]:
    """Return the mean column and row."""
    rows, columns = np.nonzero(mask(one))
    return float(columns.mean()), float(rows.mean())


def quarter(one: Instance, size: int = 800) -> str | None:
    """Return the quarter that holds every pixel of an object, None when it takes two or more."""
    half, shape = size // 2, mask(one)
    parts = {
        "upper-left": shape[:half, :half],
        "upper-right": shape[:half, half:],
        "lower-left": shape[half:, :half],
        "lower-right": shape[half:, half:],
    }
    held = [name for name, part in parts.items() if part.any()]
    return held[0] if len(held) == 1 else None


def third(one: Instance, side: str, size: int = 800) -> bool:
    """Return whether every pixel of an object lies in the outer third of the frame at a side."""
    at = np.nonzero(mask(one))[1 if side in ("left", "right") else 0] + 0.5
    return bool((at < size / 3).all() if side in ("left", "upper") else (at > 2 * size / 3).all())


def upper(one: Instance, size: int = 800) -> bool:
    return not mask(one)[size // 2 :].any()


def area(one: Instance) -> int:
    return int(mask(one).sum())


def slant(one: Instance) -> float:
    """Return the angle of the main axis to the horizontal, degrees, by the spread of the pixels."""
    points = np.argwhere(mask(one))[:, ::-1].astype(float)
    _, vectors = np.linalg.eigh(np.cov((points - points.mean(axis=0)).T))
    dx, dy = vectors[:, 1]
    return float(np.degrees(np.arctan2(abs(dy), abs(dx))))


def holds(clause: str, tile: Tile, classes: list[str], said: str, pixels: Any = None) -> bool:
    """Return whether a clause about objects is true, by its kind and the words that were used."""
    first = of_class(tile, classes[0])
    if clause == "larger":
        side = next(s for s in ("left", "right", "upper", "lower") if s in said)
        order = sorted(first, key=lambda one: centre(one)[side in ("upper", "lower")])
        named, other = order if side in ("left", "upper") else order[::-1]
        return area(named) > area(other)
    if clause == "smallest":
        side = next(s for s in ("left", "right", "upper", "lower") if s in said)
        axis, sign = (1 if side in ("upper", "lower") else 0), (1 if side in ("left", "upper") else -1)
        return min(first, key=lambda one: sign * centre(one)[axis]) is min(first, key=area)
    (one,) = first
    if clause == "bright":
        shape = mask(one)
        grown = cv2.dilate(shape.astype(np.uint8), np.ones((15, 15), np.uint8)).astype(bool) & ~shape
        grey = pixels if pixels.ndim == 2 else pixels @ np.array([0.299, 0.587, 0.114])
        return float(grey[shape].mean()) > float(grey[grown].mean())
    minor, major = sides(one)
    if clause == "circular":
        return area(one) > 0.6 * np.pi / 4 * major**2 and major / minor < 1.5
    if clause == "elongated":
        return major / minor >= 3
    if clause == "aligned":
        return slant(one) < 22.5
    second = of_class(tile, classes[1])
    return _related(clause, one, second)


def _related(clause: str, one: Instance, second: list[Instance]) -> bool:
    other = second[0]
    if clause == "touches":
        return gap(one, other) <= 3
    if clause == "inside":
        return bool((mask(one) & mask(other)).sum() >= 0.9 * area(one))
    if clause == "near":
        return gap(one, other) <= sides(one)[1]
    (x, y), (ox, oy) = centre(one), centre(other)
    if clause == "above":
        over = np.nonzero(mask(one).any(axis=0) & mask(other).any(axis=0))[0].size > 0
        return bool(over and np.nonzero(mask(one))[0].max() <= np.nonzero(mask(other))[0].min())
    if clause == "opposite":
        return any(min(a, b) < 800 / 3 + 1 and max(a, b) > 1600 / 3 - 1 for a, b in ((x, ox), (y, oy)))
    (px, py) = centre(second[1])
    ahead, behind = np.array([ox - x, oy - y]), np.array([px - x, py - y])
    return float(ahead @ behind) < -0.7 * float(np.linalg.norm(ahead) * np.linalg.norm(behind))
