"""Reads items.toml: views (one image each) and items (one question about a view)."""

import hashlib
import hmac
import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from georefusal_task.core.records import Intensity, lever_family
from georefusal_task.core.verdicts import Verdict, primary
from mini_set.scenes import Window

SALT = b"georefusal mini set 1"
"""Keeps ids from spelling the label; public, since the labels are."""

_CATEGORY = {
    "im": Verdict.INFO_MISSING,
    "gm": Verdict.GRANULARITY,
    "aq": Verdict.AMBIGUOUS,
    "fp": Verdict.FALSE_PREMISE,
    "nf": Verdict.NONFACTUAL,
}
_PIXEL = ("gm_decimate", "gm_subtype")
_STRUCTURAL = ("gm_change", "gm_motion", "gm_schedule")


@dataclass(frozen=True)
class View:
    """One image: a window of a scene, perhaps one band of it, and what a lever does to it."""

    name: str
    scene: str
    window: Window
    band: int | None = None
    op: dict[str, Any] = field(default_factory=lambda: {"name": "none"})


@dataclass(frozen=True)
class Item:
    """One question about a view, with its label and what the label rests on."""

    view: View
    lever: str
    question: str
    evidence: str
    gold: Verdict = Verdict.ANSWER
    accept: tuple[Verdict, ...] = ()
    answer: str = ""
    truth: str = ""
    """The answer on the ground where it is known, also when the image does not tell it."""
    variant: str = ""
    claims: tuple[str, ...] = ()
    target: str = ""
    """What the lever's effect is measured on: a class, `@ REGION`, or nothing."""
    size_m: float | None = None
    acquisitions: int | None = None
    second: str = ""
    """Why a second verdict is accepted."""

    @property
    def family(self) -> str:
        """The lever without its intensity."""
        return lever_family(self.lever) or ""

    @property
    def intensity(self) -> Intensity:
        """The lever's suffix."""
        return Intensity(self.lever.rpartition("_")[2].upper())

    @property
    def category(self) -> Verdict:
        """The verdict that the lever aims at, on LOW items too."""
        return _CATEGORY[self.lever[:2]]

    @property
    def anchor(self) -> str:
        """What the label rests on: a pixel measurement, geometry, the number of dates needed, or agreement."""
        if self.target or (self.family in _PIXEL and self.size_m is not None):
            return "pixel"
        if self.lever.startswith(("nf", "im")) or self.family == "fp_capture":
            return "consensus"
        return "structural" if self.family in _STRUCTURAL else "geometry"

    @property
    def key(self) -> str:
        """What the id is made from: where, which lever, which question."""
        return f"{self.view.name}/{self.lever}/{self.question}"

    def id(self, batch: str) -> str:
        """Return the opaque id within a batch."""
        return f"{batch}-{hmac.new(SALT, self.key.encode(), hashlib.sha1).hexdigest()[:10]}"


def read_items() -> list[Item]:
    """Return the items in the order of the file.

    Raises:
        ValueError: an intensity and a verdict do not fit, or `gold` is not the first of several accepted verdicts.

    """
    declared = tomllib.loads((Path(__file__).parent / "items.toml").read_text("utf-8"))
    views = {n: View(n, **{**v, "window": Window(*v["window"])}) for n, v in declared["view"].items()}
    items = []
    for row in declared["item"]:
        gold = Verdict[row.get("gold", "ANSWER")]
        accept = tuple(Verdict[name] for name in row.get("accept", [gold.name]))
        claims = tuple(row.get("claims", []))
        item = Item(**{**row, "view": views[row["view"]], "gold": gold, "accept": accept, "claims": claims})
        if (item.intensity is Intensity.LOW) is gold.is_refusal or (item.answer in ("yes", "no")) is gold.is_refusal:
            raise ValueError(f"{item.key}: lever, gold and answer do not fit")
        if primary(accept) is not gold or gold not in (item.category, Verdict.ANSWER):
            raise ValueError(f"{item.key}: gold must rank first in accept and be what the lever aims at")
        if bool(item.second) != (len(accept) > 1):
            raise ValueError(f"{item.key}: a second verdict needs its reason")
        items.append(item)
    return items
