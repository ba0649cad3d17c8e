"""The mini set, a product of the workshop: built from the committed scenes, judged by the recorded votes, released."""

import shutil
from pathlib import Path

from georefusal_build.audit.progress import Progress
from georefusal_build.layout import read_set
from georefusal_build.line import open_build
from georefusal_build.release.croissant import About
from georefusal_build.release.gates import Limits
from georefusal_build.release.publish import Order, release
from georefusal_build.review.adjudicate import measured_now, rule, write_reviewed
from georefusal_build.review.joined import read_joined
from georefusal_task.data import load

HERE = Path(__file__).parent
CONFIG = HERE / "build.yaml"
VOTES = sorted((HERE / "votes").glob("*.jsonl"))
"""What `georefusal build review import` joined: blind votes, and those that settled differences."""

SALT = "the mini set is no secret"
ABOUT = About(
    name="georefusal-mini",
    version="2.1.0",
    description=(HERE / "about.md").read_text("utf-8").strip(),
    published="2026-11-30",
    licence="https://creativecommons.org/licenses/by/4.0/",
    url="https://example.org/georefusal-mini",
    cite="GeoRefusal mini set 2.1.0",
)


def build(folder: Path, workers: int = 1) -> Path:
    """Return the candidates, made in `folder`."""
    made = open_build(CONFIG, folder / "candidates")
    made.make(workers, 50, lambda _: None)
    made.assemble()
    return made.out


def review(candidates: Path, out: Path) -> Path:
    """Return the reviewed set: the candidates under the rules of review and the recorded votes.

    Every measurement that two reviewers contradict was repeated when the candidates were made, and stands.
    """
    votes = read_joined(VOTES, load(candidates))
    write_reviewed(out, rule(read_set(candidates), votes, measured_now({}, stand=True)), candidates)
    return out


def publish(reviewed: Path, folder: Path, progress: Progress | None = None) -> Path:
    """Return the release, made in `folder`.

    Five scenes are too few for every gate of the audit, and more levers ask about what is there than about what is not.
    """
    return release(reviewed, folder, Order(ABOUT, SALT, small=True, limits=Limits(yes=0.17)), progress)


def replace(released: Path, out: Path) -> None:
    """Put a release in the place of the set that ships with the package."""
    shutil.rmtree(out, ignore_errors=True)
    shutil.copytree(released, out)
