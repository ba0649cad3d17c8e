"""The data card of a release: every number in it is counted from the rows or read from the steps' own reports."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from georefusal_build.catalogue import levers
from georefusal_build.layout import TABLES, SetItem
from georefusal_build.markdown import table
from georefusal_build.release.croissant import About, data_files
from georefusal_build.release.gates import Gate
from georefusal_task.core.records import Intensity
from georefusal_task.core.verdicts import REFUSALS, VERDICTS
from georefusal_task.report.provenance import MEASURED


@dataclass(frozen=True)
class CardFacts:
    """What a card is made from.

    reports: side file -> text, of the steps before (build, consensus, review). images: False where they are left out.
    salt: published with the final version only, "" before.
    """

    about: About
    items: Sequence[SetItem]
    gates: Sequence[Gate]
    reports: Mapping[str, str]
    images: bool = True
    salt: str = ""

    @cached_property
    def notes(self) -> dict[str, str]:
        """The responsible-AI fields of the metadata."""
        measured = sum(item.label.anchor in MEASURED for item in self.items)
        return {
            "dataCollection": "Made from annotated overhead images: a yes/no question with a known answer, changed or "
            "asked under a changed image by one lever, the label measured on the finished item or given by consensus.",
            "dataLimitations": f"{measured} of {len(self.items)} labels rest on a measurement of pixels or geometry, "
            "the others on the structure of the question or on consensus, which is a filter and no certificate.",
            "dataBiases": "Places, sensors and classes are those of the source images; see the counts in README.md.",
            "personalSensitiveInformation": "Overhead images in which people cannot be recognised.",
        }

    def report(self, name: str) -> dict[str, Any]:
        """Return a step's JSON report, {} where the step was not taken."""
        return dict(json.loads(self.reports[name])) if name in self.reports else {}


def card(facts: CardFacts) -> str:
    """Return the README in Markdown, with the header that the Hub and `datasets` read."""
    sections = {
        "Use": _use(facts),
        "Counts": _counts(facts.items),
        "Levers": _levers(facts.items),
        "What labels rest on": _anchors(facts.items),
        "Rejected on the way": _rejects(facts),
        "Consensus": _consensus(facts),
        "Review": _review(facts),
        "Gates": table(("gate", "found"), [(gate.name, gate.detail) for gate in facts.gates])
        + "\n\nThe leakage audit is in AUDIT.md. That its probes found nothing does not prove that there is nothing.",
        "Sources and licences": _sources(facts.items),
        "Limits": _limits(facts),
    }
    body = "\n\n".join(f"## {title}\n\n{text}" for title, text in sections.items())
    return f"{_header(facts)}\n# {facts.about.name} {facts.about.version}\n\n{facts.about.description}\n\n{body}\n"


def _header(facts: CardFacts) -> str:
    configs = data_files([f"{name}/{item.case.set}.jsonl" for item in facts.items for name in TABLES])
    lines = ["---", "license: other", "task_categories: [visual-question-answering]", "language: [en]", "configs:"]
    for config, files in configs.items():
        lines += [f"  - config_name: {config}", "    data_files:"]
        for split, path in files.items():
            lines += [f"      - split: {split}", f"        path: {path}"]
    return "\n".join([*lines, "---\n"])


def _use(facts: CardFacts) -> str:
    lines = [
        "One item is an image, a question, and the one right verdict out of six; some accept a second one. Sets are",
        "batches, not splits. Evaluation reads cases, labels and images; provenance must never reach a prompt.",
        "",
        "```",
        f"GEOREFUSAL_DATA={facts.about.name}-{facts.about.version} lmms-eval --tasks georefusalbench --model MODEL ...",
        "```",
    ]
    if not facts.images:
        lines += [
            "",
            "The images are left out, since their sources keep their own terms. Put the folders of your copy of the",
            "sources into recipe/build.yaml and run `georefusal build rebuild RELEASE --config FILE -o DIR`.",
        ]
    if facts.salt:
        lines += ["", f"This version is final; the salt of its ids is `{facts.salt}`."]
    return "\n".join(lines)


def _counts(items: Sequence[SetItem]) -> str:
    modalities = sorted({str(item.provenance.get("modality", "unknown")) for item in items})
    by_modality = Counter((item.label.gold, str(item.provenance.get("modality", "unknown"))) for item in items)
    verdicts = [
        (verdict, *(by_modality[verdict, one] for one in modalities), sum(by_modality[verdict, m] for m in modalities))
        for verdict in VERDICTS
    ]
    by_intensity = Counter((item.label.category, item.label.intensity) for item in items)
    categories = [(category, *(by_intensity[category, one] for one in Intensity)) for category in REFUSALS]
    answers = Counter(item.label.answer for item in items if item.label.answer)
    sets = Counter(item.case.set for item in items)
    several = sum(len(item.label.accept) > 1 for item in items)
    images = len({item.provenance.get("base_image") for item in items})
    text = (
        f"{len(items)} items from {images} source images; sets: {_listed(sets)}; answers: {_listed(answers)}; "
        f"{several} items accept more than one verdict."
    )
    tables = (
        table(("primary verdict", *modalities, "all"), verdicts),
        table(("category of the lever", *Intensity), categories),
    )
    return "\n\n".join((text, *tables))


