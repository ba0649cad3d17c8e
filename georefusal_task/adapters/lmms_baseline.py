"""What all baselines are for the host: models that load nothing, look at no image, and say what their class decides."""

import os
from abc import abstractmethod
from collections import Counter
from collections.abc import Iterable
from typing import Any

import torch
from lmms_eval.api.instance import Instance
from lmms_eval.api.model import lmms

from georefusal_task.core.errors import ConfigError


class Baseline(lmms):  # type: ignore[misc]
    """A model whose reply to an item follows from the item alone, so that ranks, order and subsets change nothing."""

    is_simple = True
    replies_to: tuple[str, str]
    """The tasks it knows, and a field that only their documents have."""

    def __init__(self, **host_arguments: Any) -> None:
        super().__init__()
        # a misspelt argument would go unnoticed
        if unknown := set(host_arguments) - {"batch_size", "max_batch_size", "device"}:
            raise ConfigError(f"{type(self).__name__} takes no argument {', '.join(sorted(unknown))}")

    @abstractmethod
    def reply(self, doc: dict[str, Any], repeat: int) -> str:
        """Return the reply to one item; `repeat` counts the samples of an item under the host's `-n`."""

    @property
    def device(self) -> torch.device:
        """Where the host puts the counts that it gathers over ranks; NCCL moves CUDA tensors only."""
        gathers_on_gpu = torch.distributed.is_initialized() and torch.distributed.get_backend() == "nccl"
        return torch.device("cuda", int(os.environ.get("LOCAL_RANK", "0"))) if gathers_on_gpu else torch.device("cpu")

    def generate_until(self, requests: Iterable[Instance]) -> list[str]:
        """Return one reply per request."""
        seen: Counter[tuple[str, int]] = Counter()
        texts = []
        for request in requests:
            *_, doc_id, task, split = request.args
            doc = self.task_dict[task][split][doc_id]
            tasks, field = self.replies_to
            if field not in doc:
                raise ConfigError(f"{type(self).__name__} replies to {tasks} tasks only, not to {task!r}")
            texts.append(self.reply(doc, seen[task, doc_id]))
            seen[task, doc_id] += 1
        return texts

    def loglikelihood(self, requests: list[Instance]) -> list[tuple[float, bool]]:
        """Raise: a baseline writes replies, it has no likelihoods."""
        raise NotImplementedError(f"{type(self).__name__} only generates")

    def generate_until_multi_round(self, requests: list[Instance]) -> list[str]:
        """Raise: no task of ours has rounds."""
        raise NotImplementedError(f"{type(self).__name__} only generates")
