"""Made-up questions about boxes with made-up replies, and the scores of the facts written down once more."""

import json
import math
import random
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

from PIL import Image
from shapely.geometry import Polygon
from shapely.geometry import box as rectangle
from shapely.ops import unary_union

from georefusal_task.benchmarks.grounding import Gold, GroundingReply, Question

Polygons = Sequence[tuple[tuple[float, float], ...]]
Case = tuple[Question, Gold, GroundingReply]
KINDS = ("existence", "counting", "more", "fewer", "equal")


def box(x1: float, y1: float, x2: float, y2: float) -> tuple[tuple[float, float], ...]:
    return ((x1, y1), (x2, y1), (x2, y2), (x1, y2))


def make_set(folder: Path, n: int = 20, seed: int = 0) -> Path:
    """Write a set of n questions in our layout, each type once for each image, none square; return its folder."""
    chance = random.Random(seed)
    (folder / "images").mkdir(parents=True)
    lines = []
    for number in range(n):
        scene, kind = divmod(number, len(KINDS))
        if kind == 0:
            size = chance.choice([(160, 96), (96, 128), (130, 70)])
            Image.effect_noise(size, 90).convert("RGB").save(folder / "images" / f"s{scene}.png")
            objects = {name: [_object(chance, size) for _ in range(chance.randrange(4))] for name in ("ship", "car")}
        lines.append(_line(f"q-{number:04x}", KINDS[kind], f"s{scene}", size, objects))
    (folder / "questions.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return folder


def _object(chance: random.Random, size: tuple[int, int]) -> list[int]:
    x, y = (chance.randrange(side - 20) for side in size)
    return [x, y, x + chance.randrange(8, 20), y + chance.randrange(8, 20)]


def _line(
    item: str, kind: str, scene: str, size: tuple[int, int], objects: dict[str, list[list[int]]]
) -> dict[str, Any]:
    classes = ["ship", "car"] if kind in ("more", "fewer", "equal") else ["ship"]
    a, b = len(objects["ship"]), len(objects["car"])
    truth = {"existence": a > 0, "more": a > b, "fewer": a < b, "equal": a == b}
    asked = {
        "existence": "Is there a ship?",
        "counting": "How many ships are there?",
        "more": "Are there more ships than cars?",
        "fewer": "Are there fewer ships than cars?",
        "equal": "Are there as many ships as cars?",
    }
    return {
        "id": item,
        "type": kind,
        "classes": classes,
        "question": asked[kind],
        "answer": str(a) if kind == "counting" else ("yes" if truth[kind] else "no"),
        "image": f"images/{scene}.png",
        "width": size[0],
        "height": size[1],
        "image_id": scene,
        "instances": {name: objects[name] for name in classes},
    }


def turned(cx: float, cy: float, w: float, h: float, degrees: float) -> tuple[tuple[float, float], ...]:
    c, s = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
    corners = ((-w / 2, -h / 2), (w / 2, -h / 2), (w / 2, h / 2), (-w / 2, h / 2))
    return tuple((cx + c * x - s * y, cy + s * x + c * y) for x, y in corners)


def gold_of(question: Question, gold: Gold) -> Any:
    return int(gold.answer) if question.type == "counting" else gold.answer


def questions_and_replies(chance: random.Random, n: int, side: int = 100) -> list[Case]:
    """Questions about few large objects, so that boxes meet; replies that are right, near, wrong or unreadable."""
    return [_case(chance, f"q-{number:04x}", side) for number in range(n)]


def _case(chance: random.Random, item: str, side: int) -> Case:
    kind = chance.choice(KINDS)
    classes = ["ship", "car"] if kind in ("more", "fewer", "equal") else ["ship"]
    instances = {name: tuple(_region(chance, side) for _ in range(chance.randrange(4))) for name in classes}
    a, b = len(instances["ship"]), len(instances.get("car", ()))
    truth = {"existence": a > 0, "more": a > b, "fewer": a < b, "equal": a == b}
    answer = str(a) if kind == "counting" else ("yes" if truth[kind] else "no")
    question = Question(
        id=item,
        type=kind,
        classes=classes,
        question="?",
        image="x.png",
        width=side,
        height=side * 4 // 5,
        image_id=f"i{chance.randrange(12)}",
    )
    gold = Gold(id=item, answer=answer, instances=instances)
    near = [_moved(chance, points, side) for some in instances.values() for points in some if chance.random() < 0.8]
    regions = [*near, *(_region(chance, side) for _ in range(chance.choice([0, 0, 1, 2])))]
    chance.shuffle(regions)
    said = chance.choice([gold_of(question, gold), chance.randrange(4) if kind == "counting" else "yes", "no", None])
    return question, gold, GroundingReply(said, tuple(regions), {"clipped": 1} if chance.random() < 0.2 else {}, "unit")


def _region(chance: random.Random, side: int) -> tuple[tuple[float, float], ...]:
    cx, cy = chance.uniform(0.1, 0.9) * side, chance.uniform(0.1, 0.7) * side
    w, h = chance.uniform(0.05, 0.4) * side, chance.uniform(0.05, 0.4) * side
    if chance.random() < 0.5:
        return box(cx - w / 2, cy - h / 2, cx + w / 2, cy + h / 2)
    return turned(cx, cy, w, h, chance.uniform(-90, 90))


def _moved(chance: random.Random, points: Any, side: int) -> Any:
    dx, dy = (chance.gauss(0, 0.03) * side for _ in range(2))
    return tuple((x + dx, y + dy) for x, y in points)


def naive(cases: Sequence[Case]) -> dict[str, float | None]:
    """Every figure by its definition, one question after the other, with shapely alone."""
    support_set = [c for c in cases if not (c[0].type == "existence" and c[1].answer == "no")]
    right = [_right(*c) for c in cases]
    right_e = [_right(*c) for c in support_set]
    support = [_support(*c) for c in support_set]
    tight = [s and _tight(*c) for s, c in zip(support, support_set, strict=True)]
    tp = sum(_largest_matching(r.regions, _instances(q, g)) for q, g, r in support_set)
    predicted = sum(len(r.regions) for _, _, r in support_set)
    annotated = sum(len(_instances(q, g)) for q, g, _ in support_set)
    joint = [a and b for a, b in zip(right_e, support, strict=True)]
    return {
        "accuracy": _mean(right),
        "accuracy_E": _mean(right_e),
        "ES_overall": _mean(support),
        "ES_correct": _mean([s for s, r in zip(support, right_e, strict=True) if r]),
        "JS": _mean(joint),
        "ES_tight": _mean(tight),
        "localisation_precision": tp / predicted if predicted else None,
        "localisation_recall": tp / annotated if annotated else None,
        "localisation_F1": 2 * tp / (predicted + annotated) if predicted + annotated else None,
        "covered_area_share": _mean([_area(r.regions, q) / (q.width * q.height) for q, _, r in support_set]),
        "invalid_rate": _mean([_said(q, r) is None for q, _, r in cases]),
        "box_flag_rate": _mean([bool(r.flags) for _, _, r in cases]),
    }


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None


def _said(question: Question, reply: GroundingReply) -> Any:
    fits = isinstance(reply.answer, int) if question.type == "counting" else reply.answer in ("yes", "no")
    return reply.answer if fits else None


def _right(question: Question, gold: Gold, reply: GroundingReply) -> bool:
    return str(_said(question, reply)) == gold.answer


def _instances(question: Question, gold: Gold) -> Polygons:
    return [points for name in question.classes for points in gold.instances[name]]


def _found(question: Question, gold: Gold, reply: GroundingReply) -> list[Polygons]:
    """Per class, the instances whose centre lies in a region."""
    regions = [Polygon(points) for points in reply.regions]
    return [
        [p for p in gold.instances[name] if any(region.intersects(Polygon(p).envelope.centroid) for region in regions)]
        for name in question.classes
    ]


def _support(question: Question, gold: Gold, reply: GroundingReply) -> bool:
    said, counts = _said(question, reply), [len(some) for some in _found(question, gold, reply)]
    if said is None:
        return False
    first, second = counts[0], counts[-1]
    return {
        ("existence", "yes"): first >= 1,
        ("existence", "no"): first == 0,
        ("more", "yes"): first > second,
        ("more", "no"): first <= second,
        ("fewer", "yes"): first < second,
        ("fewer", "no"): first >= second,
        ("equal", "yes"): first == second,
        ("equal", "no"): first != second,
    }.get((str(question.type), str(said)), question.type == "counting" and first == said)


def _tight(question: Question, gold: Gold, reply: GroundingReply) -> bool:
    covered = [p for some in _found(question, gold, reply) for p in some]
    return bool(covered) and _area(reply.regions, question) <= 4 * _area(covered, question)


def _area(regions: Polygons, question: Question) -> float:
    frame = rectangle(0, 0, question.width, question.height)
    return float(unary_union([Polygon(points) for points in regions]).intersection(frame).area) if regions else 0.0


def _largest_matching(regions: Polygons, instances: Polygons) -> int:
    """The largest one-to-one choice of pairs with IoU >= 0.5, by trying every set of pairs from the largest down."""
    pairs = [(i, j) for i, r in enumerate(regions) for j, p in enumerate(instances) if _iou(r, p) >= 0.5]
    for size in range(min(len(regions), len(instances)), 0, -1):
        for some in combinations(pairs, size):
            if len({i for i, _ in some}) == len({j for _, j in some}) == size:
                return size
    return 0


def _iou(first: Any, second: Any) -> float:
    a, b = Polygon(first), Polygon(second)
    both = a.intersection(b).area
    return float(both / (a.area + b.area - both))
