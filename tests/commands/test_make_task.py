"""`make-task` without the host: names, files, paths. That the host runs what it writes is tested elsewhere."""

import subprocess
import sys
from pathlib import Path

import pytest
import typer
import yaml
from support.twin import make_twin
from typer.testing import CliRunner

from georefusal_task.adapters.lmms_own_task import check_name
from georefusal_task.adapters.lmms_register import tasks_dir
from georefusal_task.commands.make_task import make_task
from georefusal_task.commands.tasks_path import tasks_path
from georefusal_task.core.errors import ConfigError

app = typer.Typer()
app.command("make-task")(make_task)
app.command("tasks-path")(tasks_path)


@pytest.fixture
def twin(tmp_path: Path) -> Path:
    return make_twin(tmp_path / "my set.v2", n=20)


def run(*arguments: object) -> tuple[int, str]:
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    return result.exit_code, result.output


@pytest.mark.parametrize(
    "name", ["", "a", "My_Task", "my-task", "my.task", "1st", "a,b", "a b", "mytask*", "../up", "x" * 65, "tâche"]
)
def test_a_name_that_the_command_line_or_a_file_name_would_break_is_refused(name: str) -> None:
    with pytest.raises(ConfigError, match="lower-case"):
        check_name(name)


@pytest.mark.parametrize("name", ["georefusalbench", "georefusalbench_own", "georefusal_suite"])
def test_a_name_of_ours_is_refused(name: str) -> None:
    with pytest.raises(ConfigError, match="this package"):
        check_name(name)


@pytest.mark.parametrize("name", ["mmmu_val", "mme", "realworldqa", "public_eval_qwen3_5_family"])
def test_a_name_of_the_host_is_refused_since_the_hosts_task_would_win_silently(name: str) -> None:
    with pytest.raises(ConfigError, match=r"which would win: .*\.yaml"):
        check_name(name)


def test_the_task_is_the_main_one_under_another_name_and_data(twin: Path, tmp_path: Path) -> None:
    status, output = run("make-task", "my_task", "--data", twin, "--out", tmp_path / "tasks")
    assert status == 0
    assert "20 items" in output
    text = (tmp_path / "tasks" / "my_task.yaml").read_text(encoding="utf-8")
    main = (tasks_dir() / "georefusalbench.yaml").read_text(encoding="utf-8")
    config, expected = (yaml.load(t.replace("!function ", ""), yaml.SafeLoader) for t in (text, main))
    del expected["tag"]
    assert config == expected | {"task": "my_task", "metadata": "my_task.metadata", "process_docs": "my_task.docs"}


@pytest.mark.parametrize("relative", [True, False])
def test_the_written_module_finds_the_data_from_anywhere(
    twin: Path, tmp_path: Path, relative: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    data = twin.relative_to(tmp_path) if relative else twin
    assert run("make-task", "my_task", "--data", data, "--out", "tasks")[0] == 0
    folder = tmp_path
    if relative:  # both folders can be moved together
        folder = tmp_path.rename(tmp_path.with_name("moved"))
    program = (
        "import importlib.util as u, sys; s = u.spec_from_file_location('m', sys.argv[1]); m = u.module_from_spec(s);"
    )
    program += " s.loader.exec_module(m); print(len(m.docs(None)), m.metadata['data_digest'])"
    module = folder / "tasks" / "my_task.py"
    done = subprocess.run(
        [sys.executable, "-c", program, str(module)], cwd="/", capture_output=True, text=True, check=False
    )
    assert done.stdout.split()[0] == "20", done.stderr


def test_nothing_is_overwritten_or_written_for_data_that_is_not_sound(twin: Path, tmp_path: Path) -> None:
    out = tmp_path / "tasks"
    assert run("make-task", "my_task", "--data", twin, "--out", out)[0] == 0
    before = {path: path.read_bytes() for path in out.iterdir()}
    status, output = run("make-task", "my_task", "--data", twin, "--out", out)
    assert status == 1
    assert "my_task.yaml exists" in output
    (twin / "labels" / "A.jsonl").unlink()
    assert run("make-task", "other_task", "--data", twin, "--out", out)[0] == 1
    assert {path: path.read_bytes() for path in out.iterdir()} == before


def test_the_path_of_the_tasks_is_all_that_tasks_path_prints() -> None:
    assert run("tasks-path") == (0, f"{tasks_dir()}\n")
