"""Drawing with text that stays text: shapes as data, written as SVG by the page's template, which escapes all of it.

Colours are classes, so that one drawing serves light, dark and print. No colour carries a meaning alone: runs differ
in their marker, outcomes in lightness, pattern and place.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from georefusal_task.report.tables import Table
from georefusal_task.report.texts import visible

WIDTH = 380.0
"""Units of every drawing's width: narrow enough for a phone without scrolling."""

MARKERS = 8
"""Runs that can be told apart by marker and colour."""

Anchor = Literal["start", "middle", "end"]


@dataclass(frozen=True)
class Shape:
    """One SVG element; attributes and text count as untrusted."""

    tag: str
    attributes: dict[str, str]
    text: str = ""


@dataclass
class Drawing:
    """A drawing under construction; y grows downwards."""

    height: float = 0.0
    shapes: list[Shape] = field(default_factory=list)

    @property
    def box(self) -> str:
        """The viewBox."""
        return f"0 0 {_number(WIDTH)} {_number(self.height)}"

    def add(self, tag: str, text: str = "", *, kind: str = "", **attributes: float | str) -> None:
        """Add an element; `kind` is its class, `_` in a name stands for `-`."""
        named = {key.replace("_", "-"): _number(value) for key, value in attributes.items()}
        self.shapes.append(Shape(tag, ({"class": kind} if kind else {}) | named, text))

    def line(self, x1: float, y1: float, x2: float, y2: float, kind: str) -> None:
        """Add a straight line."""
        self.add("line", kind=kind, x1=x1, y1=y1, x2=x2, y2=y2)

    def text(self, x: float, y: float, text: str, kind: str = "", anchor: Anchor = "start") -> None:
        """Add a line of text with its baseline at y."""
        self.add("text", text, kind=kind, x=x, y=y, text_anchor=anchor)

    def path(self, points: Sequence[tuple[float, float]], kind: str) -> None:
        """Add a line through the points."""
        steps = " ".join(f"{_number(x)},{_number(y)}" for x, y in points)
        self.add("polyline", kind=kind, points=steps)

    def marker(self, x: float, y: float, run: int, size: float = 5.0) -> None:
        """Add the marker of a run."""
        kind = f"marker {run_class(run)}"
        s = size
        corners = {
            1: [(-s, -s), (s, -s), (s, s), (-s, s)],
            2: [(0, -1.25 * s), (1.15 * s, 0.9 * s), (-1.15 * s, 0.9 * s)],
            3: [(0, -1.3 * s), (1.3 * s, 0), (0, 1.3 * s), (-1.3 * s, 0)],
            4: [(0, 1.25 * s), (1.15 * s, -0.9 * s), (-1.15 * s, -0.9 * s)],
            5: [(-1.2 * s, -0.6 * s), (1.2 * s, -0.6 * s), (1.2 * s, 0.6 * s), (-1.2 * s, 0.6 * s)],
            6: [(-0.6 * s, -1.2 * s), (0.6 * s, -1.2 * s), (0.6 * s, 1.2 * s), (-0.6 * s, 1.2 * s)],
            7: [(-s, -0.6 * s), (0, -1.2 * s), (s, -0.6 * s), (s, 0.6 * s), (0, 1.2 * s), (-s, 0.6 * s)],
        }.get(run % MARKERS)
        if corners is None:
            self.add("circle", kind=kind, cx=x, cy=y, r=s)
            return
        self.add("polygon", kind=kind, points=" ".join(f"{_number(x + a)},{_number(y + b)}" for a, b in corners))

    def interval(self, low: float, high: float, y: float, run: int) -> None:
        """Add a horizontal interval with ends, in the colour of a run."""
        kind = f"interval {run_class(run)}"
        self.line(low, y, high, y, kind)
        for x in (low, high):
            self.line(x, y - 4, x, y + 4, kind)

    def legend(self, names: Sequence[str], y: float) -> float:
        """Add one line per run, marker first; return the y below."""
        for run, name in enumerate(names):
            self.marker(8, y + 4, run)
            self.text(20, y + 8, short(name), "label")
            y += 18
        return y + 6


@dataclass(frozen=True)
class Figure:
    """A drawing with everything that belongs to it."""

    id: str
    title: str
    drawing: Drawing
    conclude: str
    """What a reader may conclude."""
    beware: str
    """What not."""
    data: Table
    is_open: bool = False
    """The data are shown without being asked for."""


def run_class(run: int) -> str:
    """Return the class that colours a run."""
    return f"run{run % MARKERS}"


def short(text: str, longest: int = 46) -> str:
    """Return untrusted text short enough for a line of a drawing."""
    return visible(text, longest)


@dataclass(frozen=True)
class Axis:
    """A linear scale from data to drawing."""

    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        """Return the coordinate; values beyond the scale stay at its ends."""
        share = (value - self.low) / (self.high - self.low)
        return self.start + min(1.0, max(0.0, share)) * (self.end - self.start)


def percent_axis(drawing: Drawing, top: float, bottom: float, *, left: float, right: float) -> Axis:
    """Add a scale of 0 to 100 % with grid lines between top and bottom; return it."""
    axis = Axis(0, 1, left, right)
    for step in range(0, 101, 25):
        x = axis(step / 100)
        drawing.line(x, top, x, bottom, "grid")
        drawing.text(x, bottom + 14, f"{step} %", "tick", "start" if step == 0 else "end" if step == 100 else "middle")
    return axis


def _number(value: float | str) -> str:
    return value if isinstance(value, str) else f"{value:.1f}".removesuffix(".0")
