"""What is peculiar to single annotation formats."""

import json
from pathlib import Path

import pytest
from PIL import Image
from support import native

from georefusal_build.scenes import Scene
from georefusal_build.sources import SOURCES, ReadOptions, ReadReport, SourceError


def one(source: str, root: Path, report: ReadReport | None = None, **options: object) -> Scene:
    (scene,) = SOURCES[source].read(root, ReadOptions(**options), report)  # type: ignore[arg-type]
    return scene


# --- DOTA


@pytest.mark.parametrize(
    ("header", "gsd", "origin", "reports"),
    [
        ("imagesource:GoogleEarth\ngsd:0.146343590398\n", 0.146343590398, "GoogleEarth", 0),
        ("imagesource:GF-2\ngsd:None\n", None, "GF-2", 0),
        ("gsd:null\n", None, "", 0),
        ("", None, "", 0),
        ("imagesource:JL-1\ngsd:-3\n", None, "JL-1", 1),
        ("imagesource:JL-1\ngsd:fine\n", None, "JL-1", 1),
    ],
)
def test_dota_headers(tmp_path: Path, header: str, gsd: float | None, origin: str, reports: int) -> None:
    native.image(tmp_path / "images" / "P1.png")
    native.write(tmp_path / "labelTxt-v1.0" / "P1.txt", f"{header}{native.flat(native.QUAD)} ship 1\n")
    report = ReadReport()
    scene = one("dota", tmp_path, report)
    assert (scene.gsd_m, scene.subsource) == (gsd, origin)
    assert scene.instances[0].difficult
    assert sum(report.counts.values()) == reports
    assert one("dota", tmp_path, gsd_m=0.7).gsd_m == (gsd or 0.7)


@pytest.mark.parametrize(
    ("encoding", "ends"), [("utf-8-sig", "\r\n"), ("utf-16", "\n"), ("latin-1", "\n"), ("gb18030", "\r")]
)
def test_dota_text_in_odd_encodings(tmp_path: Path, encoding: str, ends: str) -> None:
    native.image(tmp_path / "P1.png")
    lines = ["imagesource:Google\xe9" if encoding == "latin-1" else "imagesource:Google", "gsd:0.5"]
    lines += [f"{native.flat(native.QUAD)} ship 0", ""]
    native.write(tmp_path / "P1.labelTxt.txt", ends.join(lines), encoding)
    scene = one("dota", tmp_path)
    assert scene.gsd_m == 0.5
    assert scene.instances[0].class_name == "ship"


def test_dota_versions_differ_in_what_is_complete(tmp_path: Path) -> None:
    native.dota(tmp_path)
    complete = {v: next(SOURCES["dota"].read(tmp_path, ReadOptions(version=v))).complete for v in ("1.0", "1.5", "2.0")}
    assert "small-vehicle" not in complete["1.0"]  # cars under 10 px have no box in 1.0, so "no car" is not safe
    assert complete["1.5"] - complete["1.0"] == {"small-vehicle", "container-crane"}
    assert complete["2.0"] - complete["1.5"] == {"airport", "helipad"}
    assert len(complete["2.0"]) == 18


def test_dota_folders_as_they_are_unpacked(tmp_path: Path) -> None:
    """Two versions and a copy with horizontal boxes lie side by side; each image may come once."""
    native.image(tmp_path / "train" / "images" / "P1.png")
    for folder, name in (
        ("labelTxt-v1.0/labelTxt", "ship"),
        ("labelTxt-v1.0/trainset_reclabelTxt", "rectangle"),
        ("labelTxt-v1.5/DOTA-v1.5_train", "container-crane"),
    ):
        native.write(tmp_path / "train" / folder / "P1.txt", f"{native.flat(native.QUAD)} {name} 0\n")
    report = ReadReport()
    assert one("dota", tmp_path, report).instances[0].class_name == "ship"
    assert "is annotated by more than one file" in report.problems[0]
    assert one("dota", tmp_path, version="1.5").instances[0].class_name == "container-crane"


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("1 2 3 4 5 6 7 8", "has 8 fields"),
        ("1 2 3 4 5 6 7 8 large vehicle 0", "has 11 fields"),
        ("1 2 3 4 5 6 7 nan ship 0", "'nan', not a finite number"),
        ("900 900 920 900 920 920 900 920 ship 0", "lies outside"),
        ("10 10 20 20 30 30 40 40 ship 0", "encloses no area"),
    ],
)
def test_dota_lines_that_cannot_be_used(tmp_path: Path, line: str, told: str) -> None:
    native.image(tmp_path / "P1.png")
    native.write(tmp_path / "P1.labelTxt.txt", f"gsd:1\n\n{native.flat(native.QUAD)} plane 0\n{line}\n")
    report = ReadReport()
    scene = one("dota", tmp_path, report)
    assert [i.class_name for i in scene.instances] == ["plane"]
    assert "P1.labelTxt.txt, line 4: " in report.problems[0]
    assert told in report.problems[0]
    assert "ship" not in scene.complete
    assert ("plane" in scene.complete) == (told in ("lies outside", "encloses no area"))  # there the class is known


