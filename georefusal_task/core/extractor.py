"""An optional language model that reads the answer out of a reply which the strict reader cannot.

It sees the question and the reply, nothing else: no reference answer, no image, no boxes. Off unless asked for. Any
server with an OpenAI-compatible chat interface will do.
"""

import hashlib
import json
import os
import re
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, TypeAlias
from urllib.parse import urlsplit

from georefusal_task.core.answers import read_count, read_yes_no
from georefusal_task.core.errors import ConfigError

AnswerKind: TypeAlias = Literal["yes_no", "count"]
Answer: TypeAlias = str | int | None
""""yes", "no", a whole number, or None: invalid."""

VARIABLE = "GEOREFUSAL_EXTRACTOR"
"""Environment variable that switches the extractor on: `url,model`."""

PROMPTS: dict[AnswerKind, str] = {
    "yes_no": """\
Below are a question about an image and somebody's reply to it. Which answer does the reply give? Do not answer the \
question yourself. If the reply gives no answer, several, or is unsure, say invalid.
Reply with exactly one word: yes, no or invalid.

Question: {question}

Reply: {reply}

Answer:""",
    "count": """\
Below are a question about an image, which asks for a number, and somebody's reply to it. Which number does the reply \
give? Do not answer the question yourself, and count nothing yourself. If the reply gives no number, several, a range \
or an approximation, say invalid.
Reply with exactly one whole number in digits, or with the word invalid.

Question: {question}

Reply: {reply}

Answer:""",
}


def read_direct(text: str, kind: AnswerKind) -> Answer:
    """Return the answer that a reply gives by the strict reader alone."""
    return read_count(text) if kind == "count" else read_yes_no(text)


def read_output(text: str, kind: AnswerKind) -> Answer:
    """Return what the extractor said; None for "invalid" and for everything that is not on the menu.

    >>> read_output(" Yes.", "yes_no"), read_output("12", "count"), read_output("about 12", "count")
    ('yes', 12, None)
    """
    said = text.strip().strip("\"'`*.").lower()
    if kind == "yes_no":
        return said if said in ("yes", "no") else None
    return int(said) if re.fullmatch(r"[0-9]{1,15}", said) else None


