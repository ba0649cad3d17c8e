"""`PYTHONPATH=utils python -m mini_set SCENES_DIR OUT_DIR` builds the mini set."""

import argparse
import shutil
from pathlib import Path

from mini_set.build import build_items, write


def main() -> None:
    """Build into OUT_DIR, which is replaced; nothing is written before every item has passed its checks."""
    parser = argparse.ArgumentParser(prog="mini_set", description=main.__doc__)
    parser.add_argument("scenes", type=Path, help="folder with manifest.json and the scenes")
    parser.add_argument("out", type=Path, help="folder to build, for example georefusal_task/assets/mini")
    arguments = parser.parse_args()
    built = build_items(arguments.scenes)
    if arguments.out.exists():
        if not (arguments.out / "SHA256SUMS").exists() and any(arguments.out.iterdir()):
            parser.error(f"{arguments.out} holds files of something else; give a new folder")
        shutil.rmtree(arguments.out)
    write(built, arguments.out)
    size = sum(p.stat().st_size for p in arguments.out.rglob("*") if p.is_file())
    print(f"{len(built)} items, {size / 1e6:.2f} MB in {arguments.out}")


if __name__ == "__main__":
    main()
