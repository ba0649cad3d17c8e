"""Label bands of the question levers, in the same form as those of the image levers.

| field | of | unit | meaning |
|---|---|---|---|
| reading, reading_margin | reading | 0, 1; log ratio or share | truth of each way to understand the question; safety |
| n_readings, differ | question | count; 0, 1 | how many readings; whether some are true and some false |
| premise_true | question | 0, 1 | what is taken for granted holds |
| n_ref | question | count | objects that a definite description could mean |
| company | question | count | how often the absent class occurs with those present, over the source |
| count_error, count_factor, min_gap_px | question | count, ratio, px | number said against number there; least gap |
| quarters_off, thirds_off | question | 0..2 | how far the quarter, or the third, that is said is from that there |
| premise_margin | question | share | room to the line between places, or to a limit |
| premise_log, premise_tilt, premise_dn | question | log ratio, degrees, DN | signed strength of a clause |
| miss_lengths, converse, gross | question | lengths, 0/1, ratio | how far an object is from making a relation true |
| n_part_px, n_disc_px, n_eff, fine_n_eff | question, instance | px | size of what is asked for; sampling |
| n_acq_missing, rate_asked | question | count; 0, 1 | acquisitions required less those given; a rate is asked for |
| antecedents, n_classes, n_anchors, n_senses | question | count | what the words leave open |
| undefined, spread, limit_share | question | count, ratio | criteria without limit; longest over shortest; limit |
| unsettleable | question | 0, 1 | no image settles it, by its template |
"""

import math

from georefusal_build.rules import Band, Rule, every, ge, gt, image, le, some
from georefusal_task.core.verdicts import Verdict

_ANSWER = Verdict.ANSWER
_COARSE, _AMBIGUOUS = Verdict.GRANULARITY, Verdict.AMBIGUOUS
_FALSE, _NONFACTUAL = Verdict.FALSE_PREMISE, Verdict.NONFACTUAL

_SURE = 1.0
_FRAME = 0.05
_COMPARED = math.log(1.3)
_LIMIT = math.log(1.5)
_GROSS = math.log(3.0)


def _settled(margin: float) -> tuple[Rule, Rule]:
    """Return the rules of a question with one answer: all readings are safe and agree."""
    return every(ge("reading_margin", margin)), image(ge("n_readings", 1), le("differ", 0))


def _split(margin: float) -> tuple[Rule, Rule]:
    """Return the rules of a question with two answers: one reading is safely true, another safely false."""
    return (
        some(ge("reading", 1), ge("reading_margin", margin)),
        some(le("reading", 0), ge("reading_margin", margin)),
    )


def _false_premise(
    name: str, low: tuple[Rule, ...], medium: tuple[Rule, ...], high: tuple[Rule, ...], note: str = ""
) -> dict[str, Band]:
    """Return the bands of a family that takes something for granted: true at LOW, false at MEDIUM and HIGH."""
    true, false = image(ge("premise_true", 1)), image(le("premise_true", 0))
    return {
        f"{name}_low": Band(_ANSWER, (true, *low, *_settled(_SURE)), note),
        f"{name}_medium": Band(_FALSE, (false, *medium), note),
        f"{name}_high": Band(_FALSE, (false, *high), note),
    }


def _nonfactual(name: str) -> dict[str, Band]:
    return {
        f"{name}_low": Band(_ANSWER, (image(le("unsettleable", 0)), *_settled(_SURE))),
        f"{name}_medium": Band(_NONFACTUAL, (image(ge("unsettleable", 1)),)),
        f"{name}_high": Band(_NONFACTUAL, (image(ge("unsettleable", 1)),)),
    }


def _referents(name: str, margin: float, open_: tuple[Rule, ...], low: tuple[Rule, ...] = ()) -> dict[str, Band]:
    """Return the bands of a family whose words refer to one object, to two to four of them, or to nothing named."""
    return {
        f"{name}_low": Band(_ANSWER, (image(ge("n_readings", 1), le("n_readings", 1)), *low, *_settled(margin))),
        f"{name}_medium": Band(
            _AMBIGUOUS,
            (
                image(ge("n_readings", 2), le("n_readings", 4)),
                every(ge("reading_margin", margin)),
                *low,
                *_split(margin),
            ),
        ),
        f"{name}_high": Band(_AMBIGUOUS, (image(le("antecedents", 0)), *open_, *_split(margin)), _BOTH_TRUTHS),
    }


