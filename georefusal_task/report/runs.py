"""A finished run with everything that reports need, from whatever it left on disk: `load_run(path) -> Run`.

The figures are those of `georefusal score` and of the host: the replies are read and scored again by the same calls.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

from georefusal_task import data as loader
from georefusal_task.benchmarks.refusal import Summary
from georefusal_task.core.errors import ConfigError, DataError
from georefusal_task.core.records import Reason, Row
from georefusal_task.core.stats import SIGN_FLIP_BELOW
from georefusal_task.data import Benchmark
from georefusal_task.grounding_tasks import GROUNDING_TASKS
from georefusal_task.replies import ItemReplies, score_replies
from georefusal_task.report.logs import Log, Meta, find_logs
from georefusal_task.report.provenance import Provenance, clusters, load_provenance, ties
from georefusal_task.tasks_table import DEFAULT_TASK, TASKS, TaskSpec, get_task, summed_up

Data = Path | str | Benchmark | None
"""Where the items come from: a folder, a set that is loaded already, or the usual order of the loader."""


@dataclass(frozen=True)
class Run:
    """One model's replies to one task, scored. All dictionaries are keyed by item id."""

    name: str
    """What tables call it: the model, or what the user says. Untrusted text."""
    task: str
    spec: TaskSpec
    rows: tuple[Row, ...]
    """Scored items in order of their ids; fewer than `n_total` in a partial run."""
    replies: Mapping[str, ItemReplies] = field(repr=False)
    benchmark: Benchmark = field(repr=False)
    """The items themselves: question, image and label are `benchmark.by_id[id].case` and `.label`."""
    meta: Meta = field(default_factory=Meta)
    provenance: Mapping[str, Provenance] = field(default_factory=dict, repr=False)
    """Empty where the user has none."""
    variants: Mapping[str, "Run"] = field(default_factory=dict, repr=False)
    """Task name -> the same model's run of another image or prompt; empty on the variants themselves."""
    warnings: tuple[str, ...] = ()
    path: Path | None = field(default=None, repr=False)

    @property
    def n(self) -> int:
        """Items with a reply."""
        return len(self.rows)

    @property
    def n_total(self) -> int:
        """Items of the data set."""
        return len(self.benchmark.items)

    @cached_property
    def by_id(self) -> dict[str, Row]:
        """Id -> scored row."""
        return {row.id: row for row in self.rows}

    @cached_property
    def missing(self) -> tuple[str, ...]:
        """Ids of the data set without a reply."""
        return tuple(item for item in self.benchmark.by_id if item not in self.by_id)

    @cached_property
    def texts(self) -> dict[str, tuple[str, ...]]:
        """Raw replies, the first of each being the one that counts. Untrusted text."""
        return {item: said.texts for item, said in self.replies.items()}

    @property
    def host_error_share(self) -> float | None:
        """Share of failed requests; None without items."""
        return sum(row.reason == Reason.HOST_ERROR for row in self.rows) / self.n if self.rows else None

    @property
    def data_digest(self) -> str:
        """Digest of the data that the model was run on: as recorded, else of the data it is scored with."""
        return self.meta.data_digest or self.benchmark.digest

    @property
    def prompt_sha256(self) -> str:
        """Digest of the prompt that the model was given: as recorded, else of the task's prompt today."""
        return self.meta.prompt_sha256 or self.spec.asks.sha256

    @cached_property
    def clusters(self) -> dict[str, str] | None:
        """Id -> cluster of dependent items, for every item of the data set; None where no provenance tells."""
        known = any(ties(self.provenance.get(item)) for item in self.benchmark.by_id)
        return clusters(self.benchmark.by_id, self.provenance) if known else None

    @property
    def untied(self) -> str | None:
        """What provenance leaves open about which items depend on each other, as a sentence; None where it is whole."""
        open_ = sum(not ties(self.provenance.get(item)) for item in self.benchmark.by_id) if self.provenance else 0
        if not open_:
            return None
        if self.clusters is None:
            return "provenance names no base question or image of these items: they count as independent"
        return f"provenance ties {open_} of {self.n_total} items to nothing: each counts as independent"

    @property
    def few_clusters(self) -> str | None:
        """A caution where so few clusters are known that a bootstrap over them understates the uncertainty."""
        known = len({self.clusters[row.id] for row in self.rows}) if self.clusters else 0
        if not 0 < known < SIGN_FLIP_BELOW:
            return None
        return (
            f"the items form {known} cluster{'s' if known > 1 else ''} only: intervals over so few are too short; "
            "where a test disagrees with an interval, trust the test"
        )

    @property
    def is_forced(self) -> bool:
        """The prompt allowed yes and no only, so that there are no verdicts."""
        return self.spec.asks.reply == "yes_no"

    @cached_property
    def summary(self) -> Summary:
        """Every figure of the run, with intervals over clusters where those are known."""
        return summed_up(self.spec, self.rows, self.clusters)


