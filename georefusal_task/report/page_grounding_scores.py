"""The sections on answer-grounding consistency: the headline with all that games it, question types, replies."""

from collections.abc import Callable, Mapping, Sequence

from georefusal_task.benchmarks.grounding import METRICS, QuestionType
from georefusal_task.benchmarks.grounding_scores import TIGHT
from georefusal_task.core.box_shapes import BoxFlag
from georefusal_task.core.stats import SIGN_FLIP_BELOW
from georefusal_task.report.comparable import MANY_FAILED
from georefusal_task.report.figures import MARKERS, Figure
from georefusal_task.report.figures_charts import dots
from georefusal_task.report.grounding_references import Figures, gaming
from georefusal_task.report.grounding_runs import GroundingRun
from georefusal_task.report.page_breakdown import breakdown_figure, breakdown_table
from georefusal_task.report.page_parts import Note, Part, Section, of, shown
from georefusal_task.report.tables import Table

Runs = Sequence[GroundingRun]

HIDES = {
    "accuracy": "Where the model looked. A lucky guess counts as much as an answer from the image.",
    "accuracy_E": "The same, on the questions that support is scored on (E).",
    "ES_overall": "Whether the answer is right, and whether anything was pointed at: no boxes beside No, 0 and "
    "'equally many: yes' get 100 %.",
    "ES_correct": "How large the boxes are, and how few answers are right: one box over the whole image beside right "
    "answers gets 100 %.",
    "JS": "How large the boxes are: one over the whole image lifts it to the accuracy on E.",
    "ES_tight": "Whether the answer is right. Nothing covered is never tight, so an honest 0 without boxes does not "
    "count.",
    "covered_area_share": "Everything but size: 0 % without boxes, 100 % with one over the image. Neither end is good.",
    "localisation_precision": "What was overlooked, and the answer. A second box on one object counts as false.",
    "localisation_recall": "What was drawn in vain, and the answer.",
    "localisation_F1": "The answer: boxes may be right and the count beside them wrong. Class labels are not read.",
}
"""Metric -> what it does not tell, in the order of the headline."""

NAMES = {
    "accuracy": "Accuracy",
    "accuracy_E": "Accuracy on E",
    "ES_overall": "ES overall",
    "ES_correct": "ES correct",
    "JS": "JS",
    "ES_tight": "ES tight",
    "covered_area_share": "Covered area",
    "localisation_precision": "Precision",
    "localisation_recall": "Recall",
    "localisation_F1": "F1",
    "invalid_rate": "Invalid answers",
}
_OF_REPLIES = {
    "invalid_rate": "Invalid answers",
    "box_flag_rate": "Replies with flagged boxes",
    "host_error_rate": "Failed requests",
    "incomplete_rate": "Incomplete pairs",
}
_FLAGS = {
    BoxFlag.CLIPPED: "numbers outside the frame, moved to its border; many of them hint at a wrong frame",
    BoxFlag.REVERSED: "corners in the wrong order, put right",
    BoxFlag.DUPLICATE: "equals an earlier box of the reply; counts once in support, as false in localisation",
    BoxFlag.DEGENERATE: "no area within the frame; dropped",
    BoxFlag.MALFORMED: "too few or too many numbers or a missing bracket; dropped unless whole",
    BoxFlag.TRUNCATED: "cut off by the end of the reply; dropped",
    BoxFlag.UNMAPPED: "the model's processor takes no image of this size; dropped",
}
_NOTES = (
    "E: all questions but those of existence whose answer is no. All figures but accuracy are over E.",
    "ES: evidence support. JS: joint score, right and borne out; it is ES correct times accuracy on E.",
    f"ES tight: support from regions of at most {TIGHT} times the area of the boxes that they cover.",
    "Intervals are clustered by image; the two references are constants of the whole set and have none.",
)


def headline(runs: Runs) -> Section:
    """Return every score of every run beside what games it, with what each hides."""
    constants = gaming(runs[0].questions)
    drawn = runs[: MARKERS - len(constants)]
    legend = [*(run.name for run in drawn), *constants]
    groups = [
        (
            NAMES[name],
            list(enumerate([*(of(run, name) for run in drawn), *(found[name] for found in constants.values())])),
        )
        for name in HIDES
    ]
    left_out = (
        "" if len(drawn) == len(runs) else f" Drawn are the first {len(drawn)} of {len(runs)} runs; the table has all."
    )
    figure = Figure(
        "headline",
        "Answers, support, size and place of boxes",
        dots(groups, legend),
        conclude="How far a model is from both ways of gaming: support that is worth something comes with accuracy, "
        "with a small covered area, and with an ES tight near ES overall.",
        beware="Whether two models differ, and how hard the questions are. The two references are constants of the "
        "set and need no model." + left_out,
        data=_figures_table(runs, constants),
        is_open=True,
    )
    return Section(
        "headline",
        "Headline",
        "Whether the answers are right, and whether what the model drew bears them out. No figure here stands alone: "
        "drawing nothing and drawing everything each get full marks in one of them.",
        [
            *(Note(_in_words(run), "result") for run in drawn),
            *(Note(text, "warning") for text in warnings(runs)),
            figure,
        ],
    )


def _in_words(run: GroundingRun) -> str:
    if not run.n:
        return f"{run.name}: nothing was scored (0 of {run.n_total} questions)."
    whole = run.n == run.n_total
    all_there = f"all {run.n} questions" if whole else f"{run.n} of {run.n_total} questions (a partial run)"
    scored = of(run, "ES_overall").n
    answers = f"{run.name}: {_rate(run, 'accuracy')} of the answers over {all_there} are right."
    if not scored:
        return f"{answers} Support is scored on none of them."
    return (
        f"{answers} On the {scored} on which support is scored, the boxes bear out {_rate(run, 'ES_overall')} of the "
        f"answers, and {_rate(run, 'JS')} are both right and borne out; the boxes take "
        f"{_rate(run, 'covered_area_share')} of the image."
    )


