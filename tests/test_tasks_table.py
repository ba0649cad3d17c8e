"""The tasks and what each asks and shows."""

import pytest

from georefusal_task.benchmarks.prompts import PROMPTS
from georefusal_task.core.errors import ConfigError
from georefusal_task.tasks_table import TASKS, get_task

PROMPT_TASKS = {"minimal", "no_precedence", "mcq", "conf", "forced"}
IMAGE_TASKS = {"jpeg_q95", "noimage", "shuffled", "grey"}


def test_every_task_differs_from_the_main_one_in_one_thing() -> None:
    main = TASKS["georefusalbench"]
    assert (main.prompt, main.variant, main.mini) == ("default", "main", False)
    for kind in PROMPT_TASKS:
        task = TASKS[f"georefusalbench_{kind}"]
        assert (task.prompt, task.variant, task.mini) == (kind, "main", False)
    for kind in IMAGE_TASKS:
        task = TASKS[f"georefusalbench_{kind}"]
        assert (task.prompt, task.variant, task.mini) == ("default", kind, False)
    mini = TASKS["georefusalbench_mini"]
    assert (mini.prompt, mini.variant, mini.mini) == ("default", "main", True)
    assert len(TASKS) == 1 + len(PROMPT_TASKS) + len(IMAGE_TASKS) + 1


def test_no_prompt_is_without_a_task() -> None:
    assert {task.prompt for task in TASKS.values()} == set(PROMPTS)
    assert [task.asks.name for task in TASKS.values()] == [task.prompt for task in TASKS.values()]


def test_a_name_of_ones_own_needs_data_and_may_not_look_like_one_of_ours() -> None:
    assert get_task("tiles", own_set=True).prompt == "default"
    for name, own_set in (("tiles", False), ("georefusalbench_mqc", True), ("georefusalbench_mqc", False)):
        with pytest.raises(ConfigError, match=r"georefusalbench_mcq"):
            get_task(name, own_set=own_set)
