"""Anchors: the numbers, measured on the finished image, that a label rests on.

| field | of | unit | meaning |
|---|---|---|---|
| visible_fraction | instance | 0..1 | share of its pixels at which at least `t_vis` of the scene signal survives |
| signal_left | instance | 0..1 | mean share of the scene signal that survives on it |
| ring_visible | instance | 0..1 | visible share of the ring around it (1.3 to 2.2 times its rectangle) |
| evidence_visible | instance | 0..1 | visible share of it, grown by 4 px or 15 %, and of its shadow where known |
| sat_fraction | instance | 0..1 | share of its pixels that are clipped in every band |
| n_eff | instance | px | effective pixels across its shorter side: minor side / decimation |
| n_eff_m | instance | m | ground sample distance after decimation |
| p_recognise | instance | 0..1 | chance that an observer recognises it (task performance model, N50 = 8 px) |
| chip_ncc | instance | -1..1 | correlation of its luma before and after |
| psnr_db | instance, image | dB | before against after; 99 = identical |
| cnr | instance | ratio | abs(mean luma - median of the ring) / robust sd of the ring |
| peak_margin_db | instance | dB | 20 log10(95 % quantile on it / 99.5 % quantile on the ring) |
| peak_dn | instance | DN | 95 % quantile of its luma |
| scan_z | instance | robust sd | multi-scale scan statistic, see `anchors_scan`; only when asked for |
| scan_z_before | instance | robust sd | the same on the clean image |
| hidden_fraction | image | 0..1 | share of pixels at which less than `t_vis` of the signal survives |
| sat_global | image | 0..1 | share of pixels clipped in every band |
| changed_fraction | image | 0..1 | share of pixels that changed by more than 2 DN in some band |
| mean_dn | image | DN | mean luma |
| enl_bg | image | looks | equivalent number of looks of the background; only when asked for |
| nominal_fits | image | 0, 1 | a nominal instance fits into the hidden part of the targets; only with `nominal_px` |
| nominal_n_eff | image | px | minor side of a nominal instance / decimation; only with `nominal_px` |

Undefined is None (a ring outside the frame, for example); no value is ever NaN or infinite.
"""

import math
from collections.abc import Callable, Collection, Sequence
from dataclasses import asdict, dataclass, field
from typing import Literal

import cv2
import numpy as np

from georefusal_build.anchors_scan import background_looks, scan_z
from georefusal_build.arrays import F32, U8, Mask, Shape
from georefusal_build.kernels.blocks import holds_rectangle
from georefusal_build.kernels.tones import brightest_band, darkest_band, luma
from georefusal_build.targets import Patch, Target, evidence, ring, union

SATURATED = 250
CRUSHED = 3
"""A pixel is clipped when every band is at or above `SATURATED`, or at or below `CRUSHED`."""

RING = (1.3, 2.2)
IDENTICAL_DB = 99.0

Value = float | None
Clip = Literal["high", "low"]


@dataclass(frozen=True)
class Measurement:
    """What was measured: per instance (lists in target order) and on the whole image; fields as in the module's table.

    Raises:
        ValueError: a value is NaN or infinite.

    """

    per_instance: dict[str, list[Value]] = field(default_factory=dict)
    image: dict[str, Value] = field(default_factory=dict)

    def __post_init__(self) -> None:
        named = [(name, v) for name, vs in self.per_instance.items() for v in vs] + list(self.image.items())
        for name, value in named:
            if value is not None and not math.isfinite(value):
                raise ValueError(f"measurement {name} is {value}: anchors must be finite or None")

    def to_json(self) -> dict[str, dict[str, list[Value]] | dict[str, Value]]:
        """Return plain JSON values; `from_json` gives back an equal measurement."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: dict[str, dict[str, list[Value]] | dict[str, Value]]) -> "Measurement":
        """Return the measurement that `to_json` wrote, as read from a provenance row."""
        return cls(**data)  # type: ignore[arg-type]

    def merged(self, other: "Measurement") -> "Measurement":
        """Return both measurements together; the other's fields win."""
        return Measurement(self.per_instance | other.per_instance, self.image | other.image)


