"""The report as a file: its numbers, what it does with hostile text, and runs that are not as they should be."""

import base64
import hashlib
import json
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from support.runs import HOST_ERROR, always_answer, skilled, texts, write_host, write_provenance, write_replies
from support.twin import make_twin

from georefusal_task import data as loader
from georefusal_task.core.errors import ConfigError
from georefusal_task.core.verdicts import VERDICTS
from georefusal_task.data import Benchmark
from georefusal_task.report.page import render
from georefusal_task.report.page_parts import Table
from georefusal_task.report.page_scores import categories, detection, matrix, replies
from georefusal_task.report.runs import Run, load_run

N = 120

HOSTILE = {
    "script": "<script>window.pwned = 1</script><img src=x onerror='window.pwned=1'>",
    "close": "</script></style></textarea><!-- <![CDATA[ \"quoted' & {{ 7*7 }} {% raw %}",
    "long": "<b>" + "x<y>&" * 20_000,
    "rtl": "\u202eABC \u05d0\u05d1\u05d2 \u0627\u0644\u0639\u0631\u0628\u064a\u0629 \u2066tail",
    "broken": "\ud800 lone \udfff \x00 nul \x1b[31m \ufffe \u2028 line",
}


@pytest.fixture(scope="module")
def twin(tmp_path_factory: pytest.TempPathFactory) -> Benchmark:
    return loader.load(make_twin(tmp_path_factory.mktemp("twin") / "data", n=N, provenance="none"))


def made(folder: Path, twin: Benchmark, name: str, said: Mapping[str, str], **more: Any) -> Run:
    return load_run(write_replies(folder / f"{len(list(folder.iterdir()))}.jsonl", said), data=twin, name=name, **more)


