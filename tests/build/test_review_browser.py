"""The review page in Chromium: by mouse, by keys, by fingers, in two tabs, and with a server that dies under it."""

import json
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from support.browser import contrast, luminance
from support.review import bundle_of, fields, knows, says, serving, vote_all
from support.twin import make_twin

from georefusal_build.layout import read_set
from georefusal_build.review.adjudicate import rule, write_queue
from georefusal_build.review.bundle import Bundle, Key, read_bundle
from georefusal_build.review.export import Mix
from georefusal_build.review.joined import join, read_all
from georefusal_build.review.server import ReviewServer
from georefusal_build.review.votes import Vote, read_votes
from georefusal_task.data import Benchmark, load

pytestmark = pytest.mark.browser

DESKTOP, PHONE = {"width": 1360, "height": 900}, {"width": 390, "height": 844}
EVIL = "<img src=x onerror=window.pwned=1> Is there <b>a ship</b>? \u202egpj"

Page = Any
Open = Callable[..., Page]


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Benchmark:
    """Six items, one with a question that wants to be code."""
    folder = make_twin(tmp_path_factory.mktemp("data") / "set", n=6, provenance="none")
    file = next((folder / "cases").iterdir())
    rows = [json.loads(line) for line in file.read_text().splitlines()]
    rows[0]["question"] = EVIL
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return load(folder)


@pytest.fixture(scope="module")
def made(data: Benchmark, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Bundle, Key]:
    return bundle_of(tmp_path_factory.mktemp("made"), data, repeats=0, catch=0, session=3)


@pytest.fixture
def server(made: tuple[Path, Bundle, Key], tmp_path: Path) -> Iterator[ReviewServer]:
    with serving(made[0], made[1], tmp_path / "votes.jsonl") as running:
        yield running


@pytest.fixture
def open_page(browser: Any) -> Iterator[Open]:
    """Open addresses in one browser profile; whatever the page complains of, or asks of others, fails the test."""
    problems: list[str] = []
    context = browser.new_context(viewport=DESKTOP)

    def opened(address: str, ignore: str = "", **settings: Any) -> Page:
        page = (browser.new_context(**settings) if settings else context).new_page()

        def complain(text: str) -> None:
            if not ignore or ignore not in text:
                problems.append(text)

        page.on("console", lambda said: complain(said.text) if said.type in ("error", "warning") else None)
        page.on("pageerror", lambda error: complain(str(error)))
        page.on("request", lambda asked: None if asked.url.startswith("http://127.0.0.1:") else complain(asked.url))
        page.goto(address)
        return page

    yield opened
    for one in browser.contexts:
        one.close()
    assert problems == []


def at(server: ReviewServer, number: int = 1, session: int = 1) -> str:
    return f"{server.address}#a/{session}/{number}"


def votes(server: ReviewServer) -> list[Vote]:
    return [vote for _, vote in read_votes(server.votes.path, server.bundle.ballot).votes]


def saved(page: Page, number: int) -> None:
    """Wait until the page shows item `number` of the session."""
    page.get_by_text(re.compile(f"item {number} of")).wait_for()


def until(page: Page, script: str) -> None:
    """Wait until a script is true; Playwright's own way needs `eval`, which the page's policy forbids."""
    for _ in range(400):
        if page.evaluate(script):
            return
        page.wait_for_timeout(25)
    raise AssertionError(script)


def test_a_vote_by_mouse(server: ReviewServer, open_page: Open) -> None:
    page = open_page(server.address)
    page.get_by_role("link", name="a", exact=True).click()
    page.get_by_role("link", name="Session 1 0 of 3").click()
    page.get_by_role("radio", name="Info missing in context").check()
    page.get_by_role("radio", name="Fairly sure").check()
    page.get_by_text("Second verdict, flags, note").click()
    page.get_by_label("A second verdict that would be acceptable").select_option("Granularity mismatch")
    page.get_by_role("checkbox", name="Wording").check()
    page.get_by_label("Note").fill("two readings; \u00fcber")
    page.get_by_role("button", name="Save and next").click()
    saved(page, 2)
    assert page.locator("#where").inner_text() == "a · session 1 of 2 · item 2 of 3"
    assert page.get_by_role("progressbar", name="Items of the session with a vote").get_attribute("value") == "1"
    (vote,) = votes(server)
    first = server.bundle.ballot.orders["a"][0]
    assert (vote.item_id, vote.content, vote.order) == (first, server.bundle.items[first].content, 1)
    assert (vote.verdict, vote.alt, vote.confidence) == (
        "REFUSE_INFO_MISSING_IN_CONTEXT", "REFUSE_GRANULARITY_MISMATCH", 2,
    )  # fmt: skip
    assert (vote.answer, vote.flags, vote.note) == ("", ("wording",), "two readings; \u00fcber")
    assert vote.ms > 0
    page.get_by_role("button", name="Back").click()
    saved(page, 1)
    assert page.get_by_role("radio", name="Info missing in context").is_checked()
    assert page.locator("#saved").inner_text() == "Vote saved"
    assert page.locator("#more-count").inner_text() == "(3)"


