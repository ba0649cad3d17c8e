"""Entry point `lmms_eval.models`: our baseline models, and, since the host calls it early, registering our tasks.

The host runs this in every process that imports its models, so nothing heavy is imported and no exception leaves.
"""

from typing import Any

from georefusal_task.adapters import lmms_register

BASELINES = {
    "georefusal_constant": "Constant",
    "georefusal_random": "Random",
    "georefusal_oracle": "Oracle",
}
"""Name for `--model` -> class in `adapters.lmms_models`."""


def manifests() -> list[Any]:
    """Return the host's `ModelManifest` of each baseline; none, with a warning, when the host has changed too much."""
    try:
        lmms_register.install()
        from lmms_eval.models.registry_v2 import ModelManifest

        return [
            ModelManifest(model_id=name, simple_class_path=f"georefusal_task.adapters.lmms_models.{class_name}")
            for name, class_name in BASELINES.items()
        ]
    except Exception as error:  # noqa: BLE001 - another package's models must load even if ours cannot
        lmms_register.warn(error)
        return []
