"""The question bank and its tables: every text renders, obeys the rules, and a quarter of it can be kept private."""

import itertools
import json
import re
from pathlib import Path

import pytest
from support.asked import MASTER, TABLE

from georefusal_build.ask import BANK_FILE, question_bank
from georefusal_build.levers import QUESTION_FAMILIES
from georefusal_build.levers.asked import capitalised, wordings
from georefusal_build.levers.false_premise import NUMBERS
from georefusal_build.levers.premises import ATTRIBUTES, RELATIONS, claims
from georefusal_build.levers.scope import BRACKETED, SHARED, TANGLED
from georefusal_build.question_tables import load_tables
from georefusal_build.templates import HELD_BACK, lint, load_bank, render
from georefusal_task.core.errors import ConfigError
from georefusal_task.core.records import Intensity

BANK = load_bank(BANK_FILE)
TABLES = load_tables()
WHOLE = {f"{name}_{i.lower()}" for name in QUESTION_FAMILIES for i in Intensity} | {*QUESTION_FAMILIES}

SEEN = re.compile(r"\b(visible|visibly|seen?|sees|seeing|shows?|shown|appears?|apparent|made out|look like)\b", re.I)

CLAUSES = [text for clauses in TABLES.clauses.values() for texts in clauses.values() for text in texts]


def slots_of(name: str) -> list[dict[str, str]]:
    """Return every set of slot values that a list is rendered with."""
    nouns = [noun for one in TABLE.classes if one.ask for noun in one.nouns]
    more = {
        "K": "40",
        "Q": "upper-left",
        "COL": "red",
        "N": NUMBERS[0],
        "P": "an open sunroof",
        "T": "ferry",
        "a_T": "a ferry",
        "W": "tank",
        "a_W": "a tank",
        "W2": "dock",
        "M": "radar image",
        "a_M": "a radar image",
        "S": "the ship is long",
        "S_cap": "The ship is long",
    }
    if name == "fp_place/side":
        more["Q"] = "left"
    return [{k: v for letter in "CABD" for k, v in noun.slots(letter).items()} | more for noun in nouns]


@pytest.mark.parametrize("name", sorted(BANK))
def test_every_template_renders_for_every_class(name: str) -> None:
    for slots in slots_of(name):
        for template in BANK[name]:
            question = render(template, slots)
            assert lint(question) == []
            assert not SEEN.search(question)
            assert question[0].isupper()
            assert "{" not in question


@pytest.mark.parametrize("name", sorted(BANK))
def test_what_is_published_and_what_is_held_back_make_up_the_list(name: str) -> None:
    shipped, held = question_bank(MASTER)[name], question_bank(MASTER, held_back=True)[name]
    assert {*shipped} | {*held} == {*BANK[name]}
    assert not {*shipped} & {*held}
    assert len(held) >= HELD_BACK * len(BANK[name])
    assert len(shipped) >= (1 if name.startswith("aq_scope/") else 6)


def test_every_list_belongs_to_a_lever() -> None:
    forms = {f"aq_scope/{form}" for form in (*SHARED, *BRACKETED, *TANGLED)}
    assert {name for name in BANK if name not in WHOLE} == forms | {"im_channel", "fp_entity/existing", "fp_place/side"}
    for family in QUESTION_FAMILIES:
        if family != "aq_scope":
            assert all(wordings(BANK, family, intensity) for intensity in Intensity)


@pytest.mark.parametrize("name", [n for n in sorted(BANK) if n[:2] in ("gm", "nf")])
def test_questions_about_one_image_or_none_presuppose_no_number(name: str) -> None:
    """With "the ships here" a single ship would make the premise false, and that outranks the lever's own reason."""
    for template in BANK[name]:
        assert not re.search(r"\b(the|its|these|those|both|their) \{C(_pl)?\}", template)


def test_a_place_is_said_in_words_of_its_own_kind() -> None:
    """ "The left quarter" and "the upper-left third" have no one meaning."""
    for name, word in (
        ("fp_place", r"\{Q\} (quarter|part of the frame)\b"),
        ("fp_place/side", r"\{Q\} third of the frame\b"),
    ):
        assert all(len(re.findall(word, template)) == template.count("{Q}") == 1 for template in BANK[name])


@pytest.mark.parametrize(
    "family", ["gm_change", "gm_motion", "gm_schedule", *(f for f in QUESTION_FAMILIES if f[:2] == "nf")]
)
def test_low_questions_are_about_as_long_as_the_refused_ones(family: str) -> None:
    means = [sum(map(len, map(str.split, w))) / len(w) for w in (wordings(BANK, family, i) for i in Intensity)]
    assert max(means) <= 1.4 * min(means), means


def test_a_private_bank_joins_the_lists(tmp_path: Path) -> None:
    mine = ["Is {a_C} here the fruit of a bet?", "Does {a_C} here carry a secret wish?"]
    private = tmp_path / "mine.json"
    private.write_text(json.dumps({"nf_intent_high": mine}))
    both = [question_bank(MASTER, private=private, held_back=held)["nf_intent_high"] for held in (False, True)]
    assert {*mine} <= {text for part in both for text in part}
    assert sum(map(len, both)) == len(BANK["nf_intent_high"]) + 2


def test_a_private_bank_obeys_the_rules_too(tmp_path: Path) -> None:
    private = tmp_path / "mine.json"
    private.write_text(json.dumps({"nf_intent_high": ["Is {a_C} seen here?"]}))
    with pytest.raises(ConfigError, match="what can be seen"):
        question_bank(MASTER, private=private)


def test_another_seed_holds_back_other_templates() -> None:
    assert len({question_bank(master)["fp_entity"] for master in range(20)}) > 5


def test_the_tables_speak_of_known_classes_and_known_clauses() -> None:
    TABLES.check(TABLE)
    assert {*TABLES.clauses["fp_attribute"]} == {*ATTRIBUTES}
    assert {*TABLES.clauses["fp_relation"]} == {*RELATIONS}
    told = {picture.claim for picture in TABLES.pictures}
    assert told >= {*claims(None, "optical"), *claims(None, "sar")}


@pytest.mark.parametrize("clause", CLAUSES)
def test_clauses_obey_the_rules_inside_a_question(clause: str) -> None:
    for slots in slots_of("")[:40]:
        said = render(clause, slots | {"side": "left"})
        for template in (*BANK["fp_attribute"], *BANK["fp_relation"]):
            question = render(template, slots | {"S": said, "S_cap": capitalised(said)})
            assert lint(question) == []
            assert not SEEN.search(question)


@pytest.mark.parametrize("name", sorted(TABLES.parts))
def test_parts_and_kinds_get_finer_from_low_to_high(name: str) -> None:
    sizes = [[part.metres or 1000 for part in TABLES.parts[name][i]] for i in Intensity]
    assert all(min(a) > max(b) for a, b in itertools.pairwise(sizes))
    if name in TABLES.ladder:
        kinds = [TABLES.ladder[name][i].metres for i in Intensity]
        assert kinds == sorted(kinds, reverse=True)
        assert all(kind.a.endswith(kind.name) for kind in TABLES.ladder[name].values())
