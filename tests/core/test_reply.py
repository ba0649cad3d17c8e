"""The reply reader against replies of every kind that models are known to give.

Each table row is (reply, verdict or reason); the comment before a group names what went wrong elsewhere.
"""

import json
import sys
from pathlib import Path

import pytest

from georefusal_task.benchmarks.prompts import PROMPTS
from georefusal_task.core.records import Flag, Reason, ReplyForm, Status
from georefusal_task.core.reply import read_reply
from georefusal_task.core.verdicts import VERDICTS, Verdict

GOLDEN_FILE = Path(__file__).parents[1] / "data" / "replies.jsonl"
GOLDEN = [json.loads(line) for line in GOLDEN_FILE.read_text("utf-8").splitlines()]

A, M, G, Q, F, N = VERDICTS
ALL_SIX = ", ".join(VERDICTS)
JSON, REPAIRED, PROSE = Status.JSON, Status.REPAIRED, Status.PROSE
EMPTY, TRUNCATED, ECHO, CONFLICT = Reason.EMPTY, Reason.TRUNCATED, Reason.ECHO, Reason.CONFLICT
UNKNOWN, MENTION, NO_VERDICT = Reason.UNKNOWN_VERDICT, Reason.MENTION, Reason.NO_VERDICT


@pytest.mark.parametrize("case", GOLDEN, ids=lambda case: case["id"])
def test_golden(case):
    reply = read_reply(case["text"])
    assert reply.verdict == case["verdict"]
    assert reply.status in case["status"]
    if case["reason"] is not None:
        assert reply.reason == case["reason"]


