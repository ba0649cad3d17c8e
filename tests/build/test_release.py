"""A release: public ids, files that tell nothing, a version that never changes, and gates that stop it."""

import hashlib
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import mlcroissant
import numpy as np
import pytest
from PIL import Image, PngImagePlugin
from typer.testing import CliRunner

import georefusal_task
from georefusal_build.audit.settings import Settings
from georefusal_build.commands import APP
from georefusal_build.ids import item_id, pixel_sha256, row_key
from georefusal_build.layout import SetItem, read_provenance, read_set, write_set
from georefusal_build.release.croissant import About
from georefusal_build.release.gates import Limits
from georefusal_build.release.publish import Order, ShutGateError, release
from georefusal_task.core.errors import ConfigError, DataError
from georefusal_task.data import load

MINI = Path(georefusal_task.__file__).parent / "assets" / "mini"
SALT = "a salt that nobody knows"
ABOUT = About("demo", "1.0.0", "A demo.", "2026-11-30", "https://example.org/l", "https://example.org", "Demo, 2026")
QUICK = Settings(repeats=1, trees=3, rounds=1, refits=3, tree_refits=3, null_trees=3, draws=40, jobs=1)
ORDER = Order(ABOUT, SALT, small=True, limits=Limits(0.3, 0.3), audit=QUICK)


def reviewed(item: SetItem, **more: Any) -> SetItem:
    pixels = np.asarray(Image.open(item.case.image).convert("RGB"))
    row = item.provenance | {"status": "reviewed", "attempt": 0, "pixel_sha256": pixel_sha256(pixels)}
    return replace(item, provenance=row | more)


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("reviewed") / "set"
    summary = {"reasons": {"dead_zone": 7}, "items": len(load(MINI).items)}
    write_set(folder, map(reviewed, read_set(MINI)), files={"summary.json": json.dumps(summary)})
    return folder


