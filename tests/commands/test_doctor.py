"""`doctor` on installations that are wrong in one way each; the real, sound one is seen in the tests with the host."""

import os
import subprocess
import sys
from collections.abc import Callable
from importlib.metadata import EntryPoint
from pathlib import Path
from types import ModuleType

import pytest
import typer
from support.twin import make_twin
from typer.testing import CliRunner

from georefusal_task import data
from georefusal_task.adapters import lmms_doctor, lmms_register, other_doctor
from georefusal_task.adapters.lmms_doctor import TASK_NAMES
from georefusal_task.commands.doctor import doctor

OURS = EntryPoint("georefusal", "georefusal_task.adapters.lmms_plugin:manifests", lmms_doctor.GROUP)
BROKEN = EntryPoint("other", "no_such_module_at_all:manifests", lmms_doctor.GROUP)


@pytest.fixture(autouse=True)
def host(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> dict[str, dict[str, str]]:
    """A stand-in for the host with the index that it returns; the first of our tasks' files is where it should be."""
    index = {name: {"yaml_path": str(lmms_register.tasks_dir() / f"{name}.yaml")} for name in TASK_NAMES}

    class TaskManager:
        task_index = index

        def __init__(self, include_path: str | None = None) -> None:
            print("the host talks a lot")

    package, models, tasks = (ModuleType(name) for name in ("lmms_eval", "lmms_eval.models", "lmms_eval.tasks"))
    tasks.TaskManager = TaskManager  # type: ignore[attr-defined]
    package.models, package.tasks = models, tasks  # type: ignore[attr-defined]
    for module in (package, models, tasks):
        monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.setattr(lmms_doctor, "find_spec", lambda name: object())
    monkeypatch.setattr(other_doctor, "find_spec", lambda name: None)
    monkeypatch.setattr(lmms_doctor, "version", lambda name: "4.1")
    monkeypatch.setattr(lmms_doctor, "entry_points", lambda group: [OURS])
    monkeypatch.setattr(lmms_doctor, "import_module", ModuleType)
    monkeypatch.setattr(data, "load_mini", lambda: data.load(tmp_path / "twin"))
    monkeypatch.setenv("GEOREFUSAL_DATA", str(make_twin(tmp_path / "twin", n=20)))
    for variable in ("LMMS_EVAL_PLUGINS", lmms_register.OFF_VARIABLE):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("HF_HUB_OFFLINE", "0")  # doctor sets it; put back afterwards
    monkeypatch.chdir(tmp_path)
    return index


def run() -> tuple[int, str]:
    app = typer.Typer()
    app.command()(doctor)
    result = CliRunner().invoke(app, [])
    return result.exit_code, result.output


def problems(output: str) -> list[str]:
    return [line for line in output.splitlines() if line.startswith("PROBLEM")]


def test_all_well_is_exit_status_0_and_says_by_which_route_and_which_data(tmp_path: Path) -> None:
    status, output = run()
    assert (status, problems(output)) == (0, [])
    assert f"{len(TASK_NAMES)} tasks are registered through the entry point" in output
    assert f"20 items from folder {tmp_path / 'twin'} (GEOREFUSAL_DATA)" in output
    assert "talks a lot" not in output


def missing(name: str) -> Callable[[str], object | None]:
    return lambda asked: None if asked == name else object()


def test_without_the_host_it_says_how_to_get_it_and_still_looks_at_the_data(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lmms_doctor, "find_spec", lambda name: None)
    status, output = run()
    assert status == 1
    assert problems(output) == [line for line in output.splitlines() if "pip install 'georefusal[lmms]'" in line]
    assert "20 items" in output


def test_with_another_harness_the_host_may_be_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lmms_doctor, "find_spec", missing("lmms_eval"))
    status, output = run()
    assert (status, problems(output)) == (0, [])
    assert "lmms-eval is not installed" in output


def test_each_other_harness_has_a_line_that_says_how_to_get_it() -> None:
    lines = [line for line in run()[1].splitlines() if "where it is wanted" in line]
    assert [line.split()[1] for line in lines] == ["inspect_ai", "lm_eval", "vlmeval"]
    assert all(line.startswith("note") for line in lines)


def test_a_harness_that_is_broken_is_a_problem_not_a_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(other_doctor, "find_spec", missing("vlmeval"))
    monkeypatch.setitem(sys.modules, "lm_eval", ModuleType("lm_eval"))  # something of that name without its parts
    monkeypatch.setattr(other_doctor, "entry_points", lambda group: [])
    monkeypatch.setattr(other_doctor, "version", lambda name: "1")
    status, output = run()
    assert status == 1
    assert "our entry point is not installed" in problems(output)[0]
    assert "lm_eval cannot take our tasks: ModuleNotFoundError" in problems(output)[1]


