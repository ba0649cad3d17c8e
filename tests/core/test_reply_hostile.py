"""Time and depth: no reply of up to 4 MiB may hold up or crash a run."""

import time

import pytest

from georefusal_task.core.records import Reason
from georefusal_task.core.reply import read_reply
from georefusal_task.core.reply_json import MAX_DEPTH
from georefusal_task.core.verdicts import Verdict

SIZE = 1_000_000
MAX_SECONDS = 2.0

OBJECT = '{"verdict": "ANSWER"}'
LABEL = "REFUSE_AMBIGUOUS_QUERY"
UNITS = [
    *(
        "{",
        "}",
        "[",
        "]",
        "{}",
        "[]",
        '"',
        "'",
        "`",
        "\\",
        '\\"',
        "“",
        "｛",
        "<",
        ">",
        "|",
        "-",
        "*",
        "_",
        ":",
        ",",
        "(",
        "/",
        "#",
    ),
    *(
        " ",
        "\n",
        "\t",
        "\xa0",
        "\0",
        "\u200b",
        "\ud800",
        "{ ",
        "{\n",
        '{"',
        '{" ',
        '{"\\',
        '":',
        '{"":',
        '{"":1x',
        '{"a":1,',
    ),
    *(
        '{"a":',
        '{"a":[',
        '{"a":[[],',
        '{"a":{},',
        '{"a":1}x',
        "{'a':",
        "{a:",
        '["',
        '["[",',
        "{[",
        '"}',
        '",',
        '", "',
        '"\n',
    ),
    *(
        '"verdict":-',
        '"verdict": "x", ',
        "{&quot;verdict",
        "```(",
        "{1",
        "```",
        "```json\n",
        '```\n"',
        "~~~\n",
        "<think>",
        "</think>",
        "<think></think>",
        "</thinking><think>",
        "<think ",
        "< think>",
    ),
    *(
        "verdict",
        "verdict ",
        "verdict:",
        "verdict: [",
        ",verdict:[",
        ',verdict:"',
        "Verdict is ",
        "verdict for a ",
        "<verdict>",
    ),
    *(
        "{verdict",
        "{verdict:",
        "{verdict,",
        '{"verdict":',
        '{"verdict": x',
        '{"verdict": "ANSWER ',
        '{"verdict": "ANSWER", ',
    ),
    *(
        "{'verdict': ",
        "{'verdict': '",
        "{'verdict': 'ANSWER', ",
        "{“verdict”: “",
        '{\\"verdict\\": \\"',
        "{&quot;verdict&quot;:",
    ),
    *(
        OBJECT,
        OBJECT + "\n",
        OBJECT + "{",
        "{'verdict': 'ANSWER'} ",
        '{"verdict": ["ANSWER",',
        '{"verdict": [',
        '"verdict": "A", ',
    ),
    *(
        '{"a": "{\\"verdict\\": \\"ANSWER\\"}"}',
        '"{\\"verdict\\":',
        '```\n"{\\"verdict\\": \\"ANSWER\\"}"\n',
        '{"\\u0076":',
    ),
    *(
        LABEL,
        LABEL + " ",
        LABEL + "\n",
        LABEL + " and ",
        f"verdict: {LABEL}",
        f"Verdict: {LABEL}\n",
        f"if verdict: {LABEL} ",
    ),
    *(
        f"verdict: {LABEL} and ",
        f"\\boxed{{{LABEL}}}",
        "\\boxed{",
        "ANSWER ",
        "Answer: C ",
        "C\n",
        "C. ",
        "option ",
        "yes ",
        "yes\n",
    ),
]
STARTS = {
    "behind an object": OBJECT,
    "in a broken object": '{"verdict": "ANSWER", "justification": "the "ship" ',
    "in a broken Python object": "{'verdict': 'ANSWER', 'justification': 'the ship ",
}
COMMON = [
    "{",
    "[",
    '{"a":',
    '{"verdict":',
    "{'verdict': '",
    '"',
    "\\",
    "```json\n",
    "<think>",
    OBJECT,
    f"Verdict: {LABEL}\n",
    " ",
]


