"""The tasks by name: which prompt, which images, which set. The host adapter, `export` and `score` read it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Literal, get_args

from georefusal_task.benchmarks.prompts import PROMPTS, Prompt, get_prompt
from georefusal_task.benchmarks.refusal import Summary, summarise, summarise_forced
from georefusal_task.core.errors import ConfigError
from georefusal_task.core.records import Row

Variant = Literal["main", "jpeg_q95", "noimage", "shuffled", "grey"]
"""What is shown in the image's place."""

DEFAULT_TASK = "georefusalbench"


@dataclass(frozen=True)
class TaskSpec:
    """One task: `prompt` names an entry of `prompts.PROMPTS`, `mini` means the set that ships with the package."""

    name: str
    prompt: str = "default"
    variant: Variant = "main"
    mini: bool = False

    @property
    def asks(self) -> Prompt:
        """The prompt itself."""
        return get_prompt(self.prompt)


TASKS: dict[str, TaskSpec] = {
    spec.name: spec
    for spec in (
        TaskSpec(DEFAULT_TASK),
        TaskSpec("georefusalbench_jpeg_q95", variant="jpeg_q95"),
        TaskSpec("georefusalbench_noimage", variant="noimage"),
        TaskSpec("georefusalbench_shuffled", variant="shuffled"),
        TaskSpec("georefusalbench_grey", variant="grey"),
        TaskSpec("georefusalbench_mini", mini=True),
        TaskSpec("georefusalbench_minimal", prompt="minimal"),
        TaskSpec("georefusalbench_no_precedence", prompt="no_precedence"),
        TaskSpec("georefusalbench_mcq", prompt="mcq"),
        TaskSpec("georefusalbench_conf", prompt="conf"),
        TaskSpec("georefusalbench_forced", prompt="forced"),
    )
}


def task_of(prompt: str, variant: Variant, *, mini: bool = False) -> TaskSpec:
    """Return the task that asks and shows this, named as in the table, whether or not it stands there.

    Raises:
        ConfigError: there is no such prompt or variant; the message lists those that are.
    """
    if variant not in get_args(Variant):
        raise ConfigError(f"no variant is called {variant!r}; there are: {', '.join(get_args(Variant))}")
    unusual = ["mini"] if mini else []
    unusual += [part for part in (get_prompt(prompt).name, variant) if part not in ("default", "main")]
    return TaskSpec("_".join([DEFAULT_TASK, *unusual]), prompt, variant, mini)


def get_task(name: str, *, own_set: bool = False) -> TaskSpec:
    """Return the task of that name; with `own_set`, a name of your own stands for the default prompt on your own data.

    Other combinations of prompt, variant and set than the table's are known too; harnesses with parameters run them.

    Raises:
        ConfigError: the name is not known (or looks like a misspelt one of ours); the message lists those that are.
    """
    if name in TASKS:
        return TASKS[name]
    for prompt, variant, mini in product(PROMPTS, get_args(Variant), (False, True)):
        if (spec := task_of(prompt, variant, mini=mini)).name == name:
            return spec
    if own_set and not name.startswith(DEFAULT_TASK):
        return TaskSpec(name)
    raise ConfigError(
        f"no task is called {name!r}; there are: {', '.join(TASKS)} (a task of your own needs --data with its folder)"
    )


def summed_up(spec: TaskSpec, rows: Iterable[Row], clusters: Mapping[str, str] | None = None) -> Summary:
    """Return the summary that belongs to the task's prompt and variant; arguments and errors as for `summarise`."""
    if spec.asks.reply == "yes_no":
        return summarise_forced(rows, clusters=clusters)
    return summarise(rows, clusters=clusters, grey=spec.variant == "grey")
