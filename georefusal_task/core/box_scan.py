"""Finds the boxes in a reply in one pass over its tokens, whatever mixture of JSON, tags, tuples and prose it is.

No notation has a grammar of its own here. Numbers gather in the innermost bracket or tag that is open; where a run of
them ends, their count says what they are, and pairs wait for the pair that completes them. So a bracket that is missing
or the wrong one costs the box it belongs to and no other, and time is linear in the text.
"""

import re
from collections import Counter
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from georefusal_task.core.box_names import (
    BOX_NAME,
    KEYED,
    LIGHT_WORDS,
    NO_BOX_NAME,
    PAIRS,
    ROLES,
    SECOND_CORNER,
    STRONG,
    TAGS,
    TOKEN,
    UNITS,
    shape_of,
)
from georefusal_task.core.box_shapes import BoxFlag, Shape

_MAX_DEPTH = 500
"""Brackets that open deeper down are passed over: no notation of boxes needs them."""
_CLOSES: Final = {")": "(", "]": "[", "}": "{"}
Value: TypeAlias = tuple[float, bool]
"""A number, and whether it has a percent sign."""


@dataclass(slots=True)
class _Level:
    """What is open: a bracket, a tag, or the text itself, which has no mark."""

    mark: str = ""
    """ "[", "(" or "{", the tag's name, or nothing."""
    boxy: bool = False
    """Whether boxes are meant to stand here, so that numbers that make none are malformed."""
    of: str = ""
    """The name whose value this is, such as bbox_2d, lower case."""
    name: str = ""
    """The name that was given a value here and waits for it."""
    numbers: list[Value] = field(default_factory=list)
    """The run of numbers so far."""
    points: list[list[Value]] = field(default_factory=list)
    """Pairs that wait for others."""
    keyed: dict[str, Value] = field(default_factory=dict)
    strong: bool = False
    """Whether one of them has a name that says nothing but a coordinate."""
    role: str = ""
    """What the next number is by the word before it."""
    whole: bool = True
    """Whether nothing interrupted the numbers."""
    left: int = 0
    """How many numbers made no box."""
    gap: str = ""
    """What parts the next point from the last one: "line", "text", or nothing."""
    angle: float | None = None
    shape: Shape | None = None
    """The last box that was read here."""
    holds: bool = False
    """Whether a box was read anywhere inside."""


