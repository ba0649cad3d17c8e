"""Writes the card: every number in it is counted from the items, every licence line comes from the scenes' manifest."""

from collections import Counter
from collections.abc import Iterable, Sequence

from georefusal_task.core.records import Intensity
from georefusal_task.core.verdicts import VERDICTS
from mini_set.items import Item
from mini_set.scenes import TILE, Scene

_HEAD = """\
---
license: other
task_categories: [visual-question-answering]
language: [en]
configs:
{configs}
---

# GeoRefusal mini set

{n} questions about real overhead images, for trying a set-up and for tests: every part of the line (files, images,
prompt, scores) runs on it exactly as on GeoRefusalBench. **It is not a benchmark**: {n} items give an accuracy to
within about {margin} points, and they were written and checked by the makers of this package only, without blind
review. It shares no image with GeoRefusalBench and no result on it says anything about a result there.

The layout is that of the released set: `cases`, `labels` and `provenance`, each as `A.jsonl`, `B.jsonl`, `C.jsonl`,
and `images/<set>/<id>.png`. A, B and C are batches, not train, dev and test. Evaluation reads cases, labels and
images; provenance must never reach a prompt. Built by `python -m mini_set SCENES_DIR OUT_DIR` (folder `utils` of
the repository) from the list `items.toml` beside it.

## Counts
"""

_LABELS = """
## How the labels were made

- **Declared, then checked by the builder.** Each item lists what it takes to be on the ground ("present golf course
  in the upper half", "absent open sea", "two barrier beaches"); the builder refuses it unless the scene's outlines
  bear it out. A "no", a count or a missing object needs a class that is outlined completely, or was looked for in
  the whole scene and not found.
- **Measured on the finished image.** Where a lever hides, clips or coarsens, the share of the target that stays
  visible, the clipped share, or the size in pixels of what is asked for is measured and must lie inside the lever's
  band (`measurement` in provenance). The bands leave a gap between answerable and not: at least 90 % of a target
  visible or at most 15 %, at least 8 pixels across or at most 3 (parts: 1.5; kinds of one class: 26 and 5).
- **Looked at**: every item by eye, with its question, after building; `evidence` in provenance says in one line why
  the label holds.
- **Controls.** LOW items share cloud cover, black or clipped area, image or wording with the items that must be
  refused. Questions ask about the ground ("in the area covered by this image"), never about visibility, for which
  "no" would be right.
- Where several reasons to refuse hold, `gold` is the first of FALSE_PREMISE > AMBIGUOUS_QUERY >
  GRANULARITY_MISMATCH > NONFACTUAL_QUERY > INFO_MISSING_IN_CONTEXT.
"""

_LIMITS = """
## Known limits

- Written and checked by the makers, not blind-reviewed; no second opinion was asked for.
- Small, from {scenes} scenes, and several items share a view or a scene: they are not independent, and an interval
  that treats them so is too narrow. The radar items all come from one place.
- Some outlines are by eye: golf courses on radar were read from their fan of dark fairways, with medium confidence.
- Radar is shown as one logarithmic band, or as three polarisations in false colour; some tiles are enlarged
  twofold.
- NONFACTUAL questions, and those about other dates, can be told from their wording alone: the question is the
  reason.
- Clouds, gaps, clipping and coarse sampling are simulated, except on the cloudy Landsat scene.
- Not measured, only looked at: the real cloud on that scene, and what is left of a colour in one band (anchor
  `consensus`; here that is the makers' agreement, no vote was taken).
- The scenes used here are never used to train what this project ships (`utils/mini_set/scenes_split.json`).
"""


def _table(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    lines = [header, ["---"] + ["---:"] * (len(header) - 1), *rows]
    return "".join("| " + " | ".join(str(cell) for cell in line) + " |\n" for line in lines)


def _counts(items: Sequence[Item], modalities: Sequence[str]) -> str:
    columns = sorted(set(modalities))
    verdicts = Counter((item.gold, m) for item, m in zip(items, modalities, strict=True))
    cells = Counter((item.category, item.intensity) for item in items)
    answers = Counter(item.answer for item in items)
    answerable = answers["yes"] + answers["no"]
    by_verdict = [[v, *(verdicts[v, m] for m in columns), sum(verdicts[v, m] for m in columns)] for v in VERDICTS]
    by_verdict.append(["all", *(modalities.count(m) for m in columns), len(items)])
    by_category = [[c, *(cells[c, i] for i in Intensity)] for c in VERDICTS[1:]]
    return (
        _table(["primary verdict", *columns, "all"], by_verdict)
        + "\n"
        + _table(["category of the lever", *Intensity], by_category)
        + f"\n{answerable} items are answerable ({answers['yes']} yes, {answers['no']} no), so that always answering "
        f"scores {answerable}/{len(items)}; {sum(len(item.accept) > 1 for item in items)} accept two verdicts. "
        f"{len({item.lever for item in items})} levers of {len({item.family for item in items})} families. "
        f"All tiles are {TILE} x {TILE} pixels, 8-bit PNG without metadata, RGB or one band.\n"
    )


def _second_verdicts(items: Sequence[Item], ids: Sequence[str]) -> str:
    lines = [
        f'- `{id_}`: "{item.question}" {" or ".join(item.accept)}. {item.second}\n'
        for id_, item in zip(ids, items, strict=True)
        if item.second
    ]
    return "\n## Items that accept two verdicts\n\n" + "".join(lines)


def _sources(scenes: Sequence[Scene]) -> str:
    counts = Counter(scene.name for scene in scenes)
    unique = {scene.name: scene.manifest for scene in scenes}
    rows = [
        [f"`{name}`", counts[name], row["sensor"], row["source"], row["licence"], row.get("notice", "")]
        for name, row in sorted(unique.items())
    ]
    table = _table(["scene", "items", "sensor", "taken from", "licence", "notice"], rows)
    return (
        "\n## Sources, licences and notices\n\n"
        "Tiles are cropped, resampled and altered from these scenes; questions and labels are ours and stand under the "
        "package's licence (Apache-2.0).\n\n" + table
    )


def write_card(ids: Sequence[str], items: Sequence[Item], scenes: Sequence[Scene]) -> str:
    """Return the card of a set whose i-th item has the i-th id and comes from the i-th scene."""
    configs = "\n".join(
        f"  - config_name: {kind}\n    data_files:\n"
        + "\n".join(f"      - split: {batch}\n        path: {kind}/{batch}.jsonl" for batch in "ABC")
        for kind in ("cases", "labels", "provenance")
    )
    margin = round(98 / len(items) ** 0.5)
    return (
        _HEAD.format(configs=configs, n=len(items), margin=margin)
        + "\n"
        + _counts(items, [scene.modality for scene in scenes])
        + _LABELS
        + _second_verdicts(items, ids)
        + _sources(scenes)
        + _LIMITS.format(scenes=len({scene.name for scene in scenes}))
    )
