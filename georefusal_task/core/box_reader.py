"""Reads the boxes of a reply: text in, polygons in pixels of the original image out, for every string there is."""

import html
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from georefusal_task.core.box_scan import Scan
from georefusal_task.core.box_shapes import BoxFlag, region
from georefusal_task.core.frames import Frame, Points
from georefusal_task.core.reply_thought import cut_thought

__all__ = ["BoxFlag", "BoxReply", "read_boxes"]

_LOOKALIKES = str.maketrans(
    {chr(0xFF01 + i): chr(0x21 + i) for i in range(94)}
    | {"−": "-", "【": "[", "】": "]", "、": ",", "。": ".", "\0": " "}
    | dict.fromkeys(map(ord, "\u200b\u200c\u200d\u2060\ufeff"))  # characters without width
)
_PLACE_TOKEN = re.compile(r"<(?:loc|bin)_?(?=[0-9])")
_QUOTED = re.compile(r"([\"'])([-+]?[0-9][-+0-9.,\s]{5,200}[0-9])\1")
"""Numbers of one box in one string, which end where the string does."""
_SPACED = re.compile(r"(?<![\w.])((?:-?[0-9][0-9.]{0,20}[ \t]{1,3}){3}-?[0-9][0-9.]{0,20}),(?=[ \t]{1,3}-?[0-9])")
"""Four numbers with spaces between them; the comma behind them parts them from the next box."""
_POINTS = re.compile(r"<points?\s[^<>]{0,4000}>")
"""Points are no boxes, though two of them look like corners."""


@dataclass(frozen=True)
class BoxReply:
    """The regions of one reply, and how often something was wrong."""

    regions: tuple[Points, ...] = ()
    """In the order of the reply, duplicates included."""
    flags: Mapping[BoxFlag, int] = field(default_factory=dict)
    """Only what occurred."""


def read_boxes(text: str, frame: Frame, width: int, height: int) -> BoxReply:
    """Return the boxes of a reply as polygons in pixels of the original image, `width` x `height`, with every problem.

    Reads any notation in any frame; only the meaning of the numbers comes from the frame. A percent sign is a unit of
    its own. No box, or an empty list, is no problem. Thought is cut first. Never raises, and takes time linear in the
    text.

    >>> from georefusal_task.core.frames import get_frame
    >>> read_boxes('[{"bbox_2d": [500, 0, 1000, 250]}]', get_frame("qwen3_vl"), 200, 100).regions
    (((100.0, 0.0), (200.0, 0.0), (200.0, 25.0), (100.0, 25.0)),)
    """
    text, in_thought = cut_thought(text)
    if "&lt;" in text or "&#" in text:
        text = html.unescape(text)
    if not text.isascii():
        text = text.translate(_LOOKALIKES)
    text = _QUOTED.sub(r"[\2]", _PLACE_TOKEN.sub("<", text.replace("\\n", "\n")))
    text, pointed = _POINTS.subn(" ", _SPACED.sub(r"\1;", text))
    scan = Scan(text, frame.five)
    flags = Counter(scan.flags)
    flags[BoxFlag.MALFORMED] += pointed
    flags[BoxFlag.TRUNCATED] += in_thought
    regions: list[Points] = []
    seen: set[Points] = set()
    for shape in scan.shapes:
        points, problems = region(shape, frame, width, height)
        flags.update(problems)
        if points is not None:
            flags[BoxFlag.DUPLICATE] += points in seen
            seen.add(points)
            regions.append(points)
    return BoxReply(tuple(regions), {flag: flags[flag] for flag in BoxFlag if flags[flag]})
