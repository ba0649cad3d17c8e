"""Words, names and tags that stand around the numbers of a box, and what each says about them."""

import re
from typing import Final

from georefusal_task.core.box_shapes import Kind, Shape

TOKEN = re.compile(
    r"(?P<number>(?:(?<![\w.)\]%>])[-+])?+(?:[0-9]++(?:\.[0-9]++)?+|(?<![\w.])\.[0-9]++)(?:[eE][-+]?[0-9]{1,4}(?!\w))?+)"
    r"(?P<percent>[ \t]?%)?"
    r"|<(?P<end>/?)\|?(?P<end2>/?)(?P<tag>[a-z][a-z0-9]{0,20}(?:_[a-z0-9]{1,20}){0,3})\|?/?>"
    r"|(?P<word>[^\W\d_](?:\w|-(?=[^\W\d_]))*+)(?P<assigned>[\"'`*]{0,3}[ \t]{0,3}(?::|=>?))?"
    r"|(?P<empty>\[\s*+\]|\(\s*+\)|\{\s*+\})"
    r"|(?P<mark>[\[\](){}])"
    r"|(?P<break>[\n;:/.!?])"
    r"|(?P<dash>[-–—→~])"
    r"|(?P<bar>\|)"
    r"|(?P<other>[^\s\d,:=<>|\"'`*_°\\])",
    re.IGNORECASE,
)
"""Whatever no branch takes, such as commas and quotes, stands between numbers without meaning anything."""

UNITS = frozenset(("px", "pixel", "pixels", "deg", "degree", "degrees"))
LIGHT_WORDS = frozenset(("to", "and", "the", "at", "is", "until", "corner", "corners", "coordinates", "right", "max"))
"""What may stand between the two corners of a box."""
SECOND_CORNER = re.compile(r"(?:bottom|lower)(?:[-_]?right)?|right[-_]?bottom|[xy]2|br|rb|end|p2|point2")
"""Introduces the second corner, even on a line of its own."""

BOX_NAME = re.compile(r"box|bbox|region|poly|coord|quad|rect|obb|\bdet\b|segm|ground|location")
POLYGON_NAME = re.compile(r"poly|quad|segm")
CENTRE_NAME = re.compile(r"obb|rbox|orient|rotat")
NO_BOX_NAME = re.compile(
    r"(?:scores?|conf(?:idences?)?|prob(?:s|abilit(?:y|ies))?|ids?|index|indices|counts?|number|total|sizes?"
    r"|image_size|shape|colou?rs?|areas?|labels?|points?(?:_2d)?|class(?:es)?|category)\Z"
)
TAGS = re.compile(r"(?:b?box|det|quad|poly(?:gon)?|obb|rbox|region|loc)(?:_start|_end)?\Z")

ROLES = {
    name: role
    for role, names in {
        "x1": "x1 xmin minx left xleft",
        "y1": "y1 ymin miny top ytop",
        "x2": "x2 xmax maxx right xright",
        "y2": "y2 ymax maxy bottom ybottom",
        "x3": "x3",
        "y3": "y3",
        "x4": "x4",
        "y4": "y4",
        "x0": "x0",
        "y0": "y0",
        "x": "x",
        "y": "y",
        "cx": "cx xc xcenter centerx xcentre centrex",
        "cy": "cy yc ycenter centery ycentre centrey",
        "w": "w width",
        "h": "h height",
        "angle": "angle rotation theta rot angledeg angledegrees",
    }.items()
    for name in names.split()
}
PAIRS = {"center": ("cx", "cy"), "centre": ("cx", "cy"), "size": ("w", "h"), "dimensions": ("w", "h")}
"""Names of two coordinates at once."""
STRONG = re.compile(r"[xy][0-4]|[xy](?:min|max)|(?:min|max)[xy]")
"""Names that say nothing but a coordinate, so that they need no colon and must come in fours."""
KEYED: Final[tuple[tuple[tuple[str, ...], Kind], ...]] = (
    (("x1", "y1", "x2", "y2", "x3", "y3", "x4", "y4"), "polygon"),
    (("x1", "y1", "x2", "y2"), "corners"),
    (("x0", "y0", "x1", "y1"), "corners"),
    (("cx", "cy", "w", "h"), "centre"),
    (("x", "y", "w", "h"), "size"),
    (("x1", "y1", "w", "h"), "size"),
)


def shape_of(numbers: tuple[float, ...], name: str, five: str) -> Shape | None:
    """Return the box that so many numbers are, None if they are none."""
    n = len(numbers)
    if n == 4:
        return Shape("centre" if "cxcywh" in name else "size" if "xywh" in name else "corners", numbers)
    if n == 5 and (CENTRE_NAME.search(name) or five == "centre"):
        return Shape("centre", numbers[:4], angle=numbers[4], oriented=True)
    if n == 5 and five == "corners":
        return Shape("corners", numbers[:4], angle=numbers[4])
    ring = n > 8 and numbers[:2] == numbers[-2:]  # a closed ring names its first corner twice
    if n % 2 == 0 and (n == 8 or ring or (n >= 6 and POLYGON_NAME.search(name))):
        return Shape("polygon", numbers[:-2] if ring else numbers)
    return None
