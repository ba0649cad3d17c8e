"""What making one job gives: an item with its rows and pixels, or one reason why there is none."""

from dataclasses import dataclass
from typing import Any

from georefusal_build.arrays import U8

Row = dict[str, Any]


@dataclass(frozen=True)
class Made:
    """An item. key: of its job; set: where it belongs.

    The rows hold everything but the public id, which is made of the key and provenance["attempt"], and what follows
    from the image file: its name and its digest.
    """

    key: str
    set: str
    case: Row
    label: Row
    provenance: Row
    pixels: U8


@dataclass(frozen=True)
class Reject:
    """A job that gave no item. key: of the job; reason: one code; detail: the numbers behind it, for people."""

    key: str
    reason: str
    detail: str
