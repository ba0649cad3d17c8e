"""Reading replies: clean ones beside json.loads alone, hostile ones of 1 MB, in CPU seconds; the time of the import."""

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterable

from georefusal_task.core.reply import read_reply
from georefusal_task.core.verdicts import VERDICTS

HOSTILE_CHARS = 1_000_000
HOSTILE_UNITS = {
    "open braces": "{",
    "open brackets": "[",
    "empty objects": "{}",
    "quotes": '"',
    "backslashes": "\\",
    "fences": "```json\n",
    "thought tags": "<think>",
    "thought blocks": "</thinking><think>",
    "nested objects": '{"a":',
    "nested verdicts": '{"verdict":',
    "nested, single quotes": "{'verdict':",
    "nested, no quotes": "{verdict:",
    "brace and quote": '{"',
    "brace and bracket": "{[",
    "brace and digit": "{1",
    "flat objects that fail": '{"a":1}x',
    "objects that fail late": '{"a":1,',
    "cut-off verdicts": '{"verdict": "ANSWER ',
    "many objects": '{"verdict": "ANSWER"}',
    "many Python objects": "{'verdict': 'ANSWER'} ",
    "objects in strings": '{"a": "{\\"verdict\\": \\"ANSWER\\"}"}',
    "curly quotes": "{“verdict”: “",
    "full-width braces": "｛",
    "statements": "Verdict: REFUSE_AMBIGUOUS_QUERY\n",
    "labels": "REFUSE_AMBIGUOUS_QUERY and ",
    "spaces": " ",
}
HOSTILE_START = {"": "", "{+": "{", "broken+": '{"verdict": "ANSWER", "justification": "the "ship" '}


def main() -> None:
    clean = list(clean_replies(10_000))
    reading, decoding = best(lambda: [read_reply(text) for text in clean]), best(lambda: [json.loads(t) for t in clean])
    print(f"10,000 clean replies: {reading:.3f} s, json.loads alone {decoding:.3f} s, ratio {reading / decoding:.1f}")
    importing, nothing = (best(work, clock=time.perf_counter) for work in (import_reader, import_nothing))
    print(f"import of georefusal_task.core.reply: {importing - nothing:.3f} s")
    print("hostile replies of 1 MB, seconds, alone and behind a start that makes them JSON-like:")
    print(f"{'':<26}" + "".join(f"{start or 'alone':>10}" for start in HOSTILE_START))
    for name, unit in HOSTILE_UNITS.items():
        seconds = [best(lambda s=start: read_reply(hostile(unit, s)), times=2) for start in HOSTILE_START.values()]  # noqa: B023
        print(f"{name:<26}" + "".join(f"{s:>10.3f}" for s in seconds), flush=True)


def clean_replies(n: int) -> Iterable[str]:
    """Yield n replies as the prompt asks for them."""
    for i in range(n):
        verdict = VERDICTS[i % len(VERDICTS)]
        said = f"the quay in the north-east is {i % 90} px wide and lies in full view of the sensor"
        yield json.dumps({"verdict": verdict, "answer": "" if verdict.is_refusal else "yes", "justification": said})


def hostile(unit: str, start: str = "", size: int = HOSTILE_CHARS) -> str:
    """Return a text of `size` characters that repeats the unit."""
    return (start + unit * (size // len(unit) + 1))[:size]


def import_reader() -> None:
    subprocess.run([sys.executable, "-c", "import georefusal_task.core.reply"], check=True)


def import_nothing() -> None:
    subprocess.run([sys.executable, "-c", ""], check=True)


def best(work: Callable[[], object], times: int = 5, clock: Callable[[], float] = time.process_time) -> float:
    """Return the shortest time of several runs, in seconds."""
    seconds = []
    for _ in range(times):
        start = clock()
        work()
        seconds.append(clock() - start)
    return min(seconds)


if __name__ == "__main__":
    main()
