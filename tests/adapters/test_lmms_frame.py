"""The frame of a run: declared, or settled by the host's command line, or the run is refused; never guessed."""

import inspect
import sys
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType

import pytest

from georefusal_task.adapters import lmms_frame, lmms_plugin
from georefusal_task.benchmarks.grounding_baselines import BASELINES
from georefusal_task.core.errors import ConfigError
from georefusal_task.core.frames import FRAMES


def frame(monkeypatch: pytest.MonkeyPatch, *arguments: str, declared: str | None = None) -> str:
    monkeypatch.setattr(sys, "argv", ["lmms-eval", *arguments])
    monkeypatch.setitem(sys.modules, "lmms_eval.__main__", ModuleType("lmms_eval.__main__"))
    monkeypatch.delenv("GEOREFUSAL_FRAME", raising=False)
    if declared:
        monkeypatch.setenv("GEOREFUSAL_FRAME", declared)
    return lmms_frame.run_frame().label


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["--model", "internvl_hf"], "internvl"),
        (["--model=qwen3_vl", "--tasks", "grsvqa"], "qwen3_vl"),
        (["--model", "openai", "--model_args", "model=Qwen/Qwen3-VL-8B,base_url=http://127.0.0.1"], "qwen3_vl"),
        (["--model", "vllm", "--model_args", "model=OpenGVLab/InternVL3-8B"], "internvl"),
        (["--model", "grsvqa_always_yes"], "unit"),
        # the host's own backend has limits of its own, and its arguments change them
        (["--model", "qwen2_5_vl"], "qwen2_5_vl,200704,1605632"),
        (["--model", "qwen2_5_vl", "--model_args", "pretrained=x,max_pixels=401408"], "qwen2_5_vl,200704,401408"),
        # a server runs the released processor
        (["--model", "vllm", "--model_args", "model=Qwen/Qwen2.5-VL-7B-Instruct"], FRAMES["qwen2_5_vl"].label),
    ],
)  # fmt: skip
def test_the_command_line_settles_it(monkeypatch: pytest.MonkeyPatch, arguments: list[str], expected: str) -> None:
    assert frame(monkeypatch, *arguments) == expected
    assert frame(monkeypatch, *arguments, declared="rel999") == "rel999"


@pytest.mark.parametrize(
    "arguments",
    [
        ["--model", "openai", "--model_args", "model=gpt-4o"],
        ["--model", "dummy"],
        ["--model", "qwen2_5_vl", "--model_args", "pretrained=Qwen/Qwen3-VL-8B-Instruct"],
        [],
    ],
)
def test_what_settles_nothing_is_refused_with_the_list(monkeypatch: pytest.MonkeyPatch, arguments: list[str]) -> None:
    with pytest.raises(ConfigError) as refused:
        frame(monkeypatch, *arguments)
    assert all(name in str(refused.value) for name in (*FRAMES, "GEOREFUSAL_FRAME"))


def test_a_configuration_file_is_read_as_the_host_reads_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    file = tmp_path / "run.yaml"
    file.write_text("model: qwen3_vl\ntasks: grsvqa\n")
    assert frame(monkeypatch, "--config", str(file)) == "qwen3_vl"
    assert frame(monkeypatch, "--config", str(file), "--model", "internvl_hf") == "internvl"
    file.write_text("- model: qwen3_vl\n- model: internvl_hf\n")
    with pytest.raises(ConfigError, match="apart"):
        frame(monkeypatch, "--config", str(file))


def test_from_python_the_frame_must_be_declared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GEOREFUSAL_FRAME", raising=False)
    monkeypatch.delitem(sys.modules, "lmms_eval.__main__", raising=False)
    monkeypatch.setattr(sys, "argv", ["mine", "--model", "qwen3_vl"])
    with pytest.raises(ConfigError, match="GEOREFUSAL_FRAME"):
        lmms_frame.run_frame()


def test_the_host_may_be_started_as_a_module(monkeypatch: pytest.MonkeyPatch) -> None:
    started = ModuleType("__main__")
    started.__spec__ = ModuleSpec("lmms_eval.__main__", None)
    monkeypatch.delenv("GEOREFUSAL_FRAME", raising=False)
    monkeypatch.delitem(sys.modules, "lmms_eval.__main__", raising=False)
    monkeypatch.setitem(sys.modules, "__main__", started)
    monkeypatch.setattr(sys, "argv", ["lmms_eval", "--model", "qwen3_vl"])
    assert lmms_frame.run_frame().label == "qwen3_vl"


def test_the_baselines_are_those_that_the_plugin_names() -> None:
    assert set(BASELINES) == {name for name in lmms_plugin.MODELS if name.startswith("grsvqa_")}


@pytest.mark.host
@pytest.mark.slow
def test_the_limits_are_those_of_the_hosts_backend() -> None:
    from lmms_eval.models.simple.qwen2_5_vl import Qwen2_5_VL

    defaults = {name: found.default for name, found in inspect.signature(Qwen2_5_VL.__init__).parameters.items()}
    assert {name: defaults[name] for name in lmms_frame.BACKEND_PIXELS} == lmms_frame.BACKEND_PIXELS
