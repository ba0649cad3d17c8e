"""The informed pass: a verifier is told how an item was made and answers seven yes/no questions about it."""

import json
from dataclasses import dataclass
from typing import Any

from georefusal_build.catalogue import levers
from georefusal_build.layout import SetItem
from georefusal_task.core.reply_json import STRICT, objects, scan
from georefusal_task.core.reply_thought import cut_thought
from georefusal_task.core.verdicts import MEANINGS, PRECEDENCE, VERDICTS

CHECKS: dict[str, str] = {
    "lever_followed": "the image and the question show what the description of the change says",
    "intensity_right": "the change is as strong as its intensity says: LOW leaves the question answerable, MEDIUM and "
    "HIGH do not",
    "only_intended_change": "nothing else about the image or the question looks altered",
    "intended_reason": "the claimed verdict follows from this change and not from something else",
    "no_other_reason": "no verdict that comes earlier in the order of precedence holds as well",
    "base_answer_right": "if the claimed verdict is ANSWER, the claimed answer is right; otherwise true",
    "wording_natural": "the question is worded as a person might ask it",
}
"""Name -> what the verifier confirms. Source: the generator's design, section on verifier consensus."""

Checks = dict[str, bool]

_KEYS = ", ".join(f'"{name}": true or false' for name in CHECKS)
_LISTED = "\n".join(f'- "{name}": {meaning}.' for name, meaning in CHECKS.items())
_VERDICTS = "\n".join(f"- {verdict}: {MEANINGS[verdict]}." for verdict in VERDICTS)
INSTRUCTION = f"""\
You check one item of a benchmark: an overhead image, a question about it, how it was made, and the verdict that it is \
said to have. The verdicts are:
{_VERDICTS}

If several reasons to refuse hold, the first of these counts: {" > ".join(PRECEDENCE[:-1])}.

Say of each statement whether it is true:
{_LISTED}

Reply with one JSON object and nothing else: {{{_KEYS}}}."""


@dataclass(frozen=True)
class Told:
    """What the informed verifier is told about an item beside its image and question."""

    lever: str
    measurement: str
    verdict: str
    answer: str

    @classmethod
    def of(cls, item: SetItem) -> "Told":
        """Return what stands in the label and the provenance of an item."""
        lever = item.label.lever or "not recorded"
        text = next((one.family.text for one in levers() if one.id == lever), "")
        measured = json.dumps(item.provenance.get("measurement") or {}, ensure_ascii=False, sort_keys=True)
        described = f"{lever} ({text})" if text else lever
        return cls(described, measured, item.label.gold, item.label.answer or "none")

    def text(self, question: str) -> str:
        """Return what follows the image."""
        return (
            f"Question: {question}\nChange: {self.lever}\nMeasured on the finished item: {self.measurement}\n"
            f"Claimed verdict: {self.verdict}\nClaimed answer: {self.answer}"
        )


def read_checks(text: str) -> Checks | None:
    """Return the seven answers of a reply, None where they cannot be read.

    All seven have to be there, as true or false. The last object that has them counts. Nothing is guessed from prose.
    """
    text, in_thought = cut_thought(text)
    if in_thought:
        return None
    for start, _ in reversed(scan(text).spans):
        for members in objects(STRICT.decode_at(text, start)[0], next(iter(CHECKS))):
            found: dict[str, Any] = {key.lower(): value for key, value in members}
            if all(isinstance(found.get(name), bool) for name in CHECKS) and len(found) == len(members):
                return {name: found[name] for name in CHECKS}
    return None