def test_a_whole_review_by_keyboard_alone(server: ReviewServer, open_page: Open) -> None:
    page = open_page(server.address)
    page.wait_for_selector("#choices a")
    for _ in range(2):  # who, then which session; each time the heading has the focus
        page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        page.wait_for_timeout(50)
    page.wait_for_selector("#question:visible")
    assert page.evaluate("document.activeElement.id") == "question"
    page.keyboard.press("Enter")
    assert page.locator("#missing").inner_text() == "Choose a verdict."
    page.keyboard.press("1")
    page.keyboard.press("Enter")
    assert page.locator("#missing").inner_text() == "Say whether the answer is yes or no."
    page.keyboard.press("n")
    page.keyboard.press("Enter")
    assert page.locator("#missing").inner_text() == "Say how sure you are."
    assert votes(server) == []
    page.keyboard.press("9")
    page.keyboard.press("Enter")
    saved(page, 2)
    assert page.evaluate("document.activeElement.id") == "question"
    page.keyboard.press("3")
    page.keyboard.press("Shift+Digit6")
    page.keyboard.press("7")
    page.keyboard.press("Enter")
    saved(page, 3)
    page.keyboard.press("f")  # passed over ...
    page.get_by_role("heading", name="Sessions").wait_for()
    assert page.get_by_role("link", name="Session 1 2 of 3").get_attribute("href") == "#a/1/3"
    page.go_back()
    saved(page, 3)
    page.keyboard.press("b")
    saved(page, 2)
    page.keyboard.press("f")
    saved(page, 3)
    page.keyboard.press("5")
    page.keyboard.press("8")
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="Session 1 is done").wait_for()
    assert page.evaluate("document.activeElement.id") == "start-title"
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    for number in (1, 2, 3):
        saved(page, number)
        page.keyboard.press("2")
        page.keyboard.press("9")
        page.keyboard.press("Enter")
    page.get_by_role("heading", name="All done, thank you").wait_for()
    given = [(vote.order, vote.verdict, vote.answer, vote.alt, vote.confidence) for vote in votes(server)]
    assert given == [
        (1, "ANSWER", "no", None, 3),
        (2, "REFUSE_GRANULARITY_MISMATCH", "", "REFUSE_NONFACTUAL_QUERY", 1),
        (3, "REFUSE_FALSE_PREMISE_IN_QUERY", "", None, 2),
        *((order, "REFUSE_INFO_MISSING_IN_CONTEXT", "", None, 3) for order in (4, 5, 6)),
    ]


def test_keys_mean_nothing_while_a_note_is_written(server: ReviewServer, open_page: Open) -> None:
    page = open_page(at(server))
    page.get_by_text("Second verdict, flags, note").click()
    note = page.get_by_label("Note")
    note.press_sequentially("123 yn b f 0")
    note.press("Enter")
    assert note.input_value() == "123 yn b f 0\n"
    assert page.locator("[name=verdict]:checked").count() == 0
    page.get_by_role("radio", name="Nonfactual query").check()
    page.get_by_role("radio", name="Sure", exact=True).check()
    note.press("Control+Enter")
    saved(page, 2)


def test_single_keys_can_be_switched_off(server: ReviewServer, open_page: Open) -> None:
    """Speech input types words, and each letter would be a command. Source: WCAG 2.1.4."""
    page = open_page(f"{server.address}#a")
    page.get_by_label("Single keys act anywhere on the page").uncheck()
    page.goto(at(server))
    page.wait_for_selector("#question:visible")
    page.keyboard.press("2")
    assert page.locator("[name=verdict]:checked").count() == 0


