"""GeoRefusalBench: the text that a model gets, the score of one reply, the summary of all.

>>> from georefusal_task.core.records import Case, Label, Reply, Status
>>> from georefusal_task.core.verdicts import Verdict
>>> case = Case(id="A-0", set="A", image="tile.png", question="Is a ship at the quay?")
>>> label = Label(id="A-0", set="A", gold="ANSWER", accept=["ANSWER"], answer="yes", score_answer=True)
>>> row = score_one(case, label, [Reply(Verdict.ANSWER, Status.JSON, answer="no")])
>>> summary = summarise([row])
>>> scalar(summary, "accept_acc"), scalar(summary, "yesno_acc"), scalar(summary, "missed_refusal_rate")
(1.0, 0.0, None)
"""

from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np

from georefusal_task.benchmarks.prompts import Prompt
from georefusal_task.benchmarks.refusal_metrics import FORCED_METRICS, METRICS, Metric
from georefusal_task.benchmarks.refusal_scores import RATES, Outcomes, estimates
from georefusal_task.benchmarks.summary import SMALL, Summary, scalar
from georefusal_task.core.errors import DataError
from georefusal_task.core.records import Case, Intensity, Label, Reason, Reply, ReplyKind, Row, lever_family
from georefusal_task.core.sampling import Mask, Rate, Sample
from georefusal_task.core.stats import Estimate
from georefusal_task.core.verdicts import VERDICTS

__all__ = [
    "FORCED_METRICS",
    "METRICS",
    "SMALL",
    "Metric",
    "Summary",
    "build_prompt",
    "scalar",
    "score_one",
    "summarise",
    "summarise_forced",
]

GROUP_METRICS = (
    "accept_acc", "strict_acc", "answer_recall", "refusal_acc", "false_refusal_rate", "missed_refusal_rate",
    "unparsed_rate",
)  # fmt: skip
"""What each group of a breakdown shows."""

Group = str | None
BREAKDOWNS: dict[str, Callable[[Row], Group]] = {
    "category": lambda row: row.category,
    "intensity": lambda row: row.intensity,
    "lever_family": lambda row: lever_family(row.lever),
    "set": lambda row: row.set,
}
_ORDER: list[str] = [*VERDICTS, *Intensity]


def build_prompt(case: Case, prompt: Prompt) -> str:
    """Return the whole text that goes with the image of this case."""
    return prompt.text(case)


def score_one(case: Case, label: Label, replies: Sequence[Reply], kind: ReplyKind = "verdict") -> Row:
    """Return the scored row of one item.

    Args:
        case: what the model saw.
        label: what was right.
        replies: one or more replies as read; the first is the one that counts, the others serve the repeat metrics.
        kind: what the prompt asked for. A letter carries no yes/no, so nothing can be right or wrong at answer level.
    """
    first = replies[0]
    return Row(
        id=case.id,
        set=case.set,
        gold=label.gold,
        accept=label.accept,
        gold_answer=None if kind == "letter" else label.answer,
        category=label.category,
        intensity=label.intensity,
        lever=label.lever,
        score_answer=label.score_answer,
        verdict=first.verdict,
        status=first.status,
        reason=first.reason,
        answer=first.answer,
        flags=first.flags,
        confidence=first.confidence,
        repeats=tuple(reply.verdict for reply in replies) if len(replies) > 1 else (),
    )


def summarise(rows: Iterable[Row], *, clusters: Mapping[str, str] | None = None, grey: bool = False) -> Summary:
    """Return every metric of the rows, broken down and tested; the order of rows changes nothing.

    Args:
        rows: one per item; equal ones under one id (ranks of a distributed run) count once.
        clusters: item id -> anything that items of one base question or base image share.
        grey: the images were grey, so `answer_rate` is reported as `grey_answer_rate`.

    Raises:
        DataError: one id with different rows, or an id that `clusters` does not know.
    """
    kept = _unique(rows)
    outcomes, sample = Outcomes.of(kept), Sample.of([row.id for row in kept], clusters)
    found = estimates(outcomes, sample)
    if grey:
        found["grey_answer_rate"] = found.pop("answer_rate")
    return Summary(
        n=len(kept),
        metrics={name: found[name] for name in METRICS if name in found},
        by=_breakdowns(kept, sample, {name: RATES[name](outcomes) for name in GROUP_METRICS}, BREAKDOWNS),
        tests={"always_answer": sample.test(outcomes.right, outcomes.answerable)},
    )


def summarise_forced(rows: Iterable[Row], *, clusters: Mapping[str, str] | None = None) -> Summary:
    """Return the metrics of the forced prompt, where every reply should be yes or no; also by intensity.

    Above chance on items whose evidence was taken away, the yes/no shows that it was not, or that the question alone
    gives it away. Raises as `summarise` does.
    """
    kept = _unique(rows)
    said = _mask(row.answer in {"yes", "no"} for row in kept)
    everything = np.ones_like(said)
    rates = {
        "forced_acc": (
            said & _mask(row.answer == row.gold_answer for row in kept),
            _mask(bool(row.gold_answer) for row in kept),
        ),
        "forced_yes_share": (_mask(row.answer == "yes" for row in kept), said),
        "unparsed_rate": (~said, everything),
        "host_error_rate": (_mask(row.reason == Reason.HOST_ERROR for row in kept), everything),
    }
    sample = Sample.of([row.id for row in kept], clusters)
    return Summary(
        n=len(kept),
        metrics={name: sample.rate(*rates[name]) for name in FORCED_METRICS},
        by=_breakdowns(kept, sample, rates, {"intensity": BREAKDOWNS["intensity"]}),
    )


def _mask(flags: Iterable[bool]) -> Mask:
    return np.fromiter(flags, np.bool_)


def _unique(rows: Iterable[Row]) -> list[Row]:
    """Return one row per id."""
    kept: dict[str, Row] = {}
    for row in rows:
        first = kept.setdefault(row.id, row)
        if first is not row and first != row:
            raise DataError(f"item {row.id} was scored twice with different results; score one run at a time")
    return list(kept.values())


def _breakdowns(
    rows: Sequence[Row], sample: Sample, rates: Mapping[str, Rate], breakdowns: Mapping[str, Callable[[Row], Group]]
) -> dict[str, dict[str, dict[str, Estimate]]]:
    """Return the rates for each group of each breakdown, verdicts and intensities in their own order."""
    found: dict[str, dict[str, dict[str, Estimate]]] = {}
    for breakdown, group_of in breakdowns.items():
        members: dict[str, list[int]] = {}
        for place, row in enumerate(rows):
            if (group := group_of(row)) is not None:
                members.setdefault(group, []).append(place)
        found[breakdown] = {}
        for group in sorted(members, key=lambda group: (_ORDER.index(group) if group in _ORDER else -1, group)):
            member = np.zeros(len(rows), dtype=np.bool_)
            member[members[group]] = True
            found[breakdown][str(group)] = {
                name: _shown(sample, hits, among & member) for name, (hits, among) in rates.items()
            }
    return found


def _shown(sample: Sample, hits: Mask, among: Mask) -> Estimate:
    """Return the rate, or its counts alone where there are too few items for one."""
    n = int(among.sum())
    if not 0 < n < SMALL:
        return sample.rate(hits, among)
    return Estimate(None, None, None, n, f"counts only, n < {SMALL}", count=int((hits & among).sum()))