def test_a_filelock_that_the_host_cannot_import_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lmms_doctor, "find_spec", missing("filelock._api"))
    status, output = run()
    assert status == 1
    assert "'filelock>=3.24.2,<4.3'" in problems(output)[0]


def test_a_torchvision_for_another_torch_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(name: str) -> None:
        raise RuntimeError(f"operator {name}::nms does not exist")

    monkeypatch.setattr(lmms_doctor, "import_module", refuse)
    status, output = run()
    assert status == 1
    assert "does not go with torch 4.1: RuntimeError: operator" in problems(output)[0]


@pytest.mark.parametrize(("order", "level"), [([BROKEN, OURS], "PROBLEM"), ([OURS, BROKEN], "note")])
def test_a_broken_plugin_matters_when_the_host_comes_to_it_before_ours(
    monkeypatch: pytest.MonkeyPatch, order: list[EntryPoint], level: str
) -> None:
    monkeypatch.setattr(lmms_doctor, "entry_points", lambda group: order)
    status, output = run()
    assert status == (1 if level == "PROBLEM" else 0)
    (line,) = (line for line in output.splitlines() if "no_such_module_at_all" in line)
    assert line.startswith(level)


def test_an_installation_without_our_entry_point_is_said_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lmms_doctor, "entry_points", lambda group: [])
    assert "install the package georefusal again" in problems(run()[1])[0]


def test_a_name_that_the_host_gives_to_another_task_is_named_with_its_file(host: dict[str, dict[str, str]]) -> None:
    # built-in names win without a word, and the run would be of somebody else's benchmark
    host["georefusalbench_mini"] = {"yaml_path": "/elsewhere/georefusalbench_mini.yaml"}
    status, output = run()
    assert status == 1
    assert "georefusalbench_mini would be another task, from /elsewhere/" in problems(output)[0]


def test_tasks_that_the_host_does_not_find_are_named_with_the_way_round(host: dict[str, dict[str, str]]) -> None:
    del host["georefusalbench_grey"]
    status, output = run()
    assert status == 1
    assert 'does not find georefusalbench_grey; use --include_path "$(georefusal tasks-path)"' in problems(output)[0]


def test_switched_off_the_route_is_the_path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(lmms_register.OFF_VARIABLE, "1")
    status, output = run()
    assert status == 0
    assert f"by --include_path {lmms_register.tasks_dir()} only: {lmms_register.OFF_VARIABLE} is set" in output


def test_a_host_that_cannot_be_imported_is_a_problem_not_a_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(sys.modules["lmms_eval.tasks"], "TaskManager")
    status, output = run()
    assert status == 1
    assert "lmms-eval cannot list its tasks: ImportError" in problems(output)[0]


def test_the_hosts_own_variable_for_plugins_is_warned_of(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LMMS_EVAL_PLUGINS", "georefusal_task")
    assert "LMMS_EVAL_PLUGINS=georefusal_task is deprecated" in run()[1]


def test_a_folder_that_the_host_would_take_for_task_files_is_a_problem(tmp_path: Path) -> None:
    # `--tasks NAME` is a folder to the host when there is one of that name, and the run finds no task
    (tmp_path / "georefusalbench").mkdir()
    assert "a folder georefusalbench is here" in problems(run()[1])[0]


def test_unsound_data_is_a_problem_with_the_loaders_words(tmp_path: Path) -> None:
    (tmp_path / "twin" / "labels" / "A.jsonl").unlink()
    status, output = run()
    assert status == 1
    assert any("has no label" in line for line in output.splitlines())


def test_nothing_is_downloaded(tmp_path: Path) -> None:
    # in a process of its own: the Hub's client reads its settings once, when it is imported
    program = (
        "import typer; from georefusal_task.adapters import lmms_doctor; from georefusal_task.commands import doctor;"
        "lmms_doctor.host_findings = lambda: (); typer.run(doctor.doctor)"
    )
    env = {name: value for name, value in os.environ.items() if name not in ("GEOREFUSAL_DATA", "HF_HUB_OFFLINE")}
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=env | {"HF_HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "PROBLEM data: albertLee/GeoRefusalBench is not in the cache" in done.stdout
    assert "outgoing traffic has been disabled" in done.stdout
