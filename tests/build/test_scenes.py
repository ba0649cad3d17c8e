"""Outlines and tiles: nothing may be lost, doubled or moved when a scene is cut."""

import math
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import shapely
from hypothesis import given
from hypothesis import strategies as st

from georefusal_build.pixels import scene_pixels, tile_pixels
from georefusal_build.polygons import Points, clean_polygon, clip_polygon
from georefusal_build.scenes import IgnoreRegion, Instance, Scene, Tiling, cut_tiles
from georefusal_build.sources import SourceError
from georefusal_task.core.errors import ConfigError

WIDTH, HEIGHT = 300, 200


def rectangle(cx: float, cy: float, w: float, h: float, angle: float) -> Points:
    c, s = math.cos(angle), math.sin(angle)
    half = ((-w / 2, -h / 2), (w / 2, -h / 2), (w / 2, h / 2), (-w / 2, h / 2))
    return tuple((cx + x * c - y * s, cy + x * s + y * c) for x, y in half)


def scene(
    *instances: Instance, regions: tuple[IgnoreRegion, ...] = (), size: tuple[int, int] = (WIDTH, HEIGHT)
) -> Scene:
    return Scene("t/one", Path("one.png"), *size, "optical", "t", instances=instances, ignore_regions=regions)


rectangles = st.builds(
    rectangle,
    st.floats(-10, WIDTH + 10),
    st.floats(-10, HEIGHT + 10),
    st.floats(1, 120),
    st.floats(1, 120),
    st.floats(0, math.pi),
).filter(lambda points: bool(clip_polygon(points, 0, 0, WIDTH, HEIGHT)))
instances = st.builds(
    lambda name, points: Instance(name, clip_polygon(points, 0, 0, WIDTH, HEIGHT)[0]),
    st.sampled_from(["ship", "car", "sea"]),
    rectangles,
)
tilings = st.builds(Tiling, size=st.integers(20, 350), overlap=st.sampled_from([0.0, 0.25, 0.5]))


@given(st.lists(instances, max_size=6), tilings)
def test_pieces_lie_inside_their_tile_and_map_back_onto_their_object(found: list[Instance], tiling: Tiling) -> None:
    names = {one.class_name for one in found}
    whole = {name: shapely.union_all([one.shape for one in found if one.class_name == name]) for name in names}
    for tile in cut_tiles(scene(*found), tiling, divisible={"sea"}):
        for one in tile.instances:
            x0, y0, x1, y1 = one.bounds
            assert x0 >= -1e-6
            assert y0 >= -1e-6
            assert x1 <= tile.width + 1e-6
            assert y1 <= tile.height + 1e-6
            back = shapely.Polygon(tile.to_scene(one.polygon))
            assert back.difference(whole[one.class_name].buffer(1e-6)).area < 1e-3


@given(st.lists(instances, max_size=6), st.integers(20, 350))
def test_area_is_conserved_without_overlap(found: list[Instance], size: int) -> None:
    size = max(d for d in range(1, size + 1) if WIDTH % d == 0 and HEIGHT % d == 0)
    tiles = cut_tiles(scene(*found), Tiling(size=size, overlap=0), divisible={"ship", "car", "sea"})
    pieces = sum(one.area for tile in tiles for one in tile.instances)
    assert pieces == pytest.approx(sum(one.area for one in found), rel=1e-6, abs=1e-2)


@given(st.lists(instances, max_size=6), tilings)
def test_a_tile_knows_whole_objects_and_bars_half_cut_ones(found: list[Instance], tiling: Tiling) -> None:
    for tile in cut_tiles(scene(*found), tiling):
        window = shapely.box(tile.x, tile.y, tile.x + tile.width, tile.y + tile.height)
        kept = [one.shape.intersection(window).area / one.area for one in found]
        half = {one.class_name for one, share in zip(found, kept, strict=True) if 0.1 + 1e-6 < share < 0.9 - 1e-6}
        assert half <= tile.cut
        assert len(tile.instances) == pytest.approx(
            sum(share >= 0.1 for share in kept), abs=sum(abs(share - 0.1) < 1e-6 for share in kept)
        )
        if not any(abs(share - edge) < 1e-6 for share in kept for edge in (0.1, 0.9)):
            assert tile.cut == half


@given(st.integers(1, 5000), tilings)
def test_windows_cover_every_pixel_and_stay_inside(length: int, tiling: Tiling) -> None:
    starts = tiling.starts(length)
    side = min(tiling.size, length)
    assert starts[0] == 0
    assert starts[-1] + side == length
    assert starts == sorted(set(starts))
    assert all(b - a <= side for a, b in pairwise(starts))


def test_a_small_scene_is_one_tile_and_keeps_its_objects_unchanged() -> None:
    ship = Instance("ship", rectangle(50, 50, 30, 10, 0.3), difficult=True, fine_class="tug")
    (tile,) = cut_tiles(scene(ship), Tiling(size=800))
    assert (tile.width, tile.height) == (WIDTH, HEIGHT)
    assert tile.instances == (ship,)
    assert tile.cut == frozenset()


