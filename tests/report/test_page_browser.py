"""The report in a real browser: by mouse, by keyboard, on a phone, in the dark, and with text that wants to be code."""

import json
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from support.browser import contrast, luminance
from support.runs import skilled, texts, write_replies
from support.twin import make_twin

from georefusal_task import data as loader
from georefusal_task.report.page import render
from georefusal_task.report.ranking import rank
from georefusal_task.report.ranking_table import table
from georefusal_task.report.runs import Run, load_run

pytestmark = pytest.mark.browser

N = 60
DESKTOP, PHONE = {"width": 1360, "height": 900}, {"width": 390, "height": 844}
EVIL = "<script>window.pwned=1</script><img src=x onerror=window.pwned=1>\u202egpj.\u05d0</pre></script>"

Opened = Any


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[Run]:
    folder = tmp_path_factory.mktemp("runs")
    twin = loader.load(make_twin(folder / "data", n=N, provenance="none"))
    said = texts(skilled(0.7), N)
    evil = said | {evil_item(): EVIL + "x" * 100_000}
    files = [
        write_replies(folder / f"{name}.jsonl", text) for name, text in (("a", evil), ("b", texts(skilled(0.4, 1), N)))
    ]
    return [load_run(files[0], data=twin, name=f"first {EVIL}"), load_run(files[1], data=twin, name="second")]


def evil_item() -> str:
    return min(texts(skilled(0.7), N))


@pytest.fixture(scope="module")
def file(runs: list[Run], tmp_path_factory: pytest.TempPathFactory) -> str:
    path: Path = tmp_path_factory.mktemp("page") / "report.html"
    path.write_text(render(runs), encoding="utf-8")
    return path.as_uri()


@pytest.fixture
def problems() -> list[str]:
    return []


@pytest.fixture
def page(browser: Any, file: str, problems: list[str]) -> Iterator[Opened]:
    yield from opened(browser, file, problems, viewport=DESKTOP, permissions=["clipboard-read", "clipboard-write"])


def opened(browser: Any, address: str, problems: list[str], **settings: Any) -> Iterator[Opened]:
    context = browser.new_context(**settings)
    page = context.new_page()
    page.on("console", lambda message: problems.append(message.text) if message.type in ("error", "warning") else None)
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on("request", lambda asked: None if asked.url.startswith(("file:", "data:")) else problems.append(asked.url))
    page.goto(address)
    yield page
    context.close()
    assert problems == []


def test_nothing_of_others_runs_and_nothing_is_fetched(page: Opened) -> None:
    card = page.locator(f"#item-{evil_item()}")
    card.locator("summary").first.click()
    shown = card.locator("pre").first
    assert shown.inner_text().startswith("<script>window.pwned=1</script><img src=x")
    assert "characters left out" in shown.inner_text()
    assert page.evaluate("window.pwned") is None
    assert page.locator("img[src=x]").count() == 0


def test_a_reply_written_from_right_to_left_stays_in_its_box(page: Opened) -> None:
    """An override of the text direction must not turn round what stands after it."""
    who = page.locator(".card").first.locator(".who bdi").first
    assert who.evaluate("element => getComputedStyle(element).unicodeBidi") == "isolate"
    page.locator(".said summary").first.click()
    assert page.locator(".said pre").first.evaluate("e => getComputedStyle(e).unicodeBidi") == "plaintext"


def test_filters_find_what_the_rows_say(page: Opened, runs: list[Run]) -> None:
    first, second = runs
    assert page.locator("#found").inner_text() == f"{N} of {N} items"
    page.get_by_label("Model", exact=True).select_option("1")
    page.get_by_label("Outcome", exact=True).select_option(label="missed refusal")
    missed = sum(not row.answerable and row.verdict == "ANSWER" for row in second.rows)
    assert page.locator("#found").inner_text() == f"{missed} of {N} items"
    page.get_by_role("button", name="Show all").click()
    page.get_by_label("Models", exact=True).select_option(label="disagree")
    differ = sum(ours.verdict != theirs.verdict for ours, theirs in zip(first.rows, second.rows, strict=True))
    page.wait_for_function(f"document.getElementById('found').textContent === '{differ} of {N} items'")
    page.get_by_role("button", name="Show all").click()
    lever = next(item.label.lever_family for item in first.benchmark.items)
    page.get_by_label("Lever", exact=True).select_option(lever)
    same = sum(item.label.lever_family == lever for item in first.benchmark.items)
    assert page.locator("#found").inner_text() == f"{same} of {N} items"
    page.get_by_role("button", name="Show all").click()
    page.get_by_label("Words of the question").fill(first.rows[3].id.upper())
    assert page.locator("#found").inner_text() == f"1 of {N} items"


