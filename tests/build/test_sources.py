"""What holds for every annotation format."""

import pickle
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from support import native

from georefusal_build.scenes import Scene
from georefusal_build.sources import SOURCES, ReadOptions, ReadReport, SourceError, get_source, table
from georefusal_task.core.errors import ConfigError

NAMES = sorted(SOURCES)
DOCS = Path(__file__).parents[2] / "docs" / "sources.md"


@pytest.fixture(params=NAMES)
def source(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def archive(source: str, tmp_path: Path) -> Path:
    root = tmp_path / "archive"
    native.WRITERS[source](root)
    return root


def scenes(source: str, root: Path, report: ReadReport | None = None) -> dict[str, Scene]:
    options = ReadOptions(version="optical") if source == "m4sar" else ReadOptions()
    found = SOURCES[source].read(root, options, report)
    return {scene.id.rpartition("/")[2].removesuffix("_rgb").removeprefix("msar_"): scene for scene in found}


def test_every_format_has_an_archive() -> None:
    assert sorted(native.WRITERS) == NAMES


def test_objects_are_read_at_their_place(source: str, archive: Path) -> None:
    good = scenes(source, archive)["good"]
    assert (good.width, good.height) == native.SIZE
    assert good.source == source
    first, second, third = good.instances
    assert first.bounds == pytest.approx(native.BOX)
    assert second.bounds == pytest.approx((90, 20, 140, 70))
    assert third.bounds == pytest.approx((180, 80, 200, 95))
    assert (first.truncated, second.truncated, third.truncated) == (False, False, True)
    assert first.class_name == third.class_name != second.class_name


def test_oriented_formats_keep_the_corners(source: str, archive: Path) -> None:
    second = scenes(source, archive)["good"].instances[1]
    assert second.oriented == (source not in {"voc", "csv", "xview", "fmow"})
    if second.oriented:
        np.testing.assert_allclose(second.points, native.QUAD, atol=1e-3)


def test_an_image_without_objects_is_a_scene(source: str, archive: Path) -> None:
    found = scenes(source, archive)
    if source == "xview":  # its one file lists objects, so it names no image without any
        assert "empty" not in found
    else:
        assert found["empty"].instances == ()


def test_a_truncated_image_is_reported_and_skipped(source: str, archive: Path) -> None:
    report = ReadReport()
    found = scenes(source, archive, report)
    assert sorted(found) == [name for name in ("empty", "good", "torn") if (source, name) != ("xview", "empty")]
    assert report.counts["image"] == 1
    assert any("cut" in problem for problem in report.problems)


def test_a_broken_annotation_is_named_and_costs_completeness(source: str, archive: Path) -> None:
    report = ReadReport()
    found = scenes(source, archive, report)
    assert len(found["torn"].instances) == 1
    assert report.counts["annotation"] == 1
    told = [problem for problem in report.problems if ", " in problem.split(": ")[0]]
    assert len(told) == 1, report.problems
    assert str(archive) in told[0]
    missing = found["good"].complete - found["torn"].complete
    assert missing or source in {"voc", "yolo", "csv", "fmow"}  # these claim nothing by themselves


def test_reading_again_gives_the_same_scenes_in_the_same_order(source: str, archive: Path) -> None:
    once, again = (list(SOURCES[source].read(archive)) for _ in range(2))
    assert once == again
    assert len({scene.id for scene in once}) == len(once)
    assert pickle.loads(pickle.dumps(once)) == once  # scenes travel to worker processes


def test_reading_is_lazy(source: str, archive: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[object] = []
    real = Image.open
    monkeypatch.setattr(Image, "open", lambda *args, **more: opened.append(args) or real(*args, **more))
    scenes = SOURCES[source].read(archive)
    assert not opened
    next(scenes)
    first = len(opened)
    list(scenes)
    assert first < len(opened)


def test_licence_and_notice_of_the_user_win(source: str, archive: Path) -> None:
    options = ReadOptions(licence="mine", notice="seen")
    scene = next(SOURCES[source].read(archive, options))
    assert (scene.licence, scene.notice) == ("mine", "seen")


def test_an_unknown_option_is_an_error(source: str, archive: Path) -> None:
    spare = {"first_pixel": 0, "subsources": Path("x.csv"), "version": "9"}
    name = next(key for key in spare if key not in SOURCES[source].options)
    with pytest.raises(ConfigError, match=name):
        SOURCES[source].read(archive, ReadOptions(**{name: spare[name]}))  # type: ignore[arg-type]


def test_a_source_that_knows_what_is_complete_says_so() -> None:
    with pytest.raises(ConfigError, match="follows from the format: all 20 classes"):
        SOURCES["dior"].read(Path(), ReadOptions(complete=frozenset({"*"})))


def test_a_folder_without_the_format_says_what_was_expected(source: str, tmp_path: Path) -> None:
    with pytest.raises(SourceError, match=r"no scene of source|names no classes"):
        list(SOURCES[source].read(tmp_path))
    (tmp_path / "notes.md").touch()
    with pytest.raises(SourceError, match=r"it holds 1 \.md|names no classes"):
        list(SOURCES[source].read(tmp_path))
    with pytest.raises(SourceError, match="does not exist"):
        SOURCES[source].read(tmp_path / "nowhere")


def test_unknown_source_and_version() -> None:
    with pytest.raises(ConfigError, match="choose one of coco"):
        get_source("cocoo")
    with pytest.raises(ConfigError, match=r"choose one of 1\.0"):
        SOURCES["dota"].read(Path(), ReadOptions(version="3"))


def test_the_table_in_the_docs_is_the_registry() -> None:
    assert table() in DOCS.read_text(encoding="utf-8"), "run: make docs (or paste sources.table() into docs/sources.md)"