def load_run(
    path: Path | str,
    *,
    data: Data = None,
    task: str | None = None,
    name: str | None = None,
    provenance: Path | str | Mapping[str, Provenance] | None = None,
) -> Run:
    """Return the finished run at `path`, with its variants where the same place holds them.

    Args:
        path: a folder of the host's results, its results file, a sample log, a reply file or a bundle.
        data: the items; needed for a task of one's own.
        task: which of several tasks is the run itself, or what a reply file answers (else georefusalbench).
        name: what to call it instead of the model's name.
        provenance: see `load_provenance`; joined here, after the run, by id.

    Raises:
        ConfigError: several models or tasks to choose from, or an unknown task.
        DataError: something in the files is not what it should be.
    """
    runs = load_runs([path], data=data, task=task, provenance=provenance)
    if len(runs) > 1:
        listed = "\n  ".join(f"{run.name}: {run.path}" for run in runs)
        raise ConfigError(f"{path} holds the runs of {len(runs)} models; name one folder or file:\n  {listed}")
    return replace(runs[0], name=name) if name else runs[0]


def load_runs(
    paths: Sequence[Path | str],
    *,
    data: Data = None,
    task: str | None = None,
    provenance: Path | str | Mapping[str, Provenance] | None = None,
) -> list[Run]:
    """Return the runs of every model at the paths, in their order, each with its variants and a name of its own.

    Arguments and errors as for `load_run`.
    """
    known = load_provenance(Path(provenance)) if isinstance(provenance, str | Path) else provenance or {}
    scorer = _Scorer(data, known)
    runs = []
    for path in map(Path, paths):
        for logs in _by_model(find_logs(path)):
            main, variants = _chosen(logs, path, task, own_set=data is not None)
            others = {log.task: scorer.run(log, log.task) for log in variants if log.task}
            runs.append(replace(scorer.run(main, task or main.task or DEFAULT_TASK), variants=others))
    names = told_apart(run.name for run in runs)
    return [replace(run, name=name) for run, name in zip(runs, names, strict=True)]


class _Scorer:
    """Reads and scores logs; a data set is loaded once for all of them."""

    def __init__(self, data: Data, provenance: Mapping[str, Provenance]) -> None:
        self._data, self._provenance = data, provenance
        self._loaded: dict[bool, Benchmark] = {}

    def run(self, log: Log, task: str) -> Run:
        spec = get_task(task, own_set=self._data is not None)
        benchmark = self._benchmark(spec)
        doubtful = doubts(log.meta, benchmark.digest, spec.asks.id, spec.asks.sha256)
        try:
            replies = log.read(benchmark.by_id)
        except DataError as error:
            raise DataError("; ".join([str(error), *doubtful])) from None
        rows = sorted(score_replies(benchmark.by_id, replies, spec.asks.reply), key=lambda row: row.id)
        models = sorted({said.model for said in replies.values() if said.model})
        meta = log.meta if log.meta.model else replace(log.meta, model=", ".join(models) or None)
        return Run(
            name=log.name or meta.model or log.path.stem,
            task=spec.name,
            spec=spec,
            rows=tuple(rows),
            replies=replies,
            benchmark=benchmark,
            meta=meta,
            provenance=self._provenance,
            warnings=(*benchmark.warnings, *doubtful),
            path=log.path,
        )

    def _benchmark(self, spec: TaskSpec) -> Benchmark:
        if isinstance(self._data, Benchmark):
            return self._data
        shipped = spec.mini and self._data is None
        if shipped not in self._loaded:
            self._loaded[shipped] = loader.load_mini() if shipped else loader.load(self._data)
        return self._loaded[shipped]


