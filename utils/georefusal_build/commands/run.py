"""`georefusal build run`: from annotated images to candidates."""

from georefusal_build.commands._common import build_command, make_with_progress, print_skipped, print_summary
from georefusal_build.commands._options import CPUS, SHARD_SIZE, Config, Out, Plan, ShardSize, Workers


@build_command
def run(
    config: Config, output: Out, plan: Plan = None, workers: Workers = CPUS, shard_size: ShardSize = SHARD_SIZE
) -> None:
    """Build candidates: read the sources, plan, make every job, and write DIR in the layout of the released set.

    Killed, or stopped by a full disk, the same command goes on where it was; on a finished DIR it does nothing. The
    bytes do not depend on --workers, --shard-size or interruptions. Every row is marked "unreviewed": the labels are
    measured, but nobody has looked at them yet.
    """
    from georefusal_build.line import finished, open_build

    if summary := finished(config, output, plan):
        print_summary(summary, output)
        return
    build = open_build(config, output, plan)
    print_skipped(build.context.report, build.context.remarks)
    make_with_progress(build, workers, shard_size)
    print_summary(build.assemble(), output)
