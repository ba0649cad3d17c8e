"""One probe tried: a first look at every figure, all repeats near a limit, shuffled labels only where it is crossed."""

from dataclasses import dataclass, replace

import numpy as np

from georefusal_build.audit.gates import Gate, Score, chance
from georefusal_build.audit.models import MODELS, Name, refitted, votes
from georefusal_build.audit.plan import Probe
from georefusal_build.audit.settings import ALPHA, Settings
from georefusal_build.audit.shuffles import interval, shuffled
from georefusal_build.audit.subjects import Ints
from georefusal_build.audit.targets import F64, Target

NEAR = 0.05
"""A figure that lies further below its limits after the first look cannot come to cross them."""
_FIRST = 25
"""So many refits, or half of them, are enough to see that a figure is nowhere near improbable."""


@dataclass(frozen=True)
class Trial:
    """What came of a probe. null: (mean, 95 % point) on shuffled labels of the strongest model over the limit."""

    scores: tuple[Score, ...]
    null: tuple[float, float] | None = None


def trial(probe: Probe, groups: Ints, settings: Settings, looks: int) -> Trial:
    """Return the scores of a probe; those over the limit of its gate with their p among `looks` gated scores.

    A gate can fail a set only where its limit is crossed, so that nothing is lost where the work stops before.
    groups: source image of each item of the set.
    """
    target, owners = probe.target, probe.owners[probe.target.places]
    first = min(settings.first, settings.repeats)
    found = votes(probe.data, target, owners, settings, repeats=range(first))
    scores = _scores(found, first, target, groups, settings)
    if probe.gate is None:
        return Trial(scores)
    if first < settings.repeats and _over(scores, probe.gate, target, NEAR):
        more = votes(probe.data, target, owners, settings, repeats=range(first, settings.repeats))
        scores = _scores(
            {name: found[name] + more[name] for name in MODELS}, settings.repeats, target, groups, settings
        )
    return _against_chance(probe, scores, groups, settings, looks)


def score(model: str, shares: F64, target: Target, groups: Ints, settings: Settings) -> Score:
    """Return how well classes were guessed. shares: (n, classes), of the repeats that took an item for each class."""
    rows = np.arange(len(target.y))
    hits, weights = shares[rows, target.y], target.weights[rows, target.y]
    low, high = interval(hits, weights, target, groups, settings.draws, settings.seed)
    return Score(model, float((hits * weights).sum()), low, high, float(hits.mean()))


def _scores(
    found: dict[Name, F64], repeats: int, target: Target, groups: Ints, settings: Settings
) -> tuple[Score, ...]:
    return tuple(score(name, found[name] / repeats, target, groups, settings) for name in MODELS)


def _over(scores: tuple[Score, ...], gate: Gate, target: Target, margin: float = 0.0) -> list[Score]:
    """Return the scores over a limit or within `margin` of it, the strongest first."""
    over = [one for one in scores if gate.crossed(one.balanced + margin, one.low + margin, target.chance)]
    return sorted(over, key=lambda one: -one.balanced)


def _against_chance(probe: Probe, scores: tuple[Score, ...], groups: Ints, settings: Settings, looks: int) -> Trial:
    """Return the trial with p of the scores over the limit, up to the first that fails the set."""
    held = {one.model: one for one in scores}
    null = None
    for one in _over(scores, probe.gate, probe.target) if probe.gate else ():
        values = _null(one, probe, groups, settings, looks)
        null = null or (float(values.mean()), float(np.quantile(values, 0.95)))
        p = chance(one.balanced, values, looks)
        held[one.model] = replace(one, p=p)
        if p <= ALPHA:
            break
    return Trial(tuple(held.values()), null)


def _null(one: Score, probe: Probe, groups: Ints, settings: Settings, looks: int) -> F64:
    """Return what the model of a score gets on shuffled labels; fewer values where it is soon seen to be no leak."""
    name = next(name for name in MODELS if name == one.model)
    count = settings.refits if name == "logistic" else settings.tree_refits
    order = shuffled(probe.target, groups, max(settings.refits, settings.tree_refits), settings.seed)[:count]
    enough = min(_FIRST, max(2, count // 2))
    values: list[float] = []
    for value in refitted(name, probe.data, probe.target, probe.owners[probe.target.places], order, settings):
        values.append(value)
        if len(values) == enough and chance(one.balanced, np.array(values), looks) >= 1:
            break
    return np.array(values)
