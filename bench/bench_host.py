"""What our hooks cost inside the host, per document and once per run; the model's own time is none of it."""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from support.twin import make_twin

TASK = "georefusalbench"
REPLY = json.dumps({"verdict": "ANSWER", "answer": "yes", "justification": "The pier is empty in the lower half."})
ENTRY_POINT = """
import time
start = time.perf_counter()
from georefusal_task.adapters import lmms_plugin
lmms_plugin.lmms_register.install()
print(1000 * (time.perf_counter() - start))
"""


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    """Return seconds and result of one call."""
    start = time.perf_counter()
    result = work()
    return time.perf_counter() - start, result


def main() -> None:
    import_ms = float(subprocess.check_output([sys.executable, "-c", ENTRY_POINT]))
    print(
        f"  entry point, imported and installed    {import_ms:8.1f} ms in every process that imports the host's models"
    )

    with tempfile.TemporaryDirectory() as scratch:
        os.environ["GEOREFUSAL_DATA"] = str(make_twin(Path(scratch)))
        from lmms_eval.tasks import TaskManager

        from georefusal_task.adapters.lmms_register import tasks_dir

        index_s, manager = timed(lambda: TaskManager(include_path=str(tasks_dir()), include_defaults=False))
        print(f"  our task files, indexed                {1000 * index_s:8.1f} ms per run")
        load_s, tasks = timed(lambda: manager.load_task_or_group(TASK, task_type="chat"))
        task = tasks[TASK]
        docs = list(task.eval_docs)
        print(f"  {len(docs)} documents, loaded and checked     {1000 * load_s:8.1f} ms per run")
        context_s, _ = timed(lambda: task.build_all_requests(limit=None, rank=0, world_size=1))
        messages_s, _ = timed(lambda: [task.doc_to_messages(doc) for doc in docs])
        score_s, values = timed(lambda: [task.process_results(doc, [[REPLY]]) for doc in docs])
        figures = task.aggregation()
        sum_s, _ = timed(lambda: [figures[name]([value[name] for value in values]) for name in values[0]])
    for what, seconds in (("context", context_s), ("message with image", messages_s), ("reading and scoring", score_s)):
        print(f"  {what:38} {1000 * seconds / len(docs):8.3f} ms per document")
    print(f"  all {len(values[0])} metrics                         {1000 * sum_s:8.1f} ms per run")
