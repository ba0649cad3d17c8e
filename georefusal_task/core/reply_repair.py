"""Mends text that means a JSON object but is none; the grammar of mending is left to the json_repair library.

The library guesses: it fills gaps, keeps the last of two equal keys, returns a list when text stands between two objects,
and needs seconds for a few thousand unfortunate brackets. So it gets one bounded stretch that names a verdict, and its
verdict counts only when it stands in that stretch as the value of a `verdict` key.
"""

import html
import re
from dataclasses import dataclass
from typing import Any

from georefusal_task.core.records import Reason
from georefusal_task.core.reply_json import MAX_DEPTH, Members
from georefusal_task.core.reply_labels import Outcome, judge, verdict_values
from georefusal_task.core.verdicts import Verdict

MAX_REPAIR = 64 * 1024
"""Characters that the library is handed at most."""
MAX_REPAIR_COST = 2_000_000
"""Bound on characters times brackets, quotes, colons and commas: the library's time grows with the product, and this much
takes it about 0.2 s at worst."""

_MARKS = re.compile(r"""[{}\[\]"'“”:,\\]""")
_TO_ASCII = str.maketrans(
    {chr(0xFF01 + i): chr(0x21 + i) for i in range(94) if not chr(0x21 + i).isalnum()}
    | dict.fromkeys(map(chr, (0xA0, 0x2007, 0x202F, 0x3000, 0xFEFF)), " ")
    | {chr(i): " " for i in (*range(32), *range(127, 160)) if chr(i) not in "\t\n\r"}
)
_QUOTES = "“”„‟«»"
_CURLY = re.compile(rf"(?<=[{{\[,:])(\s{{0,20}})[{_QUOTES}]|[{_QUOTES}](?=\s{{0,20}}[:,}}\]])")
_ESCAPED_QUOTE = re.compile(r'\{(?:\\[nt]|\s){0,20}\\"')
_CUT_START = re.compile(r"\{\s*+(?:['\"]|\Z)")
_PLAIN_QUOTE = re.compile(r'\{\s{0,20}"')

_TOKEN = re.compile(r"[{}]|verdict", re.IGNORECASE)
_KEY_END = re.compile(r"""["'`]?\s{0,50}(?::|=>?)""")
_VALUE = re.compile(
    r"""\s*+(?:"([^"]*+)"|'([^']*+)'|`([^`]*+)`|\[([^\]]*+)\]|([^"'`\[\s,}](?:[^,}\n/#]|/(?![/*]))*+)(?=[,}\n/#])|(?=[,}]))"""
)


def normalise(text: str) -> str:
    """Return the text with look-alikes of JSON's characters replaced by them, each in its place.

    Full-width punctuation, curly quotes where a key or value begins or ends, no-break spaces and control characters.
    """
    return _CURLY.sub(r'\1"', text.translate(_TO_ASCII))


def unescape(text: str) -> str:
    """Return the text of an object whose quotes are all escaped, for HTML or as if it stood in a string, without that."""
    if "&quot;" in text or "&#34;" in text:
        text = html.unescape(text)
    if _ESCAPED_QUOTE.search(text) and not _PLAIN_QUOTE.search(text):
        text = text.replace(r"\n", "\n").replace(r"\"", '"')
    return text


@dataclass(frozen=True, slots=True)
class Stretch:
    """Text from an opening brace to the closing one, or to the end of the text, that names a verdict."""

    start: int
    end: int
    keys: tuple[tuple[int, int], ...]
    """Start of each `verdict` key that belongs to this brace, and end of its colon."""
    closed: bool


