"""The plan of a build: which candidates are made, drawn by the seed before any pixel is touched."""

from collections import Counter
from dataclasses import dataclass, field, replace
from pathlib import Path

from georefusal_build.asking import Answer
from georefusal_build.build_config import BuildConfig
from georefusal_build.catalogue import levers
from georefusal_build.context import Context, open_context
from georefusal_build.drawing import Picks, image_jobs, parent_jobs, question_jobs
from georefusal_build.evidence import resolvable
from georefusal_build.jobs import Job, read_jobs, tile_id, write_jobs
from georefusal_build.levers import FAMILIES
from georefusal_build.questions import Candidate, propose
from georefusal_build.scenes import Modality
from georefusal_build.selection import select
from georefusal_build.trimming import exact, trimmed
from georefusal_task.core.errors import ConfigError


@dataclass(frozen=True)
class Expected:
    """A lever's line of the forecast.

    fits: base questions that it was found to fit. optical, sar: how many of them are planned. exact: every job gives an
    item unless its clean image is unfit; else the pixels decide, and fewer come out.
    """

    lever: str
    fits: int
    optical: int
    sar: int
    exact: bool


@dataclass(frozen=True)
class Plan:
    """Jobs in the order of base and lever, and what was found on the way.

    fits: by lever, on how many base questions it was found to fit. optical, sar: jobs by lever. bases: base questions
    by modality and answer. left_out: why classes were not asked about, and candidates dropped to keep the balance.
    """

    jobs: tuple[Job, ...]
    fits: Counter[str] = field(default_factory=Counter)
    optical: Counter[str] = field(default_factory=Counter)
    sar: Counter[str] = field(default_factory=Counter)
    bases: Counter[tuple[Modality, Answer]] = field(default_factory=Counter)
    left_out: Counter[str] = field(default_factory=Counter)

    def expected(self) -> list[Expected]:
        """Return the forecast: a line for every lever of the catalogue, in its order."""
        return [
            Expected(one.id, self.fits[one.id], self.optical[one.id], self.sar[one.id], exact(one.family.name))
            for one in levers()
        ]


def make_plan(config: BuildConfig, context: Context | None = None) -> Plan:
    """Return the plan of a build. context: the opened configuration, where it is at hand.

    Raises: ConfigError where a lever that the configuration names does not exist, or its caps cannot be met.
    """
    context = context or open_context(config)
    wanted = wanted_levers(config)
    picks, plan = _base_questions(context)
    found = [*image_jobs(context, picks, wanted), *parent_jobs(context, wanted), *question_jobs(context, picks, wanted)]
    kept = trimmed(context, found)
    plan.fits.update(job.lever_id for job in found)
    for job in kept:
        (plan.sar if context.scenes[job.base.scene_id].modality == "sar" else plan.optical)[job.lever_id] += 1
    return replace(plan, jobs=tuple(sorted(kept, key=lambda job: (job.base.id, job.lever_id))))


def write_plan(plan: Plan, path: Path) -> None:
    """Write `plan.jsonl`, one job a line."""
    write_jobs(plan.jobs, path)


def read_plan(path: Path) -> Plan:
    """Return the plan of a file: its jobs, without the counts that planning gives."""
    return Plan(read_jobs(path))


def wanted_levers(config: BuildConfig) -> frozenset[str]:
    """Return the ids of the levers that a configuration switches on.

    Raises: ConfigError for a name that is no lever, family, category or variant.
    """
    names = {one.id: {one.id, one.family.name, one.family.name.partition("_")[0]} for one in levers()}
    known = set().union(*names.values())
    unknown = sorted({*config.levers.only, *config.levers.without} - known)
    if unknown:
        raise ConfigError(f"levers: there is no {', '.join(unknown)}; `georefusal build catalogue` prints the ids")
    _check_variants(config)
    only, without = set(config.levers.only), set(config.levers.without)
    return frozenset(lever for lever, names_ in names.items() if (not only or names_ & only) and not names_ & without)


def _check_variants(config: BuildConfig) -> None:
    """Raise ConfigError for variants that nobody could choose: they would be left out in silence."""
    for name, chosen in config.levers.variants.items():
        if name not in FAMILIES:
            raise ConfigError(
                f"levers.variants: '{name}' is no family whose variants can be chosen; those are {', '.join(FAMILIES)}"
            )
        offered = [one.name for one in FAMILIES[name].variants]
        unknown = [one for one in chosen if one not in offered]
        if unknown:
            raise ConfigError(
                f"levers.variants.{name}: there is no {', '.join(unknown)}; choose from {', '.join(offered)}"
            )


def _base_questions(context: Context) -> tuple[Picks, Plan]:
    """The base questions by tile, and a plan that holds nothing but their counts."""
    config, plan = context.config, Plan(())
    candidates: list[Candidate] = []
    for tile in context.tiles():
        court = context.court_of(tile)
        offer = propose(
            tile, context.table, context.census, config.seed, per_kind=config.bases.per_kind, limits=config.limits
        )
        plan.left_out.update(str(bar) for bar in offer.bars.elements())
        clear = [one for one in offer.candidates if resolvable(court, one)]
        plan.left_out["unresolved"] += len(offer.candidates) - len(clear)
        candidates += clear
    selection = select(candidates, config.bases.caps, config.seed)
    plan.left_out.update(selection.left_out)
    picks: Picks = {}
    for pick in selection.picks:
        picks.setdefault(tile_id(pick[0]), []).append(pick)
        plan.bases[context.scenes[pick[0].scene_id].modality, pick[0].answer] += 1
    return picks, plan
