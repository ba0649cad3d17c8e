"""Reads a verdict that is stated in prose; a label that is merely mentioned is not a statement.

Labels count only as the prompt writes them, in capitals: the word "answer" is never ANSWER.
"""

import re
from collections.abc import Iterator

from georefusal_task.core.records import Reason
from georefusal_task.core.reply_labels import LABEL, Outcome, named, several
from georefusal_task.core.verdicts import VERDICTS, Verdict

_WORD = re.compile(r"(?<![A-Za-z/])verdict", re.IGNORECASE)
_AS_KEY = re.compile(  # "verdict: X", "<verdict>X", "**Verdict:** X", "| Verdict | X", "Verdict (final): X"
    rf"(?:\s?\([\w ]{{1,20}}\))?([\W_]{{1,30}})({LABEL})"
)
_AS_SENTENCE = re.compile(  # "my verdict is X", "the verdict for this question is therefore X"
    r"[\s\"'*_`)]{0,6}(?:(?:for|on|here|about|in|of)\b[^.:;\n]{0,60}?\s)?(?:is|must be|should be)\b:?\s{1,3}"
    rf"(?:(?:therefore|thus|clearly|then|hence|simply|definitely)\b:?\s{{1,3}})?[\s\"'*_`:(]{{0,8}}({LABEL})"
)
_BOXED = re.compile(
    rf"\\boxed\s{{0,3}}\{{\s{{0,3}}(?:\\(?:text|mathrm|texttt|textbf|mathbf)\s{{0,3}}\{{\s{{0,3}})?[\"'`*]{{0,3}}({LABEL})"
)
_COLON = re.compile(r"[:=|>→⇒：]|\s[-–—]\s")
_MORE = re.compile(  # "X or Y", "X (or Y)", "X vs Y", "X Y", and a list of labels, one a line
    rf"[\s\"'`*_}}]{{0,6}}(?:[|/,;&>→+]|->|=>|~+|\bor\b|\band\b(?:/or\b)?|\bvs\b\.?|\bversus\b)"
    rf"[\s\"'`*_]{{0,6}}(?:(?:or|and)\s{{1,3}})?({LABEL})"
    rf"|[ \t\"'`*_]{{0,6}}[ \t(]\s{{0,3}}(?:or\s{{1,3}})?({LABEL})"
    rf"|[ \t\"'`*_.]{{0,6}}\n\s{{0,6}}(?:[-•*]|\d{{1,2}}[.)])\s{{0,3}}[\"'`*_]{{0,3}}({LABEL})"
    rf"(?=[\"'`*_. \t]{{0,6}}(?:\n|\Z))"
)
_UNSURE_AFTER = re.compile(
    r"[\s\"'`*_]{0,6}\?"
    r"|[ \t\"'`*_,;]{0,6}\b(?:if|when|unless|only|otherwise|else)\b"
    r"|[ \t\"'`*_,;]{0,6}\b(?:is|was|would be)\s{1,3}(?:wrong|incorrect|impossible|not)\b"
)
_UNSURE_BEFORE = re.compile(
    r"\b(?:if|whether|unless)\b[^.!?\n]*\Z|\b(?:when|where)\b[^.!?,\n]*\Z|\b(?:one|possible|example|e\.g\.|which|wrong|incorrect|no)[,:]?\s{0,3}\Z",
    re.IGNORECASE,
)
_LISTED = re.compile(rf"[^\n]*\n[^\w\n]{{0,8}}{LABEL}")  # the next line begins with a label, too
_BULLET = re.compile(r"\n\s*(?:[-•]|\*\s)")
_REST_OF_LINE = re.compile(r"[^\n]*")
_DECORATION = " \t\r\xa0\ufeff\u200b\"'`*_.,:;!()[]<>#"
_FENCE = re.compile(r"\s*```\w*\s*")


def read_prose(text: str) -> tuple[Outcome, bool]:
    """Return the verdict that the text states, or the reason why there is none, and whether it corrects an earlier one.

    The last statement counts.
    """
    text = text.replace(r"\_", "_")  # as Markdown and LaTeX write it
    labels = named(text)
    if not labels:
        return Reason.NO_VERDICT, False
    statements = [outcome for _, outcome in sorted(_statements(text, labels), key=lambda stated: stated[0])]
    if not statements:
        return several(labels, otherwise=Reason.MENTION) if len(labels) > 1 else Reason.MENTION, False
    last = statements[-1]
    corrected = any(isinstance(s, Verdict) and s is not last for s in statements)
    return last, corrected and isinstance(last, Verdict)


def _statements(text: str, labels: set[Verdict]) -> Iterator[tuple[int, Outcome]]:
    """Yield (place, outcome) of every explicit statement."""
    for word in _WORD.finditer(text):
        at = word.end()
        if (match := _AS_KEY.match(text, at)) and _is_key(text, match):
            pass
        elif not (match := _AS_SENTENCE.match(text, at)):
            continue
        if _UNSURE_BEFORE.search(text, max(0, word.start() - 100), word.start()):
            continue
        yield from _stated(text, match)
    for match in _BOXED.finditer(text):
        yield from _stated(text, match)
    yield from _label_lines(text)
    first = text.lstrip(_DECORATION + "\n")
    if len(labels) == 1 and first.startswith("REFUSE_") and first.startswith(next(iter(labels))):
        yield 0, next(iter(labels))


def _is_key(text: str, match: re.Match[str]) -> bool:
    """Tell whether what stands between the word and the label makes it a key, a tag or a heading."""
    if "\n" not in match[1]:
        return bool(_COLON.search(match[1]))
    rest = _REST_OF_LINE.match(text, match.end())
    if rest and not rest[0].strip(_DECORATION):
        return True
    # "Choose one verdict:\n- ANSWER: the evidence is ..." is the prompt, not a heading
    return not _BULLET.search(match[1]) and not _LISTED.match(text, match.end())


def _stated(text: str, match: re.Match[str]) -> Iterator[tuple[int, Outcome]]:
    """Yield the outcome of one statement, nothing when it is a question, a condition or a list of all six labels."""
    group = match.lastindex or 1
    stated, end = {Verdict(match[group])}, match.end()
    while more := _MORE.match(text, end):
        stated.add(Verdict(more[more.lastindex or 1]))
        end = more.end()
    if len(stated) < len(VERDICTS) and not _UNSURE_AFTER.match(text, end):
        yield match.start(group), several(stated, otherwise=Reason.CONFLICT)


def _label_lines(text: str) -> Iterator[tuple[int, Outcome]]:
    """Yield the first and last line where they hold a label and nothing else, but not out of a list of labels."""
    lines = [line for line in text.split("\n") if line.strip(_DECORATION) and not _FENCE.fullmatch(line)]
    if not lines:
        return
    for line, neighbour, place in ((lines[0], lines[1:2], 0), (lines[-1], lines[-2:-1], len(text))):
        verdict = _alone(line)
        if verdict and all(_alone(other) in (None, verdict) for other in neighbour):
            yield place, verdict


def _alone(line: str) -> Verdict | None:
    bare = line.strip(_DECORATION) if len(line) < 200 else ""
    return Verdict(bare) if bare in VERDICTS else None
