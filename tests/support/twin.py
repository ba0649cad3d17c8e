"""A made-up twin of the released set: its layout and its counts, none of its content.

587 items in A, B and C; 295 accept ANSWER, 15 accept two refusals, 193 are anchored by measurement, 83 levers; one
item repeats the image and question of another; three LOW items of B ask a conditional second question; provenance is
poisoned.
"""

import hashlib
import json
import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

POISON = "POISON-from-provenance"
"""Stands in every provenance file; must turn up nowhere else."""

SPELLINGS: dict[str, dict[str, str]] = {
    "canonical": {},
    "other": {
        "id": "item_id",
        "set": "batch",
        "image": "image_path",
        "question": "query",
        "gold": "gold_verdict",
        "accept": "accept_set",
        "answer": "gold_answer",
        "category": "refusal_category",
        "intensity": "level",
        "lever": "mechanism",
        "anchor": "anchor_type",
    },
    "verdict": {"image": "file_name", "gold": "verdict", "accept": "accepted", "set": "split"},
    "shouting": {"id": "ID", "question": "Question", "gold": "Gold Verdict", "accept": "ACCEPT-SET"},
}
"""Name -> canonical column -> the column's name in the files."""

ACCEPT = {
    "list": lambda verdicts: verdicts,
    "json": json.dumps,
    "bar": "|".join,
    "comma": ", ".join,
    "semicolon": ";".join,
}
"""Name -> how an accept set is written."""

_CATEGORIES = {
    "im": "REFUSE_INFO_MISSING_IN_CONTEXT",
    "gm": "REFUSE_GRANULARITY_MISMATCH",
    "aq": "REFUSE_AMBIGUOUS_QUERY",
    "fp": "REFUSE_FALSE_PREMISE_IN_QUERY",
    "nf": "REFUSE_NONFACTUAL_QUERY",
}
_PRECEDENCE = [_CATEGORIES[key] for key in ("fp", "aq", "gm", "nf", "im")]
_SHARES = {"A": 250 / 587, "B": 200 / 587, "C": 137 / 587}
_THINGS = (
    "ship",
    "plane",
    "bridge",
    "storage tank",
    "harbour",
    "tennis court",
    "vehicle",
    "roundabout",
    "pond",
    "roof",
)


def make_twin(
    folder: Path,
    *,
    spelling: str | Mapping[str, str] = "canonical",
    format: Literal["jsonl", "json", "parquet", "hub-parquet", "one-file"] = "jsonl",  # noqa: A002
    n: int = 587,
    accept: str = "list",
    drop: Sequence[str] = (),
    bare: bool = False,
    embed: bool = False,
    score_answer: bool = False,
    sums: bool = False,
    provenance: Literal["poison", "none"] = "poison",
    shuffle: bool = False,
    seed: int = 0,
) -> Path:
    """Write the twin into `folder` and return it.

    Args:
        folder: made if it is missing.
        spelling: a name in SPELLINGS, or a map from canonical column to the name it gets.
        format: of the tables; `hub-parquet` has shards `A-00000-of-00001.parquet`, `one-file` is `cases.jsonl`.
        n: number of items; the counts shrink with it.
        accept: a name in ACCEPT.
        drop: canonical columns that are left out.
        bare: categories without `REFUSE_`, intensities in lower case.
        embed: images as an Image feature inside the cases (parquet only) and no image files.
        score_answer: write that column.
        sums: write SHA256SUMS.
        provenance: `poison` writes files that no reader would survive unnoticed.
        shuffle: rows in another order.
        seed: other questions, ids and pixels.
    """
    names = SPELLINGS[spelling] if isinstance(spelling, str) else spelling
    cases, labels = twin_rows(n, seed)
    folder.mkdir(parents=True, exist_ok=True)
    files = {row["id"]: _png(seed, row.pop("pixels"), grey=row["set"] == "C") for row in cases}
    for row in cases:
        if embed:
            row["image"] = {"bytes": files[row["id"]], "path": Path(row["image"]).name}
        else:
            path = folder / row["image"]
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(files[row["id"]])
    for row in labels:
        row["accept"] = ACCEPT[accept](row["accept"])
        if bare:
            row["category"] = row["category"].removeprefix("REFUSE_")
            row["intensity"] = row["intensity"].lower()
        if not score_answer:
            del row["score_answer"]
    for table, rows in (("cases", cases), ("labels", labels)):
        if shuffle:
            random.Random(seed).shuffle(rows)
        spelled = [{names.get(key, key): value for key, value in row.items() if key not in drop} for row in rows]
        _write_table(folder, table, [row["set"] for row in rows], spelled, format)
    if provenance == "poison":
        _poison(folder, cases)
    if sums:
        write_sums(folder)
    return folder


