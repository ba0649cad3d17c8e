"""Which coordinate frame the model of a run writes boxes in, as far as lmms-eval's command line settles it."""

import argparse
import os
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from georefusal_task.adapters.lmms_register import is_hosts_command
from georefusal_task.benchmarks.grounding_baselines import BASELINES
from georefusal_task.core.errors import ConfigError
from georefusal_task.core.frames import Frame, get_frame
from georefusal_task.grounding_tasks import VARIABLE, declared_frame

BASELINE_FRAME = "unit"
"""Baselines write in whatever frame they are asked for; where none is declared, in this."""
BACKEND_PIXELS = {"min_pixels": 256 * 28 * 28, "max_pixels": 1_605_632}
"""What the host's own `qwen2_5_vl` sets where its arguments do not; the released processor has other limits."""

Run = tuple[str, str]
"""`--model` and `--model_args`."""


def run_frame() -> Frame:
    """Return the frame that GEOREFUSAL_FRAME declares, else the one that the host's command line settles.

    Raises:
        ConfigError: neither does; the message lists the frames.
    """
    if os.environ.get(VARIABLE) or not is_hosts_command():
        return declared_frame()
    frames = {_frame_of(run) for run in runs(sys.argv[1:])}
    if len(frames) > 1:
        raise ConfigError(f"these runs need different coordinate frames; evaluate them apart, or set {VARIABLE}")
    return frames.pop()


def runs(arguments: Sequence[str]) -> Iterator[Run]:
    """Yield model and model arguments of each run that a command line, or the file of its `--config`, asks for."""
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    for option in ("--model", "--model_args", "--config"):
        parser.add_argument(option)
    given, _ = parser.parse_known_args(list(arguments))
    configs: list[dict[str, object]] = [{}]
    if given.config:
        import yaml  # the host reads the file with it

        found = yaml.safe_load(Path(given.config).read_text(encoding="utf-8"))
        configs = found if isinstance(found, list) else [found]
    for config in configs:
        model, model_args = given.model or config.get("model", ""), given.model_args or config.get("model_args", "")
        yield str(model), str(model_args or "")


def _frame_of(run: Run) -> Frame:
    model, text = run
    if model in BASELINES:
        return get_frame(BASELINE_FRAME)
    arguments = dict(re.findall(r"(?:^|,)\s*(\w+)=([^,]*)", text))
    ids = [model, *(arguments[name] for name in ("pretrained", "model", "model_version") if name in arguments)]
    frame = declared_frame(ids)
    if frame.name != "qwen2_5_vl" or model != "qwen2_5_vl":
        return frame
    limits = (arguments.get(name, str(default)) for name, default in BACKEND_PIXELS.items())
    return get_frame(",".join((frame.name, *limits)))
