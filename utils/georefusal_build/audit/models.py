"""Three classifiers, cross-validated so that no source image is learnt from and guessed at once."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from georefusal_build.audit.settings import FOLDS, Settings
from georefusal_build.audit.subjects import Ints
from georefusal_build.audit.targets import F64, Target

Name = Literal["logistic", "forest", "boosting"]
MODELS: tuple[Name, ...] = ("logistic", "forest", "boosting")


@dataclass(frozen=True)
class Features:
    """Figures of all items of a set. A column says nothing of a label by itself; names stand in reports.

    slim: float64 (n, k), seen by every model; wide: sparse (n, m) word weights, seen by all but boosting.
    """

    slim: F64
    names: tuple[str, ...]
    wide: Any = None
    wide_names: tuple[str, ...] = ()


Split = tuple[Ints, Ints]
Splits = list[Split]


def votes(
    features: Features,
    target: Target,
    owners: Ints,
    settings: Settings,
    models: tuple[Name, ...] = MODELS,
    repeats: range | None = None,
) -> dict[Name, F64]:
    """Return for each model float64 (n, classes): in how many repeats an item was taken for each class.

    owners: (n,) what an item must not share between learning and guessing: its source image, or its template.
    repeats: which ones, each with folds of its own; all of the settings if None.
    """
    from threadpoolctl import threadpool_limits

    found = {name: np.zeros((len(target.y), len(target.classes))) for name in models}
    with threadpool_limits(1):  # sums of many threads end in other digits
        data = {name: matrix(name, features, target) for name in models}
        for repeat in range(settings.repeats) if repeats is None else repeats:
            splits = list(folds(owners, repeat))
            for name in models:
                guessed = guesses(name, data[name], target, target.y, splits, settings)
                found[name][np.arange(len(guessed)), guessed] += 1
    return found


def refitted(
    name: Name, features: Features, target: Target, owners: Ints, orders: Ints, settings: Settings
) -> Iterator[float]:
    """Yield the balanced accuracies of a model on shuffled labels: what finding nothing looks like.

    orders: (b, n) shuffles of the target's labels. The model is trained anew on each. Comparing the guesses of one
    training with shuffled labels would be quicker and wrong: of two like items each teaches what is guessed of the
    other, so that they are right or wrong together.
    """
    from threadpoolctl import threadpool_limits

    splits, weights = list(folds(owners, 0)), target.weights
    rows = np.arange(len(target.y))
    small = replace(settings, trees=settings.null_trees)
    with threadpool_limits(1):
        data = matrix(name, features, target)
        for y in target.y[orders]:
            right = guesses(name, data, target, y, splits, small) == y
            yield float(weights[rows, y][right].sum())


def folds(owners: Ints, repeat: int) -> Iterator[Split]:
    """Yield (learnt, guessed) places of each fold; items with one owner are in one fold."""
    from sklearn.model_selection import GroupKFold

    count = min(FOLDS, len(np.unique(owners)))
    yield from GroupKFold(count, shuffle=True, random_state=repeat).split(owners, groups=owners)


def guesses(name: Name, data: Any, target: Target, y: Ints, splits: Splits, settings: Settings) -> NDArray[np.intp]:
    """Return the class guessed for each item by a model that has not seen its owner's items; data: see `matrix`."""
    result = np.zeros(len(y), dtype=np.intp)
    for number, (learnt, guessed) in enumerate(splits):
        present = np.unique(y[learnt])
        if len(present) < 2:
            result[guessed] = present[0]
            continue
        model = _model(name, number, settings)
        model.fit(data[learnt], y[learnt], sample_weight=_balanced(target.strata[learnt], y[learnt]))
        result[guessed] = model.predict(data[guessed])
    return result


def matrix(name: Name, features: Features, target: Target) -> Any:
    """Return what a model sees of the target's items: figures standardised inside each stratum, words where it can."""
    slim = features.slim[target.places].copy()
    for stratum in np.unique(target.strata):
        at = target.strata == stratum
        spread = slim[at].std(axis=0)
        slim[at] = (slim[at] - slim[at].mean(axis=0)) / np.where(spread > 1e-9, spread, 1.0)
    if name == "boosting":
        return _levels(slim)
    if features.wide is None:
        return slim
    words = 3 * features.wide[target.places]
    if name == "logistic":
        return np.hstack([slim, _rotated(words)])
    from scipy.sparse import csr_array, hstack

    return hstack([csr_array(slim), words], format="csr")


def _rotated(words: Any) -> F64:
    """Return sparse (n, m) rows as dense (n, at most n) ones with the same products: all that an L2 penalty sees."""
    values, vectors = np.linalg.eigh((words @ words.T).toarray())
    kept = values > 1e-9 * max(1.0, float(values[-1]))
    return np.asarray(vectors[:, kept] * np.sqrt(values[kept]), dtype=np.float64)


def _levels(slim: F64) -> F64:
    """Return each column as one of 32 levels of its rank: boosting bins weighted columns of many values very slowly."""
    from scipy.stats import rankdata

    ranks = rankdata(slim, method="average", axis=0) if slim.size else slim
    return np.asarray(np.floor((ranks - 0.5) / max(1, len(slim)) * 32), dtype=np.float64)


def _balanced(strata: Ints, y: Ints) -> F64:
    """Return weights under which every class has the same in each stratum, 1 on average."""
    cells = np.unique(np.stack([strata, y]), axis=1, return_inverse=True)[1].ravel()
    weights = 1 / np.bincount(cells)[cells]
    for stratum in np.unique(strata):
        weights[strata == stratum] *= (strata == stratum).sum()
    return np.asarray(weights / weights.mean(), dtype=np.float64)


def _model(name: Name, seed: int, settings: Settings) -> Any:
    if name == "logistic":
        from sklearn.linear_model import LogisticRegression

        return LogisticRegression(C=1.0, max_iter=300)
    if name == "forest":
        from sklearn.ensemble import RandomForestClassifier

        return RandomForestClassifier(settings.trees, min_samples_leaf=2, random_state=seed)
    from sklearn.ensemble import HistGradientBoostingClassifier

    return HistGradientBoostingClassifier(max_iter=settings.rounds, max_leaf_nodes=8, min_samples_leaf=8)
