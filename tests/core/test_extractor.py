"""The extractor against a real local server: what it is shown, what it may say, what happens when it fails."""

from pathlib import Path

import pytest
from support.server import Answer, ChatServer, Request

from georefusal_task.core.errors import ConfigError
from georefusal_task.core.extractor import Extractor, extractor_of, read_answers, read_output

ITEMS = [
    ("How many ships are there?", "5", "count"),
    ("How many ships are there?", "I believe it comes to 5, with 2 more beyond the frame.", "count"),
    ("Is there a ship?", "Yes.", "yes_no"),
    ("Is there a ship?", "Such a vessel can be made out.", "yes_no"),
    ("Is there a ship?", "Hard to say.", "yes_no"),
]


def scripted(request: Request) -> Answer:
    (text,) = request.texts
    if "comes to 5" in text or "Reply: 5" in text:
        return "5"
    return "Yes." if "made out" in text or "Reply: Yes" in text else "invalid"


def test_answers_share_and_agreement() -> None:
    with ChatServer(scripted) as server:
        answers, did = read_answers(ITEMS, Extractor(server.base_url, "small"))
    assert answers == [5, 5, "yes", "yes", None]
    assert (did.direct, did.extracted, did.failures) == (2, 2, 0)
    assert (did.share, did.agreement) == (2 / 5, 1.0)


def test_it_is_off_by_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GEOREFUSAL_EXTRACTOR", raising=False)
    assert extractor_of() is None
    answers, did = read_answers(ITEMS)
    assert answers == [5, None, "yes", None, None]
    assert (did.share, did.agreement) == (0, None)


def test_it_sees_the_question_and_the_reply_and_nothing_else() -> None:
    """A reference answer or an image in its prompt would let it answer by itself."""
    with ChatServer(scripted) as server:
        Extractor(server.base_url, "small").read("How many ships are there?", "Let me see: it comes to 5.", "count")
        (request,) = server.requests
    assert request.kinds == ["text"]
    assert request.params == {"model": "small", "temperature": 0, "max_tokens": 16}
    (text,) = request.texts
    assert text.endswith("Question: How many ships are there?\n\nReply: Let me see: it comes to 5.\n\nAnswer:")


def test_a_reply_with_braces_is_passed_on_as_it_is() -> None:
    with ChatServer(lambda request: "invalid") as server:
        Extractor(server.base_url, "small").read("{question}", '{"answer": {reply}}', "count")
        (request,) = server.requests
    assert 'Question: {question}\n\nReply: {"answer": {reply}}' in request.texts[0]


def test_nothing_is_asked_twice_not_even_in_the_next_run(tmp_path: Path) -> None:
    cache = tmp_path / "extractor.jsonl"
    with ChatServer(scripted) as server:
        first = read_answers(ITEMS, Extractor(server.base_url, "small", cache))
        asked = len(server.requests)
        assert read_answers(ITEMS, Extractor(server.base_url, "small", cache)) == first
        assert len(server.requests) == asked == 5
        read_answers(ITEMS, Extractor(server.base_url, "other", cache))
        assert len(server.requests) == 2 * asked, "another model has other replies"


def test_a_failed_request_is_invalid_counted_and_asked_again(tmp_path: Path) -> None:
    cache = tmp_path / "extractor.jsonl"
    with ChatServer(lambda request: 500) as server:
        answers, did = read_answers(ITEMS, Extractor(server.base_url, "small", cache))
    assert answers == [5, None, "yes", None, None], "what the strict reader reads stays"
    assert (did.failures, did.extracted, did.agreement) == (5, 0, None)
    with ChatServer(scripted) as server:
        answers, did = read_answers(ITEMS, Extractor(server.base_url, "small", cache))
    assert answers == [5, 5, "yes", "yes", None]


def test_no_server_at_all() -> None:
    answers, did = read_answers(ITEMS[:2], Extractor("http://127.0.0.1:9", "small", timeout_s=2))
    assert answers == [5, None]
    assert did.failures == 2


def test_an_empty_reply_of_the_server_is_a_failure() -> None:
    with ChatServer(lambda request: None) as server:
        extractor = Extractor(server.base_url, "small")
        assert extractor.read("How many?", "a few", "count") is None
    assert extractor.failures == 1


@pytest.mark.parametrize(
    "said", ["", "invalid", "maybe", "yes and no", "12 ships", "-3", "1.5", "twelve", "9" * 20, "no idea"]
)
def test_what_is_not_on_the_menu_is_invalid(said: str) -> None:
    assert read_output(said, "count") is None
    assert read_output(said, "yes_no") is None


def test_the_strict_reader_s_answer_counts_where_both_read_one() -> None:
    with ChatServer(lambda request: "7") as server:
        answers, did = read_answers(ITEMS[:1], Extractor(server.base_url, "small"))
    assert answers == [5]
    assert did.agreement == 0


def test_agreement_may_be_taken_from_a_sample() -> None:
    with ChatServer(scripted) as server:
        _, did = read_answers(ITEMS, Extractor(server.base_url, "small"), compare=lambda number: number == 2)
        assert len(server.requests) == 4
    assert did.compared == 1


def test_the_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GEOREFUSAL_EXTRACTOR", "http://127.0.0.1:8000/v1, org/model")
    extractor = extractor_of()
    assert extractor is not None
    assert (extractor.url, extractor.model) == ("http://127.0.0.1:8000/v1", "org/model")


@pytest.mark.parametrize("setting", ["org/model", "http://127.0.0.1:8000/v1", "file:///etc/passwd,model", ",model"])
def test_a_setting_of_another_form_is_refused(setting: str) -> None:
    with pytest.raises(ConfigError, match=r"needs an http\(s\)"):
        extractor_of(setting)


def test_a_cache_that_a_killed_run_left_half_a_row_in(tmp_path: Path) -> None:
    """The half row is asked for again, and the rows behind it are not lost."""
    cache = tmp_path / "extractor.jsonl"
    with ChatServer(scripted) as server:
        first = read_answers(ITEMS, Extractor(server.base_url, "small", cache))
        cache.write_text(cache.read_text()[:-20])
        assert read_answers(ITEMS, Extractor(server.base_url, "small", cache)) == first
        assert len(server.requests) == len(ITEMS) + 1
        assert read_answers(ITEMS, Extractor(server.base_url, "small", cache)) == first
        assert len(server.requests) == len(ITEMS) + 1
