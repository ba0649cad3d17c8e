"""Coordinate frames: in which numbers a model writes boxes, and where those lie in the original image.

A frame is declared, by name or by the model's id, and never inferred from the numbers in a reply: 0 to 100 and 0 to
1000 look alike on a small box.
"""

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TypeAlias

from georefusal_task.core.errors import ConfigError, DataError

Points: TypeAlias = tuple[tuple[float, float], ...]
"""The corners of a polygon in order, (x, y), in pixels of the original image, y downwards."""

PATCH = 28
"""What the sides of a Qwen2.5-VL input are multiples of: two patches of 14 pixels."""
MAX_RATIO = 200
"""The most elongated image that Qwen2-VL's processors take."""


def smart_resize(width: int, height: int, min_pixels: int, max_pixels: int) -> tuple[int, int]:
    """Return the (width, height) to which Qwen2.5-VL's processor resizes an image, both multiples of 28.

    `min_pixels` and `max_pixels` bound the area. Mind the order: the processor's own function takes the height first.

    Raises:
        DataError: the image has no size, or one that the processor refuses.

    Source: `smart_resize` of transformers' Qwen2-VL image processor, reproduced to the last pixel.

    >>> smart_resize(1000, 600, 3136, 12845056)
    (1008, 588)
    """
    if min(width, height) < 1 or max(width, height) > MAX_RATIO * min(width, height):
        raise DataError(
            f"Qwen2.5-VL takes no image of {width} x {height} pixels: the longer side may be {MAX_RATIO} times the "
            "shorter one at most"
        )
    sides = [round(side / PATCH) * PATCH for side in (width, height)]
    area = sides[0] * sides[1]
    if area > max_pixels:
        shrink = math.sqrt(width * height / max_pixels)
        sides = [max(PATCH, math.floor(side / shrink / PATCH) * PATCH) for side in (width, height)]
    elif area < min_pixels:
        grow = math.sqrt(min_pixels / (width * height))
        sides = [math.ceil(side * grow / PATCH) * PATCH for side in (width, height)]
    return sides[0], sides[1]


@dataclass(frozen=True)
class Frame:
    """How one family of models writes boxes."""

    name: str
    notation: str
    """Completes "Give the boxes as ..." in a prompt."""
    example: str
    """Two boxes as such a model writes them."""
    extent: float = 0.0
    """The number that stands for the right and the lower border of the image; 0: pixels of the resized input."""
    oriented_extent: float = 0.0
    """The same for boxes given by centre, size and angle; 0: as `extent`."""
    five: str = ""
    """What a list of five numbers is: "corners" (x1, y1, x2, y2, angle), "centre" (x, y, w, h, angle), or nothing."""
    min_pixels: int = 0
    max_pixels: int = 0

    @property
    def label(self) -> str:
        """The name with the numbers that belong to it, as `get_frame` reads it; stands in rows and results."""
        if not self.extent:
            return f"{self.name},{self.min_pixels},{self.max_pixels}"
        if self.oriented_extent:
            return f"{self.name},{self.extent:g},{self.oriented_extent:g}"
        return self.name

    def extents(self, width: int, height: int) -> tuple[float, float]:
        """Return the numbers that stand for the right and the lower border of an image of that size in pixels.

        Raises:
            DataError: the model's processor takes no image of that size.
        """
        if self.extent:
            return self.extent, self.extent
        return smart_resize(width, height, self.min_pixels, self.max_pixels)

    def to_pixels(self, points: Iterable[tuple[float, float]], width: int, height: int) -> Points:
        """Return points of this frame in pixels of the original image, `width` x `height`; nothing is clipped.

        Raises:
            DataError: the model's processor takes no image of that size.

        >>> get_frame("qwen3_vl").to_pixels([(500, 500), (1000, 250)], 640, 480)
        ((320.0, 240.0), (640.0, 120.0))
        """
        right, lower = self.extents(width, height)
        return tuple((x * width / right, y * height / lower) for x, y in points)


_JSON = (
    'a JSON list with one object per box, [{"bbox_2d": [x1, y1, x2, y2], "label": "..."}, ...], or [] if there is '
    "none; (x1, y1) is the upper left corner and (x2, y2) the lower right one, "
)
_LIST = (
    "a JSON list, [[x1, y1, x2, y2], ...], or [] if there is none; (x1, y1) is the upper left corner and (x2, y2) the "
    "lower right one, "
)

