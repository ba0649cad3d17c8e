"""An audit written down: AUDIT.md for people, audit.json for programs."""

import math
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from georefusal_build.audit.advice import advice
from georefusal_build.audit.gates import GATES, Finding, Outcome
from georefusal_build.audit.plan import TIERS
from georefusal_build.audit.run import Audit
from georefusal_build.audit.settings import ALPHA, FEWEST_GROUPS, FEWEST_ITEMS, FEWEST_OF_A_CLASS
from georefusal_build.audit.trial import NEAR
from georefusal_task.core.stats import SIGN_FLIP_BELOW
from georefusal_task.report.tables import UNDEFINED, Table
from georefusal_task.report.texts import markdown

VERDICTS = {
    "leaks": "**Leaks.** The labels can be guessed without looking at what is asked about.",
    "nothing found": "**These probes found nothing.** That is all a pass means: other probes might find something.",
    "too few items": "**Too few items.** No gate could be decided in a tier that every set is held to.",
}
_METHOD = """\
## How it was made

- A guess gets one over the number of classes in balanced accuracy. Inside families, figures are standardised in each
  family, and every family weighs as much for answers as for refusals: to know the family is worth nothing.
- Logistic regression (L2, C = 1), random forest ({trees} trees), histogram gradient boosting ({rounds} rounds of 8
  leaves); 5 folds by source image, seeded. A first look takes {first} of the repeats; figures less than {near} below a
  limit of their gate, or over it, take all {repeats}, each with other folds. "Accuracy" is of the strongest model,
  which is taught with all classes weighing alike; "majority" and "at random" are what guessing gets there.
- Intervals: 95 %, {draws:,} bootstrap samples of source images.
- Where a limit is crossed, the models over it are trained anew on labels shuffled within source images and between
  those of one size, the strongest first, until one fails the set: logistic regression on up to {refits:,} shuffles,
  the two models of trees on up to {tree_refits}; fewer where the first ones make a figure look common. "Shuffled
  labels, to": what the strongest of them stays under in 95 %.
- p: the chance that any of the {looks} gated scores strays as far from what its model gets on shuffled labels
  (Student's t, Bonferroni). A gate fails a set where a limit is crossed and p is at most {alpha}: of sets without any
  leak at most about {alpha:.0%} fail, all gates taken together. No p is worked out where no limit is crossed.
- A gate needs {items} items, {of_a_class} of each class and {groups} source images.
"""
_COLUMNS = (
    *("seen", "guessed", "items", "images", "logistic", "forest", "boosting", "strongest, 95 %", "accuracy"),
    *("majority", "at random", "shuffled labels, to", "p", "would be found", "result"),
)


def audit_markdown(audit: Audit) -> str:
    """Return AUDIT.md."""
    parts = [
        f"# Leakage audit of {markdown(audit.subjects.folder.name)}",
        VERDICTS[audit.verdict],
        _facts(audit),
        _leaks(audit),
        _power(audit),
        *(_tier(tier, audit) for tier in TIERS),
        _method(audit),
    ]
    return "\n\n".join(part.strip("\n") for part in parts if part) + "\n"


def audit_json(audit: Audit) -> dict[str, Any]:
    """Return audit.json: the verdict, every figure, and how they were made. Nothing in it depends on time or place."""
    return {
        "verdict": audit.verdict,
        "meaning": VERDICTS[audit.verdict].replace("*", ""),
        "undecided_tiers": list(audit.undecided),
        "data": {
            "digest": audit.subjects.benchmark.digest,
            "items": len(audit.subjects.items),
            "source_images": len(np.unique(audit.subjects.groups)),
            "grouping": audit.subjects.grouping,
            "provenance": bool(audit.subjects.rows),
        },
        "false_alarm_rate": ALPHA,
        "settings": {name: value for name, value in asdict(audit.settings).items() if name != "jobs"},
        "findings": [_row(finding) for finding in audit.findings],
        "not_run": [{"tier": tier, "why": why} for tier, why in audit.left_out],
        "one_sided_families": list(audit.one_sided),
    }


