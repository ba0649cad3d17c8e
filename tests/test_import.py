"""Importing the runtime stays light: whoever lists tasks or asks for --help must not wait for torch."""

import json
import pkgutil
import subprocess
import sys

import pytest

import georefusal_task

HEAVY = {
    "cv2",
    "datasets",
    "huggingface_hub",
    "inspect_ai",
    "jinja2",
    "json_repair",
    "lm_eval",
    "lmms_eval",
    "matplotlib",
    "openai",
    "pandas",
    "PIL",
    "pyarrow",
    "scipy",
    "sklearn",
    "torch",
    "transformers",
}
RUNTIME = [
    module.name
    for module in pkgutil.walk_packages(georefusal_task.__path__, "georefusal_task.")
    if not module.name.startswith(("georefusal_task.adapters", "georefusal_task.report", "georefusal_task.assets"))
    and module.name != "georefusal_task.images"
]
"""Everything but the adapters, which exist for a harness, the reports, and the one module that decodes images."""


def loaded_by(*modules: str) -> set[str]:
    code = f"import sys, json, {', '.join(modules)}; print(json.dumps(list(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return {name.split(".")[0] for name in json.loads(done.stdout)}


def test_the_whole_runtime_loads_nothing_heavy() -> None:
    assert "georefusal_task.core.reply" in RUNTIME
    assert loaded_by(*RUNTIME) & HEAVY == set()


@pytest.mark.parametrize("module", ["georefusal_task.adapters.lmms", "georefusal_task.adapters.lmms_plugin"])
def test_the_hooks_that_every_run_of_the_host_loads_bring_nothing_heavy(module: str) -> None:
    assert loaded_by(module) & HEAVY == set()


def test_the_plugin_that_every_run_of_the_host_loads_does_not_even_load_our_records() -> None:
    assert "pydantic" not in loaded_by("georefusal_task.adapters.lmms_plugin")
