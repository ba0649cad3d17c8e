"""Which items are kept: nothing but the image may tell an answer from a refusal."""

import random
from collections import Counter
from itertools import product
from typing import Any

import pytest
from support import small_build as small

from georefusal_build.build_config import BuildConfig
from georefusal_build.settling import CAPPED, DUPLICATE, NO_COUNTERPART, SAME_BASE, SURPLUS, settle

CATEGORY = {"im": "REFUSE_INFO_MISSING_IN_CONTEXT", "fp": "REFUSE_FALSE_PREMISE_IN_QUERY"}


def row(number: int, lever: str, **more: Any) -> dict[str, Any]:
    """Return a made item as it is stored, with what the choice looks at."""
    intensity = lever.rpartition("_")[2].upper()
    values = {
        "base": f"base-{number}", "scene": f"scene-{number % 7}", "class": ("ship", "car", "plane")[number % 3],
        "scope": "whole", "base_answer": ("yes", "no")[number % 2], "modality": ("optical", "sar")[number // 2 % 2],
        "variant": "v", "pair_id": None, "params": {}, "fingerprint": f"{lever}-{number}",
    } | more  # fmt: skip
    low = intensity == "LOW"
    return {
        "key": f"{values['base']}|{lever}",
        "label": {
            "lever": lever, "intensity": intensity, "category": CATEGORY[lever[:2]],
            "answer": values["base_answer"] if low else "", "gold": "ANSWER" if low else CATEGORY[lever[:2]],
        },
        "provenance": {
            "base_id": values["base"], "scene": values["scene"], "window": [0, 0, 9, 9], "variant": values["variant"],
            "modality": values["modality"], "base_answer": values["base_answer"], "params": values["params"],
            "asks": {"class": values["class"], "scope": values["scope"], "cell": None}, "boxes": [],
            "pair_id": values["pair_id"], "fingerprint": values["fingerprint"],
        },
    }  # fmt: skip


def crowd(family: str = "im_redact", count: int = 60) -> list[dict[str, Any]]:
    """Return items of each intensity on the same bases."""
    return [row(n, f"{family}_{level}") for n, level in product(range(count), ("low", "medium", "high"))]


def config(**changed: Any) -> BuildConfig:
    return small.config(**({"items": None} | changed))


def kept(rows: list[dict[str, Any]], settings: BuildConfig) -> list[dict[str, Any]]:
    return settle(rows, settings)[0]


def levels(rows: list[dict[str, Any]]) -> Counter[str]:
    return Counter(one["label"]["intensity"] for one in rows)


def test_every_row_is_kept_or_dropped_for_one_reason() -> None:
    rows = crowd() + crowd("fp_entity", 7)
    taken, dropped = settle(rows, config(items=40))
    assert sorted([one["key"] for one in taken + dropped]) == sorted(one["key"] for one in rows)
    assert {one["reason"] for one in dropped} <= {DUPLICATE, CAPPED, SAME_BASE, NO_COUNTERPART, SURPLUS}
    assert all(one["detail"] for one in dropped)


def test_the_order_of_the_rows_does_not_matter() -> None:
    """Shards come in any order: another one must not give another set."""
    rows = crowd()
    first = settle(rows, config(items=30))
    random.Random(4).shuffle(rows)
    assert settle(rows, config(items=30)) == first
    assert settle(rows, config(items=30, seed=5)) != first


def test_one_item_for_a_base_and_family() -> None:
    taken = kept(crowd(), config())
    assert Counter(one["provenance"]["base_id"] for one in taken).most_common(1)[0][1] == 1


@pytest.mark.parametrize(
    ("weights", "shares"),
    [({}, (2, 1, 1)), ({"LOW": 1}, (1, 1, 1)), ({"MEDIUM": 0}, (2, 0, 1)), ({"LOW": 3, "HIGH": 2}, (3, 1, 2))],
)
def test_intensities_follow_their_weights(weights: dict[str, int], shares: tuple[int, int, int]) -> None:
    counts = levels(kept(crowd(), config(weights=weights, items=48)))
    unit = sum(counts.values()) / sum(shares)
    for level, share in zip(("LOW", "MEDIUM", "HIGH"), shares, strict=True):
        assert abs(counts[level] - share * unit) <= 2, counts


def test_a_family_without_one_side_gives_nothing() -> None:
    """Refusals without answers would make the family's wording tell the verdict."""
    rows = [row(n, "im_redact_medium") for n in range(9)] + [row(n, "im_bury_low") for n in range(9)]
    taken, dropped = settle(rows, config())
    assert taken == []
    assert {one["reason"] for one in dropped} == {NO_COUNTERPART}


def test_answers_and_refusals_are_alike_in_sensor_class_and_base_answer() -> None:
    taken = kept(crowd(count=90), config(items=80))
    for trait in ("modality", "base_answer"):
        sides = Counter((one["label"]["intensity"] == "LOW", one["provenance"][trait]) for one in taken)
        assert max(sides.values()) - min(sides.values()) <= 2, sides
    sides = Counter((one["label"]["intensity"] == "LOW", one["provenance"]["asks"]["class"]) for one in taken)
    for name in ("ship", "car", "plane"):
        assert abs(sides[True, name] - sides[False, name]) <= 3, sides


def test_yes_and_no_are_as_frequent_among_the_answers() -> None:
    """A set whose answers are mostly yes rewards saying yes."""
    rows = [row(n, f"im_redact_{level}") for n, level in product(range(80), ("low", "medium"))]
    rows += [row(n, "im_redact_low", base_answer="yes") for n in range(100, 160)]
    answers = Counter(one["label"]["answer"] for one in kept(rows, config(items=40)) if one["label"]["answer"])
    assert abs(answers["yes"] - answers["no"]) <= 2


def test_pairs_stay_together() -> None:
    rows = crowd(count=40)
    rows += [row(100 + n, "im_redact_low", pair_id=f"p{n}", modality="optical") for n in range(6)]
    rows += [row(200 + n, "im_redact_high", pair_id=f"p{n}", modality="optical") for n in range(6)]
    taken = kept(rows, config(items=24))
    assert Counter(one["provenance"]["pair_id"] for one in taken if one["provenance"]["pair_id"]) == Counter(
        {f"p{n}": 2 for n in range(6)}
    )


def test_half_a_pair_is_no_pair() -> None:
    """Review keeps pairs apart: an id that nobody shares would keep items apart for nothing."""
    rows = [row(1, "im_redact_low", pair_id="p"), row(2, "im_redact_high", pair_id="q"), *crowd(count=4)]
    taken = kept(rows, config())
    assert {"base-1", "base-2"} <= {one["provenance"]["base_id"] for one in taken}
    assert {one["provenance"]["pair_id"] for one in taken} == {None}
    assert rows[0]["provenance"]["pair_id"] == "p"


def test_what_is_taken_for_granted_is_as_often_true_as_false() -> None:
    """A class that is only ever named where it is absent tells the label without the image."""
    rows = [row(n, "fp_entity_low", params={"premise": ("ship", "car")[n % 2]}) for n in range(20)]
    rows += [row(50 + n, "fp_entity_high", params={"premise": ("ship", "lake", "lake")[n % 3]}) for n in range(30)]
    strict = kept(rows, config(levers={"same_words": "strict"}))
    sides = Counter((one["provenance"]["params"]["premise"], one["label"]["gold"] == "ANSWER") for one in strict)
    assert sides == {("ship", True): 10, ("ship", False): 10}
    preferred = kept(rows, config())
    sides = Counter((one["provenance"]["params"]["premise"], one["label"]["gold"] == "ANSWER") for one in preferred)
    assert sides["ship", False] == 10
    assert sum(sides.values()) == 40


def test_answers_and_refusals_of_a_family_are_equally_coarse() -> None:
    """Large targets are asked about at small steps and small ones at large steps: sharpness would tell the label."""
    few, many = {"step": 2.0}, {"step": 8.0}
    rows = [row(n, "im_redact_low", params=few if n < 20 else many) for n in range(26)]
    rows += [row(50 + n, "im_redact_high", params=many if n < 20 else few) for n in range(23)]
    rows += [row(90, "im_redact_high", params=few, variant="w")]
    taken, dropped = settle(rows, config())
    sides = Counter((one["provenance"]["params"]["step"], one["label"]["gold"] == "ANSWER") for one in taken)
    assert sides == {(2.0, True): 3, (2.0, False): 3, (8.0, True): 6, (8.0, False): 6}
    assert {one["provenance"]["variant"] for one in taken} == {"v"}
    assert {one["reason"] for one in dropped} == {NO_COUNTERPART}


def test_items_caps_and_duplicates() -> None:
    assert len(kept(crowd() + crowd("fp_entity"), config(items=40))) == 40
    assert len(kept(crowd() + crowd("fp_entity"), config(items=41))) == 40
    capped = kept(crowd(), config(caps={"per_scene": 2}))
    assert max(Counter(one["provenance"]["scene"] for one in capped).values()) == 2
    shared = kept(crowd(), config(items=40, caps={"per_class": 0.2}))
    assert max(Counter(one["provenance"]["asks"]["class"] for one in shared).values()) <= 8
    twice = [*crowd(count=8), *(row(20 + n, "im_redact_low", fingerprint="same") for n in range(4))]
    reasons = Counter(one["reason"] for one in settle(twice, config())[1])
    assert reasons[DUPLICATE] == 3


def test_the_small_build_settles_into_all_categories() -> None:
    rows = [{"key": one.key, "label": one.label, "provenance": one.provenance} for one in small.made()]
    taken = kept(rows, small.config())
    assert len({one["label"]["category"] for one in taken}) == 5
    for family in {one["label"]["lever"].rpartition("_")[0] for one in taken}:
        mine = [one for one in taken if one["label"]["lever"].startswith(f"{family}_")]
        assert levels(mine)["LOW"] * 2 == len(mine)