@dataclass
class Extractor:
    """Asks one model; keeps every reply of it in memory and, with `cache`, in a JSON Lines file.

    `url` is the server's base, such as http://127.0.0.1:8000/v1. A request that fails makes the answer invalid, is
    counted in `failures` and is not kept, so that it is asked again next time.
    """

    url: str
    model: str
    cache: Path | None = None
    api_key: str = "none"
    timeout_s: float = 60.0
    failures: int = 0
    _known: dict[str, str] = field(default_factory=dict, repr=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def __post_init__(self) -> None:
        if urlsplit(self.url).scheme not in ("http", "https") or not self.model:
            raise ConfigError(
                f"an extractor needs an http(s) address and a model's name, not {self.url!r}, {self.model!r}"
            )
        if self.cache is not None and self.cache.exists():
            self._known = _read_cache(self.cache)

    def read(self, question: str, reply: str, kind: AnswerKind) -> Answer:
        """Return the answer that the model finds in the reply, None where it finds none or the request fails."""
        prompt = PROMPTS[kind].format(question=question, reply=reply)
        key = hashlib.sha256(json.dumps([self.model, prompt]).encode()).hexdigest()
        with self._lock:
            said = self._known.get(key)
        if said is None:
            said = self._ask(prompt)
            if said is None:
                return None
            self._keep(key, said)
        return read_output(said, kind)

    def _ask(self, prompt: str) -> str | None:
        """Return what the model says, None when the request fails, which is counted."""
        from urllib.request import Request, urlopen

        body = {
            "model": self.model,
            "messages": [{"role": "user", "content": prompt}],
            "temperature": 0,
            "max_tokens": 16,
        }
        head = {"Content-Type": "application/json", "Authorization": f"Bearer {self.api_key}"}
        request = Request(f"{self.url.rstrip('/')}/chat/completions", json.dumps(body).encode(), head)  # noqa: S310
        try:
            with urlopen(request, timeout=self.timeout_s) as response:  # noqa: S310 - http(s) only, see __post_init__
                said = json.load(response)["choices"][0]["message"]["content"]
        except (OSError, ValueError, LookupError, TypeError):
            said = None
        if isinstance(said, str):
            return said
        with self._lock:
            self.failures += 1
        return None

    def _keep(self, key: str, said: str) -> None:
        with self._lock:
            self._known[key] = said
            if self.cache is not None:
                row = json.dumps({"key": key, "model": self.model, "said": said})
                with self.cache.open("a", encoding="utf-8") as file:
                    file.write(f"\n{row}\n" if file.tell() else f"{row}\n")  # the last line may be half a row


def _read_cache(path: Path) -> dict[str, str]:
    """Return what was said by key; a line that cannot be read, as a killed run leaves one, is asked for again."""
    known: dict[str, str] = {}
    for line in path.read_text(encoding="utf-8", errors="replace").split("\n"):
        try:
            row = json.loads(line or "{}")
        except ValueError:
            continue
        if isinstance(row, dict) and isinstance(row.get("key"), str) and isinstance(row.get("said"), str):
            known[row["key"]] = row["said"]
    return known


def extractor_of(setting: str | None = None, cache: Path | None = None) -> Extractor | None:
    """Return the extractor that `url,model` names, by default in the variable GEOREFUSAL_EXTRACTOR; None when unset.

    The key of the server is read from OPENAI_API_KEY.

    Raises:
        ConfigError: the setting is not of that form.
    """
    setting = os.environ.get(VARIABLE, "") if setting is None else setting
    if not setting:
        return None
    url, _, model = (part.strip() for part in setting.partition(","))
    return Extractor(url, model, cache, os.environ.get("OPENAI_API_KEY", "none"))


@dataclass(frozen=True)
class Extraction:
    """What the extractor did over a run."""

    replies: int
    direct: int
    """Replies that the strict reader read."""
    extracted: int
    """Replies that only the extractor read."""
    failures: int
    """Requests that failed; their replies are invalid."""
    agreed: int
    """Of the replies that the strict reader read and the extractor was asked about too, those on which both agree."""
    compared: int

    @property
    def share(self) -> float | None:
        """Share of all replies whose answer comes from the extractor, 0 to 1; None without replies."""
        return self.extracted / self.replies if self.replies else None

    @property
    def agreement(self) -> float | None:
        """Share of the compared replies on which both readers agree, 0 to 1; None where nothing was compared."""
        return self.agreed / self.compared if self.compared else None


def read_answers(
    items: Sequence[tuple[str, str, AnswerKind]],
    extractor: Extractor | None = None,
    compare: Callable[[int], bool] | None = None,
) -> tuple[list[Answer], Extraction]:
    """Return the answer of every (question, reply, kind), and how many of them the extractor gave.

    The strict reader comes first, and what it reads counts. The extractor reads what is left; of the rest it is also
    asked about all, or those whose number `compare` picks, for the agreement alone.
    """
    answers = [read_direct(reply, kind) for _, reply, kind in items]
    if extractor is None:
        return answers, Extraction(len(items), sum(answer is not None for answer in answers), 0, 0, 0, 0)
    direct = extracted = agreed = compared = 0
    failed_before = extractor.failures
    for number, (question, reply, kind) in enumerate(items):
        read = answers[number]
        direct += read is not None
        if read is not None and compare is not None and not compare(number):
            continue
        failures = extractor.failures
        found = extractor.read(question, reply, kind)
        if read is None:
            answers[number] = found
            extracted += found is not None
        elif extractor.failures == failures:
            compared += 1
            agreed += found == read
    return answers, Extraction(len(items), direct, extracted, extractor.failures - failed_before, agreed, compared)
