"""The leaderboard as a table, and each run as the evaluation metadata of a model card on the Hub."""

from georefusal_task.data_source import REPOSITORY
from georefusal_task.report.ranking import Entry, Leaderboard
from georefusal_task.report.runs import Run
from georefusal_task.report.tables import UNDEFINED, Table, figure
from georefusal_task.report.texts import visible

_SHOWN = {
    "Accepted": "accept_acc",
    "Gap to always-answer": "always_answer_gap",
    "Answered of answerable": "answer_recall",
    "Refused of must-refuse": "detection_recall",
    "Right reason": "category_acc",
    "Unparsed": "unparsed_rate",
}
"""Column -> metric; no rate that unparsed replies make look good."""

_ON_THE_CARD = {
    "accept_acc": "Accepted verdicts",
    "macro_recall": "Macro recall over verdicts",
    "answer_recall": "Answered among answerable",
    "refusal_acc": "Right refusal among must-refuse",
    "unparsed_rate": "Replies without a verdict",
}


def table(board: Leaderboard) -> Table:
    """Return the leaderboard as it is shown: shares in per cent with their 95 % intervals."""
    declared = any(entry.declared for entry in board.entries)
    columns = ["Model", "Rank", "Range", *_SHOWN, "n", "Against references"]
    columns += ["Training imagery (declared)"] if declared else []
    columns += ["Remarks"] if any(entry.marks for entry in board.entries) else []
    words = {"Model", "Against references", "Training imagery (declared)", "Remarks"}
    meta = board.meta
    return Table(
        caption=(
            f"{meta['task']}: {meta['n_total']} items, data {meta['data'][:12]}, "
            f"prompt {meta['prompt']} ({meta['prompt_sha256'][:12]})"
        ),
        columns=tuple(columns),
        rows=tuple(tuple(_cells(entry)[name] for name in columns) for entry in board.entries),
        notes=("Per cent, with 95 % intervals; counts where n < 20.", *board.notes),
        left=frozenset(place for place, name in enumerate(columns) if name in words),
    )


def _cells(entry: Entry) -> dict[str, str]:
    open_ranks = entry.rank == entry.worst_rank
    return {
        "Model": entry.name,
        "Rank": UNDEFINED if entry.rank is None else str(entry.rank),
        "Range": UNDEFINED
        if entry.rank is None
        else str(entry.rank)
        if open_ranks
        else f"{entry.rank}{UNDEFINED}{entry.worst_rank}",
        **{
            column: figure(entry.figures.get(name), signed=name == "always_answer_gap")
            for column, name in _SHOWN.items()
        },
        "n": str(entry.n),
        "Against references": "; ".join(f"{bar}: {how}" for bar, how in entry.against.items()),
        "Training imagery (declared)": entry.declared,
        "Remarks": "; ".join(entry.marks),
    }


def model_card(run: Run) -> str:
    """Return the run as YAML for the top of a model card: the Hub's `model-index`."""
    from huggingface_hub import EvalResult, ModelCardData

    summary, spec = run.summary, run.spec
    dataset = {
        "dataset_type": "georefusal-mini" if spec.mini else REPOSITORY,
        "dataset_name": "GeoRefusal mini set (not a benchmark)" if spec.mini else "GeoRefusalBench",
        "dataset_revision": run.meta.data_revision or run.benchmark.revision,
        "dataset_args": {"digest": run.data_digest, "items": run.n, "items_total": run.n_total},
    }
    results = [
        EvalResult(
            task_type="visual-question-answering",
            task_name=run.task,
            metric_type=name,
            metric_name=title,
            metric_value=round(summary.metrics[name].value or 0.0, 6),
            metric_args={
                "interval_95": [summary.metrics[name].low, summary.metrics[name].high],
                "n": summary.metrics[name].n,
                "prompt": spec.asks.id,
                "prompt_sha256": run.prompt_sha256,
            },
            **dataset,
        )
        for name, title in _ON_THE_CARD.items()
        if name in summary.metrics and summary.metrics[name].value is not None
    ]
    name = visible(run.name)
    return f"---\n{ModelCardData(model_name=name, eval_results=results).to_yaml()}\n---\n"
