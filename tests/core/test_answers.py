"""Yes and no are read only where they are plain."""

import pytest

from georefusal_task.core.answers import read_yes_no


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        *(
            (text, "yes")
            for text in ("yes", "Yes.", "YES!", '"yes"', "'yes'", "**Yes**", "- yes", "Yes (a ship)", "Yes,yes")
        ),
        *((text, "yes") for text in ("yes, there is a ship", "Yes there is", "Yes\nThe ship lies at the quay.")),
        *(
            (text, "yes")
            for text in ("Answer: yes", "Final answer: **yes**", "The answer is yes.", "My answer is: yes")
        ),
        *((text, "no") for text in ("no", "No.", "**No**", "Answer: no", "No, notice the pier", "No\u2014the pier")),
        *((text, "no") for text in ("No there is none", "No. There is no pier.", "no, nobody can know")),
    ],
)
def test_plain(text, answer):
    assert read_yes_no(text) == answer


@pytest.mark.parametrize(
    "text",
    [
        *("", "maybe", "not sure", "y", "n", "true", "nope", "yeah", "It depends"),
        *("notice", "know", "yesterday", "no-one", "no one", "none", "eyes"),  # "no" was found inside "notice"
        *("yes and no", "Yes. No.", "Yes/No", "yes or no", "No, yes", "yes\nno", "Yes, there is no ship"),
        *("Yes, but I am not sure", "No, maybe", "yes?", "Perhaps yes", "Yes, possibly"),
        *("no ship is visible", "No ships."),  # the question may have been whether the quay is empty
        "There are ships, so yes",
    ],
)
def test_anything_else_is_neither(text):
    assert read_yes_no(text) is None
