"""Inside a family whose levers share their wordings, the question alone must not tell LOW from the refusals."""

import pytest
from support.asked import scattered
from support.text_gate import GATE, asked, told_by_words

from georefusal_build.levers import QUESTION_FAMILIES
from georefusal_task.core.verdicts import Verdict

FAMILIES = [name for name, family in QUESTION_FAMILIES.items() if family.category is Verdict.FALSE_PREMISE]
TOWNS = {"fp_place": 200, "fp_attribute": 200, "fp_entity": 200}
"""Two base questions each; the others find a matching form on fewer of them."""


@pytest.mark.slow
@pytest.mark.parametrize("family", FAMILIES)
def test_words_do_not_tell_a_false_premise(family: str) -> None:
    """A number, a clause or a kind of picture that is only ever said falsely gives a model without eyes the label."""
    texts, refused, groups = asked(family, TOWNS.get(family, 420))
    assert min(refused.sum(), (~refused).sum()) >= 40
    assert told_by_words(texts, refused, groups) <= GATE


@pytest.mark.slow
def test_words_do_not_tell_a_false_side_of_the_frame() -> None:
    """Objects of the towns keep to the quarters; on these tiles they lie anywhere, and every variant has many items."""
    texts, refused, groups = asked("fp_place", 420, build=scattered, variant="side")
    assert min(refused.sum(), (~refused).sum()) >= 150
    assert told_by_words(texts, refused, groups) <= GATE


@pytest.mark.slow
@pytest.mark.parametrize("family", ["fp_count", "fp_relation", "fp_capture"])
def test_premises_drawn_by_what_is_false_here_are_caught(family: str) -> None:
    """The gate sees the leak that these families have when whatever fits the tile is said."""
    assert told_by_words(*asked(family, 200, even=False)) > GATE