def _row(finding: Finding) -> dict[str, Any]:
    target = finding.target
    return {
        "tier": finding.tier,
        "features": finding.features,
        "target": target.name,
        "scope": target.scope,
        "n": len(target.y),
        "source_images": finding.sources,
        "classes": dict(
            zip(target.classes, np.bincount(target.y, minlength=len(target.classes)).tolist(), strict=True)
        ),
        "chance": target.chance,
        "scores": [asdict(score) for score in finding.scores],
        "majority_accuracy": _majority(finding),
        "random_accuracy": _random(finding),
        "shuffled_labels": finding.null and {"mean": finding.null[0], "q95": finding.null[1]},
        "detectable": detectable(target.chance, len(target.y)),
        "gate": finding.gate.text if finding.gate else None,
        "outcome": finding.outcome.name.lower(),
        "why": finding.why or None,
        "suspects": [{"figure": name, "area_under_curve": area} for name, area in finding.suspects],
        "advice": advice(finding) if finding.outcome == Outcome.LEAK else None,
    }


def detectable(chance: float, n: int) -> float:
    """Return the balanced accuracy that n independent items show to be above chance in 80 % of cases.

    >>> round(detectable(0.5, 784), 3)
    0.55
    """
    return min(1.0, chance + 2.80 * math.sqrt(chance * (1 - chance) / n))


def _facts(audit: Audit) -> str:
    subjects = audit.subjects
    sources = len(np.unique(subjects.groups))
    digest = subjects.benchmark.digest[:12]
    lines = [f"{len(subjects.items)} items from {sources} source images, data digest `{digest}`. {subjects.grouping}"]
    if audit.undecided:
        lines.append(f"Not decided, for want of items or source images: every gate of {', '.join(audit.undecided)}.")
    if sources < SIGN_FLIP_BELOW:
        lines.append(f"Only {sources} source images: intervals over so few are too short, trust p.")
    lines += _too_few(audit)
    if audit.one_sided:
        names = ", ".join(markdown(name or "(no lever)") for name in audit.one_sided)
        lines.append(f"Families with answerable items only, or refusals only, whose name alone tells: {names}.")
    watched = [finding for finding in audit.findings if finding.outcome == Outcome.CHANCE]
    if watched:
        lines.append(
            f"{len(watched)} figures lie over their limit by no more than chance would bring about somewhere among so "
            f"many; they fail nothing, and are marked below."
        )
    return "\n".join(f"- {line}" for line in lines)


def _too_few(audit: Audit) -> list[str]:
    """Return a line on the families that are judged in wider rows only."""
    narrow = {
        f.target.name: f.why for f in audit.findings if f.target.scope in ("family", "category") and f.tier == "T3"
    }
    few = [f"{markdown(name.removeprefix('inside '))} ({why})" for name, why in narrow.items() if why]
    return [f"Too few for a gate of their own, judged in the wider rows only: {'; '.join(few)}."] if few else []


def _leaks(audit: Audit) -> str:
    if not audit.leaks:
        return ""
    return "## What leaks\n\n" + "\n".join(_leak(finding) for finding in audit.leaks)


def _leak(finding: Finding) -> str:
    score = finding.strongest
    figure = f"{score.balanced:.3f} [{score.low:.3f}, {score.high:.3f}]" if score else ""
    named = "; ".join(f"{markdown(name)} (area {area:.2f})" for name, area in finding.suspects)
    return (
        f"- **{finding.tier}, {markdown(finding.target.name)}**: {figure} from {markdown(finding.features)}."
        f"{f' Alone: {named}.' if named else ''} To mend: {markdown(advice(finding), 200)}."
    )


