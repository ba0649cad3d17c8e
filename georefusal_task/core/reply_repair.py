"""Mends text that means a JSON object but is none; the grammar of mending is left to the json_repair library.

The library guesses: it fills gaps, keeps the last of two equal keys, returns a list when text stands between two
objects, and needs seconds for a few thousand unfortunate brackets. So it gets one bounded stretch that names a verdict,
and its verdict counts only where it stands in that stretch as the value of a `verdict` key.
"""

import html
import re
from dataclasses import dataclass
from typing import Any

from georefusal_task.core.records import Reason
from georefusal_task.core.reply_json import MAX_DEPTH, Members
from georefusal_task.core.reply_labels import LABEL, Outcome, judge, verdict_values
from georefusal_task.core.verdicts import Verdict

MAX_REPAIR = 32 * 1024
"""Characters that the library is handed at most."""
MAX_REPAIR_COST = 1_000_000
"""Bound on characters times brackets, quotes and other marks: the library's time grows with that product, and takes
about 0.1 s for this much at worst."""

_MARKS = re.compile(r"""[{}\[\]()"'“”`:,\\/#*]""")

_MAX_KEYS = 100
"""Values of `verdict` keys that are looked at in one object; more are no reply."""
_QUOTES = "“”„‟«»"
_BEHIND_MARK = "|".join(rf"(?<=[{{\[,:]\s{{{n}}}[{_QUOTES}])" for n in range(13))
_CURLY_QUOTE = re.compile(rf"[{_QUOTES}](?:(?=\s{{0,12}}[:,}}\]])|{_BEHIND_MARK})")
_TO_ASCII = str.maketrans(
    {chr(0xFF01 + i): chr(0x21 + i) for i in range(94) if not chr(0x21 + i).isalnum()}
    | dict.fromkeys("\xa0\u2007\u202f\u3000\ufeff", " ")
    | {chr(i): " " for i in (*range(32), *range(127, 160)) if chr(i) not in "\t\n\r"}
)
_ESCAPED_START = re.compile(r'\{(?:\\[nt]|\s){0,20}\\"')
_PLAIN_START = re.compile(r'\{\s{0,20}"')

_TOKEN = re.compile(
    r"(?:\{\s*+\}\s*+)++|(?:\{\s*+(?=\{))*+\{|\}"  # a run of empty objects, a run of opening braces, a closing one
    r"""|(?:(?<![A-Za-z0-9\\]["'`])(?<=["'`])|(?<=[{,\n;/])[ \t\r]{0,50}+)"""  # what may stand before a key
    r"""verdict(?:["'`]?\s{0,50}+(?::|=>?)|["'`]\s{0,50}+(?=["'`]))"""
    r"(?!\s{0,5}(?:\.{3}|…))",  # the prompt's own {"verdict": ...} is no object
    re.IGNORECASE,
)
_CUT_START = re.compile(r"\{\s*+(?:['\"]|\Z)")
_VALUE = re.compile(
    r"""\s*+(?:"([^"]{0,2000}+)"|'([^']{0,2000}+)'|`([^`]{0,2000}+)`|\[([^\]]{0,2000}+)\]"""
    r"""|([^"'`\[\s,}](?:[^,}\n/#]|/(?![/*])){0,2000}+)(?=[,}\n/#])"""  # bare, up to a comma, a bracket or a comment
    r"""|(?=[,}]))"""  # nothing at all
)

_BARE_LINE = re.compile(r"\A(\s*+\w++[ \t\r]*+)(?=\n)")
_ANOTHER = re.compile(rf"""\s{{0,50}}+(?:[,|/]|or\b|and\b)\s{{0,50}}+["'`]?{LABEL}["'`]?\s{{0,50}}+(?!\s|:)""")


def normalise(text: str) -> str:
    """Return the text with look-alikes of JSON's characters replaced by them, each in its place.

    Full-width punctuation, curly quotes where a key or value begins or ends, no-break spaces and control characters.
    """
    return _CURLY_QUOTE.sub('"', text.translate(_TO_ASCII))


def unescape(text: str) -> str:
    """Return the text with its quotes freed, where all were escaped for HTML or as if the object stood in a string."""
    if "&quot;" in text or "&#34;" in text:
        text = html.unescape(text)
    if _ESCAPED_START.search(text) and not _PLAIN_START.search(text):
        text = text.replace(r"\n", "\n").replace(r"\"", '"')
    return text


@dataclass(frozen=True, slots=True)
class Stretch:
    """Text from an opening brace to the closing one, or to the end of the text, that names a verdict."""

    start: int
    end: int
    keys: list[tuple[int, int]]
    """Start and end (behind the colon) of each `verdict` key that belongs to this brace."""
    closed: bool
    depth: int
    """How many braces are open behind its start."""


