"""Rows in other people's spellings come out as the canonical fields, or as an error that quotes what was found."""

import json
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from georefusal_task.core.records import Intensity
from georefusal_task.core.verdicts import REFUSALS, VERDICTS, Verdict, primary
from georefusal_task.data_columns import (
    COLUMNS,
    MissingColumnError,
    read_case,
    read_label,
    read_verdict,
    read_verdicts,
)

LABEL: dict[str, Any] = {"id": "A-0f", "set": "A", "gold": "ANSWER", "accept": ["ANSWER"]}
CASE: dict[str, Any] = {"id": "A-0f", "set": "A", "image": "images/A/A-0f.png", "question": "Is there a pier?"}


def find(value: object, item_set: str) -> Path:
    return Path("/data") / str(value)


def any_case(text: str) -> st.SearchStrategy[str]:
    return st.tuples(*(st.sampled_from([c.lower(), c.upper()]) for c in text)).map("".join)


def column(field: str) -> st.SearchStrategy[str]:
    """Any name that means the field, in any case, with underscores, spaces or hyphens."""
    return st.tuples(st.sampled_from(COLUMNS[field]), st.sampled_from("_ -")).flatmap(
        lambda chosen: any_case(chosen[0].replace("_", chosen[1]))
    )


def test_no_column_name_means_two_fields() -> None:
    names = Counter(name for names in COLUMNS.values() for name in names)
    assert [name for name, count in names.items() if count > 1] == []


@pytest.mark.parametrize(
    ("field", "names"),
    [
        ("gold", ["gold", "gold_verdict", "verdict"]),
        ("accept", ["accept", "accept_set", "accepted"]),
        ("lever", ["lever", "mechanism"]),
        ("image", ["image", "image_path", "file_name"]),
        ("set", ["set", "split", "batch"]),
    ],
)
def test_the_spellings_promised_in_the_docs_are_known(field: str, names: list[str]) -> None:
    assert set(names) <= set(COLUMNS[field])


ENCODINGS = [list, tuple, json.dumps, "|".join, " , ".join, ";".join]


@given(data=st.data(), accepted=st.sets(st.sampled_from(VERDICTS), min_size=1), encode=st.sampled_from(ENCODINGS))
def test_a_label_reads_the_same_in_every_spelling(data: st.DataObject, accepted: set[Verdict], encode: Any) -> None:
    gold = data.draw(st.sampled_from(sorted(accepted)))
    category = data.draw(st.sampled_from(REFUSALS))
    intensity = data.draw(st.sampled_from(list(Intensity)))
    members = data.draw(st.permutations([str(verdict) for verdict in accepted]))
    row = {
        data.draw(column("id")): "B-12",
        data.draw(column("gold")): data.draw(any_case(gold)),
        data.draw(column("accept")): encode([data.draw(any_case(member)) for member in members]),
        data.draw(column("category")): data.draw(any_case(category.removeprefix("REFUSE_"))),
        data.draw(column("intensity")): data.draw(any_case(intensity)),
        data.draw(column("lever")): "im_occlude_low",
        data.draw(column("answer")): data.draw(st.sampled_from(["yes", "YES", "Yes", True])),
    }
    label = read_label(row)
    assert (label.id, label.set, label.gold, set(label.accept)) == ("B-12", "B", gold, accepted)
    assert (label.category, label.intensity, label.answer) == (category, intensity, "yes")
    assert label.lever_family == "im_occlude"


@given(st.sets(st.sampled_from(VERDICTS), min_size=1), st.sampled_from(ENCODINGS), st.sampled_from(["gold", "accept"]))
def test_the_only_set_is_the_accept_set_and_gold_its_first_by_precedence(
    accepted: set[Verdict], encode: Any, field: str
) -> None:
    label = read_label({"id": "A-1", field: encode([str(verdict) for verdict in accepted])})
    assert set(label.accept) == accepted
    assert label.gold == primary(accepted)


