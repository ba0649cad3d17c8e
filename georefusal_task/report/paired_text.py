"""A comparison in words and tables: the sentence, the figures, the groups, and the items on which the two part."""

from functools import partial

from georefusal_task.core.stats import Estimate
from georefusal_task.core.verdicts import Verdict
from georefusal_task.report.paired import Comparison, Difference
from georefusal_task.report.tables import UNDEFINED, Table, figure
from georefusal_task.report.texts import markdown, visible

FLIPS_SHOWN = 20

_TITLES = {
    "gold": "Accepted by gold verdict",
    "category": "Accepted by category of the lever (its answerable items too)",
}


def text(found: Comparison, form: str = "plain", *, flips: int = FLIPS_SHOWN) -> str:
    """Return the comparison as `plain` text or `markdown`, with at most `flips` of the items on which the two part."""
    write = partial(markdown if form == "markdown" else visible, longest=2_000)
    tables = [_rates(found), *(_groups(found, grouping) for grouping in found.groups), _agreement(found)]
    tables += [_flips(found, flips)] if found.flips and flips else []
    parts = [
        *(write(f"Compared all the same, although {why}.") for why in found.forced_over),
        write(found.sentence),
        "\n".join(f"- {write(note)}" for note in found.notes),
        *(table.text(form) for table in tables),
    ]
    return "\n\n".join(part.rstrip("\n") for part in parts if part) + "\n"


def _rates(found: Comparison) -> Table:
    first, second = found.names
    return Table(
        caption=f"Rates over the same {found.n} items, per cent",
        columns=("Rate", first, second, "Difference", "n"),
        rows=tuple((name, *_three(one), str(one.difference.n)) for name, one in found.differences.items()),
    )


def _groups(found: Comparison, grouping: str) -> Table:
    first, second = found.names
    return Table(
        caption=_TITLES[grouping],
        columns=("Group", first, second, "Difference", "n", "p (Holm)"),
        rows=tuple(
            (group.name, *_three(group.accept_acc), str(group.test.n), f"{group.p_holm:.2g}")
            for group in found.groups[grouping]
        ),
    )


def _agreement(found: Comparison) -> Table:
    return Table(
        caption="Agreement over the six verdicts and unparsed",
        columns=("Measure", "Value"),
        rows=tuple((name, _plain(estimate)) for name, estimate in found.agreement.items()),
    )


def _flips(found: Comparison, most: int) -> Table:
    first, second = found.names
    more = len(found.flips) - most
    return Table(
        caption=f"Items on which one alone is right: {found.test.better} for {first}, {found.test.worse} for {second}",
        columns=("Item", "Gold", first, second, "Right"),
        rows=tuple(
            (flip.id, flip.gold, _said(flip.first), _said(flip.second), first if flip.first_is_right else second)
            for flip in found.flips[:most]
        ),
        notes=(f"{more} more; -o FILE.json has all of them",) if more > 0 else (),
        left=frozenset(range(5)),
    )


def _three(one: Difference) -> tuple[str, str, str]:
    return figure(one.first), figure(one.second), figure(one.difference, signed=True)


def _said(verdict: Verdict | None) -> str:
    return verdict or "unparsed"


def _plain(estimate: Estimate) -> str:
    if estimate.value is None or estimate.low is None or estimate.high is None:
        return UNDEFINED
    return f"{estimate.value:.3f} [{estimate.low:.3f}, {estimate.high:.3f}]"
