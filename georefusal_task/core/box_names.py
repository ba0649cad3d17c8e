"""Words, names and tags that stand around the numbers of a box, and what each says about them."""

import re
from typing import Final

from georefusal_task.core.box_shapes import Kind

UNITS = frozenset(("px", "pixel", "pixels", "deg", "degree", "degrees"))
LIGHT_WORDS = frozenset(("to", "and", "the", "at", "is", "until", "corner", "corners", "coordinates", "right", "max"))
"""What may stand between the two corners of a box."""
SECOND_CORNER = re.compile(r"(?:bottom|lower)(?:[-_]?right)?|right[-_]?bottom|[xy]2|br|rb")
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
