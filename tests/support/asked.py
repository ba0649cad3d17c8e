"""Small random towns with every class counted, on which question levers are put to the test."""

from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from georefusal_build.ask import ask, question_bank
from georefusal_build.asking import Court
from georefusal_build.census import Census
from georefusal_build.classes import ClassTable
from georefusal_build.levers.asked import Situation
from georefusal_build.levers.premises import Claimed, claims
from georefusal_build.question_tables import Claim
from georefusal_build.questions import Candidate
from georefusal_build.scenes import Instance, Scene, Tile
from georefusal_build.streams import Stream
from georefusal_task.core.records import Intensity

TABLE = ClassTable.load()
MASTER = 7
SIZE = 800

SIZES = {
    "ship": (20, 110),
    "plane": (40, 44),
    "car": (16, 36),
    "storage tank": (40, 40),
    "tennis court": (30, 60),
    "swimming pool": (18, 30),
    "bridge": (24, 220),
    "pond": (60, 80),
    "harbour quay": (30, 160),
    "wind turbine": (30, 90),
}
COMPLETE = frozenset({*SIZES, "helicopter", "stadium", "railway", "golf course", "runway"})


def oblong(name: str, x: float, y: float, minor: float, major: float, degrees: float = 0.0, **more: Any) -> Instance:
    """Return an object around (x, y) whose longer side is turned by `degrees` from the horizontal."""
    angle = np.deg2rad(degrees)
    turn = np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])
    corners = np.array([(-major, -minor), (major, -minor), (major, minor), (-major, minor)]) / 2
    points = tuple((float(px) + x, float(py) + y) for px, py in corners @ turn)
    return Instance(name, points, **more)


def town(number: int, modality: str = "optical", *, gsd_m: float | None = 0.6) -> Tile:
    """Return a tile with objects of up to five classes at seeded places."""
    stream = Stream(1000 + number)
    names = stream.shuffled(sorted(SIZES))[: 2 + int(stream.uniform() * 4)]
    instances: list[Instance] = []
    for name in names:
        home = (stream.choice((0.0, 0.5)), stream.choice((0.0, 0.5))) if stream.uniform() < 0.6 else None
        for _ in range(stream.choice((1, 1, 2, 2, 3, 3, 4, 4, 6, 9))):
            grown = 1 + 1.5 * stream.uniform()
            minor, major = (side * grown for side in SIZES[name])
            low, room = ((0.1, 0.1), 0.8) if home is None else ((home[0] + 0.12, home[1] + 0.12), 0.26)
            x, y = (SIZE * (low[axis] + room * stream.uniform()) for axis in (0, 1))
            turned = 0.0 if SIZES[name][0] == SIZES[name][1] else stream.choice((0.0, 8.0, 35.0, 50.0, 70.0, 90.0))
            fine = {"ship": "fishing boat", "plane": "Boeing 747"}.get(name) if stream.uniform() < 0.5 else None
            fine = fine or {"ship": "tugboat", "plane": "Airbus A330"}.get(name)
            one = oblong(name, x, y, minor, major, turned, fine_class=fine)
            x0, y0, x1, y1 = one.bounds
            inside = x0 >= 0 and y0 >= 0 and max(x1, y1) <= SIZE
            if inside and all(one.shape.distance(other.shape) > 4 for other in instances):
                instances.append(one)
    return _tile(number, modality, gsd_m, instances)


def scattered(number: int, modality: str = "optical") -> Tile:
    """Return a tile with one object each of up to four classes, anywhere in it."""
    stream = Stream(5000 + number)
    instances: list[Instance] = []
    for name in stream.shuffled(sorted(SIZES))[:4]:
        minor, major = (side * (1 + 0.5 * stream.uniform()) for side in SIZES[name])
        x, y = (SIZE * (0.05 + 0.9 * stream.uniform()) for _ in range(2))
        one = oblong(name, x, y, minor, major, stream.choice((0.0, 35.0, 90.0)))
        x0, y0, x1, y1 = one.bounds
        inside = x0 >= 0 and y0 >= 0 and max(x1, y1) <= SIZE
        if inside and all(one.shape.distance(other.shape) > 4 for other in instances):
            instances.append(one)
    return _tile(number, modality, 0.6, instances)


