"""`georefusal bundle`: a run in one file that others can check."""

import re
from pathlib import Path

from georefusal_task.commands import _report
from georefusal_task.commands._common import reports_errors, write_result


@reports_errors
def bundle(
    run: _report.RunArgument,
    *,
    task: _report.Task = None,
    data: _report.Data = None,
    output: _report.Out = None,
) -> None:
    """Pack replies, scores and a manifest of how they were made into one zip file, the variants with it.

    Without -o the file is named after the model and lies in the current folder. It holds no images, no questions and no
    provenance. Check it with: georefusal verify FILE
    """
    from georefusal_task.report.bundles import pack
    from georefusal_task.report.runs import load_run

    _report.check_out(output)
    loaded = load_run(run, data=data, task=task)
    _report.warn([loaded])
    name = re.sub(r"[^A-Za-z0-9.-]+", "_", loaded.name).strip("._")[:80] or "model"
    file = output or Path(f"{name}_{loaded.task}.zip")
    write_result(file, pack(loaded))
    print(f"{file}: {', '.join([loaded.task, *loaded.variants])}")
