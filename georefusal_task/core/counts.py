"""Reads whole numbers strictly: what does not plainly give one number gives none, and never 0."""

import re
from typing import Any

from georefusal_task.core.number_words import NUMBER, number_value
from georefusal_task.core.reply_json import STRICT, objects, scan
from georefusal_task.core.reply_thought import cut_thought

_MAX_ENCODED = 3
"""How often a JSON string is unpacked that holds JSON again."""

_ASCII = str.maketrans({chr(0xFF10 + i): str(i) for i in range(10)} | {"−": "-", "，": ",", "：": ":", "。": "."})
_ANSWER_TAG = re.compile(r"<\s{0,3}answer\s{0,3}>", re.IGNORECASE)
_TAG = re.compile(r"</?\s{0,3}[a-z][\w ]{0,30}/?>", re.IGNORECASE)
_SENTENCE = re.compile(r"(?:[.!;]+(?=\s|\Z)|(?<=\?)(?=\s)|(?<![:=\s])[ \t]*\n)")
_ANSWER = re.compile(
    r"""(?:\banswer["'`*_]{0,4}\s{0,3}(?:is|would be|:|=)+|\\boxed\s{0,3}\{)(?P<said>(?:(?!,\s{0,3}["']\w).)*)""",
    re.IGNORECASE | re.DOTALL,
)
_TOTAL = re.compile(
    r"\b(?:total of|(?<!in )total(?: number| count)?\s{0,3}(?:is|:|=)|count\s{0,3}(?:is|:|=)"
    r"|number of [\w ]{1,40}? (?:is|equals))"
    r"(?P<said>[^:(]*)",
    re.IGNORECASE,
)
_ALTOGETHER = re.compile(r"\b(?:in total|altogether)\b", re.IGNORECASE)

_NUMERAL = (
    r"(?=(?:an?[ ])?(?:[0-9]|(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|(?:half (?:a )?)?dozen"
    r"|hundred|thousand|\w{2,5}teen|\w{3,5}ty)\b))"
)
_HEDGE = re.compile(
    r"\b(?:approx(?:imate(?:ly)?)?|roughly|nearly|almost|circa|estimated?|estimates?|guess(?:es|ing)?|maybe|perhaps"
    r"|possibly|not (?:sure|certain)|unsure|uncertain|(?:hard|difficult) to|cannot|can't|unable|unclear|unknown"
    r"|impossible|minus|negative|range|up to|upwards of|close to|(?:region|order) of|at (?:least|most)|minimum|maximum"
    r"|(?:more|less|fewer|greater|larger|smaller|other) than|as (?:many|few) as|or (?:so|more|fewer|less|maybe|perhaps)"
    r"|more or less|give or take|per(?! the)|(?:in|on|at|for|with) each(?! other))\b"
    r"|\b(?:about|around|over|under|above|below|some|several|few|many|couple of|between|not|isn't|aren't|weren't"
    r"|probably|likely|presumably|(?:might|may|could) be|another|ca?\s?\.)"
    rf"\s{{1,3}}(?:exactly\s|only\s)?{_NUMERAL}"
    r"|\b(?:probably|likely|presumably|plus)\W{0,3}\Z"
    r"|\b(?:percent|thirds|quarters|fifths|tenths|one (?:half|third|quarter)|and a half|half a (?!dozen)\w|baker['’]s)"
    r"|[~≈≃≥≤<>±]|\\(?:sim|approx)|[0-9]\s?(?:\+|/\s?[0-9])|[0-9a-z)]\s?\?\s*\Z",
    re.IGNORECASE,
)
"""What leaves a number open, or makes it a share or a part of the count."""
_NO_NOUN = "one|more|other|longer|further|additional|fewer|less|there|i|the|it|this|that|these|those|they|we|but"
_NO_OBJECT = (
    r"(?:(?!(?:in|on|at|of|for|from|to|with|and|or|the|this|that|are|is|can|could)\b)[a-z-]{1,20}\s{1,3}){0,2}"
    r"(?:(?:image|picture|photo(?:graph)?|detail|answer|response|result|count|number|figure|estimate|comment|reason|clue"
    r"|conclusion|doubt|idea|way|view|problem|need|matter|indication)s?|imagery|data|context|info(?:rmation)?|evidence"
    r"|certainty|signs? of)\b"
)
"""What a reply may have none of without counting any object: "no image was provided" is no 0."""
_NONE = re.compile(
    rf"\bnone\b|\bno\s{{1,3}}(?!(?:{_NO_NOUN})\b|{_NO_OBJECT})(?=[a-z])"
    r"|(?:\b(?:not|cannot|without|never)|n['’]t)\s{1,3}"
    r"(?:(?!(?:determine|tell|say|give|provide|sure|know)\b)[a-z]{1,20}\s{1,3}){0,2}(?:any|a single|even one)\b"
    rf"(?!\s{{1,3}}{_NO_OBJECT})",
    re.IGNORECASE,
)
_PLACE = re.compile(
    r"\b(?:left|right|top|bottom|upper|lower|(?:north|south|east|west)\w*|cent(?:er|re)|middle|near|by|along|at"
    r"|in(?!\s(?:total|all|(?:the|this)\s(?:image|picture|scene))))\b",
    re.IGNORECASE,
)
"""Where some of the objects are: numbers of two places are parts of a count, even where they are equal."""
_ONE = re.compile(r"\ba single\b(?!-)", re.IGNORECASE)
_PRONOUN = re.compile(
    r"\b(?:no|this|that|which|each|every|any|some|another|the other|last|first)[ -]one\b"
    r"|\bone (?:of|another|side|end|can|may|might|cannot)\b",
    re.IGNORECASE,
)


