"""Finds every balanced JSON object in a text, and the object that the end of the text cuts off, in linear time.

Trying `json` at every brace takes quadratic time on hostile text, so `scan` walks the grammar itself, one regular
expression per stretch between two brackets. Two facts keep it linear. When a walk fails, every bracket that it left
open fails too, since a walk from there would meet the same character; so no bracket is walked from twice. And a brace
that a walk passed over inside a string can only start a walk that takes strings for gaps and gaps for strings, so no
character is read by more than two walks.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate
from typing import Any, TypeAlias

Members: TypeAlias = tuple[tuple[str, Any], ...]
"""A decoded object: its (key, value) pairs, so that repeated keys are kept. Lists stay lists."""

MAX_DEPTH = 500
"""What nests deeper is not read. Half of Python's recursion limit, so that `json` can read all the rest."""

_STEPS = bytes.maketrans(b"{[}]", b"\x01\x01\xff\xff")  # one up, one down as signed bytes
_NO_BRACKETS = bytes(set(range(256)) - set(b"{[}]"))
_WS = r"[ \t\n\r]*+"
_ESCAPE = r'\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})'
_HALF_ESCAPE = r"(?:\\(?:u[0-9a-fA-F]{0,3})?)?"
_PLAIN = r"(?:-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?+(?:[eE][-+]?[0-9]++)?+|-?Infinity|NaN|true|false|null)"


class Grammar:
    """JSON as Python reads it; `strict=False` allows raw control characters inside strings."""

    def __init__(self, strict: bool) -> None:
        self.strict = strict
        self.decode_at = json.JSONDecoder(object_pairs_hook=tuple, parse_int=_integer, strict=strict).raw_decode

    @cached_property
    def patterns(self) -> "_Patterns":
        """The regular expressions that walk this grammar; compiled when first needed, which takes 50 ms."""
        chars = r'[^"\\\x00-\x1f]*+' if self.strict else r'[^"\\]*+'
        unclosed = rf'"{chars}(?:{_ESCAPE}{chars})*+'
        string = unclosed + '"'
        key = rf"{string}{_WS}:{_WS}"
        atom = rf"(?:{string}|{_PLAIN})"
        flat_list = rf"\[{_WS}(?:(?:{atom}{_WS},{_WS})*+{atom}{_WS})?\]"
        flat_object = rf"\{{{_WS}(?:(?:{key}{atom}{_WS},{_WS})*+{key}{atom}{_WS})?\}}"
        value = rf"(?:{atom}|{flat_list}|{flat_object})"
        members, elements = rf"(?:{key}{value}{_WS},{_WS})*+", rf"(?:{value}{_WS},{_WS})*+"
        more_members = rf"{members}{key}(?:{value}{_WS}\}}|[{{\[])"
        more_elements = rf"{elements}(?:{value}{_WS}\]|[{{\[])"

        last = rf"(?:(?P<open>{unclosed}){_HALF_ESCAPE}|(?P<done>{string}|{flat_list}|{flat_object}){_WS}|[-+.\w]*+)\Z"
        last_member = rf"(?:(?P<key>{string}){_WS}(?:\Z|:{_WS}{last})|(?:{unclosed}{_HALF_ESCAPE})?\Z)"
        cut_object = rf"{_WS}(?P<whole>{members}){last_member}"
        return _Patterns(
            advance={
                ("{", True): re.compile(rf"{_WS}(?:\}}|{more_members})"),
                ("{", False): re.compile(rf"{_WS}(?:\}}|,{_WS}{more_members})"),
                ("[", True): re.compile(rf"{_WS}(?:\]|{more_elements})"),
                ("[", False): re.compile(rf"{_WS}(?:\]|,{_WS}{more_elements})"),
            },
            cut_off={
                ("{", True): re.compile(cut_object),
                ("{", False): re.compile(rf"{_WS}(?:(?P<whole>,{_WS}{members}){last_member}|\Z)"),
                ("[", True): re.compile(rf"{_WS}(?P<whole>{elements}){last}"),
                ("[", False): re.compile(rf"{_WS}(?:(?P<whole>,{_WS}{elements}){last}|\Z)"),
            },
            start=re.compile(rf"\{{(?:{_WS}{more_members}|(?={re.sub(r'P<[a-z]+>', ':', cut_object)}))"),
        )


@dataclass(frozen=True, slots=True)
class _Patterns:
    advance: dict[tuple[str, bool], re.Pattern[str]]
    """From behind an open bracket (True) or a value in it (False) to the next bracket that is no flat value's."""
    cut_off: dict[tuple[str, bool], re.Pattern[str]]
    """From there to the end of a text that stops before such a bracket."""
    start: re.Pattern[str]
    """A brace from which one of the above gets on."""


def _integer(digits: str) -> int | float:
    return int(digits) if len(digits) < 4_000 else float(digits)  # int() raises on more digits


