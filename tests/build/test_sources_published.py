"""Forms that annotation files take where they are published; the files here are made up."""

import json
from pathlib import Path

import pytest
from support import native

from georefusal_build.classes import ClassTable
from georefusal_build.scenes import Scene
from georefusal_build.sources import SOURCES, ReadOptions, ReadReport, SourceError


def one(source: str, root: Path, report: ReadReport | None = None, **options: object) -> Scene:
    (scene,) = SOURCES[source].read(root, ReadOptions(**options), report)  # type: ignore[arg-type]
    return scene


# --- CSV of boxes


HEADER = "image_path,xmin,ymin,xmax,ymax,label"


@pytest.mark.parametrize(
    "text",
    [
        f"{HEADER}\nplot.tif,20,10,60,40,Tree\n",
        "image_path,xmin,xmax,ymin,ymax,label\nplot.tif,20,60,10,40,Tree\n",
        f'{HEADER},score,geometry\r\nplot.tif,20.0,10.0,60.0,40.0,Tree,0.9,"POLYGON ((60 10, 60 40, 20 40))"\r\n',
        f",{HEADER}\n0,plot.tif,20,10,60,40,Tree\n",
        "plot.tif,20,10,60,40,Tree",  # without a header row
        "LABEL, Image_Path ,xmin,ymin,xmax,ymax\nTree,/data/neon/plot.tif,20,10,60,40\n",
        f"{HEADER}\nC:\\neon\\plot.tif,20,10,60,40,Tree\n",
    ],
)
def test_csv_columns_in_any_order(tmp_path: Path, text: str) -> None:
    native.image(tmp_path / "plot.tif")
    native.write(tmp_path / "boxes.csv", text, "utf-8-sig")
    scene = one("csv", tmp_path, complete=frozenset({"*"}))
    assert [(i.class_name, i.bounds, i.oriented) for i in scene.instances] == [("Tree", native.BOX, False)]
    assert scene.complete == {"Tree"}
    assert one("csv", tmp_path, first_pixel=1).instances[0].bounds == (19, 9, 60, 40)


@pytest.mark.parametrize("box", [",,,,", "0,0,0,0,Tree", "0.0,0.0,0.0,0.0,", ""])
def test_csv_rows_without_a_box_are_images_without_objects(tmp_path: Path, box: str) -> None:
    native.image(tmp_path / "bare.tif")
    native.image(tmp_path / "unlisted.tif")  # nobody looked at it
    native.write(tmp_path / "boxes.csv", f"{HEADER}\n\nbare.tif,{box}\n")
    report = ReadReport()
    scene = one("csv", tmp_path, report, complete=frozenset({"Tree"}))
    assert (scene.id, scene.instances, scene.complete) == ("csv/bare", (), {"Tree"})
    assert not report.counts


@pytest.mark.parametrize(
    ("row", "told", "kept"),
    [
        ("plot.tif,20,10,sixty,40,Tree", "xmax is 'sixty', not a number", {"Bird"}),
        ("plot.tif,20,10,,40,Tree", "xmax is '', not a number", {"Bird"}),
        ("plot.tif,60,10,20,40,Tree", "encloses no area", {"Bird"}),
        ("plot.tif,20,10,60,40,", "label is empty", set()),
        ("plot.tif,20,10,60,40", "label is empty", set()),
        (",20,10,60,40,Tree", "image_path is empty", {"Tree", "Bird"}),
    ],
)
def test_csv_rows_that_cannot_be_used(tmp_path: Path, row: str, told: str, kept: set[str]) -> None:
    native.image(tmp_path / "plot.tif")
    native.write(tmp_path / "boxes.csv", f"{HEADER}\nplot.tif,90,10,120,40,Bird\n{row}\n")
    report = ReadReport()
    scene = one("csv", tmp_path, report, complete=frozenset({"Tree", "Bird"}))
    assert [i.class_name for i in scene.instances] == ["Bird"]
    assert scene.complete == kept
    assert report.problems == [f"{tmp_path / 'boxes.csv'}, line 3: {told}"] or told in report.problems[0]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("image,x,y,w,h,label\nplot.tif,1,2,3,4,Tree\n", "line 1: has no column image_path, xmin"),
        ("image_path,xmin,ymin,xmax,ymax\nplot.tif,1,2,3,4\n", "line 1: has no column label; the first row must name"),
        ("plot.tif,1,2,3,4\n", "in any order, but it is 'plot.tif,1,2,3,4'"),
        ("", "line 1: has no column"),
        (f"{HEADER}\ngone.tif,1,2,3,4,Tree\n", "line 2: there is no image 'gone.tif'"),
    ],
)
def test_csv_of_another_kind_says_what_was_expected(tmp_path: Path, text: str, told: str) -> None:
    native.image(tmp_path / "plot.tif")
    native.write(tmp_path / "boxes.csv", text)
    with pytest.raises(SourceError, match="no scene of source 'csv'") as caught:
        one("csv", tmp_path)
    assert told in str(caught.value)


