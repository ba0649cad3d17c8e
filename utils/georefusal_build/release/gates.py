"""What a set has to fulfil before it is released; every gate that is shut says what to do."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from georefusal_build.layout import SetItem
from georefusal_task.core.verdicts import REFUSALS, Verdict, primary

REVIEWED = "reviewed"
"""Status of an item that people have judged."""

MANY_VERDICTS = 0.05
"""A larger share of items with several accepted verdicts says that categories run into each other."""


@dataclass(frozen=True)
class Gate:
    """One condition. `detail` says what was found, and what to do where it is shut."""

    name: str
    passed: bool
    detail: str


@dataclass(frozen=True)
class Limits:
    """How far a set may be from even: shares of answerable items and of "yes" among them, each around one half."""

    answerable: float = 0.1
    yes: float = 0.1


def content_gates(items: Sequence[SetItem], limits: Limits | None = None, *, unreviewed: bool = False) -> list[Gate]:
    """Return the gates that need nothing but the rows. `unreviewed`: items that nobody has reviewed are let through."""
    limits = limits or Limits()
    return [
        _fingerprints(items),
        _accept_sets(items),
        _several_verdicts(items),
        _categories(items),
        _share("answerable items", [one.label.gold is Verdict.ANSWER for one in items], limits.answerable),
        _share(
            '"yes" among answerable items',
            [one.label.answer == "yes" for one in items if one.label.answer],
            limits.yes,
        ),
        _review(items, unreviewed=unreviewed),
    ]


def audit_gate(audit: Any, *, too_few: bool = False) -> Gate:
    """Return the gate of the leakage audit. `too_few`: a set that is too small to be audited is let through."""
    if audit.verdict == "leaks":
        found = ", ".join(sorted({f"{one.tier} {one.target.name}" for one in audit.leaks}))
        return Gate("audit", passed=False, detail=f"the set leaks ({found}); AUDIT.md says what to change")
    if audit.verdict == "too few items":
        detail = f"too few items or source images for the tiers {', '.join(audit.undecided)}"
        return Gate("audit", too_few, detail + ("" if too_few else "; add items, or pass --small, which the card says"))
    return Gate("audit", passed=True, detail="these probes found nothing")


def exclusion_gates(overlap: Any) -> list[Gate]:
    """Return the gate of the images that must not be in a set; none where no image to exclude was given."""
    if not (overlap.compared or overlap.unreadable):
        return []
    items = sorted({match.item for match in overlap.excluded})
    detail = (
        f"compared with {overlap.compared} images ({len(overlap.unreadable)} more not readable), matches: {len(items)}"
    )
    if items:
        detail += f", such as {items[0]}; AUDIT.md lists them: drop these items"
    return [Gate("excluded images", not items, detail)]


def _fingerprints(items: Sequence[SetItem]) -> Gate:
    owners: dict[str, list[str]] = {}
    for one in items:
        owners.setdefault(str(one.provenance["fingerprint"]), []).append(one.id)
    twice = [ids for ids in owners.values() if len(ids) > 1]
    if twice:
        named = "; ".join(" and ".join(ids) for ids in twice[:5])
        return Gate(
            "fingerprints",
            passed=False,
            detail=f"{len(twice)} pairs show one image with one question: {named}; drop one of each",
        )
    return Gate("fingerprints", passed=True, detail=f"{len(owners)} of {len(items)} unique")


def _accept_sets(items: Sequence[SetItem]) -> Gate:
    wrong = [
        one.id
        for one in items
        if (Verdict.ANSWER in one.label.accept and len(one.label.accept) > 1)
        or (one.label.gold is Verdict.ANSWER) != (one.label.answer in ("yes", "no"))
    ]
    if wrong:
        return Gate(
            "accept sets",
            passed=False,
            detail=f"{len(wrong)} items accept ANSWER beside a refusal, or lack a yes or no, such as {wrong[0]}; "
            "mend the labels",
        )
    return Gate("accept sets", passed=True, detail="ANSWER is never accepted beside a refusal")


def _several_verdicts(items: Sequence[SetItem]) -> Gate:
    several = [one for one in items if len(one.label.accept) > 1]
    share = len(several) / len(items)
    lower = [one.id for one in several if one.label.gold is not primary(one.label.accept)]
    detail = f"{len(several)} of {len(items)} items accept several"
    if share > MANY_VERDICTS:
        return Gate(
            "several verdicts", passed=False, detail=f"{detail}, more than {MANY_VERDICTS:.0%}; look at their levers"
        )
    return Gate(
        "several verdicts",
        passed=True,
        detail=detail + (f"; in {len(lower)} gold is not the first in order" if lower else ""),
    )


def _categories(items: Sequence[SetItem]) -> Gate:
    counts = Counter(one.label.gold for one in items)
    missing = [verdict for verdict in (Verdict.ANSWER, *REFUSALS) if not counts[verdict]]
    if missing:
        return Gate("categories", passed=False, detail=f"no item is {', '.join(missing)}; build more, or other levers")
    return Gate(
        "categories",
        passed=True,
        detail=", ".join(f"{verdict} {counts[verdict]}" for verdict in (Verdict.ANSWER, *REFUSALS)),
    )


def _share(what: str, marks: Sequence[bool], tolerance: float) -> Gate:
    if not marks:
        return Gate(f"balance: {what}", passed=False, detail="there is none; build more bases")
    share = sum(marks) / len(marks)
    detail = f"{sum(marks)} of {len(marks)} ({share:.1%}); half, give or take {tolerance:.0%}"
    passed = abs(share - 0.5) <= tolerance + 1e-9
    return Gate(
        f"balance: {what}", passed, detail if passed else f"{detail}; drop items of the larger part or build more"
    )


def _review(items: Sequence[SetItem], *, unreviewed: bool) -> Gate:
    states = Counter(str(one.provenance.get("status", "unknown")) for one in items)
    listed = ", ".join(f"{count} {state}" for state, count in sorted(states.items()))
    if states["contested"]:
        return Gate("review", passed=False, detail=f"{listed}; contested items need people: georefusal build review")
    if set(states) == {REVIEWED} or unreviewed:
        return Gate("review", passed=True, detail=listed)
    return Gate(
        "review", passed=False, detail=f"{listed}; review them, or pass --unreviewed, which the card and every row say"
    )