def twin_rows(n: int = 587, seed: int = 0) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return canonical case rows (with `pixels`, the image's number) and label rows, in the same order."""
    rng = random.Random(seed)
    answerable, double, measured = round(n * 295 / 587), round(n * 15 / 587), round(n * 193 / 587)
    levers = [f"{c}_family{f}_{i}" for c in _CATEGORIES for f in range(6) for i in ("low", "medium", "high")][:83]
    sets = [name for name, share in _SHARES.items() for _ in range(round(n * share))][:n]
    sets += ["C"] * (n - len(sets))
    numbers = list(range(n))
    rng.shuffle(numbers)
    cases, labels = [], []
    for position, (item_set, number) in enumerate(zip(sets, numbers, strict=True)):
        item_id = f"{item_set}-{hashlib.sha1(f'{seed} {position}'.encode()).hexdigest()[:10]}"
        can_answer = number < answerable
        # a few verdicts were changed in review: the intensity does not give the verdict
        pool = [lever for lever in levers if lever.endswith("_low") == (can_answer != (number % 17 == 5))]
        lever = pool[number % len(pool)]
        category = _CATEGORIES[lever[:2]]
        accept = ["ANSWER"] if can_answer else [category]
        if answerable <= number < answerable + double:
            accept = sorted({category, _PRECEDENCE[-1 if category != _PRECEDENCE[-1] else 0]}, key=_PRECEDENCE.index)
        cases.append(
            {
                "id": item_id,
                "set": item_set,
                "image": f"images/{item_set}/{item_id}.png",
                "question": f"Is there a {_THINGS[number % 10]} near point {position} in the image?",
                "pixels": position,
            }
        )
        labels.append(
            {
                "id": item_id,
                "set": item_set,
                "gold": accept[0],
                "accept": accept,
                "answer": rng.choice(["yes", "no"]) if can_answer else "",
                "category": category,
                "intensity": lever.rpartition("_")[2].upper(),
                "lever": lever,
                "anchor": ("pixel", "geometry")[number % 2] if number * 7 % n < measured else "consensus",
                "score_answer": True,
            }
        )
    _ask_conditionally(cases, labels)
    if n > 1:
        cases[-1] |= {key: cases[-2][key] for key in ("question", "pixels")}
    return cases, labels


def _ask_conditionally(cases: list[dict[str, Any]], labels: list[dict[str, Any]]) -> None:
    """Give three LOW items of B a conditional second clause, and as a trap one that is not LOW and one of A too."""
    clauses = (" If so, is it moored?", " If there is one, is it large?", " In that case, is it near the road?")

    def some(item_set: str, low: bool, count: int) -> list[int]:
        fits = [i for i, row in enumerate(labels) if row["set"] == item_set and (row["intensity"] == "LOW") is low]
        return fits[:count]

    for clause, index in zip(clauses, some("B", True, 3), strict=False):
        cases[index]["question"] += clause
        labels[index]["score_answer"] = False
    for index in some("B", False, 1) + some("A", True, 1):
        cases[index]["question"] += " If yes, is it moving?"


def _png(seed: int, number: int, *, grey: bool) -> bytes:
    """Return a 64 x 48 PNG that differs for each number."""
    import io

    import numpy as np
    from PIL import Image

    rng = np.random.default_rng([seed, number])
    pixels = rng.integers(0, 256, (6, 8) if grey else (6, 8, 3), dtype=np.uint8).repeat(8, 0).repeat(8, 1)
    out = io.BytesIO()
    Image.fromarray(pixels).save(out, "PNG")
    return out.getvalue()


def _write_table(folder: Path, table: str, sets: list[str], rows: list[dict[str, Any]], format: str) -> None:  # noqa: A002
    if format == "one-file":
        (folder / f"{table}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        return
    (folder / table).mkdir(exist_ok=True)
    for name in sorted(set(sets)):
        part = [row for row, row_set in zip(rows, sets, strict=True) if row_set == name]
        file = folder / table / name
        if format == "jsonl":
            file.with_suffix(".jsonl").write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in part))
        elif format == "json":
            file.with_suffix(".json").write_text(json.dumps(part, indent=1))
        else:
            import pyarrow as pa
            import pyarrow.parquet as pq

            suffix = ".parquet" if format == "parquet" else "-00000-of-00001.parquet"
            pq.write_table(pa.Table.from_pylist(part), file.with_name(name + suffix))


def _poison(folder: Path, cases: list[dict[str, Any]]) -> None:
    (folder / "provenance").mkdir(exist_ok=True)
    for name in sorted({row["set"] for row in cases}):
        rows = [{"id": row["id"], "set": name, "base_question": POISON, "operator": POISON} for row in cases]
        broken = "{not json " + POISON + "\n"
        (folder / "provenance" / f"{name}.jsonl").write_text(broken + "".join(json.dumps(row) + "\n" for row in rows))


def write_sums(folder: Path) -> None:
    """Write SHA256SUMS over all files of the folder, provenance included, as `sha256sum` does."""
    files = sorted(file for file in folder.rglob("*") if file.is_file() and file.name != "SHA256SUMS")
    lines = [f"{hashlib.sha256(file.read_bytes()).hexdigest()}  {file.relative_to(folder)}\n" for file in files]
    (folder / "SHA256SUMS").write_text("".join(lines))
