"""An audit from start to end: `audit(folder) -> Audit`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Literal

import numpy as np

from georefusal_build.audit.blind import blind_runs, blind_targets, said
from georefusal_build.audit.gates import Finding, Outcome, decide
from georefusal_build.audit.models import MODELS
from georefusal_build.audit.pictures import pictures
from georefusal_build.audit.plan import Probe, make_plan
from georefusal_build.audit.progress import Progress
from georefusal_build.audit.settings import Settings
from georefusal_build.audit.shuffles import shuffled
from georefusal_build.audit.subjects import Ints, Subjects, positions, provenance_rows
from georefusal_build.audit.suspects import suspects
from georefusal_build.audit.targets import Target, one_sided
from georefusal_build.audit.trial import Trial, score, trial
from georefusal_task.core.errors import DataError
from georefusal_task.data import load
from georefusal_task.report.runs import Run

__all__ = ["Audit", "Progress", "audit", "probe_all", "read"]

Verdict = Literal["leaks", "nothing found", "too few items"]
NEEDED = ("T0", "T1", "T3")
"""Every set must be large enough for a gate of each of these tiers; the others need provenance, or certain families."""


@dataclass(frozen=True)
class Audit:
    """What the probes found in a set.

    left_out: (tier, why not run). one_sided: families of answerable items only, or of refusals only.
    """

    subjects: Subjects = field(repr=False)
    settings: Settings
    findings: tuple[Finding, ...]
    left_out: tuple[tuple[str, str], ...]
    one_sided: tuple[str, ...]

    @cached_property
    def leaks(self) -> tuple[Finding, ...]:
        """The findings that fail the set."""
        return tuple(finding for finding in self.findings if finding.outcome == Outcome.LEAK)

    @cached_property
    def undecided(self) -> tuple[str, ...]:
        """The tiers that have gates here, none of which could be decided on so few items."""
        tried: dict[str, bool] = dict.fromkeys(NEEDED, False)
        for finding in self.findings:
            if finding.gate:
                tried[finding.tier] = tried.get(finding.tier, False) or bool(finding.scores)
        return tuple(sorted(tier for tier, decided in tried.items() if not decided))

    @property
    def verdict(self) -> Verdict:
        """What the audit comes to."""
        if self.leaks:
            return "leaks"
        return "too few items" if set(self.undecided) & set(NEEDED) else "nothing found"


def audit(
    folder: Path,
    settings: Settings | None = None,
    progress: Progress | None = None,
    *,
    runs: Mapping[str, Path] | None = None,
) -> Audit:
    """Return what the probes find in a set in the released layout, with or without provenance.

    runs: what to call it -> results of a model that did not see the images.

    Raises:
        DataError: the set does not load, has fewer than two source images, or a run is not one of this set.
        ConfigError: of several runs in one place it is not clear which is meant.
    """
    settings, progress = settings or Settings(), progress or Progress()
    subjects = read(folder, settings, progress)
    blind = blind_runs(runs or {}, subjects)
    plan = make_plan(subjects)
    findings = [
        *probe_all(plan.probes, subjects, settings, progress),
        *(
            _blind(label, run, subjects, target, settings)
            for label, run in blind.items()
            for target in blind_targets(subjects)
        ),
    ]
    left_out = [*plan.left_out, *([] if blind else [("T5", "no run was given (--run LABEL=RESULTS)")])]
    return Audit(subjects, settings, tuple(findings), tuple(left_out), one_sided(subjects))


def read(folder: Path, settings: Settings, progress: Progress) -> Subjects:
    """Return a set with the figures of its images.

    Raises: as `audit`.
    """
    benchmark = load(folder)
    if benchmark.folder is None:
        raise DataError(f"{benchmark.source} is no folder; an audit needs the files themselves")
    place = positions(benchmark.folder)
    looked = pictures(benchmark.items, settings.jobs, progress)
    subjects = Subjects(
        folder=benchmark.folder,
        benchmark=benchmark,
        rows=provenance_rows(benchmark.folder),
        pictures=looked,
        positions=np.array([place[item.case.id] for item in benchmark.items], dtype=np.int64),
    )
    if len(np.unique(subjects.groups)) < 2:
        raise DataError(f"{folder}: all {len(looked)} items come from one source image; nothing can be held out")
    return subjects


def probe_all(
    probes: Sequence[Probe], subjects: Subjects, settings: Settings, progress: Progress
) -> tuple[Finding, ...]:
    """Return the findings of all probes, whose gates share one rate of false alarms."""
    from sklearn.utils.parallel import Parallel, delayed

    why = [probe.target.too_few(subjects.groups) or _rigid(probe, subjects.groups, settings) for probe in probes]
    tried = [number for number, reason in enumerate(why) if not reason]
    progress.start("probes", len(tried))
    looks = sum(len(MODELS) for number in tried if probes[number].gate)
    held: dict[int, Trial] = {}
    work = Parallel(n_jobs=settings.jobs, return_as="generator")(
        delayed(trial)(probes[number], subjects.groups, settings, looks) for number in tried
    )
    for number, result in zip(tried, work, strict=True):
        held[number] = result
        progress.step()
    return tuple(_finding(probe, subjects, why[number], held.get(number)) for number, probe in enumerate(probes))


def _rigid(probe: Probe, groups: Ints, settings: Settings) -> str:
    """Return why the labels of a target cannot be shuffled, or "": then no figure can be told from chance."""
    order = shuffled(probe.target, groups, 8, settings.seed)
    same = (probe.target.y[order] == probe.target.y).all()
    return "each source image has one label, and no two have as many items" if same else ""


def _finding(probe: Probe, subjects: Subjects, why: str, held: Trial | None) -> Finding:
    target = probe.target
    sources = len(np.unique(subjects.groups[target.places]))
    if held is None:
        return Finding(probe.tier, probe.features, target, sources, (), probe.gate, Outcome.TOO_FEW, why)
    outcome = decide(probe.gate, held.scores, target.chance)
    finding = Finding(probe.tier, probe.features, target, sources, held.scores, probe.gate, outcome, null=held.null)
    if outcome in (Outcome.LEAK, Outcome.CHANCE):
        return replace(finding, suspects=suspects(probe.data, target))
    return finding


def _blind(label: str, run: Run, subjects: Subjects, target: Target, settings: Settings) -> Finding:
    found = score("run", said(run, subjects, target), target, subjects.groups, settings)
    sources = len(np.unique(subjects.groups[target.places]))
    return Finding("T5", label, target, sources, (found,), None, Outcome.REPORTED)
