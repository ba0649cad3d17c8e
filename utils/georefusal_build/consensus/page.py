"""The report of a consensus for people, in Markdown."""

from collections.abc import Mapping
from typing import Any

from georefusal_build.consensus.rates import UNPARSED
from georefusal_build.markdown import table
from georefusal_task.core.verdicts import VERDICTS

_FEW = 20
"""A rate on fewer items is shown as counts."""


def markdown(report: Mapping[str, Any]) -> str:
    """Return the report that `written.summary` sums up."""
    outcomes = ", ".join(f"{count} {outcome}" for outcome, count in report["outcomes"].items())
    needed, voters = report["needed"], report["verifiers"]
    overall = {rate["verifier"]: rate for rate in report["pass_rates"] if rate["family"] == "all"}
    lead = (
        f"{report['items']} candidates: {outcomes}. {len(voters)} verifiers voted; an item needed "
        f"{needed['verifiers']} of them ({needed['nonfactual']} where no image could settle the question). Consensus "
        "is a filter, not a certificate: a label that rests on it is as good as its verifiers."
    )
    agreement = (
        f"Fleiss' kappa over all verifiers: {_figure(report['fleiss_kappa'])}. Kappa falls where one verdict is "
        "common, AC1 does not."
    )
    parts = {
        "# Consensus of verifiers": lead,
        "## Verifiers": table(
            ("verifier", "blind votes", "unreadable", "agree with the label", "informed", "unreadable", "confirm all"),
            [
                (
                    name,
                    one["votes"],
                    one["unreadable"],
                    _figure(overall[name]["blind"]),
                    one["informed"],
                    one["informed_unreadable"],
                    _figure(overall[name]["informed"]),
                )
                for name, one in voters.items()
            ],
        ),
        "## Yield": "Unanimity favours easy items; the second row shows what one dissenting verifier costs.\n\n"
        + table(
            ("agreeing", "blind", "informed"),
            [(row, _figure(rates["blind"]), _figure(rates["informed"])) for row, rates in report["yield"].items()],
        ),
        "## Agreement": f"{agreement}\n\n"
        + table(
            ("verifiers", "agreement", "Cohen's kappa", "Gwet's AC1"),
            [
                (" and ".join(one["verifiers"]), *(_figure(one[k]) for k in ("agreement", "cohen_kappa", "gwet_ac1")))
                for one in report["pairs"]
            ],
        ),
        "## Without one verifier": table(
            ("left out", "items decided otherwise"),
            [(name, _figure(share)) for name, share in report["changed_without"].items()],
        ),
        "## What verifiers said, by gold verdict": "\n\n".join(
            f"### {name}\n\n{_confusion(one['confusion'])}" for name, one in voters.items()
        ),
        "## Pass rates": table(
            ("family", "intensity", "verifier", "blind", "informed"),
            [
                (one["family"], one["intensity"], one["verifier"], _figure(one["blind"]), _figure(one["informed"]))
                for one in report["pass_rates"]
                if one["family"] != "all"
            ],
        ),
    }
    return "\n\n".join(f"{title}\n\n{text}" for title, text in parts.items()) + "\n"


def _figure(value: Mapping[str, Any]) -> str:
    """Return a value with its interval."""
    if value["value"] is None:
        return "undefined"
    if "count" in value and value["n"] < _FEW:
        return f"{value['count']} of {value['n']}"
    return f"{value['value']:.3f} [{value['low']:.3f}, {value['high']:.3f}], n = {value['n']}"


def _confusion(counts: Mapping[str, Mapping[str, int]]) -> str:
    said = [*VERDICTS, UNPARSED]
    return table(("gold \\ said", *said), [(gold, *(row.get(one, 0) for one in said)) for gold, row in counts.items()])
