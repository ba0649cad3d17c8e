"""`georefusal build plan`: what a configuration will make, before any pixel is touched."""

from pathlib import Path
from typing import Annotated

import typer

from georefusal_build.commands._common import build_command, print_skipped
from georefusal_build.commands._options import Config


@build_command
def plan(
    config: Config,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FILE", help="Where the plan goes: one job a line.")
    ] = Path("plan.jsonl"),
    *,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print the expected yield and write nothing.")] = False,
) -> None:
    """Plan a build from annotations alone, and print how many items to expect of each lever.

    "fits" counts base questions that a lever was found to fit, "jobs" how many of those are planned. Where the items
    column says "at most", pixels decide: a target may be too faint, or a measurement fall between the bands.
    """
    from georefusal_build.build_config import load_config
    from georefusal_build.context import open_context
    from georefusal_build.left_out import told
    from georefusal_build.plan import make_plan, write_plan

    settings = load_config(config)
    context = open_context(settings)
    made = make_plan(settings, context)
    print_skipped(context.report, context.remarks)
    print(f"{'lever':24}{'fits':>7}{'jobs':>7}{'optical':>9}{'sar':>6}  items")
    for one in made.expected():
        jobs = one.optical + one.sar
        items = "none" if not jobs else f"{'' if one.exact else 'at most '}{jobs}"
        print(f"{one.lever:24}{one.fits:7}{jobs:7}{one.optical:9}{one.sar:6}  {items}")
    bases = ", ".join(f"{count} {modality} {answer}" for (modality, answer), count in sorted(made.bases.items()))
    print(f"\n{len(made.jobs)} jobs from {len(context.scenes)} scenes; base questions: {bases or 'none'}")
    for line in told(made.left_out):
        print(f"left out  {line}")
    if not dry_run:
        write_plan(made, output)
        print(f"plan      {output}")
