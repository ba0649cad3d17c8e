"""`georefusal parse`: read replies without scoring them, to see what the reader makes of a model's habits."""

import contextlib
import json
import sys
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import IO, Annotated, Any, Literal

import typer

from georefusal_task.commands._common import reports_errors
from georefusal_task.core.errors import DataError

Kind = Literal["verdict", "letter", "yes_no"]


@reports_errors
def parse(
    file: Annotated[str, typer.Argument(metavar="FILE|-", help='JSONL {"id", "text"}; "-" reads standard input.')],
    *,
    kind: Annotated[
        Kind, typer.Option("--kind", help="What the prompt asked for: a verdict, a letter (mcq), or yes/no (forced).")
    ] = "verdict",
) -> None:
    """Read each reply and print its verdict, or why it has none: one JSON line per input line, in the same order.

    A reply that cannot be read is `unparsed` with a reason, which is no error. A line that is not a JSON object with
    `id` and `text` stops the command with status 1, after everything before it was printed.
    """
    from tqdm import tqdm

    from georefusal_task.core.reply import read_reply

    with _opened(file) as lines:
        for item, text in tqdm(_replies(lines, file), desc="reading", unit=" replies", disable=not sys.stderr.isatty()):
            print(json.dumps({"id": item, **asdict(read_reply(text, kind))}))


def _opened(file: str) -> contextlib.AbstractContextManager[IO[bytes]]:
    return contextlib.nullcontext(sys.stdin.buffer) if file == "-" else Path(file).open("rb")


def _replies(lines: IO[bytes], file: str) -> Iterator[tuple[Any, str]]:
    """Yield id and text of each line that is not blank."""
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        where = f"{'standard input' if file == '-' else file}:{number}"
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            message = f'{where}: not a line of JSON ({error}); each line must be {{"id": ..., "text": ...}}'
            raise DataError(message) from None
        if not isinstance(row, dict) or "id" not in row or not isinstance(row.get("text", 0), str | None):
            raise DataError(
                f'{where}: expected an object with "id" and "text" (a string, or null), found {line[:80]!r}'
            )
        yield row["id"], row["text"] or ""
