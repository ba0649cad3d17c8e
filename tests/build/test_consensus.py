"""The rules of consensus: unanimity filters, nothing makes a label, and an unreadable vote agrees with nothing."""

import json
import random
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from statsmodels.stats.inter_rater import fleiss_kappa
from support.voters import GARBAGE, blind, both, checked, log
from typer.testing import CliRunner

import georefusal_task
from georefusal_build.commands import APP
from georefusal_build.consensus.checks import CHECKS, INSTRUCTION, Told, read_checks
from georefusal_build.consensus.rates import confusion, fleiss, left_out, pass_rates, yields
from georefusal_build.consensus.rules import Decision, Needed, Outcome, decide, decide_all, is_measured
from georefusal_build.consensus.tasks import IMAGE, INFORMED
from georefusal_build.consensus.votes import Verifier, Vote, read_verifiers
from georefusal_build.layout import SetItem, read_provenance, read_set
from georefusal_task.core.errors import ConfigError, DataError
from georefusal_task.core.records import Intensity
from georefusal_task.core.verdicts import VERDICTS, Verdict

MINI = Path(georefusal_task.__file__).parent / "assets" / "mini"
ITEMS = read_set(MINI)
ALL, NO_INTENSITY = dict.fromkeys(CHECKS, True), {**dict.fromkeys(CHECKS, True), "intensity_right": False}


def item(*, anchor: str, gold: Verdict, **more: Any) -> SetItem:
    """An item of the mini set with another anchor and verdict."""
    one = next(one for one in ITEMS if one.label.gold is gold)
    return replace(one, label=one.label.model_copy(update={"anchor": anchor, **more}))


def voters(one: SetItem, votes: list[Vote], checks: list[dict[str, bool] | None] | None = None) -> list[Verifier]:
    told = checks if checks is not None else [ALL] * len(votes)
    return [
        Verifier(f"v{n}", {one.id: vote}, {one.id: told[n]} if n < len(told) else {}) for n, vote in enumerate(votes)
    ]


YES, NO, SHUT = Vote(Verdict.ANSWER, "yes"), Vote(Verdict.ANSWER, "no"), Vote(None)
HIDDEN, VAGUE = Vote(Verdict.INFO_MISSING), Vote(Verdict.AMBIGUOUS)


@pytest.mark.parametrize(
    ("votes", "expected"),
    [
        ([HIDDEN, HIDDEN, HIDDEN], Outcome.ACCEPTED),
        ([HIDDEN, YES, SHUT], Outcome.ACCEPTED),  # a measurement stands; one that sees it is enough
        ([YES, YES, YES], Outcome.CONTESTED),  # and three against it change nothing, people look
        ([VAGUE, VAGUE, SHUT], Outcome.CONTESTED),
        ([HIDDEN, HIDDEN], Outcome.INCOMPLETE),
    ],
)
def test_a_measured_refusal(votes: list[Vote], expected: Outcome) -> None:
    one = item(anchor="pixel", gold=Verdict.INFO_MISSING)
    assert decide(one, voters(one, votes, []), 3).outcome is expected


@pytest.mark.parametrize(
    ("votes", "expected"),
    [
        ([YES, YES, YES], Outcome.ACCEPTED),
        ([YES, YES, NO], Outcome.CONTESTED),  # the right verdict with the wrong answer is no agreement
        ([YES, YES, SHUT], Outcome.CONTESTED),
        ([HIDDEN, HIDDEN, HIDDEN], Outcome.CONTESTED),
    ],
)
def test_a_measured_answerable_item_needs_everybody(votes: list[Vote], expected: Outcome) -> None:
    one = item(anchor="geometry", gold=Verdict.ANSWER, answer="yes")
    assert decide(one, voters(one, votes, []), 3).outcome is expected