def check(text, expected, status=None):
    reply = read_reply(text)
    if isinstance(expected, Reason):
        assert (reply.verdict, reply.status, reply.reason) == (None, Status.UNPARSED, expected)
    else:
        assert (reply.verdict, reply.status, reply.reason) == (expected, status, None)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # one object in another, lists of one
        (f'{{"verdict": {{"verdict": "{G}"}}}}', G),
        (f'{{"verdict": "{G}", "details": {{"verdict": "ANSWER"}}}}', G),
        (f'{{"details": {{"verdict": "ANSWER"}}, "verdict": "{G}"}}', G),
        (f'{{"verdict": [["{G}"]]}}', G),
        (f'[[{{"verdict": "{G}"}}]]', G),
        ('{"properties": {"verdict": "ANSWER", "answer": "yes"}}', A),
        ('<tool_call>\n{"name": "reply", "arguments": {"verdict": "ANSWER"}}\n</tool_call>', A),
        # keys in any case, keys and values written with escapes
        ('{"VERDICT": "ANSWER", "Answer": "yes"}', A),
        ('{"\\u0076erdict": "\\u0041NSWER"}', A),
        ('{"verdict": "ANSWER", "Verdict": "answer"}', A),
        # the last object counts, whatever the others are for
        (f'{{"verdict": "ANSWER"}}, {{"verdict": "{G}"}}', G),
        (f'[{{"verdict": "ANSWER"}}, {{"verdict": "{G}"}}]', G),
        ('{"verdict": "<one of the six verdicts>", "answer": ""}\n{"verdict": "ANSWER"}', A),
        ('{"verdict": ..., "answer": ..., "justification": ...}\n{"verdict": "ANSWER"}', A),
        ('{"verdict": "ANSWER"}\nI used the form {"verdict": ..., "answer": ..., "justification": ...}.', A),
        ('{"type": "object", "properties": {"verdict": {"type": "string"}}} {"verdict": "ANSWER"}', A),
        ('{"verdict": "ANSWER"}\n{"verdict": "ANS', A),
        ('Use {verdict} or {a, b}: {"verdict": "ANSWER"} and {c', A),
        ('{"verdict": "ANSWER"} Verdict: REFUSE_NONFACTUAL_QUERY', A),
        # objects in strings
        ('"{\\"verdict\\": \\"ANSWER\\", \\"answer\\": \\"yes\\"}"', A),
        ('```json\n"{\\"verdict\\": \\"ANSWER\\"}"\n```', A),
        ('{"name": "reply", "arguments": "{\\"verdict\\": \\"ANSWER\\"}"}', A),
        (json.dumps(json.dumps(json.dumps({"verdict": "ANSWER"}))), A),
        # fences and what is broken around them
        ('```\n{"verdict": "ANSWER"}', A),
        ('````markdown\n```json\n{"verdict": "ANSWER"}\n```\n````', A),
        ('~~~json\n{"verdict": "ANSWER"}\n~~~', A),
        ('"verdict" is {"verdict": "ANSWER"}"', A),
        ('{"answer": "yes", "justification": "x"} {"verdict": "ANSWER"}', A),
        ('["see {"verdict": "ANSWER"}', A),
        ('15" of {"verdict": "ANSWER"}', A),
        ('{"response": {"verdict": "ANSWER"}, "no', A),
        # numbers as Python's json reads them; more digits than int() takes
        ('{"verdict": "ANSWER", "x": NaN, "y": -Infinity, "z": 1e999}', A),
        ('{"verdict": "ANSWER", "x": ' + "9" * 5_000 + "}", A),
        # lone surrogates
        ('{"verdict": "ANSWER", "justification": "\\ud800"}', A),
        ('{"verdict": "ANSWER", "justification": "\ud800"}', A),
    ],
)
def test_strict_json(text, expected):
    check(text, expected, JSON)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # Python, JavaScript, YAML-like
        ("{'verdict': 'ANSWER', 'answer': True, 'confidence': .8}", A),
        (f"{{'verdict': ['{G}']}}", G),
        (f"{{'verdict': ('{G}',)}}", G),
        ("{verdict: 'ANSWER', answer: 'yes',}", A),
        ("{verdict: ANSWER}", A),
        (f"{{verdict: {G}, answer: }}", G),
        ('{"verdict" = "ANSWER"}', A),
        ('{"verdict" => "ANSWER"}', A),
        ('{"verdict": "ANSWER"; "answer": "yes"}', A),
        # quotes and commas that are missing, doubled or of another kind
        ('{"verdict": "ANSWER" "answer": "yes"}', A),
        ('{"verdict": "ANSWER"\n"answer": "yes"}', A),
        ('{"verdict": "ANSWER, "answer": "yes"}', A),
        ('{verdict": "ANSWER", "answer": "yes"}', A),
        ('{"verdict": `ANSWER`}', A),
        ('{"answer": "yes",, "verdict": "ANSWER"}', A),
        ('{“verdict”: “ANSWER”, “justification”: “the "ship" lies”}', A),
        ("{„verdict“: „ANSWER“}", A),
        ('{"verdict": "ANSWER", "justification": "das „Schiff" liegt"}', A),
        ("｛＂verdict＂：＂ANSWER＂｝", A),
        ('{"verdict"："ANSWER"，"answer"："yes"}', A),
        ('{"verdict":\x00"ANSWER"}', A),
        ('{\u3000"verdict":\u202f"ANSWER"}', A),
        ("{&quot;verdict&quot;: &quot;ANSWER&quot;}", A),
        ('{\\"verdict\\": \\"ANSWER\\", \\"answer\\": \\"yes\\"}', A),
        ('{"verdict" "ANSWER", "answer" "yes"}', A),
        ("{\n  verdict: ANSWER\n  answer: yes\n}", A),
        # escapes that JSON does not know; some models write \_ for every underscore
        ('{"verdict": "REFUSE\\_GRANULARITY\\_MISMATCH"}', G),
        ('{"verdict": "ANSWER", "justification": "50\\% of C:\\path"}', A),
        ("{'verdict': 'ANSWER', 'justification': 'it\\'s a ship, isn't it'}", A),
        ('{"verdict": "ANSWER", // sure\n"answer": "yes", # very\n}', A),
        # the object that closes last counts, also among broken ones
        (f"Draft: {{\"verdict\": \"ANSWER\"}}\nFinal: {{'verdict': '{G}'}}", G),
        (f"Draft: {{“verdict”: “ANSWER”}}\nFinal: {{'verdict': '{G}'}}", G),
        (f'{{"verdict": "ANSWER", "details": {{"verdict": "{G}"}},}}', A),
        (f"{{'verdict': 'ANSWER', 'details': {{'verdict': '{G}'}}}}", A),
        (f"{{'verdict': 'ANSWER', 'justification': 'not {{\"verdict\": \"{G}\"}} here'}}", A),
    ],
)
def test_mended_json(text, expected):
    check(text, expected, REPAIRED)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # a key, a heading, a tag, a table, LaTeX, a sentence
        (f"verdict: {G}\nanswer:\njustification: too small", G),
        (f"verdict = {G}", G),
        (f"Verdict - {G}", G),
        (f"Verdict → {G}", G),
        (f"verdict：{G}", G),
        (f"dict(verdict='{G}', answer='')", G),
        (f"## Verdict\n{G}\n\n## Justification\nToo small.", G),
        (f"## Verdict\n\n**{G}**\n", G),
        (f"## Verdict: {G}", G),
        (f"<verdict>{G}</verdict><answer></answer>", G),
        (f"<verdict>\n{G}\n</verdict>", G),
        (f'<reply verdict="{G}"/>', G),
        (f"| Verdict | {G} |\n| Answer | |", G),
        (f"\\boxed{{{G}}}", G),
        (f"$\\boxed{{\\text{{{G}}}}}$", G),
        ("\\boxed{REFUSE\\_GRANULARITY\\_MISMATCH}", G),
        ("Verdict: REFUSE\\_GRANULARITY\\_MISMATCH", G),
        (f"My verdict is {G} because the cars are small.", G),
        (f"The verdict for this question is therefore {G}.", G),
        (f"Final verdict: `{G}`, not ANSWER", G),
        (f"Verdict (final): {G}", G),
        (f"The verdict should be {G}.", G),
        (f"**Verdict:**\n{G} \u2014 the cars are small", G),
        (f"verdict: >\n  {G}", G),
        # what the prompt says, restated, is no statement
        (f'The form is {{"verdict": ..., "answer": ..., "justification": ...}}. Verdict: {G}', G),
        (f'"answer" is "yes" when the verdict is ANSWER, otherwise "". Verdict: {G}', G),
        # the last statement counts
        (f"Verdict: ANSWER\nOn reflection: verdict: {G}", G),
        (f"ANSWER\nNo, wait. The verdict is {G}.", G),
        (f"Choose exactly one verdict:\n- ANSWER: in the image.\n- {G}: x.\n\nMy verdict: {G}", G),
        (f"Choose one verdict: {ALL_SIX}. Reply with JSON.\n{G}", G),
        # the label alone, on the first or last line
        (f"{G}\nANSWER would need finer pixels, {Q} two tanks.", G),
        (f"**{G}**", G),
        (f"`{G}`.", G),
        (f'"{G}"', G),
        (f"\ufeff{G}\u200b", G),
        ("ANSWER\nYes, there is a ship.", A),
        (f"```\n{G}\n```", G),
        (f"{G}\n{G}", G),
        (f'<think>draft {{"verdict": "ANS</think>Verdict: {G}', G),
        # a statement beside an object that has none
        (f'{{"answer": "", "justification": "x"}}\nVerdict: {G}', G),
    ],
)
def test_prose(text, expected):
    check(text, expected, PROSE)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        # an object that gives no single verdict ends the reading
        (f'{{"verdict": "ANSWER", "verdict": "{G}"}}', CONFLICT),
        (f'{{"verdict": "ANSWER", "\\u0076erdict": "{G}"}}', CONFLICT),
        ('{"verdict": "ANSWER", "Verdict": null}', CONFLICT),
        (f"{{'verdict': 'ANSWER', 'verdict': '{G}'}}", CONFLICT),
        (f'{{"verdict": "ANSWER | {G}"}}', CONFLICT),
        (f'{{"verdict": "ANSWER or {G}"}}', CONFLICT),
        ('{"verdict": "answer/ambiguous"}', CONFLICT),
        (f'{{"verdict": ["ANSWER", "{G}"]}}', CONFLICT),
        (f"{{'verdict': ['ANSWER', '{G}']}}", CONFLICT),
        (f'{{"verdict": "ANSWER", "{G}", "answer": "yes"}}', CONFLICT),
        (f'{{"verdict": "ANSWER" or "{G}"}}', CONFLICT),
        ('{"verdict": ""}', NO_VERDICT),
        ('{"verdict": []}', NO_VERDICT),
        ('{"verdict": [null]}', NO_VERDICT),
        ("{'verdict': None}", NO_VERDICT),
        ('{"verdict": , "answer": "yes"}', NO_VERDICT),
        ('{"verdict": 1}', UNKNOWN),
        ('{"verdict": true}', UNKNOWN),
        ('{"verdict": {}}', UNKNOWN),
        (f'{{"verdict": {{"value": "{G}"}}}}', UNKNOWN),
        ('{"verdict": "<one of the six verdicts>", "answer": ""}', UNKNOWN),
        ('{"verdict": ..., "answer": ..., "justification": ...}', NO_VERDICT),
        (f'{{"verdict": "not {G}"}}', UNKNOWN),
        ('{"verdict": "REFUSE_MAYBE"}\nVerdict: ANSWER', UNKNOWN),
        ('{"verdict": "ANSWER"}\n{"verdict": "REFUSE_MAYBE"}', UNKNOWN),
        ('{"verdict": "ANSWER"}\n{"verdict": null}', NO_VERDICT),
        # the form and its schema are no reply
        (f'{{"verdict": "{ALL_SIX}"}}', ECHO),
        (json.dumps({"verdict": [*VERDICTS]}), ECHO),
        (json.dumps(ReplyForm.model_json_schema()), ECHO),
        (f"{{'type': 'object', 'properties': {{'verdict': {{'enum': ['ANSWER', '{G}']}}}}}}", ECHO),
        (f"Choose one verdict: {ALL_SIX}.", ECHO),
        ("\n".join(VERDICTS), ECHO),
        ("- " + ": x\n- ".join(VERDICTS), ECHO),
        # an object without a verdict, and what it says elsewhere, is none
        (f'{{"answer": "yes", "justification": "my verdict is {G}"}}', NO_VERDICT),
        (f'{{"label": "{G}"}}', NO_VERDICT),
        (json.dumps({"answer": "yes", "justification": '{"verdict": "ANSWER"}'}), NO_VERDICT),
        ('{"final_verdict": "ANSWER"}', NO_VERDICT),
        # cut off before the verdict is complete
        ('{"verdict": "ANSWER', TRUNCATED),
        ('{"verdict": "REFUSE_AMBIGUOUS', TRUNCATED),
        ('{"verdict": ["ANSWER", "REF', TRUNCATED),
        ('{"a": {}"verdict":', TRUNCATED),
        ('{"a": {"b": [1]}, "verdict"', TRUNCATED),
        ("{'verdict': 'ANSWER", TRUNCATED),
        ("{'verdict", TRUNCATED),
        ("{“verdict”: “REFUSE_GRANUL", TRUNCATED),
        ("{'answer': 'yes', 'verd", TRUNCATED),
        (f'{{"answer": "yes", "justification": "my verdict is {G}', TRUNCATED),
        # cut off while the earlier verdict was being taken back
        ('{"verdict": "ANSWER"}\nCorrection: {"verdict": "REFUSE_GR', TRUNCATED),
        # prose that states nothing
        (f"The verdict is not {G}.", MENTION),
        (f"Is the verdict {G}?", MENTION),
        (f"Verdict: {G}?", MENTION),
        ("If the cars were larger, the verdict is ANSWER.", MENTION),
        ("The verdict is ANSWER if the pier is visible.", MENTION),
        ("ANSWER: yes", MENTION),
        ("The answer is ANSWER", MENTION),
        (f"Mein Urteil: {G}", MENTION),
        ("Possible verdict: ANSWER", MENTION),
        ("The verdict is ANSWER, otherwise nothing.", MENTION),
        ("For example, verdict: ANSWER", MENTION),
        (f"- {G}", MENTION),
        (f"Verdict: ANSWER -> {G}", CONFLICT),
        (f"Verdict: ~~ANSWER~~ {G}", CONFLICT),
        (f"Verdict: {G} or ANSWER", CONFLICT),
        (f"Verdict: ANSWER and/or {G}", CONFLICT),
        (f"Verdict: ANSWER vs {G}", CONFLICT),
        (f"Verdict: ANSWER + {G}", CONFLICT),
        (f"Verdict: ANSWER (or {G})", CONFLICT),
        (f"Verdict: ANSWER ({G})", CONFLICT),
        (f"Verdict: ANSWER {G}", CONFLICT),
        (f"Verdict:\n- ANSWER\n- {G}", CONFLICT),
        ("The wrong verdict: ANSWER", MENTION),
        ("No verdict: ANSWER is impossible", MENTION),
        ("It is unclear which verdict is ANSWER", MENTION),
        ("Verdict: ANSWER is wrong here, so I refuse.", MENTION),
        ("\u3000\n\u2003\u2028\x85", EMPTY),
        (f"{G}: the cars are small, so not ANSWER.", CONFLICT),
        (f"ANSWER\n{G}", CONFLICT),
        (f"Choose exactly one verdict:\n- ANSWER: in the image.\n- {G}: x.", CONFLICT),
        ("verdict: refuse_granularity_mismatch", NO_VERDICT),
        ("Verdict: yes", NO_VERDICT),
        ("REFUSE_GRANULARITY", NO_VERDICT),
        ("UNANSWERABLE", NO_VERDICT),
        ("答えはありません。", NO_VERDICT),
        # nothing at all
        ("\ufeff", EMPTY),
        ("\u200b\n\x00", EMPTY),
        ("<think>hm</think>", EMPTY),
        ("```json\n```", NO_VERDICT),
    ],
)
def test_unparsed(text, reason):
    check(text, reason)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f'<analysis>{{"verdict": "{G}"}}</analysis>{{"verdict": "ANSWER"}}', A),
        (f'<REASONING>{{"verdict": "{G}"}}</REASONING>\n{{"verdict": "ANSWER"}}', A),
        (f'<think>a<think>b</think>{{"verdict": "{G}"}}</think>{{"verdict": "ANSWER"}}', A),
        (f'<think lang="en">I use <analysis> tags</think>{{"verdict": "{G}"}}', G),
        (f'<think>ANSWER</thinking>{{"verdict": "{G}"}}', G),
        (f'ANSWER</think>\n</think>{{"verdict": "{G}"}}', G),
        (f'{{"verdict": <think>ANSWER</think> "{G}"}}', G),
        (f'<think>{{"verdict": "ANSWER"}}</think> <think>x</think>{{"verdict": "{G}"}}<think>or ANSWER', G),
        (f'{{"verdict": "{G}", "justification": "the <think> tag"}}', G),
        (f'Here:\n{{"verdict": "{G}", "justification": "the </think> tag"}}', G),
        (f'<think>quote ["</think>"]</think>{{"verdict": "{G}"}}', G),
        (f'<think>draft {{"verdict": "ANS</think>{{"verdict": "{G}"}}', G),
        (f'<think/>{{"verdict": "{G}"}}', G),
        (f'<analysis-result>{{"verdict": "{G}"}}</analysis-result>', G),
    ],
)
def test_thought_is_cut(text, expected):
    check(text, expected, JSON)


