"""The first two tiers of the reader: the last JSON object that has a `verdict` key, as it stands or mended."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from georefusal_task.core.records import Reason, Status
from georefusal_task.core.reply_json import LOOSE, STRICT, Grammar, Members, Scan, objects, scan
from georefusal_task.core.reply_labels import Outcome, judge, verdict_values
from georefusal_task.core.reply_repair import last_stretch, normalise, repair, unclosed, unescape
from georefusal_task.core.verdicts import Verdict

_MAX_ENCODED = 3
"""How often a JSON string is unpacked that holds a JSON string that holds an object."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """An object that has a `verdict` key."""

    end: int
    outcome: Outcome
    status: Status
    members: Members
    cut: bool = False
    """Whether the end of the text cuts it off."""
    partial: str = ""
    """What there is of a verdict that is cut off itself."""


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
    candidates: list[Candidate] = []
    cut = deep = False
    for grammar, status in ((STRICT, Status.JSON), (LOOSE, Status.REPAIRED)):
        if grammar is LOOSE:
            text = normalise(text if candidates else unescape(text))
        scanned = scan(text, grammar)
        candidates += _candidates(text, scanned, grammar, status, letters)
        if not candidates and '\\"' in text:
            candidates += _encoded(text, scanned, letters)
        cut, deep = cut or scanned.cut is not None, deep or scanned.deep
        text = _without(text, scanned)
        if deep or "verdict" not in text.lower():
            break
    else:
        candidates += _mended(text, max((c.end for c in candidates), default=0))
    open_at = unclosed(text)
    found = _last(candidates)
    corrected = found is not None and any(
        isinstance(c.outcome, Verdict) and c.outcome != found.outcome for c in candidates
    )
    return Search(found, corrected, cut or open_at is not None, deep, text[:open_at])


def _candidates(text: str, scanned: Scan, grammar: Grammar, status: Status, letters: bool) -> Iterator[Candidate]:
    for start, end in scanned.spans:
        piece = text[start:end]
        if "verdict" in piece.lower() or "\\u" in piece:
            for item in reversed(list(objects(grammar.decode(piece)))):
                yield Candidate(end, judge(verdict_values(item), letters), status, item)
    if scanned.cut is None:
        return
    open_objects = scanned.cut.open_objects
    for item in reversed(list(objects(scanned.cut.value))):
        values = verdict_values(item)
        if not any(item is other for other in open_objects):
            yield Candidate(len(text), judge(values, letters), status, item)
            continue
        done = item[-1][0].lower() != "verdict" or (item is open_objects[-1] and scanned.cut.last_value_done)
        outcome = judge(values, letters) if done else Reason.TRUNCATED
        partial = values[-1] if not done and isinstance(values[-1], str) else ""
        yield Candidate(len(text), outcome, Status.REPAIRED, item, cut=True, partial=partial)


def _encoded(text: str, scanned: Scan, letters: bool) -> list[Candidate]:
    """Return the verdict objects in a JSON string: the whole text, a fence, or a value such as a tool call's arguments."""
    strings = [text.strip(), *(fenced.partition("\n")[2].strip() for fenced in text.split("```")[1::2])]
    values: list[Any] = []
    for string in strings:
        if string.startswith('"') and string.endswith('"'):
            values.append(_decoded(string))
    for start, end in scanned.spans:
        values += _strings(STRICT.decode(text[start:end]))
    found: list[Candidate] = []
    for _ in range(_MAX_ENCODED):
        inner = [value for value in values if isinstance(value, str) and "verdict" in value.lower()]
        for value in inner:
            found += [c for c in _candidates(value, scan(value), STRICT, Status.JSON, letters) if not c.cut]
        values = [_decoded(value) for value in inner if value.lstrip().startswith('"')]
    return [Candidate(0, c.outcome, c.status, c.members) for c in found]


def _decoded(text: str) -> Any:
    try:
        return STRICT.decode(text)
    except (ValueError, RecursionError):
        return None


def _strings(value: Any) -> Iterator[str]:
    """Yield the strings in a decoded value that may hold an object."""
    stack = [value]
    while stack:
        item = stack.pop()
        if isinstance(item, str):
            if item.lstrip()[:1] in ("{", "[", '"'):
                yield item
        elif isinstance(item, (tuple, list)):
            stack.extend(member[1] for member in item) if isinstance(item, tuple) else stack.extend(item)


def _mended(text: str, after: int) -> Iterator[Candidate]:
    """Yield what the last broken object comes to, if it closes behind the place `after` or begins there."""
    stretch = last_stretch(text)
    if isinstance(stretch, Reason):
        yield Candidate(len(text), stretch, Status.REPAIRED, ())
    elif stretch is not None and (stretch.end if stretch.closed else stretch.start) >= after:
        outcome, members = repair(text, stretch)
        yield Candidate(stretch.end, outcome, Status.REPAIRED, members, cut=not stretch.closed)


def _without(text: str, scanned: Scan) -> str:
    """Return the text with its objects blanked; every other character keeps its place."""
    spans = [*scanned.spans, *([(scanned.cut.start, len(text))] if scanned.cut else [])]
    pieces, at = [], 0
    for start, end in spans:
        # an empty string is a value inside another object, and nothing in prose
        pieces += [text[at:start], '""'.ljust(end - start)]
        at = end
    return "".join((*pieces, text[at:]))


def _last(candidates: list[Candidate]) -> Candidate | None:
    """Return the object that closes last; one that was mended or cut off counts only for the verdict that it gives."""
    ordered = sorted(candidates, key=lambda candidate: candidate.end)
    while len(ordered) > 1 and ordered[-1].status is Status.REPAIRED and isinstance(ordered[-1].outcome, Reason):
        last, previous = ordered.pop(), ordered[-1].outcome
        if last.partial and isinstance(previous, Verdict) and not previous.startswith(last.partial.upper()):
            return last  # it was about to take the earlier verdict back
    return ordered[-1] if ordered else None