@pytest.mark.parametrize("other", ["./plot.tif", "plot", "plots/../plot.tif"])
def test_csv_rows_of_one_image_belong_together_however_they_spell_it(tmp_path: Path, other: str) -> None:
    """Rows of a second spelling were left out while the image still counted as complete: there was no Bird."""
    native.image(tmp_path / "plot.tif")
    (tmp_path / "plots").mkdir()
    native.write(tmp_path / "boxes.csv", f"{HEADER}\nplot.tif,20,10,60,40,Tree\n{other},90,10,120,40,Bird\n")
    report = ReadReport()
    scene = one("csv", tmp_path, report, complete=frozenset({"*"}))
    assert {(i.class_name, i.bounds[0]) for i in scene.instances} == {("Tree", 20), ("Bird", 90)}
    assert (scene.complete, report.problems) == ({"Tree", "Bird"}, [])


def test_csv_image_in_two_tables_is_complete_in_nothing(tmp_path: Path) -> None:
    """A table for each class, or a copy of one: only who made them knows, so absence and counts stay open."""
    native.image(tmp_path / "plot.tif")
    for name, label in (("birds", "Bird"), ("trees", "Tree")):
        native.write(tmp_path / f"{name}.csv", f"{HEADER}\nplot.tif,20,10,60,40,{label}\n")
    report = ReadReport()
    scene = one("csv", tmp_path, report, complete=frozenset({"*"}))
    assert ([i.class_name for i in scene.instances], scene.complete) == (["Bird"], frozenset())
    (told,) = report.problems
    assert told.startswith(
        f"{tmp_path / 'birds.csv'}, line 2: 'plot.tif' stands in {tmp_path / 'trees.csv'}, line 2, too"
    )


def test_csv_and_voc_copies_of_one_plot_agree(tmp_path: Path) -> None:
    """Trees are published in both forms, with the same numbers: both count pixels from 1."""
    for kind in ("csv", "voc"):
        native.image(tmp_path / kind / "plot.tif")
    native.write(tmp_path / "csv" / "plot.csv", f"{HEADER}\nplot.tif,1,11,60,100,Tree\n")
    native.write(
        tmp_path / "voc" / "plot.xml",
        "<annotation><folder>RGB</folder><filename>plot.tif</filename><size><width>200</width><height>100</height>"
        "<depth>3</depth></size><segmented>0</segmented><object><name>Tree</name><pose>Unspecified</pose>"
        "<truncated>0</truncated><occluded>0</occluded><difficult>0</difficult><bndbox><xmin>1</xmin><ymin>11</ymin>"
        "<xmax>60</xmax><ymax>100</ymax></bndbox></object></annotation>",
    )
    vouched = frozenset({"Tree"})
    table, voc = ClassTable.load(), one("voc", tmp_path / "voc", complete=vouched)
    copy = one("csv", tmp_path / "csv", first_pixel=1, complete=vouched)
    assert copy.instances == voc.instances
    for scene in (voc, copy):
        assert table.canonical(scene).complete == {"tree"}