def test_what_was_chosen_survives_a_reload_and_a_crash_of_the_tab(server: ReviewServer, open_page: Open) -> None:
    page = open_page(at(server, 2))
    page.wait_for_selector("#question:visible")
    page.keyboard.press("4")
    page.keyboard.press("8")
    page.get_by_text("Second verdict, flags, note").click()
    page.get_by_label("Note").fill("half written")
    page.reload()
    for again in (page, None):
        current = again or open_page(at(server, 2))
        assert current.get_by_role("radio", name="Ambiguous query").is_checked()
        assert current.get_by_role("radio", name="Fairly sure").is_checked()
        assert current.get_by_label("Note").input_value() == "half written"
        assert current.locator("#where").inner_text().endswith("item 2 of 3")
        if again:
            page.close()
    current.keyboard.press("Escape")
    current.get_by_role("button", name="Save and next").click()
    saved(current, 3)
    assert [vote.note for vote in votes(server)] == ["half written"]
    assert current.evaluate("Object.keys(localStorage).filter(key => key.startsWith('review '))") == []


def test_two_tabs_know_of_each_other(server: ReviewServer, open_page: Open) -> None:
    one, two = open_page(at(server)), open_page(at(server))
    for page, verdict in ((one, "2"), (two, "5")):
        page.bring_to_front()
        page.wait_for_selector("#question:visible")
        page.keyboard.press(verdict)
        page.keyboard.press("9")
    one.bring_to_front()
    one.keyboard.press("Enter")
    saved(one, 2)
    two.bring_to_front()
    two.get_by_text("You voted on this item in another tab.").wait_for()
    assert two.get_by_role("radio", name="False premise").is_checked()  # what was chosen here is not overwritten
    assert two.locator("#saved").inner_text() == "Vote saved"
    two.keyboard.press("Enter")
    saved(two, 2)
    assert [(vote.order, vote.seq, vote.verdict) for vote in votes(server)] == [
        (1, 1, "REFUSE_INFO_MISSING_IN_CONTEXT"),
        (1, 2, "REFUSE_FALSE_PREMISE_IN_QUERY"),
    ]
    one.bring_to_front()
    one.get_by_text("You are also voting in another tab.").wait_for()
    one.keyboard.press("b")
    saved(one, 1)
    assert one.get_by_role("radio", name="False premise").is_checked()  # the later vote counts


def start(folder: Path, file: Path, port: int) -> "subprocess.Popen[str]":
    command = [Path(sys.executable).with_name("georefusal"), "build", "review", "serve", folder, "--port", str(port)]
    process = subprocess.Popen([*command, "--votes", file], stdout=subprocess.PIPE, text=True)
    assert process.stdout
    assert process.stdout.readline().startswith("http://127.0.0.1:")
    return process


def test_a_server_that_is_killed_costs_no_vote(made: tuple[Path, Bundle, Key], tmp_path: Path, open_page: Open) -> None:
    folder, bundle, _ = made
    with serving(folder, bundle, tmp_path / "other.jsonl") as probe:
        port = probe.server_port
    file = tmp_path / "votes.jsonl"
    first = start(folder, file, port)
    try:
        page = open_page(f"http://127.0.0.1:{port}/#a/1/1", ignore="Failed to load resource")
        page.wait_for_selector("#question:visible")
        for key in ("2", "9", "Enter"):
            page.keyboard.press(key)
        saved(page, 2)
        first.send_signal(signal.SIGKILL)
        first.wait()
        for key in ("4", "8", "Enter"):
            page.keyboard.press(key)
        page.get_by_text("Not saved yet. The server does not answer.").wait_for()
        assert page.get_by_role("button", name="Saving").get_attribute("aria-disabled") == "true"
        page.keyboard.press("Enter")  # once more, out of impatience
        with file.open("ab") as torn:
            torn.write(b'{"schema": "review/1", "bundle"')  # as if it had died in the middle of a vote
        second = start(folder, file, port)
    finally:
        first.kill()
        first.communicate()
    try:
        saved(page, 3)  # by itself
        assert not page.locator("#trouble").is_visible()
        found = read_votes(file, bundle.ballot)
        assert [(vote.order, vote.verdict) for _, vote in found.votes] == [
            (1, "REFUSE_INFO_MISSING_IN_CONTEXT"),
            (2, "REFUSE_AMBIGUOUS_QUERY"),
        ]
    finally:
        second.kill()
        second.communicate()


