"""Sets to audit, made in memory: nothing in them tells the label, but for the one leak that is planted."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from georefusal_build.audit.pictures import Picture
from georefusal_build.audit.settings import Settings
from georefusal_build.audit.subjects import Subjects
from georefusal_task.core.records import Case, Intensity, Label
from georefusal_task.core.verdicts import Verdict
from georefusal_task.data import Benchmark, Item

QUICK = Settings(repeats=1, trees=20, rounds=10, refits=20, tree_refits=10, null_trees=10, draws=400, jobs=1)

FAMILIES = {
    "im_occlude": Verdict.INFO_MISSING,
    "im_redact": Verdict.INFO_MISSING,
    "fp_entity": Verdict.FALSE_PREMISE,
}
_CLASSES = ("ship", "bridge", "runway", "stadium")
_ASKED = ("Is there a {} in this area?", "Does this area hold a {}?", "Can a {} be found here?")


def made_up(
    seed: int,
    leak: str = "",
    *,
    items: int = 60,
    families: Mapping[str, Verdict] = FAMILIES,
    file: Path = Path(__file__),
    known: bool = True,
) -> Subjects:
    """Return a set of `items` per family: LOW, MEDIUM, HIGH and LOW of each source image, whose figures hang together.

    leak: "" or what tells answer from refusal: id, order, bytes, word, bright, gsd, base. known: with provenance.
    """
    random = np.random.default_rng(seed)
    made: list[tuple[Item, Picture, dict[str, Any]]] = []
    for family, category in families.items():
        for number in range(items):
            scene = number // 4
            intensity = (Intensity.LOW, Intensity.MEDIUM, Intensity.HIGH, Intensity.LOW)[number % 4]
            low = intensity == Intensity.LOW
            # a scene has a look of its own, which items of it share
            look = np.random.default_rng([seed, 1, scene]).normal(size=8)
            made.append(
                _item(random, family, category, intensity, f"scene {scene}", look, leak if low else f"no {leak}")
            )
    order = sorted(range(len(made)), key=lambda place: made[place][0].case.id)
    rank = random.permutation(len(made))
    if leak == "order":
        rank = np.argsort(np.argsort([made[place][0].label.gold != Verdict.ANSWER for place in order], kind="stable"))
    ordered = [made[place] for place in order]
    rows = {item.case.id: row for item, _, row in ordered} if known else {}
    listed = tuple(_at(item, file) for item, _, _ in ordered)
    return Subjects(file.parent, Benchmark(listed, "0" * 64, "made up"), rows, tuple(p for _, p, _ in ordered), rank)


def _item(
    random: np.random.Generator,
    family: str,
    category: Verdict,
    intensity: Intensity,
    scene: str,
    look: np.ndarray,
    leak: str,
) -> tuple[Item, Picture, dict[str, Any]]:
    low = intensity == Intensity.LOW
    digits = f"{random.integers(0, 16**10):010x}"
    if leak == "id":
        digits = "0" + digits[1:]
    elif leak == "no id":
        digits = "f" + digits[1:]
    question = str(random.choice(_ASKED)).format(random.choice(_CLASSES))
    if leak == "word" and family == "fp_entity":
        question = question.replace("area", "region").replace("here", "in this region")
    gold = Verdict.ANSWER if low else category
    label = Label(
        id=f"A-{digits}", set="A", gold=gold, accept=(gold,), answer=("yes" if low else ""), category=category,
        intensity=intensity, lever=f"{family}_{intensity.lower()}", anchor="pixel", score_answer=True,
    )  # fmt: skip
    values = look + 0.7 * random.normal(size=8)
    values[1] += 3.0 * (leak == "bytes")
    values[5] += 3.0 * (leak == "bright")
    picture = Picture(
        {"file bytes": 9e4 + 1e4 * values[1], "JPEG q95 bytes": 5e4 + 1e4 * values[2], "mode": 1.0},
        {"mean": 100 + 9 * values[5], "sd": 30 + 5 * values[6], "noise sd": 3 + values[7], "black share": 0.0},
        digits,
        int(random.integers(0, 2**63)),
    )
    told = {"gsd": 0.5, "no gsd": 4.0}.get(leak, random.choice([0.5, 4.0]))
    said = {"base": "yes", "no base": "no"}.get(leak, str(random.choice(["yes", "no"])))
    row = {
        "id": label.id, "base_image": scene, "base_answer": said, "template_id": question[:8],
        "gsd_effective_m": float(told), "boxes": [[0, 0, 9, 9 + int(random.integers(9))]] * int(random.integers(1, 4)),
    }  # fmt: skip
    return Item(Case(id=label.id, set="A", image=Path("x.png"), question=question), label, digits), picture, row


def _at(item: Item, file: Path) -> Item:
    return Item(item.case.model_copy(update={"image": file}), item.label, item.image_sha256)
