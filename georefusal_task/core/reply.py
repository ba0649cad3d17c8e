"""Reads a model's reply: text in, one Reply out, for every string there is.

Three tiers: strict JSON and JSON that had to be mended (reply_objects), then a statement in prose (reply_prose). The
reader never guesses: what is not clear is unparsed, with one reason. It never raises, and its time is linear in the
text.
"""

import json
from typing import Any

from georefusal_task.core.answers import read_yes_no
from georefusal_task.core.records import Flag, Reason, Reply, ReplyKind, Status
from georefusal_task.core.reply_json import STRICT, Members, objects, scan, too_deep
from georefusal_task.core.reply_labels import Outcome, judge, named
from georefusal_task.core.reply_letters import read_letter
from georefusal_task.core.reply_objects import search, unwrapped
from georefusal_task.core.reply_prose import read_prose
from georefusal_task.core.reply_thought import cut_thought
from georefusal_task.core.verdicts import VERDICTS, Verdict

READER = "1"
"""Version of the reading rules; a change that can alter a verdict raises it."""

MAX_BYTES = 4 * 1024 * 1024

FAILED_REQUEST = "[REQUEST FAILED]"
"""Stands for the reply where a request failed, in files of ours and from harnesses that keep no text of their own."""
_HOST_ERRORS = (FAILED_REQUEST, "[LMMS_EVAL_", "Error: can only concatenate")
"""How texts begin that are no reply; the latter two are what lmms-eval stores when a request failed."""
_BLANK = "".join(filter(str.isspace, map(chr, range(0x3001)))) + "\0\ufeff\u200b"


def read_reply(text: str, kind: ReplyKind = "verdict") -> Reply:
    """Return the verdict that a reply gives, or UNPARSED with the reason why it gives none.

    `kind` is what the prompt asked for. Letters are read in tier `prose`, or `json` from an object. With "yes_no" the
    verdict is ANSWER and `answer` says which; status and reason are as for the others. Never raises.

    >>> read_reply('{"verdict": "ANSWER", "answer": true}').answer
    'yes'
    >>> str(read_reply("It might be REFUSE_AMBIGUOUS_QUERY.").reason)
    'mention'
    """
    if kind == "verdict" and len(text) <= MAX_BYTES // 4:
        clean = _read_clean(text)
        if clean is not None:
            return clean
    reason = _no_reply(text)
    if reason is not None:
        return _reply(reason)
    text = unwrapped(text)
    text, in_thought = cut_thought(text)
    if not text.strip(_BLANK):
        return _reply(Reason.TRUNCATED if in_thought else Reason.EMPTY, truncated=in_thought)
    try:
        if kind == "yes_no":
            return _read_yes_no(text, in_thought)
        return _read_verdict(text, in_thought, letters=kind == "letter")
    except RecursionError:  # the caller's own stack leaves less room than MAX_DEPTH needs
        return _reply(Reason.TOO_DEEP)


def _read_clean(text: str) -> Reply | None:
    """Return the reply of a text that is one flat JSON object with a verdict and nothing else, None for any other."""
    text = text.strip()
    try:
        members, end = STRICT.decode_at(text, 0)
    except (ValueError, RecursionError):
        return None
    if end != len(text) or type(members) is not tuple:
        return None
    values = []
    for key, value in members:
        if type(value) is tuple or type(value) is list:
            return None
        if key == "verdict" or key.lower() == "verdict":
            values.append(value)
    return _reply(judge(values), Status.JSON, members) if values else None


def failed_request(text: str) -> bool:
    """Return whether a text is no reply but what a harness stores when a request failed."""
    return text.lstrip(_BLANK).startswith(_HOST_ERRORS)


def _no_reply(text: str) -> Reason | None:
    stripped = text.strip(_BLANK)
    if not stripped:
        return Reason.EMPTY
    if failed_request(stripped):
        return Reason.HOST_ERROR
    if len(text) > MAX_BYTES or (
        len(text) > MAX_BYTES // 4 and len(text.encode("utf-8", errors="surrogatepass")) > MAX_BYTES
    ):
        return Reason.TOO_LONG
    return None


