"""The questions as the gallery of boxes gets them: what is annotated, and what each model drew, in original pixels."""

from collections.abc import Sequence
from itertools import chain
from typing import Any

from georefusal_task.benchmarks.grounding import GroundingRow, QuestionType
from georefusal_task.core.boxes import Regions, covered
from georefusal_task.core.frames import Points
from georefusal_task.report.gallery_packing import Place, pack
from georefusal_task.report.grounding_runs import GroundingRun
from georefusal_task.report.texts import visible

MOST_ITEMS = 1_500
"""Questions in the gallery of one page: with all of a large set no browser would open it."""

BYTES_PER_OUTLINE = 32
"""As many bytes as are kept of a reply go to its outlines: 128 of them, and fewer where room is short."""

OUTCOMES = ("right", "wrong", "invalid", "failed request")
"""What became of an answer."""

SUPPORT = ("borne out, tight", "borne out, not tight", "not borne out")

FILTERS = {
    "run": "Model",
    "type": "Question type",
    "class": "Class",
    "outcome": "Answer",
    "support": "Boxes",
    "scored": "Support is scored",
    "agree": "Models",
}
"""What questions can be chosen by: name in the form -> label."""

_LEAD = (
    "White outlines are annotated objects, dashed ones those of the second class of a comparison; a dot in the middle "
    "of one says that a region covers it. Coloured outlines are what models drew; choose a model to see its regions "
    "alone. Pictures are reduced and lossy."
)


def lead(runs: Sequence[GroundingRun]) -> str:
    """Return what to know about the gallery of these runs."""
    ids = _scored(runs)
    shown = len(_chosen(ids))
    return _LEAD + ("" if shown == len(ids) else f" Here are {shown} of {len(ids)} questions, drawn evenly by id.")


def gallery(runs: Sequence[GroundingRun]) -> str:
    """Return the JSON text of the gallery; safe inside a script element that holds data."""
    known = runs[0].questions.by_id
    ids = _chosen(_scored(runs))
    asked = [known[one] for one in ids]
    regions = [{one: run.regions(one) for one in ids if one in run.by_id} for run in runs]
    content: dict[str, Any] = {
        "outcomes": list(OUTCOMES),
        "support": list(SUPPORT),
        "types": list(map(str, QuestionType)),
        "runs": [visible(run.name) for run in runs],
        "items": [
            {
                "id": question.id,
                "question": question.question,
                "type": str(question.type),
                "classes": list(question.classes),
                "size": [question.width, question.height],
                "gold": gold.answer,
            }
            for question, gold in asked
        ],
    }

    def said(longest: int, place: Place) -> dict[str, Any]:
        most = longest // BYTES_PER_OUTLINE
        return {
            "instances": [[_drawn(gold.instances.get(name, ()), most) for name in q.classes] for q, gold in asked],
            "replies": [
                [_reply(run, one, drawn[one], most, place) if one in drawn else None for one in ids]
                for run, drawn in zip(runs, regions, strict=True)
            ],
        }

    return pack(content, said, [(str(question.image), question.image) for question, _ in asked])


def _scored(runs: Sequence[GroundingRun]) -> list[str]:
    return [one for one in runs[0].questions.by_id if any(one in run.by_id for run in runs)]


def _chosen(ids: Sequence[str]) -> list[str]:
    """Return all ids, or of too many as many as are shown, at even distances."""
    n = len(ids)
    return [ids[place * n // MOST_ITEMS] for place in range(MOST_ITEMS)] if n > MOST_ITEMS else list(ids)


def _reply(run: GroundingRun, item: str, regions: Sequence[Points], most: int, place: Place) -> dict[str, Any]:
    """Return what one run said: its answer and what it is worth, its regions, and the places of its texts."""
    row = run.by_id[item]
    question, gold = run.questions.by_id[item]
    outlines = list(chain.from_iterable(gold.instances.get(name, ())[:most] for name in question.classes))
    return {
        "answer": "" if row.answer is None else str(row.answer)[:40],
        "outcome": OUTCOMES.index(_outcome(row)),
        "support": SUPPORT.index(_support(row)),
        "scored": row.in_support_set,
        "covered": row.covered,
        "annotated": row.annotated,
        "matched": row.matched,
        "area": round(row.area_share, 4),
        "flags": dict(row.flags),
        "predicted": row.predicted,
        "regions": _drawn(regions, most),
        "dots": _dots(outlines, regions),
        "texts": {turn: place(text) for turn, text in run.texts(item).items()},
    }


def _outcome(row: GroundingRow) -> str:
    if row.failed:
        return "failed request"
    return "right" if row.right else "invalid" if row.invalid else "wrong"


def _support(row: GroundingRow) -> str:
    if not row.support:
        return "not borne out"
    return "borne out, tight" if row.tight else "borne out, not tight"


def _drawn(outlines: Sequence[Points], most: int) -> list[list[float]]:
    """Return the first outlines as x, y of each corner, in tenths of a pixel."""
    return [[round(number, 1) for corner in points for number in corner] for points in outlines[:most]]


def _dots(instances: Sequence[Points], regions: Sequence[Points]) -> list[float]:
    """Return x, y of the centre of each instance that a region covers."""
    centres = Regions.of(instances).centres
    return [round(float(number), 1) for number in centres[covered(centres, regions)].ravel()]
