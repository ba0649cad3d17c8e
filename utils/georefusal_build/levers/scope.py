"""Sentences whose structure can be read in several ways, and the logical form of each way.

Letters are slots: C, A and B are classes, a reading is a finding over all their instances.
"""

from collections.abc import Callable
from dataclasses import dataclass

from georefusal_build.geometry import Clause, Finding, Frame, Items, every, in_upper_half, present, same_quarter, some

Readings = tuple[Finding, ...]


@dataclass(frozen=True)
class Form:
    """A sentence structure.

    letters: the classes it names. least: how many instances the words presuppose. counted: it needs all instances, not
    only whether there is any.
    """

    letters: str
    clause: Clause
    least: tuple[int, ...]
    counted: bool = True


def _plain(letters: str, form: Callable[..., Readings]) -> Form:
    """Return a form over the presence of the classes, in the order C, A, B."""

    def clause(items: Items, _: Frame) -> Readings:
        return form(*(present(items[letter]) for letter in letters))

    return Form(letters, clause, (0,) * len(letters), counted=False)


def _upper(items: Items, frame: Frame, letter: str) -> Finding:
    return some(in_upper_half(one, frame) for one in items[letter])


def _and_or(c: Finding, a: Finding, b: Finding) -> Readings:
    return c & (a | b), (c & a) | b


def _lack_pair(c: Finding, a: Finding) -> Readings:
    return ~c & ~a, ~(c & a)


def _lack_and_or(c: Finding, a: Finding, b: Finding) -> Readings:
    """The two bracketings and, where these differ, "none of them": readers for whom they agree see one meaning."""
    brackets = ~(c & (a | b)), ~((c & a) | b)
    return *brackets, ~c & ~a & ~b if brackets[0].truth is not brackets[1].truth else brackets[0]


def _half_pair(items: Items, frame: Frame) -> Readings:
    c, a = (_upper(items, frame, letter) for letter in "CA")
    return c & a, present(items["C"]) & a


def _half_and_or(items: Items, frame: Frame) -> Readings:
    c, a, b = (_upper(items, frame, letter) for letter in "CAB")
    c_at_all, a_at_all = present(items["C"]), present(items["A"])
    return c & (a | b), (c & a) | b, c_at_all & (a | b), (c_at_all & a_at_all) | b


def _lack_half(items: Items, frame: Frame) -> Readings:
    c, a = (_upper(items, frame, letter) for letter in "CA")
    c_at_all = present(items["C"])
    return ~c & ~a, ~(c & a), ~c_at_all & ~a, ~(c_at_all & a)


def _all_not(items: Items, frame: Frame) -> Readings:
    upper = [in_upper_half(one, frame) for one in items["C"]]
    return ~every(upper), every(~one for one in upper)


def _share(items: Items, frame: Frame) -> Readings:
    return (
        some(every(same_quarter(c, a, frame) for a in items["A"]) for c in items["C"]),
        every(some(same_quarter(c, a, frame) for c in items["C"]) for a in items["A"]),
    )


def _all_not_every(items: Items, frame: Frame) -> Readings:
    with_every = [every(same_quarter(c, a, frame) for a in items["A"]) for c in items["C"]]
    with_any = [some(same_quarter(c, a, frame) for a in items["A"]) for c in items["C"]]
    return every(~one for one in with_every), ~every(with_every), every(~one for one in with_any)


SHARED: dict[str, Form] = {
    "and_or": _plain("CAB", _and_or),
    "lack_pair": _plain("CA", _lack_pair),
    "half_pair": Form("CA", _half_pair, (0, 0)),
    "all_not": Form("C", _all_not, (2,)),
    "share": Form("CA", _share, (0, 2)),
}
"""Two readings each: LOW where they agree, MEDIUM where they do not."""

BRACKETED: dict[str, Form] = {
    "both": _plain("CA", lambda c, a: (c & a,)),
    "either": _plain("CA", lambda c, a: (c | a,)),
    "neither": _plain("CA", lambda c, a: (~c & ~a,)),
    "upper": Form("C", lambda items, frame: (_upper(items, frame, "C"),), (0,)),
    "several": Form("C", lambda items, _: (Finding(len(items["C"]) > 1),), (0,)),
}
"""One reading each, by their wording."""

TANGLED: dict[str, Form] = {
    "lack_and_or": _plain("CAB", _lack_and_or),
    "half_and_or": Form("CAB", _half_and_or, (0, 0, 0)),
    "lack_half": Form("CA", _lack_half, (0, 0)),
    "all_not_every": Form("CA", _all_not_every, (2, 2)),
}
"""Three readings or more."""
