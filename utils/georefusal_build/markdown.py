"""Tables of the reports and cards that are written in Markdown."""

from collections.abc import Iterable, Sequence


def table(head: Sequence[object], rows: Iterable[Sequence[object]]) -> str:
    """Return a table without a final newline, or a sentence where there are no rows.

    >>> print(table(("verdict", "items"), [("ANSWER", 3)]))
    | verdict | items |
    | --- | --- |
    | ANSWER | 3 |
    """
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(map(_cell, line))} |" for line in lines) if len(lines) > 2 else "Nothing to show."


def _cell(value: object) -> str:
    return str(value).replace("|", "\\|").replace("\n", " ") or " "