def _power(audit: Audit) -> str:
    n = len(audit.subjects.items)
    gated = [finding for finding in audit.findings if finding.gate and finding.scores]
    pooled = max((len(f.target.y) for f in gated if f.target.scope != "set"), default=0)
    inside = (
        f" Inside families, pooled, {pooled} items find {detectable(0.5, pooled):.3f}; a single family of 60, only "
        f"{detectable(0.5, 60):.3f}."
        if pooled
        else ""
    )
    half = 196 * 0.5 / math.sqrt(n)
    return (
        f"## Power\n\nWith {n} items, were they independent, balanced accuracy of two classes is known to {half:.1f} "
        f"points either way, and {detectable(0.5, n):.3f} is told from .500 in 80 % of cases.{inside} Smaller leaks "
        "stay hidden, as do those that none of these features and models can express."
    )


def _tier(tier: str, audit: Audit) -> str:
    findings = [finding for finding in audit.findings if finding.tier == tier]
    notes = [f"Not run: {why}." for where, why in audit.left_out if where == tier]
    notes += [
        f"Too few for a figure: {finding.target.name} ({finding.why})."
        for finding in findings
        if finding.outcome == Outcome.TOO_FEW and finding.target.scope not in ("family", "category")
    ]
    rows = [_cells(finding) for finding in findings if finding.scores]
    head = f"## {tier}: {TIERS[tier]}"
    if rows:
        table = Table(_caption(tier), _COLUMNS, tuple(rows), tuple(notes), frozenset({0, 1, len(_COLUMNS) - 1}))
        return f"{head}\n\n{table.markdown()}"
    return f"{head}\n\n" + "\n".join(f"- {markdown(note, 4_000)}" for note in notes) if notes else ""


def _caption(tier: str) -> str:
    if tier == "T4":
        return "What provenance gives away; no gate: it shows why provenance must never reach a prompt"
    if tier == "T5":
        return "Models that saw no image, or that of another item; no gate"
    return f"Balanced accuracy of classifiers that never saw the source image; gate: {GATES[tier].text}"


def _cells(finding: Finding) -> tuple[str, ...]:
    target, score = finding.target, finding.strongest
    by_model = {one.model: f"{one.balanced:.3f}" for one in finding.scores}
    interval = f"{score.balanced:.3f} [{score.low:.3f}, {score.high:.3f}]" if score else UNDEFINED
    return (
        finding.features,
        target.name,
        str(len(target.y)),
        str(finding.sources),
        *(by_model.get(name, UNDEFINED) for name in ("logistic", "forest", "boosting")),
        interval,
        f"{score.accuracy:.3f}" if score else UNDEFINED,
        f"{_majority(finding):.3f}",
        f"{_random(finding):.3f}",
        f"{finding.null[1]:.3f}" if finding.null else UNDEFINED,
        _smallest(finding),
        f"{detectable(target.chance, len(target.y)):.3f}",
        str(finding.outcome),
    )


def _smallest(finding: Finding) -> str:
    known = [score.p for score in finding.scores if score.p is not None]
    return f"{min(known):.4f}" if known else UNDEFINED


def _shares(finding: Finding) -> Sequence[float]:
    return [float(share) for share in np.bincount(finding.target.y) / len(finding.target.y)]


def _majority(finding: Finding) -> float:
    """Return the accuracy of always guessing the most frequent class."""
    return max(_shares(finding))


def _random(finding: Finding) -> float:
    """Return the expected accuracy of guessing at random in the proportions of the classes."""
    return sum(share**2 for share in _shares(finding))


def _method(audit: Audit) -> str:
    s = audit.settings
    return _METHOD.format(
        trees=s.trees,
        rounds=s.rounds,
        first=min(s.first, s.repeats),
        near=f"{NEAR:.2f}".lstrip("0"),
        repeats=s.repeats,
        draws=s.draws,
        refits=s.refits,
        tree_refits=s.tree_refits,
        looks=sum(len(finding.scores) for finding in audit.findings if finding.gate),
        alpha=ALPHA,
        items=FEWEST_ITEMS,
        of_a_class=FEWEST_OF_A_CLASS,
        groups=FEWEST_GROUPS,
    )