@pytest.mark.parametrize(
    "text", ["<think>", "<Think> Verdict: ANSWER", '<think>{"verdict": "ANSWER"}', "Hm.<thought>ANSWER"]
)
def test_unclosed_thought_is_no_reply(text):
    check(text, TRUNCATED)
    assert read_reply(text).flags == (Flag.TRUNCATED,)


@pytest.mark.parametrize(
    ("spelling", "verdict"),
    [
        ("answer", A),
        (" ANSWER ", A),
        ("**ANSWER**", A),
        ("<ANSWER>", A),
        ("ANSWER.", A),
        ("ＡＮＳＷＥＲ", A),
        ("AN\u00adSW\u2060ER", A),
        ("\ufeffANSWER", A),
        ("Refuse Granularity Mismatch", G),
        ("refuse-granularity_mismatch", G),
        ("REFUSE\u2011AMBIGUOUS\u2011QUERY", Q),
        ("Ambiguous query", Q),
        ("INFO_MISSING", M),
        ("info missing", M),
        ("INFO_MISSING_IN_CONTEXT", M),
        ("GRANULARITY", G),
        ("ambiguous", Q),
        ("False premise", F),
        ("non-factual", N),
        ("nonfactual query", N),
    ],
)
def test_forgiven_spelling(spelling, verdict):
    check(json.dumps({"verdict": spelling}), verdict, JSON)
    check(json.dumps({"verdict": spelling}, ensure_ascii=False), verdict, JSON)