FRAMES: dict[str, Frame] = {
    frame.name: frame
    for frame in (
        Frame(
            name="geochat",
            notation=(
                "{<x1><y1><x2><y2>|<angle>}, one behind the other, from 0 to 100 in width and height, the angle in "
                "degrees"
            ),
            example="{<12><40><30><55>|<90>}{<60><10><71><22>|<15>}",
            extent=100,
            five="corners",
        ),
        Frame(
            name="geoground",
            notation=(
                "<box>[[x1, y1, x2, y2]]</box>, or <obb>[[x, y, w, h, angle]]</obb> by its centre, size and angle in "
                "degrees where it lies askew, in fractions of the image's width and height"
            ),
            example="<box>[[0.12, 0.4, 0.3, 0.55]]</box><obb>[[0.65, 0.16, 0.11, 0.12, 15]]</obb>",
            extent=1,
            oriented_extent=1,
            five="centre",
        ),
        Frame(
            name="qwen2_vl",
            notation="<|box_start|>(x1,y1),(x2,y2)<|box_end|>, from 0 to 1000 in width and height",
            example="<|box_start|>(120,400),(300,550)<|box_end|><|box_start|>(600,100),(710,220)<|box_end|>",
            extent=1000,
        ),
        Frame(
            name="internvl",
            notation="<box>[[x1, y1, x2, y2], ...]</box>, from 0 to 1000 in width and height",
            example="<ref>ship</ref><box>[[120, 400, 300, 550], [600, 100, 710, 220]]</box>",
            extent=1000,
        ),
        Frame(
            name="qwen2_5_vl",
            notation=_JSON + "in pixels",
            example='[{"bbox_2d": [121, 235, 302, 323], "label": "ship"}, {"bbox_2d": [605, 59, 716, 129]}]',
            min_pixels=4 * PATCH * PATCH,
            max_pixels=16384 * PATCH * PATCH,
        ),
        Frame(
            name="qwen3_vl",
            notation=_JSON + "from 0 to 1000 in width and height",
            example='[{"bbox_2d": [120, 400, 300, 550], "label": "ship"}, {"bbox_2d": [600, 100, 710, 220]}]',
            extent=1000,
        ),
        Frame(
            name="unit",
            notation=_LIST + "in fractions of the image's width and height, from 0 to 1",
            example="[[0.12, 0.4, 0.3, 0.55], [0.6, 0.1, 0.71, 0.22]]",
            extent=1,
        ),
        Frame(
            name="rel999",
            notation=_LIST + "from 0 to 999 in width and height",
            example="[[120, 400, 300, 549], [599, 100, 709, 220]]",
            extent=999,
        ),
    )
}

_FORM = "name[,min_pixels,max_pixels]"


def get_frame(text: str) -> Frame:
    """Return the frame that `name[,min_pixels,max_pixels]` names, as in the variable GEOREFUSAL_FRAME.

    The two numbers belong to `qwen2_5_vl`, where they are the limits that the model is run with. For `geoground` they
    are the extents of its horizontal and its oriented boxes.

    Raises:
        ConfigError: no frame has that name, or the numbers do not fit it.
    """
    name, *numbers = (part.strip() for part in text.split(","))
    frame = FRAMES.get(name)
    if frame is None:
        raise ConfigError(
            f"no coordinate frame is called {name!r}; GEOREFUSAL_FRAME takes {_FORM} with one of {', '.join(FRAMES)}"
        )
    if not numbers:
        return frame
    if frame.extent and not frame.oriented_extent:
        raise ConfigError(f"the coordinate frame {name} takes no numbers, but {text!r} gives it some")
    if len(numbers) != 2 or not all(re.fullmatch(r"[1-9][0-9]{0,11}", number) for number in numbers):
        raise ConfigError(f"{text!r} is not of the form {_FORM} with two whole numbers above 0")
    first, second = map(int, numbers)
    if frame.extent:
        return replace(frame, extent=first, oriented_extent=second)
    if first > second:
        raise ConfigError(f"{text!r} asks for at least {first} and at most {second} pixels")
    return replace(frame, min_pixels=first, max_pixels=second)


_MODELS = {
    "geochat": "geochat",
    "qwen2_vl": r"qwen[-_. ]?2[-_. ]?vl",
    "qwen2_5_vl": r"qwen[-_. ]?2[-_. ]5[-_. ]?vl",
    "qwen3_vl": r"qwen[-_. ]?3[-_. ]?vl",
    "internvl": "internvl",
}
"""By frame, what the ids of models have in them. GeoGround is missing, since its scale is not the same everywhere."""


def frame_of_model(model_id: str) -> Frame | None:
    """Return the frame of a model by its id or the host's name of its backend, None where that settles nothing.

    Qwen2.5-VL gets the pixel limits of its released processor; a host with others must name them (`get_frame`).

    >>> frame_of_model("Qwen/Qwen2.5-VL-7B-Instruct").name, frame_of_model("gpt-4o")
    ('qwen2_5_vl', None)
    """
    found = [name for name, pattern in _MODELS.items() if re.search(pattern, model_id, re.IGNORECASE)]
    return FRAMES[found[0]] if len(found) == 1 else None
