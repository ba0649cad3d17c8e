"""What a reader of the question alone, who never sees an image, can tell of the label."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cache

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import balanced_accuracy_score
from sklearn.model_selection import GroupKFold, cross_val_predict
from sklearn.pipeline import make_pipeline, make_union
from support.asked import modality_of, situation, town

from georefusal_build.ask import Asked, ask
from georefusal_build.levers.asked import Situation
from georefusal_build.scenes import Tile
from georefusal_build.streams import Stream, derive_key

GATE = 0.60
"""Largest balanced accuracy of words alone inside a family. Source: the leakage audit of the generator's design."""


Build = Callable[[int, str], Tile]
"""A town from its number and modality."""


@cache
def pool(towns: int, build: Build = town) -> tuple[tuple[int, Situation], ...]:
    """Return base questions by town: one class that is there and one that is not."""

    def all_of() -> Iterator[tuple[int, Situation]]:
        for number in range(towns):
            tile = build(number, modality_of(number))
            here = sorted({one.class_name for one in tile.instances})
            absent = Stream(derive_key(3, tile.id, "absent")).choice(("stadium", "helicopter", "runway"))
            for name in (*here[number % len(here) :][:1], absent):
                found = situation(tile, name)
                if found is not None:
                    yield number, found

    return tuple(all_of())


def asked(
    family: str, towns: int, *, even: bool = True, build: Build = town, variant: str = ""
) -> tuple[list[str], np.ndarray, np.ndarray]:
    """Return the questions of a family, which of them are to be refused, and the town that each is about.

    On every base LOW and one refusal are tried. even: as a build draws them. variant: no other is taken.
    """
    texts, refused, groups = [], [], []
    for number, known in pool(towns, build):
        one = replace(known, even=even)
        one.__dict__["claims"] = known.claims
        refusal = Stream(derive_key(1, one.base.id, family)).choice(("medium", "high"))
        for level in ("low", refusal):
            got = ask(f"{family}_{level}", one, 7)
            if isinstance(got, Asked) and got.verdict and variant in ("", got.variant):
                texts.append(got.question)
                refused.append(level != "low")
                groups.append(number)
    return texts, np.array(refused), np.array(groups)


def told_by_words(texts: Sequence[str], refused: np.ndarray, groups: np.ndarray) -> float:
    """Return the balanced accuracy of a linear model on words, pairs of words and letters, on towns it has not met."""
    features = make_union(
        TfidfVectorizer(ngram_range=(1, 2), token_pattern=r"[\w-]+"),
        TfidfVectorizer(analyzer="char_wb", ngram_range=(2, 4)),
    )
    model = make_pipeline(features, LogisticRegression(max_iter=2000, class_weight="balanced"))
    folds = (GroupKFold(5, shuffle=True, random_state=seed) for seed in range(3))
    return float(
        np.mean(
            [
                balanced_accuracy_score(refused, cross_val_predict(model, texts, refused, groups=groups, cv=one))
                for one in folds
            ]
        )
    )
