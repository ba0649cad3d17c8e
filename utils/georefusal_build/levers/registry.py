"""How a lever family is declared and found."""

import inspect
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

from georefusal_build.anchors import Clip, Measurement
from georefusal_build.arrays import F32, U8, Shape
from georefusal_build.outcomes import Json
from georefusal_build.scenes import Modality
from georefusal_build.streams import Stream
from georefusal_build.targets import Target
from georefusal_task.core.errors import ConfigError
from georefusal_task.core.records import Intensity, lever_family
from georefusal_task.core.verdicts import Verdict

Anchor = Literal["pixel", "geometry", "structural", "consensus"]
Touches = Literal["pixels", "question", "both"]


@dataclass(frozen=True)
class Variant:
    """One physical cause of a family's effect; the first one declared for a modality is its default.

    paired: it acts on the whole image alike, and LOW and the refusals come from two classes of one image; variants that
    are not make LOW, MEDIUM and HIGH of one base, of equal budget. parent: side of the image that it takes, in sides of
    the image that it gives. asks: what its questions have to ask for ("edge": what lies at the edge that it names).
    """

    name: str
    modalities: tuple[Modality, ...]
    text: str
    paired: bool = False
    experimental: bool = False
    parent: float = 1.0
    asks: str = ""


@dataclass(frozen=True)
class Subject:
    """What a lever acts on: a clean image, all instances of the asked class in it, and what is known of the base.

    pixels: uint8 (H, W) or (H, W, 3). answer: the base's answer; on "no" the targets are the asked region. nominal_px:
    (minor, major) side of a typical instance. asks: what a crossed question asks for, "colour" or "plain", or what the
    variant's questions do; colour: the one it names. shadow_px: from an object's foot to the end of its shadow, (x, y),
    None where nobody knows. settings: values that the caller fixes instead of the stream, so that two items share one
    image.
    """

    pixels: U8
    targets: tuple[Target, ...]
    modality: Modality = "optical"
    answer: Literal["yes", "no"] = "yes"
    nominal_px: tuple[float, float] | None = None
    gsd_m: float | None = None
    asks: str = ""
    colour: str = ""
    shadow_px: tuple[float, float] | None = None
    settings: dict[str, float] = field(default_factory=dict)

    @property
    def shape(self) -> Shape:
        """(H, W)."""
        return self.pixels.shape[0], self.pixels.shape[1]

    @property
    def tags(self) -> frozenset[str]:
        """What `bands.decide` has to know beside the measurement."""
        return frozenset({self.answer, self.modality, self.asks, "shadow" if self.shadow_px else ""} - {""})


@dataclass(frozen=True)
class Effect:
    """What a lever made: the image, how much of the scene's signal survives where, and what was drawn and chosen.

    window: the part (x, y, width, height) that is released, None for all of it; everything else is in pixels of the
    whole.
    """

    pixels: U8
    visible: F32 | None = None
    decimation: float = 1.0
    clip: Clip = "high"
    window: tuple[int, int, int, int] | None = None
    params: dict[str, Json] = field(default_factory=dict)
    measured: Measurement = field(default_factory=Measurement)
    """Anchors that only this lever can take."""


Pull = Callable[[Subject, Stream, Intensity, str], Effect]


@dataclass(frozen=True)
class Family:
    """A lever family. text: its catalogue line; budget: the measured field that all intensities of a base share."""

    name: str
    category: Verdict
    text: str
    pull: Pull
    anchor: Anchor
    touches: Touches
    variants: tuple[Variant, ...]
    budget: str | None = None
    contrast: bool = False
    intensities: tuple[Intensity, ...] = tuple(Intensity)

    @property
    def lever_ids(self) -> tuple[str, ...]:
        """`<family>_low`, `_medium`, `_high`."""
        return tuple(f"{self.name}_{intensity.lower()}" for intensity in self.intensities)

    def variant(self, name: str | None, modality: Modality) -> Variant | None:
        """Return the named variant, or the modality's default; None when the family has none for this modality.

        Raises:
            ConfigError: the family has no variant of that name.

        """
        if name is not None and name not in {v.name for v in self.variants}:
            raise ConfigError(
                f"lever family {self.name!r} has no variant {name!r}: "
                f"choose from {', '.join(v.name for v in self.variants)}"
            )
        usable = [v for v in self.variants if modality in v.modalities and name in (None, v.name)]
        return usable[0] if usable else None


FAMILIES: dict[str, Family] = {}
"""All declared families, by name."""


def lever(
    name: str,
    category: Verdict,
    *variants: Variant,
    anchor: Anchor = "pixel",
    touches: Touches = "pixels",
    budget: str | None = None,
    contrast: bool = False,
) -> Callable[[Pull], Pull]:
    """Return a decorator that declares a lever family; the first line of the docstring is the catalogue text.

    budget: measured field that is equal across intensities on one base, None where pairing two questions on one image
    does that job. contrast: its labels need the scan statistic.
    """

    def declare(pull: Pull) -> Pull:
        text = (inspect.getdoc(pull) or "").partition("\n")[0]
        FAMILIES[name] = Family(name, category, text, pull, anchor, touches, variants, budget, contrast)
        return pull

    return declare


def find(lever_id: str) -> tuple[Family, Intensity]:
    """Return the family and the intensity of a lever id.

    Raises:
        ConfigError: there is no such lever.

    """
    family = FAMILIES.get(lever_family(lever_id) or "")
    if family is None or lever_id not in family.lever_ids:
        raise ConfigError(f"no lever is called {lever_id!r}: `georefusal build catalogue` prints them all")
    return family, Intensity(lever_id.rpartition("_")[2].upper())
