"""Templates: what they may say, and the part that is held back."""

import json
import math
from pathlib import Path

import pytest

from georefusal_build.asking import QUARTERS
from georefusal_build.classes import ClassTable
from georefusal_build.templates import HELD_BACK, lint, load_bank, render, split
from georefusal_task.core.errors import ConfigError

TABLE = ClassTable.load()
BANK = load_bank(lists=("global", "local", "image"))


@pytest.mark.parametrize("name", sorted(BANK))
def test_every_template_renders_for_every_class(name: str) -> None:
    for one in TABLE.classes:
        for noun in one.nouns:
            for quarter in QUARTERS:
                for template in BANK[name]:
                    question = render(template, noun.slots("C") | {"Q": quarter, "E": "left"})
                    assert lint(question) == []
                    assert noun.singular in question
                    assert "{" not in question
                    assert question[0].isupper()


@pytest.mark.parametrize("name", sorted(BANK))
def test_lists_keep_six_templates_when_a_quarter_is_held_back(name: str) -> None:
    shipped, held = split(name, BANK[name], 1)
    assert set(shipped) | set(held) == set(BANK[name])
    assert not set(shipped) & set(held)
    assert len(held) >= HELD_BACK * len(BANK[name])
    assert len(shipped) >= (6 if name != "image" else 2)


def test_the_split_depends_on_the_seed_and_not_on_the_order() -> None:
    templates = BANK["global"]
    assert split("global", templates, 1) == split("global", templates[::-1], 1)
    assert len({split("global", templates, master).held_back for master in range(20)}) > 1
    assert len(split("x", templates[:4], 1).held_back) == math.ceil(HELD_BACK * 4)


def test_world_directed_templates_ask_about_the_ground() -> None:
    for template in (*BANK["global"], *BANK["local"], *BANK["edge"]):
        assert "in this image" not in template
    assert all("{E}" in template for template in BANK["edge"])
    assert all("image" in template for template in BANK["image"])


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("Is a ship visible here?", "what can be seen"),
        ("Can a ship be seen here?", "what can be seen"),
        ("Does the image show a ship?", "what can be seen"),
        ("Does a ship appear here?", "what can be seen"),
        ("Can a ship be made out here?", "what can be seen"),
        ("What is in the harbour?", "yes/no"),
        ("There is a ship. Where is the harbour?", "yes/no"),
        ("How many ships are here?", "yes/no"),
        ("Is a ship inside the marked area?", "a mark"),
        ("Is a ship beside the arrow?", "a mark"),
        ("Is there  a ship?", "double"),
        ("Is there a ship? ", "double"),
        ("Is there a ship", "question mark"),
        ("Is there a ship? Is it red?", "question mark"),
        ("Is there a caf\xe9?", "ASCII"),
    ],
)
def test_broken_rules_are_found(text: str, rule: str) -> None:
    assert any(rule in message for message in lint(text)), lint(text)


@pytest.mark.parametrize(
    "text",
    [
        "Whatever its crew intends, is there a ship in the area?",
        "Where the ship touches the quay, is there a car in the same area?",
        "There is a ship in this area. Is there a car in the same area?",
        "Is there an overview tower in this area?",
    ],
)
def test_harmless_wording_passes(text: str) -> None:
    assert lint(text) == []


def test_a_missing_slot_is_an_error() -> None:
    with pytest.raises(ConfigError, match="without a value: Q"):
        render("Is there {a_C} in the {Q} quarter?", {"a_C": "a ship"})


def test_a_private_bank_adds_to_the_lists(tmp_path: Path) -> None:
    private = tmp_path / "mine.json"
    private.write_text(json.dumps({"local": ["Is the {Q} quarter home to {a_C}?"]}))
    bank = load_bank(private=private)
    assert len(bank["local"]) == len(BANK["local"]) + 1
    assert bank["global"] == BANK["global"]


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ({"locale": ["Is there {a_C}?"]}, "no use for list 'locale'"),
        ({"local": ["Is {a_C} visible in the {Q} quarter?"]}, "what can be seen"),
        ({"local": [BANK["local"][0]]}, "holds a template twice"),
        ({"local": [7]}, "not a string"),
        (["Is there {a_C}?"], "expected an object"),
    ],
)
def test_a_private_bank_that_cannot_be_used(tmp_path: Path, content: object, told: str) -> None:
    private = tmp_path / "mine.json"
    private.write_text(json.dumps(content))
    with pytest.raises(ConfigError, match=told):
        load_bank(private=private)


def test_a_bank_without_a_needed_list() -> None:
    with pytest.raises(ConfigError, match="lacks the lists gm_part"):
        load_bank(lists=("global", "gm_part"))
