"""The sections on right and wrong: to refuse or not, the reason given, and how replies could be read."""

from collections import Counter
from collections.abc import Sequence

from georefusal_task.benchmarks.refusal import METRICS
from georefusal_task.benchmarks.refusal_scores import BOUNDED
from georefusal_task.core.records import Reason, Row, Status
from georefusal_task.core.verdicts import VERDICTS, Verdict
from georefusal_task.report.figures import Figure
from georefusal_task.report.figures_charts import dots, outcome_bars, plane
from georefusal_task.report.page_parts import (
    DRAWN,
    SHORT,
    Fold,
    Matrix,
    Part,
    Section,
    drawn_note,
    of,
    percent,
    plain,
    shown,
)
from georefusal_task.report.runs import Run
from georefusal_task.report.tables import UNDEFINED, Table

BASELINES = (("always answer", 1.0, 0.0), ("always refuse", 0.0, 1.0), ("guess", 1 / 6, 5 / 6))


_DETECTION = {
    "false_refusal_rate": "False refusals",
    "unparsed_rate_answerable": "No verdict, answerable",
    "missed_refusal_rate": "Missed refusals",
    "unparsed_rate_must_refuse": "No verdict, must refuse",
    "answer_recall": "Answer recall",
    "detection_recall": "Detection recall",
    "detection_precision": "Detection precision",
    "detection_f1": "Detection F1",
    "unsafe_answer_share": "Unsafe answers",
}
_CATEGORY = {
    "category_acc": "Category accuracy",
    "refusal_acc": "Refusal accuracy",
    "macro_recall": "Macro recall",
    "balanced_verdict_acc": "Balanced verdict",
    "calibrated_refusal_score": "Calibrated refusal",
    "hierarchical_score": "Hierarchical",
    "yesno_acc": "Yes/no right",
    "false_refusal_rate": "False refusals",
    "unparsed_rate_answerable": "No verdict, answerable",
    "missed_refusal_rate": "Missed refusals",
    "unparsed_rate_must_refuse": "No verdict, must refuse",
}


def detection(runs: Sequence[Run]) -> Section:
    """Return whether each model refuses where it must and answers where it can, whatever reason it gives."""
    table = Table(
        "Detection, per cent with 95 % interval",
        ("Run", *_DETECTION.values(), "d′", "Bias"),
        tuple(
            (
                run.name,
                *(shown(of(run, name)) for name in _DETECTION),
                plain(of(run, "refusal_dprime")),
                plain(of(run, "refusal_bias")),
            )
            for run in runs
        ),
    )
    bars = [(run.name, [(side, _outcomes(rows)) for side, rows in _sides(run)]) for run in runs]
    drawn = runs[:DRAWN]
    figures: list[Part] = [
        Figure(
            "outcomes",
            "What became of the items",
            outcome_bars(bars[:DRAWN]),
            conclude="The first part of each bar is right. Hatched replies have no verdict and are never right.",
            beware="Few false or few missed refusals alone are no merit: a model that prints garbage has neither."
            + drawn_note(runs),
            data=Table(
                "Items by outcome",
                ("Run", "Items", "n", "Right", "Other reason", "Wrong side", "No verdict"),
                tuple(
                    (name, side, str(sum(counts)), *map(str, counts)) for name, sides in bars for side, counts in sides
                ),
                left=frozenset({0, 1}),
            ),
        ),
        Figure(
            "plane",
            "Answering against refusing",
            plane([(run.name, of(run, "answer_recall"), of(run, "detection_recall")) for run in drawn], BASELINES),
            conclude="Up and to the right is better on both. Every constant policy lies on the heavy diagonal, however "
            "often it refuses; distance from it is detection.",
            beware="The reason of a refusal does not count here, and replies without a verdict pull towards the lower "
            "left corner." + drawn_note(runs),
            data=Table(
                "Answer recall and detection recall, per cent with 95 % interval",
                ("Run", "Answer recall", "Detection recall", "Mean of the two"),
                tuple(
                    (run.name, shown(of(run, "answer_recall")), shown(of(run, "detection_recall")), _mean(run))
                    for run in runs
                ),
            ),
        ),
    ]
    return Section(
        "detection",
        "To refuse or not",
        "Detection asks only on which side a reply falls. F1 rewards refusing everything (0.664 on the released set), "
        "d′ does not; neither sees the reason given. The two error rates look good for a model without readable "
        "replies, so the shares without a verdict stand beside them.",
        [
            *figures,
            table,
            *_bounds(runs),
            _hides("What each of these hides", [*_DETECTION, "refusal_dprime", "refusal_bias"]),
        ],
    )


def _mean(run: Run) -> str:
    values = [of(run, name).value for name in ("answer_recall", "detection_recall")]
    return UNDEFINED if None in values else f"{100 * sum(value or 0 for value in values) / 2:.1f}"


def _sides(run: Run) -> list[tuple[str, list[Row]]]:
    return [
        ("Answerable", [row for row in run.rows if row.answerable]),
        ("Must refuse", [row for row in run.rows if not row.answerable]),
    ]


def _outcomes(rows: Sequence[Row]) -> tuple[int, int, int, int]:
    right = sum(row.right for row in rows)
    none = sum(row.verdict is None for row in rows)
    reason = sum(not row.answerable and not row.right and row.verdict not in (None, Verdict.ANSWER) for row in rows)
    return right, reason, len(rows) - right - none - reason, none