def _read_verdict(text: str, in_thought: bool, letters: bool) -> Reply:
    looked = search(text, letters)
    truncated = in_thought or looked.truncated
    outcome: Outcome
    corrected, status = looked.self_corrected, Status.PROSE
    members: Members = ()
    if looked.found is not None:
        outcome, status, members = looked.found.outcome, looked.found.status, looked.found.members
    elif looked.deep:
        outcome = Reason.TOO_DEEP
    elif letters and (option := read_letter(looked.prose)):
        outcome = option
    else:
        outcome, corrected = read_prose(looked.prose)
    if isinstance(outcome, Reason):
        cut_short = in_thought or (looked.truncated and looked.found is None)
        outcome = _first_reason(outcome, text, cut_short)
    return _reply(outcome, status, members, corrected, truncated)


def _first_reason(reason: Reason, text: str, cut_short: bool) -> Reason:
    """Return the first reason in order among those that fit a text without a verdict."""
    fitting = {reason}
    if too_deep(text):
        fitting.add(Reason.TOO_DEEP)
    if cut_short:
        fitting.add(Reason.TRUNCATED)
    if len(named(text)) == len(VERDICTS):
        fitting.add(Reason.ECHO)
    return min(fitting, key=list(Reason).index)


def _read_yes_no(text: str, in_thought: bool) -> Reply:
    """Return a reply to the prompt that forces a yes or no."""
    for start, _ in reversed(scan(text).spans):
        for members in objects(STRICT.decode_at(text, start)[0], "answer"):
            value = next(value for key, value in reversed(members) if key.lower() == "answer")
            outcome = Verdict.ANSWER if _answer(value) in ("yes", "no") else Reason.NO_VERDICT
            return _reply(outcome, Status.JSON, members, truncated=in_thought)
    answer = read_yes_no(text)
    if answer is None:
        return _reply(Reason.TRUNCATED if in_thought else Reason.NO_VERDICT, truncated=in_thought)
    return _reply(Verdict.ANSWER, Status.PROSE, (("answer", answer),), truncated=in_thought)


def _reply(
    outcome: Outcome,
    status: Status = Status.UNPARSED,
    members: Members = (),
    self_corrected: bool = False,
    truncated: bool = False,
) -> Reply:
    flags: tuple[Flag, ...] = ()
    if self_corrected or truncated:
        given = {Flag.SELF_CORRECTED: self_corrected, Flag.TRUNCATED: truncated}
        flags = tuple(flag for flag, raised in given.items() if raised)
    if isinstance(outcome, Reason):
        return Reply(None, Status.UNPARSED, outcome, flags=flags)
    answer, justification, confidence = "", "", None
    for key, value in members:
        name = key.lower()
        if name == "answer":
            answer = "" if outcome.is_refusal else _answer(value)
        elif name == "justification":
            justification = _text(value)
        elif name == "confidence":
            confidence = _confidence(value)
    return Reply(outcome, status, None, answer, justification, confidence, flags)


def _answer(value: Any) -> str:
    """Return an answer as text: yes or no where it is plainly one of them, otherwise as it stands."""
    text = _text(value).strip()
    if text.lower() in ("true", "false"):
        return "yes" if text.lower() == "true" else "no"
    return read_yes_no(text) or text


def _text(value: Any) -> str:
    """Return a decoded JSON value as text, the one value of a list of one; null, objects and other lists are empty."""
    while isinstance(value, list) and len(value) == 1:
        value = value[0]
    if isinstance(value, str):
        return value
    return json.dumps(value) if isinstance(value, (bool, int, float)) else ""


def _confidence(value: Any) -> float | None:
    given = isinstance(value, (int, float)) and not isinstance(value, bool)
    return float(value) if given and 0 <= value <= 1 else None