_BOTH_TRUTHS = "that readings of both truth values exist is ours: a pronoun that never matters is answerable"
_STRADDLES = "the share of the frame is that between an outline and the line, not only its centre: nothing may straddle"
_LADDER = "0.3 < n_disc_px at MEDIUM is ours, so that MEDIUM and HIGH do not overlap"
_RELATION = "miss_lengths is how far the object would have to move to make the clause true, in its own lengths"

QUESTION_BANDS: dict[str, Band] = {
    "gm_part_low": Band(_ANSWER, (image(ge("n_part_px", 8)), *_settled(_SURE))),
    "gm_part_medium": Band(_COARSE, (image(gt("n_part_px", 0.3), le("n_part_px", 1.5)),)),
    "gm_part_high": Band(_COARSE, (image(le("n_part_px", 0.3)),)),
    "gm_subtype_low": Band(
        _ANSWER,
        (
            some(ge("n_eff", 26), ge("is_fine", 1), when="fine there"),
            every(ge("n_eff", 26), when="fine absent"),
            some(ge("n_eff", 16), when="super"),
            some(ge("n_eff", 16), when="ladder"),
            image(ge("n_disc_px", 8), when="ladder"),
            *_settled(_SURE),
        ),
        "a fine class is ruled out only where every instance could be told; n_disc_px of a superclass is ours",
    ),
    "gm_subtype_medium": Band(
        _COARSE,
        (
            image(gt("fine_n_eff", 2.5), le("fine_n_eff", 5), when="fine"),
            image(gt("n_disc_px", 0.3), le("n_disc_px", 1.5), when="ladder"),
        ),
        _LADDER,
    ),
    "gm_subtype_high": Band(
        _COARSE,
        (image(le("fine_n_eff", 2.5), when="fine"), image(le("n_disc_px", 0.3), when="ladder")),
        _LADDER,
    ),
    "gm_change_low": Band(_ANSWER, (image(le("n_acq_missing", 0)), *_settled(_SURE))),
    "gm_change_medium": Band(_COARSE, (image(ge("n_acq_missing", 1), le("n_acq_missing", 1)),)),
    "gm_change_high": Band(_COARSE, (image(ge("n_acq_missing", 11)),)),
    "gm_motion_low": Band(_ANSWER, (image(le("n_acq_missing", 0), le("rate_asked", 0)), *_settled(_SURE))),
    "gm_motion_medium": Band(_COARSE, (image(ge("n_acq_missing", 1), le("rate_asked", 0)),)),
    "gm_motion_high": Band(_COARSE, (image(ge("n_acq_missing", 1), ge("rate_asked", 1)),)),
    "gm_schedule_low": Band(_ANSWER, (image(le("n_acq_missing", 0)), *_settled(_SURE))),
    "gm_schedule_medium": Band(_COARSE, (image(ge("n_acq_missing", 6), le("n_acq_missing", 100)),)),
    "gm_schedule_high": Band(
        _COARSE, (image(gt("n_acq_missing", 100)),), "an hourly series counts as one week of hours, 168 acquisitions"
    ),
    **_referents("aq_deictic", math.log(1.25), (image(ge("n_readings", 5), ge("n_classes", 2)),)),
    **_referents("aq_region", _FRAME, (image(ge("n_readings", 4)),), low=(image(ge("n_anchors", 2)),)),
    **_referents("aq_comparand", _COMPARED, (image(ge("n_readings", 3)),)),
    "aq_criterion_low": Band(_ANSWER, (image(le("undefined", 0)), *_settled(_LIMIT))),
    "aq_criterion_medium": Band(
        _AMBIGUOUS,
        (image(ge("undefined", 1), le("undefined", 1), ge("spread", 2), le("limit_share", 0.5)), *_split(_LIMIT)),
        "the readings set the limit at half the shortest, between both ends, and at twice the longest",
    ),
    "aq_criterion_high": Band(_AMBIGUOUS, (image(ge("undefined", 2), le("limit_share", 0.5)),)),
    "aq_sense_low": Band(_ANSWER, (image(ge("n_senses", 1), le("n_senses", 1)), *_settled(_SURE))),
    "aq_sense_medium": Band(_AMBIGUOUS, (image(ge("n_senses", 2), le("n_senses", 2)), *_split(_SURE))),
    "aq_sense_high": Band(_AMBIGUOUS, (image(ge("n_senses", 3)), *_split(math.log(1.25)))),
    "aq_scope_low": Band(_ANSWER, _settled(_FRAME), _STRADDLES),
    "aq_scope_medium": Band(_AMBIGUOUS, (image(ge("n_readings", 2), le("n_readings", 2)), *_split(_FRAME)), _STRADDLES),
    "aq_scope_high": Band(_AMBIGUOUS, (image(ge("n_readings", 3)), *_split(_FRAME)), _STRADDLES),
    **_false_premise(
        "fp_entity",
        low=(image(ge("n_ref", 1), le("n_ref", 1), when="definite"), image(ge("n_ref", 1), when="existing")),
        medium=(image(le("n_ref", 0), ge("company", 1)),),
        high=(image(le("n_ref", 0), le("company", 0)),),
    ),
    **_false_premise(
        "fp_count",
        low=(image(le("count_error", 0), ge("min_gap_px", 3)),),
        medium=(image(ge("count_error", 1), le("count_error", 2), ge("min_gap_px", 3)),),
        high=(image(ge("count_factor", 3), ge("min_gap_px", 3)),),
    ),
    **_false_premise(
        "fp_place",
        low=(
            image(le("quarters_off", 0), when="quarter"),
            image(le("thirds_off", 0), when="side"),
            image(ge("premise_margin", 0.10)),
        ),
        medium=(
            image(ge("quarters_off", 1), le("quarters_off", 1), when="quarter"),
            image(ge("thirds_off", 1), le("thirds_off", 1), when="side"),
            image(ge("premise_margin", 0.10)),
        ),
        high=(
            image(ge("quarters_off", 2), when="quarter"),
            image(ge("thirds_off", 2), when="side"),
            image(ge("premise_margin", 0.10)),
        ),
        note="thirds are counted from the side that is named: the middle one is MEDIUM, the opposite one HIGH",
    ),
    **_false_premise(
        "fp_attribute",
        low=(
            image(ge("premise_log", _LIMIT), when="ratio"),
            image(le("premise_tilt", 15), when="angle"),
            image(ge("premise_dn", 25), when="brightness"),
        ),
        medium=(
            image(le("premise_log", -_LIMIT), gt("premise_log", -_GROSS), when="ratio"),
            image(ge("premise_tilt", 30), le("premise_tilt", 59.9), when="angle"),
            image(le("premise_dn", -25), gt("premise_dn", -50), when="brightness"),
        ),
        high=(
            image(le("premise_log", -_GROSS), when="ratio"),
            image(ge("premise_tilt", 60), when="angle"),
            image(le("premise_dn", -50), when="brightness"),
        ),
        note="the log ratio is signed: above 0 the clause is true",
    ),
    **_false_premise(
        "fp_relation",
        low=(image(le("converse", 0)),),
        medium=(image(ge("miss_lengths", 2), le("miss_lengths", 5), le("converse", 0)),),
        high=(image(ge("gross", 1)),),
        note=_RELATION,
    ),
    **_false_premise(
        "fp_capture",
        low=(image(ge("premise_margin", 0.20)),),
        medium=(image(ge("premise_margin", 0.20), le("gross", 0)),),
        high=(image(ge("premise_margin", 0.20), ge("gross", 1)),),
        note="premise_margin is the distance of the pixel test from its limit, as a share of the limit",
    ),
    **_nonfactual("nf_intent"),
    **_nonfactual("nf_forecast"),
    **_nonfactual("nf_value"),
    **_nonfactual("nf_normative"),
    **_nonfactual("nf_counterfactual"),
    **_nonfactual("nf_nonvisual"),
}
"""Every question lever with its band."""
