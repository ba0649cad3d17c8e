"""Where the data comes from: an explicit folder, GEOREFUSAL_DATA, or the Hub data set at a pinned revision."""

import os
from dataclasses import dataclass
from pathlib import Path

from georefusal_task.core.errors import DataError

REPOSITORY = "albertLee/GeoRefusalBench"
REVISION: str | None = None
"""The commit that scores refer to. Unset until it is known: the newest commit is taken, recorded and shown."""

VARIABLE = "GEOREFUSAL_DATA"

# provenance is left out, so that it cannot leak: it is never on the machine
_WANTED = ["cases/*", "cases.*", "labels/*", "labels.*", "images/*", "SHA256SUMS"]


@dataclass(frozen=True)
class Source:
    """A folder in the released layout and how it was chosen."""

    folder: Path
    text: str
    revision: str | None = None


def locate(path: Path | str | None = None) -> Source:
    """Return the folder to load: `path`, else the one that GEOREFUSAL_DATA names, else a snapshot from the Hub.

    Raises:
        DataError: the folder does not exist, or the Hub cannot be reached and holds nothing in its cache.
    """
    chosen, why = (path, "") if path else (os.environ.get(VARIABLE), f" ({VARIABLE})")
    if not chosen:
        return _snapshot()
    folder = Path(os.path.abspath(Path(chosen).expanduser()))  # noqa: PTH100 -- resolve() would follow links
    if not folder.is_dir():
        raise DataError(f"{folder}{why} is {'not a folder' if folder.exists() else 'not there'}")
    return Source(folder, f"folder {folder}{why}")


def _snapshot() -> Source:
    from huggingface_hub import snapshot_download

    try:
        folder = Path(snapshot_download(REPOSITORY, repo_type="dataset", revision=REVISION, allow_patterns=_WANTED))
    except Exception as error:
        wanted = f"{REPOSITORY} at revision {REVISION}" if REVISION else REPOSITORY
        reason = " ".join(str(error).split())[:300]
        raise DataError(
            f"{wanted} is not in the cache of the Hub client, which could not download it either. Set {VARIABLE} to a "
            "folder with cases/, labels/ and images/, or evaluate georefusalbench_mini, which needs no download. "
            f"The Hub client said: {reason}"
        ) from error
    return Source(folder, f"Hub data set {REPOSITORY} at {folder.name}", folder.name)
