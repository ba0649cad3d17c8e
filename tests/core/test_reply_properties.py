"""What holds for every reply, checked on replies that hypothesis makes up."""

import json

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from georefusal_task.core.records import Flag, Reason, Reply, Status
from georefusal_task.core.reply import read_reply
from georefusal_task.core.reply_json import LOOSE, STRICT, scan
from georefusal_task.core.verdicts import VERDICTS, Verdict

pytestmark = pytest.mark.filterwarnings("error")

PIECES = [
    *VERDICTS,
    *(
        '"',
        "'",
        "\\",
        "`",
        "```",
        "```json\n",
        "{",
        "}",
        "[",
        "]",
        ":",
        ",",
        "\n",
        "\t",
        " ",
        "|",
        "//",
        "/*",
        "\\u00",
        "\\n",
    ),
    *(
        "verdict",
        '"verdict"',
        "Verdict: ",
        "my verdict is ",
        '{"verdict": "ANSWER"}',
        "{'verdict': 'ANSWER'}",
        "<verdict>",
    ),
    *(
        "<think>",
        "</think>",
        "<Analysis>",
        "</analysis>",
        "“",
        "”",
        "„",
        "＂",
        "｛",
        "\u200b",
        "\ufeff",
        "\xa0",
        "\x00",
    ),
    *(
        "ANSWER or ",
        "answer",
        "yes",
        "no",
        "null",
        "None",
        "...",
        "\\boxed{",
        "\ud800",
        "é",
        "船",
        "[LMMS_EVAL_",
        "true",
        "1e5",
    ),
]
any_text = st.text() | st.lists(st.sampled_from(PIECES) | st.text(max_size=3), max_size=25).map("".join)
verdicts = st.sampled_from(VERDICTS)
no_tags = any_text.filter(lambda text: "<" not in text)


def object_text(verdict, answer, justification, *, ascii_only=True, first="verdict", indent=None):
    fields = {"verdict": verdict, "answer": answer, "justification": justification}
    fields = {first: fields.pop(first)} | fields
    return json.dumps(fields, ensure_ascii=ascii_only, indent=indent)


objects = st.builds(
    object_text,
    verdicts,
    st.sampled_from(["yes", "no", ""]),
    any_text,
    ascii_only=st.booleans(),
    first=st.sampled_from(["verdict", "answer", "justification"]),
    indent=st.sampled_from([None, 2, "\t"]),
)


def well_formed(reply: Reply) -> bool:
    unparsed = reply.status is Status.UNPARSED
    return unparsed == (reply.verdict is None) == (reply.reason is not None) and not (unparsed and reply.answer)


@settings(max_examples=500)
@given(any_text, st.sampled_from(["verdict", "letter", "yes_no"]))
def test_any_text_is_read_and_read_alike_twice(text, kind):
    reply = read_reply(text, kind)
    assert well_formed(reply)
    assert read_reply(text, kind) == reply


@settings(max_examples=160)
@given(any_text)
def test_a_verdict_is_never_invented(text):
    """Repair libraries fill a missing value with the first of the enum; here every verdict stands in the text."""
    reply = read_reply(text)
    if reply.verdict is not None:
        squeezed = "".join(c for c in text.upper() if c.isalnum() or c == "\\")
        short = reply.verdict.removeprefix("REFUSE_").split("_")[0]
        assert short in squeezed


@settings(max_examples=160)
@given(verdicts, st.sampled_from(["yes", "no", ""]), any_text, st.booleans())
def test_justification_never_changes_the_verdict(verdict, answer, justification, ascii_only):
    reply = read_reply(object_text(verdict, answer, justification, ascii_only=ascii_only))
    assert (reply.verdict, reply.status) == (verdict, Status.JSON)
    assert reply.answer == ("" if verdict.is_refusal else answer)
    assert reply.justification == justification


WRAPPERS = [
    "%s",
    "\ufeff%s",
    " \n\n%s\n",
    "```json\n%s\n```",
    "```\n%s```",
    "~~~\n%s\n~~~",
    "Here is my reply:\n\n```JSON\n%s\n```\nHope this helps!",
    "```python\nprint('boxes')\n```\n%s",
    "%s}",
    "[%s]",
    "[[%s]]",
    '{"response": %s}',
    '{"n": 1, "list": [{"reply": %s}], "z": null}',
    "<think>It may be ANSWER, or REFUSE_AMBIGUOUS_QUERY.</think>%s",
    '<think>{"verdict": "REFUSE_NONFACTUAL_QUERY"}</think>\n%s',
    "no opening tag, Verdict: ANSWER</think>%s",
    "<ANALYSIS><think>a</think></ANALYSIS>%s",
    "Note: [verdict] is list[str] in some schemas. %s",
    "%s\nNote: [verdict] is list[str], {verdict}.",
    "The 15\" pier (see 'notes') is hidden: %s",
    "REFUSE_AMBIGUOUS_QUERY or ANSWER? %s",
    '{"verdict": "REFUSE_MAYBE"} %s',
    '{"answer": "yes"} %s {"x": 1}',
    "<tool_call>\n%s\n</tool_call>",
]


@settings(max_examples=200)
@given(objects, st.sampled_from(WRAPPERS))
def test_wrappers_keep_verdict_and_tier(text, wrapper):
    alone, wrapped = read_reply(text), read_reply(wrapper.replace("%s", text))
    assert (wrapped.verdict, wrapped.status, wrapped.answer) == (alone.verdict, Status.JSON, alone.answer)
    assert wrapped.justification == alone.justification