def test_cut_shares_at_the_limits() -> None:
    # Ten pixels wide, the tile ends at x = 100: 9.5, 5 and 0.5 px lie inside.
    boxes = [Instance(n, rectangle(x + 5, 50, 10, 10, 0)) for n, x in (("a", 90.5), ("b", 95), ("c", 99.5))]
    tile = next(cut_tiles(scene(*boxes), Tiling(size=100, overlap=0)))
    assert tile.cut == {"b"}
    assert tile.slivers == {"c"}
    assert [one.class_name for one in tile.instances] == ["a", "b"]
    assert [one.truncated for one in tile.instances] == [True, True]


def test_a_divisible_class_is_never_barred_and_gives_one_piece_per_part() -> None:
    river = Instance("river", ((0, 0), (300, 0), (300, 20), (20, 20), (20, 180), (300, 180), (300, 200), (0, 200)))
    tiles = list(cut_tiles(scene(river), Tiling(size=200, overlap=0), divisible={"river"}))
    assert [len(tile.instances) for tile in tiles] == [1, 2]
    assert not any(tile.cut for tile in tiles)


def test_ignore_regions_follow_their_tile() -> None:
    region = IgnoreRegion("sea", ((190, 10), (250, 10), (250, 60), (190, 60)), "dark")
    tiles = list(cut_tiles(scene(regions=(region,)), Tiling(size=200, overlap=0)))
    assert [sum(r.shape.area for r in tile.ignore_regions) for tile in tiles] == [500, 3000]  # starts 0 and 100
    assert tiles[0].ignore_regions[0].why == "dark"


@pytest.mark.parametrize(
    ("points", "area"),
    [
        ([(0, 0), (4, 0), (4, 3), (0, 3)], 12),
        ([(0, 0), (4, 0), (4, 3), (0, 3), (0, 0)], 12),  # closed ring
        ([(0, 0), (4, 3), (4, 0), (0, 3)], 12),  # crosswise corners
        ([(0, 0), (4, 0)], 0),
        ([(0, 0), (4, 4), (8, 8)], 0),
        ([(0, 0), (4, 0), (4, float("nan"))], 0),
        ([(0, 0), (10, 0), (10, 10), (5, -1), (0, 10)], 22.727),  # crosses itself: the largest piece stays
    ],
)
def test_outlines_are_cleaned(points: list[tuple[float, float]], area: float) -> None:
    ring = clean_polygon(points)
    assert shapely.Polygon(ring).area == pytest.approx(area, abs=1e-3)
    assert not ring or shapely.Polygon(ring).is_valid


@given(st.floats(1, 100), st.floats(1, 100), st.floats(0, math.pi))
def test_sides_do_not_depend_on_rotation(w: float, h: float, angle: float) -> None:
    found = Instance("ship", rectangle(0, 0, w, h, angle)).sides
    assert found == pytest.approx((min(w, h), max(w, h)), rel=1e-4, abs=1e-4)


@pytest.mark.parametrize("wrong", [{"size": 0}, {"overlap": 1.0}, {"cut_from": 0.9, "cut_to": 0.1}])
def test_impossible_tilings_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(ConfigError, match="makes no sense"):
        Tiling(**wrong)  # type: ignore[arg-type]


def test_tile_pixels_are_the_window(tmp_path: Path) -> None:
    from PIL import Image

    grid = np.add.outer(np.arange(HEIGHT), np.arange(WIDTH)).astype(np.uint8)
    colour = np.dstack([grid, grid, 255 - grid])
    Image.fromarray(colour).save(tmp_path / "one.png")
    one = Scene("t/one", tmp_path / "one.png", WIDTH, HEIGHT, "optical", "t")
    pixels = scene_pixels(one)
    assert (pixels == colour).all()
    for tile in cut_tiles(one, Tiling(size=120)):
        assert (tile_pixels(pixels, tile)[0, 0] == colour[tile.y, tile.x]).all()
        assert tile_pixels(pixels, tile).shape == (tile.height, tile.width, 3)


def test_grey_stored_as_colour_is_one_band(tmp_path: Path) -> None:
    from PIL import Image

    Image.effect_noise((WIDTH, HEIGHT), 30).convert("RGB").save(tmp_path / "sar.png")
    assert scene_pixels(Scene("t/sar", tmp_path / "sar.png", WIDTH, HEIGHT, "sar", "t")).shape == (HEIGHT, WIDTH)


def test_pixels_are_decoded_strictly(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The host switches Pillow to lenient decoding, which turns the missing half of a file black without a word."""
    from PIL import Image, ImageFile

    path = tmp_path / "one.png"
    Image.effect_noise((WIDTH, HEIGHT), 30).save(path)
    path.write_bytes(path.read_bytes()[:-2000])
    monkeypatch.setattr(ImageFile, "LOAD_TRUNCATED_IMAGES", True)
    with pytest.raises(SourceError, match=r"one\.png"):
        scene_pixels(Scene("t/one", path, WIDTH, HEIGHT, "optical", "t"))
    Image.new("L", (10, 10)).save(path)
    with pytest.raises(SourceError, match="is 10x10 now"):
        scene_pixels(Scene("t/one", path, WIDTH, HEIGHT, "optical", "t"))
