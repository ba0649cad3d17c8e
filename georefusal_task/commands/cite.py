"""`georefusal cite`: a run as a paper would state it."""

from georefusal_task.commands import _report
from georefusal_task.commands._common import reports_errors


@reports_errors
def cite(
    run: _report.RunArgument,
    *,
    task: _report.Task = None,
    data: _report.Data = None,
    provenance: _report.Provenance = None,
    output: _report.Out = None,
) -> None:
    """Print the sentences for a methods section, a row of a LaTeX table, and BibTeX."""
    from georefusal_task.report.citing import cite as cited
    from georefusal_task.report.runs import load_run

    _report.check_out(output)
    loaded = load_run(run, data=data, task=task, provenance=provenance)
    _report.warn([loaded])
    _report.deliver(cited(loaded), output)