@pytest.mark.parametrize(
    ("votes", "checks", "expected"),
    [
        ([VAGUE] * 3, [ALL] * 3, Outcome.ACCEPTED),
        ([VAGUE, VAGUE, YES], [ALL] * 3, Outcome.NO_CONSENSUS),  # two of three is no label
        ([YES] * 3, [ALL] * 3, Outcome.NO_CONSENSUS),  # nor do three make another one
        ([VAGUE, VAGUE, SHUT], [ALL] * 3, Outcome.NO_CONSENSUS),
        ([VAGUE] * 3, [ALL, ALL, NO_INTENSITY], Outcome.NO_CONSENSUS),
        ([VAGUE] * 3, [ALL, ALL, None], Outcome.NO_CONSENSUS),  # unreadable checks confirm nothing
        ([VAGUE] * 3, [ALL, ALL], Outcome.INCOMPLETE),
        ([VAGUE] * 2, [ALL] * 2, Outcome.INCOMPLETE),
    ],
)
@pytest.mark.parametrize("anchor", ["consensus", "structural"])
def test_a_label_that_rests_on_consensus(
    votes: list[Vote], checks: list[dict[str, bool] | None], expected: Outcome, anchor: str
) -> None:
    one = item(anchor=anchor, gold=Verdict.AMBIGUOUS)
    assert decide(one, voters(one, votes, checks), 3).outcome is expected


def test_no_vote_ever_changes_a_label() -> None:
    chance = random.Random(3)
    for one in ITEMS:
        votes = [Vote(chance.choice([*VERDICTS, None])) for _ in range(3)]
        decision = decide(one, voters(one, votes), 3)
        assert decision.item is one


def test_a_verdict_that_is_accepted_too_agrees() -> None:
    one = item(anchor="pixel", gold=Verdict.INFO_MISSING)
    wider = replace(one, label=one.label.model_copy(update={"accept": (Verdict.INFO_MISSING, Verdict.GRANULARITY)}))
    assert Vote(Verdict.GRANULARITY).agrees(wider.label)
    assert not Vote(Verdict.GRANULARITY).agrees(one.label)


def test_questions_without_an_answer_anywhere_need_five() -> None:
    one = item(anchor="consensus", gold=Verdict.NONFACTUAL)
    never = Vote(Verdict.NONFACTUAL)
    needed = Needed()
    assert decide(one, voters(one, [never] * 4), needed.of(one.label)).outcome is Outcome.INCOMPLETE
    assert decide(one, voters(one, [never] * 5), needed.of(one.label)).outcome is Outcome.ACCEPTED


def test_too_few_verifiers_are_refused() -> None:
    with pytest.raises(ConfigError, match="2 verifiers voted and 3 are needed"):
        decide_all(ITEMS[:1], voters(ITEMS[0], [YES, YES]))


@pytest.mark.parametrize(
    ("text", "readable"),
    [
        (json.dumps(ALL), True),
        (f"<think>{json.dumps(NO_INTENSITY)}</think>```json\n{json.dumps(ALL)}\n```", True),
        (json.dumps({**ALL, "comment": "fine"}), True),
        (json.dumps({"item": ALL}), True),
        (json.dumps({**ALL, "intensity_right": "true"}), False),  # a guess what that means is a guess
        (json.dumps({**ALL, "intensity_right": 1}), False),
        (json.dumps(dict.fromkeys([*CHECKS][:-1], True)), False),
        (json.dumps(ALL)[:-1], False),
        (json.dumps(ALL)[:-1] + ', "intensity_right": false}', False),  # says both
        ("All seven are true.", False),
        (f"<think>{json.dumps(ALL)}", False),
        ("", False),
    ],
)
def test_checks_are_read_or_not(text: str, readable: bool) -> None:
    assert read_checks(text) == (ALL if readable else None)


def test_the_last_checks_count() -> None:
    assert read_checks(f"{json.dumps(ALL)}\nOn reflection:\n{json.dumps(NO_INTENSITY)}") == NO_INTENSITY


def test_the_informed_prompt_tells_what_is_to_be_checked_and_the_image_prompt_does_not() -> None:
    one = next(one for one in ITEMS if one.label.lever == "im_occlude_high")
    told = Told.of(one).text(one.case.question)
    assert all(part in told for part in (one.case.question, "im_occlude_high", "visible_fraction", one.label.gold))
    assert all(name in INSTRUCTION for name in CHECKS)
    assert one.id not in told