def test_csv_trees_by_their_state_are_trees(tmp_path: Path) -> None:
    """Published trees are labelled Tree in one file, Alive and Dead in another: there, "no tree" would be false."""
    native.image(tmp_path / "plot.tif")
    native.write(tmp_path / "boxes.csv", f"{HEADER}\nplot.tif,20,10,60,40,Alive\nplot.tif,90,20,140,70,Dead\n")
    scene = ClassTable.load().canonical(one("csv", tmp_path, complete=frozenset({"Tree"})))
    assert [(i.class_name, i.fine_class) for i in scene.instances] == [("tree", None), ("tree", "dead tree")]


# --- VOC


def test_voc_statistics_beside_an_image_are_no_annotation(tmp_path: Path) -> None:
    native.voc(tmp_path)
    native.write(tmp_path / "JPEGImages" / "good.jpg.aux.xml", "<PAMDataset/>")
    report = ReadReport()
    list(SOURCES["voc"].read(tmp_path, report=report))
    assert report.counts["file"] == 0


def test_voc_object_without_a_name_costs_every_class(tmp_path: Path) -> None:
    """It occurs among published trees; the object may be anything."""
    native.image(tmp_path / "1.jpg")
    objects = [native.voc_object("Tree", native.BOX), native.voc_object("", (90, 20, 140, 70))]
    native.write(tmp_path / "1.xml", native.xml(objects))
    report = ReadReport()
    scene = one("voc", tmp_path, report, complete=frozenset({"*"}))
    assert (len(scene.instances), scene.complete) == (1, frozenset())
    assert "object 2, name: is missing" in report.problems[0]


# --- names of closed lists


@pytest.mark.parametrize(
    ("source", "old", "spelt", "name"),
    [
        ("dior", "<name>harbor<", "<name>expressway_toll_station<", "Expressway-toll-station"),
        ("fair1m", "<name>Bridge<", "<name>liquid_cargo_ship<", "Liquid Cargo Ship"),
        ("dota", " harbor ", " Storage_Tank ", "storage-tank"),
    ],
)
def test_names_are_known_by_their_letters(source: str, old: str, spelt: str, name: str, tmp_path: Path) -> None:
    """Public readers fold the case of names; an object under a name that is not known would make a false "no"."""
    for write, told in ((spelt, name), (spelt[:-1] + "x" + spelt[-1], "")):
        root = tmp_path / write.strip("<> ").replace(">", "_")
        native.WRITERS[source](root)
        for path in [*root.rglob("good.xml"), *root.rglob("good.txt")]:
            native.write(path, path.read_text().replace(old, write))
        report = ReadReport()
        good = next(s for s in SOURCES[source].read(root, report=report) if "good" in s.id)
        assert len(good.instances) == 3
        assert (good.instances[1].class_name == name) == bool(told)
        assert bool(good.complete) == bool(told)
        assert any("is no class of this source" in problem for problem in report.problems) != bool(told)


# --- folders and files


def test_dota_copies_with_horizontal_boxes_are_left_out(tmp_path: Path) -> None:
    native.image(tmp_path / "images" / "P1.png")
    for folder in ("DOTA-v1.5_train_hbb", "DOTA-v1.5_train"):
        native.write(tmp_path / "labelTxt-v1.5" / folder / "P1.txt", f"{native.flat(native.QUAD)} ship 0\n")
    report = ReadReport()
    assert one("dota", tmp_path, report, version="1.5").instances[0].oriented
    assert not report.counts


def test_fair1m_states_a_size_too(tmp_path: Path) -> None:
    native.fair1m(tmp_path)
    path = tmp_path / "labelXmls" / "good.xml"
    size = "<size><width>{}</width><height>100</height><depth>3</depth></size><objects>"
    text = path.read_text()
    native.write(path, text.replace("<objects>", size.format(200)))
    assert len(list(SOURCES["fair1m"].read(tmp_path))) == 3
    native.write(path, text.replace("<objects>", size.format(400)))
    report = ReadReport()
    assert len(list(SOURCES["fair1m"].read(tmp_path, report=report))) == 2
    assert any("good.xml, size: says 400x100" in problem for problem in report.problems)


