"""From the work folder to a set in the released layout: public ids, tables, images, rejects, a summary."""

import json
import os
import shutil
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from georefusal_build.ids import ID_DIGITS, item_id, row_key
from georefusal_build.layout import TABLES, json_line, level_times, write_sums, write_text
from georefusal_build.made import Row
from georefusal_build.store import FULL, Keyed, Work, is_finished, missing, open_work
from georefusal_task.core.errors import DataError

LONGER = ID_DIGITS + 2
"""Digits of all ids of a set in which two items would share the shorter one."""

Choose = Callable[[list[Row]], tuple[list[Row], list[Row]]]
"""Which of the made items are kept: (kept, rejects), the rejects with key, reason and detail."""


def keep_all(made: list[Row]) -> tuple[list[Row], list[Row]]:
    """Keep every item."""
    return made, []


def assemble(
    jobs: Sequence[Keyed],
    out: Path,
    *,
    identity: Mapping[str, str],
    salt: str,
    choose: Choose = keep_all,
) -> dict[str, Any]:
    """Write the finished set to `out`, remove its work folder, and return the summary.

    `out` holds `cases|labels|provenance/<set>.jsonl`, `images/<set>/<id>.png`, `rejects.jsonl`, `summary.json`,
    `build.json` and SHA256SUMS; rows are sorted by id, so that nothing depends on how the work was cut. It appears
    whole: killed at any moment, the same call does the rest.

    Raises:
        ConfigError: `out` is taken.
        DataError: jobs are not stored yet, none gave an item, two items have one key, or the disk is full.
    """
    if is_finished(out, identity):
        return read_summary(out)
    with open_work(out, identity) as work:
        if left := missing(jobs, work.done()):
            raise DataError(f"{work.root}: {len(left)} of {len(jobs)} jobs are not made yet, such as {left[0]}")
        rows = sorted(work.rows(), key=lambda row: str(row["key"]))
        kept, dropped = choose([row for row in rows if "reason" not in row])
        rejects = sorted([row for row in rows if "reason" in row] + dropped, key=lambda row: str(row["key"]))
        if not kept:
            counts, detail = Counter(r["reason"] for r in rejects), {r["reason"]: r["detail"] for r in rejects}
            reasons = "\n  ".join(f"{count} {reason}, such as: {detail[reason]}" for reason, count in counts.items())
            raise DataError(f"none of {len(jobs)} jobs gave an item\n  {reasons or 'there were no jobs'}")
        summary = summarise(kept, rejects)
        folder = work.root / "set"
        shutil.rmtree(folder, ignore_errors=True)
        try:
            _write(work, folder, kept, salt)
            write_text(folder / "rejects.jsonl", "".join(map(json_line, map(_reject, rejects))))
            write_text(folder / "summary.json", json.dumps(summary, indent=1) + "\n")
            write_text(folder / "build.json", json.dumps(dict(identity), indent=1) + "\n")
            write_sums(folder)
            level_times(folder)
        except OSError as error:
            if error.errno not in FULL:
                raise
            raise DataError(
                f"no room left to write ({error}); all {len(jobs)} jobs are stored in {work.root}. Make room there and "
                "run the same command again: only the set itself is left to write"
            ) from error
        folder.replace(out)
        shutil.rmtree(work.root)
    return summary


def read_summary(out: Path) -> dict[str, Any]:
    """Return what `assemble` returned when it wrote `out`."""
    found: dict[str, Any] = json.loads((out / "summary.json").read_text(encoding="utf-8"))
    return found


def summarise(kept: Iterable[Row], rejects: Iterable[Row]) -> dict[str, Any]:
    """Return the yield: counts of items and of rejects, in all and by lever."""
    made, lost = list(kept), list(rejects)
    items = Counter(_named(row)[1] for row in made)
    reasons: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for row in lost:
        reasons[_named(row)[1]][row["reason"]] += 1
    return {
        "items": len(made),
        "rejects": len(lost),
        "sets": _counts(row["set"] for row in made),
        "verdicts": _counts(row["label"]["gold"] for row in made),
        "reasons": _counts(row["reason"] for row in lost),
        "levers": {
            lever: {"items": items[lever], "rejects": dict(sorted(reasons[lever].items()))}
            for lever in sorted(items.keys() | reasons.keys())
        },
    }


def _write(work: Work, folder: Path, kept: Sequence[Row], salt: str) -> None:
    for name in sorted({row["set"] for row in kept}):
        members = [row for row in kept if row["set"] == name]
        ids = _ids(name, [row_key(*_named(row), row["provenance"]["attempt"]) for row in members], salt)
        tables: dict[str, list[str]] = {table: [] for table in TABLES}
        (folder / "images" / name).mkdir(parents=True)
        for public, row in sorted(zip(ids, members, strict=True), key=lambda pair: pair[0]):
            head = {"id": public, "set": name}
            image = f"images/{name}/{public}.png"
            tables["cases"].append(json_line({**head, "image": image, **row["case"]}))
            tables["labels"].append(json_line({**head, **row["label"]}))
            tables["provenance"].append(json_line({**head, **row["provenance"], "image_sha256": row["image_sha256"]}))
            _place(work.image_path(row["image_sha256"]), folder / image)
        for table, lines in tables.items():
            write_text(folder / table / f"{name}.jsonl", "".join(lines))


def _ids(name: str, keys: Sequence[str], salt: str) -> list[str]:
    for digits in (ID_DIGITS, LONGER):
        ids = [item_id(name, key, salt, digits) for key in keys]
        if len(set(ids)) == len(ids):
            return ids
    raise DataError(f"set {name}: two items have one id of {LONGER} digits; are two items made from the same key?")


def _place(image: Path, target: Path) -> None:
    if not image.exists():
        raise DataError(
            f"{image} is gone, though its shard is there; delete {image.parents[1]} to make all of it again"
        )
    try:
        os.link(image, target)  # no second copy while both folders exist
    except OSError:
        shutil.copyfile(image, target)


def _named(row: Row) -> tuple[str, str]:
    """Return base id and lever of a stored row."""
    base_id, _, lever = row["key"].rpartition("|")
    return base_id, lever


def _reject(row: Row) -> Row:
    base_id, lever = _named(row)
    return {"base_id": base_id, "lever": lever, "reason": row["reason"], "detail": row["detail"]}


def _counts(values: Iterable[str]) -> dict[str, int]:
    return dict(sorted(Counter(values).items()))
