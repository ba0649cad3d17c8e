"""How thorough an audit is."""

from dataclasses import dataclass

from georefusal_task.core.errors import ConfigError

ALPHA = 0.05
"""At most this share of sets without any leak is failed, all gates taken together."""
FOLDS = 5
FEWEST_ITEMS, FEWEST_OF_A_CLASS, FEWEST_GROUPS = 40, 12, 5
"""Below these a gate is not decided: the interval of a chance result would reach past every limit."""


@dataclass(frozen=True)
class Settings:
    """Sizes of models and of resampling.

    first: repeats of the cross-validation, each with other folds, by which every figure is looked at; repeats: of those
    that come near the limit of a gate. trees: of the random forest. rounds: of boosting.
    refits: label permutations for which logistic regression is trained anew where it crosses a limit; tree_refits: the
    other two models, the forest with null_trees trees. draws: of the bootstrap over source images. jobs: processes; no
    figure depends on it.
    """

    first: int = 1
    repeats: int = 5
    trees: int = 100
    rounds: int = 40
    refits: int = 200
    tree_refits: int = 25
    null_trees: int = 25
    draws: int = 2_000
    jobs: int = 2
    seed: int = 20261130

    def __post_init__(self) -> None:
        if (
            min(self.refits, self.tree_refits) < 2
            or min(self.first, self.repeats, self.trees, self.rounds, self.draws) < 1
        ):
            raise ConfigError(f"{self} is too small: refits need at least 2, all other sizes at least 1")

    @classmethod
    def full(cls, jobs: int = 2) -> "Settings":
        """Return the settings of `--full`: 300 trees, 20 repeats, 1,000 refits."""
        return cls(first=5, repeats=20, trees=300, refits=1_000, tree_refits=100, null_trees=50, jobs=jobs)
