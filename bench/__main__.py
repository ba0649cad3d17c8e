"""Run every benchmark of this folder, or the ones named on the command line: `python -m bench [reply scores ...]`."""

import importlib
import pkgutil
import sys

import bench


def main() -> None:
    modules = {module.name.removeprefix("bench_"): module.name for module in pkgutil.iter_modules(bench.__path__)}
    modules.pop("__main__", None)
    if unknown := set(sys.argv[1:]) - modules.keys():
        sys.exit(f"no benchmark is called {', '.join(sorted(unknown))}; there are: {', '.join(sorted(modules))}")
    for name in sys.argv[1:] or sorted(modules):
        print(f"\n== {name}", flush=True)
        importlib.import_module(f"bench.{modules[name]}").main()


main()