# --- images


def test_an_image_in_two_folders_belongs_to_the_nearer_annotation(tmp_path: Path) -> None:
    for split, size in (("train", (200, 100)), ("val", (120, 90))):
        native.image(tmp_path / split / "images" / "1.png", size=size)
        native.write(tmp_path / split / "labelTxt" / "1.txt", f"{native.flat(native.corners(native.BOX))} ship 0\n")
    found = {s.id: s.width for s in SOURCES["dota"].read(tmp_path)}
    assert found == {"dota/train/images/1": 200, "dota/val/images/1": 120}


def test_an_ambiguous_or_missing_image_is_reported(tmp_path: Path) -> None:
    for name in ("a/1.png", "b/1.png"):
        native.image(tmp_path / name)
    for stem in ("1", "2"):
        native.write(tmp_path / "labelTxt" / f"{stem}.txt", f"{native.flat(native.QUAD)} ship 0\n")
    report = ReadReport()
    with pytest.raises(SourceError, match="the first problem"):
        list(SOURCES["dota"].read(tmp_path, report=report))
    assert "is not unique" in report.problems[0]
    assert "there is no image '2'" in report.problems[1]


@pytest.mark.parametrize(("suffix", "mode"), [(".png", "I;16"), (".tif", "F")])
def test_images_with_more_than_8_bits_are_refused(tmp_path: Path, suffix: str, mode: str) -> None:
    """Pillow would clip them to 8 bits without a word."""
    Image.new(mode, native.SIZE).save(tmp_path / f"P1{suffix}")
    native.write(tmp_path / "P1.labelTxt.txt", f"{native.flat(native.QUAD)} ship 0\n")
    with pytest.raises(SourceError, match="convert it to 8 bits"):
        one("dota", tmp_path)


def test_an_image_that_is_none(tmp_path: Path) -> None:
    native.write(tmp_path / "P1.png", "not a picture")
    native.write(tmp_path / "P1.labelTxt.txt", "")
    with pytest.raises(SourceError, match="not a readable image"):
        one("dota", tmp_path)


# --- XML


@pytest.mark.parametrize(
    ("encoding", "head"),
    [
        ("utf-8-sig", '<?xml version="1.0" encoding="utf-8"?>'),
        ("utf-16", '<?xml version="1.0" encoding="utf-16"?>'),
        ("gb18030", '<?xml version="1.0" encoding="gb2312"?>'),
        ("latin-1", '<?xml version="1.0" encoding="ISO-8859-1"?>'),
        ("utf-8", ""),
    ],
)
def test_xml_in_odd_encodings(tmp_path: Path, encoding: str, head: str) -> None:
    native.image(tmp_path / "1.jpg")
    body = native.xml([native.voc_object("ship", native.BOX)], "<folder>\xb0</folder>")
    native.write(tmp_path / "1.xml", f"{head}\n{body}", encoding)
    assert one("voc", tmp_path).instances[0].bounds == native.BOX


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("<annotation>\n<object>\n</annotation>", "line 3"),
        ("<html/>", "expected <annotation>"),
        ('<!DOCTYPE a [<!ENTITY b "b">]><annotation>&b;</annotation>', "declares a document type"),
        ('<?xml version="1.0" encoding="klingon"?><annotation/>', "does not decode as 'klingon'"),
        ("", "not well-formed"),
    ],
)
def test_broken_xml_is_reported_and_the_rest_is_read(tmp_path: Path, text: str, told: str) -> None:
    native.voc(tmp_path)
    native.write(tmp_path / "Annotations" / "broken.xml", text)
    report = ReadReport()
    assert len(list(SOURCES["voc"].read(tmp_path, report=report))) == 3
    assert report.counts["file"] == 1
    assert any("broken.xml" in problem and told in problem for problem in report.problems)


