"""The prompts of GeoRefusalBench: named, versioned, each with a digest that stands beside every result.

A prompt's text never changes under the same version; a new wording is a new version, or old numbers lose their meaning.
"""

import hashlib
from dataclasses import dataclass
from functools import cached_property

from georefusal_task.core.errors import ConfigError
from georefusal_task.core.records import Case, ReplyForm, ReplyKind
from georefusal_task.core.verdicts import LETTERS, MEANINGS, PRECEDENCE, VERDICTS


@dataclass(frozen=True)
class Prompt:
    """One way of asking: the instruction stands before the image, the question after it."""

    name: str
    version: str
    instruction: str
    reply: ReplyKind = "verdict"
    """What the model is asked to write; decides which reader is used."""
    question: str = "Question: {question}"

    @property
    def id(self) -> str:
        """`name/version`, the short form for tables."""
        return f"{self.name}/{self.version}"

    @cached_property
    def sha256(self) -> str:
        """Digest of everything a model is told apart from the question itself, 64 hex digits."""
        return hashlib.sha256(f"{self.instruction}\0{self.question}\0{self.reply}".encode()).hexdigest()

    def ask(self, case: Case) -> str:
        """Return the text that follows the image."""
        # replace, not format: a question may contain braces
        return self.question.replace("{question}", case.question)

    def text(self, case: Case) -> str:
        """Return instruction and question as one text, for models that take one text and one image."""
        return f"{self.instruction}\n\n{self.ask(case)}"


_TASK = (
    "You are given one overhead image (satellite, aerial or radar) and one question about it. Decide whether the image "
    "lets you answer the question. Choose exactly one verdict:"
)
_VERDICT_LIST = "\n".join(f"- {v}: {MEANINGS[v]}." for v in VERDICTS)
_OPTION_LIST = "\n".join(f"{letter}. {v}: {MEANINGS[v]}." for letter, v in LETTERS.items())
PRECEDENCE_TEXT = (
    "If several reasons to refuse hold, give the first of these that does: " + " > ".join(PRECEDENCE[:-1]) + "."
)
"""Said to models and to people who review a set, in the same words."""
_FORM_NOTES = {
    "verdict": "one of the six verdicts",
    **{name: field.description for name, field in ReplyForm.model_fields.items() if field.description},
}


def _form(extra: dict[str, str] | None = None) -> str:
    """Return the sentence that asks for the JSON object, built from the model that reads it."""
    notes = {name: _FORM_NOTES[name] for name in ReplyForm.model_fields} | (extra or {})
    keys = ", ".join(f'"{name}": ...' for name in notes)
    explained = "; ".join(f'"{name}" is {note}' for name, note in notes.items())
    return f"Reply with one JSON object and nothing else: {{{keys}}}, where {explained}."


_ALL = (
    Prompt("default", "v1", "\n\n".join((f"{_TASK}\n{_VERDICT_LIST}", PRECEDENCE_TEXT, _form()))),
    Prompt(
        "minimal",
        "v1",
        "Answer the question about the image, or refuse if the image does not let you. "
        f"Choose one verdict: {', '.join(VERDICTS)}. {_form()}",
    ),
    Prompt("no_precedence", "v1", "\n\n".join((f"{_TASK}\n{_VERDICT_LIST}", _form()))),
    Prompt(
        "mcq",
        "v1",
        "\n\n".join(
            (f"{_TASK}\n{_OPTION_LIST}", PRECEDENCE_TEXT, "Reply with the letter of the verdict and nothing else.")
        ),
        reply="letter",
    ),
    Prompt(
        "conf",
        "v1",
        "\n\n".join(
            (
                f"{_TASK}\n{_VERDICT_LIST}",
                PRECEDENCE_TEXT,
                _form({"confidence": "your probability, from 0 to 1, that the verdict is right"}),
            )
        ),
    ),
    Prompt(
        "forced",
        "v1",
        "You are given one overhead image (satellite, aerial or radar) and one question about it. "
        "Answer with yes or no and nothing else, even if you are not sure.",
        reply="yes_no",
    ),
)

PROMPTS: dict[str, Prompt] = {prompt.name: prompt for prompt in _ALL}


def get_prompt(name: str) -> Prompt:
    """Return the prompt of that name.

    Raises:
        ConfigError: the name is not known; the message lists those that are.
    """
    try:
        return PROMPTS[name]
    except KeyError:
        raise ConfigError(f"no prompt is called {name!r}; there are: {', '.join(PROMPTS)}") from None
