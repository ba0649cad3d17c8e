"""The built wheel in an environment that has never seen this source tree."""

import json
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.harnesses import LEFT_OUT, run_inspect, run_lm_eval
from support.host import run_host
from support.server import ChatServer

from georefusal_task.data import load_mini
from georefusal_task.tasks_table import DEFAULT_TASK

pytestmark = [pytest.mark.host, pytest.mark.slow]

ROOT = Path(__file__).parents[2]
TASK = "georefusalbench_mini"
ITEMS = len(load_mini().items)


def run(*command: str | Path, cwd: Path) -> str:
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built from a copy of the tracked files, so that an old build/ folder cannot slip in."""
    folder = tmp_path_factory.mktemp("wheel")
    tracked = run("git", "ls-files", "-z", cwd=ROOT).split("\0")
    for name in filter(None, tracked):
        if (ROOT / name).is_file():
            (folder / "source" / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / name, folder / "source" / name)
    build = ("wheel", "--quiet", "--no-deps", "--no-build-isolation", "--wheel-dir", folder, folder / "source")
    run(sys.executable, "-m", "pip", *build, cwd=folder)
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def python(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The interpreter of a new environment with the wheel; all other packages are lent by the present one."""
    environment = tmp_path_factory.mktemp("fresh") / "env"
    run(sys.executable, "-m", "venv", "--without-pip", environment, cwd=wheel.parent)
    python = environment / "bin" / "python"
    run(
        sys.executable,
        "-m",
        "pip",
        "--python",
        python,
        "install",
        "--quiet",
        "--no-index",
        "--no-deps",
        wheel,
        cwd=wheel.parent,
    )
    site = Path(run(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))", cwd=wheel.parent).strip())
    # a folder named in a .pth file comes last, and its own .pth files, the editable install among them, are not run
    (site / "lent.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return python


def packed(wheel: Path) -> Iterator[str]:
    return (name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name)


def test_the_wheel_holds_runtime_tasks_mini_set_and_workshop_and_nothing_else(wheel: Path) -> None:
    names = set(packed(wheel))
    assert {name.split("/")[0] for name in names} == {"georefusal_build", "georefusal_task"}
    tracked = set(run("git", "ls-files", "georefusal_task", "task_configs", "utils/georefusal_build", cwd=ROOT).split())
    shipped = {
        name.replace("georefusal_task/tasks/", "task_configs/", 1).replace(
            "georefusal_build/", "utils/georefusal_build/", 1
        )
        for name in names
    }
    assert shipped == tracked, "a file that is not packed, or one that should not be"
    assert wheel.stat().st_size < 9_000_000


def test_the_flagless_command_runs_in_a_fresh_environment(python: Path, tmp_path: Path) -> None:
    where = run(python, "-c", "import georefusal_task; print(georefusal_task.__file__)", cwd=tmp_path)
    assert Path(where.strip()).is_relative_to(python.parents[1]), "the editable install is in the way"
    host = run_host(
        tmp_path / "run",
        *("--model", "georefusal_constant", "--model_args", "verdict=ANSWER", "--tasks", TASK, "--log_samples"),
        program=(str(python), "-m", "lmms_eval"),
    )
    metrics = host.metrics(TASK)
    assert metrics["always_answer_gap"] == 0.0
    command = python.with_name("georefusal")
    run(command, "score", host.sample_file(TASK), "--task", TASK, "--json", tmp_path / "scores.json", cwd=tmp_path)
    scores = json.loads((tmp_path / "scores.json").read_text())["metrics"]
    assert scores["accept_acc"]["value"] == metrics["accept_acc"]


def test_the_workshop_runs_in_a_fresh_environment(python: Path, tmp_path: Path) -> None:
    """Its tables and templates are package data; without them the levers cannot be declared."""
    ids = run(python.with_name("georefusal"), "build", "catalogue", cwd=tmp_path).splitlines()
    assert len(set(ids)) == len(ids) == 90
    where = run(python, "-c", "import georefusal_build.questions as q; print(q.__file__)", cwd=tmp_path)
    assert Path(where.strip()).is_relative_to(python.parents[1])


RIGHT = json.dumps({"verdict": "ANSWER", "answer": "yes", "justification": "seen"})
with_all_harnesses = pytest.mark.skipif(LEFT_OUT, reason="pip install 'georefusal[inspect,lm-eval]'")


@with_all_harnesses
def test_inspect_ai_finds_the_task_under_the_name_of_the_package(python: Path, tmp_path: Path) -> None:
    with ChatServer(lambda request: RIGHT) as server:
        inspect = run_inspect(tmp_path, server.base_url, task=f"georefusal_task/{TASK}", python=python)
    assert inspect.header["eval"]["task_registry_name"] == f"georefusal_task/{TASK}"
    assert inspect.metrics["always_answer_gap"] == 0.0
    assert f"{TASK}: all {ITEMS} items" in run(python.with_name("georefusal"), "score", inspect.log, cwd=tmp_path)


@with_all_harnesses
def test_lm_eval_finds_the_task_in_the_folder_that_tasks_path_prints(python: Path, tmp_path: Path) -> None:
    command = python.with_name("georefusal")
    tasks = Path(run(command, "tasks-path", "--host", "lm-eval", cwd=tmp_path).strip())
    assert tasks.is_relative_to(python.parents[1])
    with ChatServer(lambda request: RIGHT) as server:
        lm_eval = run_lm_eval(tmp_path, server.base_url, TASK, tasks=tasks, python=python)
    assert lm_eval.metrics(TASK)["always_answer_gap"] == 0.0
    assert f"{TASK}: all {ITEMS} items" in run(command, "score", lm_eval.folder, cwd=tmp_path)


@with_all_harnesses
def test_doctor_says_how_each_harness_is_called(python: Path, tmp_path: Path) -> None:
    done = subprocess.run(
        [python.with_name("georefusal"), "doctor"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    for line in (
        f"--tasks {DEFAULT_TASK}",
        f"inspect eval georefusal_task/{DEFAULT_TASK}",
        "tasks-path --host lm-eval",
    ):
        assert line in done.stdout, done.stdout + done.stderr