def test_a_vote_that_the_server_refuses_is_said_and_not_passed_over(server: ReviewServer, open_page: Open) -> None:
    page = open_page(at(server), ignore="400 (Bad Request)")
    page.wait_for_selector("#question:visible")
    server.votes.append = lambda _: (_ for _ in ()).throw(ValueError("the bundle is another"))  # type: ignore[method-assign]
    for key in ("2", "9", "Enter"):
        page.keyboard.press(key)
    page.get_by_text("This vote was refused: the bundle is another").wait_for()
    assert page.evaluate("location.hash") == "#a/1/1"


# the image


def shown(page: Page) -> tuple[float, float, float]:
    """Return scale, x and y of the image."""
    matrix = page.locator("#image").evaluate("image => getComputedStyle(image).transform")
    a, _, _, _, x, y = (float(part) for part in matrix[len("matrix(") : -1].split(","))
    return a, x, y


def test_the_image_is_whole_at_first_and_zooms_around_the_pointer(server: ReviewServer, open_page: Open) -> None:
    page = open_page(at(server))
    until(page, "document.getElementById('image').naturalWidth > 0")
    frame = page.locator("#viewer").bounding_box()
    whole = shown(page)
    assert whole[0] == pytest.approx(min(frame["width"] / 64, frame["height"] / 48), rel=0.01)
    x, y = frame["x"] + frame["width"] * 0.4, frame["y"] + frame["height"] * 0.5
    page.mouse.move(x, y)

    def under_the_pointer() -> tuple[float, float]:
        scale, left, top = shown(page)
        return (x - frame["x"] - left) / scale, (y - frame["y"] - top) / scale

    before = under_the_pointer()
    page.mouse.wheel(0, -300)
    until(page, f"!document.getElementById('zoom').textContent.startsWith('{round(whole[0] * 100)} ')")
    assert shown(page)[0] > whole[0]
    assert under_the_pointer() == pytest.approx(before, abs=0.5)
    scale, left, top = shown(page)
    page.mouse.down()
    page.mouse.move(x - 30, y - 20)
    page.mouse.up()
    assert shown(page) == pytest.approx((scale, left - 30, top - 20), abs=1)
    page.mouse.down()
    page.mouse.move(x - 5_000, y)
    page.mouse.up()
    assert shown(page)[1] == pytest.approx(frame["width"] - 64 * scale, abs=1)  # its edge stays in view
    page.get_by_role("button", name="Whole image").click()
    assert shown(page) == pytest.approx(whole, abs=0.01)


def test_the_image_zooms_by_buttons_and_keys(server: ReviewServer, open_page: Open) -> None:
    page = open_page(at(server))
    until(page, "document.getElementById('image').naturalWidth > 0")
    whole = shown(page)
    page.get_by_role("button", name="Zoom in").click()
    assert shown(page)[0] == pytest.approx(whole[0] * 1.5)
    page.keyboard.press("+")
    assert shown(page)[0] == pytest.approx(whole[0] * 2.25)
    assert page.locator("#image").evaluate("image => getComputedStyle(image).imageRendering") == "pixelated"
    page.locator("#viewer").focus()
    before = shown(page)
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowDown")
    assert shown(page) == pytest.approx((before[0], before[1] - 60, before[2] - 60), abs=1)
    page.keyboard.press("0")
    assert shown(page) == pytest.approx(whole)
    page.get_by_role("button", name="One screen pixel per image pixel").click()
    assert shown(page)[0] == 1
    assert page.locator("#zoom").inner_text() == "100 %"
    page.keyboard.press("-")
    assert shown(page)[0] == 1  # nothing is gained below that


