"""The example page of the docs is what the code makes of the committed logs today."""

import json
import re
from pathlib import Path

import report_example
from georefusal_task.data import load_mini

_PICTURE = re.compile(r"data:image/webp;base64,[A-Za-z0-9+/=]+")


def without_pictures(page: str) -> str:
    """Another version of the encoder may write other bytes, and then other sizes fit."""
    return _PICTURE.sub("picture", page)


def test_the_example_is_in_step_with_the_code() -> None:
    made, kept = report_example.page(), report_example.PAGE.read_text(encoding="utf-8")
    assert without_pictures(made) == without_pictures(kept), "run: python utils/report_example.py"
    assert len(_PICTURE.findall(made)) == len(_PICTURE.findall(kept))


def test_the_example_is_small_and_says_nothing_of_the_machine_or_the_day() -> None:
    page = report_example.PAGE.read_text(encoding="utf-8")
    assert len(page.encode()) < 1_000_000
    text = without_pictures(page)
    assert not re.search(r"\b20\d\d-\d\d-\d\d|\b20\d{6}_\d{6}", text)
    assert not re.search(r"(?<![\w<.])/(home|root|work|tmp|Users|usr)/", text)
    assert str(Path(__file__).parents[2]) not in text


def test_the_logs_are_small_and_whole() -> None:
    for log in sorted(report_example.LOGS.glob("*.jsonl")):
        rows = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
        assert {row["id"] for row in rows} == load_mini().by_id.keys()
        assert log.stat().st_size < 100_000
