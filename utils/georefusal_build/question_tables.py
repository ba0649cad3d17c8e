"""What question levers know beside the templates: parts, kinds, senses of words, clauses, kinds of picture.

The data stand in question_tables.json beside this file.
"""

from functools import cache
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from georefusal_build.classes import ClassTable
from georefusal_build.sources.files import read_json
from georefusal_task.core.errors import ConfigError
from georefusal_task.core.records import Intensity

TABLES_FILE = Path(__file__).with_name("question_tables.json")

Claim = Literal[
    "colour", "grey", "radar", "thermal", "night", "day", "street", "overhead", "cloud", "clear", "snow", "map"
]


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Part(_Frozen):
    """A part of an object. metres: its size across, None for one as large as the object itself."""

    text: str
    metres: float | None


class Kind(_Frozen):
    """A kind of a class. metres: size of the feature that tells it from other kinds."""

    name: str
    a: str
    metres: float


class Sense(_Frozen):
    """One meaning of a word. classes: those that it covers, () when nobody annotates it."""

    meaning: str
    classes: tuple[str, ...]


class Word(_Frozen):
    """A word with several senses in overhead imagery."""

    word: str
    a: str
    senses: tuple[Sense, ...]

    @property
    def slots(self) -> dict[str, str]:
        """W and a_W."""
        return {"W": self.word, "a_W": self.a}


class Picture(_Frozen):
    """A phrase that says what kind of picture this is, and the claim that it makes."""

    name: str
    a: str
    claim: Claim


class Tables(_Frozen):
    """All tables.

    mobile: classes that move by themselves. owned: classes that somebody owns and runs. round: classes whose outline is
    a circle. parts, ladder: by class and intensity, from what needs no detail to what needs the finest.
    clauses: wordings by family and clause.
    """

    mobile: frozenset[str]
    owned: frozenset[str]
    round: frozenset[str]
    parts: dict[str, dict[Intensity, tuple[Part, ...]]]
    ladder: dict[str, dict[Intensity, Kind]]
    senses: tuple[Word, ...]
    clauses: dict[str, dict[str, tuple[str, ...]]]
    pictures: tuple[Picture, ...]

    def check(self, table: ClassTable) -> None:
        """Raise ConfigError when a table speaks of a class that the class table lacks."""
        named = {*self.mobile, *self.owned, *self.round, *self.parts, *self.ladder}
        named |= {name for word in self.senses for sense in word.senses for name in sense.classes}
        if named - table.by_name.keys():
            unknown = ", ".join(sorted(named - table.by_name.keys()))
            raise ConfigError(f"{TABLES_FILE}: speaks of classes that the class table lacks: {unknown}")


@cache
def load_tables(path: Path = TABLES_FILE) -> Tables:
    """Return the tables; raises ConfigError when the file has another form."""
    try:
        return Tables.model_validate(read_json(path))
    except ValidationError as error:
        raise ConfigError(f"{path}: does not hold question tables ({error})") from error