def test_two_fingers_zoom_and_one_moves(server: ReviewServer, open_page: Open) -> None:
    page = open_page(at(server), viewport=PHONE, has_touch=True, is_mobile=True)
    until(page, "document.getElementById('image').naturalWidth > 0")
    touch = page.context.new_cdp_session(page)

    def fingers(kind: str, *points: tuple[float, float]) -> None:
        touched = [{"x": x, "y": y, "id": number} for number, (x, y) in enumerate(points)]
        touch.send("Input.dispatchTouchEvent", {"type": f"touch{kind}", "touchPoints": touched})

    whole = shown(page)
    fingers("Start", (150, 200), (240, 200))
    fingers("Move", (105, 200), (285, 200))
    fingers("Move", (60, 200), (330, 200))
    fingers("End")
    assert shown(page)[0] == pytest.approx(whole[0] * 3, rel=0.05)
    before = shown(page)
    fingers("Start", (200, 200))
    fingers("Move", (180, 190))
    fingers("Move", (160, 180))
    fingers("End")
    assert shown(page) == pytest.approx((before[0], before[1] - 40, before[2] - 20), abs=12)


def test_an_image_that_cannot_be_shown_is_said(data: Benchmark, tmp_path: Path, open_page: Open) -> None:
    """A vote on an image that nobody saw would count."""
    folder, bundle, _ = bundle_of(tmp_path, data, repeats=0, catch=0)
    with serving(folder, bundle, tmp_path / "votes.jsonl") as server:
        (folder / "images" / f"{bundle.ballot.orders['a'][0]}.png").write_bytes(b"another")
        page = open_page(at(server), ignore="500 (Internal Server Error)")
        page.get_by_text("This image cannot be shown.").wait_for()


# for everybody