@pytest.fixture(scope="module")
def released(source: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return release(source, tmp_path_factory.mktemp("out"), ORDER)


def test_it_loads_and_is_the_same_benchmark(source: Path, released: Path) -> None:
    before, after = load(source), load(released)
    assert released.name == "demo-1.0.0"
    assert sorted(one.case.question for one in after.items) == sorted(one.case.question for one in before.items)
    labels = {(one.label.gold, one.label.lever, one.case.question) for one in before.items}
    assert {(one.label.gold, one.label.lever, one.case.question) for one in after.items} == labels
    assert sorted(path.name for path in released.parent.iterdir()) == ["demo-1.0.0"], "nothing may be left lying about"


def test_ids_follow_from_the_salt_and_from_what_was_made(released: Path) -> None:
    for item in read_set(released):
        key = row_key(item.provenance["base_id"], str(item.label.lever), 0)
        assert item.id == item_id(item.case.set, key, SALT)
        assert item.case.image.name == f"{item.id}.png"


def test_files_tell_nothing(released: Path) -> None:
    for item in read_set(released):
        data = item.case.image.read_bytes()
        chunks, at = [], 8
        while at < len(data):
            chunks.append(data[at + 4 : at + 8])
            at += 12 + int.from_bytes(data[at : at + 4])
        assert set(chunks) == {b"IHDR", b"IDAT", b"IEND"}
        assert hashlib.sha256(data).hexdigest() == item.provenance["image_sha256"]
        with Image.open(item.case.image) as image:
            assert image.mode == "RGB"


def test_rows_are_sorted_by_id_and_sums_are_right(released: Path) -> None:
    for table in ("cases", "labels", "provenance"):
        for file in (released / table).iterdir():
            ids = [json.loads(line)["id"] for line in file.read_text("utf-8").splitlines()]
            assert ids == sorted(ids)
    for line in (released / "SHA256SUMS").read_text("utf-8").splitlines():
        digest, path = line.split("  ")
        assert hashlib.sha256((released / path).read_bytes()).hexdigest() == digest


def test_the_card_counts_what_is_there(released: Path) -> None:
    card = (released / "README.md").read_text("utf-8")
    items = read_set(released)
    assert f"{len(items)} items from" in card
    assert "| dead_zone | 7 |" in card
    assert f"reviewed {len(items)}" in card
    assert "im_bury_low" in card.partition("Unused:")[2]
    assert all(item.provenance["license"] in card for item in items)
    assert SALT not in "".join(path.read_text("utf-8") for path in released.iterdir() if path.is_file())


def test_the_metadata_is_valid(released: Path) -> None:
    read = mlcroissant.Dataset(jsonld=str(released / "croissant.json"))
    assert (read.metadata.name, str(read.metadata.version)) == ("demo", "1.0.0")
    assert len(list(read.records(record_set="cases-A"))) == sum(item.case.set == "A" for item in read_set(released))


@pytest.mark.slow
def test_the_same_again_changes_nothing_and_another_set_is_refused(
    source: Path, released: Path, tmp_path: Path
) -> None:
    before = (released / "SHA256SUMS").read_bytes()
    later = replace(ORDER, about=replace(ABOUT, published="2027-01-01"))
    assert release(source, released.parent, later) == released
    assert (released / "SHA256SUMS").read_bytes() == before
    items = read_set(source)
    fewer = tmp_path / "fewer"
    write_set(fewer, items[1:])
    with pytest.raises(ConfigError, match="a version never changes"):
        release(fewer, released.parent, ORDER)
    assert (released / "SHA256SUMS").read_bytes() == before


@pytest.mark.slow
def test_the_salt_comes_out_with_the_final_version(source: Path, tmp_path: Path) -> None:
    final = release(source, tmp_path, replace(ORDER, final=True))
    assert SALT in (final / "README.md").read_text("utf-8")
    assert json.loads((final / "release.json").read_text("utf-8"))["salt"] == SALT


@pytest.mark.slow
def test_metadata_and_other_forms_of_image_go(tmp_path: Path) -> None:
    """A comment in a file, a palette or a grey band would each tell items apart."""
    items = [*map(reviewed, read_set(MINI))]
    told = tmp_path / "told.png"
    note = PngImagePlugin.PngInfo()
    note.add_text("comment", "HIGH")
    Image.open(items[0].case.image).save(told, pnginfo=note)
    items[0] = replace(items[0], case=items[0].case.model_copy(update={"image": told}))
    write_set(tmp_path / "set", items)
    out = release(tmp_path / "set", tmp_path / "out", ORDER)
    assert not any(b"tEXt" in item.case.image.read_bytes() for item in read_set(out))


def test_an_image_that_was_changed_is_found(tmp_path: Path) -> None:
    items = [*map(reviewed, read_set(MINI))]
    items[3] = replace(items[3], provenance=items[3].provenance | {"pixel_sha256": "0" * 64})
    write_set(tmp_path / "set", items)
    with pytest.raises(DataError, match=items[3].id):
        release(tmp_path / "set", tmp_path / "out", ORDER)
    assert not [*(tmp_path / "out").iterdir()]


def test_shut_gates_are_all_named_and_nothing_appears(source: Path, tmp_path: Path) -> None:
    items = [replace(one, provenance=one.provenance | {"status": "unreviewed"}) for one in read_set(source)]
    write_set(tmp_path / "set", items)
    with pytest.raises(ShutGateError) as caught:
        release(tmp_path / "set", tmp_path / "out", replace(ORDER, limits=Limits(0.0, 0.0)))
    assert f"review: {len(items)} unreviewed" in str(caught.value)
    assert 'balance: "yes" among answerable items' in str(caught.value)
    assert not [*(tmp_path / "out").iterdir()]


@pytest.mark.slow
def test_the_audit_stops_a_release_and_stays_readable(tmp_path: Path) -> None:
    """Answerable items at half size: whoever sees the file knows the verdict."""
    items = []
    for item in map(reviewed, read_set(MINI)):
        image, target = Image.open(item.case.image).convert("RGB"), tmp_path / f"{item.id}.png"
        image = image.resize((96, 96)) if item.label.gold == "ANSWER" else image
        image.save(target)
        case = item.case.model_copy(update={"image": target})
        items.append(reviewed(replace(item, case=case)))
    write_set(tmp_path / "set", items)
    with pytest.raises(ShutGateError, match="audit: the set leaks") as caught:
        release(
            tmp_path / "set",
            tmp_path / "out",
            replace(ORDER, audit=replace(QUICK, trees=10, refits=20, tree_refits=10)),
        )
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["demo-1.0.0.refused"]
    assert "T1" in str(caught.value)
    assert "demo-1.0.0" in (tmp_path / "out" / "demo-1.0.0.refused" / "AUDIT.md").read_text("utf-8")


def test_the_command_teaches(source: Path, tmp_path: Path) -> None:
    salt = tmp_path / "salt"
    salt.write_text("short\n")
    options = ["-o", str(tmp_path / "out"), "--name", "demo", "--version", "1", "--salt-file", str(salt)]

    def said(*more: str) -> str:
        done = CliRunner().invoke(APP, ["release", str(source), *options, *more])
        assert done.exit_code == 1
        return str(done.output)

    assert "can be guessed" in said()
    salt.write_text(SALT)
    assert "is no day; write YYYY-MM-DD" in said("--date", "30.11.2026")
    assert "--no-images needs --config FILE" in said("--no-images")


def test_provenance_is_carried_on(source: Path, released: Path) -> None:
    new = {"id", "version", "image_sha256", "fingerprint"}

    def kept(folder: Path) -> list[str]:
        rows = read_provenance(folder).values()
        return sorted(json.dumps({key: row[key] for key in sorted(row.keys() - new)}) for row in rows)

    assert kept(released) == kept(source)
    assert {row["version"] for row in read_provenance(released).values()} == {"1.0.0"}


@pytest.mark.slow
def test_a_set_that_shows_an_excluded_image_is_refused(source: Path, tmp_path: Path) -> None:
    """The audit command saw it before; a release has to as well, and must not name its maker's folders."""
    shown = read_set(source)[4]
    (tmp_path / "training").mkdir()
    with Image.open(shown.case.image) as opened:
        opened.convert("RGB").save(tmp_path / "training" / "scene.png", compress_level=1)
    order = replace(ORDER, exclude=(tmp_path / "training",))
    with pytest.raises(ShutGateError, match="excluded images"):
        release(source, tmp_path / "out", order)
    assert "scene.png" in (tmp_path / "out" / "demo-1.0.0.refused" / "AUDIT.md").read_text("utf-8")
    assert not (tmp_path / "out" / "demo-1.0.0").exists()
    Image.fromarray(np.random.default_rng(1).integers(0, 255, (64, 64, 3)).astype(np.uint8)).save(
        tmp_path / "training" / "scene.png"
    )
    out = release(source, tmp_path / "out", order)
    assert "compared with 1 images" in json.loads((out / "release.json").read_text("utf-8"))["gates"]["excluded images"]
    assert not any(str(tmp_path) in path.read_text("utf-8") for path in out.iterdir() if path.is_file())
