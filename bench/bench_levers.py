"""Milliseconds per lever at 800 x 800, beside those of the throw-away prototype of the same six families.

The prototype is not part of this project; its figures are the ones that were published with the design (one process on
a 2-core machine, numpy 2.4, scipy 1.17, median of 3; operation and measurement together). Ours are CPU time of one
core, so that other work on the machine does not count, and machines differ: the ratio says whether the goal of half
the time is met, not more.
"""

import io
import statistics
import time
from collections.abc import Callable

import numpy as np
from PIL import Image
from support.levers import Base, base, optical, radar

from georefusal_build.anchors import measure
from georefusal_build.anchors_scan import scan_z
from georefusal_build.levers import FAMILIES
from georefusal_build.outcomes import Outcome

SIDE, REPEATS = 800, 5
PROTOTYPE: dict[tuple[str, str], tuple[float, float, float]] = {
    ("im_occlude", "optical"): (260, 310, 320),
    ("im_redact", "optical"): (62, 62, 62),
    ("im_saturate", "optical"): (290, 1110, 260),
    ("gm_decimate", "optical"): (125, 145, 240),
    ("im_truncate", "optical"): (67, 67, 67),
    ("im_bury", "sar"): (110, 540, 700),
    ("im_redact", "sar"): (4, 4, 4),
    ("im_saturate", "sar"): (72, 72, 72),
    ("gm_decimate", "sar"): (37, 37, 37),
    ("im_truncate", "sar"): (13, 13, 13),
}
"""LOW, MEDIUM, HIGH; where only a range was published, its middle."""


def milliseconds(work: Callable[[], object]) -> float:
    """Return the median CPU time of a few runs after one to warm up."""
    work()
    times = []
    for _ in range(REPEATS):
        start = time.process_time()
        work()
        times.append(1e3 * (time.process_time() - start))
    return statistics.median(times)


def scenes() -> dict[str, Base]:
    """Three targets of about 64 px on colour ground, two of about 46 px on radar sea, as the prototype had."""
    spots = [(112, 128, 176, 192), (240, 160, 304, 224), (144, 232, 208, 296)]
    ships = [(150, 180, 196, 204), (260, 420, 284, 466)]
    return {
        "optical": base("bench", optical((SIDE, SIDE)), spots, 170, 22, modality="optical"),
        "sar": base("bench", radar((SIDE, SIDE)), ships, 110, 10, modality="sar"),
    }


def main() -> None:
    print(f"{'lever':22}{'variant':15}{'label':34}{'ms':>7}{'prototype':>11}{'ratio':>7}")
    found = scenes()
    for family in FAMILIES.values():
        for variant in family.variants:
            for modality in variant.modalities:
                known = PROTOTYPE.get((family.name, modality))
                is_default = family.variant(None, modality) is variant
                for i, lever_id in enumerate(family.lever_ids):
                    outcome = found[modality].pull(lever_id, variant.name)
                    spent = milliseconds(lambda i=lever_id, v=variant, m=modality: found[m].pull(i, v.name))
                    label = outcome.verdict or outcome.rejection if isinstance(outcome, Outcome) else outcome.reason
                    beside = f"{known[i]:11.0f}{known[i] / spent:7.1f}" if known and is_default else ""
                    print(f"{lever_id:22}{f'{variant.name} {modality}'[:14]:15}{label!s:34}{spent:7.1f}{beside}")
    colour = found["optical"]
    after = np.roll(colour.pixels, 3, axis=0)
    print(f"\nmeasure {milliseconds(lambda: measure(colour.pixels, after, colour.targets)):.1f} ms (prototype 46)")
    radar_scan = milliseconds(lambda: scan_z(found["sar"].pixels, found["sar"].targets))
    print(f"scan_z, one band {radar_scan:.1f} ms (prototype 38)")
    print(f"PNG level 6, RGB {milliseconds(lambda: png(colour.pixels)):.0f} ms")


def png(pixels: np.ndarray) -> bytes:
    """Return an image as PNG, as a release stores it."""
    buffer = io.BytesIO()
    Image.fromarray(pixels).save(buffer, "PNG", compress_level=6)
    return buffer.getvalue()


if __name__ == "__main__":
    main()
