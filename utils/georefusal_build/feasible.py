"""Which image levers fit a base question, as far as geometry alone can tell: no pixel is touched."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import compress

from georefusal_build.asking import Court, region
from georefusal_build.build_config import BuildConfig
from georefusal_build.evidence import exhaustive, nominal_px, settling, targets_of
from georefusal_build.jobs import Job, Partner
from georefusal_build.levers import Family, Variant
from georefusal_build.levers.framing import can_cut
from georefusal_build.levers.granularity import NEED, STEPS
from georefusal_build.questions import Candidate, Kind
from georefusal_build.scenes import Modality
from georefusal_build.streams import Stream, derive_key
from georefusal_task.core.records import Intensity

Pick = tuple[Candidate, Kind | None]

LOW, MEDIUM, HIGH = Intensity


@dataclass(frozen=True)
class _Fit:
    """What a family needs of a base: pixels across, most of the frame covered, answers, traits of the class."""

    minor: float
    share: float
    no_too: bool = False
    compact: bool = False


_FITS = {
    "im_occlude": _Fit(16, 0.30, no_too=True),
    "im_redact": _Fit(12, 0.30, no_too=True),
    "im_saturate": _Fit(12, 0.25),
    "im_truncate": _Fit(12, 0.45),
    "im_channel": _Fit(16, 1.0, no_too=True),
    "im_bury": _Fit(4, 0.25, compact=True),
    "gm_decimate": _Fit(16, 1.0, no_too=True, compact=True),
}
"""Preconditions of the design that can be read off outlines; the lever itself checks the exact ones."""


class ImageJobs:
    """The jobs that image levers offer on the bases of one tile."""

    def __init__(self, court: Court, config: BuildConfig) -> None:
        self.court, self.config = court, config
        self._complete: dict[str, bool] = {}

    def of(self, family: Family, picks: Sequence[Pick]) -> Iterator[Job]:
        """Yield at most one job for each intensity of a family on each base. picks: all bases of the tile."""
        variants = [one for one in allowed(family, self.court.tile.scene.modality, self.config) if one.parent == 1]
        stream = Stream(derive_key(self.config.seed, self.court.tile.id, family.name))
        fit = [pick for pick in picks if self.fits(family, pick[0])] if variants else []
        if family.name == "im_channel":
            yield from _crossed(family, fit, [v.name for v in variants], stream)
            return
        if family.name == "gm_decimate":
            yield from self._decimated(family, fit, [v.name for v in variants], stream)
            return
        whole, placed = ([v.name for v in variants if v.paired is paired] for paired in (True, False))
        by_pair = bool(whole) and (not placed or stream.uniform() < 0.5)
        paired = list(_pairs(family, fit, stream.choice(whole), stream)) if by_pair else []
        yield from paired
        taken = {job.base.id for job in paired}
        for base, kind in fit:
            order = stream.shuffled(placed or whole)
            if base.id in taken or not (placed or self.config.levers.pairing == "prefer"):
                continue
            for intensity in Intensity:
                yield Job(base, _lever(family, intensity), kind, tuple(order if placed else order[:1]))

    def cut(self, family: Family, variant: Variant) -> Iterator[Job]:
        """Yield LOW and MEDIUM jobs of a variant that releases a part of this tile.

        HIGH is never one: a question about ground outside the image fits no category.
        """
        shape = self.court.tile.height, self.court.tile.width
        for base in filter(None, map(self._at_an_edge, sorted(self.court.present))):
            if can_cut(targets_of(self.court, base), shape, variant.parent):
                for intensity in (LOW, MEDIUM):
                    yield Job(base, _lever(family, intensity), None, (variant.name,))

    def _at_an_edge(self, name: str) -> Candidate | None:
        """The "yes" base about the tile, where every instance is known well enough to be asked about at an edge.

        A piece of what may be divided still is one, so a sliver of it leaves nothing open. Slivers at the border of the
        tile settle nothing.
        """
        tile, table = self.court.tile, self.court.table
        if table.members(name) & table.divisible or not self.court.outlined(name):
            return None
        if any(one.difficult for one in self.court.evidence(name)) or self.court.rule(name).answer != "yes":
            return None
        window = tile.x, tile.y, tile.width, tile.height
        return Candidate(tile.scene.id, tile.scene.source, window, name, "whole", "yes")

    def _decimated(self, family: Family, fit: Sequence[Pick], variants: Sequence[str], stream: Stream) -> Iterator[Job]:
        """Yield jobs at one decimation for the tile, where there is one that some class survives and another does not.

        Sizes decide what is answered and what is refused: all questions share one image, whose sharpness tells nothing.
        """
        if not variants:
            return
        variant, steps = stream.choice(variants), stream.shuffled(STEPS)
        levels = {s: [(pick, at) for pick in fit if (at := self._level(pick[0], s))] for s in steps}
        both = [s for s in steps if {at is LOW for _, at in levels[s]} == {True, False}]
        some = [s for s in steps if levels[s]] if self.config.levers.pairing == "prefer" else []
        for step in (both or some)[:1]:
            lows, refusals = ([one for one in levels[step] if (one[1] is LOW) is low] for low in (True, False))
            partners: dict[str, Partner] = {}
            for (low, _), (refuse, at) in zip(lows, refusals, strict=False):
                if low[0].class_name != refuse[0].class_name:
                    partners[low[0].id] = Partner(refuse[0], _lever(family, at))
                    partners[refuse[0].id] = Partner(low[0], _lever(family, LOW))
            for (base, kind), at in levels[step]:
                partner = partners.get(base.id)
                if partner or self.config.levers.pairing == "prefer":
                    yield Job(base, _lever(family, at), kind, (variant,), step=step, partner=partner)

    def _level(self, base: Candidate, step: float) -> Intensity | None:
        """Return the intensity whose band a decimation brings the class into; None between the bands.

        LOW goes by what settles a yes alone: half of a large object at the border must not keep a small one answerable.
        """
        nominal = nominal_px(self.court, base)
        size = nominal[0] if base.answer == "no" and nominal else max(t.minor for t in targets_of(self.court, base))
        if size < NEED[LOW][0]:
            return None
        level = next((at for at, (least, most) in NEED.items() if least < size / step <= most), None)
        return None if level is LOW and base.answer == "yes" and self._surest(base) / step <= NEED[LOW][0] else level

    def _surest(self, base: Candidate) -> float:
        """Return the shorter side of the largest object that settles a yes alone."""
        sure = compress(targets_of(self.court, base), settling(self.court, base))
        return max((target.minor for target in sure), default=0.0)

    def fits(self, family: Family, base: Candidate) -> bool:
        """Return whether the outlines meet the preconditions of a family."""
        fit, tile = _FITS[family.name], self.court.tile
        entry = self.court.table.by_name[base.class_name]
        if fit.compact and not entry.compact:
            return False
        if base.answer == "no":
            return fit.no_too and self._region_fits(family, base)
        if not self.complete(base):
            return False
        targets = targets_of(self.court, base)
        covered = sum(one.area for one in self.court.evidence(base.class_name, base.scope))
        return max(t.minor for t in targets) >= fit.minor and covered <= fit.share * tile.width * tile.height

    def _region_fits(self, family: Family, base: Candidate) -> bool:
        """Whether a "no" can be refused: an ordinary instance has room in the region that is hidden or coarse.

        A coarse image needs room for two: what would fill the frame is ruled out at any sampling by its surroundings,
        and readers of a blurred wood still call a question about a ship there too fine.
        """
        if family.name == "im_channel":
            return base.scope == "whole"
        nominal = nominal_px(self.court, base)
        if nominal is None or (base.scope == "whole" and family.name != "gm_decimate"):
            return False
        x0, y0, x1, y1 = region(self.court.tile, base.scope)
        room = 2 if family.name == "gm_decimate" else 1
        sides = sorted((x1 - x0, y1 - y0))
        return all(room * need <= side for need, side in zip(nominal, sides, strict=True))

    def complete(self, base: Candidate) -> bool:
        """Return whether all instances of the class are known."""
        if base.class_name not in self._complete:
            self._complete[base.class_name] = exhaustive(self.court, base)
        return self._complete[base.class_name]


def allowed(family: Family, modality: Modality, config: BuildConfig) -> list[Variant]:
    """Return the variants that the configuration allows for a modality."""
    named = config.levers.variants.get(family.name)
    return [
        one
        for one in family.variants
        if modality in one.modalities
        and (one.name in named if named is not None else config.levers.experimental or not one.experimental)
    ]


def _pairs(family: Family, fit: Sequence[Pick], variant: str, stream: Stream) -> Iterator[Job]:
    """Yield both jobs of pairs of classes, each base in one pair: one for LOW, the other to refuse."""
    free = stream.shuffled(fit)
    while free:
        low = free.pop()
        other = next((one for one in free if one[0].class_name != low[0].class_name), None)
        if other is not None:
            free.remove(other)
            halves = (low, _lever(family, LOW)), (other, _lever(family, stream.choice((MEDIUM, HIGH))))
            for (mine, lever), (theirs, their_lever) in (halves, halves[::-1]):
                yield Job(mine[0], lever, mine[1], (variant,), partner=Partner(theirs[0], their_lever))


def _crossed(family: Family, fit: Sequence[Pick], variants: Sequence[str], stream: Stream) -> Iterator[Job]:
    """Yield jobs of the crossing {colour, plain} x {full, reduced}: one cell is a refusal, each base has one or two.

    Whether a base takes part as a question about a colour or as a plain one is drawn. Most are about a colour, and most
    of the answerable of these have lost a band that their colour does not need: then neither the word nor the lost band
    tells the label.
    """
    bands = stream.shuffled([name for name in variants if name != "pan"])
    for base, kind in fit:
        if base.scope != "whole":
            continue
        order = tuple(stream.shuffled(variants))
        if base.answer == "yes" and stream.uniform() < 0.85:
            yield Job(base, _lever(family, LOW), kind, order, cell=("colour", stream.choice((0, 1, 1, 1))))
            for intensity, names in ((MEDIUM, tuple(bands)), (HIGH, tuple(n for n in variants if n == "pan"))):
                if names:
                    yield Job(base, _lever(family, intensity), kind, names, cell=("colour", 1))
        else:
            yield Job(base, _lever(family, LOW), kind, order, cell=("plain", stream.choice((0, 1))))


def _lever(family: Family, intensity: Intensity) -> str:
    return f"{family.name}_{intensity.lower()}"