def test_scripted_verifiers_are_found_out(tmp_path: Path) -> None:
    """The report recovers error rates that were put in, within its own intervals."""
    many = [replace(one, case=one.case.model_copy(update={"id": f"A-{n:04x}"})) for n in range(10) for one in ITEMS]
    many = [
        replace(one, case=one.case.model_copy(update={"id": f"A-{n:04x}"}), provenance={"base_id": n})
        for n, one in enumerate(many)
    ]
    rates = {"good": (0.05, 0.0, 0.0), "sloppy": (0.30, 0.0, 0.2), "mute": (0.1, 0.4, 0.5)}
    for n, (name, (wrong, unreadable, failing)) in enumerate(rates.items()):
        both(tmp_path, many, name, seed=10 * n, wrong=wrong, unreadable=unreadable, failing=failing)
    logs = [str(tmp_path / name) for name in rates]
    verifiers = read_verifiers(logs, logs, {one.id for one in many})
    decisions = decide_all(many, verifiers, Needed(3, 3))
    for rate in pass_rates(decisions, [*rates])[: len(rates)]:
        wrong, unreadable, failing = rates[rate.verifier]
        assert rate.blind.low <= 1 - wrong - unreadable <= rate.blind.high, rate  # type: ignore[operator]
        assert rate.informed.low <= 1 - failing <= rate.informed.high, rate  # type: ignore[operator]
    said = confusion(decisions, "mute")
    assert sum(row["unparsed"] for row in said.values()) == sum(
        vote.verdict is None for vote in next(one for one in verifiers if one.name == "mute").image.values()
    )
    agreeing = [one.agreeing for one in decisions]
    shares = yields(decisions, 3)
    assert shares["k/k"]["blind"].value == pytest.approx(np.mean([n == 3 for n in agreeing]))
    assert shares["(k-1)/k"]["blind"].value == pytest.approx(np.mean([n >= 2 for n in agreeing]))
    changed = left_out(decisions, verifiers, Needed(3, 3))
    assert changed["mute"].value > changed["good"].value  # type: ignore[operator]


def test_fleiss_kappa_is_that_of_statsmodels() -> None:
    chance = random.Random(5)
    names = [f"v{n}" for n in range(4)]
    outcomes: list[Verdict | None] = [*VERDICTS, None]
    decisions = []
    for one in ITEMS:
        likely = chance.choice(outcomes)
        votes = {name: Vote(likely if chance.random() < 0.6 else chance.choice(outcomes)) for name in names}
        decisions.append(Decision(one, Outcome.INCOMPLETE, votes, {}))
    table = np.zeros((len(decisions), len(outcomes)))
    for row, decision in enumerate(decisions):
        for vote in decision.votes.values():
            table[row, outcomes.index(vote.verdict)] += 1
    found = fleiss(decisions, names)
    assert found.value == pytest.approx(fleiss_kappa(table))
    assert found.low < found.value < found.high  # type: ignore[operator]


def test_one_verifier_has_nobody_to_agree_with() -> None:
    assert fleiss([Decision(ITEMS[0], Outcome.INCOMPLETE, {"a": YES}, {})], ["a"]).value is None


@pytest.fixture
def logs(tmp_path: Path) -> dict[str, Path]:
    return {name: both(tmp_path / "logs", ITEMS, name, seed=n) for n, name in enumerate("abc")}


def run(*arguments: object) -> Any:
    return CliRunner().invoke(APP, ["consensus", *map(str, arguments)])


def test_the_command_writes_what_goes_on_and_keeps_the_votes_of_what_does_not(
    tmp_path: Path, logs: dict[str, Path]
) -> None:
    bad = next(one for one in ITEMS if not is_measured(one.label))
    measured = next(one for one in ITEMS if is_measured(one.label) and one.label.intensity is Intensity.HIGH)
    said = blind(ITEMS) | dict.fromkeys([bad.id, measured.id], GARBAGE)
    for name, folder in logs.items():
        log(folder, IMAGE, said if name == "a" else blind(ITEMS) | {measured.id: GARBAGE})
    options = [f"--{way}={logs[name]}" for way in ("image", "informed") for name in logs]
    out = tmp_path / "out"
    done = run(MINI, *options, "-o", out, "--minimum-nonfactual", 3)
    assert done.exit_code == 0, done.output
    kept, rows = {one.id: one for one in read_set(out)}, read_provenance(out)
    assert kept.keys() == {one.id for one in ITEMS} - {bad.id}
    assert rows[measured.id]["status"] == "contested"
    assert {row["status"] for item, row in rows.items() if item != measured.id} == {"verified"}
    assert kept[measured.id].label == measured.label
    lines = [json.loads(line) for line in (out / "consensus.jsonl").read_text("utf-8").splitlines()]
    gone = next(line for line in lines if line["id"] == bad.id)
    assert gone["outcome"] == "no_consensus"
    assert [vote["agrees"] for vote in gone["votes"]] == [False, True, True]
    report = json.loads((out / "consensus.json").read_text("utf-8"))
    assert report["outcomes"] == {"accepted": len(ITEMS) - 2, "contested": 1, "no_consensus": 1, "incomplete": 0}
    text = (out / "CONSENSUS.md").read_text("utf-8")
    assert "a and b" in text
    assert "filter, not a certificate" in text
    again = run(MINI, *options, "-o", out)
    assert again.exit_code == 1
    assert "exists" in again.output


