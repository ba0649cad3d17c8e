"""The line from annotated images to candidates on real scenes, with the configuration of the documentation."""

import json
import os
from collections import Counter
from pathlib import Path

import pytest
import yaml

from georefusal_build.build_config import load_config
from georefusal_build.context import open_context
from georefusal_build.judging import rederive
from georefusal_build.made import Made
from georefusal_build.making import make
from georefusal_build.plan import make_plan
from georefusal_build.settling import settle

ROOT = Path(__file__).parents[2]
SHARED = ROOT.parent / "shared" / "data"


def example(folder: Path) -> Path:
    """Return the example's configuration over the scenes at hand, for a set of 60 items."""
    scenes = Path(os.environ.get("GEOREFUSAL_SCENES") or SHARED / "scenes")
    if not scenes.is_dir():
        pytest.skip("no real scenes here: set GEOREFUSAL_SCENES to a folder that holds them")
    content = yaml.safe_load((ROOT / "docs" / "examples" / "build.yaml").read_text())
    sources = [source | {"root": str(scenes)} for source in content["sources"] if source["format"] == "coco"]
    path = folder / "build.yaml"
    path.write_text(yaml.safe_dump(content | {"sources": sources, "items": 60, "spare": 2}))
    return path


@pytest.mark.slow
def test_real_scenes_give_every_category_on_both_sensors(tmp_path: Path) -> None:
    """The mini set is made this way: where a rule costs more yield than the scenes have, it shows here."""
    config = load_config(example(tmp_path))
    context = open_context(config)
    assert not context.report.counts, context.report.problems
    results = [make(job, context) for job in make_plan(config, context).jobs]
    items = [one for one in results if isinstance(one, Made)]
    for one in items:
        assert rederive(json.loads(json.dumps(one.provenance))) == one.label["gold"]
    taken, _ = settle([{"key": i.key, "label": i.label, "provenance": i.provenance} for i in items], config)
    seen = Counter((row["label"]["category"], row["provenance"]["modality"]) for row in taken)
    assert len(taken) == 60
    assert len(seen) == 10, seen
    images = {row["label"]["lever"].rpartition("_")[0] for row in taken if row["label"]["lever"].startswith("im_")}
    assert len(images) >= 3, images