@settings(max_examples=60)
@given(objects, st.integers(1, 3))
def test_objects_in_strings_keep_the_tier(text, times):
    encoded = text
    for _ in range(times):
        encoded = json.dumps(encoded)
    assert read_reply(encoded) == read_reply(text)


@settings(max_examples=260)
@given(objects, st.data())
def test_cutting_off_never_gives_another_verdict(text, data):
    whole, cut = read_reply(text), read_reply(text[: data.draw(st.integers(0, len(text) - 1))])
    if cut.verdict is None:
        assert cut.reason in (Reason.TRUNCATED, Reason.EMPTY)
    else:
        assert (cut.verdict, cut.status, cut.flags) == (whole.verdict, Status.REPAIRED, (Flag.TRUNCATED,))


@settings(max_examples=100)
@given(verdicts, verdicts, st.data())
def test_cutting_off_nested_objects_never_gives_the_inner_verdict(outer, inner, data):
    text = json.dumps(
        {"verdict": outer, "alternatives": [{"verdict": inner}, {"n": [1, {"verdict": inner}]}], "end": "x"}
    )
    cut = read_reply(text[: data.draw(st.integers(1, len(text) - 1))])
    assert cut.verdict == outer or cut.reason is Reason.TRUNCATED


@settings(max_examples=100)
@given(objects, objects)
def test_the_last_object_counts(first, second):
    reply, last = read_reply(first + "\n" + second), read_reply(second)
    assert (reply.verdict, reply.status, reply.answer) == (last.verdict, Status.JSON, last.answer)
    assert (Flag.SELF_CORRECTED in reply.flags) == (read_reply(first).verdict != last.verdict)


SPOILERS = [
    lambda text: text[:-1] + ",}",
    lambda text: text.replace('"', "“", 1).replace('"', "”", 1),
    lambda text: text[:-1] + "// done\n}",
    lambda text: text.replace(": ", ":\xa0", 1),
    lambda text: text.replace("{", "｛", 1),
    lambda text: text[:-2] + "\n" + text[-2:],
]
plain_words = st.lists(
    st.sampled_from(["the", "ship", "quay", "is", "hidden", "and", "15 m", "wide", "not seen"]), min_size=1
)


@settings(max_examples=100)
@given(verdicts, plain_words.map(" ".join), st.sampled_from(SPOILERS))
def test_spoilt_syntax_is_mended(verdict, justification, spoil):
    reply = read_reply(spoil(object_text(verdict, "", justification)))
    assert (reply.verdict, reply.status) == (verdict, Status.REPAIRED)
    assert Flag.TRUNCATED not in reply.flags


@settings(max_examples=100)
@given(verdicts, no_tags)
def test_python_dictionaries_never_give_another_verdict(verdict, justification):
    # braces are matched without regard to quotes there, so an object in a string counts beside a brace without partner
    assume("{" not in justification or "verdict" not in justification.lower())
    reply = read_reply(repr({"verdict": str(verdict), "justification": justification}))
    assert reply.verdict in (verdict, None)


@settings(max_examples=160)
@given(any_text)
def test_spans_are_those_of_json(text):
    """Every span decodes, none overlap, and no object that json finds outside of them has been missed."""
    scanned = scan(text)
    decoder = json.JSONDecoder()
    at, inside = 0, set()
    for start, end in scanned.spans:
        assert at <= start < end <= len(text)
        assert decoder.raw_decode(text, start)[1] == end
        inside |= set(range(start, end))
        at = end
    inside |= set(range(scanned.cut.start, len(text))) if scanned.cut else set()
    for start in range(len(text)):
        if text[start] == "{" and start not in inside:
            try:
                found, _ = decoder.raw_decode(text, start)
            except ValueError:
                continue
            assert found == {}


@settings(max_examples=60)
@given(
    st.recursive(
        st.none() | st.booleans() | st.floats() | st.integers() | any_text,
        nested := lambda inner: st.lists(inner, max_size=4) | st.dictionaries(any_text, inner, max_size=4),
        max_leaves=12,
    )
)
def test_scan_agrees_with_json_on_any_value(value):
    assume(isinstance(value, dict) and value)
    for indent in (None, 2):
        text = json.dumps(value, indent=indent)
        assert scan(text).spans == [(0, len(text))]
        assert scan(text, LOOSE).spans == [(0, len(text))]
        assert STRICT.decode_at(text, 0)[1] == len(text)


@settings(max_examples=100)
@given(any_text, verdicts)
def test_thought_makes_no_difference(thought, verdict):
    assume("<" not in thought and "{" not in thought)
    said = f'{{"verdict": "{verdict}"}}'
    assert read_reply(f"<think>{thought}</think>{said}") == read_reply(said)
    assert read_reply(f"{thought}</think>{said}") == read_reply(said)
    assert read_reply(f"<think>{thought}").reason is Reason.TRUNCATED


def test_every_verdict_and_reason_can_be_read():
    """Guards the lists above: a reader that says UNPARSED to everything would pass most properties."""
    texts = [f'{{"verdict": "{verdict}"}}' for verdict in Verdict]
    assert [read_reply(text).verdict for text in texts] == list(Verdict)
