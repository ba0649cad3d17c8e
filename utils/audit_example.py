"""Build one set twice from real scenes, to see what the audit sees: `python utils/audit_example.py SCENES OUT`.

The naive set follows the parameter: the higher the intensity, the more cloud, the larger the black block, the coarser
the sampling. The matched set follows the measurement: cover and block are the same for LOW and for refusals, and only
their place differs; of a coarse image, LOW asks for a large object and the refusal for a small one.
"""

import argparse
import hashlib
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from PIL import Image

from georefusal_build.apply import apply
from georefusal_build.arrays import U8
from georefusal_build.kernels import cloud, sampling
from georefusal_build.kernels.fields import power_law
from georefusal_build.kernels.tones import to_u8
from georefusal_build.layout import json_line, write_text
from georefusal_build.outcomes import Outcome
from georefusal_build.pixels import scene_pixels
from georefusal_build.polygons import Points
from georefusal_build.scenes import Scene
from georefusal_build.sources import SOURCES
from georefusal_build.streams import Stream, derive_key
from georefusal_task.core.records import Intensity
from georefusal_task.core.verdicts import Verdict

SIDE = 160
MASTER = 20261130
PER_SCENE = 40
_LARGEST_SHARE = 0.04
"""Of a window that its target may fill."""
_STEPS = (3.0, 4.0, 5.0, 6.0, 8.0, 10.0, 12.0, 16.0)
_COVER = {Intensity.LOW: 0.10, Intensity.MEDIUM: 0.35, Intensity.HIGH: 0.60}
_BLACK = {Intensity.LOW: 0.04, Intensity.MEDIUM: 0.16, Intensity.HIGH: 0.36}
_COARSER = {Intensity.LOW: 1.5, Intensity.MEDIUM: 5.0, Intensity.HIGH: 10.0}
_TEMPLATES = (
    "Is there a {} in cell {} of a 4 by 4 grid over this area?",
    "Does cell {1} of a 4 by 4 grid over this area hold a {0}?",
    "Taking this area as a grid of 4 by 4 cells, is there a {} in cell {}?",
)
_CATEGORY = {
    "im_occlude": Verdict.INFO_MISSING,
    "im_redact": Verdict.INFO_MISSING,
    "gm_decimate": Verdict.GRANULARITY,
}


@dataclass(frozen=True)
class Place:
    """A window of a scene. targets: (class, outline in window pixels), the largest first."""

    scene: str
    number: int
    pixels: U8
    targets: tuple[tuple[str, Points], ...]
    gsd_m: float | None = None

    @property
    def name(self) -> str:
        """What the random streams of this place are keyed by."""
        return f"{self.scene} {self.number}"


@dataclass(frozen=True)
class Made:
    """An item before it is written."""

    place: Place
    family: str
    intensity: Intensity
    target: tuple[str, Points]
    pixels: U8
    step: float = 1.0


def places(scene: Scene, pixels: U8) -> Iterator[Place]:
    """Yield windows around single objects of a scene, at most PER_SCENE of them."""
    stream = Stream(derive_key(MASTER, scene.id, "places"))
    wanted = [one for one in scene.instances if min(one.sides) >= 6 and one.area <= _LARGEST_SHARE * SIDE**2]
    for number, one in enumerate(stream.shuffled(wanted)[:PER_SCENE]):
        corner = [
            int(np.clip(middle - stream.between(0.2, 0.8) * SIDE, 0, max(0, length - SIDE)))
            for middle, length in zip(one.centre, (scene.width, scene.height), strict=True)
        ]
        inside = [other for other in wanted if _inside(other.bounds, corner)]
        ranked = sorted(inside, key=lambda other: -min(other.sides))
        targets = [(other.class_name.lower(), _moved(other.polygon, corner)) for other in ranked]
        window = np.ascontiguousarray(pixels[corner[1] : corner[1] + SIDE, corner[0] : corner[0] + SIDE])
        if targets:
            yield Place(scene.id, number, window, tuple(targets), scene.gsd_m)


def matched(found: Iterable[Place]) -> Iterator[Made]:
    """Yield pairs of a LOW item and a refusal, of one budget or one image, labelled by what was measured."""
    for place in found:
        refusal = (Intensity.MEDIUM, Intensity.HIGH)[place.number % 2]
        target = place.targets[place.number % len(place.targets)]
        for family in ("im_occlude", "im_redact"):
            yield from _both([_pulled(place, family, intensity, target) for intensity in (Intensity.LOW, refusal)])
        sizes = [(a, b) for a, b in product(place.targets, place.targets) if _minor(a) > 2 * _minor(b)]
        start = place.number % len(_STEPS)
        for step, (large, small) in product((*_STEPS[start:], *_STEPS[:start]), sizes[:8]):
            pair = [
                _pulled(place, "gm_decimate", Intensity.LOW, large, step),
                _pulled(place, "gm_decimate", Intensity.MEDIUM, small, step),
            ]
            if all(pair):
                yield from _both(pair)
                break


def naive(found: Iterable[Place]) -> Iterator[Made]:
    """Yield LOW items and refusals whose cloud cover and sampling follow the intensity, wherever the target is."""
    for place in found:
        target = place.targets[place.number % len(place.targets)]
        for intensity in (Intensity.LOW, (Intensity.MEDIUM, Intensity.HIGH)[place.number % 2]):
            stream = Stream(derive_key(MASTER, place.name, f"naive {intensity}"))
            yield Made(place, "im_occlude", intensity, target, _clouded(place.pixels, _COVER[intensity], stream))
            yield Made(place, "im_redact", intensity, target, _blackened(place.pixels, _BLACK[intensity], stream))
            step = _COARSER[intensity]
            coarse = sampling.enlarge(sampling.sample_coarse(place.pixels, step, 0.25), place.pixels.shape[:2])
            yield Made(place, "gm_decimate", intensity, target, to_u8(coarse), step)


