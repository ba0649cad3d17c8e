"""CPU seconds of a default audit of 600 items, ten families that are all large enough for gates of their own.

CPU time of one process, so that other work on the machine does not count; the probes run side by side, so that two
cores take about half. Beside it: what the same probes would cost if each took all repeats and all shuffles, estimated
from one family in every tier. Reading the images is not in it: they are looked at once and remembered.
"""

import time
from collections import defaultdict
from dataclasses import replace

from support.audit_sets import made_up

from georefusal_build.audit.gates import Outcome
from georefusal_build.audit.models import MODELS, refitted, votes
from georefusal_build.audit.plan import Probe, make_plan
from georefusal_build.audit.progress import Progress
from georefusal_build.audit.run import probe_all
from georefusal_build.audit.settings import Settings
from georefusal_build.audit.shuffles import shuffled
from georefusal_build.audit.subjects import Subjects
from georefusal_task.core.verdicts import Verdict

GOAL = 1200
"""CPU seconds: ten minutes on two cores."""
FAMILIES = {
    **dict.fromkeys(("im_occlude", "im_redact", "im_saturate", "im_truncate", "im_bury"), Verdict.INFO_MISSING),
    **dict.fromkeys(("fp_entity", "fp_place"), Verdict.FALSE_PREMISE),
    **dict.fromkeys(("aq_scope", "aq_region"), Verdict.AMBIGUOUS),
    "gm_decimate": Verdict.GRANULARITY,
}
SETTINGS = Settings(jobs=1)


def audited(leak: str) -> None:
    subjects = made_up(1, leak, families=FAMILIES)
    start = time.process_time()
    probes = make_plan(subjects).probes
    findings = probe_all(probes, subjects, SETTINGS, Progress())
    spent = time.process_time() - start
    over = sum(finding.outcome in (Outcome.LEAK, Outcome.CHANCE) for finding in findings)
    tried = sum(bool(finding.scores) for finding in findings)
    print(
        f"{leak or 'no leak':10}{len(subjects.items):6}{tried:8}{over:12}{spent:10.0f}{GOAL / spent:8.1f}", flush=True
    )


def everything(subjects: Subjects) -> None:
    """Print what all repeats and all shuffles of every probe would take, by one single family of each tier."""
    by_tier: dict[tuple[str, bool], list[Probe]] = defaultdict(list)
    for probe in make_plan(subjects).probes:
        if not probe.target.too_few(subjects.groups):
            by_tier[probe.tier, probe.gate is not None].append(probe)
    total = 0.0
    for (_, gated), probes in by_tier.items():
        probe = next((one for one in probes if one.target.scope == "family"), probes[0])
        owners = probe.owners[probe.target.places]
        start = time.process_time()
        votes(probe.data, probe.target, owners, SETTINGS, repeats=range(1))
        spent = SETTINGS.repeats * (time.process_time() - start)
        start = time.process_time()
        if gated:
            few = replace(SETTINGS, refits=4, tree_refits=4)
            orders = shuffled(probe.target, subjects.groups, 4, 1)
            for name, count in zip(MODELS, (SETTINGS.refits, SETTINGS.tree_refits, SETTINGS.tree_refits), strict=True):
                start = time.process_time()
                list(refitted(name, probe.data, probe.target, owners, orders, few))
                spent += (time.process_time() - start) * count / 4
        total += spent * len(probes)
    print(f"all repeats and all shuffles of every probe would take about {total:.0f} s")


def main() -> None:
    print(f"{'set':10}{'items':>6}{'probes':>8}{'over limit':>12}{'CPU s':>10}{'goal / it':>10}")
    for leak in ("", "bytes", "order"):
        audited(leak)
    everything(made_up(1, families=FAMILIES))


if __name__ == "__main__":
    main()
