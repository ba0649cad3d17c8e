"""What each variant shows, and above all that a shuffled item never shows its own pixels."""

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from georefusal_task.core.errors import DataError
from georefusal_task.core.records import Case
from georefusal_task.variants import show, shown_cases


def make_cases(folder: Path, colours: list[int], **save: int) -> list[Case]:
    cases = []
    for number, colour in enumerate(colours):
        path = folder / f"{number:02x}.png"
        Image.new("RGB", (4 + colour % 2, 4), (colour, 0, 0)).save(path, compress_level=number % 10, **save)
        cases.append(Case(id=f"A-{number:02x}", set="A", image=path, question=f"Question {number}?"))
    return cases


def pixels(path: Path) -> tuple[tuple[int, int], bytes]:
    with Image.open(path) as image:
        return image.size, image.tobytes()


@pytest.mark.parametrize(
    "colours",
    [[1, 2], [7, 7, 7, 8, 9, 10], list(range(50)), [1] * 25 + [2] * 24 + [3], [5] * 9 + [6], [0, 1] * 20],
)
def test_shuffling_shows_every_item_other_pixels(tmp_path: Path, colours: list[int]) -> None:
    # the released set has one true duplicate, and equal pixels may come as different bytes
    cases = make_cases(tmp_path, colours)
    shuffled = shown_cases(cases, "shuffled")
    assert [(case.id, case.question) for case in shuffled] == [(case.id, case.question) for case in cases]
    for before, after in zip(cases, shuffled, strict=True):
        assert pixels(before.image) != pixels(after.image)
    if max(colours.count(colour) for colour in colours) <= len(colours) / 2:
        assert {case.image for case in shuffled} == {case.image for case in cases}, "each image is shown once"


def test_shuffling_depends_on_the_items_not_on_their_order(tmp_path: Path) -> None:
    cases = make_cases(tmp_path, list(range(30)))
    one = {case.id: case.image for case in shown_cases(cases, "shuffled")}
    other = {case.id: case.image for case in shown_cases(cases[::-1], "shuffled")}
    assert one == other


def test_one_image_cannot_be_shuffled(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="same pixels"):
        shown_cases(make_cases(tmp_path, [3, 3, 3]), "shuffled")


@pytest.mark.parametrize("variant", ["main", "grey", "jpeg_q95", "noimage"])
def test_other_variants_keep_the_file(tmp_path: Path, variant: str) -> None:
    cases = make_cases(tmp_path, [1, 2, 3])
    assert shown_cases(cases, variant) == cases  # type: ignore[arg-type]


def test_main_and_shuffled_save_the_files_own_bytes(tmp_path: Path) -> None:
    (case,) = make_cases(tmp_path, [200])
    for variant in ("main", "shuffled"):
        image = show(case, variant)  # type: ignore[arg-type]
        assert image is not None
        image.save(tmp_path / "again.png", format="PNG")
        assert (tmp_path / "again.png").read_bytes() == case.image.read_bytes()


def test_grey_is_one_flat_mid_grey_of_the_same_size(tmp_path: Path) -> None:
    (case,) = make_cases(tmp_path, [201])
    image = show(case, "grey")
    assert image is not None
    assert image.size == (5, 4)
    assert set(np.asarray(image).ravel()) == {128}


def test_jpeg_changes_pixels_a_little_and_no_image_is_none(tmp_path: Path) -> None:
    path = tmp_path / "noise.png"
    noise = np.random.default_rng(0).integers(0, 256, (32, 32, 3), dtype=np.uint8)
    Image.fromarray(noise).save(path)
    case = Case(id="A-00", set="A", image=path, question="?")
    image = show(case, "jpeg_q95")
    assert image is not None
    error = np.abs(np.asarray(image).astype(int) - noise)
    assert 0 < error.mean() < 60
    assert show(case, "noimage") is None