STRICT = Grammar(strict=True)
LOOSE = Grammar(strict=False)


@dataclass(frozen=True, slots=True)
class CutOff:
    """An object that is sound as far as it goes and then meets the end of the text."""

    start: int
    value: Members
    """What there is of it, decoded: an unfinished string closed, any other unfinished value null."""
    open_objects: list[Members]
    """The objects in it that are cut off themselves, outermost first; of all but the last, the last value is too."""
    last_value_done: bool
    """Whether the last value of the last of these objects is complete."""


@dataclass(slots=True)
class Scan:
    """What JSON there is in a text."""

    spans: list[tuple[int, int]] = field(default_factory=list)
    """Start and end of every balanced object that stands in no larger one, in order."""
    cut: CutOff | None = None
    deep: bool = False
    """Whether the reading stopped at something that nests deeper than MAX_DEPTH."""


def scan(text: str, grammar: Grammar = STRICT) -> Scan:
    """Return every outermost balanced object and the one cut off by the end of the text; linear time."""
    found = Scan()
    seen = bytearray(len(text))
    ends: dict[int, int] = {}
    at = 0
    while first := grammar.patterns.start.search(text, at):
        start, at = first.span()
        if text[at - 1] == "}":  # a flat object
            found.spans.append((start, at))
            continue
        if not seen[start]:
            open_brackets, reached = _walk(text, start, grammar, seen, ends)
            if len(open_brackets) > MAX_DEPTH:
                found.deep = True
                break
            if open_brackets and (cut := _cut_off(text, open_brackets, reached, grammar)):
                found.cut = cut
                break
        end = ends.pop(start, 0)
        if end:
            found.spans.append((start, end))
        at = end or start + 1
    return found


def _walk(text: str, start: int, grammar: Grammar, seen: bytearray, ends: dict[int, int]) -> tuple[list[int], int]:
    """Follow the grammar from one brace on; return the brackets left open (none: it is balanced) and the place reached.

    Marks the brackets met in `seen` and enters the ends of balanced ones in `ends`.
    """
    advance = grammar.patterns.advance
    brackets, at, just_open = [start], start + 1, True
    seen[start] = 1
    while brackets and len(brackets) <= MAX_DEPTH:
        step = advance[text[brackets[-1]], just_open].match(text, at)
        if step is None:
            break
        at = step.end()
        just_open = False
        if text[at - 1] in "}]":
            ends[brackets.pop()] = at
        elif not seen[at - 1]:
            seen[at - 1] = 1
            brackets.append(at - 1)
            just_open = True
        elif at - 1 in ends:
            at = ends[at - 1]
        else:
            break
    return brackets, at


def _cut_off(text: str, brackets: list[int], at: int, grammar: Grammar) -> CutOff | None:
    """Return the cut-off object that a failed walk ran into, None when the walk failed before the end of the text."""
    tail = grammar.patterns.cut_off[text[brackets[-1]], at == brackets[-1] + 1].match(text, at)
    if tail is None:
        return None
    parts = tail.groupdict()
    begin = text[brackets[0] : max(at, tail.end("whole"))].rstrip(", \t\n\r")
    if parts["open"] is not None:
        begin = text[brackets[0] : tail.end("open")] + '"'
    elif parts["done"] is not None:
        begin = text[brackets[0] : tail.end("done")]
    elif parts.get("key") is not None:
        begin = text[brackets[0] : tail.end("key")] + ": null"
    closers = "".join("}" if text[i] == "{" else "]" for i in reversed(brackets))
    item = value = grammar.decode_at(begin + closers, 0)[0]
    open_objects = []
    for i, bracket in enumerate(brackets):
        if text[bracket] == "{":
            open_objects.append(item)
        if i + 1 < len(brackets):
            item = item[-1][1] if text[bracket] == "{" else item[-1]
    whole = parts["open"] is None and (parts["done"] is not None or parts.get("key") is None)
    return CutOff(brackets[0], value, open_objects, whole and text[brackets[-1]] == "{")


def objects(value: Any, name: str = "verdict") -> Iterator[Members]:
    """Yield the objects in a decoded value that have a key of that name, in any case; the last one to close first."""
    stack = [value]
    while stack:
        item = stack.pop()
        if isinstance(item, tuple):
            if any(key == name or key.lower() == name for key, _ in item):
                yield item
            stack.extend(v for _, v in item if isinstance(v, (tuple, list)))
        elif isinstance(item, list):
            stack.extend(v for v in item if isinstance(v, (tuple, list)))


def too_deep(text: str) -> bool:
    """Tell whether more than MAX_DEPTH brackets are open at some place, in JSON or not; quotes are disregarded."""
    steps = text.encode("ascii", errors="replace").translate(_STEPS, delete=_NO_BRACKETS)
    return max(accumulate(memoryview(steps).cast("b")), default=0) > MAX_DEPTH
