"""Whether a difference between two runs would be one between models."""

from georefusal_task.core.errors import ConfigError
from georefusal_task.report.runs import Run
from georefusal_task.report.texts import visible

MANY_FAILED = 0.01
"""Above this share of failed requests a run says little about the model."""


def incomparable(first: Run, second: Run) -> list[str]:
    """Return why a difference between two runs would not be one between models; empty where nothing speaks against it.

    Raises:
        ConfigError: one of them has no verdicts at all, which nothing can mend.
    """
    for run in (first, second):
        if run.is_forced:
            raise ConfigError(
                f"{visible(run.name)} answers {run.task}, which allows yes and no only: no verdicts to compare"
            )
    told = {
        "data": (first.data_digest[:12], second.data_digest[:12]),
        "prompt": (
            f"{first.spec.asks.id} {first.prompt_sha256[:12]}",
            f"{second.spec.asks.id} {second.prompt_sha256[:12]}",
        ),
        "image": (first.spec.variant, second.spec.variant),
    }
    return [f"the {what} differs ({one} against {other})" for what, (one, other) in told.items() if one != other]


def notes(first: Run, second: Run, n: int) -> list[str]:
    """Return what a reader should know, though it does not forbid the comparison."""
    found = []
    for run in (first, second):
        name = visible(run.name)
        if run.n > n:
            found.append(f"{run.n - n} items of {name} have no counterpart and are left out")
        if (run.host_error_share or 0) > MANY_FAILED:
            found.append(f"{run.host_error_share:.1%} of the requests of {name} failed and count as wrong")
        found += [f"{name}: {warning}" for warning in run.warnings if warning not in run.benchmark.warnings]
    if n < first.n_total:
        found.append(f"{n} of {first.n_total} items are compared")
    told = {
        "harness": (first.meta.harness, second.meta.harness),
        "way of feeding the model": (first.meta.style, second.meta.style),
        "generation arguments": (first.meta.generation, second.meta.generation),
    }
    found += [
        f"the {what} differs ({one}; {other})" for what, (one, other) in told.items() if one and other and one != other
    ]
    return found
