"""What an eye that does not know where the target is can tell of the label: figures of whole images of a lever."""

from pathlib import Path

import numpy as np
from PIL import Image
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import balanced_accuracy_score
from sklearn.model_selection import GroupKFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from support.levers import Base

from georefusal_build.audit.pictures import look
from georefusal_build.kernels.fields import power_law
from georefusal_build.kernels.tones import to_u8
from georefusal_build.outcomes import Outcome
from georefusal_build.streams import Stream
from georefusal_build.targets import Target

POINT, LOWER = 0.65, 0.60
"""Largest balanced accuracy and largest lower end of its 95 % interval. Source: the leakage audit of the design."""

SHAPE = (192, 240)


def scene(number: int) -> Base:
    """Return a painted scene: ground of drawn tint and roughness, six kinds of objects, one of them asked about.

    Every kind is as bright as any other over many scenes: what is hidden then tells nothing by its brightness.
    """
    stream = Stream(40_000 + number)
    field = power_law(stream.normal(SHAPE), stream.between(2.0, 3.0), SHAPE)
    tint = np.array([stream.between(60, 130) for _ in range(3)])
    pixels = tint + stream.between(6, 20) * field[..., None] + stream.between(1, 4) * stream.normal((*SHAPE, 3))
    targets = []
    for kind in range(6):
        side, value = stream.between(18, 30), stream.choice((stream.between(20, 50), stream.between(150, 230)))
        for _ in range(1 + int(2 * stream.uniform())):
            x, y = stream.between(8, SHAPE[1] - 48), stream.between(8, SHAPE[0] - 48)
            width, height = side * stream.between(0.9, 1.3), side
            rows, columns = slice(int(y), int(y + height)), slice(int(x), int(x + width))
            pixels[rows, columns] = value + 5 * stream.normal(pixels[rows, columns].shape)
            if kind == 0:
                targets.append(Target.box(int(x), int(y), int(x + width), int(y + height)))
    return Base(f"gate/{number}", to_u8(np.clip(pixels, 5, 244).astype(np.float32)), tuple(targets))


def figures(family: str, variant: str, scenes: int, folder: Path, *, naive: bool = False) -> tuple[np.ndarray, ...]:
    """Return the figures of a family's images (n, k), which are refusals, and the scene of each.

    On every scene LOW and one refusal are tried; only scenes with both count. naive: LOW gets half of the artefact.
    """
    rows, refused, groups = [], [], []
    for number in range(scenes):
        base = scene(number)
        refusal = Stream(50_000 + number).choice(("medium", "high"))
        pair = [base.pull(f"{family}_{level}", variant) for level in ("low", refusal)]
        if not all(isinstance(one, Outcome) and one.verdict for one in pair):
            continue
        for level, one in zip(("low", refusal), pair, strict=True):
            pixels = one.pixels.copy()
            if naive and level == "low":
                pixels[:, ::2] = base.pixels[:, ::2]
                pixels[: SHAPE[0] // 2] = base.pixels[: SHAPE[0] // 2]
            file = folder / f"{family}-{number}-{level}.png"
            Image.fromarray(pixels).save(file, compress_level=1)
            rows.append([*look(file).pixels.values()])
            refused.append(level != "low")
            groups.append(number)
    return np.array(rows), np.array(refused), np.array(groups)


def told_by_figures(rows: np.ndarray, refused: np.ndarray, groups: np.ndarray) -> tuple[float, float]:
    """Return the higher balanced accuracy of a linear model and a forest, on scenes not met before, and its lower end.

    The interval resamples scenes.
    """
    models = (
        make_pipeline(StandardScaler(), LogisticRegression(max_iter=2000)),
        RandomForestClassifier(100, min_samples_leaf=2, random_state=0),
    )
    best = (0.0, 0.0)
    for model in models:
        folds = GroupKFold(5, shuffle=True, random_state=0)
        right = cross_val_predict(model, rows, refused, groups=groups, cv=folds) == refused
        by_scene = np.array([right[groups == one].mean() for one in np.unique(groups)])  # one of each label in a scene
        draws = np.random.default_rng(0).integers(len(by_scene), size=(1000, len(by_scene)))
        point = float(balanced_accuracy_score(refused, np.where(right, refused, ~refused)))
        best = max(best, (point, float(np.percentile(by_scene[draws].mean(axis=1), 2.5))))
    return best
