"""The metrics of answer-grounding consistency by name: what each says, how it can mislead, which direction is better.

E is the set of questions on which support and localisation are scored: all but existence questions whose answer is no.
"""

from georefusal_task.benchmarks.refusal_metrics import Metric

METRICS: dict[str, Metric] = {
    "accuracy": Metric(
        "Share of all questions answered right; an answer that cannot be read is wrong. Says nothing about where the "
        "model looked.",
        higher_is_better=True,
    ),
    "accuracy_E": Metric("accuracy on E.", higher_is_better=True),
    "ES_overall": Metric(
        "Share of E whose boxes support the answer that the model gave, right or wrong. No boxes with No, 0 and Equal: "
        "yes get 1; read it with accuracy_E and ES_tight.",
        higher_is_better=True,
    ),
    "ES_correct": Metric(
        "Among right answers on E, share that the boxes support. One box over the whole image beside right answers "
        "gets 1; read it with covered_area_share.",
        higher_is_better=True,
    ),
    "JS": Metric(
        "Joint score: share of E answered right with supporting boxes; ES_correct times accuracy_E. A whole-image box "
        "lifts it to accuracy_E.",
        higher_is_better=True,
    ),
    "ES_tight": Metric(
        "ES_overall where support counts only from regions whose area is at most 4 times that of the boxes they cover; "
        "regions that cover nothing are not tight. Our extension, not of the paper.",
        higher_is_better=True,
    ),
    "localisation_precision": Metric(
        "Share of the predicted regions on E that match an instance of their own at IoU >= 0.5. A duplicate is a false "
        "positive; class labels are ignored.",
        higher_is_better=True,
    ),
    "localisation_recall": Metric(
        "Share of the instances on E that a predicted region of their own matches at IoU >= 0.5.", higher_is_better=True
    ),
    "localisation_F1": Metric("Harmonic mean of localisation precision and recall.", higher_is_better=True),
    "covered_area_share": Metric(
        "Share of the image that the regions cover, mean over E. No direction is better: 0 without boxes, 1 with a "
        "whole-image box.",
        higher_is_better=False,
    ),
    "invalid_rate": Metric(
        "Share of answers that cannot be read, are ambiguous or contradict themselves, failed requests included. They "
        "count as wrong and unsupported.",
        higher_is_better=False,
    ),
    "box_flag_rate": Metric(
        "Share of replies with at least one box that had to be mended or dropped; score --json counts each kind.",
        higher_is_better=False,
    ),
    "host_error_rate": Metric(
        "Share of questions whose request failed in the harness. They stay in n and count as wrong, which says nothing "
        "about the model.",
        higher_is_better=False,
    ),
    "incomplete_rate": Metric(
        "Share of questions with a reply to only one of their two turns (two-turn task). They are not scored.",
        higher_is_better=False,
    ),
}
