"""`georefusal build preview`: what a lever does to an image, to look at."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from georefusal_build.commands._common import build_command
from georefusal_task.commands._common import write_result
from georefusal_task.core.errors import ConfigError

Box = tuple[float, float, float, float]


class Sensor(StrEnum):
    """What kind of image it is; some levers exist for one kind only."""

    OPTICAL = "optical"
    SAR = "sar"


@build_command
def preview(
    lever: Annotated[str, typer.Argument(help='A lever, a family (all its levers), or "all". See `build catalogue`.')],
    image: Annotated[Path, typer.Option(help="A clean image, 8-bit grey or RGB.")],
    box: Annotated[
        list[str],
        typer.Option(metavar="X0,Y0,X1,Y1", help="Box around one object of the asked class, pixels; name every one."),
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="The strip: .png or .jpg.")] = Path("preview.png"),
    modality: Annotated[Sensor, typer.Option(help="Kind of image.")] = Sensor.OPTICAL,
    window: Annotated[
        str, typer.Option(metavar="X0,Y0,X1,Y1", help="Part of the image to use. Default: all of it.")
    ] = "",
    side: Annotated[int, typer.Option(min=32, max=2000, help="Longer side of one picture, pixels.")] = 260,
) -> None:
    """Write a strip of an image before and after a lever, each picture with the label that its measurement gives.

    A picture without a label says why: the lever cannot be pulled here, or the measurement fell between the bands.
    """
    import io

    import numpy as np

    from georefusal_build.preview import sheet, strips
    from georefusal_build.sources.files import load_image
    from georefusal_build.targets import Target

    loaded = load_image(image)
    pixels = np.asarray(loaded.convert("L" if loaded.mode == "L" else "RGB"))
    x0, y0, x1, y1 = map(int, _numbers("--window", window)) if window else (0, 0, pixels.shape[1], pixels.shape[0])
    if not (0 <= x0 < x1 <= pixels.shape[1] and 0 <= y0 < y1 <= pixels.shape[0]):
        raise ConfigError(f"--window {window!r} leaves the image of {pixels.shape[1]} x {pixels.shape[0]} pixels")
    targets = [Target.box(a - x0, b - y0, c - x0, d - y0) for a, b, c, d in (_numbers("--box", text) for text in box)]
    page = sheet(strips(lever, np.ascontiguousarray(pixels[y0:y1, x0:x1]), targets, modality.value, side))
    encoded = io.BytesIO()
    page.save(encoded, "JPEG" if output.suffix.lower() in (".jpg", ".jpeg") else "PNG", optimize=True)
    output.parent.mkdir(parents=True, exist_ok=True)
    write_result(output, encoded.getvalue())
    print(output)


def _numbers(option: str, text: str) -> Box:
    """Return the four numbers of a box."""
    try:
        x0, y0, x1, y1 = map(float, text.split(","))
    except ValueError:
        raise ConfigError(f"{option} {text!r} is not a box: write X0,Y0,X1,Y1 in pixels, such as 40,60,72,95") from None
    if not (x0 < x1 and y0 < y1):
        raise ConfigError(f"{option} {text!r} is empty: X0 must be less than X1, and Y0 less than Y1")
    return x0, y0, x1, y1
