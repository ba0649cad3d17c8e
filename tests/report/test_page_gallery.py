"""What the gallery embeds: replies cut, pictures reduced, all within a budget."""

import base64
import io
import json
import random
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image
from support.runs import texts, verdict, write_replies
from support.twin import make_twin

from georefusal_task import data as loader
from georefusal_task.report.gallery import gallery
from georefusal_task.report.gallery_images import STEPS, thumbnails
from georefusal_task.report.gallery_packing import LONGEST_REPLY, cut
from georefusal_task.report.page import render
from georefusal_task.report.runs import load_runs


@given(st.text(), st.integers(9, 60))
def test_a_cut_keeps_both_ends_within_the_limit_and_counts_the_rest(text: str, longest: int) -> None:
    start, omitted, end = cut(text, longest)
    assert len(start.encode()) + len(end.encode()) <= longest
    assert len(start) + omitted + len(end) == len(text)


def test_the_end_of_a_long_reply_is_kept() -> None:
    """A reasoning model states its verdict last: cutting there would hide what was scored."""
    start, omitted, end = cut("thought " * 10_000 + verdict("ANSWER"), LONGEST_REPLY)
    assert start.startswith("thought")
    assert end.endswith(verdict("ANSWER"))
    assert omitted > 75_000


def picture(folder: Path, name: str, width: int, height: int) -> tuple[str, Path]:
    pixels = np.random.default_rng(len(name)).integers(0, 256, (height, width, 3), dtype=np.uint8)
    Image.fromarray(pixels).save(folder / name)
    return name, folder / name


def size_of(uri: str) -> tuple[int, int]:
    head, data = uri.split(",", 1)
    assert head == "data:image/webp;base64"
    with Image.open(io.BytesIO(base64.b64decode(data))) as image:
        return image.size


def test_pictures_are_reduced_but_never_enlarged(tmp_path: Path) -> None:
    found = thumbnails([picture(tmp_path, "small.png", 40, 20), picture(tmp_path, "large.png", 600, 300)], 10**6)
    assert [size_of(uri) for uri in found.uris] == [(40, 20), (256, 128)]
    assert found.places == [0, 1]


def test_quality_falls_until_the_pictures_fit(tmp_path: Path) -> None:
    files = [picture(tmp_path, f"{number}.png", 300, 300 + number) for number in range(6)]
    sizes = []
    for room in (10**6, 60_000, 12_000):
        found = thumbnails(files, room)
        assert sum(map(len, found.uris)) <= room
        sizes.append(max(map(max, map(size_of, found.uris))))
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[0] == STEPS[0][0] > sizes[-1]
    assert thumbnails(files, 100).places == [-1] * 6


def test_one_picture_serves_all_its_items_and_a_broken_one_none(tmp_path: Path) -> None:
    same = picture(tmp_path, "a.png", 30, 30)
    (tmp_path / "b.png").write_bytes(b"no picture")
    found = thumbnails([same, ("b", tmp_path / "b.png"), same], 10**6)
    assert (len(found.uris), found.places) == (1, [0, -1, 0])


def noise(path: Path) -> None:
    """Write the worst picture for a lossy encoder."""
    seed = int(path.stem.split("-")[1], 16) % 2**32
    Image.fromarray(np.random.default_rng(seed).integers(0, 256, (256, 256, 3), dtype=np.uint8)).save(path)


@pytest.mark.slow
def test_two_whole_runs_stay_under_five_megabytes(tmp_path: Path) -> None:
    """The worst case: pictures of noise, and replies that are long, different and full of markup."""
    folder = make_twin(tmp_path / "data", provenance="none")
    for path in folder.rglob("*.png"):
        noise(path)
    twin = loader.load(folder)

    def said(label: dict[str, object]) -> str:
        draw = random.Random(str(label["id"]))
        return "".join(draw.choices("<>&abcdefgh \n", k=6_000))

    files = [write_replies(tmp_path / f"{number}.jsonl", texts(said), model=f"m{number}") for number in range(2)]
    page = render(load_runs(files, data=twin))
    assert len(page.encode()) < 5_000_000
    items = json.loads(page.split('id="items">', 1)[1].split("</script>", 1)[0])
    assert len(items["images"]) >= 586
    assert all(omitted > 0 for _, omitted, _ in items["texts"])


def test_equal_replies_are_stored_once(tmp_path: Path) -> None:
    twin = loader.load(make_twin(tmp_path / "data", n=30, provenance="none"))
    files = [
        write_replies(tmp_path / f"{number}.jsonl", texts(lambda _: verdict("ANSWER", "yes"), 30))
        for number in range(2)
    ]
    assert len(json.loads(gallery(load_runs(files, data=twin)))["texts"]) == 1
