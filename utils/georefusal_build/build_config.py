"""The configuration of a build: one YAML file that says from what, how much, and with which levers."""

import hashlib
import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator
from pydantic_core import ErrorDetails

from georefusal_build.asking import Limits
from georefusal_build.scenes import Modality, Tiling
from georefusal_build.selection import Balance, Caps
from georefusal_build.sources import SOURCES, ReadOptions
from georefusal_build.sources.base import EVERY_CLASS
from georefusal_build.sun import Sun
from georefusal_task.core.errors import ConfigError
from georefusal_task.core.records import Intensity

Firmness = Literal["prefer", "strict"]


class _Strict(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class TilingConfig(_Strict):
    """How scenes are cut; see `scenes.Tiling`."""

    size: int = Field(800, ge=32)
    overlap: float = Field(0.25, ge=0, lt=1)
    cut_from: float = Field(0.1, ge=0, le=1)
    cut_to: float = Field(0.9, ge=0, le=1)

    @model_validator(mode="after")
    def _in_order(self) -> "TilingConfig":
        if self.cut_from > self.cut_to:
            raise ValueError("cut_from must not be above cut_to")
        return self

    @property
    def tiling(self) -> Tiling:
        """The tiling."""
        return Tiling(self.size, self.overlap, self.cut_from, self.cut_to)


class SourceOptions(_Strict):
    """What the files of a source cannot say about themselves; see `sources.ReadOptions`."""

    modality: Modality | None = None
    gsd_m: float | None = Field(None, gt=0)
    sun: Sun | None = None
    complete: frozenset[str] | None = None
    verified_absent: frozenset[str] | None = None
    version: str | None = None
    first_pixel: Literal[0, 1] | None = None
    subsources: Path | None = None

    @field_validator("complete", "verified_absent", mode="before")
    @classmethod
    def _listed(cls, value: object) -> object:
        """One class may stand without its list."""
        return [value] if isinstance(value, str) else value

    @field_validator("verified_absent")
    @classmethod
    def _by_name(cls, value: frozenset[str] | None) -> frozenset[str] | None:
        """Unlike what is complete, what is absent cannot be all that the source names."""
        if value and EVERY_CLASS in value:
            raise ValueError(f"'{EVERY_CLASS}' stands for all classes in `complete` only; name those that are absent")
        return value

    @field_validator("version", mode="before")
    @classmethod
    def _quoted(cls, value: object) -> object:
        """YAML takes a version without quotation marks for a number."""
        return str(value) if isinstance(value, int | float) else value


class SourceConfig(_Strict):
    """One folder of annotated images.

    name: put before the ids of its scenes instead of the format, for builds from several folders of one format that
    share file names. include, exclude: ids of scenes, with or without what stands before the first slash; everything is
    included by default. tiling: instead of the common one.
    """

    format: str
    root: Path
    name: str = Field("", pattern=r"^[A-Za-z0-9_.-]*$")
    options: SourceOptions = SourceOptions()
    licence: str | None = None
    notice: str | None = None
    include: tuple[str, ...] | None = None
    exclude: tuple[str, ...] = ()
    tiling: TilingConfig | None = None

    @field_validator("format")
    @classmethod
    def _known(cls, value: str) -> str:
        if value not in SOURCES:
            raise ValueError(f"there is no such format; choose one of {', '.join(SOURCES)}")
        return value

    @property
    def read_options(self) -> ReadOptions:
        """The options as readers take them."""
        return ReadOptions(**dict(self.options), licence=self.licence, notice=self.notice)


class GateConfig(_Strict):
    """From what on a clean image settles a "yes": a target stands out so far, and hardly any of it is saturated.

    Source: the solvable gate of the generator's design (z >= 8 or CNR >= 2, s <= 0.05).
    """

    min_z: float = 8.0
    min_cnr: float = 2.0
    max_saturated: float = Field(0.05, ge=0, le=1)


class BaseCaps(_Strict):
    """Limits on base questions; see `selection.Caps`.

    per_kind: absent classes of each kind that a tile offers. search: tiles, and base questions, on which levers are
    tried while planning; more would cost time and find nothing new in a large source.
    """

    balance: Balance = "source"
    tolerance: float = Field(0.1, ge=0, le=0.5)
    per_image: int = Field(60, ge=1)
    class_share: float = Field(1.0, gt=0, le=1)
    per_kind: int = Field(2, ge=1)
    search: int = Field(5000, ge=1)

    @field_validator("balance", mode="before")
    @classmethod
    def _word(cls, value: object) -> object:
        """YAML takes an `off` without quotation marks for false."""
        return "off" if value is False else value

    @property
    def caps(self) -> Caps:
        """The limits as `select` takes them."""
        return Caps(self.balance, self.tolerance, self.per_image, self.class_share)


class ItemCaps(_Strict):
    """Limits on finished items. per_scene: items of one scene; per_class: largest share of one asked class."""

    per_scene: int | None = Field(None, ge=1)
    per_class: float = Field(1.0, gt=0, le=1)


class Weights(_Strict):
    """How many items of each intensity a category gets, in proportion."""

    LOW: int = Field(2, ge=0)
    MEDIUM: int = Field(1, ge=0)
    HIGH: int = Field(1, ge=0)

    def __getitem__(self, intensity: Intensity) -> int:
        return int(getattr(self, intensity))

    @property
    def total(self) -> int:
        """Their sum."""
        return self.LOW + self.MEDIUM + self.HIGH

    @model_validator(mode="after")
    def _something(self) -> "Weights":
        if self.LOW == 0 or self.MEDIUM + self.HIGH == 0:
            raise ValueError("LOW, and one of MEDIUM and HIGH, need a weight above 0")
        return self


class LeverChoice(_Strict):
    """Which levers are pulled, by id, family or category prefix ("im", "gm", "aq", "fp", "nf").

    only: these and no others; without: all but these. variants: by family, instead of all that are not experimental.
    pairing: two questions on one image are preferred, or ("strict") the only way for levers that act on a whole image.
    even: premises are drawn so that the words alone do not tell whether they hold, which costs yield in small sources.
    same_words: in the end what is taken for granted occurs equally often true and false; "strict" drops what has no
    match.
    """

    only: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    experimental: bool = False
    variants: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    pairing: Firmness = "prefer"
    even: bool = True
    same_words: Firmness = "prefer"


class SetsConfig(_Strict):
    """The sets that scenes are split into: by a seeded hash of the scene's id, or as `file` or `scenes` say.

    file: JSON, {set: [scene ids]}, on its own or under "split"; ids as in `include`. Scenes that a given split leaves
    out are not used.
    """

    names: tuple[Annotated[str, Field(pattern=r"^[A-Za-z0-9_]+$")], ...] = Field(("A", "B", "C"), min_length=1)
    file: Path | None = None
    scenes: dict[str, tuple[str, ...]] | None = None

    @model_validator(mode="after")
    def _one_split(self) -> "SetsConfig":
        if self.file is not None and self.scenes is not None:
            raise ValueError("give `file` or `scenes`, not both")
        if len({*self.names}) < len(self.names):
            raise ValueError("names two sets alike")
        return self


class TemplateChoice(_Strict):
    """private: a user's own bank, added to the question templates. held_back: use those that are never published."""

    private: Path | None = None
    held_back: bool = False


class BuildConfig(_Strict):
    """A whole build. Paths are relative to the file's folder.

    seed: of every random draw. salt: of the public ids; keep it to yourself until the final version is out.
    items: how many to keep at most, None for all that balance allows. spare: how many candidates are made for each item
    that is wanted. attempts: draws of a lever on a base before it is given up.
    """

    name: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]*$")
    version: str = "0"
    seed: int
    salt: str = Field(min_length=8)
    sources: tuple[SourceConfig, ...] = Field(min_length=1)
    tiling: TilingConfig = TilingConfig()
    classes: Path | None = None
    limits: Limits = Limits()
    gate: GateConfig = GateConfig()
    bases: BaseCaps = BaseCaps()
    caps: ItemCaps = ItemCaps()
    weights: Weights = Weights()
    levers: LeverChoice = LeverChoice()
    sets: SetsConfig = SetsConfig()
    templates: TemplateChoice = TemplateChoice()
    items: int | None = Field(None, ge=1)
    spare: float = Field(3.0, ge=1)
    attempts: int = Field(5, ge=1, le=5)

    @property
    def digest(self) -> str:
        """SHA-256 of the settings and of what the named files hold, without where anything lies and without the salt.

        Raises: ConfigError when a named file cannot be read.
        """
        elsewhere: dict[str, Any] = {
            "salt": True,
            "classes": True,
            "sets": {"file"},
            "templates": {"private"},
            "sources": {"__all__": {"root": True, "options": {"subsources"}}},
        }
        content = self.model_dump(mode="json", exclude=elsewhere)
        listed = (one.options.subsources for one in self.sources)
        named = (self.classes, self.sets.file, self.templates.private, *listed)
        told = json.dumps([_plain(content), [_file_digest(path) for path in named]], sort_keys=True)
        return hashlib.sha256(told.encode()).hexdigest()