def test_each_item_has_a_link_that_leads_to_it(page: Opened, file: str, runs: list[Run]) -> None:
    last = runs[0].benchmark.items[-1].case.id
    page.goto(f"{file}#item-{last}")
    page.wait_for_selector(f"#item-{last}.found")
    assert page.evaluate("document.activeElement.id") == f"item-{last}"
    assert page.locator(f"#item-{last}").get_by_role("link", name=last).get_attribute("href") == f"#item-{last}"


def test_a_cell_of_the_matrix_leads_to_its_items(page: Opened) -> None:
    matrix = page.locator("table.matrix").nth(1)
    cell = matrix.locator("td a").nth(1)
    count = int(cell.inner_text())
    cell.click()
    page.wait_for_function(f"document.getElementById('found').textContent.startsWith('{count} of')")
    assert page.locator(".card").count() == min(count, 24)
    assert page.evaluate("document.activeElement.id") == "gallery-title"


def test_tables_sort_by_number_with_undefined_last(page: Opened) -> None:
    table = page.get_by_role("table", name="By lever family")
    header = table.get_by_role("columnheader", name="Refusal accuracy")
    column = header.evaluate("cell => cell.cellIndex")

    def values() -> list[float | None]:
        cells = table.locator(f"tbody tr > :nth-child({column + 1})").all_inner_texts()
        shares = [cell.split("/") for cell in cells]
        return [None if cell[0].startswith("–") else int(cell[0]) / int(cell[1]) for cell in shares]

    for direction in ("descending", "ascending"):
        header.get_by_role("button").click()
        assert header.get_attribute("aria-sort") == direction
        known = [value for value in values() if value is not None]
        assert known == sorted(known, reverse=direction == "descending")
        assert values()[: len(known)] == known
        assert None in values()


def test_tables_are_copied_as_tsv(page: Opened) -> None:
    page.get_by_role("button", name="Copy as TSV: By batch").click()
    page.wait_for_function("document.getElementById('status').textContent === 'Copied'")
    lines = page.evaluate("navigator.clipboard.readText()").splitlines()
    assert lines[0].split("\t")[:4] == ["Set", "Run", "n", "Accepted"]
    assert {line.count("\t") for line in lines} == {lines[0].count("\t")}
    assert len(lines) == 1 + 3 * 2


def test_every_figure_has_data_and_says_what_not_to_conclude(page: Opened) -> None:
    for figure in page.locator("figure").all():
        assert figure.locator("svg[role=img] > title").count() == 1
        assert "It shows:" in figure.inner_text()
        assert "It does not show:" in figure.inner_text()
        table = figure.locator("details table")
        assert table.is_visible() == (figure.get_attribute("id") == "figure-headline")
        figure.get_by_role("link", name="Data").click()
        table.wait_for(state="visible")
        assert table.locator("tbody tr").count() > 0


def test_all_can_be_reached_by_keyboard(page: Opened) -> None:
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"
    page.locator("table.sortable .sort").first.evaluate("button => button.closest('details').open = true")
    first = page.locator("table.sortable .sort").first
    first.focus()
    page.keyboard.press("Enter")
    assert page.locator("th[aria-sort]").count() == 1
    page.locator("#filters select").first.focus()
    page.keyboard.press("ArrowDown")
    assert page.locator("#filters select").first.input_value() == "0"
    page.locator(".said summary").first.focus()
    page.keyboard.press("Space")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.tagName") == "PRE"
    unreachable = page.evaluate(
        "[...document.querySelectorAll('.scroll, button, select, input, a[href], summary')]"
        ".filter(e => e.tabIndex < 0).map(e => e.outerHTML.slice(0, 80))"
    )
    assert unreachable == []


