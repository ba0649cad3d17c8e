"""`georefusal build make`: the jobs of a plan made and stored, without assembling them."""

from georefusal_build.commands._common import build_command, make_with_progress, print_skipped
from georefusal_build.commands._options import CPUS, SHARD_SIZE, Config, Out, Plan, ShardSize, Workers


@build_command
def make(
    config: Config, output: Out, plan: Plan = None, workers: Workers = CPUS, shard_size: ShardSize = SHARD_SIZE
) -> None:
    """Make what is not made yet and store it in DIR.part; stop it whenever you like and start it again.

    The second of the three steps of `build run`; `build assemble` is the third.
    """
    from georefusal_build.line import open_build

    build = open_build(config, output, plan)
    print_skipped(build.context.report, build.context.remarks)
    make_with_progress(build, workers, shard_size)
    print(f"made {len(build.jobs)} jobs; next: georefusal build assemble {config} -o {output}")
