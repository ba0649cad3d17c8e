"""The report of a review as text for the terminal."""

from collections.abc import Iterator, Mapping
from typing import Any

from georefusal_build.review.merge import LEVER_OFF
from georefusal_build.review.rates import FEW, GOOD, USABLE


def text(report: Mapping[str, Any]) -> str:
    """Return what `review score` prints."""
    return "\n".join(_lines(report))


def _lines(report: Mapping[str, Any]) -> Iterator[str]:
    yield f"{report['judged_by_two']} of {report['items']} items judged by two or more ({report['clusters']} clusters)"
    for name, one in report["reviewers"].items():
        yield f"\nreviewer {name}: {one['judged']} items, median {one['median_seconds']} s, {one['revised']} revised"
        yield f"  as the label        {_rate(one['as_the_label'])}"
        yield f"  repeats the same    {_rate(one['repeats_the_same'])}"
        yield f"  catch items: ANSWER {_rate(one['catch_answered'])}, right {_rate(one['catch_right'])}"
        if one["flags"]:
            yield "  flags               " + ", ".join(f"{flag} {count}" for flag, count in one["flags"].items())
    for scale, figures in report["agreement"].items():
        yield f"\nagreement on {scale}"
        for who, values in figures.items():
            for name, value in values.items():
                yield f"  {who:16} {name.replace('_', ' '):20} {_value(value)}"
    yield f"\nKrippendorff's alpha by family (from {GOOD} good, from {USABLE} usable with a note, else not)"
    for family, one in report["families"].items():
        value = one["krippendorff_alpha"]
        yield f"  {family:20} {_value(value)}  {one['grade']}"
    changes = report["changes"]
    yield (
        f"\nverdicts settled by the two alone: {changes['settled']}, of them against the label {changes['changed']}; "
        f"the two differ on {changes['differ']}"
    )
    if changes["alarm"]:
        yield f"ALARM: {changes['alarm']}"
    for lever in report["levers"]:
        if lever["off"]:
            share = f"{lever['changed']} of {lever['settled']} verdicts changed, more than {LEVER_OFF:.0%}"
            yield f"ALARM: {lever['lever']}: {share}; adjudicate would switch it off"


def _value(value: Mapping[str, Any]) -> str:
    if value["value"] is None:
        return f"undefined (n = {value['n']})"
    return f"{value['value']:6.3f}  [{value['low']:.3f}, {value['high']:.3f}]  n = {value['n']}"


def _rate(value: Mapping[str, Any]) -> str:
    if value["value"] is None:
        return "none"
    count = f"{value['count']}/{value['n']}"
    return count if value["n"] < FEW else f"{count} = {value['value']:.3f} [{value['low']:.3f}, {value['high']:.3f}]"
