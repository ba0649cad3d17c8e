"""`georefusal build assemble`: from stored work to a set in the released layout."""

from georefusal_build.commands._common import build_command, print_summary
from georefusal_build.commands._options import Config, Out, Plan


@build_command
def assemble(config: Config, output: Out, plan: Plan = None) -> None:
    """Write DIR from what `build make` stored, with public ids, checksums, rejects and a summary; remove DIR.part."""
    from georefusal_build.line import open_build

    build = open_build(config, output, plan)
    print_summary(build.assemble(), output)
