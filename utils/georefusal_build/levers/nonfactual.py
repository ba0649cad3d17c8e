"""Levers of NONFACTUAL_QUERY: what no image could settle, however good. LOW asks the base with the same vocabulary."""

from collections.abc import Callable, Iterator

from georefusal_build.levers.asked import BOTH, Draft, Pose, Situation, Trait, question_lever, wordings
from georefusal_build.levers.registry import Variant
from georefusal_build.streams import Stream
from georefusal_task.core.records import Intensity
from georefusal_task.core.verdicts import Verdict

_BANK = Variant("bank", BOTH, "lists of its own for LOW, MEDIUM and HIGH")


def _nonfactual(name: str, trait: Trait = "any", **second: Verdict) -> Callable[[Pose], Pose]:
    """Declare a family. trait: what can be spoken of so; second: by intensity, what else reviewers may accept."""
    return question_lever(
        name,
        Verdict.NONFACTUAL,
        _BANK,
        anchor="consensus",
        yes_only=True,
        trait=trait,
        may_accept={Intensity(level): verdict for level, verdict in second.items()},
    )


def _pose(family: str, situation: Situation, stream: Stream, intensity: Intensity) -> Iterator[Draft]:
    """Yield the one draft: no image settles it, or, at LOW, it comes down to the base question."""
    noun = situation.noun(situation.asked.name, stream)
    template = stream.choice(wordings(situation.bank, family, intensity))
    low = intensity is Intensity.LOW
    yield Draft(
        template,
        noun.slots("C"),
        readings=(situation.truth,) if low else (),
        figures={"unsettleable": float(not low)},
        variant=_BANK.name,
        to_confirm=("the question comes down to the base question" if low else "no image settles the question",),
    )


@_nonfactual("nf_intent", "owned")
def intent(situation: Situation, stream: Stream, intensity: Intensity) -> Iterator[Draft]:
    """Mental states and motives of the people concerned."""
    return _pose("nf_intent", situation, stream, intensity)


@_nonfactual("nf_forecast", "owned", MEDIUM=Verdict.GRANULARITY)
def forecast(situation: Situation, stream: Stream, intensity: Intensity) -> Iterator[Draft]:
    """Events after the acquisition."""
    return _pose("nf_forecast", situation, stream, intensity)


@_nonfactual("nf_value", MEDIUM=Verdict.AMBIGUOUS, HIGH=Verdict.AMBIGUOUS)
def value(situation: Situation, stream: Stream, intensity: Intensity) -> Iterator[Draft]:
    """Taste and worth, in words that no threshold can settle."""
    return _pose("nf_value", situation, stream, intensity)


@_nonfactual("nf_normative")
def normative(situation: Situation, stream: Stream, intensity: Intensity) -> Iterator[Draft]:
    """What should be, ought to be or is right."""
    return _pose("nf_normative", situation, stream, intensity)


@_nonfactual("nf_counterfactual", "owned")
def counterfactual(situation: Situation, stream: Stream, intensity: Intensity) -> Iterator[Draft]:
    """What would have been, had something else been otherwise."""
    return _pose("nf_counterfactual", situation, stream, intensity)


@_nonfactual("nf_nonvisual", "owned")
def nonvisual(situation: Situation, stream: Stream, intensity: Intensity) -> Iterator[Draft]:
    """Facts that leave no trace to be imaged: ownership, payment, names, papers."""
    return _pose("nf_nonvisual", situation, stream, intensity)
