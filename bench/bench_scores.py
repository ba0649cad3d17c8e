"""Scoring and summarising 587 and 587,000 replies, in CPU seconds: the time of one must not grow with their number."""

import json
import random
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from georefusal_task.benchmarks.refusal import score_one, summarise
from georefusal_task.core.records import Case, Label, Reply, Status
from georefusal_task.core.verdicts import REFUSALS, VERDICTS, Verdict
from georefusal_task.data import Item
from georefusal_task.replies import read_replies, score_replies

T = TypeVar("T")


def main() -> None:
    summarise([])  # imports what it needs
    print(f"{'replies':>9} {'score_one':>11} {'summarise':>11} {'per reply':>10} {'file to rows':>14}")
    for n in (587, 587_000):
        items = made_up_items(n)
        by_id = {item.case.id: item for item in items}
        reply = Reply(Verdict.ANSWER, Status.JSON, answer="yes")
        scoring, rows = timed(lambda: [score_one(item.case, item.label, [reply]) for item in items])  # noqa: B023
        summing, _ = timed(lambda: summarise(rows))  # noqa: B023
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "replies.jsonl"
            write_replies(file, items)
            reading, _ = timed(lambda: score_replies(by_id, read_replies(file, by_id)))  # noqa: B023
        each = 1e6 * (scoring + summing) / n
        print(f"{n:>9,} {scoring:>9.3f} s {summing:>9.3f} s {each:>7.1f} µs {reading:>12.3f} s")


def made_up_items(n: int) -> list[Item]:
    """Return n items: half answerable, 90 levers, three sets."""
    rng = random.Random(0)
    items = []
    for i in range(n):
        item_id, item_set = f"{'ABC'[i % 3]}-{i:08x}", "ABC"[i % 3]
        gold = Verdict.ANSWER if i % 2 else REFUSALS[i % 5]
        case = Case.model_construct(id=item_id, set=item_set, image=Path("x.png"), question="Is there a ship?")
        label = Label.model_construct(
            id=item_id,
            set=item_set,
            gold=gold,
            accept=(gold,),
            answer="yes" if i % 2 else "",
            category=REFUSALS[i % 5],
            intensity=None,
            lever=f"family_{rng.randrange(30)}_low",
            anchor=None,
            score_answer=True,
        )
        items.append(Item(case, label))
    return items


def write_replies(file: Path, items: list[Item]) -> None:
    rng = random.Random(1)
    with file.open("w", encoding="utf-8") as out:
        for item in items:
            text = json.dumps({"verdict": rng.choice(VERDICTS), "answer": "", "justification": "the quay is hidden"})
            out.write(json.dumps({"id": item.case.id, "text": text}) + "\n")


def timed(work: Callable[[], T]) -> tuple[float, T]:
    start = time.process_time()
    result = work()
    return time.process_time() - start, result


if __name__ == "__main__":
    main()