def measure(
    original: U8,
    finished: U8,
    targets: Sequence[Target],
    visible: F32 | None = None,
    *,
    decimation: float = 1.0,
    gsd_m: float | None = None,
    nominal_px: tuple[float, float] | None = None,
    clip: Clip = "high",
    shadow_px: tuple[float, float] | None = None,
    contrast: bool = False,
    known: Collection[str] = (),
    rings: tuple[float, float] = RING,
    t_vis: float = 0.5,
) -> Measurement:
    """Return all anchors of a finished image.

    original, finished: uint8 (H, W) or (H, W, 3), same shape. visible: share of the scene signal that survives, (H, W)
    in [0, 1]; None = all of it. decimation: how many original pixels one effective pixel spans. gsd_m: metres per
    original pixel. nominal_px: (minor, major) side of a nominal instance, for questions about a region in which the
    class is absent. shadow_px: see `targets.evidence`. clip: which end of the range `sat_fraction` counts. contrast:
    measure scan_z, scan_z_before and enl_bg too (they cost most of the time); known: those of them that a lever has
    measured on these very images.
    """
    shape: Shape = finished.shape[0], finished.shape[1]
    before, after = luma(original), luma(finished)
    clipped = clipped_mask(finished, clip)
    patches = [target.patch(shape) for target in targets]
    around = [ring(target, shape, rings) for target in targets]
    inside, outside = ([patch.of(after) for patch in each] for each in (patches, around))
    peaks = [float(np.percentile(values, 95)) if values.size else None for values in inside]
    n_eff = [target.minor / max(decimation, 1.0) for target in targets]
    per_instance: dict[str, list[Value]] = {
        **visibility(visible, patches, around, t_vis),
        "evidence_visible": _seen(visible, [evidence(one, shadow_px).patch(shape) for one in targets], t_vis),
        "sat_fraction": [_share(patch.of(clipped)) for patch in patches],
        "n_eff": [*n_eff],
        "n_eff_m": [None if gsd_m is None else gsd_m * max(decimation, 1.0)] * len(patches),
        "p_recognise": [p_recognise(n) for n in n_eff],
        "chip_ncc": [correlation(patch.of(before), values) for patch, values in zip(patches, inside, strict=True)],
        "psnr_db": [psnr_db(patch.of(original), patch.of(finished)) for patch in patches],
        "peak_dn": [*peaks],
        "cnr": [contrast_to_noise(*pair) for pair in zip(inside, outside, strict=True)],
        "peak_margin_db": [_over_clutter(*pair) for pair in zip(peaks, outside, strict=True)],
    }
    image: dict[str, Value] = {
        "psnr_db": psnr_db(original, finished),
        "changed_fraction": _share(brightest_band(cv2.absdiff(original, finished)) > 2),
        "hidden_fraction": 0.0 if visible is None else _share(visible < t_vis),
        "sat_global": _share(clipped),
        "mean_dn": float(after.mean()),
    }
    if contrast:
        wanted = {"scan_z": finished, "scan_z_before": original}
        per_instance |= {name: scan_z(of, targets) for name, of in wanted.items() if name not in known}
        image["enl_bg"] = background_looks(after, ~union([t.grown(2.0, 8) for t in targets], shape))
    if nominal_px is not None:
        hidden = np.zeros(shape, bool) if visible is None else (visible < t_vis) & union(targets, shape)
        image["nominal_fits"] = float(holds_rectangle(hidden, *nominal_px))
        image["nominal_n_eff"] = nominal_px[0] / max(decimation, 1.0)
    return Measurement(per_instance, image)