def test_voc_counts_pixels_from_one_unless_a_file_shows_otherwise(tmp_path: Path) -> None:
    native.image(tmp_path / "1.jpg")
    box = "<bndbox><xmin>{}</xmin><ymin>5</ymin><xmax>30</xmax><ymax>25</ymax></bndbox>"
    text = "<object><name>ship</name><truncated>1</truncated><difficult>1</difficult>{}</object>"
    native.write(tmp_path / "1.xml", native.xml([text.format(box.format(1))]))
    assert one("voc", tmp_path).instances[0].bounds == (0, 4, 30, 25)
    assert one("voc", tmp_path, first_pixel=0).instances[0].bounds == (1, 5, 30, 25)
    native.write(tmp_path / "1.xml", native.xml([text.format(box.format(0))]))
    scene = one("voc", tmp_path)
    assert scene.instances[0].bounds == (0, 5, 30, 25)
    assert scene.instances[0].truncated
    assert scene.instances[0].difficult


@pytest.mark.parametrize(("xmin", "first"), [("1", 1), ("0.0", 0), ("0.5", 0), ("1.5", 1)])
def test_voc_a_coordinate_below_one_counts_from_zero(tmp_path: Path, xmin: str, first: int) -> None:
    native.image(tmp_path / "a.jpg")
    box = f"<xmin>{xmin}</xmin><ymin>20</ymin><xmax>60</xmax><ymax>40</ymax>"
    native.write(tmp_path / "a.xml", f"<annotation><object><name>x</name><bndbox>{box}</bndbox></object></annotation>")
    assert one("voc", tmp_path).instances[0].bounds == (float(xmin) - first, 20 - first, 60, 40)


@pytest.mark.parametrize(("words", "set_"), [("0,no,False,Unspecified,0.0,", False), ("1,yes,True,2", True)])
def test_voc_flags_in_words(tmp_path: Path, words: str, set_: bool) -> None:
    """A "no" that is read as a yes takes the object out of every question."""
    native.image(tmp_path / "a.jpg")
    box = "<bndbox><xmin>9</xmin><ymin>9</ymin><xmax>60</xmax><ymax>40</ymax></bndbox>"
    flags = [f"<difficult>{word}</difficult><truncated>{word}</truncated>" for word in words.split(",")]
    objects = "".join(f"<object><name>x</name>{one}{box}</object>" for one in flags)
    native.write(tmp_path / "a.xml", f"<annotation>{objects}</annotation>")
    for instance in one("voc", tmp_path).instances:
        assert (instance.difficult, instance.truncated) == (set_, set_)


def test_voc_boxes_for_another_version_of_the_image_are_refused(tmp_path: Path) -> None:
    native.image(tmp_path / "a.jpg")
    size = "<size><width>{}</width><height>{}</height></size>"
    path = native.write(tmp_path / "a.xml", f"<annotation>{size.format(400, 200)}</annotation>")
    with pytest.raises(SourceError, match=r"a\.xml, size: says 400x200, but a\.jpg is 200x100"):
        one("voc", tmp_path)
    native.write(path, f"<annotation>{size.format(0, 0)}</annotation>")
    assert not one("voc", tmp_path).instances


TURNED = {
    "coco": ('"bbox": [20, 10, 40, 30]', '"bbox": [60, 10, -40, 30]'),
    "voc": ("<xmax>60</xmax>", "<xmax>6</xmax>"),
    "yolo": (native.yolo_box(native.BOX), native.yolo_box((40, 10, 40, 40))),
    "csv": ("20,10,60,40,ship", "60,10,20,40,ship"),
    "xview": ('"20,10,60,40"', '"60,10,20,40"'),
    "fmow": ('"box": [20, 10, 40, 30]', '"box": [20, 10, 40, 0]'),
}