@pytest.mark.parametrize(
    "spelling",
    [
        *("REFUSE_GRANULARITY_MISSMATCH", "AMBIGIOUS", "ANSWERED", "UNANSWERABLE", "REFUSE REFUSE_AMBIGUOUS_QUERY"),
        *("REFUSE", "REFUSE_OTHER", "REFUSE_QUERY", "INFO", "MISMATCH", "PREMISE", "FACTUAL"),
        *("yes", "A", "NOT ANSWER", "ANSWER yes", "?", "x" * 100_000),
        "\u0410NSWER",  # begins with a Cyrillic letter
    ],
)
def test_near_misses_stay_unknown(spelling):
    check(json.dumps({"verdict": spelling}), UNKNOWN)


@pytest.mark.parametrize(
    ("given", "read"),
    [
        ("true", "yes"),
        ("false", "no"),
        ("3", "3"),
        ("2.5", "2.5"),
        ("null", ""),
        ('"Yes."', "yes"),
        ('"**No**"', "no"),
        ('"yes, there is a ship"', "yes"),
        ('"True"', "yes"),
        ('"not sure"', "not sure"),
        ('"Yes and no"', "Yes and no"),
        ('" two ships "', "two ships"),
        ('["yes"]', "yes"),
        ("{}", ""),
    ],
)
def test_answer_is_text(given, read):
    assert read_reply(f'{{"verdict": "ANSWER", "answer": {given}}}').answer == read
    assert read_reply(f'{{"verdict": "REFUSE_AMBIGUOUS_QUERY", "answer": {given}}}').answer == ""


