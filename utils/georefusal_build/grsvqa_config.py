"""The configuration of a build of G-RSVQA: a YAML file whose every key is checked and named when it is wrong."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, Self

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from georefusal_build.grsvqa_asking import Rules
from georefusal_build.grsvqa_selection import SHARES, Quotas
from georefusal_build.scenes import Modality, Tiling
from georefusal_build.sources import ReadOptions
from georefusal_task.benchmarks.grounding_records import QuestionType
from georefusal_task.core.errors import ConfigError


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class SourceConfig(_Part):
    """One annotated set. format: a name from docs/sources.md; root: its folder; the rest: options of the reader."""

    format: str
    root: Path
    modality: Modality | None = None
    gsd_m: float | None = Field(None, gt=0)
    complete: frozenset[str] | None = None
    verified_absent: frozenset[str] | None = None
    version: str | None = None
    first_pixel: int | None = None
    subsources: Path | None = None
    licence: str | None = None
    notice: str | None = None

    def options(self) -> ReadOptions:
        """Return what the reader is told."""
        return ReadOptions(**{name: getattr(self, name) for name in self.__class__.model_fields.keys() - _OWN})


_OWN = {"format", "root"}


class TilesConfig(_Part):
    """How large images are cut."""

    size: int = Field(800, ge=32)
    overlap: float = Field(0.0, ge=0, lt=1)


class GrsvqaConfig(_Part):
    """A whole build. name, about: of the card. tiles: None takes whole images. classes: file that adds to the table.

    place: what questions that are not independent share, one source image or one folder of them (parts of a scene).
    maximum, min_side_px, margin, only, never: as in Rules; shares, total, per_image, number_share: as in Quotas.
    """

    name: str = "G-RSVQA"
    about: str = ""
    sources: tuple[SourceConfig, ...] = Field(min_length=1)
    seed: int = 20261130
    tiles: TilesConfig | None = None
    place: Literal["image", "folder"] = "image"
    classes: Path | None = None
    maximum: int = Field(20, ge=1)
    min_side_px: float = Field(8.0, ge=1)
    margin: float = Field(0.1, ge=0, lt=1)
    only: frozenset[str] | None = None
    never: frozenset[str] = frozenset()
    shares: dict[QuestionType, Annotated[float, Field(ge=0)]] = Field(default_factory=lambda: dict(SHARES))
    total: int | None = Field(None, ge=1)
    per_image: int = Field(6, ge=1)
    number_share: float = Field(0.3, gt=0, le=1)

    @model_validator(mode="after")
    def _asks_something(self) -> Self:
        if not sum(self.shares.values()):
            raise ValueError("shares: give a positive weight to at least one type")
        return self

    @property
    def rules(self) -> Rules:
        """What may be asked."""
        return Rules(self.maximum, self.min_side_px, self.margin, self.only, self.never)

    @property
    def quotas(self) -> Quotas:
        """What the selection keeps to."""
        return Quotas(self.shares, self.total, self.per_image, self.number_share)

    @property
    def tiling(self) -> Tiling:
        """How scenes are cut; a scene that is taken whole is one tile."""
        return Tiling(self.tiles.size, self.tiles.overlap) if self.tiles else Tiling(size=_WHOLE)


_WHOLE = 1 << 30
"""Pixels: a tile as large as any image."""


def load_grsvqa_config(path: Path, changes: Mapping[str, Any] | None = None) -> GrsvqaConfig:
    """Return the configuration in a YAML file with some values changed; relative paths start at the file's folder.

    Raises:
        ConfigError: no such file, no YAML, or a key that is missing, unknown or has a wrong value.
    """
    try:
        content: Any = yaml.safe_load(path.read_text("utf-8"))
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read ({error.strerror})") from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: is not YAML ({' '.join(str(error).split())})") from error
    if not isinstance(content, dict):
        raise ConfigError(f"{path}: expected keys such as sources, seed and shares; see docs/grsvqa.md")
    config = parse_grsvqa_config(content | dict(changes or {}), str(path))
    return config.model_copy(
        update={
            "sources": tuple(
                one.model_copy(update=_anchored(path.parent, one, "root", "subsources")) for one in config.sources
            ),
            **_anchored(path.parent, config, "classes"),
        }
    )


def parse_grsvqa_config(content: dict[str, Any], where: str) -> GrsvqaConfig:
    """Return the configuration in a mapping; `where` stands in errors.

    Raises:
        ConfigError: a key is missing, unknown or has a wrong value.
    """
    try:
        return GrsvqaConfig.model_validate(content)
    except ValidationError as error:
        wrong = "; ".join(f"{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in error.errors())
        raise ConfigError(f"{where}: {wrong}") from error


def _anchored(folder: Path, part: BaseModel, *names: str) -> dict[str, Path]:
    paths = {name: getattr(part, name) for name in names}
    return {name: folder / path for name, path in paths.items() if path is not None}