@pytest.mark.parametrize("source", sorted(TURNED))
def test_a_box_that_ends_before_it_begins_is_reported(source: str, tmp_path: Path) -> None:
    """Read as if its corners had been swapped, it would be an object at a place that nobody marked."""
    native.WRITERS[source](tmp_path)
    old, new = TURNED[source]
    report = ReadReport()
    files = [path for path in tmp_path.rglob("*") if path.suffix in (".json", ".geojson", ".xml", ".txt", ".csv")]
    changed = [path for path in files if old in path.read_text()]
    assert changed
    for path in changed:
        native.write(path, path.read_text().replace(old, new))
    good = next(s for s in SOURCES[source].read(tmp_path, report=report) if "good" in s.id)
    assert (20, 10, 60, 40) not in [tuple(map(round, i.bounds)) for i in good.instances]
    assert any("encloses no area" in problem for problem in report.problems)


def test_what_the_user_vouches_for(tmp_path: Path) -> None:
    native.voc(tmp_path)
    options = ReadOptions(complete=frozenset({"*", "car"}), verified_absent=frozenset({"bridge"}), modality="sar")
    scene = next(SOURCES["voc"].read(tmp_path, options))
    assert scene.complete == {"ship", "harbor", "car"}
    assert scene.verified_absent == {"bridge"}
    assert scene.modality == "sar"


def test_dior_reads_the_kind_that_is_asked_for(tmp_path: Path) -> None:
    native.dior(tmp_path)
    horizontal = {s.id: s for s in SOURCES["dior"].read(tmp_path, ReadOptions(version="horizontal"))}
    default = {s.id: s for s in SOURCES["dior"].read(tmp_path)}
    assert horizontal.keys() == default.keys()
    good = "dior/JPEGImages-trainval/good"
    assert (len(horizontal[good].instances), len(default[good].instances)) == (1, 3)
    assert not horizontal[good].instances[0].oriented
    assert len(default[good].complete) == 20
    for path in (tmp_path / "Annotations" / "Horizontal Bounding Boxes").iterdir():
        path.unlink()
    with pytest.raises(SourceError, match="no scene of source 'dior', version 'horizontal', was found"):
        list(SOURCES["dior"].read(tmp_path, ReadOptions(version="horizontal")))


def test_fair1m_refuses_other_frames(tmp_path: Path) -> None:
    native.fair1m(tmp_path)
    path = tmp_path / "labelXmls" / "good.xml"
    path.write_text(path.read_text().replace("<coordinate>pixel", "<coordinate>geo", 1))
    report = ReadReport()
    found = {s.id: s for s in SOURCES["fair1m"].read(tmp_path, report=report)}
    assert len(found["fair1m/images/good"].instances) == 2
    assert any("only 'pixel'" in problem for problem in report.problems)
    assert found["fair1m/images/good"].subsource == "GF2/GF3"
    assert len(found["fair1m/images/empty"].complete) == 37


# --- YOLO and M4-SAR