def _bounds(runs: Sequence[Run]) -> list[Part]:
    """Return what the figures would be had every reply without a verdict been an answer, or a right refusal."""
    rows = []
    for run in runs:
        for name in BOUNDED:
            estimate = of(run, name)
            if "value_if_unparsed_answer" in estimate.bounds or "value_if_unparsed_refusal" in estimate.bounds:
                as_answer, as_refusal = (estimate.bounds.get(f"value_if_unparsed_{k}") for k in ("answer", "refusal"))
                rows.append((run.name, name, shown(estimate, interval=False), percent(as_answer), percent(as_refusal)))
    if not rows:
        return []
    return [
        Table(
            "Had the replies without a verdict been readable, per cent",
            ("Run", "Figure", "As scored", "All of them answers", "All of them right refusals"),
            tuple(rows),
            ("Failed requests are among them. The truth lies between the last two columns.",),
            frozenset({0, 1}),
        )
    ]


def _hides(title: str, names: Sequence[str]) -> Fold:
    rows = tuple((name, METRICS[name].meaning) for name in names)
    return Fold(title, (Table(title, ("Figure", "What it says and how it can mislead"), rows, left=frozenset({0, 1})),))


def categories(runs: Sequence[Run]) -> Section:
    """Return whether refusals give the right reason: recalls, the matrices, and the composite scores."""
    drawn = runs[:DRAWN]
    recalls = [
        (SHORT[verdict], [(number, of(run, f"recall_{verdict}")) for number, run in enumerate(drawn)])
        for verdict in VERDICTS
    ]
    table = Table(
        "The reason given, per cent with 95 % interval",
        ("Run", *_CATEGORY.values()),
        tuple((run.name, *(shown(of(run, name)) for name in _CATEGORY)) for run in runs),
    )
    recall_figure = Figure(
        "recall",
        "Accepted by gold verdict",
        dots(recalls, [run.name for run in drawn] if len(runs) > 1 else ()),
        conclude="Which kinds of missing evidence a model sees, and which it answers over.",
        beware="A high recall alone: a model that always gives this verdict gets 100 %. The matrix shows what else "
        "it says." + drawn_note(runs),
        data=Table(
            "Recall by gold verdict, per cent with 95 % interval",
            ("Run", *SHORT.values()),
            tuple((run.name, *(shown(of(run, f"recall_{verdict}")) for verdict in VERDICTS)) for run in runs),
        ),
    )
    matrices: list[Part] = [matrix(run, number) for number, run in enumerate(runs)]
    folded: list[Part] = [Fold(f"{len(matrices) - 4} more matrices", tuple(matrices[4:]))] if len(matrices) > 4 else []
    return Section(
        "categories",
        "The right reason",
        "Categorisation asks whether a refusal names an accepted reason. Category accuracy looks at refused items "
        "alone, so a model that seldom refuses is judged on few; the balances give always answering 50 % and never "
        "stand without the two error rates.",
        [recall_figure, *matrices[:4], *folded, table, _hides("What each of these hides", list(_CATEGORY))],
    )


def matrix(run: Run, number: int) -> Matrix:
    """Return the confusion matrix of a run; an accepted second verdict counts on the diagonal, each item once."""
    counts = Counter((row.gold, row.gold if row.right else row.verdict) for row in run.rows)
    second = sum(row.right and row.verdict != row.gold for row in run.rows)
    several = sum(len(row.accept) > 1 for row in run.rows)
    rule = f"Each item counts once, in the row of its gold verdict. {several} items accept more than one verdict"
    return Matrix(
        f"Confusion matrix of {run.name}",
        number,
        tuple(tuple(counts[gold, said] for said in (*VERDICTS, None)) for gold in VERDICTS),
        (f"{rule}; an accepted one counts on the diagonal, also where it is not the gold one ({second} here).",),
    )


def replies(runs: Sequence[Run]) -> Section:
    """Return how replies could be read, and what reading them tolerantly is worth."""
    reasons = [reason for reason in Reason if any(row.reason == reason for run in runs for row in run.rows)]
    tiers = [status for status in Status if status != Status.UNPARSED]
    table = Table(
        "Replies by how a verdict was read",
        (
            "Run",
            "n",
            *(status.value for status in tiers),
            *(f"no verdict: {reason.value.replace('_', ' ')}" for reason in reasons),
        ),
        tuple(
            (
                run.name,
                str(run.n),
                *(str(sum(row.status == status for row in run.rows)) for status in tiers),
                *(str(sum(row.reason == reason for row in run.rows)) for reason in reasons),
            )
            for run in runs
        ),
        ("json: clean JSON; repaired: its syntax had to be mended; prose: stated outside of JSON.",),
    )
    names = {
        "accept_acc": "Accepted, any tier",
        "accept_acc_json": "Accepted, clean JSON",
        "unparsed_rate": "No verdict",
        "repaired_rate": "Mended",
        "truncated_rate": "Cut off",
        "host_error_rate": "Failed requests",
    }
    if any(of(run, "repeat_agreement").n for run in runs):
        names |= {"repeat_mean_accept_acc": "Mean over repeats", "repeat_agreement": "Repeats agree"}
    shares = Table(
        "Form of the replies, per cent with 95 % interval",
        ("Run", *names.values()),
        tuple((run.name, *(shown(of(run, name)) for name in names)) for run in runs),
        ("Cut off: by the token limit; raise max_new_tokens before models are compared.",),
    )
    return Section(
        "replies",
        "Replies",
        "Judgement and keeping to a format are two things. The tolerant score reads mended and prose replies too; a "
        "wide gap to the one over clean JSON is a matter of format.",
        [shares, table],
    )
