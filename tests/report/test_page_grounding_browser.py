"""The report on runs that draw boxes in a real browser: outlines where the objects are, filters, desktop and phone."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from support.browser import contrast

from georefusal_task.report.grounding_runs import GroundingRun, load_grounding_runs
from georefusal_task.report.page_grounding import render

pytestmark = pytest.mark.browser

DESKTOP, PHONE = {"width": 1360, "height": 900}, {"width": 390, "height": 844}
SIZES = {"wide": (613, 101), "tall": (120, 501), "small": (40, 30), "large": (1000, 707)}
"""No square; and none that shrinks to whole pixels at 256."""


def row(number: int, scene: str, kind: str, instances: dict[str, Any], answer: str) -> dict[str, Any]:
    width, height = SIZES[scene]
    names = list(instances)
    return {
        "id": f"q-{number}", "type": kind, "classes": names, "question": f"{kind} of {' and '.join(names)}?",
        "answer": answer, "image": f"images/{scene}.png", "width": width, "height": height, "image_id": scene,
        "instances": instances,
    }  # fmt: skip


def near(width: int, height: int) -> list[int]:
    """A box close to the lower right corner, where a drift would be largest."""
    return [width * 3 // 4, height * 3 // 4, width - 3, height - 3]


@pytest.fixture(scope="module")
def questions(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder: Path = tmp_path_factory.mktemp("set")
    (folder / "images").mkdir()
    for scene, size in SIZES.items():
        picture = Image.new("RGB", size, (90, 110, 90))
        picture.paste((200, 40, 40), tuple(near(*size)))
        picture.save(folder / "images" / f"{scene}.png")
    rows = [
        row(number, scene, "counting", {"ship": [near(*size), [0, 0, 9, 9]]}, "2")
        for number, (scene, size) in enumerate(SIZES.items())
    ]
    rows += [
        row(4, "wide", "existence", {"car": []}, "no"),
        row(5, "tall", "more", {"ship": [[4, 5, 60, 70]], "car": [[70, 200, 100, 300]]}, "no"),
    ]
    (folder / "questions.jsonl").write_text("".join(json.dumps(one) + "\n" for one in rows))
    return folder


@pytest.fixture(scope="module")
def runs(questions: Path) -> list[GroundingRun]:
    """The first model finds the lower right object and counts two; the second draws over the whole image."""

    def first(number: int, scene: str) -> str:
        if number == 4:
            return "no"
        width, height = SIZES[scene]
        x1, y1, x2, y2 = (round(v / side, 6) for v, side in zip(near(width, height), (width, height) * 2, strict=True))
        return f"Answer: {1 if scene == 'wide' else 2}\nBoxes: [[{x1}, {y1}, {x2}, {y2}]]"

    files = []
    for name, say in (("first", first), ("second", lambda number, scene: "Answer: 2\nBoxes: [[0, 0, 1, 1]]")):
        scenes = [*SIZES, "wide", "tall"]
        lines = [
            {"id": f"q-{number}", "text": say(number, scene), "frame": "unit"} for number, scene in enumerate(scenes)
        ]
        files.append(questions / f"{name}.jsonl")
        files[-1].write_text("".join(json.dumps(line) + "\n" for line in lines))
    return load_grounding_runs(files, data=questions, task="grsvqa")


@pytest.fixture(scope="module")
def file(runs: list[GroundingRun], tmp_path_factory: pytest.TempPathFactory) -> str:
    path: Path = tmp_path_factory.mktemp("page") / "report.html"
    path.write_text(render(runs), encoding="utf-8")
    return path.as_uri()


def opened(browser: Any, address: str, **settings: Any) -> Iterator[Any]:
    problems: list[str] = []
    context = browser.new_context(reduced_motion="reduce", **settings)
    page = context.new_page()
    page.on("console", lambda message: problems.append(message.text) if message.type in ("error", "warning") else None)
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on("request", lambda asked: None if asked.url.startswith(("file:", "data:")) else problems.append(asked.url))
    page.goto(address)
    yield page
    context.close()
    assert problems == []


@pytest.mark.parametrize("viewport", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_outlines_lie_on_their_objects(
    browser: Any, file: str, runs: list[GroundingRun], viewport: dict[str, int]
) -> None:
    """Squeezed, shrunk or padded pictures would move every outline beside what it is about."""
    for page in opened(browser, file, viewport=viewport):
        for number, (width, height) in enumerate(SIZES.values()):
            card = page.locator(f"#item-q-{number}")
            card.scroll_into_view_if_needed()
            card.locator("img").evaluate("image => image.decode()")
            image = card.locator("img").bounding_box()
            frame = card.locator("svg").bounding_box()
            assert image == pytest.approx(frame, abs=0.01)
            assert image["width"] / image["height"] == pytest.approx(width / height, rel=0.01)
            assert card.bounding_box()["width"] >= image["width"] - 0.01
            for kind in ("path.gold", "path.region.run0"):
                found = card.locator(kind).first.bounding_box()
                x1, y1, x2, y2 = near(width, height)
                scale = image["width"] / width, image["height"] / height
                # a stroke of 2 px is drawn around the outline, and may count into the box
                assert found["x"] == pytest.approx(image["x"] + x1 * scale[0], abs=1.5), kind
                assert found["y"] == pytest.approx(image["y"] + y1 * scale[1], abs=1.5), kind
                assert found["x"] + found["width"] == pytest.approx(image["x"] + x2 * scale[0], abs=1.5), kind
                assert found["y"] + found["height"] == pytest.approx(image["y"] + y2 * scale[1], abs=1.5), kind


def test_the_picture_shows_the_object_where_its_outline_lies(browser: Any, file: str) -> None:
    """A picture that was turned or cropped would show the ground where the object's outline lies."""
    for page in opened(browser, file, viewport=DESKTOP):
        for number, (width, height) in enumerate(SIZES.values()):
            red = page.locator(f"#item-q-{number} img").evaluate(
                """async (image, [x, y]) => {
                  await image.decode();
                  const { naturalWidth: width, naturalHeight: height } = image;
                  const pen = new OffscreenCanvas(width, height).getContext("2d");
                  pen.drawImage(image, 0, 0);
                  return [...pen.getImageData(x * width, y * height, 1, 1).data].slice(0, 2);
                }""",
                [(near(width, height)[0] + width - 3) / 2 / width, (near(width, height)[1] + height - 3) / 2 / height],
            )
            assert red[0] > 150 > red[1]


