"""What settles a base question: whether all of it is known, where it lies, and whether the clean image shows it."""

from itertools import compress

from georefusal_build.anchors import measure
from georefusal_build.anchors_scan import scan_z
from georefusal_build.arrays import U8
from georefusal_build.asking import Court, region
from georefusal_build.build_config import GateConfig
from georefusal_build.questions import Candidate
from georefusal_build.targets import Target, as_targets

COARSE = 3.0
"""Pixels across a nominal instance up to which its absence cannot be told. Source: the design's band of GRANULARITY."""
FILLS = 0.2
"""Share of the frame's shorter side from which an object needs no contrast to be found: there is little around it."""


def exhaustive(court: Court, base: Candidate) -> bool:
    """Return whether hiding every outline of the class hides all of it: nothing is left out, nor might pass for it."""
    name = base.class_name
    return court.outlined(name) and not court.tile.slivers & (court.table.members(name) | court.table.rivals[name])


def resolvable(court: Court, base: Candidate) -> bool:
    """Return whether an instance of ordinary size would show: else its absence is a matter of sampling."""
    nominal = nominal_px(court, base)
    return base.answer == "yes" or nominal is None or nominal[0] > COARSE


def nominal_px(court: Court, base: Candidate) -> tuple[float, float] | None:
    """Return (minor, major) side of an ordinary instance in pixels, None where the sampling is not known."""
    gsd = court.tile.scene.gsd_m
    minor, major = court.table.by_name[base.class_name].metres
    return (minor / gsd, major / gsd) if gsd else None


def targets_of(court: Court, base: Candidate) -> tuple[Target, ...]:
    """Return all outlines that bear on a "yes", or the asked region of a "no", tile pixels."""
    if base.answer == "no":
        return as_targets([region(court.tile, base.scope)])
    return as_targets([one.polygon for one in court.evidence(base.class_name, base.scope)])


def settling(court: Court, base: Candidate) -> list[bool]:
    """Return which of `targets_of` settle the answer by themselves; the others are cut off, doubtful or too small."""
    if base.answer == "no":
        return [True]
    return [court.unfit(one, base.scope) is None for one in court.evidence(base.class_name, base.scope)]


def stands_out(pixels: U8, court: Court, base: Candidate, gate: GateConfig) -> str:
    """Return why the clean image does not show what a "yes" rests on; "" when it does, and for every "no".

    One instance that the annotation alone would settle it by has to pass; a large one passes without contrast.
    """
    if base.answer == "no":
        return ""
    targets = targets_of(court, base)
    sure = [*compress(targets, settling(court, base))]
    columns = measure(pixels, pixels, sure).per_instance
    clean = [i for i, saturated in enumerate(columns["sat_fraction"]) if (saturated or 0.0) <= gate.max_saturated]
    if not clean:
        return f"no instance that would settle a yes is unsaturated (at most {gate.max_saturated:g} of it)"
    n_eff, cnr = (max(columns[name][i] or 0.0 for i in clean) for name in ("n_eff", "cnr"))
    if n_eff >= FILLS * min(court.tile.width, court.tile.height) or cnr >= gate.min_cnr:
        return ""  # before the scan, which takes seconds where there are hundreds of instances
    z = max(value or 0.0 for value in scan_z(pixels, [sure[i] for i in clean], among=targets))
    return "" if z >= gate.min_z else f"no instance has more than scan_z {z:.1f} and cnr {cnr:.1f} on the clean image"
