"""Which features are tried on which targets, and under which gate."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np

from georefusal_build.audit import features as tiers
from georefusal_build.audit import targets
from georefusal_build.audit.gates import GATES, Gate
from georefusal_build.audit.models import Features
from georefusal_build.audit.subjects import Ints, Subjects
from georefusal_build.audit.targets import Target

TIERS = {
    "T0": "ids, order of rows, times of files",
    "T1": "image files",
    "T2": "questions",
    "T3": "images without the target",
    "T4": "provenance",
    "T5": "models without the image",
    "T6": "base answers and targets",
}
"""Tier -> what it looks at."""

HELD_OUT = "wording, templates held out"
_NO_PROVENANCE = "provenance does not tell"


@dataclass(frozen=True)
class Probe:
    """One tier's features on one target. owners: of each item of the set, what may not be learnt from and guessed."""

    tier: str
    features: str
    data: Features = field(repr=False)
    target: Target
    owners: Ints = field(repr=False)
    gate: Gate | None


@dataclass(frozen=True)
class Plan:
    """All probes of an audit, and why those that are not among them could not be run (tier, reason)."""

    probes: tuple[Probe, ...]
    left_out: tuple[tuple[str, str], ...]


def make_plan(subjects: Subjects) -> Plan:
    """Return the probes for a set, in the order of the tiers."""
    left_out: list[tuple[str, str]] = []
    probes = [probe for part in _PARTS for probe in part(subjects, left_out)]
    return Plan(tuple(probes), tuple(left_out))


Left = list[tuple[str, str]]


def _identity(subjects: Subjects, _: Left) -> Iterator[Probe]:
    data = tiers.identity(subjects)
    for target in [*targets.whole_set(subjects), *targets.inside_families(subjects)]:
        yield Probe("T0", "ids, order, times", data, target, subjects.groups, GATES["T0"])


def _file(subjects: Subjects, _: Left) -> Iterator[Probe]:
    data = tiers.file(subjects)
    for target in [*targets.whole_set(subjects), *targets.inside_families(subjects)]:
        gate = GATES["T1"] if len(target.classes) == 2 else None
        yield Probe("T1", "file", data, target, subjects.groups, gate)


def _question(subjects: Subjects, left_out: Left) -> Iterator[Probe]:
    data = tiers.question(subjects)
    for target in [*targets.whole_set(subjects), *targets.inside_families(subjects)]:
        yield Probe("T2", "wording", data, target, subjects.groups, None)
    for target in [*targets.same_wording(subjects), *targets.shared_wording(subjects)]:
        yield Probe("T2", "wording", data, target, subjects.groups, GATES["T2"])
    named = tiers.templates(subjects)
    if named is None:
        left_out.append(("T2", f"with templates held out: {_NO_PROVENANCE} which template an item has (template_id)"))
        return
    owners = np.unique(np.array(named), return_inverse=True)[1]
    for target in [*targets.whole_set(subjects), *targets.inside_families(subjects)]:
        if len(np.unique(owners[target.places])) > 1:
            yield Probe("T2", HELD_OUT, data, target, owners, None)


def _pixels(subjects: Subjects, _: Left) -> Iterator[Probe]:
    data = tiers.pixels(subjects)
    for target in targets.whole_set(subjects):
        yield Probe("T3", "whole image", data, target, subjects.groups, None)
    for target in targets.inside_families(subjects):
        yield Probe("T3", "whole image", data, target, subjects.groups, GATES["T3"])


def _provenance(subjects: Subjects, left_out: Left) -> Iterator[Probe]:
    wanted = [*targets.whole_set(subjects), *targets.category(subjects)]
    for name, data in (
        ("effective ground sample distance", tiers.effective_sampling(subjects)),
        ("sampling, parameters, measurements", tiers.pulled(subjects)),
    ):
        if data is None:
            left_out.append(("T4", f"{name}: {_NO_PROVENANCE}"))
            continue
        for target in wanted:
            yield Probe("T4", name, data, target, subjects.groups, None)


def _base(subjects: Subjects, left_out: Left) -> Iterator[Probe]:
    data = tiers.base(subjects)
    if data is None:
        left_out.append(("T6", f"{_NO_PROVENANCE} base answers or boxes"))
        return
    for target in targets.inside_families(subjects, tiers.base_known(subjects)):
        yield Probe("T6", "base", data, target, subjects.groups, GATES["T6"])


_PARTS: tuple[Callable[[Subjects, Left], Iterator[Probe]], ...] = (
    _identity,
    _file,
    _question,
    _pixels,
    _provenance,
    _base,
)
