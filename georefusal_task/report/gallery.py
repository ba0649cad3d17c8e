"""The items as the page's gallery gets them: JSON in which no markup of others survives, within a budget of bytes."""

import json
import re
from collections.abc import Callable, Sequence
from typing import Any

from georefusal_task.core.records import Row, lever_family
from georefusal_task.core.verdicts import VERDICTS, Verdict
from georefusal_task.report.gallery_images import Images, thumbnails
from georefusal_task.report.runs import Run
from georefusal_task.report.texts import visible

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

OUTCOMES = ("right", "other reason", "false refusal", "missed refusal", "no verdict", "failed request")
"""What became of one reply."""


def gallery(runs: Sequence[Run]) -> str:
    """Return the JSON text of the gallery; safe inside a script element that holds data."""
    items = [item for item in runs[0].benchmark.items if any(item.case.id in run.by_id for run in runs)]
    content: dict[str, Any] = {
        "verdicts": list(VERDICTS),
        "outcomes": list(OUTCOMES),
        "runs": [visible(run.name) for run in runs],
        "items": [
            {
                "id": item.case.id,
                "set": item.case.set,
                "question": item.case.question,
                "gold": item.label.gold,
                "accept": list(item.label.accept),
                "answer": item.label.answer,
                "category": item.label.category,
                "intensity": item.label.intensity,
                "lever": lever_family(item.label.lever),
            }
            for item in items
        ],
    }
    ids = [item.case.id for item in items]
    room = max(LEAST_ROOM, len(items) * (ROOM_PER_ITEM + ROOM_PER_FURTHER_REPLY * max(0, len(runs) - 2)))
    for_replies = room * (1 - SHARE_FOR_IMAGES) - _size(content)
    content |= _fitted(lambda longest: _said(runs, ids, longest), for_replies)
    images = thumbnails([(item.image_sha256, item.case.image) for item in items], room - _size(content))
    return _encoded(content | _shown(images))


def _fitted(make: Callable[[int], dict[str, Any]], room: float) -> dict[str, Any]:
    longest = LONGEST_REPLY
    while True:
        made = make(longest)
        if longest <= SHORTEST_REPLY or _size(made) <= room:
            return made
        longest //= 2


def _said(runs: Sequence[Run], ids: Sequence[str], longest: int) -> dict[str, Any]:
    """Return the replies of all runs, each distinct text once: [verdict, outcome, status, reason, answer, text]."""
    places: dict[str, int] = {}
    texts: list[list[Any]] = []

    def place(text: str) -> int:
        if text not in places:
            places[text] = len(texts)
            texts.append(list(cut(text, longest)))
        return places[text]

    replies = [
        [_reply(run.by_id[item], place(run.replies[item].texts[0])) if item in run.by_id else None for item in ids]
        for run in runs
    ]
    return {"texts": texts, "replies": replies, "longest": longest}


def _reply(row: Row, text: int) -> list[Any]:
    said = -1 if row.verdict is None else VERDICTS.index(row.verdict)
    return [said, OUTCOMES.index(outcome(row)), row.status.value, row.reason or "", row.answer[:40], text]


def outcome(row: Row) -> str:
    """Return which of OUTCOMES a reply is."""
    if row.verdict is None:
        return "failed request" if row.reason == "host_error" else "no verdict"
    if row.right:
        return "right"
    if row.answerable:
        return "false refusal"
    return "missed refusal" if row.verdict == Verdict.ANSWER else "other reason"


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


def _shown(images: Images) -> dict[str, Any]:
    return {"images": images.uris, "shown": images.places}


def _encoded(content: dict[str, Any]) -> str:
    text = json.dumps(content, ensure_ascii=False, separators=(",", ":"))
    return re.sub("[<>&\u2028\u2029]", lambda found: _ESCAPED[found[0]], _clean(text))


def _size(content: dict[str, Any]) -> int:
    return len(_encoded(content).encode())