def last_stretch(text: str) -> Stretch | Reason | None:
    """Return the last object-like stretch that names a verdict, TOO_DEEP, or None.

    Braces are matched without regard to quotes, since these may be what is broken.
    """
    open_braces: list[tuple[int, list[tuple[int, int]]]] = []
    closed: list[Stretch] = []
    too_deep = False
    for token in _TOKEN.finditer(text):
        at = token.start()
        if text[at] == "{":
            open_braces.append((at, []))
            too_deep = too_deep or len(open_braces) > MAX_DEPTH
        elif text[at] != "}":
            if open_braces and (colon := _key(text, at, token.end())):
                open_braces[-1][1].append((at, colon))
        elif open_braces:
            start, keys = open_braces.pop()
            if keys:
                while closed and closed[-1].start > start:
                    closed.pop()
                closed.append(Stretch(start, at + 1, tuple(keys), closed=True))
    stretches = closed + [Stretch(start, len(text), tuple(keys), closed=False) for start, keys in open_braces if keys]
    if stretches and too_deep:
        return Reason.TOO_DEEP
    return max(stretches, key=lambda stretch: stretch.start, default=None)


def _key(text: str, start: int, end: int) -> int | None:
    """Return where the value of the key at this place begins, None if it is no key but a word in a string."""
    colon = _KEY_END.match(text, end)
    if colon is None:
        return None
    before = text[max(0, start - 50) : start]
    quoted = before.endswith(("'", '"', "`"))
    left = before[:-1] if quoted else before.rstrip(" \t\r")
    if quoted:
        return None if left.endswith("\\") or left[-1:].isalnum() else colon.end()
    return colon.end() if left.endswith(("{", ",", "\n", ";", "/")) else None


def unclosed(text: str) -> int | None:
    """Return the place of the first brace that begins a quoted key or nothing at all and is never closed."""
    open_braces: list[int] = []
    for brace in re.finditer("[{}]", text):
        if brace[0] == "{":
            open_braces.append(brace.start())
        elif open_braces:
            open_braces.pop()
    return next((at for at in open_braces if _CUT_START.match(text, at)), None)


def repair(text: str, stretch: Stretch) -> tuple[Outcome, Members]:
    """Return the verdict of a stretch, or the reason why there is none, and the members that could be read."""
    outcomes = set()
    for _, colon in stretch.keys:
        value = _VALUE.match(text, colon, stretch.end)
        if value is not None:
            outcomes.add(_judge_written(next((group for group in value.groups() if group is not None), "")))
        else:
            outcomes.add(Reason.UNKNOWN_VERDICT if stretch.closed else Reason.TRUNCATED)
    if len(outcomes) > 1:
        return Reason.TRUNCATED if Reason.TRUNCATED in outcomes else Reason.CONFLICT, ()
    written = outcomes.pop()
    members = _load(_handed(text, stretch))
    mended = judge(verdict_values(members)) if members else Reason.UNKNOWN_VERDICT
    if isinstance(written, Verdict) and mended is not written:
        return mended if isinstance(mended, Reason) else Reason.CONFLICT, ()
    return Reason.ECHO if mended is Reason.ECHO else written, members


def _handed(text: str, stretch: Stretch) -> str:
    """Return what the library is to mend: the stretch with its first `verdict` key put right, cut where it gets costly."""
    key, colon = stretch.keys[0]
    head = text[stretch.start : key].rstrip("\"'`") if key - stretch.start < MAX_REPAIR // 2 else "{"
    if _affordable(head) != head:
        head = "{"
    tail = text[colon : min(stretch.end, colon + MAX_REPAIR)]
    return _affordable(f'{head}"verdict":{tail}'[:MAX_REPAIR])


def _judge_written(value: str) -> Outcome:
    value = value.strip()
    return Reason.NO_VERDICT if value.lower() in ("none", "null", "undefined") else judge([value])


def _affordable(text: str) -> str:
    """Return as much of the text's beginning as the library can mend in a fraction of a second."""
    for count, mark in enumerate(_MARKS.finditer(text)):
        if count * mark.start() > MAX_REPAIR_COST:
            return text[: mark.start()]
    return text


def _load(text: str) -> Members:
    """Return the members of the object that the library makes of the text, none if it makes no object with a verdict."""
    import json_repair

    try:
        value: Any = json_repair.loads(text, skip_json_loads=True)
    except (ValueError, RecursionError):
        return ()
    candidates = value if isinstance(value, list) else [value]
    for candidate in reversed(candidates):
        if isinstance(candidate, dict) and verdict_values(candidate.items()):
            return tuple(candidate.items())
    return ()
