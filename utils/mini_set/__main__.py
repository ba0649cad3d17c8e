"""`PYTHONPATH=utils python -m mini_set [OUT]` builds the mini set from what is committed here."""

import argparse
import tempfile
from pathlib import Path

from georefusal_build.commands._progress import bars
from mini_set.build import build, publish, replace, review

SHIPPED = Path(__file__).parents[2] / "georefusal_task" / "assets" / "mini"


def main() -> None:
    """Build into OUT, which is replaced; nothing is touched before every gate has let the set through."""
    parser = argparse.ArgumentParser(prog="mini_set", description=main.__doc__)
    parser.add_argument("out", type=Path, nargs="?", default=SHIPPED, help="folder of the set; the one that ships")
    parser.add_argument("--workers", type=int, default=2, help="processes that build items")
    arguments = parser.parse_args()
    if arguments.out.exists() and not (arguments.out / "SHA256SUMS").exists() and any(arguments.out.iterdir()):
        parser.error(f"{arguments.out} holds files of something else; give a new folder")
    with tempfile.TemporaryDirectory() as folder, bars() as progress:
        work = Path(folder)
        reviewed = review(build(work, arguments.workers), work / "reviewed")
        replace(publish(reviewed, work, progress), arguments.out)
    print(f"built {arguments.out}")


if __name__ == "__main__":
    main()