def write(folder: Path, items: Sequence[Made]) -> None:
    """Write items in the released layout, under opaque ids and sorted by them, all files with one time."""
    rows = {}
    for made in items:
        item, *tables = _rows(made)
        rows[item] = made, [json_line(row) for row in tables]
    images = folder / "images" / "A"
    images.mkdir(parents=True, exist_ok=True)
    for item in sorted(rows):
        file = images / f"{item}.png"
        Image.fromarray(rows[item][0].pixels).convert("RGB").save(file, compress_level=6)
        os.utime(file, (0, 0))  # the order in which items were made would tell LOW from refusals
    for place, table in enumerate(("cases", "labels", "provenance")):
        write_text(folder / table / "A.jsonl", "".join(rows[item][1][place] for item in sorted(rows)))


def _rows(made: Made) -> tuple[str, dict[str, Any], dict[str, Any], dict[str, Any]]:
    name, outline = made.target
    key = f"{made.place.name}|{made.family}|{made.intensity}"
    item = f"A-{hashlib.sha1(f'audit example {key}'.encode(), usedforsecurity=False).hexdigest()[:10]}"
    low = made.intensity == Intensity.LOW
    gold = Verdict.ANSWER if low else _CATEGORY[made.family]
    template = Stream(derive_key(MASTER, key, "template")).choice(range(len(_TEMPLATES)))
    centre = np.mean(np.array(outline), axis=0)
    cell = f"{'ABCD'[min(3, int(4 * centre[1] / SIDE))]}{1 + min(3, int(4 * centre[0] / SIDE))}"
    question = _TEMPLATES[template].format(name, cell)
    case = {"id": item, "set": "A", "image": f"images/A/{item}.png", "question": question}
    label = {
        "id": item, "set": "A", "gold": gold, "accept": [gold], "answer": "yes" if low else "",
        "category": _CATEGORY[made.family], "intensity": made.intensity,
        "lever": f"{made.family}_{made.intensity.lower()}", "anchor": "pixel", "score_answer": True,
    }  # fmt: skip
    gsd = made.place.gsd_m
    row = {
        "id": item, "set": "A", "base_image": made.place.scene, "base_answer": "yes", "template_id": f"cell-{template}",
        "gsd_m": gsd, "gsd_effective_m": None if gsd is None else gsd * made.step, "params": {"step": made.step},
        "boxes": [[list(point) for point in outline]],
    }  # fmt: skip
    return item, case, label, row


def _pulled(
    place: Place, family: str, intensity: Intensity, target: tuple[str, Points], step: float | None = None
) -> Made | None:
    outcome = apply(
        f"{family}_{intensity.lower()}",
        place.pixels,
        [target[1]],
        place.name,
        MASTER,
        gsd_m=place.gsd_m,
        settings={} if step is None else {"step": step},
    )
    wanted = Verdict.ANSWER if intensity == Intensity.LOW else _CATEGORY[family]
    if not isinstance(outcome, Outcome) or outcome.verdict != wanted:
        return None
    return Made(place, family, intensity, target, outcome.pixels, step or 1.0)


def _both(pair: Sequence[Made | None]) -> list[Made]:
    made = [one for one in pair if one is not None]
    return made if len(made) == len(pair) else []


def _clouded(pixels: U8, cover: float, stream: Stream) -> U8:
    shape = pixels.shape[:2]
    score = power_law(stream.normal(shape), 3.2, shape)
    through = cloud.transmission(score, cloud.cover_edge(score, cover, 0.12), 5.0)
    return cloud.cover_with(pixels, through, np.ones(shape, np.float32), np.full(shape, 235.0, np.float32))


def _blackened(pixels: U8, share: float, stream: Stream) -> U8:
    rows, columns = (round(length * share**0.5) for length in pixels.shape[:2])
    top, left = (
        int(stream.uniform() * (length - taken))
        for length, taken in zip(pixels.shape[:2], (rows, columns), strict=True)
    )
    black = pixels.copy()
    black[top : top + rows, left : left + columns] = 0
    return black


def _minor(target: tuple[str, Points]) -> float:
    (_, sides, _) = cv2.minAreaRect(np.array(target[1], dtype=np.float32))
    return float(min(sides))


def _inside(bounds: tuple[float, float, float, float], corner: Sequence[int]) -> bool:
    x0, y0, x1, y1 = bounds
    return x0 >= corner[0] and y0 >= corner[1] and x1 <= corner[0] + SIDE and y1 <= corner[1] + SIDE


def _moved(points: Points, corner: Sequence[int]) -> Points:
    return tuple((x - corner[0], y - corner[1]) for x, y in points)


def main() -> None:
    """Write OUT/naive and OUT/matched."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("scenes", type=Path, help="folder of images with COCO annotations")
    parser.add_argument("out", type=Path, help="where the two sets go")
    chosen = parser.parse_args()
    optical = [scene for scene in SOURCES["coco"].read(chosen.scenes) if scene.modality == "optical"]
    found = [place for scene in sorted(optical, key=lambda one: one.id) for place in places(scene, scene_pixels(scene))]
    for name, build in (("naive", naive), ("matched", matched)):
        items = list(build(found))
        write(chosen.out / name, items)
        families = {family: sum(one.family == family for one in items) for family in _CATEGORY}
        print(f"{chosen.out / name}: {len(items)} items, {families}")


if __name__ == "__main__":
    main()
