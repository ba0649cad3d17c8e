"""The class table: every name of every source is accounted for, and no name says more than its boxes."""

import json
from pathlib import Path

import pytest

from georefusal_build.classes import ClassTable
from georefusal_build.polygons import Points
from georefusal_build.scenes import IgnoreRegion, Instance, Scene
from georefusal_build.sources import vocabulary
from georefusal_build.templates import lint
from georefusal_task.core.errors import ConfigError

TABLE = ClassTable.load()
VOCABULARIES = {
    "dota": vocabulary.DOTA | {"container-crane", "airport", "helipad"},
    "dior": vocabulary.DIOR,
    "fair1m": vocabulary.FAIR1M,
    "xview": frozenset(vocabulary.XVIEW.values()),
    "fmow": vocabulary.FMOW,
    "sardet": vocabulary.SARDET,
    "m4sar": frozenset(vocabulary.M4SAR),
}
SQUARE: Points = ((10, 10), (40, 10), (40, 40), (10, 40))

HERON = {"name": "heron", "a": "a heron", "plural": "herons", "metres": [0.5, 1]}
KIND = {"name": "grey heron", "a": "a grey heron", "plural": "grey herons", "of": "heron"}


def scene(source: str, *names: str, **more: object) -> Scene:
    instances = tuple(Instance(name, SQUARE) for name in names)
    return Scene(f"{source}/1", Path("1.png"), 100, 100, "optical", source, instances=instances, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize("source", sorted(VOCABULARIES))
def test_every_name_of_a_source_is_mapped_or_denied(source: str) -> None:
    mapped, denied = set(TABLE.sources[source]), set(TABLE.denied.get(source, {}))
    assert mapped | denied == VOCABULARIES[source]
    assert not mapped & denied


@pytest.mark.parametrize(
    ("source", "names"),
    [
        (
            "fmow",
            "office_building;police_station;hospital;educational_institution;place_of_worship;shopping_mall;prison",
        ),
        (
            "fmow",
            "fire_station;impoverished_settlement;military_facility;multi-unit_residential;single-unit_residential",
        ),
        (
            "fmow",
            "recreational_facility;car_dealership;border_checkpoint;debris_or_rubble;archaeological_site",
        ),
        ("xview", "Building;Damaged Building;Facility;Vehicle Lot;Construction Site;Utility Truck;Cargo Truck"),
    ],
)
def test_functions_and_judgements_are_denied(source: str, names: str) -> None:
    for name in names.split(";"):
        assert TABLE.resolve(source, name) == (), name


def test_nouns_have_their_article_and_obey_the_rules() -> None:
    nouns = [noun for one in TABLE.classes for noun in one.nouns] + [one.noun for one in TABLE.fine]
    for noun in nouns:
        article, _, rest = noun.with_article.partition(" ")
        assert rest == noun.singular
        assert article == ("an" if noun.singular[0].lower() in "aeio" else "a"), noun
        assert noun.plural != noun.singular or noun.singular == "aircraft"
        for form in (noun.singular, noun.plural):
            assert lint(f"{form}?") == [], form
    assert len({noun.singular for noun in nouns}) == len(nouns)


def test_no_noun_is_gradable_or_a_word_for_two_things() -> None:
    gradable = {"small", "large", "big", "long", "high", "old"}
    polysemes = {"tank", "court", "track", "field", "crane", "pool", "dock", "terminal", "station", "yard", "plant"}
    polysemes |= {"bank", "park", "strip", "vessel", "ring", "diamond", "mill"}
    for one in TABLE.classes:
        for noun in one.nouns:
            assert not gradable & set(noun.singular.split()), noun
            assert noun.singular not in polysemes, noun


def test_sizes_make_sense() -> None:
    for one in TABLE.classes:
        assert 0 < one.metres[0] <= one.metres[1], one.name


def test_rivalry_is_mutual_and_spares_what_a_class_includes() -> None:
    for name, others in TABLE.rivals.items():
        assert name not in others
        assert not others & TABLE.members(name)
        for other in others:
            assert name in TABLE.rivals[other] or name in TABLE.members(other)
    assert "vehicle" in TABLE.rivals["car"]
    assert "car" not in TABLE.rivals["vehicle"]


@pytest.mark.parametrize(
    ("source", "name", "meant"),
    [
        ("voc", "Tree", ("tree",)),
        ("yolo", "storage_tanks", ("storage tank",)),
        ("coco", "Boeing 747", ("Boeing 747",)),
        ("coco", "CENTER-PIVOT  field", ("pivot field",)),
        ("coco", "open sea or coast line", ("sea", "coastline")),
        ("coco", "bridge over water", ()),  # its absence says nothing about other bridges
        ("coco", "river wider than 150 m", ()),
        ("dota", "small-vehicle", ("car",)),
        ("dota", "spaceship", ()),
        ("yolo", "ground track field", ("running track",)),  # DOTA's classes as YOLO files spell them
        ("yolo", "soccer ball field", ("soccer field",)),
    ],
)
def test_names_are_resolved(source: str, name: str, meant: tuple[str, ...]) -> None:
    assert TABLE.resolve(source, name) == meant


@pytest.mark.parametrize(
    ("note", "classes"),
    [
        ("ship or boat", {"ship"}),
        ("lake or pond (dark patches inside the park may be water)", {"lake", "pond"}),
        ("single storage tank (most)", {"storage tank"}),
        ("footpath", set()),
    ],
)
def test_notes_are_searched_for_classes(note: str, classes: set[str]) -> None:
    assert TABLE.mentioned(note) == classes


def test_names_that_mean_nothing_are_told_and_denied_ones_are_not() -> None:
    """An object that nothing asks about must not be lost in silence."""
    assert TABLE.unnamed(scene("coco", "ship", "shrub", "Shrub", "shrub")) == ("shrub", "Shrub", "shrub")
    assert TABLE.unnamed(scene("xview", "Building", "Bus")) == ()


def test_a_scene_in_the_words_of_the_table() -> None:
    found = TABLE.canonical(scene("fair1m", "Boeing747", "other-airplane", "Bridge", complete=vocabulary.FAIR1M))
    assert [(i.class_name, i.fine_class) for i in found.instances] == [
        ("plane", "Boeing 747"),
        ("plane", None),
        ("bridge", None),
    ]
    assert {"plane", "Boeing 747", "ship", "vehicle", "car", "soccer field"} <= found.complete
    assert "building" not in found.complete


def test_a_superclass_is_complete_only_with_all_its_names() -> None:
    partly = TABLE.canonical(scene("fair1m", complete=vocabulary.FAIR1M - {"A330", "Van"}))
    assert {"plane", "car", "vehicle"} & partly.complete == set()
    assert {"Boeing 747", "ship"} <= partly.complete


def test_a_kind_does_not_complete_its_class_where_names_are_open() -> None:
    """A scene with all barrier beaches annotated may have other sandy beaches."""
    found = TABLE.canonical(scene("coco", "barrier beach", complete=frozenset({"barrier beach", "open sea"})))
    assert found.complete == {"barrier beach", "sea"}
    two = TABLE.canonical(scene("coco", "Alive", "tree", complete=frozenset({"tree"})))
    assert "tree" not in two.complete  # "Alive" means trees as well and is not complete


def test_absence_and_doubt_spread_to_what_a_class_includes() -> None:
    found = TABLE.canonical(
        scene("coco", "car", verified_absent=frozenset({"water body", "boat"}), undecidable=frozenset({"lake", "car"}))
    )
    assert {"sea", "river", "ship"} <= found.verified_absent
    assert found.undecidable == {"lake"}  # a car is there, so cars can be told
    assert "lake" not in found.verified_absent


def test_denied_objects_cast_doubt_on_what_they_may_be() -> None:
    found = TABLE.canonical(scene("xview", "Utility Truck", "Bus", complete=VOCABULARIES["xview"]))
    assert [i.class_name for i in found.instances] == ["truck or bus"]
    assert {r.class_name for r in found.ignore_regions} == {"truck or bus", "vehicle"}


def test_ignore_regions_are_translated() -> None:
    regions = (IgnoreRegion("open sea", SQUARE), IgnoreRegion("all", SQUARE), IgnoreRegion("odd", SQUARE))
    found = TABLE.canonical(scene("coco", ignore_regions=regions))
    assert [r.class_name for r in found.ignore_regions] == ["sea", "all", "odd"]


def test_a_users_table_adds_and_wins(tmp_path: Path) -> None:
    path = tmp_path / "mine.json"
    ship = {"name": "ship", "a": "a vessel at sea", "singular": "vessel at sea", "plural": "vessels", "metres": [9, 30]}
    path.write_text(json.dumps({"classes": [HERON, ship], "sources": {"dota": {"plane": "heron"}}}))
    table = ClassTable.load(path)
    assert table.by_name["ship"].metres == (9, 30)
    assert table.resolve("dota", "plane") == ("heron",)
    assert table.resolve("dota", "ship") == ("ship",)
    assert len(table.classes) == len(TABLE.classes) + 1


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ({"classes": [{"name": "heron"}]}, "is not a class table"),
        ({"sources": {"dota": {"plane": "heron"}}}, "does not define: heron"),
        ({"clases": []}, "clases"),
        ([], "is not a class table; expected an object"),
        ({"classes": [{**HERON, "height_m": -1}]}, r"\n  classes\.0\.height_m: .*greater than 0, found -1$"),
        ({"classes": [{**HERON, "height_m": float("inf")}]}, r"classes\.0\.height_m: .*finite"),
        ({"classes": [{**HERON, "metres": [0, 1]}]}, r"classes\.0\.metres\.0: .*greater than 0"),
        ({"classes": [{**HERON, "includes": ["heron"]}]}, "a class includes itself: heron > heron"),
        ({"classes": [{**HERON, "includes": ["plane", "egret"]}]}, "does not define: egret"),
        ({"classes": [{**HERON, "includes": ["grey heron"]}], "fine": [KIND]}, "does not define: grey heron"),
    ],
)
def test_a_table_that_is_none(tmp_path: Path, content: object, told: str) -> None:
    path = tmp_path / "mine.json"
    path.write_text(json.dumps(content))
    with pytest.raises(ConfigError, match=told):
        ClassTable.load(path)