def read_count(text: str) -> int | None:
    """Return the one whole number, 0 or more, that a reply gives as its answer; None where it gives none or several.

    Digits with or without thousands separators, number words, and plain ways to say none ("no ships"). What is stated
    as the answer or the total counts before numbers that are only mentioned. Approximations, ranges, fractions,
    negative numbers and contradictions give None. Thought is cut first. Never raises; takes linear time.

    >>> read_count("There are twenty-one ships."), read_count("No ships."), read_count('{"answer": "1,234"}')
    (21, 0, 1234)
    >>> read_count("about 5"), read_count("5 or 6"), read_count("several"), read_count("1,5"), read_count("-3")
    (None, None, None, None, None)
    """
    text, in_thought = cut_thought(text)
    return None if in_thought else _read(text, _MAX_ENCODED)


def _read(text: str, depth: int) -> int | None:
    given = _json_answers(text)
    if given:
        return _agreed([_json_count(value, depth) for value in given])
    text = _ANSWER_TAG.sub(" Answer: ", text.translate(_ASCII))
    sentences = [part for part in _SENTENCE.split(_TAG.sub(" ", text)) if part.strip()]
    stated = [found["said"] for part in sentences for found in [*_ANSWER.finditer(part)][-1:]]
    stated = stated or [found["said"] for part in sentences for found in [*_TOTAL.finditer(part)][-1:]]
    stated = stated or [_clause(part) for part in sentences if _ALTOGETHER.search(part)]
    return _agreed([_mentioned(part) for part in stated]) if stated else _mentioned(" . ".join(sentences))


def _clause(sentence: str) -> str:
    """Return a sentence up to its colon or bracket if a number stands there: what follows lists the parts."""
    before = re.split(r"[:(]", sentence, maxsplit=1)[0]
    return before if NUMBER.search(before) else sentence


def _agreed(counts: list[int | None]) -> int | None:
    return counts[0] if len(set(counts)) == 1 else None


def _json_answers(text: str) -> list[Any]:
    """Return the values of the key "answer", else "count", in the JSON of a text; null for one that is cut off."""
    if "{" not in text:
        return []
    scanned = scan(text)
    try:
        whole = [STRICT.decode_at(text, start)[0] for start, _ in scanned.spans]
    except RecursionError:
        return []
    cut = scanned.cut.value if scanned.cut else ()
    for name in ("answer", "count"):
        found = [value for item in objects(whole, name) for key, value in item if key.lower() == name]
        for item in objects(cut, name):
            found += [value if item[-1][0] != key else None for key, value in item if key.lower() == name]
        if found:
            return found
    return []


def _json_count(value: Any, depth: int) -> int | None:
    while isinstance(value, list) and len(value) == 1:
        value = value[0]
    if isinstance(value, str):
        return _read(value, depth - 1) if depth else None
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value < 10**15 or value % 1:
        return None
    return int(value)


def _mentioned(text: str) -> int | None:
    """Return the number that a text mentions, if it is one only and stands there without reserve."""
    text = _PRONOUN.sub(" ", _ONE.sub(" one ", _NONE.sub(" zero ", text)))
    if _HEDGE.search(text):
        return None
    numbers: set[int] = set()
    for sentence in text.split(" . "):
        found = [*NUMBER.finditer(sentence)]
        ends = [*(number.start() for number in found[1:]), len(sentence)]
        if sum(bool(_PLACE.search(sentence, number.end(), end)) for number, end in zip(found, ends, strict=False)) > 1:
            return None
        for number in found:
            values = number_value(number)
            if values is None:
                return None
            numbers.update(values)
    return numbers.pop() if len(numbers) == 1 else None