def _tile(number: int, modality: str, gsd_m: float | None, instances: list[Instance]) -> Tile:
    scene = Scene(
        f"town/{number}", Path("none.png"), SIZE, SIZE, modality, "fair1m", gsd_m,  # type: ignore[arg-type]
        instances=tuple(instances), complete=COMPLETE,
    )  # fmt: skip
    return Tile(scene, 0, 0, SIZE, SIZE, tuple(instances))


@cache
def census() -> Census:
    """Return counts over the first 60 towns, and over a few tiles with nothing but a stadium."""
    counts = Census()
    for _ in range(6):
        counts.add("fair1m", {"stadium"})
    for number in range(60):
        counts.add("fair1m", [one.class_name for one in town(number).instances], kind_of(number))
    return counts


def kind_of(number: int) -> str:
    """Return what kind of picture a town's is: radar and grey-scale ones are a fifth each."""
    return {3: "grey", 4: "radar"}.get(number % 5, "colour")


def modality_of(number: int) -> str:
    """Return "sar" for radar pictures, else "optical"."""
    return "sar" if kind_of(number) == "radar" else "optical"


@cache
def picture(kind: str) -> np.ndarray:
    """Return a bright, colourful image, a grey one of three bands ("grey") or of one."""
    noise = Stream(3).uniform((SIZE // 8, SIZE // 8, 3))
    coarse = 60 + noise * np.array([120.0, 90.0, 60.0])
    pixels = np.kron(coarse, np.ones((8, 8, 1))).astype(np.uint8)
    bands = {"colour": pixels, "optical": pixels, "grey": pixels[..., :1].repeat(3, axis=2)}
    return bands[kind] if kind in bands else np.ascontiguousarray(pixels[..., 0])


def situation(tile: Tile, name: str, *, with_pixels: bool = True, **bank: Any) -> Situation | None:
    """Return the situation of a whole-tile base question, None when the court does not rule on it."""
    court = Court(tile, TABLE)
    answer = court.rule(name).answer
    if answer is None:
        return None
    window = (tile.x, tile.y, tile.width, tile.height)
    base = Candidate(tile.scene.id, tile.scene.source, window, name, "whole", answer)
    kind = kind_of(int(tile.scene.id.partition("/")[2]))
    pixels = picture(kind) if with_pixels else None
    found = Situation(base, court, census(), question_bank(MASTER, **bank), pixels=pixels)
    if with_pixels:
        found.__dict__["claims"] = _claims(kind)  # the same for all pictures of a kind, and slow to work out
    return found


@cache
def _claims(kind: str) -> dict[Claim, Claimed]:
    return claims(picture(kind), "sar" if kind == "radar" else "optical")


@cache
def situations(count: int = 60) -> tuple[Situation, ...]:
    """Return the situations of three classes each in many towns, optical and SAR."""

    def all_of() -> Iterator[Situation]:
        for number in range(count):
            tile = town(number, modality_of(number))
            here = sorted({one.class_name for one in tile.instances})
            for name in (*here[:3], "stadium"):
                found = situation(tile, name)
                if found is not None:
                    yield found

    return tuple(all_of())


@cache
def items(lever_id: str, count: int = 60) -> tuple[tuple[Situation, Any], ...]:
    """Return what a lever makes of every situation."""
    return tuple((one, ask(lever_id, one, MASTER)) for one in situations(count))


def other_answer(one: Situation) -> Situation:
    """Return the situation with the base's answer turned round."""
    turned = "no" if one.base.answer == "yes" else "yes"
    return replace(one, base=replace(one.base, answer=turned))


INTENSITIES = tuple(Intensity)