@pytest.mark.parametrize(
    ("given", "read"),
    [
        *(("0.8", 0.8), ("1", 1.0), ("0", 0.0)),
        *((other, None) for other in ("1.01", "-0.1", "95", "true", '"0.8"', "null", "NaN", "Infinity", "[0.5]")),
    ],
)
def test_confidence_is_a_number_from_0_to_1(given, read):
    assert read_reply(f'{{"verdict": "ANSWER", "confidence": {given}}}').confidence == read


def test_cut_off_number_is_no_confidence():
    # 0.9 may be the beginning of 0.95
    assert read_reply('{"verdict": "ANSWER", "confidence": 0.9').confidence is None


def test_fields_survive_mending_and_cutting():
    reply = read_reply("{'verdict': 'ANSWER', 'answer': True, 'justification': 'a \"big\" ship', 'confidence': 0.5,}")
    assert (reply.answer, reply.justification, reply.confidence) == ("yes", 'a "big" ship', 0.5)
    cut = read_reply('{"verdict": "ANSWER", "answer": "yes", "justification": "a ship \\u00e')
    assert (cut.answer, cut.justification, cut.flags) == ("yes", "a ship ", (Flag.TRUNCATED,))


@pytest.mark.parametrize(
    ("text", "flags"),
    [
        (f'{{"verdict": "ANSWER"}} {{"verdict": "{G}"}}', (Flag.SELF_CORRECTED,)),
        ('{"verdict": "ANSWER"} {"verdict": "ANSWER"}', ()),
        (f"{{'verdict': 'ANSWER'}} {{\"verdict\": \"{G}\"}}", ()),  # strict JSON does not look for broken drafts
        (f'{{"verdict": "ANSWER"}} {{"verdict": "{G}"', (Flag.SELF_CORRECTED, Flag.TRUNCATED)),
        (f"Verdict: ANSWER\nVerdict: {G}", (Flag.SELF_CORRECTED,)),
        (f"Verdict: {G}\nVerdict: {G}", ()),
        ('{"verdict": "ANSWER"} {"verdict": null}', ()),
        ('{"verdict": "ANSWER"', (Flag.TRUNCATED,)),
        ("{verdict: ANSWER, answer: yes", (Flag.TRUNCATED,)),
        ('{"verdict": "ANSWER"}<think>', (Flag.TRUNCATED,)),
        ('{"verdict": "ANSWER"} {"verdict": "AN', (Flag.TRUNCATED,)),
        ('{"verdict": "REFUSE_MAYBE"} {"verdict": "ANSWER"}', ()),
    ],
)
def test_flags(text, flags):
    assert read_reply(text).flags == flags


