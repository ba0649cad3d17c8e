"""Replies to the multiple-choice prompt, and to the one that forces a yes or no."""

import pytest

from georefusal_task.core.records import Reason, Status
from georefusal_task.core.reply import read_reply
from georefusal_task.core.verdicts import LETTERS, VERDICTS, Verdict

G = Verdict.GRANULARITY
OPTIONS = "\n".join(f"{letter}. {verdict}: meaning." for letter, verdict in LETTERS.items())


@pytest.mark.parametrize("letter", "ABCDEF")
@pytest.mark.parametrize(
    "form",
    [
        *("%s", "%s.", "(%s)", "**%s**", '"%s"', "[%s]", "$%s$", " %s\n", "\\boxed{%s}", "$\\boxed{\\text{%s}}$"),
        *("Answer: %s", "Answer: (%s)", "The answer is %s.", "Final Answer: %s\n", "Verdict: %s"),
        *("Option %s", "My choice is %s", "The correct option is **%s**.", "I choose %s"),
        *("<think>A or F</think>%s", "%s\n\nThe pier is hidden.", "I weighed B and C.\n%s"),
        OPTIONS + "\n\nAnswer: %s",
    ],
)
def test_one_letter(form, letter):
    reply = read_reply(form % letter, "letter")
    assert (reply.verdict, reply.status) == (LETTERS[letter], Status.PROSE)


@pytest.mark.parametrize(
    ("text", "verdict", "status"),
    [
        ('{"verdict": "C"}', G, Status.JSON),
        ('{"verdict": "(c)", "answer": ""}', G, Status.JSON),
        ("{'verdict': 'C'}", G, Status.REPAIRED),
        (f'{{"verdict": "{G}"}}', G, Status.JSON),
        (f"C) {G}", G, Status.PROSE),
        ("C: because the cars are small", G, Status.PROSE),
        ("Answer: c", G, Status.PROSE),
        ("Answer: C (not D)", G, Status.PROSE),
        (f"Verdict: {G}", G, Status.PROSE),
        (G, G, Status.PROSE),
    ],
)
def test_other_forms(text, verdict, status):
    reply = read_reply(text, "letter")
    assert (reply.verdict, reply.status) == (verdict, status)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("B, C", Reason.CONFLICT),
        ("A or B", Reason.CONFLICT),
        ("A\nB", Reason.CONFLICT),
        ("Answer: B or C", Reason.CONFLICT),
        ("Answer: B\nAnswer: C", Reason.CONFLICT),
        ("C. REFUSE_AMBIGUOUS_QUERY", Reason.CONFLICT),
        ('{"verdict": "B or C"}', Reason.UNKNOWN_VERDICT),
        (OPTIONS, Reason.ECHO),
        # the word "A" is no letter
        ("A ship is visible.", Reason.NO_VERDICT),
        ("Answer: A ship is visible", Reason.NO_VERDICT),
        ("The answer is a ship", Reason.NO_VERDICT),
        ("A man and B", Reason.NO_VERDICT),
        ("G", Reason.NO_VERDICT),
        ("Cars", Reason.NO_VERDICT),
        ("", Reason.EMPTY),
    ],
)
def test_no_letter(text, reason):
    reply = read_reply(text, "letter")
    assert (reply.verdict, reply.reason) == (None, reason)


def test_letters_mean_nothing_to_the_other_prompts():
    assert read_reply("C").reason is Reason.NO_VERDICT
    assert read_reply('{"verdict": "C"}').reason is Reason.UNKNOWN_VERDICT


@pytest.mark.parametrize(
    ("text", "answer", "status"),
    [
        ("Yes.", "yes", Status.PROSE),
        ("<think>yes</think>No", "no", Status.PROSE),
        ('{"answer": "yes"}', "yes", Status.JSON),
        ('{"verdict": "REFUSE_AMBIGUOUS_QUERY", "answer": "no"}', "no", Status.JSON),
        ('```json\n{"answer": true}\n```', "yes", Status.JSON),
    ],
)
def test_forced_answer(text, answer, status):
    reply = read_reply(text, "yes_no")
    assert (reply.verdict, reply.answer, reply.status) == (Verdict.ANSWER, answer, status)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("yes and no", Reason.NO_VERDICT),
        ("I cannot tell.", Reason.NO_VERDICT),
        (VERDICTS[1], Reason.NO_VERDICT),
        ('{"answer": "not sure"}', Reason.NO_VERDICT),
        ("<think>yes", Reason.TRUNCATED),
        ("[LMMS_EVAL_BUDGET_EXCEEDED]", Reason.HOST_ERROR),
        (" ", Reason.EMPTY),
    ],
)
def test_no_forced_answer(text, reason):
    reply = read_reply(text, "yes_no")
    assert (reply.verdict, reply.answer, reply.reason) == (None, "", reason)
