"""A table of plain text, written as Markdown, LaTeX, HTML or TSV; every cell counts as untrusted."""

from dataclasses import dataclass

from georefusal_task.benchmarks.refusal import SMALL
from georefusal_task.core.stats import Estimate
from georefusal_task.report.templating import fill
from georefusal_task.report.texts import latex, markdown, visible

_LONG = 2_000

UNDEFINED = "\N{EN DASH}"
"""What stands where a figure is not defined, or not known."""


@dataclass(frozen=True)
class Table:
    """Columns, rows of as many cells, what it shows, and what to know about it."""

    caption: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...] = ()
    left: frozenset[int] = frozenset({0})
    """The columns of words; all others hold numbers and are set to the right."""

    def markdown(self) -> str:
        """Return a GitHub-flavoured Markdown table with its notes as a list."""
        rule = [":--" if place in self.left else "--:" for place in range(len(self.columns))]
        lines = [
            [markdown(name) for name in self.columns],
            rule,
            *([markdown(cell) for cell in row] for row in self.rows),
        ]
        table = "\n".join(f"| {' | '.join(line)} |" for line in lines)
        notes = "".join(f"\n- {markdown(note, _LONG)}" for note in self.notes)
        return f"**{markdown(self.caption)}**\n\n{table}\n" + (f"{notes}\n" if notes else "")

    def latex(self) -> str:
        """Return a `table` environment for the booktabs package."""
        spec = "".join("l" if place in self.left else "r" for place in range(len(self.columns)))
        body = [" & ".join(latex(cell) for cell in row) + r" \\" for row in self.rows]
        notes = [rf"\par\footnotesize {latex(note, _LONG)}" for note in self.notes]
        return "\n".join(
            [
                r"\begin{table}",
                r"\centering",
                rf"\caption{{{latex(self.caption)}}}",
                rf"\begin{{tabular}}{{{spec}}}",
                r"\toprule",
                " & ".join(latex(name) for name in self.columns) + r" \\",
                r"\midrule",
                *body,
                r"\bottomrule",
                r"\end{tabular}",
                *notes,
                r"\end{table}",
                "",
            ]
        )

    def html(self) -> str:
        """Return a page of its own, whose rows can be sorted and copied.

        Raises:
            ConfigError: jinja2 is not installed.
        """
        return fill("table.html", scripts=["tables.js"], styles=["page.css"], table=self)

    def tsv(self) -> str:
        """Return tab-separated lines, the first with the names of the columns."""
        return "".join("\t".join(visible(cell) for cell in row) + "\n" for row in (self.columns, *self.rows))

    def plain(self) -> str:
        """Return aligned columns for a terminal."""
        lines = [[visible(cell) for cell in row] for row in (self.columns, *self.rows)]
        widths = [max(map(len, cells)) for cells in zip(*lines, strict=True)]
        sides = ["<" if place in self.left else ">" for place in range(len(widths))]
        body = ["  ".join(map(format, line, map("{}{}".format, sides, widths))).rstrip() for line in lines]
        notes = [f"({visible(note, _LONG)})" for note in self.notes]
        return "\n".join([visible(self.caption, _LONG), *(f"  {line}" for line in body), *notes, ""])

    def text(self, form: str) -> str:
        """Return the table as `markdown`, `latex`, `html`, `tsv` or `plain`."""
        return str(getattr(self, form)())


def figure(estimate: Estimate | None, *, signed: bool = False, interval: bool = True) -> str:
    """Return a share in per cent with its interval; counts where there are few items, a dash where it is undefined.

    >>> figure(Estimate(0.5, 0.4, 0.6, 100, "wilson", count=50))
    '50.0 [40.0, 60.0]'
    """
    if estimate is None or estimate.n == 0:
        return UNDEFINED
    if estimate.count is not None and estimate.n < SMALL:
        return f"{estimate.count}/{estimate.n}"
    if estimate.value is None:
        return f"{UNDEFINED} (n {estimate.n})"
    sign = "+" if signed else ""
    shown = f"{100 * estimate.value:{sign}.1f}"
    if not interval or estimate.low is None or estimate.high is None:
        return shown
    return f"{shown} [{100 * estimate.low:{sign}.1f}, {100 * estimate.high:{sign}.1f}]"
