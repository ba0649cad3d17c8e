"""The six verdicts, their precedence and the accept-set rule.

Source: the GeoRefusalBench card; the names descend from RefusalBench (arXiv 2510.10390).
"""

from collections.abc import Iterable
from enum import StrEnum


class Verdict(StrEnum):
    """What a model may say about one (image, question) pair; the value is the spelling used in files and replies."""

    ANSWER = "ANSWER"
    INFO_MISSING = "REFUSE_INFO_MISSING_IN_CONTEXT"
    GRANULARITY = "REFUSE_GRANULARITY_MISMATCH"
    AMBIGUOUS = "REFUSE_AMBIGUOUS_QUERY"
    FALSE_PREMISE = "REFUSE_FALSE_PREMISE_IN_QUERY"
    NONFACTUAL = "REFUSE_NONFACTUAL_QUERY"

    @property
    def is_refusal(self) -> bool:
        """True for the five REFUSE_* verdicts."""
        return self is not Verdict.ANSWER


VERDICTS: tuple[Verdict, ...] = tuple(Verdict)
"""All six, in the order of tables and confusion matrices."""

LETTERS: dict[str, Verdict] = dict(zip("ABCDEF", VERDICTS, strict=True))
"""The options of the multiple-choice prompt."""

REFUSALS: tuple[Verdict, ...] = VERDICTS[1:]

PRECEDENCE: tuple[Verdict, ...] = (
    Verdict.FALSE_PREMISE,
    Verdict.AMBIGUOUS,
    Verdict.GRANULARITY,
    Verdict.NONFACTUAL,
    Verdict.INFO_MISSING,
    Verdict.ANSWER,
)
"""When several reasons to refuse hold, the first of these is the right verdict; ANSWER only when none does."""

MEANINGS: dict[Verdict, str] = {
    Verdict.ANSWER: "the evidence is in the image and clear enough to settle the question",
    Verdict.INFO_MISSING: "the evidence belongs to this scene but is hidden, blacked out, saturated, cut off, "
    "or its channel is missing",
    Verdict.GRANULARITY: "the question needs finer spatial or temporal sampling than the scene has",
    Verdict.AMBIGUOUS: "the question fixes no single referent or criterion",
    Verdict.FALSE_PREMISE: "the question presupposes something that the image contradicts",
    Verdict.NONFACTUAL: "no image could settle the question",
}
"""One line per verdict, worded once for prompts, docs and pages."""


def primary(accept: Iterable[Verdict]) -> Verdict:
    """Return the member of highest precedence of a non-empty accept set.

    >>> str(primary({Verdict.INFO_MISSING, Verdict.GRANULARITY}))
    'REFUSE_GRANULARITY_MISMATCH'
    """
    return min(accept, key=PRECEDENCE.index)
