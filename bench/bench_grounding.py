"""Scoring 15,027 questions with 100 boxes each, upright and turned, on one core; matching beside its references."""

import json
import math
import random
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

from georefusal_task.benchmarks.grounding import Gold, GroundingReply, Question, QuestionType, score_one, summarise
from georefusal_task.core.boxes import match_count
from georefusal_task.core.frames import Points

QUESTIONS, BOXES, SIDE = 15_027, 100, 1024
IMAGES = 5_000


def main() -> None:
    summarise([])  # imports what it needs
    print(f"{QUESTIONS:,} questions, {BOXES} boxes and {BOXES} instances each, CPU seconds on one core")
    for name, turn in (("upright", 0.0), ("turned", 30.0)):
        chance, scored, rows = random.Random(0), 0.0, []
        for number in range(QUESTIONS):
            case = made_up(chance, number, turn)
            start = time.process_time()
            rows.append(score_one(*case))
            scored += time.process_time() - start
        summing = clock(lambda: summarise(rows))  # noqa: B023
        each = 1e3 * scored / QUESTIONS
        print(f"{name:<8} score_one {scored:5.1f} s ({each:.2f} ms each), summarise {summing:.1f} s")
    matching()


def made_up(chance: random.Random, number: int, turn: float) -> tuple[Question, Gold, GroundingReply]:
    kind = list(QuestionType)[number % 5]
    instances = [region(chance, turn) for _ in range(BOXES)]
    regions = tuple(tuple((x + chance.gauss(0, 2), y) for x, y in points) for points in instances)
    if not turn:
        regions = tuple(upright(points) for points in regions)
    classes = ("ship", "car") if kind.compares else ("ship",)
    parts = (instances[:50], instances[50:]) if kind.compares else (instances,)
    question = Question.model_construct(
        id=f"q-{number}", type=kind, classes=classes, question="?", image=Path("x.png"), width=SIDE, height=SIDE,
        image_id=str(number % IMAGES),
    )  # fmt: skip
    found = {name: tuple(part) for name, part in zip(classes, parts, strict=True)}
    answer = str(BOXES) if kind is QuestionType.COUNTING else "yes"
    gold = Gold.model_construct(id=question.id, answer=answer, instances=found)
    return question, gold, GroundingReply(BOXES if kind is QuestionType.COUNTING else "yes", regions, {}, "unit")


def region(chance: random.Random, turn: float) -> Points:
    cx, cy, w, h = *(chance.uniform(60, SIDE - 60) for _ in range(2)), *(chance.uniform(10, 60) for _ in range(2))
    angle = math.radians(turn and chance.uniform(-turn, turn))
    cos, sin = math.cos(angle), math.sin(angle)
    corners = ((-w / 2, -h / 2), (w / 2, -h / 2), (w / 2, h / 2), (-w / 2, h / 2))
    return tuple((cx + cos * x - sin * y, cy + sin * x + cos * y) for x, y in corners)


def upright(points: Points) -> Points:
    (x1, y1), _, (x2, y2), _ = points
    return ((x1, y1), (x2, y1), (x2, y2), (x1, y2))


def matching() -> None:
    """Time the one-to-one matching of one image's boxes against the evaluators of detection, where installed."""
    chance = random.Random(1)
    gold = [region(chance, 0.0) for _ in range(BOXES)]
    pred = [upright(tuple((x + chance.gauss(0, 2), y) for x, y in points)) for points in gold]
    ours = best(lambda: match_count(pred, gold))
    print(f"matching {BOXES} with {BOXES} upright boxes: {1e3 * ours:.2f} ms")
    if find_spec("pycocotools"):
        print(f"  pycocotools, greedy, ten thresholds: {1e3 * best(coco(pred, gold)):.2f} ms")
    if find_spec("torchmetrics") and find_spec("torch"):
        print(f"  torchmetrics MeanAveragePrecision: {1e3 * best(lightning(pred, gold)):.2f} ms")


def corners(points: Points) -> list[float]:
    return [*points[0], *points[2]]


def coco(pred: list[Points], gold: list[Points]) -> Callable[[], object]:
    """Return COCOeval's evaluation of one image."""
    from contextlib import redirect_stdout
    from io import StringIO

    from pycocotools.coco import COCO
    from pycocotools.cocoeval import COCOeval

    def xywh(points: Points) -> list[float]:
        x1, y1, x2, y2 = corners(points)
        return [x1, y1, x2 - x1, y2 - y1]

    with redirect_stdout(StringIO()):
        truth = COCO()
        truth.dataset = {
            "images": [{"id": 1, "width": SIDE, "height": SIDE}],
            "categories": [{"id": 1, "name": "ship"}],
            "annotations": [
                {"id": n + 1, "image_id": 1, "category_id": 1, "bbox": xywh(p), "iscrowd": 0, "area": 1.0}
                for n, p in enumerate(gold)
            ],
        }
        truth.createIndex()
        found = truth.loadRes(
            [{"image_id": 1, "category_id": 1, "bbox": xywh(p), "score": 1.0} for p in json.loads(json.dumps(pred))]
        )

    def work() -> object:
        with redirect_stdout(StringIO()):
            evaluation = COCOeval(truth, found, "bbox")
            evaluation.evaluate()
        return evaluation

    return work


def lightning(pred: list[Points], gold: list[Points]) -> Callable[[], object]:
    """Return torchmetrics' evaluation of one image."""
    import torch
    from torchmetrics.detection import MeanAveragePrecision

    boxes = [torch.tensor([corners(p) for p in some]) for some in (pred, gold)]
    labels = torch.zeros(BOXES, dtype=torch.int64)

    def work() -> object:
        metric = MeanAveragePrecision(iou_thresholds=[0.5])
        metric.update(
            [{"boxes": boxes[0], "scores": torch.ones(BOXES), "labels": labels}],
            [{"boxes": boxes[1], "labels": labels}],
        )
        return metric.compute()

    return work


def best(work: Callable[[], object], times: int = 5) -> float:
    """Return the shortest of several CPU times, in seconds."""
    return min(clock(work) for _ in range(times))


def clock(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


if __name__ == "__main__":
    main()
