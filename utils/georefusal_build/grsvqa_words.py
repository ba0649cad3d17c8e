"""Questions of G-RSVQA in words: templates by type, nouns of the class table."""

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from georefusal_build.classes import ClassTable
from georefusal_build.grsvqa_asking import Candidate
from georefusal_build.sources.files import read_json
from georefusal_build.streams import Stream, derive_key
from georefusal_build.templates import render
from georefusal_task.benchmarks.grounding_records import QuestionType
from georefusal_task.core.errors import ConfigError

TEMPLATES_FILE = Path(__file__).with_name("grsvqa_templates.json")

Bank = Mapping[QuestionType, tuple[str, ...]]

_ONE, _TWO = re.compile(r"\{(a_)?C(_pl)?\}"), re.compile(r"\{A_pl\}.*\{B_pl\}")


@cache
def load_templates(path: Path = TEMPLATES_FILE) -> Bank:
    """Return the templates by type of question.

    Raises:
        ConfigError: a type has none, or a template lacks the slots of its type or does not end with its question mark.
    """
    content = read_json(path)
    if not isinstance(content, dict) or set(content) != set(QuestionType):
        raise ConfigError(f"{path}: expected an object with the lists {', '.join(QuestionType)}")
    for name, templates in content.items():
        for template in templates:
            if not (_TWO if QuestionType(name).compares else _ONE).search(template):
                raise ConfigError(f"{path}: '{template}' in list '{name}' does not name what it asks about")
            if not template.endswith("?") or template.count("?") != 1:
                raise ConfigError(f"{path}: '{template}' in list '{name}' does not end with its only question mark")
    return {type_: tuple(content[type_]) for type_ in QuestionType}


def phrase(one: Candidate, table: ClassTable, bank: Bank, master: int) -> str:
    """Return the question: nouns and template are drawn by the seed and the id alone, never by the answer."""
    stream = Stream(derive_key(master, one.id, "wording"))
    template = stream.choice(bank[one.type])
    slots: dict[str, str] = {}
    for letter, name in zip("AB" if one.type.compares else "C", one.classes, strict=True):
        slots |= stream.choice(table.by_name[name].nouns).slots(letter)
    return render(template, slots)
