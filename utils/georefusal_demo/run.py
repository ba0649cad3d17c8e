"""The demonstration: baselines and a tiny checkpoint through the real host, scored again without it, side by side."""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from georefusal_demo import tables
from georefusal_demo.checkpoints import FAMILIES, make_checkpoint
from georefusal_demo.host import HostRun, command, evaluate, finished
from georefusal_task import data
from georefusal_task.benchmarks.refusal import SMALL, Summary, summarise
from georefusal_task.core.errors import GeoRefusalError
from georefusal_task.replies import read_replies, score_replies

TASK = "georefusalbench_mini"
FAMILY = "internvl"  # its backend needs neither a GPU nor decord, so it runs on any machine

EXPLANATION = """\
accept_acc is the share of items with an accepted verdict (95 % interval); always-answer is the bar for any model.
Noise is unparsed: wrong everywhere and never a refusal, so read the two refusal rates beside the unparsed ones."""


@dataclass(frozen=True)
class Contestant:
    """One model of the demonstration."""

    title: str
    model: str
    model_args: str = ""
    more: tuple[str, ...] = ()


def contestants(checkpoint: Path) -> Iterator[Contestant]:
    """Yield the models in the order of the table: the bar, two rulers, a checkpoint."""
    yield Contestant("always-answer", "georefusal_constant", "verdict=ANSWER")
    yield Contestant("random verdict", "georefusal_random", "seed=0")
    yield Contestant("oracle", "georefusal_oracle")
    family = FAMILIES[FAMILY]
    # noise never ends its reply, so a short limit saves time and costs nothing
    limit = ("--gen_kwargs", "max_new_tokens=16")
    yield Contestant(f"tiny {FAMILY} (random weights)", family.backend, family.model_args(checkpoint), limit)


def demonstrate(out: Path, *, limit: int | None = None, reuse: bool = False) -> None:
    """Run everything, print the tables, and keep all files in `out`.

    Args:
        out: results, logs and the checkpoint.
        limit: evaluate only the first items.
        reuse: take over the runs that `out` has already.

    Raises:
        GeoRefusalError: the host wrote no results, or other figures than its replies give.
    """
    start = time.monotonic()
    out = out.resolve()
    checkpoint = out / "checkpoint"
    if not (reuse and (checkpoint / "config.json").exists()):
        print(f"making a tiny {FAMILY} checkpoint with random weights in {checkpoint}", flush=True)
        make_checkpoint(FAMILY, checkpoint)
    runs: dict[str, HostRun] = {}
    summaries: dict[str, Summary] = {}
    field = list(contestants(checkpoint))
    for number, contestant in enumerate(field, 1):
        folder = out / contestant.model
        more = (*contestant.more, *(("--limit", str(limit)) if limit else ()))
        line = command(contestant.model, contestant.model_args, TASK, folder, more)
        label = f"[{number}/{len(field)}] {contestant.title}"
        run = finished(line, folder, TASK) if reuse else None
        if run:
            print(f"{label}: finished before", flush=True)
        runs[contestant.title] = run or evaluate(line, folder, TASK, label)
        summaries[contestant.title] = rescore(runs[contestant.title])
    report(summaries, runs)
    print(f"\nEverything took {time.monotonic() - start:.0f} s.")


def rescore(run: HostRun) -> Summary:
    """Return the summary of a run's replies, read and scored here, after checking that the host says the same.

    Raises:
        GeoRefusalError: a figure differs in any digit.
    """
    benchmark = data.load_mini()
    summary = summarise(score_replies(benchmark.by_id, read_replies(run.samples, benchmark.by_id)))
    host = run.metrics
    for name, estimate in summary.metrics.items():
        if host.get(name) != estimate.value:
            raise GeoRefusalError(f"{run.results}: {name} is {host.get(name)!r}, its replies give {estimate.value!r}")
    return summary


def report(summaries: dict[str, Summary], runs: dict[str, HostRun]) -> None:
    """Print the tables, what they say, and where the files are."""
    items = len(data.load_mini().items)
    evaluated = next(iter(summaries.values())).n
    print(f"\n{TASK}: {evaluated} of {items} items. The checkpoint's weights are random: its figures mean nothing.\n")
    print(tables.side_by_side(summaries, tables.RATES))
    print(f"\nBy category (hits/n below {SMALL} items):\n")
    print(tables.side_by_side(summaries, tables.RECALLS))
    print(f"\n{EXPLANATION}")
    print("\nScored again from the logged replies, without the host: every figure equals the host's to the last digit.")
    print("Results and replies:")
    for title, run in runs.items():
        print(f"  {title}: {_near(run.results)}\n  {' ' * len(title)}  {_near(run.samples)}")
    print(f"All figures of the last one: georefusal score {_near(run.samples)}")


def _near(path: Path) -> Path:
    """Return a path relative to where the user is, if it lies below."""
    here = Path.cwd()
    return path.relative_to(here) if path.is_relative_to(here) else path
