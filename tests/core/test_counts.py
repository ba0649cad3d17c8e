"""Counts in replies: a wrong number and an invented 0 are worse than none."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from georefusal_task.core.answers import read_count
from georefusal_task.core.number_words import NUMBER, number_value

PLAIN = [
    ("5", 5),
    ("5.", 5),
    (" 12\n", 12),
    ("**5**", 5),
    ("There are 12 ships.", 12),
    ("1,234", 1234),
    ("12,345,678", 12345678),
    ("twenty-one", 21),
    ("one hundred and five", 105),
    ("a hundred and five ships", 105),
    ("zero", 0),
    ("none", 0),
    ("None.", 0),
    ("no ships", 0),
    ("No ships are visible in the image.", 0),
    ("There are no ships.", 0),
    ("There aren't any ships", 0),
    ("I don't see any ships.", 0),
    ("0", 0),
    ("0 ships", 0),
    ('{"answer": 5}', 5),
    ('{"answer": "5"}', 5),
    ('{"Answer": "five"}', 5),
    ('```json\n{"answer": 5, "boxes": [[1,2,3,4]]}\n```', 5),
    ("{'answer': 5, 'boxes': [[1,2,3,4]]}", 5),
    ("Answer: 5", 5),
    ("The answer is 5.", 5),
    ("**Answer:** 7", 7),
    ("Final answer: 12", 12),
    ("I see 2 at left and 3 at right. The answer is 5.", 5),
    ("<answer>5</answer>", 5),
    ("\\boxed{5}", 5),
    ("$5$", 5),
    ("five (5)", 5),
    ("5 (five)", 5),
    ("Five ships.", 5),
    ("There is one ship.", 1),
    ("There is a single ship.", 1),
    ("Only one", 1),
    ("not a single ship", 0),
    ("A dozen", 12),
    ("half a dozen", 6),
    ("two dozen ships", 24),
    ("ONE HUNDRED", 100),
    ("How many ships? 5", 5),
    ("How many ships are there? There are 5.", 5),
    ("I count 7 vehicles in the image.", 7),
    ("A total of 9 planes: 4 on the left and 5 on the right", 9),
    ("In total, there are 9 planes.", 9),
    ("2 in the north and 3 in the south. In total 5.", 5),
    ("The number of ships is 8.", 8),
    ("Total: 14", 14),
    ("5 ships around the pier", 5),
    ("The image shows 6 ships over the water.", 6),
    ("1\u202f234", 1234),
    ("５", 5),
    ("5.0", 5),
    ('{"answer": 5.0}', 5),
    ('{"answer": [5]}', 5),
    ("<think>5 or 6</think>7", 7),
    ("Count: 3", 3),
    ("exactly 3", 3),
    ("007", 7),
    ("- 3", 3),
    ("#5", 5),
    ("three ships and no more", 3),
    ("Yes, 5", 5),
    ("[5]", 5),
    ("There are 1 ships; 1.", 1),
    ('{"count": 4}', 4),
    ("The answer is:\n5", 5),
    ("Answer:\n\n**5**", 5),
    ("ninety nine", 99),
    ("There are eleven.", 11),
    ("Without any ships", 0),
    ("In this image, I can see 3 ships near the A320.", 3),
    ('{"answer": 5, "boxes": [[10, 20', 5),
    ("one thousand two hundred and thirty-four", 1234),
    ("Looking at the image, there are four storage tanks.", 4),
    ("There are 3 ships, one of which is docked", 3),
    ("It is 3", 3),
    ("There are 3 airplanes parked at the gates.", 3),
    ("I can count 18 storage tanks", 18),
    ("2,000 vehicles", 2000),
    ("Twelve", 12),
    ("'7'", 7),
    ("a half dozen", 6),
    ("Ships = 5", 5),
    ("No, there are 5.", 5),
    ("I counted 1, 2, 3, 4, 5, so the answer is 5", 5),
    ("There are 5 ships in the 3rd dock", 5),
    ("Zero ships are present.", 0),
    ("There is no airplane in this image.", 0),
    ("The image does not contain any harbors.", 0),
    ("I cannot see any bridges", 0),
    ("The image shows two bridges, i.e. 2.", 2),
    ("seventy-three", 73),
    ("nine hundred ninety-nine", 999),
    ("three thousand and one", 3001),
    ("Count = 6", 6),
    ("The total number of courts in the picture is four.", 4),
    ("Altogether, eight", 8),
    ("> 5".replace("> ", "* "), 5),
    ("1 000", 1000),
    ("There are 12 345 cars.", 12345),
    ("There are 5 ships in total: 2 near the dock and 3 in open water.", 5),
    ("In total: 5", 5),
    ("No problem! There are 5 ships.", 5),
    ("5 ships in the left half of the image", 5),
    ("There are 5 ships in the harbour. There are 5 ships in the image.", 5),
    ("5 ships, likely cargo vessels", 5),
    ("half a dozen ships", 6),
    ("no ships in the image", 0),
    ("I do not see any ships in this image", 0),
    ("I think 5", 5),
]
NOT_PLAIN = [
    "about 5",
    "approximately 5",
    "around five",
    "roughly 5",
    "several",
    "several ships",
    "5 or 6",
    "5-6",
    "5–6",
    "5 to 6",
    "between 5 and 6",
    "1,5",
    "2.5",
    "-3",
    "−3",
    "minus three",
    "at least 5",
    "more than 5",
    "5+",
    "5 or more",
    "5 or so",
    "~5",
    "≈ 5",
    "<5",
    ">5",
    "up to 5",
    "many",
    "a few",
    "some",
    "dozens",
    "hundreds of ships",
    "a couple",
    "yes",
    "no",
    "No.",
    "",
    "unknown",
    "I cannot tell",
    "not 5",
    "maybe 5",
    "perhaps 5",
    "5 perhaps",
    "5, no, 6",
    "3 ships and 4 ships",
    "five and six",
    "5%",
    "5 %",
    "1/2",
    "half",
    "1,23",
    "1.234",
    "1,2345",
    "12,34,567",
    "5th",
    "three or four",
    "nearly 10",
    "over 100",
    "almost twenty",
    "fewer than 3",
    "under 10",
    "some 20 ships",
    "a few hundred",
    "several dozen",
    "There might be 5 or possibly 6",
    "5?",
    "twenty twenty one?",
    '{"answer": true}',
    '{"answer": null}',
    '{"answer": -1}',
    '{"answer": 2.5}',
    '{"answer": "about 5"}',
    '{"answer": [5, 6]}',
    '{"answer": 5} {"answer": 6}',
    '{"answer": 1',
    "<think>5",
    "The answer is 5. The answer is 6.",
    "There are aren't",
    "no one",
    "x5",
    "5km",
    "1e3",
    "Infinity",
    "It is not possible to determine",
    "no information",
    "No, I see",
    "1 2 3",
    "1. ship 2. ship",
    "five or so",
    "a lot",
    "one or two",
    "There isn't 5",
    "The answer is unclear",
    "not more than 5",
    "5±1",
    "1_234",
    "5, 6",
    "9" * 30,
    "5 (2 large and 3 small)",
    "1.000",
    "1'234",
    "10,00",
    "as many as 5",
    "5ish",
    "3 1/2",
    "a pair of ships",
    "The answer is no",
    *("two and a half", "fifty percent", "two thirds of the ships", "one third", "half a hundred", "a baker's dozen"),
    *("There might be 5", "could be 5", "There are probably 5", "5 ships, probably", "my best guess is 5", "ca. 5"),
    *("close to 5", "5, give or take", "5 minimum", "five plus", "$\\sim 5$", "on the order of 10"),
    *("about half a dozen", "It's hard to tell, 4", "difficult to count, but 4"),
    *("3 in each harbour", "5 per dock", "5 and another 5"),
    "2 on the left and 2 on the right",
    "1 ship near the pier, 1 ship at sea",
    "120 400 300 550",
    "12 345 678 901 234",
]
NOT_ZERO = [
    *("No image was provided.", "I see no image.", "There is no picture here.", "No overhead image was given."),
    *("I don't see any image.", "I can't find any information.", "No data available", "No context given."),
    *("No clear answer", "No exact number can be given", "no reliable count", "No specific number", "No comment"),
    *("No response", "no visible details", "no clear view", "No sign of anything", "without any imagery"),
]
HOSTILE = [
    "a",
    "1",
    "1 ",
    "1,",
    "one ",
    "one hundred and ",
    "no ",
    "isn't ",
    "answer",
    "answer: ",
    "in total ",
    "total of ",
]
HOSTILE += [
    "number of a ",
    '{"answer": 1} ',
    '{"answer":',
    "a b ",
    "\n",
    ". ",
    "<a",
    "<answer>",
    "-",
    "?",
    "a single ",
    "five, ",
    "5 left ",
    "100 ",
    "no image a ",
]


@pytest.mark.parametrize(("text", "count"), PLAIN)
def test_a_plain_number_is_read(text: str, count: int) -> None:
    assert read_count(text) == count


@pytest.mark.parametrize("text", NOT_PLAIN)
def test_what_is_no_plain_number_is_invalid_and_never_zero(text: str) -> None:
    assert read_count(text) is None


@pytest.mark.parametrize("text", NOT_ZERO)
def test_a_reply_that_has_no_image_or_no_answer_is_no_count_of_zero(text: str) -> None:
    """Without its image a model says so; read as 0, that would be right wherever nothing is there."""
    assert read_count(text) is None


def spelled(number: int) -> str:
    """Return a number below a million in British words, written apart from the reader's tables."""
    ones = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]
    ones += ["thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"]
    tens = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
    if number < 20:
        return ones[number]
    if number < 100:
        return tens[number // 10 - 2] + (f"-{ones[number % 10]}" if number % 10 else "")
    if number < 1000:
        rest = number % 100
        return f"{ones[number // 100]} hundred" + (f" and {spelled(rest)}" if rest else "")
    rest = number % 1000
    join = "" if not rest else f" and {spelled(rest)}" if rest < 100 else f" {spelled(rest)}"
    return f"{spelled(number // 1000)} thousand{join}"


@given(st.integers(0, 999_999), st.sampled_from(["{}", "There are {} ships.", "Answer: {}", "{} ships", "**{}**"]))
def test_every_number_is_read_back_in_words_and_in_digits(number: int, sentence: str) -> None:
    for written in (spelled(number), spelled(number).replace("-", " "), str(number), f"{number:,}"):
        assert read_count(sentence.format(written)) == number


@given(st.integers(1, 999), st.integers(1, 999))
def test_two_numbers_contradict_each_other(first: int, second: int) -> None:
    for pattern in ("{} or {}", "{} and {}", "{}-{}", "between {} and {}", "{}. Or is it {}?"):
        read = read_count(pattern.format(first, second))
        assert read is None or read == first == second


@given(st.text() | st.text('0123456789,.- onetw{}[]":answer\n'))
def test_no_text_makes_it_raise(text: str) -> None:
    count = read_count(text)
    assert count is None or count >= 0


@pytest.mark.parametrize("unit", HOSTILE)
def test_time_is_linear(unit: str) -> None:
    """Four times the text may take eight times as long; quadratic reading takes sixteen times."""

    def seconds(size: int) -> float:
        text, best = (unit * size)[:size], 9.0
        for _ in range(3):
            start = time.process_time()
            read_count(text)
            best = min(best, time.process_time() - start)
        return best

    assert seconds(40_000) < 8 * max(seconds(10_000), 0.005)


@pytest.mark.parametrize(
    ("text", "numbers"),
    [("one two", [1, 2]), ("thirteen hundred", [1300]), ("twenty twenty", [20, 20]), ("two, five", [2, 5])],
)
def test_number_words_in_a_row_are_one_number_only_where_they_make_one(text: str, numbers: list[int]) -> None:
    assert [number_value(match) for match in NUMBER.finditer(text)] == [numbers]