@pytest.mark.parametrize(
    "text",
    [
        "[LMMS_EVAL_REQUEST_FAILED after 3 retries] 429",
        "[LMMS_EVAL_BUDGET_EXCEEDED]\n",
        "Error: can only concatenate str",
    ],
)
def test_failed_requests_are_host_errors(text):
    check(text, Reason.HOST_ERROR)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        # each text fits two reasons; the earlier one in the order of Reason is given
        (" " * (4 * 1024 * 1024 + 1), EMPTY),
        ("[LMMS_EVAL_" + "x" * (4 * 1024 * 1024), Reason.HOST_ERROR),
        ("{" * (4 * 1024 * 1024 + 1), Reason.TOO_LONG),
        ('{"a":' * 1_000, Reason.TOO_DEEP),
        ("<think>" + '{"a":' * 100 + ALL_SIX, TRUNCATED),
        (f"Hm, {ALL_SIX} <think>", TRUNCATED),
        (f'{{"verdict": "{ALL_SIX} or MAYBE"}}', ECHO),
        (f'{{"verdict": "ANSWER or {G} or MAYBE"}}', CONFLICT),
        ("{'verdict': 'MAYBE', 'verdict': ", TRUNCATED),
    ],
)
def test_order_of_reasons(text, reason):
    check(text, reason)


