"""`georefusal build release` and `georefusal build rebuild`: a version for others, and its images made again."""

import datetime
from pathlib import Path
from typing import Annotated

import typer

from georefusal_build.commands._common import build_command


@build_command
def release(
    data: Annotated[Path, typer.Argument(metavar="DIR", help="The reviewed set.")],
    *,
    out: Annotated[Path, typer.Option("--out", "-o", metavar="DIR", help="Folder in which NAME-VERSION is made.")],
    name: Annotated[str, typer.Option("--name", help="Name of the benchmark: letters, digits, - and _.")],
    version: Annotated[str, typer.Option("--version", help="Version, such as 1.0.0; what it holds never changes.")],
    salt_file: Annotated[
        Path,
        typer.Option(
            "--salt-file",
            metavar="FILE",
            help="A secret line from which the public ids are made. Keep the file: the next version needs it.",
        ),
    ],
    description: Annotated[str, typer.Option("--description", help="One paragraph for the card.")] = "",
    licence: Annotated[
        str, typer.Option("--licence", help="Licence of questions and labels (images keep that of their sources).")
    ] = "https://creativecommons.org/licenses/by/4.0/",
    url: Annotated[str, typer.Option("--url", help="Where the release will be found.")] = "https://example.org",
    cite: Annotated[str, typer.Option("--cite", help="How to cite it.")] = "",
    date: Annotated[str, typer.Option("--date", help="Day of publication, YYYY-MM-DD; today by default.")] = "",
    final: Annotated[bool, typer.Option("--final", help="The last version: publish the salt with it.")] = False,
    no_images: Annotated[
        bool, typer.Option("--no-images", help="Leave the images out and add recipes; needs --config.")
    ] = False,
    config: Annotated[
        Path | None, typer.Option("--config", metavar="FILE", help="The build's configuration, for the recipes.")
    ] = None,
    unreviewed: Annotated[
        bool, typer.Option("--unreviewed", help="Let items through that no person has reviewed; the card says so.")
    ] = False,
    small: Annotated[
        bool, typer.Option("--small", help="Let a set through that is too small for the audit; the card says so.")
    ] = False,
    balance: Annotated[
        float, typer.Option("--balance", min=0, max=0.5, help="How far answerable items and yes may be from a half.")
    ] = 0.1,
    exclude: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="DIR",
            help="Images that must not be in it (training or other evaluation data), as for `georefusal audit`. May be "
            "repeated.",
        ),
    ] = None,
    full: Annotated[bool, typer.Option("--full", help="The long audit.")] = False,
) -> None:
    """Make a release of a set: gates, public ids, images without metadata, audit, card, Croissant, SHA256SUMS.

    A gate that is shut stops the release and says what to do. A version never changes: the same set again is no change,
    another one under the same version is refused.
    """
    from georefusal_build.audit.settings import Settings
    from georefusal_build.commands._progress import bars
    from georefusal_build.release.croissant import About
    from georefusal_build.release.gates import Limits
    from georefusal_build.release.publish import Order
    from georefusal_build.release.publish import release as publish
    from georefusal_build.release.recipes import Recipes
    from georefusal_task.core.errors import ConfigError

    if no_images and config is None:
        raise ConfigError("--no-images needs --config FILE, the configuration that the set was built with")
    about = About(
        name=name,
        version=version,
        description=description or f"{name}: does a model know when not to answer a question about an overhead image?",
        published=_day(date),
        licence=licence,
        url=url,
        cite=cite or f"{name} {version}, {url}",
    )
    order = Order(
        about,
        _salt(salt_file),
        final=final,
        unreviewed=unreviewed,
        small=small,
        limits=Limits(balance, balance),
        recipes=Recipes(config) if no_images and config else None,
        audit=Settings.full() if full else Settings(),
        exclude=tuple(exclude or ()),
    )
    with bars() as progress:
        folder = publish(data, out, order, progress)
    print(folder)


@build_command
def rebuild(
    release: Annotated[Path, typer.Argument(metavar="RELEASE", help="A release without images.")],
    *,
    config: Annotated[
        Path,
        typer.Option("--config", metavar="FILE", help="Its recipe/build.yaml with the folders of your sources put in."),
    ],
    out: Annotated[Path, typer.Option("--out", "-o", metavar="DIR", help="New folder for the whole release.")],
) -> None:
    """Make the images of a release again from your own copy of its sources; every pixel has to be the released one."""
    from tqdm import tqdm

    from georefusal_build.release.recipes import rebuild as again

    count = again(release, config, out, lambda rows, total: tqdm(rows, total=total, unit="image"))
    print(f"{count} images made again in {out}")


def _salt(file: Path) -> str:
    from georefusal_task.core.errors import ConfigError

    salt = file.read_text(encoding="utf-8").strip()
    if len(salt) < 16:
        raise ConfigError(f"{file}: a salt of {len(salt)} characters can be guessed; give one line of 16 or more")
    return salt


def _day(given: str) -> str:
    from georefusal_task.core.errors import ConfigError

    try:
        day = datetime.date.fromisoformat(given) if given else datetime.datetime.now(tz=datetime.UTC).date()
    except ValueError:
        raise ConfigError(f"--date {given!r} is no day; write YYYY-MM-DD") from None
    return day.isoformat()
