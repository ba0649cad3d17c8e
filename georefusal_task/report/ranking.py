"""Many runs in an order that the data bear out: a rank counts who is significantly better, not who has more points."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

import numpy as np

from georefusal_task.benchmarks.refusal_scores import Outcomes, estimates
from georefusal_task.core.errors import ConfigError, DataError
from georefusal_task.core.sampling import Sample
from georefusal_task.core.stats import Estimate
from georefusal_task.core.verdicts import Verdict
from georefusal_task.report.comparable import MANY_FAILED, incomparable
from georefusal_task.report.contests import Column, Pair, Standing, column, pairs, standings
from georefusal_task.report.paired import ALPHA
from georefusal_task.report.references import Figures, always_answer, people, uniform_guess
from georefusal_task.report.runs import Run
from georefusal_task.report.texts import visible

ALWAYS_ANSWER = "always answer"
FIGURES = (
    "accept_acc", "always_answer_gap", "macro_recall", "answer_recall", "detection_recall", "category_acc",
    "false_refusal_rate", "missed_refusal_rate", "unsafe_answer_share", "unparsed_rate", "unparsed_rate_answerable",
    "unparsed_rate_must_refuse", "host_error_rate",
)  # fmt: skip
"""What each entry carries; the table shows a part."""


@dataclass(frozen=True)
class Entry:
    """One line of the leaderboard."""

    name: str
    kind: Literal["model", "reference", "withheld"]
    n: int
    figures: dict[str, Estimate]
    """Empty where the run is withheld."""
    rank: int | None = None
    """1 + number of models that are significantly better."""
    worst_rank: int | None = None
    """Number of models, itself among them, that are not significantly worse: with `rank`, what the data leave open."""
    against: dict[str, Standing] = field(default_factory=dict)
    """Reference -> how the model stands to it, corrected for the number of models."""
    marks: tuple[str, ...] = ()
    declared: str = ""
    """Training imagery, in the words of whoever declares it."""

    def to_json(self) -> dict[str, Any]:
        """Return the fields as plain JSON values."""
        figures = {name: estimate.to_json() for name, estimate in self.figures.items()}
        return {**{name: value for name, value in vars(self).items() if name != "figures"}, "figures": figures}


@dataclass(frozen=True)
class Leaderboard:
    """Entries from the highest accept_acc down, references in their place, withheld runs at the end."""

    entries: tuple[Entry, ...]
    pairs: tuple[Pair, ...]
    notes: tuple[str, ...]
    meta: dict[str, Any]

    def to_json(self) -> dict[str, Any]:
        """Return everything as plain JSON values."""
        return {
            "entries": [entry.to_json() for entry in self.entries],
            "pairs": [asdict(pair) for pair in self.pairs],
            "notes": self.notes,
            "meta": self.meta,
        }


@dataclass(frozen=True)
class _Arena:
    """What every model is judged by."""

    items: Sequence[str]
    sample: Sample
    contests: Sequence[Pair]
    against: Mapping[str, Mapping[str, Standing]]
    size: int
    """Number of ranked models."""

    def entry(self, run: Run, marks: tuple[str, ...], declared: str) -> Entry:
        """Return the line of a ranked model."""
        stands = Counter(pair.standing(run.name) for pair in self.contests if run.name in (pair.first, pair.second))
        return Entry(
            name=run.name,
            kind="model",
            n=run.n,
            figures=self.figures(run),
            rank=1 + stands["worse"],
            worst_rank=self.size - stands["better"],  # one without a common item may stand anywhere
            against={bar: found[run.name] for bar, found in self.against.items() if run.name in found},
            marks=marks,
            declared=declared,
        )

    def figures(self, run: Run) -> Figures:
        """Return the figures of a run, with the intervals that the sample of all items asks for."""
        present = np.array([item in run.by_id for item in self.items], dtype=np.bool_)
        rows = [run.by_id[item] for item in self.items if item in run.by_id]
        found = estimates(Outcomes.of(rows), self.sample.at(present), FIGURES)
        return {name: found[name] for name in FIGURES}


def rank(
    runs: Sequence[Run],
    *,
    clusters: Mapping[str, str] | None = None,
    floor: Run | None = None,
    declared: Mapping[str, str] | None = None,
    force: bool = False,
) -> Leaderboard:
    """Return the leaderboard of runs of one task.

    Args:
        runs: one per model, their names all different.
        clusters: item id -> cluster; else what the first run with provenance says, else items count as independent.
        floor: the question-only floor as a run, see `report.floor`.
        declared: run name -> its training imagery in words.
        force: rank runs of other data or prompts all the same, and say so.

    Raises:
        ConfigError: two runs of one name, runs that cannot be compared, or a declaration for a run that is not there.
        DataError: there is no run.
    """
    declared = declared or {}
    _check(runs, declared)
    reasons = _reasons(runs, force=force)
    first = runs[0]
    items = list(first.benchmark.by_id)
    labels = [first.benchmark.by_id[item].label for item in items]
    sample = Sample.of(items, clusters or next((run.clusters for run in runs if run.clusters), None))

    shown = [run for run in runs if (run.host_error_share or 0) <= MANY_FAILED]
    columns = [column(run, items) for run in shown]
    answerable = np.array([Verdict.ANSWER in label.accept for label in labels], dtype=np.bool_)
    bars = [Column(ALWAYS_ANSWER, np.ones_like(answerable), answerable)] + ([column(floor, items)] if floor else [])
    arena = _Arena(
        items, sample, pairs(columns, sample), {bar.name: standings(columns, bar, sample) for bar in bars}, len(shown)
    )

    entries = [arena.entry(run, (*reasons[run.name], *_marks(run)), declared.get(run.name, "")) for run in shown]
    references = {
        ALWAYS_ANSWER: always_answer(labels),
        "random verdict": uniform_guess(labels),
        "people (review votes)": people(labels, first.provenance, sample),
        **({floor.name: arena.figures(floor)} if floor else {}),
    }
    entries += [
        Entry(name, "reference", figures["accept_acc"].n, figures) for name, figures in references.items() if figures
    ]
    entries.sort(key=lambda entry: (-(entry.figures["accept_acc"].value or 0), entry.kind, entry.name))
    return Leaderboard(
        entries=(*entries, *(_withheld(run, declared) for run in runs if run not in shown)),
        pairs=tuple(arena.contests),
        notes=tuple(_notes(runs, arena.contests, forced=any(reasons.values()))),
        meta={
            "task": first.task,
            "n_total": first.n_total,
            "data": first.data_digest,
            "prompt": first.spec.asks.id,
            "prompt_sha256": first.prompt_sha256,
        },
    )


def _check(runs: Sequence[Run], declared: Mapping[str, str]) -> None:
    if not runs:
        raise DataError("there is no run to rank")
    names = Counter(run.name for run in runs)
    if twice := [name for name, times in names.items() if times > 1]:
        raise ConfigError(f"two runs are called {visible(twice[0])!r}; give each a name of its own")
    if unknown := [name for name in declared if name not in names]:
        known = ", ".join(map(visible, names))
        raise ConfigError(f"--declare names {visible(unknown[0])!r}, which is no run here; there are: {known}")


def _reasons(runs: Sequence[Run], *, force: bool) -> dict[str, list[str]]:
    """Return run -> why it cannot be ranked with the first; raises unless forced."""
    reasons = {run.name: incomparable(runs[0], run) for run in runs}
    wrong = [f"{visible(name)}: {'; '.join(why)}" for name, why in reasons.items() if why]
    if wrong and not force:
        raise ConfigError(
            f"{len(wrong)} of {len(runs)} runs cannot be ranked with {visible(runs[0].name)}; --force does it all the "
            "same:\n  " + "\n  ".join(wrong)
        )
    return reasons


def _marks(run: Run) -> list[str]:
    marks = [warning for warning in run.warnings if warning not in run.benchmark.warnings]
    if run.n < run.n_total:
        marks.append(f"partial: {run.n} of {run.n_total} items")
    if run.host_error_share:
        marks.append(f"{run.host_error_share:.1%} of requests failed")
    return marks


def _withheld(run: Run, declared: Mapping[str, str]) -> Entry:
    why = f"withheld: {run.host_error_share:.1%} of requests failed"
    return Entry(run.name, "withheld", run.n, {}, marks=(why,), declared=declared.get(run.name, ""))


def _notes(runs: Sequence[Run], contests: Sequence[Pair], *, forced: bool) -> list[str]:
    tested = f" ({contests[0].method})" if contests else ""
    ranks = (
        f"Rank: 1 + the number of models that are significantly better, by a paired test{tested} with Holm's "
        f"correction for all pairs, level {ALPHA:.0%}. The range is what the data leave open."
    )
    notes = [ranks]
    if forced:
        notes.append("Forced: some runs were made on other data, prompts or images than the first; they are marked.")
    if any(run.n < run.n_total for run in runs):
        notes.append(
            "Partial runs are tested on the items that both models have; their accept_acc is over other items."
        )
    if len({run.meta.style for run in runs if run.meta.style}) > 1:
        notes.append("Chat and simple backends feed images differently: scores of the two kinds are not comparable.")
    if any((run.host_error_share or 0) > MANY_FAILED for run in runs):
        notes.append(
            f"Runs with more than {MANY_FAILED:.0%} of failed requests are withheld: run those requests again."
        )
    return notes
