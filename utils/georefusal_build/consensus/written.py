"""The outcome of a consensus on disk: every decision, the report, and the set of candidates that go on."""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from georefusal_build.consensus.page import markdown
from georefusal_build.consensus.rates import confusion, fleiss, left_out, pairs, pass_rates, yields
from georefusal_build.consensus.rules import Decision, Needed, Outcome
from georefusal_build.consensus.votes import Verifier
from georefusal_build.layout import SetItem, json_line, side_files, write_set

STATUS = {Outcome.ACCEPTED: "verified", Outcome.CONTESTED: "contested", Outcome.INCOMPLETE: "unreviewed"}
"""What a candidate that stays is marked as."""


def write_consensus(
    source: Path, out: Path, decisions: Sequence[Decision], verifiers: Sequence[Verifier], needed: Needed
) -> None:
    """Write the set of the candidates that stay, with their votes, and beside it `consensus.jsonl`, `.json` and `.md`.

    A rejected candidate leaves its id and votes in `consensus.jsonl`, for study, and no image.

    Raises:
        ConfigError: `out` exists.
    """
    report = summary(decisions, verifiers, needed)
    files = side_files(source) | {
        "consensus.jsonl": "".join(json_line(_decision(one)) for one in sorted(decisions, key=lambda d: d.item.id)),
        "consensus.json": json.dumps(report, indent=2, ensure_ascii=False) + "\n",
        "CONSENSUS.md": markdown(report),
    }
    write_set(out, [_marked(one) for one in decisions if one.outcome in STATUS], files=files)


def summary(decisions: Sequence[Decision], verifiers: Sequence[Verifier], needed: Needed) -> dict[str, Any]:
    """Return the whole report as plain JSON."""
    names = [one.name for one in verifiers]
    return {
        "items": len(decisions),
        "outcomes": {outcome: sum(one.outcome is outcome for one in decisions) for outcome in Outcome},
        "needed": {"verifiers": needed.verifiers, "nonfactual": needed.nonfactual},
        "verifiers": {
            one.name: {
                "votes": len(one.image),
                "unreadable": sum(vote.verdict is None for vote in one.image.values()),
                "retried": one.retried,
                "informed": len(one.informed),
                "informed_unreadable": sum(checks is None for checks in one.informed.values()),
                "confusion": {gold: dict(said) for gold, said in confusion(decisions, one.name).items() if said},
            }
            for one in verifiers
        },
        "pass_rates": [
            {
                "family": one.family,
                "intensity": one.intensity,
                "verifier": one.verifier,
                "blind": one.blind.to_json(),
                "informed": one.informed.to_json(),
            }
            for one in pass_rates(decisions, names)
        ],
        "pairs": [
            {"verifiers": pair, **{name: value.to_json() for name, value in figures.items()}}
            for pair, figures in pairs(decisions, names).items()
        ],
        "fleiss_kappa": fleiss(decisions, names).to_json(),
        "changed_without": {name: share.to_json() for name, share in left_out(decisions, verifiers, needed).items()}
        if len(verifiers) > 1
        else {},
        "yield": {
            row: {way: rate.to_json() for way, rate in rates.items()}
            for row, rates in yields(decisions, len(verifiers)).items()
        },
    }


def _decision(one: Decision) -> dict[str, Any]:
    label = one.item.label
    return {
        "id": one.item.id,
        "outcome": one.outcome,
        "gold": label.gold,
        "lever": label.lever,
        "anchor": label.anchor,
        "base_id": one.item.provenance.get("base_id"),
        "attempt": one.item.provenance.get("attempt"),
        "agreeing": one.agreeing,
        "confirming": one.confirming,
        "votes": _votes(one),
    }


def _votes(one: Decision) -> list[dict[str, Any]]:
    return [
        {
            "verifier": name,
            "verdict": vote.verdict,
            "answer": vote.answer,
            "agrees": vote.agrees(one.item.label),
            "checks": one.checks.get(name),
        }
        for name, vote in sorted(one.votes.items())
    ]


def _marked(one: Decision) -> SetItem:
    row = one.item.provenance | {"verifier_votes": _votes(one), "status": STATUS[one.outcome]}
    return replace(one.item, provenance=row)