def broken_objects(text: str) -> tuple[Stretch | None, int | None]:
    """Return the last object-like stretch that names a verdict, and the place of the first object that never ends.

    Braces are matched without regard to quotes, since these may be what is broken.
    """
    # Opening braces in a row are one entry of three stacks: the place of the last, how many are still open, and the
    # `verdict` keys in it, if any. Plain lists, since a hostile text has a million of them.
    places: list[int] = []
    braces: list[int] = []
    keys: list[list[tuple[int, int]] | None] = []
    closed: list[Stretch] = []
    depth = 0
    for token in _TOKEN.finditer(text):
        at, end = token.span()
        if text[end - 1] == "{":
            count = 1 if end - at == 1 else text.count("{", at, end)
            places.append(end - 1)
            braces.append(count)
            keys.append(None)
            depth += count
        elif places and text[at] == "}":
            if own := keys[-1]:
                while closed and closed[-1].start > places[-1]:
                    closed.pop()
                closed.append(Stretch(places[-1], end, own, True, depth))
                keys[-1] = None
            depth -= 1
            braces[-1] -= 1
            if not braces[-1]:
                places.pop()
                braces.pop()
                keys.pop()
        elif places and text[at] not in "{}":
            own = keys[-1] or []
            own.append((at, end))
            keys[-1] = own
    last = closed[-1:] + _unclosed(text, places, braces, keys)
    return max(last, key=lambda stretch: stretch.start, default=None), _dangling(text, places)


def _unclosed(
    text: str, places: list[int], braces: list[int], keys: list[list[tuple[int, int]] | None]
) -> list[Stretch]:
    """Return the last stretch with keys that is never closed, as a list of at most one."""
    for i in range(len(keys) - 1, -1, -1):
        if own := keys[i]:
            return [Stretch(places[i], len(text), own, False, sum(braces[: i + 1]))]
    return []


def _dangling(text: str, places: list[int]) -> int | None:
    """Return the first open brace behind which a quoted key or the end of the text stands."""
    return next((place for place in places if _CUT_START.match(text, place)), None)


def repair(text: str, stretch: Stretch, letters: bool) -> tuple[Outcome, Members]:
    """Return the verdict of a stretch, or the reason why there is none, and the members that could be read."""
    if stretch.depth > MAX_DEPTH:
        return Reason.TOO_DEEP, ()
    if len(stretch.keys) > _MAX_KEYS:
        return Reason.CONFLICT, ()
    outcomes = {_written(text, colon, stretch, letters) for _, colon in stretch.keys}
    if len(outcomes) > 1:
        return Reason.TRUNCATED if Reason.TRUNCATED in outcomes else Reason.CONFLICT, ()
    written = outcomes.pop()
    members = _load(_handed(text, stretch))
    mended = judge(verdict_values(members), letters) if members else Reason.UNKNOWN_VERDICT
    if isinstance(written, Verdict) and mended is not written:
        return mended if isinstance(mended, Reason) else Reason.CONFLICT, ()
    return Reason.ECHO if mended is Reason.ECHO else written, members


def _written(text: str, colon: int, stretch: Stretch, letters: bool) -> Outcome:
    """Return what the text behind a `verdict` key says, read without the library."""
    match = _VALUE.match(text, colon, stretch.end)
    if match is None:
        return Reason.UNKNOWN_VERDICT if stretch.closed else Reason.TRUNCATED
    if _ANOTHER.match(text, match.end()):
        return Reason.CONFLICT
    value = next((group for group in match.groups() if group is not None), "").strip()
    return Reason.NO_VERDICT if value.lower() in ("none", "null", "undefined") else judge([value], letters)


def _handed(text: str, stretch: Stretch) -> str:
    """Return what the library is to mend: the stretch, its first `verdict` key put right, cut where it gets costly."""
    key, colon = stretch.keys[0]
    head = text[stretch.start : key].rstrip("\"'`") if key - stretch.start < MAX_REPAIR // 2 else "{"
    if _affordable(head) != head:
        head = "{"
    tail = _BARE_LINE.sub(r"\1,", text[colon : min(stretch.end, colon + MAX_REPAIR)], count=1)
    return _affordable(f'{head}"verdict":{tail}'[:MAX_REPAIR])


def _affordable(text: str) -> str:
    """Return as much of the text's beginning as the library can mend in a fraction of a second."""
    for count, mark in enumerate(_MARKS.finditer(text)):
        if count * mark.start() > MAX_REPAIR_COST:
            return text[: mark.start()]
    return text


def _load(text: str) -> Members:
    """Return the members of the object with a verdict that the library makes of the text; none if it makes none."""
    import json_repair

    try:
        value: Any = json_repair.loads(text, skip_json_loads=True)
    except Exception:  # noqa: BLE001 - whatever a reply makes the library trip over, it is just not mended
        return ()
    for candidate in reversed(value if isinstance(value, list) else [value]):
        if isinstance(candidate, dict) and verdict_values(candidate.items()):
            return tuple(candidate.items())
    return ()