def test_yolo_label_beside_its_image_and_class_list_as_text(tmp_path: Path) -> None:
    native.image(tmp_path / "1.jpg")
    native.write(tmp_path / "1.txt", f"1 {native.yolo_box(native.BOX)}\n0 0.1 0.1 0.3 0.1 0.2 0.4\n")
    native.write(tmp_path / "classes.txt", "car\nship\n")
    scene = one("yolo", tmp_path, complete=frozenset({"*"}))
    assert [(i.class_name, len(i.polygon), i.oriented) for i in scene.instances] == [
        ("ship", 4, False),
        ("car", 3, True),
    ]
    assert scene.complete == {"car", "ship"}


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("0 0.5 0.5 0.2", "has 3 values"),
        ("0 0.5 0.5 0.2 0.2 0.93", "has 5 values"),  # a prediction with its score
        ("0 100 50 20 20", "holds 100, but coordinates must be shares"),
        ("0 0.5 0.6 -0.2 0.1", "holds -0.2, but coordinates must be shares"),
        ("two 0.5 0.5 0.2 0.2", "class number is 'two'"),
        ("2 0.5 0.5 0.2 0.2", "but 2 classes are named"),
        ("-1 0.5 0.5 0.2 0.2", "but 2 classes are named"),
        ("0.5 0.5 0.5 0.2 0.2", "class number is '0.5'"),
        ("0 0.5 0.5 inf 0.2", "not a finite number"),
    ],
)
def test_yolo_lines_that_cannot_be_used(tmp_path: Path, line: str, told: str) -> None:
    native.image(tmp_path / "1.jpg")
    native.write(tmp_path / "1.txt", f"\n{line}\n")
    native.write(tmp_path / "classes.txt", "car\nship\n")
    report = ReadReport()
    scene = one("yolo", tmp_path, report, complete=frozenset({"*"}))
    assert scene.instances == ()
    assert scene.complete == ({"ship"} if line.startswith("0 ") else frozenset())
    assert f"1.txt, line 2: {told}" in report.problems[0] or told in report.problems[0]


def test_yolo_image_without_label_file_is_not_taken_for_empty(tmp_path: Path) -> None:
    native.yolo(tmp_path)
    native.image(tmp_path / "images" / "train" / "forgotten.jpg")
    report = ReadReport()
    assert not any("forgotten" in s.id for s in SOURCES["yolo"].read(tmp_path, report=report))
    assert any("forgotten.jpg: has no label file" in problem for problem in report.problems)


@pytest.mark.parametrize(
    "names", ["[ship, harbor]", "{0: ship, 1: harbor}", '{"0": ship, "1": harbor}', "{1: harbor, 0: ship}"]
)
def test_yolo_class_names_in_every_spelling(tmp_path: Path, names: str) -> None:
    native.yolo(tmp_path)
    native.write(tmp_path / "data.yaml", f"path: ../elsewhere\ntrain: images/train\nnc: 2\nnames: {names}\n")
    good = next(s for s in SOURCES["yolo"].read(tmp_path) if "good" in s.id)
    assert [i.class_name for i in good.instances] == ["ship", "harbor", "ship"]


def test_yolo_class_names_that_are_no_numbers(tmp_path: Path) -> None:
    native.yolo(tmp_path)
    native.write(tmp_path / "data.yaml", "names: {ship: 0}\n")
    with pytest.raises(SourceError, match=r"data\.yaml, names: names is \{'ship': 0\}"):
        list(SOURCES["yolo"].read(tmp_path))


def test_yolo_yaml_that_is_none(tmp_path: Path) -> None:
    native.yolo(tmp_path)
    native.write(tmp_path / "data.yaml", "names: [ship, 'harbor\n")
    with pytest.raises(SourceError, match=r"data\.yaml: is not valid YAML"):
        list(SOURCES["yolo"].read(tmp_path))


def test_m4sar_halves_share_labels_and_know_their_sensor(tmp_path: Path) -> None:
    for side in ("optical", "sar"):
        for number in ("7", "56088"):
            native.image(tmp_path / side / "images" / "val" / f"{number}.jpg")
    for number in ("7", "56088"):
        label = f"2 {native.shares(native.QUAD)}\n"
        native.write(tmp_path / "optical" / "labels" / "val" / f"{number}.txt", label)
    found = {s.id: (s.modality, s.gsd_m, s.subsource, len(s.instances)) for s in SOURCES["m4sar"].read(tmp_path)}
    assert found == {
        "m4sar/optical/images/val/7": ("optical", 10.0, "10 m", 1),
        "m4sar/optical/images/val/56088": ("optical", None, "60 m", 1),
        "m4sar/sar/images/val/7": ("sar", None, "VH", 1),
        "m4sar/sar/images/val/56088": ("sar", None, "VV", 1),
    }
    assert [s.modality for s in SOURCES["m4sar"].read(tmp_path, ReadOptions(version="sar"))] == ["sar", "sar"]


# --- JSON


