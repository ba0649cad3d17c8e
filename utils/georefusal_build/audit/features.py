"""What each tier lets a classifier see of the items."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from georefusal_build.audit.models import Features
from georefusal_build.audit.subjects import Row, Subjects
from georefusal_build.audit.targets import F64

_WIDEST = 4_000
"""Word features at most, the most frequent ones."""
_FEWEST_CELLS = 3
"""A value of a column of words that fewer items have is no feature."""

_EFFECTIVE = ("gsd_effective_m", "effective_gsd", "effective_gsd_m", "gsd_effective")
_PULLED = ("gsd", "param", "measur", "operator", "variant")
_BASE_ANSWER = ("base_answer",)
_BOXES = ("boxes",)


def identity(subjects: Subjects) -> Features:
    """T0: the characters of the ids, the order of the rows and of the sorted ids, the time of the image files."""
    ids = [item.case.id for item in subjects.items]
    tails = [item.rpartition("-")[2] for item in ids]
    stamps = np.array([item.case.image.stat().st_mtime_ns for item in subjects.items], dtype=np.float64)
    orders = {"row order": subjects.positions.astype(np.float64), "rank of the id": _ranks(ids), "file time": stamps}
    columns: dict[str, F64] = {"first digits of the id": np.array([float(int(tail[:6], 16)) for tail in tails])}
    for name, order in orders.items():
        rank = _ranks(order.tolist())
        columns[name] = rank
        columns |= {f"{name}, rest by {step}": rank % step for step in (2, 3, 4)}
        columns[f"{name}, inside the family"] = _inside(rank, subjects.families)
    columns["length of the id"] = np.array([float(len(item)) for item in ids])
    return _with_words(columns, [f"^{tail}$" for tail in tails], [("char", (1, 3))])


def file(subjects: Subjects) -> Features:
    """T1: what the image files weigh and how they are put together, without a look at their pixels."""
    return _columns(picture.file for picture in subjects.pictures)


def pixels(subjects: Subjects) -> Features:
    """T3: what the image looks like as a whole, to somebody who does not know where the target is."""
    return _columns(picture.pixels for picture in subjects.pictures)


def question(subjects: Subjects) -> Features:
    """T2: the wording of the question, and the number of its template where provenance gives it."""
    questions = [item.case.question for item in subjects.items]
    columns = {
        "characters": np.array([float(len(text)) for text in questions]),
        "words": np.array([float(len(text.split())) for text in questions]),
    }
    columns |= _one_hot("template", [str(row.get("template_id") or "") for row in subjects.provenance])
    return _with_words(columns, questions, [("word", (1, 2)), ("char_wb", (3, 5))])


def templates(subjects: Subjects) -> list[str] | None:
    """Return the template of each question, None where provenance does not tell."""
    named = [str(row.get("template_id") or "") for row in subjects.provenance]
    return named if all(named) else None


def base_known(subjects: Subjects) -> list[bool] | None:
    """Return which items have a base answer, None where none has: that one is missing must not pass for an answer."""
    known = [_first(row, _BASE_ANSWER) is not None for row in subjects.provenance]
    return known if any(known) else None


def base(subjects: Subjects) -> Features | None:
    """T6: the answer of the base question, how many instances there are and how large; None where nothing is known."""
    said = [_first(row, _BASE_ANSWER) for row in subjects.provenance]
    columns = _one_hot("base answer", ["" if value is None else str(value).lower() for value in said])
    columns |= {name: values for name, values in _named(map(_boxes, subjects.provenance)).items() if np.ptp(values) > 0}
    return Features(_stack(columns), tuple(columns)) if columns else None


def effective_sampling(subjects: Subjects) -> Features | None:
    """T4: the effective ground sample distance alone; None where provenance has none."""
    rows = [_numbers({"effective gsd": _first(row, _EFFECTIVE)}) for row in subjects.provenance]
    return _columns(rows) if any(rows) else None


def pulled(subjects: Subjects) -> Features | None:
    """T4: sampling, parameters and measurements; None where provenance has none of them."""
    rows = [
        _numbers({name: value for name, value in row.items() if any(part in name for part in _PULLED)})
        for row in subjects.provenance
    ]
    return _columns(rows) if any(rows) else None


def _columns(rows: Iterable[Mapping[str, float]]) -> Features:
    columns = _named(rows)
    kept = {name: values for name, values in columns.items() if np.ptp(values) > 0} or {
        "nothing varies": _zeros(columns)
    }
    return Features(_stack(kept), tuple(kept))


def _zeros(columns: Mapping[str, F64]) -> F64:
    return np.zeros_like(next(iter(columns.values())))


def _named(rows: Iterable[Mapping[str, float]]) -> dict[str, F64]:
    """Return a column per name; where an item has no value, the column's median, and a second column that says so."""
    listed = list(rows)
    columns: dict[str, F64] = {}
    for name in sorted({name for row in listed for name in row}):
        values = np.array([row.get(name, np.nan) for row in listed], dtype=np.float64)
        unknown = np.isnan(values)
        columns[name] = np.where(unknown, np.median(values[~unknown]), values)
        if unknown.any():
            columns[f"{name} not given"] = unknown.astype(np.float64)
    return columns