def test_a_gold_list_beside_a_single_gold_is_the_accept_set() -> None:
    both = ["REFUSE_AMBIGUOUS_QUERY", "REFUSE_GRANULARITY_MISMATCH"]
    label = read_label({"id": "A-1", "gold": both, "verdict": "REFUSE_GRANULARITY_MISMATCH"})
    assert (label.gold, set(label.accept)) == (Verdict.GRANULARITY, set(both))


@given(st.sampled_from(VERDICTS), st.integers(0, 30), st.sampled_from("ZJ7"))
def test_a_near_miss_is_never_a_verdict(verdict: Verdict, place: int, letter: str) -> None:
    """A forgiving reader would turn a typing error in the labels into a score."""
    place %= len(verdict)
    with pytest.raises(ValueError, match="is not a verdict"):
        read_verdict(verdict[:place] + letter + verdict[place + 1 :])


@pytest.mark.parametrize("wrong", ["REFUSE_ANSWER", "REFUSE_OTHER", "REFUSE", "", "yes", None, 3, True, ["ANSWER"]])
def test_other_values_are_no_verdict(wrong: object) -> None:
    with pytest.raises(ValueError, match="is not a verdict"):
        read_verdict(wrong)


@pytest.mark.parametrize("empty", [[], "", " ", "[]", "|", ", ;"])
def test_an_empty_accept_set_is_an_error(empty: object) -> None:
    with pytest.raises(ValueError, match="empty"):
        read_label(LABEL | {"accept": empty})


@pytest.mark.parametrize(
    "wrong", ['["ANSWER"', '[["ANSWER"]]', "[1]", 1, {"ANSWER": True}, "ANSWER REFUSE_AMBIGUOUS_QUERY"]
)
def test_a_broken_accept_set_is_an_error(wrong: object) -> None:
    with pytest.raises(ValueError, match="accept"):
        read_label(LABEL | {"accept": wrong})


def test_repeated_members_of_an_accept_set_count_once() -> None:
    assert read_verdicts("ANSWER|answer") == (Verdict.ANSWER,)


def test_gold_outside_the_accept_set_is_an_error() -> None:
    with pytest.raises(ValueError, match="not in the accept set"):
        read_label(LABEL | {"accept": ["REFUSE_AMBIGUOUS_QUERY"]})


@pytest.mark.parametrize(
    "extra",
    [{"verdict": "REFUSE_AMBIGUOUS_QUERY"}, {"accepted": ["ANSWER", "REFUSE_AMBIGUOUS_QUERY"]}, {"batch": "B"}],
)
def test_two_columns_that_contradict_each_other_are_an_error(extra: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="differ") as caught:
        read_label(LABEL | extra)
    assert repr(next(iter(extra))) in str(caught.value)


def test_two_columns_that_agree_are_fine() -> None:
    assert read_label(LABEL | {"verdict": "answer", "accepted": "ANSWER", "split": "A"}).gold == Verdict.ANSWER


@pytest.mark.parametrize("null", [None, float("nan")])
def test_null_is_as_good_as_absent(null: object) -> None:
    label = read_label(LABEL | {"accept": null, "lever": null, "answer": null, "score_answer": null, "set": null})
    assert label == read_label({"id": "A-0f", "gold": "ANSWER"})


@pytest.mark.parametrize("gone", ["id", "image", "question"])
def test_a_missing_case_column_names_those_found_and_expected(gone: str) -> None:
    row = {key: value for key, value in CASE.items() if key != gone} | {"my_column": 1}
    with pytest.raises(MissingColumnError, match="'my_column'") as caught:
        read_case(row, find)
    assert all(name in str(caught.value) for name in COLUMNS[gone])


def test_labels_without_any_verdict_column_name_those_expected() -> None:
    with pytest.raises(
        MissingColumnError, match=r"gold or accept: found 'id', 'truth'; expected one of gold, .*accept"
    ):
        read_label({"id": "A-1", "truth": "ANSWER"})


