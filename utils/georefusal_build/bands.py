"""Label bands: which measurements make an item of a lever answerable, which a refusal, and which neither.

One table, `BANDS`, read by `decide` and exported as JSON. A lever's item has its label when every rule of the lever
holds; between the bands lies a dead zone in which an item is rejected.
"""

from georefusal_build.anchors import Measurement
from georefusal_build.bands_questions import QUESTION_BANDS
from georefusal_build.outcomes import Reason
from georefusal_build.rules import Band, every, ge, gt, image, le, some
from georefusal_task.core.verdicts import Verdict


def decide(
    lever_id: str, measurement: Measurement, tags: frozenset[str] = frozenset({"yes", "optical"})
) -> Verdict | Reason:
    """Return the verdict that a measurement gives a lever's item, or why it gives none; a pure function of the numbers.

    tags: what is known of the base without looking: its answer ("yes", "no"), its modality ("optical", "sar"), "shadow"
    where that of its objects is known, and for crossed levers what the question asks for ("fine", "super"; "colour",
    "plain"). All of them stand in provenance.
    """
    band = BANDS[lever_id]
    results = [rule.holds(measurement) for rule in band.rules if rule.when <= tags]
    if not results:
        return Reason.WRONG_BASE
    if False in results:
        return Reason.DEAD_ZONE
    if None in results:
        return Reason.UNMEASURED
    return Reason.COLLATERAL if band.verdict is Verdict.INFO_MISSING and _too_coarse(measurement) else band.verdict


def to_json() -> list[dict[str, object]]:
    """Return the table as plain JSON rows, in lever order."""
    return [
        {
            "lever": lever_id,
            "verdict": str(band.verdict),
            "rules": [
                {
                    "over": rule.over,
                    "when": sorted(rule.when),
                    "conditions": [{"field": c.field, "op": c.op, "value": c.value} for c in rule.conditions],
                }
                for rule in band.rules
            ],
            "note": band.note,
        }
        for lever_id, band in sorted(BANDS.items())
    ]


def _too_coarse(measurement: Measurement) -> bool:
    """Whether GRANULARITY, which ranks above INFO_MISSING, holds too: no instance could be told even in full view."""
    n_eff = [n for n in measurement.per_instance.get("n_eff", []) if n is not None]
    return bool(n_eff) and max(n_eff) <= 3.0


NEAR, NEAR_FRAME = 0.5, 0.04
"""Up to where something lies "at" an edge: half as far from it as it is wide, and a 25th of the frame."""
SLIVER = (3.0, 8.0)
"""Pixels left of what an edge cuts off: more than an outline may be loose by, too few to tell what it is."""
NOTICED = 5.0
"""Contrast to noise from which it is plain that something is cut off there. Source: Rose's criterion."""

_ANSWER, _MISSING, _COARSE = Verdict.ANSWER, Verdict.INFO_MISSING, Verdict.GRANULARITY

# A base with the answer no has its asked region as the target: answering needs 99 % of it in view, refusing needs 85 %
# (MEDIUM) or 98 % (HIGH) hidden and room for a nominal instance in the hidden part.
_NO_LOW = every(ge("visible_fraction", 0.99), when="no")
_NO_MEDIUM = (every(le("visible_fraction", 0.15), when="no"), image(ge("nominal_fits", 1), when="no"))
_NO_HIGH = (every(le("visible_fraction", 0.02), when="no"), image(ge("nominal_fits", 1), when="no"))

# A shadow that is known and lies in full view gives a hidden object away.
_SHADOW_MEDIUM = every(le("evidence_visible", 0.35), when="yes shadow")
_SHADOW_HIGH = every(le("evidence_visible", 0.15), when="yes shadow")

_THIN = "signal_left is ours: under thin cloud a pixel can count as hidden (below half the signal) and show the target"
_LOST = "scan_z_before is ours (Rose: 5): a target that never stood out has lost nothing to the noise"
_TELL = "the competing colour is the closest typical one, taken at the instance's own luma"
# Questions about tile_cut name an edge: LOW answers them by a whole target near it, MEDIUM leaves a sliver there.
_AT_EDGE = some(
    ge("visible_fraction", 0.999),
    ge("n_eff", 12),
    le("edge_gap", NEAR),
    le("edge_gap_frame", NEAR_FRAME),
    when="yes edge",
)
_CUT_OFF = (
    some(gt("visible_fraction", 0), ge("edge_depth", SLIVER[0]), ge("edge_cnr", NOTICED), when="yes edge"),
    every(le("edge_depth", SLIVER[1]), when="yes edge"),
)
_EDGE = "edge_gap, edge_depth and edge_cnr are ours: what 'at' allows, and a sliver that is noticed but cannot be told"
_CLEAR = "n_eff is ours: the instance that settles the question must be one that a person recognises"

