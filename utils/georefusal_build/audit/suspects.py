"""Which single figures part the classes, so that a leak can be found and mended."""

import numpy as np

from georefusal_build.audit.models import Features
from georefusal_build.audit.subjects import Ints
from georefusal_build.audit.targets import F64, Target

SHOWN = 3


def suspects(features: Features, target: Target) -> tuple[tuple[str, float], ...]:
    """Return up to three columns with the area under the curve of the second class against the first.

    The area is taken inside each stratum and averaged by its number of items: .5 says nothing, 1 and 0 everything.
    [] for more than two classes.
    """
    if len(target.classes) != 2:
        return ()
    data, names = features.slim[target.places], list(features.names)
    if features.wide is not None:
        data = np.hstack([data, features.wide[target.places].toarray()])
        names += features.wide_names
    areas = np.zeros(data.shape[1])
    for stratum in np.unique(target.strata):
        at = target.strata == stratum
        areas += _areas(data[at], target.y[at]) * at.mean()
    order = np.argsort(-np.abs(areas - 0.5), kind="stable")[:SHOWN]
    return tuple((names[place], round(float(areas[place]), 4)) for place in order)


def _areas(data: F64, y: Ints) -> F64:
    """Return the area under the curve of each column, by the ranks of the second class."""
    from scipy.stats import rankdata

    second = int(y.sum())
    first = len(y) - second
    if not first or not second:
        return np.full(data.shape[1], 0.5)
    ranks = rankdata(data, axis=0)[y == 1].sum(axis=0)
    return np.asarray((ranks - second * (second + 1) / 2) / (first * second), dtype=np.float64)