@pytest.mark.parametrize(
    ("field", "wrong"),
    [
        *(
            ("id", value)
            for value in ["A", "A-", "-0f", "A-xyz", "A-0F", "A 1-0f", "../A-0f", "A-0f\n", "A/b-0f", 7, ""]
        ),
        *(("set", value) for value in ["B", "a", "A-0f", 1]),
        *(("question", value) for value in ["", "  \n", 5, ["Is it?"], "half \ud800 pair", None]),
        ("image", None),
    ],
)
def test_a_wrong_case_value_is_an_error(field: str, wrong: object) -> None:
    with pytest.raises(ValueError):
        read_case(CASE | {field: wrong}, find)


@pytest.mark.parametrize(
    ("field", "wrong"),
    [
        *(("answer", value) for value in ["maybe", "1", 1, "not sure", ["yes"]]),
        *(("category", value) for value in ["cloud", 3]),
        *(("intensity", value) for value in ["EXTREME", 2, ""]),
        *(("score_answer", value) for value in ["sometimes", 2, ""]),
        ("lever", 4),
        ("gold", "REFUSE_AMBIGIOUS_QUERY"),
    ],
)
def test_a_wrong_label_value_is_quoted(field: str, wrong: object) -> None:
    with pytest.raises(ValueError) as caught:
        read_label(LABEL | {field: wrong})
    assert repr(wrong) in str(caught.value)


@pytest.mark.parametrize("item_set", ["A", "demo", "my_set", "v1.2", "city-2024"])
def test_sets_may_have_other_names(item_set: str) -> None:
    label = read_label({"id": f"{item_set}-0f", "set": item_set, "gold": "ANSWER"})
    assert label.set == item_set


def test_the_question_is_kept_to_the_letter() -> None:
    question = "  Is there a pier\u2028near the\tquay? "
    assert read_case(CASE | {"question": question}, find).question == question


@pytest.mark.parametrize(("said", "meant"), [("no", "no"), (False, "no"), ("", ""), ("TRUE", "yes"), (" No ", "no")])
def test_answers(said: object, meant: str) -> None:
    assert read_label(LABEL | {"answer": said}).answer == meant


@pytest.mark.parametrize(("said", "meant"), [(False, False), (0, False), ("false", False), ("No", False), (1, True)])
def test_score_answer(said: object, meant: bool) -> None:
    assert read_label(LABEL | {"score_answer": said}).score_answer is meant


def test_an_answerable_item_filed_under_answer_has_no_category() -> None:
    assert read_label(LABEL | {"category": "ANSWER"}).category is None


def test_an_embedded_image_wins_over_a_column_that_says_where_it_lay() -> None:
    feature = {"bytes": b"png", "path": None}
    row = {"id": "A-1", "question": "Is it?", "image": feature, "image_path": "elsewhere.png"}
    assert read_case(row, lambda value, item_set: Path("/cache") if value is feature else Path("/no")).image == Path(
        "/cache"
    )


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary() | st.sampled_from(VERDICTS),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)
rows = st.dictionaries(st.sampled_from([name for names in COLUMNS.values() for name in names]) | st.text(), json_values)


@given(rows)
def test_any_row_is_read_or_refused_with_a_value_error(row: dict[str, Any]) -> None:
    """Anything else would come out of a harness as a traceback from inside the loader."""
    for read in (read_label, lambda row: read_case(row, find)):
        with suppress(ValueError):
            read({"id": "A-0f", "gold": "ANSWER", "image": "a.png", "question": "Is it?"} | row)
        with suppress(ValueError):
            read(row)


def test_deep_nesting_in_an_accept_set_is_an_error() -> None:
    with pytest.raises(ValueError, match="starts like JSON"):
        read_label(LABEL | {"accept": "[" * 100_000})


def test_a_message_about_a_row_of_a_thousand_columns_is_short() -> None:
    with pytest.raises(MissingColumnError, match="and 988 more") as caught:
        read_label({f"column {number}": 1 for number in range(1000)})
    assert len(str(caught.value)) < 600
