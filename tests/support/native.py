"""Tiny archives in the on-disk format of each annotation source, each with the same four images.

`good` (200 x 100) holds two whole objects and one that sticks out of the frame, `empty` none, `cut` is a truncated
file, and `torn` has one object and one annotation that makes no sense.
"""

import json
from collections.abc import Callable
from pathlib import Path

from PIL import Image

SIZE = (200, 100)
BOX = (20, 10, 60, 40)  # x0, y0, x1, y1
QUAD = ((100, 20), (140, 30), (130, 70), (90, 60))
OUT = (180, 80, 220, 95)  # half of it lies outside


def image(path: Path, *, cut: bool = False, size: tuple[int, int] = SIZE, mode: str = "RGB") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.effect_noise(size, 40).convert(mode).save(path)
    if cut:
        path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    return path


def images(folder: Path, suffix: str, names: tuple[str, ...] = ("good", "empty", "cut", "torn")) -> None:
    for name in names:
        image(folder / f"{name}{suffix}", cut=name == "cut")


def write(path: Path, text: str, encoding: str = "utf-8") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode(encoding))
    return path


def corners(box: tuple[float, float, float, float]) -> tuple[tuple[float, float], ...]:
    x0, y0, x1, y1 = box
    return (x0, y0), (x1, y0), (x1, y1), (x0, y1)


def flat(points: tuple[tuple[float, float], ...]) -> str:
    return " ".join(f"{x:g} {y:g}" for x, y in points)


def coco(root: Path) -> None:
    images(root, ".png")
    names = ("good", "empty", "cut", "torn")
    xywh = [BOX[0], BOX[1], BOX[2] - BOX[0], BOX[3] - BOX[1]]
    out = [OUT[0], OUT[1], OUT[2] - OUT[0], OUT[3] - OUT[1]]
    objects: list[dict[str, object]] = [
        {"image_id": 1, "category_id": 1, "bbox": xywh, "segmentation": []},
        {"image_id": 1, "category_id": 2, "segmentation": [[v for point in QUAD for v in point]]},
        {"image_id": 1, "category_id": 1, "bbox": out},
        {"image_id": 3, "category_id": 1, "bbox": xywh},
        {"image_id": 4, "category_id": 1, "bbox": xywh},
        {"image_id": 4, "category_id": 2, "bbox": ["ten", 1, 2, 3]},
    ]
    for i, one in enumerate(objects):
        one |= {"id": i + 1, "iscrowd": 0}
    content = {
        "info": {"complete": ["ship", "harbor"], "gsd_m": 0.5},
        "images": [
            {"id": i + 1, "file_name": f"{n}.png", "width": SIZE[0], "height": SIZE[1]} for i, n in enumerate(names)
        ],
        "categories": [{"id": 1, "name": "ship"}, {"id": 2, "name": "harbor"}],
        "annotations": objects,
    }
    write(root / "all.coco.json", json.dumps(content))
    write(root / "notes.json", "[1, 2]")


def xml(objects: list[str], head: str = "") -> str:
    return f"<annotation>{head}<size><width>{SIZE[0]}</width></size>{''.join(objects)}</annotation>"


def voc_object(name: str, box: tuple[float, float, float, float], extra: str = "") -> str:
    x0, y0, x1, y1 = box  # counts from 1 and includes the last pixel
    return (
        f"<object><name>{name}</name><difficult>0</difficult>{extra}<bndbox><xmin>{x0 + 1}</xmin><ymin>{y0 + 1}</ymin>"
        f"<xmax>{x1}</xmax><ymax>{y1}</ymax></bndbox></object>"
    )


def dior_object(name: str, points: tuple[tuple[float, float], ...]) -> str:
    order = ("left_top", "right_top", "right_bottom", "left_bottom")
    inner = "".join(f"<x_{at}>{x}</x_{at}><y_{at}>{y}</y_{at}>" for at, (x, y) in zip(order, points, strict=True))
    return f"<object><name>{name}</name><robndbox>{inner}</robndbox><angle>0</angle></object>"