def visibility(
    visible: F32 | None, patches: Sequence[Patch], around: Sequence[Patch], t_vis: float = 0.5
) -> dict[str, list[Value]]:
    """Return visible_fraction, signal_left and ring_visible: all that the search for a cloud looks at."""
    left = (lambda _: 1.0) if visible is None else (lambda p: float(np.mean(p.of(visible))))
    return {
        "visible_fraction": _seen(visible, patches, t_vis),
        "signal_left": [_on(patch, left) for patch in patches],
        "ring_visible": _seen(visible, around, t_vis),
    }


def _seen(visible: F32 | None, patches: Sequence[Patch], t_vis: float) -> list[Value]:
    """Share of each patch's pixels at which at least `t_vis` of the signal survives."""
    if visible is None:
        return [_on(patch, lambda _: 1.0) for patch in patches]
    return [_on(patch, lambda p: _share(p.of(visible) >= t_vis)) for patch in patches]


def clipped_mask(pixels: U8, clip: Clip = "high") -> Mask:
    """Return where every band is saturated (`high`) or crushed (`low`), (H, W)."""
    mask: Mask = darkest_band(pixels) >= SATURATED if clip == "high" else brightest_band(pixels) <= CRUSHED
    return mask


def p_recognise(n_eff: float, n50: float = 8.0) -> float:
    """Return the chance of recognition at `n_eff` px across: x ** E / (1 + x ** E), x = n_eff / n50, E = 2.7 + 0.7 x.

    >>> [round(p_recognise(n), 2) for n in (16, 4, 3, 1.5)]
    [0.94, 0.11, 0.05, 0.01]

    Source: Johnson criteria and the targeting task performance model (exponent as in the design's table).
    """
    x = min(n_eff / n50, 64.0)
    odds = x ** (2.7 + 0.7 * x)
    return float(odds / (1 + odds))


def correlation(before: F32, after: F32) -> Value:
    """Return Pearson's correlation in [-1, 1]; 0 when one side is constant, None without pixels."""
    if before.size == 0:
        return None
    a, b = (np.asarray(v, np.float64) - np.mean(v, dtype=np.float64) for v in (before, after))
    # sums of products, not a @ b: how a BLAS adds up depends on how many threads it gets
    scale = math.sqrt(float(np.sum(a * a)) * float(np.sum(b * b)))
    return min(1.0, max(-1.0, float(np.sum(a * b)) / scale)) if scale > 1e-6 else 0.0


def psnr_db(before: U8, after: U8) -> Value:
    """Return 10 log10(255^2 / mean squared error) over all values, at most 99; None without pixels."""
    if before.size == 0:
        return None
    squared = float(cv2.norm(np.ascontiguousarray(before), np.ascontiguousarray(after), cv2.NORM_L2SQR))
    return IDENTICAL_DB if squared == 0 else min(IDENTICAL_DB, 10 * math.log10(255.0**2 * before.size / squared))


def contrast_to_noise(inside: F32, outside: F32) -> Value:
    """Return abs(mean inside - median outside) / (1.4826 MAD outside + 0.5 DN); None without pixels on either side."""
    if inside.size == 0 or outside.size == 0:
        return None
    median = float(np.median(outside))
    spread = 1.4826 * float(np.median(np.abs(outside - np.float32(median)))) + 0.5
    return abs(float(inside.mean(dtype=np.float64)) - median) / spread


def peak_margin_db(inside: F32, outside: F32) -> Value:
    """Return 20 log10 of the 95 % quantile inside over the 99.5 % quantile outside; None without pixels on a side."""
    return _over_clutter(float(np.percentile(inside, 95)) if inside.size else None, outside)


def _over_clutter(peak: Value, outside: F32) -> Value:
    if peak is None or outside.size == 0:
        return None
    return 20 * math.log10((peak + 0.5) / (float(np.percentile(outside, 99.5)) + 0.5))


def _on(patch: Patch, value: Callable[[Patch], Value]) -> Value:
    return value(patch) if patch.size else None


def _share(values: Mask) -> Value:
    return int(np.count_nonzero(values)) / values.size if values.size else None
