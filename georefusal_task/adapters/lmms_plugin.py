"""Entry point `lmms_eval.models`: our models, and, since the host calls it early, registering our tasks.

The host runs this in every process that imports its models, so nothing heavy is imported and no exception leaves.
"""

from typing import Any

from georefusal_task.adapters import lmms_register

MODELS = {
    "georefusal_constant": ("simple", "lmms_models.Constant"),
    "georefusal_random": ("simple", "lmms_models.Random"),
    "georefusal_oracle": ("simple", "lmms_models.Oracle"),
    "grsvqa_always_yes": ("simple", "lmms_grsvqa_models.AlwaysYes"),
    "grsvqa_empty_boxes": ("simple", "lmms_grsvqa_models.EmptyBoxes"),
    "grsvqa_whole_image": ("simple", "lmms_grsvqa_models.WholeImage"),
    "georefusal_openai_schema": ("chat", "lmms_constrained.ConstrainedOpenAI"),
}
"""Name for `--model` -> the host's kind of model, and its class below `georefusal_task.adapters`."""


def manifests() -> list[Any]:
    """Return the host's `ModelManifest` of each model; none, with a warning, when the host has changed too much."""
    try:
        lmms_register.install()
        from lmms_eval.models.registry_v2 import ModelManifest

        return [
            ModelManifest(model_id=name, **{f"{kind}_class_path": f"georefusal_task.adapters.{model}"})
            for name, (kind, model) in MODELS.items()
        ]
    except Exception as error:  # noqa: BLE001 - another package's models must load even if ours cannot
        lmms_register.warn(error)
        return []
