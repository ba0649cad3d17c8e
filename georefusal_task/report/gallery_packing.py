"""What a page's gallery embeds, as JSON in which no markup of others survives, within a budget of bytes."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from georefusal_task.report.gallery_images import thumbnails

LONGEST_REPLY = 4_096
"""Bytes of UTF-8 that are kept of a raw reply; fewer where long replies would not leave room for the rest."""

SHORTEST_REPLY = 256

ROOM_PER_ITEM = 7_500
"""Bytes for picture, replies and label of an item under up to two runs: 4.4 MB for 587 items."""

ROOM_PER_FURTHER_REPLY = 700
LEAST_ROOM = 200_000
"""For sets of few items."""

SHARE_FOR_IMAGES = 0.25
"""What replies must leave of the room."""

_ESCAPED = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}
_BROKEN = re.compile(r"[\ud800-\udfff\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")

Place = Callable[[str], int]
"""Keeps a raw reply, cut to what fits; returns its place among `texts`, where each distinct one stands once."""

Said = Callable[[int, Place], dict[str, Any]]
"""(bytes that are kept of a raw reply, Place) -> `replies`: run by run what was said to each item, and what else hangs
on that length."""


def pack(content: Mapping[str, Any], said: Said, pictures: Sequence[tuple[str, Path]]) -> str:
    """Return the JSON text of a gallery; safe inside a script element that holds data.

    Args:
        content: `runs`, their names, and `items`; whatever else the page's script needs.
        said: see `Said`.
        pictures: of each item (a name that equal files share, the file).
    """
    runs, items = len(content["runs"]), len(content["items"])
    room = max(LEAST_ROOM, items * (ROOM_PER_ITEM + ROOM_PER_FURTHER_REPLY * max(0, runs - 2)))
    packed = {**content, **_fitted(said, room * (1 - SHARE_FOR_IMAGES) - _size(content))}
    images = thumbnails(pictures, room - _size(packed))
    return _encoded(packed | {"images": images.uris, "shown": images.places})


def _fitted(said: Said, room: float) -> dict[str, Any]:
    longest = LONGEST_REPLY
    while True:
        made = _kept(said, longest)
        if longest <= SHORTEST_REPLY or _size(made) <= room:
            return made
        longest //= 2


def _kept(said: Said, longest: int) -> dict[str, Any]:
    places: dict[str, int] = {}
    texts: list[list[Any]] = []

    def place(text: str) -> int:
        if text not in places:
            places[text] = len(texts)
            texts.append(list(cut(text, longest)))
        return places[text]

    return {**said(longest, place), "texts": texts}


def cut(text: str, longest: int) -> tuple[str, int, str]:
    """Return beginning, number of characters left out, and end of a reply; its end often holds the verdict.

    >>> cut("0123456789", 6)
    ('0123', 4, '89')
    """
    data = _clean(text[:longest]).encode()
    if len(text) <= longest and len(data) <= longest:
        return data.decode(), 0, ""
    head = _clean(text[:longest]).encode()[: longest * 2 // 3].decode(errors="ignore")
    tail = _clean(text[-longest:]).encode()[-(longest // 3) :].decode(errors="ignore")
    return head, max(0, len(text) - len(head) - len(tail)), tail


def _clean(text: str) -> str:
    """Return text that is valid Unicode and holds no control characters but tab and line ends."""
    return _BROKEN.sub("\ufffd", text)


def _encoded(content: Mapping[str, Any]) -> str:
    text = json.dumps(content, ensure_ascii=False, separators=(",", ":"))
    return re.sub("[<>&\u2028\u2029]", lambda found: _ESCAPED[found[0]], _clean(text))


def _size(content: Mapping[str, Any]) -> int:
    return len(_encoded(content).encode())