def coco_file(root: Path, content: dict[str, object]) -> Path:
    native.image(root / "images" / "1.png")
    base: dict[str, object] = {
        "images": [{"id": 1, "file_name": "1.png", "width": 200, "height": 100}],
        "categories": [{"id": 1, "name": "ship"}],
        "annotations": [],
    }
    return native.write(root / "annotations" / "a.json", json.dumps(base | content))


def test_coco_says_what_is_known_about_an_image(tmp_path: Path) -> None:
    region = {"class": "sea", "bbox": [150, 50, 100, 100], "why": "dark"}
    info = {"complete": ["ship"], "verified_absent": ["bridge", "ship"], "undecidable": ["car"], "sensor": "SAR"}
    entry = {"id": 1, "file_name": "1.png", "gsd_m": 2, "complete": ["ship", "jetty"]}
    more = {"ignore_regions": [region], "licence": "CC0", "notice": "seen by us"}
    ship = {"image_id": 1, "category_id": 1, "bbox": [1, 1, 20, 20]}
    coco_file(tmp_path, {"info": info | more, "images": [entry], "annotations": [ship]})
    report = ReadReport()
    scene = one("coco", tmp_path, report)
    assert (scene.modality, scene.gsd_m, scene.licence, scene.notice) == ("sar", 2, "CC0", "seen by us")
    assert scene.verified_absent == {"bridge"}
    assert "'ship' is said to be absent but is annotated" in report.problems[0]
    assert scene.complete == {"jetty"}
    assert scene.undecidable == {"car"}
    assert scene.ignore_regions[0].shape.bounds == (150, 50, 200, 100)


@pytest.mark.parametrize(
    ("info", "told"),
    [
        ({"ignore_regions": 5}, "info.ignore_regions: is '5', expected a list of places"),
        ({"ignore_regions": [5]}, "info.ignore_regions[0]: needs 'class' and 'bbox'"),
        ({"gsd_m": 0}, "info.gsd_m: is 0, not a number of metres above 0"),
        ({"gsd_m": -0.5}, "info.gsd_m: is -0.5, not a number of metres above 0"),
    ],
)
def test_coco_facts_that_make_no_sense_are_told(tmp_path: Path, info: dict[str, object], told: str) -> None:
    """The first of them ended in a traceback, a size of 0 was passed over in silence."""
    path = coco_file(tmp_path, {"info": {"complete": ["ship"], **info}})
    report = ReadReport()
    scene = one("coco", tmp_path, report)
    assert (scene.gsd_m, scene.complete) == (None, frozenset())
    assert report.problems[0].startswith(f"{path}, {told}")


@pytest.mark.parametrize(("image", "category"), [("1", "1"), (1.0, 1.0), (1, "1")])
def test_coco_ids_are_compared_whatever_their_type(tmp_path: Path, image: object, category: object) -> None:
    """Objects under the id "1" were left out, and the image 1 counted as one without any."""
    ship = {"image_id": image, "category_id": category, "bbox": [1, 1, 20, 20]}
    coco_file(tmp_path, {"info": {"complete": ["ship"]}, "annotations": [ship]})
    report = ReadReport()
    assert [one.class_name for one in one("coco", tmp_path, report).instances] == ["ship"]
    assert report.problems == []


@pytest.mark.parametrize("wrong", [{"a": 1}, [1], None])
def test_coco_ids_that_are_none_are_told(tmp_path: Path, wrong: object) -> None:
    """They ended in a traceback."""
    lost = [{"image_id": wrong, "category_id": 1, "bbox": [1, 1, 20, 20]}]
    lost += [{"image_id": 1, "category_id": wrong, "bbox": [1, 1, 20, 20]}]
    coco_file(tmp_path, {"info": {"complete": ["ship"]}, "annotations": lost})
    report = ReadReport()
    assert one("coco", tmp_path, report).complete == frozenset()
    assert ["no such image" in report.problems[0], "no such category" in report.problems[1]] == [True, True]


