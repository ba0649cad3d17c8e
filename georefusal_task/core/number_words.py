"""Whole numbers in words and digits: every number that a text names, and every number that is none of the kind."""

import re

_UNITS = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]
_TEENS = [
    "ten",
    "eleven",
    "twelve",
    *(f"{word}teen" for word in ("thir", "four", "fif", "six", "seven", "eigh", "nine")),
]
_TENS = [f"{word}ty" for word in ("twen", "thir", "for", "fif", "six", "seven", "eigh", "nine")]
_SCALES = {"hundred": 100, "thousand": 1_000, "million": 1_000_000}
_VALUES = (
    {word: i for i, word in enumerate(_UNITS + _TEENS)}
    | {word: 10 * i for i, word in enumerate(_TENS, start=2)}
    | {"fourty": 40, "nought": 0, "nil": 0}
)
_JOINS = {"and": 100, ",": 1_000}
"""What joins two words to one number, and the least place that must come before it."""
_WORD = "|".join(sorted((*_VALUES, *_SCALES), key=len, reverse=True))

NUMBER = re.compile(
    r"(?P<digits>(?<![\w.,-])(?<![0-9][ ])[0-9]{1,3}(?:[ ][0-9]{3}){1,2}(?![\w%]|['’]\w|[.,][0-9]|[ ][0-9%])"
    r"|(?<![\w.,-])(?<!\w['’])[0-9]{1,3}(?:[,\u00a0\u202f\u2009][0-9]{3}){1,4}(?![\w%]|['’]\w|[.,][0-9]|[ ]%)"
    r"|(?<![\w.,-])(?<!\w['’])[0-9]{1,15}(?:\.0{1,2})?(?![\w%]|['’]\w|[.,][0-9]|[ ]%))"
    rf"|(?P<words>(?<![\w-])(?:(?:an?[ ]{{1,3}})?(?:half[ ](?:a[ ])?)?dozen|(?:an?[ ]{{1,3}})?(?:{_WORD})"
    rf"(?:(?:[ -]{{1,3}}|,[ ]|[ ]{{1,3}}and[ ]{{1,3}})(?:{_WORD}|dozen))*+)(?![\w-]))"
    r"|(?P<other>(?<![^\W_])[^\W_0-9]*+[0-9][\w.,'’%]*+)",
    re.IGNORECASE,
)
"""Digits, number words, or what has digits in it and is no whole number: 2.5, 1,5, 3rd, x2."""


def number_value(found: re.Match[str]) -> list[int] | None:
    """Return the whole numbers that a match of NUMBER names, usually one; none for a name like B2 or a length like 5km.

    None stands for what is a number and not a whole one: 2.5, 1,5, -3, 40 %.

    >>> [number_value(found) for found in NUMBER.finditer("a hundred and five or twenty-one or 1,234 but 1,5")]
    [[105], [21], [1234], None]
    """
    if found["other"]:
        return [] if re.search(r"[^\W\d_]", found["other"]) else None
    if found["digits"]:
        return [int(re.sub(r"\.0+\Z|[^0-9]", "", found["digits"]))]
    words = re.findall(r"[a-z]+|,", found["words"].lower())
    return _spoken([word for word in words if word not in ("a", "an")])


def _spoken(words: list[str]) -> list[int]:
    """Return the numbers that a row of number words names: "two hundred and five" is one, "two, five" are two."""
    if words[0] == "half":
        return [6]  # half a dozen
    numbers: list[int] = []
    total = group = last = 0  # the thousands so far, what is below a thousand, and the least place that is filled
    begun = False

    def end() -> None:
        nonlocal total, group, last, begun
        if begun:
            numbers.append(total + group)
        total = group = last = 0
        begun = False

    for word in words:
        if word in _JOINS:
            if last < _JOINS[word]:
                end()
        elif word == "dozen":
            group, last, begun = (group or 1) * 12, 1, True
        elif word in _SCALES:
            scale = _SCALES[word]
            if begun and group == 0:
                end()
            if scale == 100:
                group = (group or 1) * 100
            else:
                total, group = total + (group or 1) * scale, 0
            last, begun = scale, True
        else:
            value = _VALUES[word]
            fits = not begun or last >= 100 or (last == 10 and 0 < value < 10)
            if not fits:
                end()
            group, begun = group + value, True
            last = 10 if value >= 20 else 1
    end()
    return numbers
