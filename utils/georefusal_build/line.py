"""The build line: a configuration opened, planned, run and assembled; the commands are thin over this."""

import hashlib
import hmac
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

from georefusal_build.assemble import assemble, read_summary
from georefusal_build.build_config import BuildConfig, load_config
from georefusal_build.context import Context, open_context
from georefusal_build.jobs import Job, read_jobs
from georefusal_build.left_out import told
from georefusal_build.making import make
from georefusal_build.plan import make_plan, read_plan
from georefusal_build.run import Progress, run_jobs
from georefusal_build.settling import settle
from georefusal_build.store import is_finished
from georefusal_task import __version__
from georefusal_task.core.errors import DataError

LIBRARIES = ("numpy", "opencv-python-headless", "pillow", "scipy", "shapely")
"""Whose versions can change a pixel or a label."""


@dataclass(frozen=True)
class Build:
    """A configuration with its sources opened and its jobs planned."""

    config: BuildConfig
    context: Context
    jobs: Sequence[Job]
    out: Path

    @cached_property
    def identity(self) -> dict[str, str]:
        """What is built and by which versions; what has another identity is another build."""
        return {**_identity(self.config), "plan": _digest(self.jobs)}

    def make(self, workers: int, shard_size: int, progress: Progress) -> None:
        """Make every job that is not stored yet; see `run_jobs`."""
        run_jobs(
            self.jobs,
            partial(make, context=self.context),
            self.out,
            identity=self.identity,
            workers=workers,
            shard_size=shard_size,
            progress=progress,
        )

    def assemble(self) -> dict[str, Any]:
        """Write the finished set and return the summary; see `assemble`."""
        choose = partial(settle, config=self.config)
        return assemble(self.jobs, self.out, identity=self.identity, salt=self.config.salt, choose=choose)


def open_build(config_path: Path, out: Path, plan_path: Path | None = None) -> Build:
    """Return the build of a configuration. plan_path: a plan made before; without one it is planned here.

    Raises:
        ConfigError: the configuration or its sources do not fit.
        DataError: the plan cannot be read, or holds no job.
    """
    config = load_config(config_path)
    context = open_context(config)
    plan = read_plan(plan_path) if plan_path else make_plan(config, context)
    if not plan.jobs:
        reasons = "\n  ".join(told(plan.left_out)) or "no candidates"
        raise DataError(f"{plan_path or config_path}: there is no job to make; left out were\n  {reasons}")
    return Build(config, context, plan.jobs, _named(out))


def finished(config_path: Path, out: Path, plan_path: Path | None = None) -> dict[str, Any] | None:
    """Return the summary of the set at `out` where this build is finished there, else None; reads no source.

    Raises:
        ConfigError: something else is there, or it was built with another configuration, salt, plan or version.
        DataError: the plan cannot be read.
    """
    identity = _identity(load_config(config_path))
    if plan_path:
        identity["plan"] = _digest(read_jobs(plan_path))
    return read_summary(_named(out)) if is_finished(_named(out), identity) else None


def _identity(config: BuildConfig) -> dict[str, str]:
    """A build's identity without its plan. The salt stands in it as it stands in ids: as the key of a digest."""
    return {
        "name": config.name,
        "version": config.version,
        "config": config.digest,
        "salt": hmac.new(config.salt.encode(), b"build", hashlib.sha256).hexdigest(),
        "georefusal": __version__,
        **{name: version(name) for name in LIBRARIES},
    }


def _digest(jobs: Iterable[Job]) -> str:
    listed = "".join(json.dumps(job.to_json(), sort_keys=True) + "\n" for job in jobs)
    return hashlib.sha256(listed.encode()).hexdigest()


def _named(out: Path) -> Path:
    """A path such as `.` has no name that the work folder beside it could have."""
    return out if out.name.strip(".") else out.resolve()
