"""The commands `georefusal build ...`; each imports what it works with only when it runs."""

import typer

from georefusal_build.commands.assemble import assemble
from georefusal_build.commands.catalogue import catalogue
from georefusal_build.commands.consensus import consensus
from georefusal_build.commands.grsvqa import grsvqa
from georefusal_build.commands.make import make
from georefusal_build.commands.plan import plan
from georefusal_build.commands.preview import preview
from georefusal_build.commands.release import rebuild, release
from georefusal_build.commands.review import REVIEW
from georefusal_build.commands.run import run
from georefusal_build.commands.verify_task import verify_task

APP = typer.Typer(
    help="Make a benchmark of your own from annotated images: a plan, candidates with measured labels, a release.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
APP.command()(catalogue)
APP.command()(preview)
APP.command()(plan)
APP.command()(run)
APP.command()(make)
APP.command()(assemble)
APP.command()(verify_task)
APP.command()(consensus)
APP.command()(grsvqa)
APP.add_typer(REVIEW, name="review")
APP.command()(release)
APP.command()(rebuild)
