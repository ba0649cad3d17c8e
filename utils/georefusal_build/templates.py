"""Question templates: banks in JSON files, what a template may say, slots, and the part that is held back."""

import math
import re
import unicodedata
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from georefusal_build.sources.files import read_json
from georefusal_build.streams import Stream, derive_key
from georefusal_task.core.errors import ConfigError

Bank = Mapping[str, tuple[str, ...]]
"""Templates by list name."""

BASE_FILE = Path(__file__).with_name("base_templates.json")

HELD_BACK = 0.25
"""Least share of a list that stays out of what is published."""

_SLOT = re.compile(r"\{(\w+)\}")
_RULES: tuple[tuple[str, re.Pattern[str]], ...] = (
    (
        "asks what can be seen; on a hidden object 'no' would then be right",
        re.compile(
            r"\b(visib\w*|see|sees|seen|seeing|show\w*|appear\w*|ma[dk]e out|discern\w*|observ\w*|depict\w*)\b", re.I
        ),
    ),
    (
        "is not a yes/no question",
        re.compile(r"(?:^|[.:?]\s+)(?:what|which|who|whom|when|why|how|where (?:is|are|do|does|can))\b", re.I),
    ),
    (
        "mentions a mark that the image does not have",
        re.compile(r"\b(marks?|marked|marker|arrows?|box|boxes|boxed|highlight\w*|circled|outlined|pointed)\b", re.I),
    ),
    ("has a double or an outer space", re.compile(r"\s\s|^\s|\s$")),
    ("holds characters outside ASCII", re.compile(r"[^\x20-\x7e]")),
)


class Split(NamedTuple):
    """The two parts of a list of templates."""

    shipped: tuple[str, ...]
    held_back: tuple[str, ...]


def lint(text: str) -> list[str]:
    """Return what is wrong with a template or a finished question; [] when it obeys every rule.

    >>> lint("Is a ship visible here?")
    ["asks what can be seen; on a hidden object 'no' would then be right"]
    """
    found = [message for message, pattern in _RULES if pattern.search(text)]
    if not text.endswith("?") or text.count("?") != 1:
        found.append("does not end with its only question mark")
    if unicodedata.normalize("NFC", text) != text:
        found.append("is not in normal form C")
    return found


def render(template: str, slots: Mapping[str, str]) -> str:
    """Return the question with every slot filled; raises ConfigError when a slot has no value."""
    missing = sorted(set(_SLOT.findall(template)) - slots.keys())
    if missing:
        raise ConfigError(f"template '{template}' has slots without a value: {', '.join(missing)}")
    return _SLOT.sub(lambda match: slots[match.group(1)], template)


def load_bank(path: Path = BASE_FILE, private: Path | None = None, lists: Sequence[str] | None = None) -> Bank:
    """Return the templates of a file, with those of a private file of the same form added to the lists they name.

    Raises: ConfigError for a template that breaks a rule, occurs twice, or belongs to no list of the first file.
    """
    bank = _read(path)
    for name, more in (_read(private) if private else {}).items():
        if name not in bank:
            raise ConfigError(f"{private}: has no use for list '{name}'; the lists are {', '.join(bank)}")
        bank[name] += more
    if lists is not None and set(lists) - bank.keys():
        raise ConfigError(f"{path}: lacks the lists {', '.join(sorted(set(lists) - bank.keys()))}")
    for name, templates in bank.items():
        if len(set(templates)) != len(templates):
            raise ConfigError(f"{private or path}: list '{name}' holds a template twice")
    return bank


def split(name: str, templates: Sequence[str], master: int) -> Split:
    """Return which templates of a list are published and which, at least a quarter, are held back.

    The choice follows from the master seed and the list's name, not from the order in the file.
    """
    stream = Stream(derive_key(master, name, "templates"))
    shuffled = stream.shuffled(sorted(templates))
    count = math.ceil(HELD_BACK * len(shuffled))
    return Split(tuple(sorted(shuffled[count:])), tuple(sorted(shuffled[:count])))


def _read(path: Path) -> dict[str, tuple[str, ...]]:
    content = read_json(path)
    if not isinstance(content, dict) or not all(isinstance(value, list) for value in content.values()):
        raise ConfigError(f"{path}: expected an object that holds lists of templates")
    for name, templates in content.items():
        for template in templates:
            wrong = lint(template) if isinstance(template, str) else ["is not a string"]
            if wrong:
                raise ConfigError(f"{path}: '{template}' in list '{name}' {wrong[0]}")
    return {name: tuple(templates) for name, templates in content.items()}