def test_what_a_screen_reader_meets_has_names(page: Opened) -> None:
    unnamed = page.evaluate(
        """[...document.querySelectorAll(
          'button, select, input, a[href], table, svg, img, pre, [role=region]')].filter(e => {
          const labelled = (e.getAttribute('aria-labelledby') || '').split(' ').filter(Boolean)
            .map(id => document.getElementById(id)?.textContent ?? '').join('');
          return !(e.getAttribute('aria-label') || labelled || e.textContent.trim() || e.alt || e.labels?.length);
        }).map(e => e.outerHTML.slice(0, 80))"""
    )
    assert unnamed == []
    levels = page.evaluate("[...document.querySelectorAll('h1, h2, h3')].map(e => Number(e.tagName[1]))")
    assert levels[0] == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))
    ids = page.evaluate("[...document.querySelectorAll('[id]')].map(e => e.id)")
    assert len(ids) == len(set(ids))


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("viewport", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_it_fits_and_can_be_read(
    browser: Any, file: str, problems: list[str], viewport: dict[str, int], scheme: str
) -> None:
    for page in opened(browser, file, problems, viewport=viewport, color_scheme=scheme):
        assert page.evaluate("document.documentElement.scrollWidth") <= viewport["width"]
        smallest = page.evaluate(
            "Math.min(...[...document.querySelectorAll('svg text')].map(e => e.getBoundingClientRect().height))"
        )
        assert smallest >= 10  # the height of a line: letters of 9 px and more
        clipped = page.evaluate(
            """[...document.querySelectorAll('svg')].flatMap(svg => {
              const box = svg.getBoundingClientRect();
              return [...svg.querySelectorAll('text')].filter(text => {
                const own = text.getBoundingClientRect();
                return own.left < box.left - 1 || own.right > box.right + 1 || own.bottom > box.bottom + 1;
              }).map(text => text.textContent);
            })"""
        )
        assert clipped == []
        assert contrast(page, "body") >= 7
        for selector in (".lead", ".quiet", ".tick", "a", ".note"):
            assert contrast(page, selector) >= 4.5, selector
        assert (luminance(page.evaluate("getComputedStyle(document.body).backgroundColor")) < 0.1) == (scheme == "dark")


def filled(page: Opened, selector: str) -> float:
    return luminance(page.locator(selector).first.evaluate("shape => getComputedStyle(shape).fill"))


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_outcomes_differ_in_grey(browser: Any, file: str, problems: list[str], scheme: str) -> None:
    """The bars must tell right from wrong without colour, and their figures must be readable on them."""
    for page in opened(browser, file, problems, viewport=DESKTOP, color_scheme=scheme):
        shades = {kind: filled(page, f"svg rect.bar.{kind}") for kind in ("right", "reason", "side")}
        for darker, lighter in pairwise(sorted(shades.values())):
            assert (lighter + 0.05) / (darker + 0.05) > 1.7
        for kind, shade in shades.items():
            dark, light = sorted((shade, filled(page, f"svg text.onbar.{kind}")))
            assert (light + 0.05) / (dark + 0.05) > 4.5, kind
        assert page.locator("svg rect.bar.unparsed").first.get_attribute("fill").startswith("url(#hatch-")


def test_without_a_script_the_figures_still_stand(browser: Any, file: str, problems: list[str]) -> None:
    for page in opened(browser, file, problems, viewport=DESKTOP, java_script_enabled=False):
        assert page.locator("figure svg").count() >= 4
        assert page.get_by_text("The items are shown by a script").is_visible()


@pytest.mark.parametrize("count", [1, 50])
def test_one_run_and_fifty(browser: Any, runs: list[Run], problems: list[str], tmp_path: Path, count: int) -> None:
    path = tmp_path / "report.html"
    path.write_text(render([replace(runs[1], name=f"model {number}") for number in range(count)]), encoding="utf-8")
    for page in opened(browser, path.as_uri(), problems, viewport=DESKTOP):
        assert page.locator("#found").inner_text() == f"{N} of {N} items"
        assert page.evaluate("document.documentElement.scrollWidth") <= DESKTOP["width"]
        assert page.get_by_label("Models", exact=True).is_visible() == (count > 1)
        assert json.loads(page.locator("#items").text_content())["runs"][-1] == f"model {count - 1}"


def test_the_page_of_the_leaderboard_sorts_and_runs_no_name(
    browser: Any, runs: list[Run], problems: list[str], tmp_path: Path
) -> None:
    path = tmp_path / "board.html"
    path.write_text(table(rank(runs)).html(), encoding="utf-8")
    for page in opened(browser, path.as_uri(), problems, viewport=PHONE):
        models = page.locator("tbody th")
        before = models.all_inner_texts()
        page.get_by_role("button", name="Model", exact=True).click()
        assert models.all_inner_texts() == sorted(before, key=str.lower) != before
        assert page.get_by_role("button", name="Copy as TSV").count() == 1
        assert page.evaluate("window.pwned") is None
        assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]


def test_the_matrix_is_not_cut_off_on_a_small_desktop(browser: Any, file: str, problems: list[str]) -> None:
    for page in opened(browser, file, problems, viewport={"width": 1280, "height": 800}):
        for width, room in page.evaluate(
            "[...document.querySelectorAll('.matrix')].map(e => [e.offsetWidth, e.parentElement.clientWidth])"
        ):
            assert width <= room