def test_questions_are_text_whatever_they_hold(server: ReviewServer, open_page: Open) -> None:
    order = [server.bundle.items[key].question for key in server.bundle.ballot.orders["a"]]
    place = order.index(EVIL)
    first = len(server.bundle.reviewers["a"][0])
    page = open_page(at(server, place % first + 1, place // first + 1))
    page.wait_for_selector("#question:visible")
    assert page.locator("#question").inner_text() == EVIL
    assert page.evaluate("window.pwned") is None
    assert page.locator("#question *").count() == 0


def test_nothing_but_image_question_and_definitions_is_on_the_page(server: ReviewServer, open_page: Open) -> None:
    page = open_page(at(server))
    page.wait_for_selector("#question:visible")
    text = page.locator("body").inner_text()
    for meaning in server.bundle.texts.verdicts.values():
        assert meaning in text
    assert "False premise in query › Ambiguous query › Granularity mismatch › Nonfactual query › Info missing" in text
    for word in ("LOW", "HIGH", "lever", "gold", "REFUSE_", ".png"):
        assert word not in text
    assert page.locator("#image").get_attribute("alt") == "The overhead image that the question is about"


def test_what_a_screen_reader_meets_has_names(server: ReviewServer, open_page: Open) -> None:
    page = open_page(at(server))
    page.wait_for_selector("#question:visible")
    page.keyboard.press("1")
    page.locator("#more summary").click()
    assert page.get_by_role("group", name="Verdict").get_by_role("radio").count() == 6
    assert page.get_by_role("radio", name="Answer the evidence is in the image").is_checked()
    assert page.get_by_role("group", name="The answer").get_by_role("radio").count() == 2
    assert page.get_by_role("group", name="How sure are you?").get_by_role("radio").count() == 3
    assert page.get_by_role("group", name="Something is wrong with this item").get_by_role("checkbox").count() == 6
    assert page.get_by_role("group", name="Zoom").get_by_role("button").count() == 4
    assert page.get_by_role("form").get_attribute("aria-labelledby") == "question"
    assert page.get_by_role("status").count() >= 2
    unnamed = page.evaluate(
        """[...document.querySelectorAll('button, select, input, textarea, a[href], img, progress, output')].filter(e =>
          !(e.getAttribute('aria-label') || e.textContent.trim() || e.alt || e.labels?.length))
          .map(e => e.outerHTML.slice(0, 80))"""
    )
    assert unnamed == []
    levels = page.evaluate("[...document.querySelectorAll('h1, #item h2, #item h3')].map(e => Number(e.tagName[1]))")
    assert levels[0] == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))
    ids = page.evaluate("[...document.querySelectorAll('[id]')].map(e => e.id)")
    assert len(ids) == len(set(ids))
    assert page.evaluate("document.documentElement.lang") == "en"


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("viewport", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_it_fits_and_can_be_read(server: ReviewServer, open_page: Open, viewport: dict[str, int], scheme: str) -> None:
    page = open_page(at(server), viewport=viewport, color_scheme=scheme)
    page.wait_for_selector("#question:visible")
    page.keyboard.press("1")
    page.locator("#more summary").click()
    assert page.evaluate("document.documentElement.scrollWidth") <= viewport["width"]
    for selector in ("body", "#question", ".choice strong"):
        assert contrast(page, selector) >= 7, selector
    for selector in ("#where", ".choice small", "#precedence", "legend", "summary", "#save", "h1 a", ".tools output"):
        assert contrast(page, selector) >= 4.5, selector
    dark = luminance(page.evaluate("getComputedStyle(document.body).backgroundColor")) < 0.1
    assert dark == (scheme == "dark")
    assert page.get_by_role("button", name="Save and next").is_visible()
    if viewport is PHONE:
        small = page.evaluate(
            """[...document.querySelectorAll('#item button, .choice, .pill')]
              .filter(e => e.getBoundingClientRect().height < 40).map(e => e.textContent)"""
        )
        assert small == []
    else:
        picture, question = (page.locator(one).bounding_box() for one in ("#viewer", "#question"))
        assert picture["y"] + picture["height"] <= viewport["height"]  # seen at once, without scrolling
        assert question["x"] >= picture["x"] + picture["width"]


# the third person


def test_a_third_person_sees_both_votes_and_picks_one_or_removes(
    data: Benchmark, made: tuple[Path, Bundle, Key], tmp_path: Path, open_page: Open
) -> None:
    _, bundle, key = made
    refused = next(item.case.id for item in data.items if item.label.gold != "ANSWER")
    answered = next(item.case.id for item in data.items if item.label.gold == "ANSWER")
    right = str(data.by_id[answered].label.answer)
    wrong = "no" if right == "yes" else "yes"
    doubtful = {refused: says("REFUSE_NONFACTUAL_QUERY", note="nobody can see that"), answered: says("ANSWER", wrong)}
    voters = {"a": knows(data), "b": knows(data, {i: {"confidence": 1, **one} for i, one in doubtful.items()})}
    joined = join(read_all([vote_all(tmp_path / "v.jsonl", bundle, key, voters)], key), key, data)
    assert data.folder
    items = [replace(item) for item in read_set(data.folder, needs_provenance=False)]
    write_queue(tmp_path / "queue", rule(items, joined), "c", data.digest, Mix(3, repeats=0, catch=0))
    queue = read_bundle(tmp_path / "queue")
    questions = [queue.items[one].question for one in queue.ballot.orders["c"]]
    with serving(tmp_path / "queue", queue, tmp_path / "third.jsonl") as server:
        page = open_page(f"{server.address}#c/1/1")
        for question in questions:
            page.get_by_role("heading", name=question).wait_for()
            said = page.locator("#said-list li").all_inner_texts()
            assert len(said) == 2
            assert not [one for one in said if "reviewer" in one.lower()]
            choices = page.locator("#verdict-list strong").all_inner_texts()
            assert choices[-1] == "Remove the item"
            if question == data.by_id[refused].case.question:
                assert len(choices) == 3
                assert any(
                    "Nonfactual query" in one and "a guess" in one and "nobody can see that" in one for one in said
                )
                page.keyboard.press("r")
            else:
                assert choices == ["Answer", "Remove the item"]
                page.keyboard.press("1")
                page.keyboard.press(right[0])
            page.keyboard.press("9")
            page.keyboard.press("Enter")
        page.get_by_role("heading", name="All done, thank you").wait_for()
        given = {queue.items[vote.item_id].question: vote.said for vote in votes(server)}
    assert given == {data.by_id[refused].case.question: "REMOVE", data.by_id[answered].case.question: f"ANSWER {right}"}


def test_votes_of_an_earlier_day_are_there(made: tuple[Path, Bundle, Key], tmp_path: Path, open_page: Open) -> None:
    from georefusal_build.review.vote_file import VoteFile

    folder, bundle, _ = made
    earlier = VoteFile(tmp_path / "votes.jsonl", bundle.ballot)
    for order in (1, 2):
        earlier.append(fields(bundle, "a", order))
    earlier.close()
    with serving(folder, bundle, tmp_path / "votes.jsonl", ["a"]) as server:
        page = open_page(server.address)  # one reviewer: nothing to ask
        page.get_by_role("link", name="Session 1 2 of 3").click()
        page.wait_for_selector("#question:visible")
        assert page.locator("#where").inner_text() == "a · session 1 of 2 · item 3 of 3"