class Page(HTMLParser):
    """What a browser would see of a page: its elements, attributes, cells of tables and embedded data."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: Counter[str] = Counter()
        self.attributes: Counter[str] = Counter()
        self.rows: list[list[str]] = []
        self.blocks: list[tuple[str, str]] = []
        self._inside = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags[tag] += 1
        self.attributes.update(name for name, _ in attrs)
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")
        if tag in ("script", "style"):
            self.blocks.append((dict(attrs).get("type") or tag, ""))
        self._inside = tag

    def handle_endtag(self, tag: str) -> None:
        self._inside = ""

    def handle_data(self, data: str) -> None:
        if self._inside in ("script", "style"):
            kind, text = self.blocks[-1]
            self.blocks[-1] = kind, text + data
        elif self.rows and self.rows[-1]:
            self.rows[-1][-1] += data.strip()

    @property
    def items(self) -> dict[str, Any]:
        return json.loads(next(text for kind, text in self.blocks if kind == "application/json"))


def test_the_numbers_are_those_of_the_summary(tmp_path: Path, twin: Benchmark) -> None:
    run = made(tmp_path, twin, "model", texts(skilled(0.6), N))
    page = Page(render([run]))
    cells = {cell for row in page.rows for cell in row}
    metrics = run.summary.metrics
    for name in ("accept_acc", "macro_recall", "false_refusal_rate", "detection_f1", "category_acc", "refusal_acc"):
        one = metrics[name]
        assert one.value is not None
        assert one.low is not None
        assert one.high is not None
        assert f"{100 * one.value:.1f} [{100 * one.low:.1f}, {100 * one.high:.1f}]" in cells, name
    gap = metrics["always_answer_gap"].value
    assert gap is not None
    assert any(cell.startswith(f"{100 * gap:+.1f} [") for cell in cells)
    dprime = metrics["refusal_dprime"].value
    assert any(cell.startswith(f"{dprime:+.2f} [") for cell in cells)


def test_every_item_stands_once_in_the_matrix_and_its_diagonal_is_the_score(tmp_path: Path, twin: Benchmark) -> None:
    """Items that accept two verdicts must not count twice, nor as wrong when the second is said."""
    second = {
        item.case.id: json.dumps({"verdict": item.label.accept[-1], "answer": "yes", "justification": ""})
        for item in twin.items
    }
    run = made(tmp_path, twin, "second", second)
    assert any(row.verdict != row.gold for row in run.rows)
    counts = matrix(run, 0).counts
    assert sum(map(sum, counts)) == N
    assert sum(counts[i][i] for i in range(len(VERDICTS))) == run.summary.metrics["accept_acc"].count == N
    mixed = made(tmp_path, twin, "mixed", texts(skilled(0.5), N))
    counts = matrix(mixed, 0).counts
    assert sum(map(sum, counts)) == N
    assert sum(counts[i][i] for i in range(len(VERDICTS))) == mixed.summary.metrics["accept_acc"].count


def test_garbage_is_seen_as_garbage(tmp_path: Path, twin: Benchmark) -> None:
    run = made(tmp_path, twin, "garbage", texts(lambda _: "blah", N))
    parts = [*detection([run]).parts, *replies([run]).parts]
    tables = {part.caption: part for part in parts if isinstance(part, Table)}
    rates = next(table for caption, table in tables.items() if caption.startswith("Detection"))
    row = dict(zip(rates.columns, rates.rows[0], strict=True))
    assert row["False refusals"].startswith("0.0")
    assert row["No verdict, answerable"].startswith("100.0")
    assert row["No verdict, must refuse"].startswith("100.0")
    bounds = next(table for caption, table in tables.items() if caption.startswith("Had the replies"))
    accept = next(row for row in bounds.rows if row[1] == "accept_acc")
    answerable = sum(row.answerable for row in run.rows) / N
    assert accept[2:] == ("0.0", f"{100 * answerable:.1f} %", f"{100 * (1 - answerable):.1f} %")


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
def test_no_markup_of_others_survives(tmp_path: Path, twin: Benchmark, text: str) -> None:
    """Replies, model names and questions: an element or attribute more than in a page without them is an injection."""
    ordinary = texts(skilled(0.6), N)
    first = next(iter(ordinary))
    harmless = Page(render([made(tmp_path, twin, "plain", ordinary)]))
    case = twin.by_id[first].case.model_copy(update={"question": text})
    asked = tuple(replace(item, case=case) if item.case.id == first else item for item in twin.items)
    hostile = replace(
        made(tmp_path, twin, "x", ordinary | {first: text}),
        name=text,
        benchmark=replace(twin, items=asked),
        warnings=(text,),
    )
    page = render([hostile])
    page.encode("utf-8")
    seen = Page(page)
    for tag in ("script", "img", "b", "y", "style", "textarea", "iframe"):
        assert seen.tags[tag] == harmless.tags[tag], tag
    assert not [name for name in seen.attributes if name.startswith("on")]
    assert seen.attributes["style"] == 0
    assert "<y>" not in page
    assert "<script>window" not in page
    place = next(i for i, item in enumerate(seen.items["items"]) if item["id"] == first)
    start, omitted, end = seen.items["texts"][seen.items["replies"][0][place][5]]
    assert len((start + end).encode()) <= 4096
    assert len(start) + omitted + len(end) == len(text)


def test_embedded_data_holds_no_bracket_at_all(tmp_path: Path, twin: Benchmark) -> None:
    run = made(tmp_path, twin, "x", texts(lambda _: "<p>&amp;</p>", N))
    page = render([run])
    block = page.split('id="items">', 1)[1].split("</script>", 1)[0]
    assert not set("<>&") & set(block)
    assert json.loads(block)["texts"] == [["<p>&amp;</p>", 0, ""]]


def test_policy_allows_what_is_in_the_page_and_nothing_else(tmp_path: Path, twin: Benchmark) -> None:
    page = render([made(tmp_path, twin, "x", texts(always_answer, N))])
    found = re.search(r'Content-Security-Policy" content="([^"]+)"', page)
    assert found
    policy = found[1].replace("&#39;", "'").replace("&#43;", "+")
    assert policy.startswith("default-src 'none'; img-src data:;")
    assert "unsafe" not in policy
    for kind, text in Page(page).blocks:
        if kind != "application/json":
            digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
            assert f"{kind}-src 'sha256-{digest}'" in policy
    outside = re.findall(r'(?:src|href|action)="(?!#)([^"]*)"', page)
    assert outside == []
    assert "http" not in page.replace("http-equiv", "")


def test_same_runs_give_the_same_bytes(tmp_path: Path, twin: Benchmark) -> None:
    said = texts(skilled(0.6), N)
    backwards = dict(reversed(said.items()))
    one, other = made(tmp_path, twin, "m", said), made(tmp_path, twin, "m", backwards)
    assert render([one]) == render([other])
    assert str(tmp_path) not in render([one])


def test_failed_requests_stand_in_front(tmp_path: Path, twin: Benchmark) -> None:
    said = texts(skilled(0.9), N)
    failed = dict(list(said.items())[: N * 3 // 10])
    run = made(tmp_path, twin, "m", said | dict.fromkeys(failed, HOST_ERROR))
    page = render([run])
    bounds = run.summary.metrics["accept_acc"].bounds
    assert "30.0 % of the requests failed" in page
    assert f"{100 * bounds['value_if_dropped']:.1f} %" in page
    assert Page(page).items["outcomes"][5] == "failed request"


def test_runs_over_different_data_are_not_put_side_by_side(tmp_path: Path, twin: Benchmark) -> None:
    other = loader.load(make_twin(tmp_path / "other", n=N, seed=1, provenance="none"))
    first = made(tmp_path, twin, "a", texts(always_answer, N))
    with pytest.raises(ConfigError, match="different data"):
        render([first, replace(first, name="b", benchmark=other)])


def test_a_run_without_verdicts_is_refused(tmp_path: Path, twin: Benchmark) -> None:
    run = made(tmp_path, twin, "a", texts(lambda _: "yes", N), task="georefusalbench_forced")
    with pytest.raises(ConfigError, match="yes and no only"):
        render([run])


@pytest.mark.parametrize("n", [0, 1])
def test_next_to_nothing_is_shown_as_undefined(tmp_path: Path, twin: Benchmark, n: int) -> None:
    run = made(tmp_path, twin, "tiny", texts(always_answer, N))
    page = render([replace(run, rows=run.rows[:n])])
    assert not re.search(r"\b(nan|inf|None)\b", re.sub(r'"data:[^"]*"|<script.*', "", page, flags=re.DOTALL))
    assert f"{n}/{N}" in page
    assert "– (n 0)" in page


def test_fifty_models_stand_side_by_side(tmp_path: Path, twin: Benchmark) -> None:
    run = made(tmp_path, twin, "m", texts(skilled(0.6), N))
    page = render([replace(run, name=f"model {number}") for number in range(50)])
    assert "first 8 of 50 runs" in page
    assert all(f"model {number}<" in page for number in range(50))


def test_variants_stand_beside_the_run(tmp_path: Path, twin: Benchmark) -> None:
    place = write_host(
        tmp_path,
        {
            "georefusalbench": texts(skilled(0.8), N),
            "georefusalbench_noimage": texts(always_answer, N),
            "georefusalbench_minimal": texts(skilled(0.7, 1), N),
            "georefusalbench_forced": texts(lambda _: "yes", N),
        },
    )
    run = load_run(place, data=twin)
    page = Page(render([run]))
    flat = {(row[1], row[3]) for row in page.rows if len(row) > 3 and row[0] == run.name}
    values = sorted(
        100 * (each.summary.metrics["accept_acc"].value or 0) for each in (run, run.variants["georefusalbench_minimal"])
    )
    assert ("2 prompts, min to max", f"{values[0]:.1f} to {values[1]:.1f}") in flat
    assert {"main", "noimage", "minimal", "georefusalbench_forced"} <= {row[1] for row in page.rows if len(row) > 3}


def test_provenance_adds_clusters_pairs_curves_and_splits(tmp_path: Path, twin: Benchmark) -> None:
    folder = write_provenance(tmp_path / "made", N)
    run = made(tmp_path, twin, "m", texts(skilled(0.7), N), provenance=folder)
    page = render([run])
    assert f"as {N // 4} clusters" in page
    rows = {(row[0], row[1]) for row in Page(page).rows if len(row) > 2}
    assert {("measured", "m"), ("consensus", "m"), ("optical", "m"), ("sar", "m"), ("m", "pair_id")} <= rows
    assert "refusal against severity" in page
    assert "something_new" not in page
    plain = render([made(tmp_path, twin, "m", texts(skilled(0.7), N))])
    assert "clusters" not in re.sub(r"<script.*", "", plain, flags=re.DOTALL).split("<body>")[1]


def test_the_reason_of_a_refusal_stands_beside_the_error_rates(tmp_path: Path, twin: Benchmark) -> None:
    """A composite score without the two error rates beside it can be read as safety."""
    run = made(tmp_path, twin, "m", texts(skilled(0.7), N))
    for part in categories([run]).parts:
        if isinstance(part, Table) and "Balanced verdict" in part.columns:
            assert {"False refusals", "Missed refusals"} <= set(part.columns)
            return
    pytest.fail("no table of composite scores")