class Scan:
    """One pass over a text; `shapes` and `flags` are what it found."""

    def __init__(self, text: str, five: str) -> None:
        self.shapes: list[Shape] = []
        self.flags: Counter[BoxFlag] = Counter()
        self._five = five
        self._levels = [_Level()]
        self._open: Counter[str] = Counter()
        for token in TOKEN.finditer(text):
            self._take(token)
        self._finish()

    def _take(self, token: re.Match[str]) -> None:
        kind, level = token.lastgroup, self._levels[-1]
        if kind in ("number", "percent"):
            self._number(level, float(token["number"]), token["percent"] is not None)
        elif kind == "mark":
            mark = token["mark"]
            self._close(_CLOSES[mark]) if mark in _CLOSES else self._push(mark)
        elif kind == "tag":
            self._tag(token["tag"].lower(), closing=bool(token["end"] or token["end2"]))
        elif kind in ("word", "assigned"):
            self._word(level, token["word"].lower(), token["assigned"] is not None)
        elif kind == "dash":
            if len(level.numbers) != 2:
                self._end_run(level)
        elif kind == "bar":
            level.role = "angle" if level.mark == "{" and level.numbers else level.role
        elif kind == "break":
            self._break(level, token["break"])
        else:  # an empty list, or a character that has no place in a box
            level.gap, level.name = "text", ""
            self._end_run(level)

    def _break(self, level: _Level, mark: str) -> None:
        """Take a mark that ends what stands in prose, but not always what stands in brackets."""
        bracket = level.mark in ("[", "{", "(")
        if bracket and (mark in "\n." or (mark == ";" and len(level.numbers) < 4)):
            return  # JSON may be spread over lines, Python writes 10. for 10.0
        if mark == "\n":
            level.gap = level.gap or "line"
        elif mark not in ";:/":
            level.gap = "text"
        self._end_run(level)
        level.role = level.name = ""

    def _number(self, level: _Level, value: float, percent: bool) -> None:
        role, level.role = level.role, ""
        if role == "angle":
            self._turn(level, value)
        elif role:
            if role in level.keyed:
                self._end_keyed(level)
            level.keyed[role] = (value, percent)
        elif level.mark == "{" and level.name and not BOX_NAME.search(level.name):
            level.name = ""  # the value of some other key
        else:
            level.numbers.append((value, percent))

    def _turn(self, level: _Level, angle: float) -> None:
        if level.shape is not None:
            level.shape.angle = angle
        else:
            level.angle = angle

    def _word(self, level: _Level, word: str, assigned: bool) -> None:
        if word in UNITS or (word in ("to", "and") and len(level.numbers) in (2, 3)):
            return
        role = ROLES.get(word.replace("_", "").replace("-", ""), "")
        strong = role != "" and STRONG.fullmatch(word.replace("_", "").replace("-", "")) is not None
        self._end_run(level)
        if SECOND_CORNER.fullmatch(word):
            level.gap = "" if level.gap == "line" else level.gap
        elif word not in LIGHT_WORDS:
            level.gap = "text"
        level.role = role if assigned or strong else ""
        level.strong = level.strong or strong
        level.name = word if assigned and not role else ""

    def _push(self, mark: str) -> None:
        level = self._levels[-1]
        self._end_run(level)
        if len(self._levels) > _MAX_DEPTH:
            return
        if not level.mark:
            self._end_keyed(level)
        boxy = BOX_NAME.search(level.name) is not None if level.name else level.boxy
        child = _Level(mark, boxy=boxy, of=level.name or level.of)
        level.role = level.name = ""
        self._levels.append(child)
        self._open[mark] += 1

    def _tag(self, tag: str, closing: bool) -> None:
        level = self._levels[-1]
        self._end_run(level)
        if TAGS.match(tag) is None:  # <x1>10</x1> names a coordinate
            level.gap = "text"
            if tag in ROLES and not closing:
                level.role, level.strong = ROLES[tag], level.strong or STRONG.fullmatch(tag) is not None
            return
        if not level.mark:
            self._end_keyed(level)
        name = tag.removesuffix("_start").removesuffix("_end")
        if closing or tag.endswith("_end"):
            self._close(name)
            return
        if self._open[name]:  # its end is missing
            self._close(name)
            self.flags[BoxFlag.MALFORMED] += 1
        self._levels.append(_Level(name, boxy=True, of=name))
        self._open[name] += 1

    def _close(self, mark: str) -> None:
        """Close the innermost such bracket or tag, and with it what is open inside it by mistake."""
        if not self._open[mark]:
            self._end_run(self._levels[-1])
            return
        mistaken = False
        while True:
            level = self._levels.pop()
            self._open[level.mark] -= 1
            self._settle(level)
            if level.mark == mark:
                break
            mistaken = mistaken or level.boxy or level.holds
        self.flags[BoxFlag.MALFORMED] += mistaken

    def _settle(self, level: _Level) -> None:
        """Make what stands in a level that is complete into boxes, or a point of the level around it."""
        if not (level.numbers or level.keyed or level.points or level.left or level.holds):
            return
        outer = self._levels[-1]
        point = level.whole and level.mark in ("(", "[")
        if level.mark == "{" and level.keyed.keys() == {"x", "y"} and not level.holds:
            level.numbers, level.keyed, point = [level.keyed["x"], level.keyed["y"]], {}, True
        self._end_keyed(level)
        if len(level.numbers) == 2 and point:
            numbers, level.numbers = level.numbers, []
            self._point(outer, level, numbers)
        self._end_run(level)
        self._end_points(level)
        if level.left > (1 if level.boxy else {"[": 2, "{": 2}.get(level.mark, 4)):
            self.flags[BoxFlag.MALFORMED] += 1
        outer.holds = outer.holds or level.holds
        if level.shape is not None and (outer.mark == "{" or level.mark != "{"):
            outer.shape = level.shape
            if outer.angle is not None:
                level.shape.angle, outer.angle = outer.angle, None

    def _point(self, outer: _Level, level: _Level, numbers: list[Value]) -> None:
        if outer.gap and outer.points:
            self._end_points(outer)
        outer.gap = ""
        if level.of in PAIRS and outer.mark == "{":
            outer.keyed |= zip(PAIRS[level.of], numbers, strict=True)
            return
        if NO_BOX_NAME.match(level.of):
            if level.of.startswith("point"):
                self.flags[BoxFlag.MALFORMED] += 1
            return
        outer.boxy = outer.boxy or (level.boxy and outer.mark != "")
        outer.points.append(numbers)
        if outer.mark not in ("[", "(", "{", "quad", "poly", "polygon") and len(outer.points) == 2:
            self._end_points(outer)

    def _end_points(self, level: _Level) -> None:
        points, level.points = level.points, []
        if len(points) == 1:
            self.flags[BoxFlag.MALFORMED] += level.boxy
        elif points:
            values = [value for point in points for value in point]
            self._add(level, Shape("corners" if len(points) == 2 else "polygon", _numbers(values)), values)

    def _end_run(self, level: _Level) -> None:
        """Make the run of numbers that ends here into a box, if it is one."""
        if not level.numbers:
            return
        run, level.numbers, level.whole = level.numbers, [], False
        name, level.name = level.name or level.of, ""
        if NO_BOX_NAME.match(name):
            return
        shape = shape_of(_numbers(run), name, self._five)
        if shape is not None:
            self._end_keyed(level)
            self._add(level, shape, run)
        elif level.mark:
            level.left += len(run)
        else:
            self.flags[BoxFlag.MALFORMED] += len(run) > (1 if BOX_NAME.search(name) else 4)

    def _end_keyed(self, level: _Level) -> None:
        """Make the coordinates that were given by name into a box."""
        keyed, level.keyed = level.keyed, {}
        strong, level.strong = level.strong, False
        for roles, kind in KEYED:
            if all(role in keyed for role in roles):
                values = [keyed[role] for role in roles]
                self._add(level, Shape(kind, _numbers(values)), values)
                return
        if keyed and (strong or level.boxy):
            self.flags[BoxFlag.MALFORMED] += 1

    def _add(self, level: _Level, shape: Shape, values: list[Value]) -> None:
        signs = {percent for _, percent in values[: len(shape.numbers)]}
        if len(signs) > 1:
            self.flags[BoxFlag.MALFORMED] += 1
            return
        shape.percent = True in signs
        if level.angle is not None:
            shape.angle, level.angle = level.angle, None
        level.shape, level.holds = shape, True
        self.shapes.append(shape)

    def _finish(self) -> None:
        """End the text: a box that its end cuts off is none, since its last number may be cut off as well."""
        cut = False
        while len(self._levels) > 1:
            level = self._levels.pop()
            cut = cut or level.boxy or level.holds or BOX_NAME.search(level.name) is not None
            cut = cut or len(level.numbers) > 1 or bool(level.keyed or level.points)
        self.flags[BoxFlag.TRUNCATED] += cut
        level = self._levels[0]
        self._end_keyed(level)
        self._end_run(level)
        self._end_points(level)


def _numbers(values: list[Value]) -> tuple[float, ...]:
    return tuple(number for number, _ in values)
