"""What the repair library must not do to a reply."""

import subprocess
import sys

import json_repair
import pytest

from georefusal_task.core.records import Reason, Status
from georefusal_task.core.reply import read_reply
from georefusal_task.core.reply_repair import MAX_REPAIR
from georefusal_task.core.verdicts import Verdict

BROKEN = "{'verdict': 'REFUSE_AMBIGUOUS_QUERY', 'answer': '', 'justification': 'two tanks'}"


@pytest.fixture
def library(monkeypatch):
    """Return a list of the texts that the library was handed; what it gives back can be set with `library.result`."""

    class Calls(list):
        result = None

    calls, original = Calls(), json_repair.loads

    def loads(text, **options):
        calls.append(text)
        if isinstance(calls.result, Exception):
            raise calls.result
        return original(text, **options) if calls.result is None else calls.result

    monkeypatch.setattr(json_repair, "loads", loads)
    return calls


def test_the_library_is_imported_only_when_needed():
    code = (
        "import sys; from georefusal_task.core.reply import read_reply; "
        "read_reply('{\"verdict\": \"ANSWER\"}'); read_reply('Verdict: ANSWER'); "
        "assert 'json_repair' not in sys.modules; "
        f"read_reply({BROKEN!r}); assert 'json_repair' in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize(
    "text", ["{", '{"verdict": ', '{"verdict": }', "{verdict}", '{"verdict"}', "{'verdict': ,}", '{"verdict": nil}']
)
def test_a_missing_value_is_not_filled(text):
    """In salvage mode the library fills a missing enum with its first value, ANSWER."""
    assert read_reply(text).verdict is None


@pytest.mark.parametrize(
    "invented", ["ANSWER", "REFUSE_GRANULARITY_MISMATCH", None, 3, ["ANSWER"], {"verdict": "ANSWER"}]
)
def test_a_verdict_that_is_not_in_the_text_does_not_count(library, invented):
    library.result = {"verdict": invented}
    assert read_reply(BROKEN).status is Status.UNPARSED


@pytest.mark.parametrize("result", [[], "", 0, {"answer": "yes"}, [["verdict"]]])
def test_anything_but_an_object_with_a_verdict_is_unknown(library, result):
    library.result = result
    assert read_reply(BROKEN).reason is Reason.UNKNOWN_VERDICT


def test_a_list_is_searched_for_the_object(library):
    library.result = ["Note", {"verdict": "REFUSE_AMBIGUOUS_QUERY", "justification": "two"}, {"answer": ""}]
    reply = read_reply(BROKEN)
    assert (reply.verdict, reply.justification) == (Verdict.AMBIGUOUS, "two")


@pytest.mark.parametrize("error", [RecursionError(), ValueError("nesting"), IndexError("a fault in the library")])
def test_an_error_of_the_library_is_an_unparsed_reply(library, error):
    library.result = error
    assert read_reply(BROKEN).reason is Reason.UNKNOWN_VERDICT


@pytest.mark.parametrize("verdict_first", [True, False])
def test_it_is_handed_a_bounded_stretch(library, verdict_first):
    verdict, filling = "'verdict': 'ANSWER'", "'justification': '" + "it is a long story, " * 50_000 + "'"
    text = "{" + ", ".join([verdict, filling] if verdict_first else [filling, verdict]) + "}"
    assert read_reply(text).verdict is Verdict.ANSWER
    assert [len(handed) <= MAX_REPAIR <= 64 * 1024 for handed in library] == [True]


def test_it_is_handed_only_a_part_of_what_it_would_take_seconds_for(library):
    assert read_reply("{'verdict': 'ANSWER', 'j': '" + "}" + '{["' * 10_000).verdict is Verdict.ANSWER
    assert len(library[0]) < 5_000


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        # https://github.com/mangiucugna/json_repair: quotes with commas cut the string and made up a key
        ('{"verdict": "ANSWER", "answer": "yes", "justification": "the "ship", clearly"}', "ANSWER"),
        ('{"verdict": "ANSWER", "justification": "the \\"ship\\", clearly", }', "ANSWER"),
        # a note behind the object turned it into a list
        ("{'verdict': 'ANSWER'}\nNote: [verdict] is list[str] in some schemas.", "ANSWER"),
        # None and quotes in quotes swallowed the keys behind them
        ("{'answer': None, 'justification': '12\"34\"', 'verdict': 'ANSWER'}", "ANSWER"),
        # only the last of several objects was kept, or both became a list
        ("{'verdict': 'ANSWER'}, {'verdict': 'REFUSE_AMBIGUOUS_QUERY'}", "REFUSE_AMBIGUOUS_QUERY"),
        ("{'verdict': 'ANSWER'} or rather {'verdict': 'REFUSE_AMBIGUOUS_QUERY'}", "REFUSE_AMBIGUOUS_QUERY"),
        # an extra brace before the closing fence
        ("```json\n{'verdict': 'ANSWER'}}\n```", "ANSWER"),
        # a low opening quote with a plain closing one
        ('{"verdict": "ANSWER", "justification": "das „Schiff" liegt"}', "ANSWER"),
        # braces in prose
        ("The set {a, b} and {c}: {'verdict': 'ANSWER'} in {d}", "ANSWER"),
    ],
)
def test_reported_faults(text, verdict):
    reply = read_reply(text)
    assert (reply.verdict, reply.status) == (verdict, Status.REPAIRED)