def test_covered_objects_are_marked_and_a_model_is_seen_alone(browser: Any, file: str) -> None:
    for page in opened(browser, file, viewport=DESKTOP):
        card = page.locator("#item-q-0")
        assert card.locator("path.gold").count() == 2
        assert card.locator("path.region").count() == 2
        assert card.locator("path.dot").count() == 1 + 2, "one by the first model, both by the whole image"
        page.get_by_label("Model", exact=True).select_option(label="first")
        assert card.locator("path.region").count() == card.locator("path.dot").count() == 1
        dot, image = card.locator("path.dot").bounding_box(), card.locator("img").bounding_box()
        width, height = SIZES["wide"]
        x1, y1, x2, y2 = near(width, height)
        centre = dot["x"] + dot["width"] / 2, dot["y"] + dot["height"] / 2
        assert centre[0] == pytest.approx(image["x"] + (x1 + x2) / 2 * image["width"] / width, abs=1)
        assert centre[1] == pytest.approx(image["y"] + (y1 + y2) / 2 * image["height"] / height, abs=1)
        assert "covered: 1 of 2 (ship)" in card.inner_text()
        compared = page.locator("#item-q-5")
        assert compared.locator("path.gold.other").count() == 1


def test_filters_choose_by_type_answer_and_support(browser: Any, file: str) -> None:
    def ids(page: Any) -> list[str]:
        return [element.get_attribute("id") for element in page.locator(".card").all()]

    for page in opened(browser, file, viewport=DESKTOP):
        assert page.locator("#found").inner_text() == "6 of 6 items"
        page.get_by_label("Question type", exact=True).select_option("existence")
        assert ids(page) == ["item-q-4"]
        assert "support is not scored" in page.locator("#item-q-4").inner_text()
        page.get_by_role("button", name="Show all").click()
        page.wait_for_function("document.getElementById('found').textContent === '6 of 6 items'")
        page.get_by_label("Model", exact=True).select_option(label="first")
        page.get_by_label("Answer", exact=True).select_option(label="right")
        assert ids(page) == [f"item-q-{number}" for number in (1, 2, 3, 4)]
        page.get_by_label("Answer", exact=True).select_option(label="wrong")
        page.get_by_label("Boxes", exact=True).select_option(label="borne out")
        assert ids(page) == ["item-q-0"], "one object counted, one covered: borne out, and wrong"
        page.get_by_label("Answer", exact=True).select_option("")
        page.get_by_label("Boxes", exact=True).select_option("")
        page.get_by_label("Class", exact=True).select_option("car")
        assert ids(page) == ["item-q-4", "item-q-5"]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("viewport", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_it_fits_and_has_names_for_what_is_drawn(
    browser: Any, file: str, viewport: dict[str, int], scheme: str
) -> None:
    for page in opened(browser, file, viewport=viewport, color_scheme=scheme):
        assert page.evaluate("document.documentElement.scrollWidth") <= viewport["width"]
        for selector in (".lead", ".quiet", ".tick", ".note", ".said .who"):
            assert contrast(page, selector) >= 4.5, selector
        labels = [one.get_attribute("aria-label") for one in page.locator(".drawn svg").all()]
        assert len(labels) == 6
        assert all(re.fullmatch(r"\d+ annotated objects and \d+ predicted regions", label) for label in labels)
