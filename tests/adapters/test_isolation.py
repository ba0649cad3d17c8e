"""An adapter knows its own harness and no other, and none of ours is heavy without one."""

import subprocess
import sys

import pytest

HARNESSES = {"lmms_eval", "inspect_ai", "lm_eval", "vlmeval"}
ADAPTERS = {
    "lmms": set(),
    "lmms_plugin": set(),
    "lm_eval": set(),
    "lm_eval_grsvqa": set(),
    "common": set(),
    "vlmevalkit": set(),
    "inspect": {"inspect_ai"},
    "inspect_grsvqa": {"inspect_ai"},
    "vlmevalkit_dataset": {"vlmeval"},
}
PROGRAM = """
import sys
from types import ModuleType
from unittest.mock import MagicMock

class Harness(ModuleType):
    __path__ = []
    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return MagicMock() if name[0].islower() or name.isupper() else type(name, (), {})

class Finder:
    asked = set()
    def find_spec(self, name, path=None, target=None):
        root = name.partition(".")[0]
        if root not in %r:
            return None
        self.asked.add(root)
        import importlib.machinery
        return importlib.machinery.ModuleSpec(name, self, is_package=True)
    def create_module(self, spec):
        return Harness(spec.name)
    def exec_module(self, module):
        pass

sys.meta_path.insert(0, Finder())
import importlib
importlib.import_module("georefusal_task.adapters." + sys.argv[1])
print(*sorted(Finder.asked))
print(*sorted({"torch", "datasets", "transformers", "matplotlib"} & set(sys.modules)))
"""


@pytest.mark.parametrize(("adapter", "own"), ADAPTERS.items())
def test_importing_an_adapter_imports_its_own_harness_at_most(adapter: str, own: set[str]) -> None:
    # one harness in the place of all four: what is imported shows, whether it is installed here or not
    program = [sys.executable, "-c", PROGRAM % HARNESSES, adapter]
    done = subprocess.run(program, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    asked, heavy = done.stdout.splitlines()
    assert set(asked.split()) == own
    assert heavy == ""