def _levers(items: Sequence[SetItem]) -> str:
    used = Counter(item.label.lever for item in items)
    known = [lever.id for lever in levers()]
    unused = [lever for lever in known if not used[lever]]
    rows = sorted((str(lever), count) for lever, count in used.items())
    text = f"{len(used.keys() & set(known))} of {len(known)} levers of the catalogue are used."
    missing = f"\n\nUnused: {', '.join(unused)}." if unused else ""
    return f"{text}\n\n{table(('lever', 'items'), rows)}{missing}"


def _anchors(items: Sequence[SetItem]) -> str:
    counts = Counter(item.label.anchor or "not recorded" for item in items)
    measured = sum(counts[anchor] for anchor in MEASURED)
    return (
        f"{measured} of {len(items)} labels are measured on the finished item (`pixel`, `geometry`); the others rest "
        f"on the structure of the question or on consensus.\n\n{table(('anchor', 'items'), sorted(counts.items()))}"
    )


def _rejects(facts: CardFacts) -> str:
    reasons = Counter[str](facts.report("summary.json").get("reasons", {}))
    lost = facts.report("consensus.json").get("outcomes", {}).get("no_consensus", 0)
    if lost:
        reasons["no_consensus"] += lost
    removed = facts.report("review.json").get("removed", [])
    reasons.update(str(one["reason"]) for one in removed if isinstance(one, dict) and "reason" in one)
    if not reasons:
        return "Nothing is recorded."
    return f"Each candidate that went has one reason.\n\n{table(('reason', 'candidates'), sorted(reasons.items()))}"


def _consensus(facts: CardFacts) -> str:
    report = facts.report("consensus.json")
    if not report:
        return "No verifiers were asked."
    names = ", ".join(report["verifiers"])
    return (
        f"Verifiers: {names}. Outcomes: {_listed(report['outcomes'])}. "
        f"Fleiss' kappa {_estimate(report['fleiss_kappa'])}. "
        "Measured labels stand whatever verifiers say; all others needed every one of them."
    )


def _review(facts: CardFacts) -> str:
    states = Counter(str(item.provenance.get("status", "unknown")) for item in facts.items)
    changed = sum(bool(item.provenance.get("verdict_changed")) for item in facts.items)
    text = f"Status of the items: {_listed(states)}. The verdict of {changed} items was changed by reviewers."
    agreement = {
        name: value
        for name, value in facts.report("review.json").get("agreement", {}).items()
        if isinstance(value, dict)
    }
    if agreement:
        shown = ", ".join(f"{name} {_estimate(value)}" for name, value in agreement.items() if "value" in value)
        text += f" Agreement of reviewers: {shown}." if shown else ""
    if set(states) != {"reviewed"}:
        text += " **Not every item has been reviewed blind by people.**"
    return text


def _sources(items: Sequence[SetItem]) -> str:
    rows = Counter(
        tuple(str(item.provenance.get(key) or "-") for key in ("source", "base_image", "license", "attribution"))
        for item in items
    )
    head = ("source", "image", "licence", "attribution", "items")
    if len(rows) > 50:
        rows = Counter()
        for item in items:
            source, licence, owner = (
                str(item.provenance.get(key) or "-") for key in ("source", "license", "attribution")
            )
            rows[source, "all", licence, owner] += 1
    return table(head, [(*key, count) for key, count in sorted(rows.items())])


def _limits(facts: CardFacts) -> str:
    lines = [
        "Thresholds of the label bands are reasoned, not fitted to people.",
        "Items of one source image are not independent; give intervals clustered by base image.",
        "A hidden, coarse or saturated target was made so by a program; real clouds and sensors vary more.",
    ]
    if len(facts.items) < 400:
        lines.insert(
            0, f"{len(facts.items)} items give an accuracy to within about {98 / len(facts.items) ** 0.5:.0f} points."
        )
    return "\n".join(f"- {line}" for line in lines)


def _estimate(value: Mapping[str, Any]) -> str:
    if value.get("value") is None:
        return "undefined"
    return f"{value['value']:.3f} [{value['low']:.3f}, {value['high']:.3f}]"


def _listed(counts: Mapping[Any, int]) -> str:
    return ", ".join(f"{name} {count}" for name, count in sorted(counts.items(), key=lambda pair: str(pair[0])))