def test_coco_ids_of_two_are_those_of_none(tmp_path: Path) -> None:
    """In lists that were joined, boxes would be drawn on images, and names given to objects, that are not theirs."""
    names = ("1.png", "2.png", "3.png")
    for name in names:
        native.image(tmp_path / "images" / name)
    ship = {"category_id": 1, "bbox": [1, 1, 20, 20]}
    content = {
        "info": {"complete": ["ship", "plane", "car"]},
        "images": [{"id": min(i, 1), "file_name": name} for i, name in enumerate(names)],
        "categories": [{"id": 1, "name": "ship"}, {"id": 1, "name": "plane"}, {"id": 2, "name": "car"}],
        "annotations": [{"image_id": 0, **ship}, {"image_id": 1, **ship}],
    }
    coco_file(tmp_path, content)
    report = ReadReport()
    scene = one("coco", tmp_path, report)
    assert (scene.id, scene.instances, scene.complete) == ("coco/images/1", (), frozenset())
    assert "id '1' stands for 'ship' and for 'plane'" in report.problems[0]
    assert "2 images have the id '1', '2.png' first" in report.problems[1]


def test_coco_crowds_masks_and_objects_in_pieces(tmp_path: Path) -> None:
    mask = {"size": [100, 200], "counts": [0, 20000]}
    box = [10, 10, 30, 20]
    ring = [100.0, 10, 130, 10, 130, 40]
    far = [100.0, 60, 130, 60, 130, 90]
    coco_file(
        tmp_path,
        {
            "info": {"complete": ["ship"]},
            "annotations": [
                {"image_id": 1, "category_id": 1, "bbox": box, "segmentation": mask, "iscrowd": 1},
                {"image_id": 1, "category_id": 1, "bbox": box, "segmentation": mask},
                {"image_id": 1, "category_id": 1, "segmentation": [ring, far]},
                {"image_id": 1, "category_id": 1, "segmentation": mask},
                {"image_id": 1, "category_id": 1, "segmentation": [ring[:4]]},
                {"image_id": 1, "category_id": 9, "bbox": box},
                {"image_id": 77, "category_id": 1, "bbox": box},
            ],
        },
    )
    report = ReadReport()
    scene = one("coco", tmp_path, report)
    assert [r.why for r in scene.ignore_regions] == ["crowd: several objects under one outline"]
    assert [(i.oriented, i.truncated) for i in scene.instances] == [(False, False), (True, True), (True, True)]
    assert scene.complete == frozenset()
    told = "\n".join(report.problems)
    for part in (
        "annotations[3]: has a run-length mask",
        "annotations[4]: segmentation",
        "annotations[5]: category_id is '9'",
    ):
        assert part in told
    assert "annotations[6]: image_id is '77', no such image" in told


def test_coco_doubt_makes_an_object_difficult(tmp_path: Path) -> None:
    marks: list[dict[str, object]] = [{}, {"difficult": 1}, {"confidence": "medium"}, {"confidence": "medium-high"}]
    ship = {"image_id": 1, "category_id": 1, "bbox": [10, 10, 30, 20]}
    outline = {"segmentation": [[100, 10, 130, 10, 130, 40]], "confidence": "low"}
    coco_file(tmp_path, {"annotations": [*(ship | mark for mark in marks), ship | outline]})
    assert [i.difficult for i in one("coco", tmp_path).instances] == [False, True, True, False, True]


def test_coco_boxes_for_another_version_of_the_image_are_refused(tmp_path: Path) -> None:
    coco_file(tmp_path, {"images": [{"id": 1, "file_name": "1.png", "width": 400, "height": 200}]})
    with pytest.raises(SourceError, match="is 200x100; the boxes belong to another version"):
        one("coco", tmp_path)


def test_coco_images_that_nobody_annotated_are_not_taken_for_empty(tmp_path: Path) -> None:
    """Published test sets list images and categories alone: with `complete` each of them would answer "no"."""
    image = {"id": 1, "file_name": "1.png"}
    native.image(tmp_path / "1.png")
    content = {"images": [image], "categories": [{"id": 1, "name": "ship"}]}
    path = native.write(tmp_path / "image_info_test.json", json.dumps(content))
    with pytest.raises(SourceError, match="has no list 'annotations'"):
        one("coco", tmp_path, complete=frozenset({"*"}))
    native.write(path, json.dumps(content | {"annotations": []}))
    assert one("coco", tmp_path, complete=frozenset({"*"})).complete == {"ship"}