def voc(root: Path) -> None:
    images(root / "JPEGImages", ".jpg")
    bad = "<object><name>harbor</name><bndbox><xmin>3</xmin><ymin>x</ymin></bndbox></object>"
    whole = voc_object("ship", BOX)
    quad = voc_object("harbor", (90, 20, 140, 70))
    for name, objects in {
        "good": [whole, quad, voc_object("ship", OUT)],
        "empty": [],
        "cut": [whole],
        "torn": [whole, bad],
    }.items():
        write(root / "Annotations" / f"{name}.xml", xml(objects, f"<filename>{name}.jpg</filename>"))


def dior(root: Path) -> None:
    images(root / "JPEGImages-trainval", ".jpg")
    bad = "<object><name>harbor</name><robndbox><x_left_top>3</x_left_top></robndbox></object>"
    ship = dior_object("ship", corners(BOX))
    objects = {
        "good": [ship, dior_object("harbor", QUAD), dior_object("ship", corners(OUT))],
        "empty": [],
        "cut": [ship],
        "torn": [ship, bad],
    }
    for name, content in objects.items():
        write(root / "Annotations" / "Oriented Bounding Boxes" / f"{name}.xml", xml(content))
        horizontal = [] if name == "empty" else [voc_object("ship", BOX)]
        write(root / "Annotations" / "Horizontal Bounding Boxes" / f"{name}.xml", xml(horizontal))


def fair1m(root: Path) -> None:
    images(root / "images", ".tif")

    def one(name: str, points: tuple[tuple[float, float], ...]) -> str:
        ring = "".join(f"<point>{x:f},{y:f}</point>" for x, y in (*points, points[0]))
        return (
            "<object><coordinate>pixel</coordinate><type>rectangle</type><description>None</description>"
            f"<possibleresult><name>{name}</name></possibleresult><points>{ring}</points></object>"
        )

    bad = "<object><possibleresult><name>Bridge</name></possibleresult><points><point>3;4</point></points></object>"
    ship = one("Motorboat", corners(BOX))
    for name, objects in {
        "good": [ship, one("Bridge", QUAD), one("Motorboat", corners(OUT))],
        "empty": [],
        "cut": [ship],
        "torn": [ship, bad],
    }.items():
        head = f"<source><filename>{name}.tif</filename><origin>GF2/GF3</origin></source>"
        body = f"<annotation>{head}<objects>{''.join(objects)}</objects></annotation>"
        write(root / "labelXmls" / f"{name}.xml", f'<?xml version="1.0" encoding="utf-8"?>\n{body}')


def dota(root: Path) -> None:
    images(root / "images", ".png")
    head = "imagesource:GoogleEarth\ngsd:0.25\n"
    ship = f"{flat(corners(BOX))} ship 0\n"
    for name, lines in {
        "good": head + ship + f"{flat(QUAD)} harbor 1\n{flat(corners(OUT))} ship 0\n",
        "empty": head,
        "cut": head + ship,
        "torn": head.replace("0.25", "null") + ship + "20 10 60 ten 60 40 20 40 ship 0\n",
    }.items():
        write(root / "labelTxt" / f"{name}.txt", lines)


def shares(points: tuple[tuple[float, float], ...]) -> str:
    return " ".join(f"{x / SIZE[0]:.6f} {y / SIZE[1]:.6f}" for x, y in points)


def yolo_box(box: tuple[float, float, float, float]) -> str:
    x0, y0, x1, y1 = box
    return shares((((x0 + x1) / 2, (y0 + y1) / 2), (x1 - x0, y1 - y0)))


def yolo_labels(folder: Path, box: str) -> None:
    for name, lines in {
        "good": f"0 {box}\n1 {shares(QUAD)}\n0 {yolo_box((180, 80, 208, 95))}\n",
        "empty": "",
        "cut": f"0 {box}\n",
        "torn": f"0 {box}\n7 0.5 0.5 0.1 0.1\n",
    }.items():
        write(folder / f"{name}.txt", lines)


