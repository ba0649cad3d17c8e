"""Scripted verifiers of known error rates, as the sample logs that the host would write."""

import json
import random
from collections.abc import Iterable
from pathlib import Path

from georefusal_build.consensus.checks import CHECKS
from georefusal_build.consensus.tasks import IMAGE, INFORMED
from georefusal_build.layout import SetItem
from georefusal_task.core.verdicts import VERDICTS

GARBAGE = "I would rather not say."


def log(folder: Path, task: str, said: dict[str, str]) -> Path:
    """Write a sample log of the host and return the run's folder."""
    folder.mkdir(parents=True, exist_ok=True)
    rows = [{"doc_id": n, "target": item, "filtered_resps": [text]} for n, (item, text) in enumerate(said.items())]
    file = folder / f"20261130_120000_samples_{task}.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return folder


def blind(items: Iterable[SetItem], *, wrong: float = 0.0, unreadable: float = 0.0, seed: int = 0) -> dict[str, str]:
    """Return replies of which a share `wrong` names another verdict and a share `unreadable` none."""
    chance = random.Random(seed)
    said = {}
    for item in items:
        draw, label = chance.random(), item.label
        if draw < unreadable:
            said[item.id] = GARBAGE
            continue
        others = [verdict for verdict in VERDICTS if verdict not in label.accept]
        verdict = chance.choice(others) if draw < unreadable + wrong else label.gold
        said[item.id] = json.dumps({"verdict": verdict, "answer": label.answer or "", "justification": "seen"})
    return said


def checked(items: Iterable[SetItem], *, failing: float = 0.0, seed: int = 0) -> dict[str, str]:
    """Return informed replies of which a share `failing` denies one check."""
    chance = random.Random(seed)
    said = {}
    for item in items:
        checks = dict.fromkeys(CHECKS, True)
        if chance.random() < failing:
            checks[chance.choice([*CHECKS])] = False
        said[item.id] = json.dumps(checks)
    return said


def both(folder: Path, items: list[SetItem], name: str, *, seed: int, failing: float = 0.0, **rates: float) -> Path:
    """Write both passes of one verifier and return its folder."""
    log(folder / name, IMAGE, blind(items, seed=seed, **rates))
    return log(folder / name, INFORMED, checked(items, failing=failing, seed=seed + 1))