def test_coco_file_names_stay_below_the_root(tmp_path: Path) -> None:
    native.image(tmp_path / "secret.png")
    coco_file(tmp_path / "data", {"images": [{"id": 1, "file_name": "../../secret.png"}]})
    with pytest.raises(SourceError, match=r"no image 'secret\.png'"):
        one("coco", tmp_path / "data")


@pytest.mark.parametrize("source", ["coco", "xview"])
def test_truncated_json_names_its_line(source: str, tmp_path: Path) -> None:
    native.WRITERS[source](tmp_path)
    suffix = {"coco": "all.coco.json", "xview": "xView_train.geojson"}[source]
    content = json.loads((tmp_path / suffix).read_text())
    native.write(tmp_path / suffix, json.dumps(content, indent=1)[:-60])
    report = ReadReport()
    with pytest.raises(SourceError, match="no scene"):
        list(SOURCES[source].read(tmp_path, report=report))
    assert "is not valid JSON" in report.problems[0]
    assert ", line " in report.problems[0]


def test_xview_types_that_nobody_defined_cost_completeness(tmp_path: Path) -> None:
    native.xview(tmp_path)
    path = tmp_path / "xView_train.geojson"
    path.write_text(path.read_text().replace('"type_id": 55', '"type_id": 75'))
    report = ReadReport()
    found = {s.id: s for s in SOURCES["xview"].read(tmp_path, report=report)}
    good = found["xview/train_images/good"]
    assert len(good.instances) == 2
    assert good.complete == frozenset()
    assert good.gsd_m == 0.3
    assert any("type_id is 75" in problem for problem in report.problems)


def test_fmow_is_positives_only_and_scales_to_the_image(tmp_path: Path) -> None:
    native.fmow(tmp_path)
    path = tmp_path / "port" / "good_rgb.json"
    content = json.loads(path.read_text()) | {"img_width": 400, "img_height": 200}
    content["bounding_boxes"].append({"category": "port", "box": [0, 0, 9, 9], "visible": "False"})
    path.write_text(json.dumps(content))
    good = next(s for s in SOURCES["fmow"].read(tmp_path) if "good" in s.id)
    assert good.instances[0].bounds == (10, 5, 30, 20)
    assert len(good.instances) == 3  # the box that is listed twice counts once, the hidden one not at all
    assert good.complete == good.verified_absent == frozenset()
    assert good.gsd_m == 1.0  # of the image as it lies there, half as large as the one that the file speaks of
    path.write_text(json.dumps(content | {"img_width": 0}))
    report = ReadReport()
    assert not any("good" in s.id for s in SOURCES["fmow"].read(tmp_path, report=report))
    assert any("good_rgb.json, img_width, img_height: states no image size" in problem for problem in report.problems)


def test_sardet_negatives_come_from_the_own_collection_only(tmp_path: Path) -> None:
    native.sardet(tmp_path)
    by_path = next(SOURCES["sardet"].read(tmp_path))
    assert (by_path.subsource, by_path.complete) == ("MSAR", {"aircraft", "tank", "bridge", "ship"})
    listed = native.write(tmp_path / "sub.csv", "msar_empty.png,SIVED\n")
    scenes = {s.id: s for s in SOURCES["sardet"].read(tmp_path, ReadOptions(subsources=listed))}
    assert scenes["sardet/JPEGImages/train/msar_empty"].complete == {"car"}
    native.write(listed, "a.png,SIVED\nb.png,Sentinel\n")
    with pytest.raises(SourceError, match=r"sub\.csv, line 2: is 'b\.png,Sentinel'"):
        list(SOURCES["sardet"].read(tmp_path, ReadOptions(subsources=listed)))
    for path in [*tmp_path.rglob("*.png")]:
        path.rename(path.with_name(path.name.replace("msar_", "x")))
    text = (tmp_path / "Annotations" / "train.json").read_text()
    native.write(tmp_path / "Annotations" / "train.json", text.replace("msar_", "x"))
    assert {s.complete for s in SOURCES["sardet"].read(tmp_path)} == {frozenset()}
