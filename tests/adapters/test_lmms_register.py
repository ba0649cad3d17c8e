"""The registration module against a stand-in for the host's task module, in every state that it may be found in."""

import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from georefusal_task.adapters import lmms_plugin, lmms_register
from georefusal_task.adapters.lmms_doctor import TASK_NAMES

OURS = str(lmms_register.tasks_dir() / "georefusalbench.yaml")


class TaskManager:
    """Indexes as the host does: earlier paths win, the built-ins first."""

    def initialize_tasks(self, include_path: Any = None, include_defaults: bool = True) -> dict[str, Any]:
        paths = [include_path] if isinstance(include_path, str) else list(include_path or [])
        index = {"mme": {"yaml_path": "builtin/mme.yaml"}} if include_defaults else {}
        for folder in paths:
            found = {file.stem: {"yaml_path": str(file)} for file in sorted(Path(folder).glob("*.yaml"))}
            index = {**found, **index}
        return index


@pytest.fixture
def host(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The stand-in, as if the host had imported its tasks already."""
    module = ModuleType("lmms_eval.tasks")
    module.TaskManager = type("TaskManager", (TaskManager,), dict(vars(TaskManager)))  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "lmms_eval.tasks", module)
    monkeypatch.delenv(lmms_register.OFF_VARIABLE, raising=False)
    return module


def index(host: ModuleType, **asked: Any) -> dict[str, Any]:
    return dict(host.TaskManager().initialize_tasks(**asked))


def test_our_tasks_join_the_hosts_own_without_a_word(host: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    lmms_register.install()
    assert index(host).keys() == {"mme", *TASK_NAMES}
    assert index(host)["georefusalbench"]["yaml_path"] == OURS
    assert capsys.readouterr() == ("", "")


def test_a_users_own_folder_wins_over_ours_and_keeps_its_other_tasks(host: ModuleType, tmp_path: Path) -> None:
    for name in ("georefusalbench", "mine"):
        (tmp_path / f"{name}.yaml").touch()
    lmms_register.install()
    for asked in (str(tmp_path), [str(tmp_path)]):
        found = index(host, include_path=asked)
        assert found["georefusalbench"]["yaml_path"] == str(tmp_path / "georefusalbench.yaml")
        assert found.keys() == {"mme", "mine", *TASK_NAMES}


def test_nothing_is_added_where_the_caller_wants_no_defaults(host: ModuleType) -> None:
    lmms_register.install()
    assert index(host, include_defaults=False) == {}
    assert host.TaskManager().initialize_tasks(None, False) == {}


def test_installing_twice_wraps_once(host: ModuleType) -> None:
    lmms_register.install()
    wrapped = host.TaskManager.initialize_tasks
    lmms_register.install()
    assert host.TaskManager.initialize_tasks is wrapped


@pytest.mark.parametrize("value", ["1", "true"])
def test_one_variable_leaves_the_host_untouched(host: ModuleType, monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    original = host.TaskManager.initialize_tasks
    monkeypatch.setenv(lmms_register.OFF_VARIABLE, value)
    lmms_register.install()
    assert host.TaskManager.initialize_tasks is original


def test_the_variable_set_after_installing_counts_too(host: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    # `env:` in a --config file is applied after the entry points have run
    lmms_register.install()
    monkeypatch.setenv(lmms_register.OFF_VARIABLE, "1")
    assert index(host).keys() == {"mme"}


def test_a_host_that_finds_our_tasks_by_itself_is_left_as_it_is(host: ModuleType) -> None:
    # the day lmms-eval has an entry point for tasks, its own way must win
    by_host = {name: {"yaml_path": f"by the host/{name}"} for name in TASK_NAMES}
    original = host.TaskManager.initialize_tasks

    def initialize_tasks(self: Any, include_path: Any = None, include_defaults: bool = True) -> dict[str, Any]:
        return {**original(self, include_path, include_defaults), **(by_host if include_defaults else {})}

    host.TaskManager.initialize_tasks = initialize_tasks
    expected = index(host)
    lmms_register.install()
    assert index(host) == expected


def test_a_host_that_has_changed_works_on_and_the_user_is_told_what_to_do(
    host: ModuleType, capsys: pytest.CaptureFixture[str]
) -> None:
    host.TaskManager.initialize_tasks = lambda self, folders=(): {"mme": {}}
    lmms_register.install()
    assert index(host) == {"mme": {}}
    assert capsys.readouterr().err.count('--include_path "$(georefusal tasks-path)"') == 1


def test_no_exception_leaves_the_entry_point(host: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    del host.TaskManager
    assert lmms_plugin.manifests() == []
    assert capsys.readouterr().err.count('--include_path "$(georefusal tasks-path)"') == 1


def test_the_wait_for_the_hosts_import_ends_with_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "lmms_eval"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "tasks.py").write_text("class TaskManager:\n    def initialize_tasks(self): return {}\n")
    monkeypatch.syspath_prepend(tmp_path)
    for name in [name for name in sys.modules if name.split(".")[0] == "lmms_eval"]:
        monkeypatch.delitem(sys.modules, name)
    before = [finder for finder in sys.meta_path if type(finder).__name__ != "_WhenImported"]  # another test's
    monkeypatch.setattr(sys, "meta_path", before.copy())
    lmms_register.install()
    lmms_register.install()
    assert len(sys.meta_path) == len(before) + 1
    import lmms_eval.tasks

    assert hasattr(lmms_eval.tasks.TaskManager.initialize_tasks, "__wrapped__")
    assert lmms_eval.tasks.__file__ == str(package / "tasks.py")
    assert sys.meta_path == before