def load_config(path: Path) -> BuildConfig:
    """Return the configuration of a YAML file; its paths are made absolute, relative to the file's folder.

    Raises: ConfigError with file, key, offending value and what would do.
    """
    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read ({error.strerror}); give the YAML file of a build") from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: is not YAML ({error})") from error
    if not isinstance(content, dict):
        raise ConfigError(f"{path}: expected keys such as name, seed, salt and sources, found {content!r}")
    try:
        return _absolute(BuildConfig.model_validate(content), path.resolve().parent)
    except ValidationError as error:
        told = "\n  ".join(_told(one) for one in error.errors() if not _follows(one))
        raise ConfigError(f"{path}: is no build configuration:\n  {told}") from error


def _follows(error: ErrorDetails) -> bool:
    """Whether it says no more than that the only element of a list is wrong, which is told on its own."""
    return error["type"] == "too_short" and bool(error["input"])


def _told(error: ErrorDetails) -> str:
    key = ".".join(str(part) for part in error["loc"])
    if error["type"] == "extra_forbidden" and error["loc"][-1] in SourceOptions.model_fields:
        return f"{key}: there is no such key here; it belongs under `options` of a source"
    if error["type"] == "extra_forbidden":
        return f"{key}: there is no such key; remove it or check its spelling"
    if error["type"] == "missing":
        return f"{key}: is missing"
    return f"{key}: {error['msg']}, but it is {error['input']!r}"


def _absolute(config: BuildConfig, folder: Path) -> BuildConfig:
    def at(path: Path | None) -> Path | None:
        return None if path is None else Path(os.path.normpath(folder / path))

    sources = tuple(
        one.model_copy(
            update={
                "root": at(one.root),
                "options": one.options.model_copy(update={"subsources": at(one.options.subsources)}),
            }
        )
        for one in config.sources
    )
    return config.model_copy(
        update={
            "sources": sources,
            "classes": at(config.classes),
            "sets": config.sets.model_copy(update={"file": at(config.sets.file)}),
            "templates": config.templates.model_copy(update={"private": at(config.templates.private)}),
        }
    )


def _file_digest(path: Path | None) -> str | None:
    try:
        return None if path is None else hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read ({error.strerror}); the configuration names this file") from error


def _plain(value: Any) -> Any:
    """The value with what came from a set in order."""
    if isinstance(value, dict):
        return {key: _plain(one) for key, one in value.items()}
    if isinstance(value, list):
        return _sorted([_plain(one) for one in value])
    return value


def _sorted(values: Iterable[Any]) -> list[Any]:
    return sorted(values, key=lambda one: json.dumps(one, sort_keys=True))