def yolo(root: Path) -> None:
    images(root / "images" / "train", ".jpg")
    yolo_labels(root / "labels" / "train", yolo_box(BOX))
    write(root / "data.yaml", "train: images/train\nnames:\n  0: ship\n  1: harbor\n")


def csv(root: Path) -> None:
    images(root / "RGB", ".png")
    rows = {
        "good": [(*BOX, "ship"), (90, 20, 140, 70, "harbor"), (*OUT, "ship")],
        "empty": [("", "", "", "", "")],
        "cut": [(*BOX, "ship")],
        "torn": [(*BOX, "ship"), (1, 2, "three", 4, "harbor")],
    }
    lines = [",".join(map(str, (f"{name}.png", *row))) for name, some in rows.items() for row in some]
    write(root / "boxes.csv", "\n".join(["image_path,xmin,ymin,xmax,ymax,label", *lines, ""]))


def m4sar(root: Path) -> None:
    for side in ("optical", "sar"):
        images(root / side / "images" / "train", ".jpg")
    yolo_labels(root / "optical" / "labels" / "train", shares(corners(BOX)))


def xview(root: Path) -> None:
    names = ("good", "cut", "torn")
    images(root / "train_images", ".tif", names)

    def one(name: str, kind: object, bounds: object) -> dict[str, object]:
        properties = {"bounds_imcoords": bounds, "type_id": kind, "image_id": f"{name}.tif"}
        return {"type": "Feature", "geometry": None, "properties": properties}

    box, out = (",".join(map(str, b)) for b in (BOX, OUT))
    features = [
        one("good", 41, box),
        one("torn", 41, box),
        one("good", 55, "90,20,140,70"),
        one("good", 41, out),
        one("cut", 41, box),
        one("torn", 41, "1,2,three,4"),
    ]
    write(root / "xView_train.geojson", json.dumps({"type": "FeatureCollection", "features": features}))


def fmow(root: Path) -> None:
    for name in ("good", "empty", "cut", "torn"):
        image(root / "port" / f"{name}_rgb.jpg", cut=name == "cut")
    x0, y0, x1, y1 = BOX
    ship = {"ID": 5, "category": "port", "box": [x0, y0, x1 - x0, y1 - y0], "visible": "True"}
    bridge = {"ID": 6, "category": "road_bridge", "box": [90, 20, 50, 50]}
    out = {"ID": 7, "category": "port", "box": [180, 80, 40, 15]}
    for name, boxes in {
        "good": [ship | {"ID": -1}, ship, bridge, out],
        "empty": [],
        "cut": [ship],
        "torn": [ship, {"category": "port", "box": [1, 2]}],
    }.items():
        content = {"gsd": 0.5, "img_width": SIZE[0], "img_height": SIZE[1], "bounding_boxes": boxes}
        write(root / "port" / f"{name}_rgb.json", json.dumps(content))
        write(root / "port" / f"{name}_msrgb.json", json.dumps(content))


def sardet(root: Path) -> None:
    folder = root / "JPEGImages" / "train"
    for name in ("good", "empty", "cut", "torn"):
        image(folder / f"msar_{name}.png", cut=name == "cut", mode="L")
    coco(root / "scratch")
    content = json.loads((root / "scratch" / "all.coco.json").read_text())
    content["info"] = {}
    content["categories"] = [{"id": 1, "name": "ship"}, {"id": 2, "name": "bridge"}]
    for entry in content["images"]:
        entry["file_name"] = f"msar_{entry['file_name']}"
    for path in (root / "scratch").iterdir():
        path.unlink()
    write(root / "Annotations" / "train.json", json.dumps(content))


WRITERS: dict[str, Callable[[Path], None]] = {
    writer.__name__: writer for writer in (coco, voc, yolo, csv, dota, dior, fair1m, xview, fmow, sardet, m4sar)
}
