"""Tasks by name, and names by what a task asks and shows."""

import pytest

from georefusal_task.core.errors import ConfigError
from georefusal_task.tasks_table import TASKS, get_task, task_of


@pytest.mark.parametrize("spec", TASKS.values(), ids=TASKS)
def test_a_task_of_the_table_is_found_by_what_it_asks_and_shows(spec: object) -> None:
    assert task_of(spec.prompt, spec.variant, mini=spec.mini) == spec  # type: ignore[attr-defined]


def test_a_combination_that_has_no_row_has_a_name_by_which_its_log_is_scored() -> None:
    spec = task_of("mcq", "shuffled", mini=True)
    assert spec.name == "georefusalbench_mini_mcq_shuffled"
    assert get_task(spec.name) == spec


def test_a_misspelt_variant_does_not_show_the_original_image() -> None:
    with pytest.raises(ConfigError, match=r"no variant is called 'gray'; there are: main, .*grey"):
        task_of("default", "gray")  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="no prompt is called 'short'"):
        task_of("short", "main")


def test_a_misspelt_name_is_not_taken_for_a_set_of_ones_own() -> None:
    with pytest.raises(ConfigError, match="no task is called 'georefusalbench_gray'"):
        get_task("georefusalbench_gray", own_set=True)
    assert get_task("our_scenes", own_set=True).prompt == "default"
