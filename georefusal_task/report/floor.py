"""The question-only floor: what a plain text classifier gets that has never seen an image.

Always answering is too low a bar where the wording gives the verdict away. This floor learns the wording from the other
items, and is scored by the same calls as a model's replies.
"""

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from georefusal_task.core.errors import ConfigError, DataError
from georefusal_task.core.verdicts import Verdict
from georefusal_task.data import Benchmark
from georefusal_task.replies import ItemReplies, score_replies
from georefusal_task.report.logs import Meta
from georefusal_task.report.provenance import Provenance, linked, ties
from georefusal_task.report.runs import Run
from georefusal_task.tasks_table import DEFAULT_TASK, TaskSpec

if TYPE_CHECKING:
    from sklearn.pipeline import Pipeline

NAME = "question-only floor"
FOLDS = 10
MAIN = TaskSpec(DEFAULT_TASK)

Texts = npt.NDArray[np.str_]


def question_only_floor(
    benchmark: Benchmark, provenance: Mapping[str, Provenance] | None = None, spec: TaskSpec = MAIN
) -> Run:
    """Return the floor as a run: every item predicted by a classifier that was trained on other groups of items.

    The classifier is logistic regression (C = 10) on TF-IDF weights of words and pairs of words; 10 folds, fewer where
    there are fewer groups. Items of one image, or of one base question or base image where provenance tells, or of the
    same wording where it does not, are one group and never on both sides. The confidence is its probability.

    Raises:
        ConfigError: scikit-learn is not installed.
        DataError: fewer than two groups of items.
    """
    items = benchmark.items
    known = provenance or {}
    groups = linked(
        {item.case.id: _ties(item.case.question, item.image_sha256, known.get(item.case.id)) for item in items}
    )
    if len(set(groups.values())) < 2:
        raise DataError("a question-only floor needs at least two groups of items that share no image and no wording")
    questions = np.array([item.case.question for item in items])
    gold = np.array([str(item.label.gold) for item in items])
    answer = np.array([item.label.answer or "" for item in items])
    group = np.array([groups[item.case.id] for item in items])
    verdicts, sure = _predicted(questions, gold, group, np.ones(len(items), dtype=np.bool_))
    answers, _ = _predicted(questions, answer, group, answer != "")

    replies = {
        item.case.id: ItemReplies((_reply(verdict, said),), confidence=confidence, model=NAME)
        for item, verdict, said, confidence in zip(items, verdicts, answers, sure, strict=True)
    }
    rows = sorted(score_replies(benchmark.by_id, replies), key=lambda row: row.id)
    return Run(
        name=NAME,
        task=spec.name,
        spec=spec,
        rows=tuple(rows),
        replies=replies,
        benchmark=benchmark,
        meta=Meta(model=NAME),
        provenance=known,
        warnings=benchmark.warnings,
    )


def reply_lines(run: Run) -> str:
    """Return the floor's replies as a reply file, so that any command takes it for a run."""
    rows = (
        {"id": item, "text": said.texts[0], "confidence": said.confidence, "model": NAME}
        for item, said in run.replies.items()
    )
    return "".join(json.dumps(row) + "\n" for row in rows)


def _ties(question: str, image: str, record: Provenance | None) -> list[str]:
    known = ties(record)
    return [f"pixels {image}", *(known or [f"wording {' '.join(question.casefold().split())}"])]


def _predicted(
    questions: Texts, target: Texts, group: Texts, taught: npt.NDArray[np.bool_]
) -> tuple[list[str], list[float]]:
    """Return the predicted target of every item and its probability; only the items marked in `taught` are learnt from.

    Where the items of the other groups know one target or none, that one or "" is predicted.
    """
    try:
        from sklearn.model_selection import GroupKFold
    except ImportError:
        raise ConfigError(
            "the question-only floor needs the extra `report`: pip install 'georefusal[report]'"
        ) from None
    predicted, sure = np.full(len(target), "", dtype=object), np.ones(len(target))
    folds = GroupKFold(min(FOLDS, len(set(group.tolist()))), shuffle=True, random_state=0)
    for train, test in folds.split(questions, groups=group):
        learnt = train[taught[train]]
        values = sorted(set(target[learnt].tolist()))
        if len(values) < 2:
            predicted[test] = values[0] if values else ""
            continue
        model = _classifier().fit(questions[learnt], target[learnt])
        chances = model.predict_proba(questions[test])
        predicted[test], sure[test] = model.classes_[chances.argmax(axis=1)], chances.max(axis=1)
    return predicted.tolist(), sure.tolist()


def _classifier() -> "Pipeline":
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    words = TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True)
    return make_pipeline(words, LogisticRegression(C=10, solver="newton-cg"))  # a tenth of the default solver's time


def _reply(verdict: str, answer: str) -> str:
    said = answer if verdict == Verdict.ANSWER else ""
    return json.dumps({"verdict": verdict, "answer": said, "justification": "Judged by the wording of the question."})