def _rate(run: GroundingRun, name: str) -> str:
    found = of(run, name)
    text = shown(found)
    return text if found.value is None or "/" in text else f"{text} %"


def warnings(runs: Runs) -> list[str]:
    """Return what stands between the figures and the models, each once."""
    found = []
    for run in runs:
        replied = run.n + run.incomplete
        if run.incomplete:
            found.append(
                f"{run.name}: {run.incomplete} of {replied} questions have a reply to one of their two turns only; "
                "these pairs are not scored."
            )
        if replied < run.n_total:
            found.append(f"{run.name}: {run.n_total - replied} of {run.n_total} questions have no reply.")
        failed = of(run, "host_error_rate")
        if (failed.value or 0) > MANY_FAILED:
            found.append(
                f"{run.name}: {failed.count} of {failed.n} requests failed and count as wrong; run them again."
            )
        found += [text if text in run.questions.warnings else f"{run.name}: {text}" for text in run.warnings]
    images = len({row.image_id for row in runs[0].rows})
    if 0 < images < SIGN_FLIP_BELOW:
        places = f"{images} place{'s' if images > 1 else ''}"
        found.append(f"The questions are about {places} only: intervals over so few are too short.")
    return list(dict.fromkeys([*found, *_differences(runs)]))


def _differences(runs: Runs) -> list[str]:
    of_run: dict[str, Callable[[GroundingRun], str]] = {
        "task": lambda run: run.task.name,
        "prompt": lambda run: run.prompt.rpartition(" ")[0],  # the notation of boxes follows each model's frame
        "data": lambda run: run.data_digest[:12],
        "number of questions": lambda run: str(run.n),
    }
    told = {what: list(dict.fromkeys(map(value, runs))) for what, value in of_run.items()}
    return [
        f"The {what} differs between runs ({', '.join(values)}): differences may not be the models'."
        for what, values in told.items()
        if len(values) > 1
    ]


def _figures_table(runs: Runs, constants: Mapping[str, Figures]) -> Table:
    rows = [
        (
            NAMES[name],
            *(shown(of(run, name)) for run in runs),
            *(shown(found[name]) for found in constants.values()),
            hides,
        )
        for name, hides in HIDES.items()
    ]
    columns = ("Figure", *(run.name for run in runs), *constants, "What it hides")
    return Table(
        "Every score beside what games it, per cent with 95 % interval",
        columns,
        tuple(rows),
        _NOTES,
        frozenset({0, len(columns) - 1}),
    )


def by_type(runs: Runs) -> Section:
    """Return the scores by question type and by the three families of types."""
    found = [(run, run.summary.by) for run in runs]
    tables = [
        breakdown_table(title, heading, [(run, by.get(breakdown, {})) for run, by in found], NAMES)
        for breakdown, title, heading in (
            ("type", "By question type", "Type"),
            ("family", "By the three families of the benchmark's paper", "Family"),
        )
    ]
    figure = breakdown_figure(
        "types",
        "Right and borne out (JS) by question type",
        runs,
        [run.summary.by.get("type", {}) for run in runs],
        what=("Type", list(map(str, QuestionType))),
        names={name: NAMES[name] for name in ("JS", "accuracy_E", "ES_correct", "covered_area_share")},
        conclude="Where a model points at what it answers from. Counting asks for every object, existence for one.",
        beware="How hard the types are against each other: a yes needs one covered object, a count needs all.",
    )
    return Section(
        "types",
        "By question type",
        "Existence, counting, and three ways to compare two classes. n counts all questions of the type; E leaves out "
        "those of existence whose answer is no.",
        [figure, *tables],
    )


def replies(runs: Runs) -> Section:
    """Return the coordinate frame of each run, and what could not be read, was mended or is missing."""
    rows = [
        (
            run.name,
            run.frame.label,
            " and ".join(run.task.turns) if len(run.task.turns) > 1 else "in one reply",
            f"{run.n}/{run.n_total}",
            *(shown(of(run, name)) for name in _OF_REPLIES),
            str(sum(row.predicted for row in run.rows)),
        )
        for run in runs
    ]
    columns = ("Run", "Frame", "Answer and boxes", "Scored", *_OF_REPLIES.values(), "Regions")
    parts: list[Part] = [
        Table(
            "How replies could be read, per cent with 95 % interval",
            columns,
            tuple(rows),
            (
                f"{_OF_REPLIES['invalid_rate']}: {METRICS['invalid_rate'].meaning}",
                f"{_OF_REPLIES['incomplete_rate']}: {METRICS['incomplete_rate'].meaning}",
            ),
            frozenset({0, 1, 2}),
        )
    ]
    flags = [flag for flag in BoxFlag if any(flag in run.summary.flags for run in runs)]
    if flags:
        parts.append(
            Table(
                "Boxes that were mended or dropped, counted",
                ("Flag", *(run.name for run in runs), "What was wrong"),
                tuple((str(f), *(str(run.summary.flags.get(f, 0)) for run in runs), _FLAGS[f]) for f in flags),
                left=frozenset({0, len(runs) + 1}),
            )
        )
    else:
        parts.append(Note("No box had to be mended or dropped."))
    return Section(
        "replies",
        "Replies",
        "In which coordinates boxes were read, and what was left out. The frame is declared for a run and never "
        "guessed from its numbers: a wrong one moves every box.",
        parts,
    )
