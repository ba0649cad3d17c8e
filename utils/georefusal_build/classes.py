"""The class table: what objects are called, how large they are, and which names of which source mean them.

The data stand in classes.json beside this file; a user's own file of the same form adds to it.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from georefusal_build.scenes import ALL_CLASSES, IgnoreRegion, Instance, Scene
from georefusal_build.sources.files import read_json
from georefusal_task.core.errors import ConfigError

TABLE_FILE = Path(__file__).with_name("classes.json")

_Positive = Annotated[float, Field(gt=0)]


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


@dataclass(frozen=True)
class Noun:
    """A name in the three forms that questions need."""

    singular: str
    with_article: str
    plural: str

    def slots(self, letter: str) -> dict[str, str]:
        """Return the template slots, for example C, a_C and C_pl."""
        return {letter: self.singular, f"a_{letter}": self.with_article, f"{letter}_pl": self.plural}


class FineClass(_Frozen):
    """A kind of another class, of which a source knows the instances by name."""

    name: str
    a: str
    plural: str
    of: str

    @property
    def noun(self) -> Noun:
        """Its forms."""
        return Noun(self.name, self.a, self.plural)


class ObjectClass(_Frozen):
    """A class that questions are about.

    metres: nominal (minor, major) size. height_m: typical height above the ground, of what casts a shadow by it.
    wakes: one under way draws a wake. compact: its surroundings do not give it away, so coarse sampling hides it.
    divisible: any piece of one is still one. ask: whether questions about it may be posed. alike: classes of which an
    instance might pass for one of this. includes: classes of which every instance is one of this. aliases: further
    names in annotations, never used in a question.
    """

    name: str
    a: str
    plural: str
    singular: str = ""
    synonyms: tuple[tuple[str, str, str], ...] = ()
    aliases: tuple[str, ...] = ()
    metres: tuple[_Positive, _Positive]
    height_m: _Positive | None = None
    wakes: bool = False
    compact: bool = False
    divisible: bool = False
    ask: bool = True
    alike: tuple[str, ...] = ()
    includes: tuple[str, ...] = ()

    @property
    def nouns(self) -> tuple[Noun, ...]:
        """The names a question may use, the usual one first."""
        return (Noun(self.singular or self.name, self.a, self.plural), *(Noun(*forms) for forms in self.synonyms))


class Denied(_Frozen):
    """A source class that overhead imagery cannot settle, with the classes that an instance of it might be."""

    why: str
    may_be: tuple[str, ...] = ()


class ClassTable(_Frozen):
    """The whole table. sources: names by source; denied: names never to be asked about, by source."""

    classes: tuple[ObjectClass, ...]
    fine: tuple[FineClass, ...] = ()
    sources: dict[str, dict[str, str | tuple[str, ...]]] = Field(default_factory=dict)
    denied: dict[str, dict[str, str | Denied]] = Field(default_factory=dict)

    @classmethod
    def load(cls, extra: Path | None = None) -> "ClassTable":
        """Return the built-in table, with the entries of a user's file added; the user's win.

        Raises: ConfigError when the file has another form, or refers to classes that do not exist.
        """
        table = cls._read(TABLE_FILE)
        if extra is not None:
            more = cls._read(extra)
            ours = {one.name for one in more.classes}
            fine = {one.name for one in more.fine}
            table = cls(
                classes=(*(one for one in table.classes if one.name not in ours), *more.classes),
                fine=(*(one for one in table.fine if one.name not in fine), *more.fine),
                sources={k: table.sources.get(k, {}) | more.sources.get(k, {}) for k in table.sources | more.sources},
                denied={k: table.denied.get(k, {}) | more.denied.get(k, {}) for k in table.denied | more.denied},
            )
        table._check(extra or TABLE_FILE)
        return table

    @classmethod
    def _read(cls, path: Path) -> "ClassTable":
        try:
            return cls.model_validate({"classes": (), **read_json(path)})
        except ValidationError as error:
            told = (f"{'.'.join(map(str, one['loc']))}: {one['msg']}, found {one['input']!r}" for one in error.errors())
            raise ConfigError(f"{path}: is not a class table:\n  " + "\n  ".join(told)) from error
        except TypeError as error:
            raise ConfigError(f"{path}: is not a class table; expected an object with a list `classes`") from error

    def _check(self, path: Path) -> None:
        lost = {name for one in self.classes for name in (*one.alike, *one.includes)} | {f.of for f in self.fine}
        lost -= self.by_name.keys()
        used = {name for names in self.sources.values() for value in names.values() for name in _names(value)}
        used |= {name for names in self.denied.values() for entry in names.values() for name in _denied(entry).may_be}
        lost |= used - self.by_name.keys() - self.by_fine_name.keys()
        if lost:
            raise ConfigError(f"{path}: refers to classes that it does not define: {', '.join(sorted(lost))}")
        try:
            TopologicalSorter({one.name: one.includes for one in self.classes}).prepare()
        except CycleError as error:
            raise ConfigError(f"{path}: a class includes itself: {' > '.join(error.args[1])}") from error

    @cached_property
    def by_name(self) -> dict[str, ObjectClass]:
        """Classes by name."""
        return {one.name: one for one in self.classes}

    @cached_property
    def by_fine_name(self) -> dict[str, FineClass]:
        """Fine classes by name."""
        return {one.name: one for one in self.fine}

    @cached_property
    def divisible(self) -> frozenset[str]:
        """Names of the classes of which any piece is still one."""
        return frozenset(one.name for one in self.classes if one.divisible)

    def members(self, name: str) -> frozenset[str]:
        """Return the class and all that it includes."""
        return self._members.get(name, frozenset({name}))

    def height_m(self, name: str) -> float | None:
        """Return the nominal height of the tallest that counts as one of a class, None where none is known."""
        heights = (self.by_name[member].height_m for member in self.members(name))
        return max((height for height in heights if height is not None), default=None)

    def wakes(self, name: str) -> bool:
        """Return whether something that counts as one of a class may leave a wake."""
        return any(self.by_name[member].wakes for member in self.members(name))

    @cached_property
    def _members(self) -> dict[str, frozenset[str]]:
        def below(name: str) -> frozenset[str]:
            return frozenset({name}).union(*(below(one) for one in self.by_name[name].includes))

        return {name: below(name) for name in self.by_name}

    @cached_property
    def rivals(self) -> dict[str, frozenset[str]]:
        """By class: those of which an instance forbids the answer "no", because it might pass for one."""
        found: dict[str, set[str]] = {one.name: set(one.alike) for one in self.classes}
        for one in self.classes:
            for other in one.alike:
                found[other].add(one.name)
            for below in self.members(one.name) - {one.name}:
                found[below].add(one.name)
        return {name: frozenset(others - self.members(name)) for name, others in found.items()}

    def resolve(self, source: str, name: str) -> tuple[str, ...]:
        """Return what a source's class name means: names of classes or fine classes, () for none that is asked about.

        A name that the source's own list lacks is compared with all nouns, whatever its case, hyphens or number.
        """
        if name in self.denied.get(source, {}):
            return ()
        listed = self.sources.get(source, {})
        if name in listed:
            return _names(listed[name])
        found = self._by_noun.get(_plain(name))
        return (found,) if found else ()

    def unnamed(self, scene: Scene) -> tuple[str, ...]:
        """Return the class names of a scene's instances that mean nothing here, one for each instance."""
        denied = self.denied.get(scene.source, {}).keys()
        known = {name for name in {i.class_name for i in scene.instances} - denied if self.resolve(scene.source, name)}
        return tuple(i.class_name for i in scene.instances if i.class_name not in known | denied)

    def mentioned(self, text: str) -> frozenset[str]:
        """Return the classes that a remark names, brackets left out: for notes such as "lake or pond (at the edge)"."""
        plain = f" {_plain(re.sub(r'[(].*?[)]', ' ', text))} "
        return frozenset(name for noun, name in self._by_noun.items() if f" {noun} " in plain and name in self.by_name)

    @cached_property
    def _by_noun(self) -> dict[str, str]:
        found: dict[str, str] = {}
        for fine in self.fine:
            found |= {_plain(form): fine.name for form in (fine.name, fine.plural)}
        for one in self.classes:
            forms = {one.name, *one.aliases, *(form for noun in one.nouns for form in (noun.singular, noun.plural))}
            found |= {_plain(form): one.name for form in forms}
        return found

    def canonical(self, scene: Scene) -> Scene:
        """Return the scene in the words of this table.

        Instances of an unknown name keep it (nothing asks about them); those of a denied name become regions in which
        the classes that they might be cannot be ruled out. What is said of a class holds for all that it includes.
        """
        denied = self.denied.get(scene.source, {})
        instances: list[Instance] = []
        regions = [replace(r, class_name=name) for r in scene.ignore_regions for name in self._region(scene, r)]
        for one in scene.instances:
            if one.class_name in denied:
                entry = _denied(denied[one.class_name])
                regions += (IgnoreRegion(name, one.polygon, entry.why) for name in entry.may_be)
                continue
            for name in self.resolve(scene.source, one.class_name) or (one.class_name,):
                fine = self.by_fine_name.get(name)
                kind = fine.name if fine else None
                instances.append(replace(one, class_name=fine.of if fine else name, fine_class=kind))
        present = {one.class_name for one in instances}
        here = frozenset(name for name in self.by_name if self.members(name) & present)
        absent = self._all_members(name for n in scene.verified_absent for name in self.resolve(scene.source, n))
        unclear = self._all_members(name for text in scene.undecidable for name in self.mentioned(text))
        return replace(
            scene,
            instances=tuple(instances),
            complete=self._complete(scene),
            verified_absent=absent - here - unclear,
            undecidable=unclear - here,
            ignore_regions=tuple(regions),
        )

    def _region(self, scene: Scene, region: IgnoreRegion) -> tuple[str, ...]:
        if region.class_name == ALL_CLASSES:
            return (ALL_CLASSES,)
        return self.resolve(scene.source, region.class_name) or (region.class_name,)

    def _all_members(self, names: Iterable[str]) -> frozenset[str]:
        return frozenset().union(*(self.members(name) for name in names))

    def _complete(self, scene: Scene) -> frozenset[str]:
        """A class is complete when every name that means it, a kind of it or what it includes is complete.

        Where names are not known beforehand, kinds do not add up to their class: it needs a complete name of its own.
        """
        closed = scene.source not in _OPEN_SOURCES
        names = scene.complete | {one.class_name for one in scene.instances}
        if closed:
            names |= self.sources.get(scene.source, {}).keys()
        meant: dict[str, set[str]] = {}
        own: set[str] = set()
        for name in names:
            for target in self.resolve(scene.source, name):
                meant.setdefault(target, set()).add(name)
                fine = self.by_fine_name.get(target)
                if fine:
                    meant.setdefault(fine.of, set()).add(name)
                if closed or name in scene.complete:
                    own |= {target, fine.of} if fine and closed else {target}
        needed = {name: {n for member in self.members(name) for n in meant.get(member, ())} for name in own}
        return frozenset(name for name in own if needed[name] <= scene.complete)


_OPEN_SOURCES = frozenset({"coco", "voc", "yolo", "csv"})
"""Formats whose class names are not known beforehand."""


def _names(value: str | tuple[str, ...]) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else value


def _denied(value: str | Denied) -> Denied:
    return Denied(why=value) if isinstance(value, str) else value


def _plain(text: str) -> str:
    return " ".join(re.sub(r"[^a-z0-9]+", " ", text.lower()).split())