def test_fmow_a_lone_box_without_its_list(tmp_path: Path) -> None:
    native.fmow(tmp_path)
    path = tmp_path / "port" / "good_rgb.json"
    content = json.loads(path.read_text())
    content["bounding_boxes"] = content["bounding_boxes"][1]
    native.write(path, json.dumps(content))
    good = next(s for s in SOURCES["fmow"].read(tmp_path) if "good" in s.id)
    assert [i.bounds for i in good.instances] == [native.BOX]


def test_fmow_reviewed_boxes_replace_the_proposed_one(tmp_path: Path) -> None:
    """The proposal may be called a port where people found none."""
    native.fmow(tmp_path)
    path = tmp_path / "port" / "good_rgb.json"
    content = json.loads(path.read_text())
    proposed = {"ID": -1, "category": "port", "box": [20, 10, 40, 30]}
    reviewed = {"ID": 4, "category": "false_detection", "box": [22, 12, 36, 26], "visible": "True"}
    for boxes, names in (([proposed, reviewed], ["false_detection"]), ([proposed], ["port"])):
        native.write(path, json.dumps(content | {"bounding_boxes": boxes}))
        good = next(s for s in SOURCES["fmow"].read(tmp_path) if "good" in s.id)
        assert [i.class_name for i in good.instances] == names


def test_coco_files_named_after_their_folder_of_images(tmp_path: Path) -> None:
    """The splits of SARDet-100K number their images anew, and name them without a folder."""
    for split in ("train", "val"):
        native.image(tmp_path / "JPEGImages" / split / "0000001.png")
        content = {
            "images": [{"id": 0, "file_name": "0000001.png"}],
            "categories": [{"id": 0, "name": "ship"}],
            "annotations": [{"id": 0, "image_id": 0, "category_id": 0, "bbox": [20.0, 10.0, 40.0, 30.0]}],
        }
        native.write(tmp_path / "Annotations" / f"{split}.json", json.dumps(content))
    found = {s.id: s for s in SOURCES["sardet"].read(tmp_path)}
    assert sorted(found) == ["sardet/JPEGImages/train/0000001", "sardet/JPEGImages/val/0000001"]
    assert [i.bounds for s in found.values() for i in s.instances] == [native.BOX] * 2


def test_splits_below_the_folders_of_images_and_annotations(tmp_path: Path) -> None:
    for split, size in (("train", (200, 100)), ("val", (120, 90))):
        native.image(tmp_path / "JPEGImages" / split / "1.jpg", size=size)
        native.write(tmp_path / "Annotations" / split / "1.xml", "<annotation/>")
    assert {s.id: s.width for s in SOURCES["voc"].read(tmp_path)} == {
        "voc/JPEGImages/train/1": 200,
        "voc/JPEGImages/val/1": 120,
    }


def test_yolo_sets_that_disagree_about_their_classes(tmp_path: Path) -> None:
    """Read together, the numbers of one would be taken for the names of the other."""
    for name in ("ship", "car"):
        native.image(tmp_path / name / "train" / "images" / f"{name}.jpg")
        native.write(tmp_path / name / "train" / "labels" / f"{name}.txt", f"0 {native.yolo_box(native.BOX)}")
        native.write(tmp_path / name / "data.yaml", f"train: ../train/images\nnc: 1\nnames: ['{name}']\n")
    with pytest.raises(SourceError, match=r"names other classes than .*read one data set at a time"):
        one("yolo", tmp_path)
    assert one("yolo", tmp_path / "ship").instances[0].class_name == "ship"
    native.write(tmp_path / "car" / "data.yaml", "names: {0: ship}\n")
    assert len(list(SOURCES["yolo"].read(tmp_path))) == 2