def test_a_deep_stack_of_the_caller_is_survived():
    text = '{"a":' * 450 + '{"verdict": "ANSWER"}' + "}" * 450

    def call(depth):
        return read_reply(text) if depth == 0 else call(depth - 1)

    assert call(0).verdict is Verdict.ANSWER
    assert call(sys.getrecursionlimit() - 450).reason in (Reason.TOO_DEEP, None)


@pytest.mark.parametrize("prompt", PROMPTS.values(), ids=PROMPTS)
def test_a_prompt_or_any_beginning_of_it_is_no_reply(prompt):
    """Models that go on with the prompt instead of answering must not be read as if they had chosen."""
    whole = prompt.instruction + "\n\nQuestion: Is there a ship at the quay?"
    for end in range(len(whole) + 1):
        assert read_reply(whole[:end]).verdict is None
    assert read_reply(whole, prompt.reply).verdict is None


@pytest.mark.parametrize(
    "prompt", [prompt for prompt in PROMPTS.values() if prompt.reply != "yes_no"], ids=lambda p: p.name
)
@pytest.mark.parametrize("answer", [f'{{"verdict": "{G}", "answer": ""}}', f"Verdict: {G}", f"My verdict is {G}.", G])
def test_a_restated_prompt_does_not_hide_the_answer(prompt, answer):
    assert read_reply(f"{prompt.instruction}\n\n{answer}", prompt.reply).verdict is Verdict.GRANULARITY


def test_limit_of_length_is_in_bytes():
    object_text = '{"verdict": "ANSWER", "justification": "%s"}'
    assert read_reply(object_text % ("é" * (2 * 1024 * 1024 - 100))).verdict is Verdict.ANSWER
    assert read_reply(object_text % ("é" * (2 * 1024 * 1024))).reason is Reason.TOO_LONG
