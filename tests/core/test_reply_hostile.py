"""Time and depth: no reply of up to 4 MiB may hold up or crash a run."""

import time

import pytest

from georefusal_task.core.records import Reason
from georefusal_task.core.reply import read_reply
from georefusal_task.core.reply_json import MAX_DEPTH
from georefusal_task.core.verdicts import Verdict

SMALL, LARGE = 16_000, 128_000
MAX_GROWTH = 24
"""Eight times the text takes 8 times as long in linear time, 64 times in quadratic; seconds are counted in bench/."""

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


def growth(text_of_size, kind="verdict"):
    """Return how many times as long the large text takes as the small one, in processor time.

    A busy machine can only add to a time, so the best of up to five counts.
    """
    small = large = float("inf")
    for _ in range(5):
        small, large = (
            min(best, _seconds(text_of_size(size), kind)) for best, size in ((small, SMALL), (large, LARGE))
        )
        if large < MAX_GROWTH / 2 * small:
            break
    return large / max(small, 1e-4)  # what takes no time at all has nothing to grow


def _seconds(text, kind):
    start = time.process_time()
    read_reply(text, kind)
    return time.process_time() - start


def repeated(unit, size, start="", end=""):
    return start + (unit * (size // len(unit) + 1))[: size - len(start) - len(end)] + end


@pytest.mark.parametrize("unit", COMMON)
def test_a_hostile_reply_takes_linear_time(unit):
    assert growth(lambda size: repeated(unit, size, STARTS["in a broken object"])) < MAX_GROWTH


@pytest.mark.slow
@pytest.mark.parametrize("unit", UNITS)
def test_every_hostile_reply_takes_linear_time(unit):
    assert growth(lambda size: repeated(unit, size)) < MAX_GROWTH


@pytest.mark.slow
@pytest.mark.parametrize("start", STARTS.values(), ids=STARTS.keys())
@pytest.mark.parametrize("unit", UNITS)
def test_what_stands_around_it_does_not_matter(unit, start):
    assert growth(lambda size: repeated(unit, size, start, end="{'verdict': 'ANSWER'}")) < MAX_GROWTH


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["letter", "yes_no"])
@pytest.mark.parametrize("unit", UNITS)
def test_the_other_kinds_too(unit, kind):
    assert growth(lambda size: repeated(unit, size), kind) < MAX_GROWTH


def test_quadratic_time_would_be_seen(monkeypatch):
    """The yardstick itself: a reader that looks at every prefix is told from one that does not."""
    monkeypatch.setitem(
        globals(), "read_reply", lambda text, _: [text[:end].count("x") for end in range(0, len(text), 16)]
    )
    assert growth(lambda size: repeated("{", size)) > MAX_GROWTH


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
