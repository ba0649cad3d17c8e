"""Pixels of scenes and tiles."""

import numpy as np
from numpy.typing import NDArray

from georefusal_build.scenes import Scene, Tile
from georefusal_build.sources.base import SourceError
from georefusal_build.sources.files import load_image

Pixels = NDArray[np.uint8]
"""(H, W) for one band, (H, W, 3) for colour."""


def scene_pixels(scene: Scene) -> Pixels:
    """Return the decoded image; three equal bands come back as one, transparency is dropped.

    Raises: SourceError when the file is damaged or no longer has the size that the annotations were read for.
    """
    image = load_image(scene.image)
    if image.size != (scene.width, scene.height):
        raise SourceError(
            scene.image, f"is {image.width}x{image.height} now, but was {scene.width}x{scene.height} when read"
        )
    pixels = np.asarray(image.convert("L" if image.mode in ("1", "L", "LA") else "RGB"))
    if pixels.ndim == 3 and (pixels[..., :1] == pixels).all():
        pixels = pixels[..., 0]
    return np.array(pixels, dtype=np.uint8, order="C")


def tile_pixels(pixels: Pixels, tile: Tile) -> Pixels:
    """Return a copy of the tile's window of its scene's pixels."""
    return pixels[tile.y : tile.y + tile.height, tile.x : tile.x + tile.width].copy()