def doubts(meta: Meta, digest: str, prompt: str, prompt_sha256: str) -> list[str]:
    """Return what does not fit between what the run recorded and the data and prompt that it is scored with."""
    found = []
    if meta.data_digest not in (None, digest):
        found.append(f"the run saw the data {meta.data_digest[:12]} but is scored with {digest[:12]}")
    if meta.prompt_sha256 not in (None, prompt_sha256):
        found.append(f"the run was given another wording of the prompt than {prompt} has today")
    return found


def _by_model(logs: Sequence[Log]) -> list[list[Log]]:
    """Return the logs of each model: those of one folder whose model is recorded alike."""
    found: dict[tuple[Path, str | None], list[Log]] = {}
    for log in logs:
        found.setdefault((log.path.parent, log.name or log.meta.model), []).append(log)
    return list(found.values())


def _chosen(logs: Sequence[Log], path: Path, task: str | None, *, own_set: bool) -> tuple[Log, list[Log]]:
    """Return the run itself and its variants: the other tasks of ours on the same set.

    Raises:
        ConfigError: none or several could be the run itself, or one task was run twice.
    """
    with_boxes = [one for one in (task, *(log.task for log in logs)) if one in GROUNDING_TASKS]
    if with_boxes and (task in GROUNDING_TASKS or not any(log.task in TASKS for log in logs)):
        raise ConfigError(
            f"{path} answers {with_boxes[0]}, which asks for boxes and has no verdicts; of the commands on finished "
            "runs `georefusal score` and `georefusal report` know it"
        )
    if len(logs) == 1 and logs[0].task is None:
        return logs[0], []
    ours = [log for log in logs if log.task in TASKS] or (list(logs) if own_set else [])
    if task:
        main = [log for log in logs if log.task == task]
    else:
        main = [log for log in ours if _is_main(log.task)] or (ours if len(ours) == 1 else [])
    listed = "\n  ".join(f"{log.path} (--task {log.task})" for log in logs)
    if not main:
        raise ConfigError(
            f"{path} holds no log of {task or 'a main task to start from; choose with --task'}:\n  {listed}"
        )
    if len(main) > 1:
        raise ConfigError(f"{path} holds {len(main)} logs that could be the run; name one file or --task:\n  {listed}")
    others = [log for log in ours if log is not main[0] and _same_set(log.task, main[0].task)]
    if len({log.task for log in others} | {main[0].task}) <= len(others):
        raise ConfigError(f"{path} holds more than one log of a task; keep one, or name a file:\n  {listed}")
    return main[0], others


def _is_main(task: str | None) -> bool:
    spec = TASKS.get(task or "")
    return spec is None or (spec.variant, spec.prompt) == ("main", "default")


def _same_set(task: str | None, other: str | None) -> bool:
    first, second = TASKS.get(task or ""), TASKS.get(other or "")
    return first is not None and second is not None and first.mini == second.mini


def told_apart(names: Iterable[str]) -> list[str]:
    """Return the names, those that stand there before numbered from 2 on.

    >>> told_apart(["a", "b", "a"])
    ['a', 'b', 'a (2)']
    """
    seen: dict[str, int] = {}
    named = []
    for name in names:
        seen[name] = count = seen.get(name, 0) + 1
        named.append(name if count == 1 else f"{name} ({count})")
    return named