def _numbers(value: Any, name: str = "") -> dict[str, float]:
    """Return every number of nested columns by its dotted name; words become a column of their own, lists a length."""
    if isinstance(value, Mapping):
        parts = (_numbers(part, f"{name}.{key}" if name else str(key)) for key, part in value.items())
        return {key: number for part in parts for key, number in part.items()}
    if isinstance(value, bool | int | float):
        return {name: float(np.clip(float(value), -1e12, 1e12))} if np.isfinite(float(value)) else {}
    if isinstance(value, str) and value:
        return {f"{name} = {value[:40]}": 1.0}
    return {f"{name} (length)": float(len(value))} if isinstance(value, list) else {}


def _boxes(row: Row) -> dict[str, float]:
    """Return number and size of the boxes of a row, by the sides of what bounds them, pixels."""
    value = _first(row, _BOXES)
    if not isinstance(value, list):
        return {}
    sides = [side for side in map(_sides, value) if side]
    if not sides:
        return {"instances": float(len(value))}
    minor, major = (np.array(one) for one in zip(*sides, strict=True))
    return {
        "instances": float(len(value)),
        "largest target (minor side)": float(minor.max()),
        "smallest target (minor side)": float(minor.min()),
        "target area": float((minor * major).sum()),
    }


def _sides(box: Any) -> tuple[float, float] | None:
    """Return (minor, major) side of a box given as four numbers, as corners, or as a mapping that holds either."""
    if isinstance(box, Mapping):
        inner = [part for part in box.values() if isinstance(part, list)]
        return _sides(inner[0]) if inner else None
    try:
        points = np.array(box, dtype=np.float64)
    except (TypeError, ValueError):
        return None
    if points.size < 4 or points.size % 2:
        return None
    width, height = np.ptp(points.reshape(-1, 2), axis=0).tolist()
    return min(width, height), max(width, height)


def _first(row: Row, names: Sequence[str]) -> Any:
    return next((row[name] for name in names if row.get(name) not in (None, "")), None)


def _one_hot(name: str, values: Sequence[str]) -> dict[str, F64]:
    counts = Counter(value for value in values if value)
    kept = sorted(value for value, count in counts.items() if _FEWEST_CELLS <= count < len(values))
    return {f"{name} {value}": np.array([float(one == value) for one in values]) for value in kept}


def _ranks(values: Sequence[Any]) -> F64:
    order = sorted(range(len(values)), key=lambda place: (values[place], place))
    ranks = np.empty(len(values))
    ranks[order] = np.arange(len(values))
    first = {value: rank for rank, value in reversed([(ranks[place], values[place]) for place in order])}
    return np.array([first[value] for value in values])


def _inside(rank: F64, families: Sequence[str]) -> F64:
    """Return the rank of each item among those of its family, in [0, 1)."""
    named = np.array(families)
    result = np.zeros(len(rank))
    for family in set(families):
        at = named == family
        result[at] = _ranks(rank[at].tolist()) / at.sum()
    return result


def _stack(columns: Mapping[str, F64]) -> F64:
    return np.stack(list(columns.values()), axis=1)


def _with_words(
    columns: Mapping[str, F64], texts: Sequence[str], kinds: Sequence[tuple[str, tuple[int, int]]]
) -> Features:
    """Return the columns beside TF-IDF weights of words or characters."""
    from scipy.sparse import hstack
    from sklearn.feature_extraction.text import TfidfVectorizer

    parts, names = [], []
    for analyzer, lengths in kinds:
        words = TfidfVectorizer(
            analyzer=analyzer,
            ngram_range=lengths,
            min_df=2,
            sublinear_tf=True,
            max_features=_WIDEST // len(kinds),
            token_pattern=r"(?u)\b\w+\b" if analyzer == "word" else None,
        )
        try:
            parts.append(words.fit_transform(texts))
        except ValueError:  # no two texts have anything in common
            continue
        names += [f'"{word}"' for word in words.get_feature_names_out()]
    wide = hstack(parts, format="csr") if parts else None
    return Features(_stack(columns), tuple(columns), wide, tuple(names))
