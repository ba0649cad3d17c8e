"""Grounding: geometry of 15,027 questions with 100 boxes a side, matching beside other libraries, reading of boxes."""

import importlib.util
import json
from collections.abc import Callable

import numpy as np

from bench.bench_reply import best, hostile
from georefusal_task.core.box_reader import read_boxes
from georefusal_task.core.boxes import Regions, covered, match_count, union_area
from georefusal_task.core.frames import FRAMES, Points

QUESTIONS, BOXES, SIDE = 15_027, 100, 1024
SAMPLE = 50
"""Questions that are timed; the time of all is stated by proportion."""

Pair = tuple[list[Points], list[Points]]


def main() -> None:
    for name, turned in (("horizontal", False), ("oriented", True)):
        pairs = scenes(SAMPLE, turned)
        seconds = best(lambda p=pairs: [geometry(*pair) for pair in p], times=3)
        print(
            f"{name}: support, area and matching of {QUESTIONS:,} questions with {BOXES} boxes: {whole(seconds):.1f} s"
        )
        matching = best(lambda p=pairs: [match_count(*pair) for pair in p], times=3)
        naive = best(lambda p=pairs[:3]: [naive_matches(*pair) for pair in p], times=1) * SAMPLE / 3
        print(f"{name}: matching alone {whole(matching):.1f} s, one shapely call per pair {whole(naive):.1f} s")
    beside_others(scenes(SAMPLE, turned=False))
    replies = [
        json.dumps([{"bbox_2d": [int(v) for v in (*p[0], *p[2])]} for p in pred]) for pred, _ in scenes(20, False)
    ]
    seconds = best(lambda: [read_boxes(text, FRAMES["qwen3_vl"], SIDE, SIDE) for text in replies], times=3)
    print(f"reading replies of {BOXES} boxes: {seconds / len(replies) * 1e3:.1f} ms each")
    for unit in ("[", "([{)", "[1,2,3,4],", "<box>[", "a "):
        seconds = best(lambda u=unit: read_boxes(hostile(u), FRAMES["geochat"], SIDE, SIDE), times=1)
        print(f"reading a hostile reply of 1 MB of {unit!r}: {seconds:.2f} s")


def scenes(n: int, turned: bool) -> list[Pair]:
    """Return predicted and annotated regions of n questions: half of the predictions lie near an annotation."""
    rng = np.random.default_rng(0)
    return [boxes(rng, turned) for _ in range(n)]


def boxes(rng: np.random.Generator, turned: bool) -> Pair:
    gold = np.column_stack((rng.uniform(0, SIDE - 64, (BOXES, 2)), rng.uniform(16, 64, (BOXES, 2))))
    pred = gold + rng.normal(0, 3, gold.shape)
    pred[BOXES // 2 :, :2] = rng.uniform(0, SIDE - 64, (BOXES - BOXES // 2, 2))
    angles = rng.uniform(-90, 90, BOXES) if turned else np.zeros(BOXES)
    return [polygon(*row, a) for row, a in zip(pred, angles, strict=True)], [
        polygon(*row, a) for row, a in zip(gold, angles, strict=True)
    ]


def polygon(x: float, y: float, w: float, h: float, degrees: float) -> Points:
    corners = [(x, y), (x + w, y), (x + w, y + h), (x, y + h)]
    if degrees:
        cos, sin, cx, cy = np.cos(np.radians(degrees)), np.sin(np.radians(degrees)), x + w / 2, y + h / 2
        corners = [(cx + (a - cx) * cos - (b - cy) * sin, cy + (a - cx) * sin + (b - cy) * cos) for a, b in corners]
    return tuple((float(a), float(b)) for a, b in corners)


def geometry(pred: list[Points], gold: list[Points]) -> None:
    regions, instances = Regions.of(pred), Regions.of(gold)
    covered(instances.centres, regions)
    union_area(regions, SIDE, SIDE)
    match_count(regions, instances)


def naive_matches(pred: list[Points], gold: list[Points]) -> int:
    import shapely
    from scipy.sparse import csr_matrix
    from scipy.sparse.csgraph import maximum_bipartite_matching

    first, second = [shapely.Polygon(p) for p in pred], [shapely.Polygon(g) for g in gold]
    fits = [[(s := p.intersection(g).area) / (p.area + g.area - s) >= 0.5 for g in second] for p in first]
    return int((maximum_bipartite_matching(csr_matrix(np.array(fits, dtype=np.int8))) >= 0).sum())


def beside_others(pairs: list[Pair]) -> None:
    """Time the IoU of all pairs, and pycocotools' and torchmetrics' own matching, where they are installed."""
    arrays = [tuple(Regions.of(side).bounds for side in pair) for pair in pairs]
    if importlib.util.find_spec("pycocotools"):
        report("pycocotools, IoU of all pairs without matching", lambda: [coco_iou(*pair) for pair in arrays])
        report("pycocotools, COCOeval at IoU 0.5 (greedy)", lambda: coco_eval(arrays))
    else:
        print("pycocotools is not installed")
    if importlib.util.find_spec("torchmetrics"):
        report("torchmetrics, MeanAveragePrecision at IoU 0.5 (greedy)", lambda: torchmetrics_map(arrays))
    else:
        print("torchmetrics is not installed")


def report(name: str, work: Callable[[], object]) -> None:
    print(f"{name}: {whole(best(work, times=1)):.1f} s")


def whole(seconds: float) -> float:
    return seconds * QUESTIONS / SAMPLE


def xywh(bounds: np.ndarray) -> np.ndarray:
    return np.column_stack((bounds[:, :2], bounds[:, 2:] - bounds[:, :2]))


def coco_iou(pred: np.ndarray, gold: np.ndarray) -> object:
    from pycocotools import mask

    return mask.iou(xywh(pred), xywh(gold), [0] * len(gold))


def coco_eval(arrays: list[tuple[np.ndarray, ...]]) -> None:
    import contextlib
    import io

    from pycocotools.coco import COCO
    from pycocotools.cocoeval import COCOeval

    gold, pred = [], []
    for image, (first, second) in enumerate(arrays, start=1):
        pred += [{"image_id": image, "category_id": 1, "bbox": list(b), "score": 1.0} for b in xywh(first)]
        gold += [
            {"image_id": image, "category_id": 1, "bbox": list(b), "area": b[2] * b[3], "iscrowd": 0}
            for b in xywh(second)
        ]
    with contextlib.redirect_stdout(io.StringIO()):
        truth = COCO()
        truth.dataset = {
            "images": [{"id": i} for i in range(1, len(arrays) + 1)],
            "categories": [{"id": 1}],
            "annotations": [{"id": i, **row} for i, row in enumerate(gold, start=1)],
            "info": {},
        }
        truth.createIndex()
        judge = COCOeval(truth, truth.loadRes(pred), "bbox")
        judge.params.iouThrs, judge.params.areaRng, judge.params.areaRngLbl = [0.5], [[0, 1e10]], ["all"]
        judge.evaluate()


def torchmetrics_map(arrays: list[tuple[np.ndarray, ...]]) -> None:
    import torch
    from torchmetrics.detection import MeanAveragePrecision

    metric = MeanAveragePrecision(iou_thresholds=[0.5])
    ones, zeros = torch.ones(BOXES), torch.zeros(BOXES, dtype=torch.long)
    for pred, gold in arrays:
        metric.update(
            [{"boxes": torch.from_numpy(pred), "scores": ones, "labels": zeros}],
            [{"boxes": torch.from_numpy(gold), "labels": zeros}],
        )
    metric.compute()


if __name__ == "__main__":
    main()
