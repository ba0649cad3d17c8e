"""`georefusal_openai_schema`: the host's `openai` backend, with decoding constrained to the schema of our reply.

The host has no way to hand a schema to a server. A model of its own name keeps such runs apart from free ones in every
results file: a grammar takes away format errors, and with them part of what the benchmark measures.
"""

from functools import partial
from typing import Any

from lmms_eval.models.chat.openai import OpenAICompatible

from georefusal_task.core.records import ReplyForm

RESPONSE_FORMAT = {
    "type": "json_schema",
    "json_schema": {"name": "georefusal_reply", "schema": ReplyForm.model_json_schema(), "strict": True},
}
"""The form that vLLM, SGLang, llama.cpp and the vendors understand."""


class ConstrainedOpenAI(OpenAICompatible):  # type: ignore[misc]
    """Takes the arguments of the host's `openai` backend. For prompts that ask for the whole JSON object."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        completions = self.client.chat.completions
        completions.create = partial(completions.create, response_format=RESPONSE_FORMAT)