IMAGE_BANDS: dict[str, Band] = {
    "im_occlude_low": Band(_ANSWER, (some(ge("visible_fraction", 0.90), ge("n_eff", 16), when="yes"), _NO_LOW)),
    "im_occlude_medium": Band(
        _MISSING,
        (
            every(le("visible_fraction", 0.15), le("signal_left", 0.20), when="yes"),
            some(ge("ring_visible", 0.25), when="yes"),
            _SHADOW_MEDIUM,
            *_NO_MEDIUM,
        ),
        _THIN,
    ),
    "im_occlude_high": Band(
        _MISSING,
        (
            every(le("visible_fraction", 0.02), le("signal_left", 0.08), le("ring_visible", 0.25), when="yes"),
            _SHADOW_HIGH,
            *_NO_HIGH,
        ),
        _THIN,
    ),
    "im_redact_low": Band(_ANSWER, (some(ge("visible_fraction", 0.999), ge("n_eff", 12), when="yes"), _NO_LOW), _CLEAR),
    "im_redact_medium": Band(_MISSING, (every(le("visible_fraction", 0.15), when="yes"), _SHADOW_MEDIUM, *_NO_MEDIUM)),
    "im_redact_high": Band(
        _MISSING,
        (every(le("visible_fraction", 0.001), le("ring_visible", 0.55), when="yes"), _SHADOW_HIGH, *_NO_HIGH),
    ),
    "im_saturate_low": Band(
        _ANSWER,
        (every(le("sat_fraction", 0.05), when="yes"), some(ge("n_eff", 12), ge("peak_dn", 40), when="yes")),
        f"{_CLEAR}, and peak_dn that it is not lost in the dark; bases with the answer no are not used: "
        "the family has no refusals there",
    ),
    "im_saturate_medium": Band(
        _MISSING, (every(ge("sat_fraction", 0.85), when="yes"), some(le("sat_fraction", 0.97), when="yes"))
    ),
    "im_saturate_high": Band(_MISSING, (every(ge("sat_fraction", 0.98), when="yes"),)),
    "im_truncate_low": Band(
        _ANSWER,
        (some(ge("visible_fraction", 0.999), ge("n_eff", 12), when="yes"), _NO_LOW, _AT_EDGE),
        f"{_CLEAR}; {_EDGE}",
    ),
    "im_truncate_medium": Band(
        _MISSING,
        (
            every(le("visible_fraction", 0.15), when="yes"),
            some(gt("visible_fraction", 0), when="yes"),
            _SHADOW_MEDIUM,
            *_NO_MEDIUM,
            *_CUT_OFF,
        ),
        _EDGE,
    ),
    "im_truncate_high": Band(_MISSING, (every(le("visible_fraction", 0.001), when="yes"), _SHADOW_HIGH, *_NO_HIGH)),
    "im_channel_low": Band(
        _ANSWER,
        (
            some(ge("has_colour", 1), ge("dE_remaining", 15), when="colour yes"),
            every(le("has_colour", 0), ge("dE_remaining", 15), when="colour no"),
            some(ge("n_eff", 16), when="plain yes"),
            every(ge("visible_fraction", 0.99), when="plain no"),
        ),
        "a plain question does not need the band; every instance must have a colour of its own",
    ),
    "im_channel_medium": Band(_MISSING, (every(ge("dE_full", 20), le("dE_remaining", 6), when="colour"),), _TELL),
    "im_channel_high": Band(
        _MISSING,
        (every(ge("dE_full", 20), le("dE_remaining", 5), when="colour"), image(le("chroma_left", 3), when="colour")),
        f"{_TELL}; with the chroma gone dE is |dL*|",
    ),
    "im_bury_low": Band(
        _ANSWER,
        (some(ge("scan_z", 8), ge("peak_margin_db", 3), when="yes"),),
        "scan_z counts dark targets and single bands too: a dark lake is plain to the eye without any bright return",
    ),
    "im_bury_medium": Band(_MISSING, (every(le("scan_z", 2), ge("scan_z_before", 5), when="yes"),), _LOST),
    "im_bury_high": Band(_MISSING, (every(le("scan_z", 1), ge("scan_z_before", 5), when="yes"),), _LOST),
    "gm_decimate_low": Band(
        _ANSWER,
        (some(ge("n_eff", 16), when="yes"), image(ge("nominal_n_eff", 16), when="no")),
    ),
    "gm_decimate_medium": Band(
        _COARSE,
        (
            every(le("n_eff", 3), when="yes"),
            some(gt("n_eff", 1.5), when="yes"),
            every(le("peak_margin_db", 0), when="yes sar"),
            image(le("nominal_n_eff", 3), gt("nominal_n_eff", 1.5), when="no"),
        ),
        "the range 1.5 < n_eff <= 3 is that of the largest instance; bright points stay detectable in SAR, "
        "hence the peak margin",
    ),
    "gm_decimate_high": Band(
        _COARSE,
        (
            every(le("n_eff", 1.5), when="yes"),
            every(le("peak_margin_db", 0), when="yes sar"),
            image(le("nominal_n_eff", 1.5), when="no"),
        ),
    ),
}
"""Every lever whose anchor can be measured on pixels, with its band."""

BANDS = IMAGE_BANDS | QUESTION_BANDS
"""Every lever with its band."""
