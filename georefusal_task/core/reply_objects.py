"""The first two tiers of the reader: the last JSON object that has a `verdict` key, as it stands or mended."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from georefusal_task.core.records import Reason, Status
from georefusal_task.core.reply_json import LOOSE, STRICT, CutOff, Grammar, Members, Scan, objects, scan
from georefusal_task.core.reply_labels import Outcome, judge, verdict_values
from georefusal_task.core.reply_repair import broken_objects, normalise, repair, unescape
from georefusal_task.core.verdicts import Verdict

_MAX_ENCODED = 3
"""How often a JSON string is unpacked that holds a JSON string that holds an object."""


@dataclass(slots=True)  # not frozen: there may be a hundred thousand
class Candidate:
    """An object that has a `verdict` key."""

    end: int
    outcome: Outcome
    members: Members
    status: Status = Status.REPAIRED
    partial: str = ""
    """What there is of a verdict that the end of the text cuts off."""


@dataclass(frozen=True, slots=True)
class Search:
    """What was found, and what is left for the next tier."""

    found: Candidate | None
    self_corrected: bool
    truncated: bool
    """Whether the text ends within an object."""
    deep: bool
    """Whether something nests too deep to be read."""
    prose: str
    """The text without its objects: where none of them has a verdict, it may still state one."""


def search(text: str, letters: bool = False) -> Search:
    """Return the object that decides a reply; with `letters`, the options A to F are verdicts too."""
    scanned = scan(text)
    cut, deep = scanned.cut is not None, scanned.deep
    candidates = _candidates(text, scanned, STRICT, letters)
    rest = _without(text, scanned)
    if not candidates and (encoded := _encoded(text, scanned, letters)):
        return _result(encoded, cut, deep, rest)
    if deep or (candidates and "verdict" not in rest.lower()):
        return _result(candidates, cut, deep, rest)

    text = normalise(rest if candidates else unescape(rest))
    scanned = scan(text, LOOSE)
    candidates += _candidates(text, scanned, LOOSE, letters)
    rest = _without(text, scanned)
    stretch, dangling = broken_objects(rest)
    # A broken object without an end may have been dropped for a better one: it is the last only if it begins last.
    place = 0 if stretch is None else stretch.end if stretch.closed else stretch.start
    if stretch and all(place >= candidate.end for candidate in candidates):
        candidates.append(Candidate(stretch.end, *repair(rest, stretch, letters)))
    candidates.sort(key=lambda candidate: candidate.end)
    cut = cut or scanned.cut is not None or dangling is not None or (stretch is not None and not stretch.closed)
    return _result(candidates, cut, scanned.deep, rest[:dangling])


def _result(candidates: list[Candidate], truncated: bool, deep: bool, prose: str) -> Search:
    """Return the object that closes last; one that was mended or cut off counts only for the verdict that it gives."""
    left = list(candidates)
    while len(left) > 1 and left[-1].status is Status.REPAIRED and isinstance(left[-1].outcome, Reason):
        last, previous = left.pop(), left[-1].outcome
        if last.partial and isinstance(previous, Verdict) and not previous.startswith(last.partial.upper()):
            left.append(last)  # it was about to take the earlier verdict back
            break
    found = left[-1] if left else None
    verdicts = {candidate.outcome for candidate in left if isinstance(candidate.outcome, Verdict)}
    corrected = found is not None and isinstance(found.outcome, Verdict) and len(verdicts) > 1
    return Search(found, corrected, truncated, deep, prose)


def _candidates(text: str, scanned: Scan, grammar: Grammar, letters: bool) -> list[Candidate]:
    """Return the verdict objects of a scan in the order in which they close."""
    status = Status.JSON if grammar is STRICT else Status.REPAIRED
    found = []
    for start, end in scanned.spans:
        items = list(objects(grammar.decode_at(text, start)[0]))
        found += [Candidate(end, judge(verdict_values(item), letters), item, status) for item in reversed(items)]
    return found + _cut_candidates(scanned.cut, len(text), status, letters) if scanned.cut else found


def _cut_candidates(cut: CutOff, end: int, status: Status, letters: bool) -> list[Candidate]:
    """Return the verdict objects within a cut-off object, those that are cut off themselves last."""
    found = []
    for item in reversed(list(objects(cut.value))):
        values = verdict_values(item)
        if not any(item is other for other in cut.open_objects):
            found.append(Candidate(end, judge(values, letters), item, status))
        elif item[-1][0].lower() != "verdict" or (item is cut.open_objects[-1] and cut.last_value_done):
            found.append(Candidate(end, judge(values, letters), item))
        else:
            partial = values[-1] if isinstance(values[-1], str) else ""
            found.append(Candidate(end, Reason.TRUNCATED, item, partial=partial))
    return found


def _encoded(text: str, scanned: Scan, letters: bool) -> list[Candidate]:
    """Return the verdict objects in a JSON string that fills a fence or is a value, as in a tool call."""
    if '\\"' not in text:
        return []
    values = [_decoded(fenced.partition("\n")[2]) for fenced in text.split("```")[1::2]]
    for start, _ in scanned.spans:
        values += _strings(STRICT.decode_at(text, start)[0])
    found: list[Candidate] = []
    for _ in range(_MAX_ENCODED):
        inner = [value for value in values if isinstance(value, str) and "verdict" in value.lower()]
        for value in inner:
            found += [c for c in _candidates(value, scan(value), STRICT, letters) if c.status is Status.JSON]
        values = [_decoded(value) for value in inner]
    return found


def unwrapped(text: str) -> str:
    """Return what a text says that is a JSON string, or a JSON string in a JSON string; any other text as it is."""
    for _ in range(_MAX_ENCODED):
        text = _decoded(text) or text
    return text


def _decoded(text: str) -> str | None:
    """Return the string that a text is in JSON, None if it is none."""
    text = text.strip()
    if text[:1] != '"' or text[-1:] != '"':
        return None
    try:
        value, end = STRICT.decode_at(text, 0)
    except ValueError:
        return None
    return value if end == len(text) else None


def _strings(value: Any) -> Iterator[str]:
    """Yield the strings in a decoded value that may hold an object; what a reply's own fields quote is none."""
    stack = [value]
    while stack:
        item = stack.pop()
        if isinstance(item, str):
            yield item
        elif isinstance(item, list):
            stack.extend(item)
        elif isinstance(item, tuple):
            stack.extend(value for key, value in item if key.lower() not in ("answer", "justification"))


def _without(text: str, scanned: Scan) -> str:
    """Return the text with its objects blanked; every other character keeps its place."""
    spans = [*scanned.spans, *([(scanned.cut.start, len(text))] if scanned.cut else [])]
    pieces, at = [], 0
    for start, end in spans:
        # an empty string is a value inside another object, and nothing in prose
        pieces += [text[at:start], '""'.ljust(end - start)]
        at = end
    return "".join((*pieces, text[at:]))
