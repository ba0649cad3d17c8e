"""The catalogue of levers: ids, one per line, and the table for the documentation."""

from collections.abc import Iterable
from dataclasses import dataclass

from georefusal_build.levers import FAMILIES, QUESTION_FAMILIES, Family, QuestionFamily
from georefusal_task.core.records import Intensity
from georefusal_task.core.verdicts import REFUSALS, Verdict


@dataclass(frozen=True)
class Lever:
    """A row of the catalogue."""

    id: str
    family: Family | QuestionFamily
    intensity: Intensity

    @property
    def verdict(self) -> Verdict:
        """The verdict of an item whose measurement lies in the lever's band."""
        return Verdict.ANSWER if self.intensity is Intensity.LOW else self.family.category


def families() -> list[Family | QuestionFamily]:
    """Return every family, by category in the order of the verdicts, then by name."""
    found: list[Family | QuestionFamily] = [*FAMILIES.values(), *QUESTION_FAMILIES.values()]
    return sorted(found, key=lambda one: (REFUSALS.index(one.category), one.name))


def levers() -> list[Lever]:
    """Return every lever, family by family, LOW before MEDIUM before HIGH."""
    return [
        Lever(lever_id, family, Intensity(lever_id.rpartition("_")[2].upper()))
        for family in families()
        for lever_id in family.lever_ids
    ]


def table(found: Iterable[Family | QuestionFamily]) -> str:
    """Return the table for the documentation, in Markdown: one row for each family."""
    lines = [
        "| family | category | acts on | label rests on | what it does | variants |",
        "|---|---|---|---|---|---|",
    ]
    for one in found:
        variants = ", ".join(f"`{v.name}`" + (" (experimental)" if v.experimental else "") for v in one.variants)
        category = one.category.removeprefix("REFUSE_")
        lines.append(f"| `{one.name}` | {category} | {one.touches} | {one.anchor} | {one.text} | {variants} |")
    return "\n".join(lines) + "\n"


def page() -> str:
    """Return the whole page of the documentation."""
    found, count = families(), len(levers())
    return (
        "# Levers\n\n"
        f"{count} levers: {len(found)} families, each at LOW (stays answerable), MEDIUM and HIGH (must be refused). "
        "A lever's id is its family and its intensity, such as `im_occlude_low`. What a label needs stands in "
        "`bands.json` beside this page.\n\n" + table(found)
    )