def seconds(text, kind="verdict"):
    """Return the processor time that reading takes; the best of three where a busy machine may have added to it."""
    found = []
    for _ in range(3):
        start = time.process_time()
        read_reply(text, kind)
        found.append(time.process_time() - start)
        if found[-1] < MAX_SECONDS / 8:
            break
    return min(found)


def repeated(unit, start="", end="", size=SIZE):
    return start + (unit * (size // len(unit) + 1))[: size - len(start) - len(end)] + end


@pytest.mark.parametrize("unit", COMMON)
def test_a_hostile_megabyte_is_read_in_time(unit):
    assert seconds(repeated(unit, STARTS["in a broken object"])) < MAX_SECONDS


@pytest.mark.slow
@pytest.mark.parametrize("unit", UNITS)
def test_every_hostile_megabyte_is_read_in_time(unit):
    assert seconds(repeated(unit)) < MAX_SECONDS


@pytest.mark.slow
@pytest.mark.parametrize("start", STARTS.values(), ids=STARTS.keys())
@pytest.mark.parametrize("unit", UNITS)
def test_what_stands_around_it_does_not_matter(unit, start):
    """A quarter of the size in a quarter of the time."""
    assert seconds(repeated(unit, start, end="{'verdict': 'ANSWER'}", size=SIZE // 4)) < MAX_SECONDS / 4


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["letter", "yes_no"])
@pytest.mark.parametrize("unit", UNITS)
def test_the_other_kinds_too(unit, kind):
    assert seconds(repeated(unit, size=SIZE // 4), kind) < MAX_SECONDS / 4


@pytest.mark.slow
def test_the_largest_reply_takes_four_times_as_long():
    assert seconds('{"verdict": "ANSWER ' * 200_000) < 4 * MAX_SECONDS


@pytest.mark.parametrize(
    "text",
    [
        "[" * 100_000,
        "[" * 100_000 + "]" * 100_000,
        "{" * 100_000,
        '{"a":' * 100_000,
        '{"a":' * 100_000 + "1" + "}" * 100_000,
        '{"a":[' * 50_000,
        "{'a':" * 100_000,
        '{"verdict":' * 100_000,
        '{"verdict":' * 100_000 + '"ANSWER"' + "}" * 100_000,
        '{"a":' * 100_000 + OBJECT + "}" * 100_000,
        "{'verdict':" * 100_000 + "'ANSWER'" + "}" * 100_000,
        '{"verdict":' + "[" * 100_000 + '"ANSWER"' + "]" * 100_000 + "}",
    ],
    ids=lambda text: text[:12],
)
def test_nesting_without_end_is_too_deep(text):
    for kind in ("verdict", "letter"):
        assert read_reply(text, kind).reason is Reason.TOO_DEEP
    assert read_reply(text, "yes_no").verdict is None


@pytest.mark.parametrize("depth", [1, 50, MAX_DEPTH - 1])
@pytest.mark.parametrize("wrapping", [('{"a":', "}"), ('{"a":[', "]}"), ('{"verdict":', "}")])
def test_depth_within_the_limit_is_read(depth, wrapping):
    times = depth // wrapping[0].count("[") if "[" in wrapping[0] else depth
    times = min(times, (MAX_DEPTH - 1) // (1 + wrapping[0].count("[")))
    assert read_reply(wrapping[0] * times + OBJECT + wrapping[1] * times).verdict is Verdict.ANSWER


@pytest.mark.parametrize("rubbish", ["[" * 100_000, "{" * 100_000, "}" * 100_000, '{"a":' * 100_000, "<think>" * 1_000])
def test_an_answer_before_the_rubbish_counts(rubbish):
    """Models that have answered may go on with one token until the limit."""
    assert read_reply(OBJECT + rubbish).verdict is Verdict.ANSWER