def test_an_unreadable_reply_gets_one_retry(tmp_path: Path) -> None:
    """The second sample under the host's `-n 2` replaces a first that cannot be read, and no other."""
    folder = log(tmp_path / "v", IMAGE, blind(ITEMS))
    file = next(folder.iterdir())
    rows = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
    rows[0]["filtered_resps"] = [GARBAGE, rows[0]["filtered_resps"][0]]
    rows[1]["filtered_resps"] = [rows[1]["filtered_resps"][0], json.dumps({"verdict": "REFUSE_NONFACTUAL_QUERY"})]
    rows[2]["filtered_resps"] = [GARBAGE, GARBAGE, rows[2]["filtered_resps"][0]]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    verifier = read_verifiers([str(folder)], [], {one.id for one in ITEMS})[0]
    assert verifier.retried == 1
    assert verifier.image[ITEMS[0].id].verdict is ITEMS[0].label.gold
    assert verifier.image[ITEMS[1].id].verdict is ITEMS[1].label.gold
    assert verifier.image[ITEMS[2].id].verdict is None


def test_mistaken_logs_are_named(tmp_path: Path, logs: dict[str, Path]) -> None:
    images = [f"--image={folder}" for folder in logs.values()]
    for arguments, message in (
        ([*images, f"--image={logs['a']}"], "two logs are named 'a'"),
        ([*images, f"--informed=d={logs['a']}"], "d has checked informed and not voted blind"),
        ([f"--image={logs['a']}"], "1 verifiers voted and 3 are needed"),
        ([*images, f"--image=x={tmp_path / 'none'}"], "none is not there"),
        ([*images, f"--image=d={logs['a']}"], "stands for two verifiers, 'a' and 'd'"),
    ):
        done = run(MINI, *arguments, "-o", tmp_path / "out")
        assert done.exit_code == 1
        assert message in done.output
        assert not (tmp_path / "out").exists()


def test_one_verifier_under_two_names_is_noted(tmp_path: Path, logs: dict[str, Path]) -> None:
    """A copied log makes any candidate unanimous; two models that agree never do so word for word."""
    log(logs["b"], IMAGE, blind(ITEMS, wrong=0.1, seed=5))
    copied = shutil.copytree(logs["b"], tmp_path / "copied")
    done = run(MINI, f"--image={logs['a']}", f"--image={logs['b']}", f"--image={copied}", "-o", tmp_path / "out")
    assert done.exit_code == 0, done.output
    assert "b and copied said the same word for word" in done.stderr
    assert "a and" not in done.stderr


def test_items_that_want_more_verifiers_are_noted(tmp_path: Path, logs: dict[str, Path]) -> None:
    done = run(MINI, *(f"--image={folder}" for folder in logs.values()), "-o", tmp_path / "out")
    nonfactual = sum(one.label.category is Verdict.NONFACTUAL for one in ITEMS)
    assert f"{nonfactual} items were judged by fewer verifiers than they need: 3, or 5" in done.stderr


def test_votes_on_other_items_are_an_error(tmp_path: Path) -> None:
    stranger = log(tmp_path / "s", IMAGE, blind(ITEMS) | {"A-ffffffffff": GARBAGE})
    with pytest.raises(DataError, match="A-ffffffffff"):
        read_verifiers([str(stranger)], [], {one.id for one in ITEMS})
    told = log(tmp_path / "s", INFORMED, checked(ITEMS) | {"A-ffffffffff": GARBAGE})
    log(tmp_path / "s", IMAGE, blind(ITEMS))
    with pytest.raises(DataError, match="A-ffffffffff"):
        read_verifiers([str(told)], [str(told)], {one.id for one in ITEMS})
